/*
 * Servers, records and processes.
 */
#include "testkit/orch_fixture.h"
#include "testkit/state.h"
#include "testkit/terminal_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/worker.h"
#include "state/session.h"
#include "state/soul.h"
#include "testkit/http.h"
#include "testkit/loop.h"

static const char orch_fixture_skills[] =
    "[{\"name\":\"control_light\",\"description\":\"控制灯：开灯、关灯\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"mode\":{"
    "\"type\":\"string\",\"enum\":[\"on\",\"off\",\"set_color\"]},"
    "\"color\":{\"type\":\"string\",\"enum\":[\"red\",\"green\"]}},"
    "\"required\":[\"mode\"]}},"
    "{\"name\":\"nod\",\"description\":\"点头\",\"input_schema\":{"
    "\"type\":\"object\",\"properties\":{\"times\":{\"type\":"
    "\"integer\"}}}}]";
static const char orch_fixture_catalog[] =
    "[{\"id\":\"i_light\",\"name\":\"控制灯\"}]";

/* ---- processes ---- */

static bool
orch_fixture_state_up(void *arg)
{
	return state_up(arg);
}

void
orch_fixture_wait_state(struct orch_fixture *b)
{
	ck_assert(tk_loop_until(
	    b->loop, orch_fixture_state_up, b->state, ORCH_WAIT_MS));
}

bool
orch_fixture_ready(void *arg)
{
	struct orch_process *p = arg;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	bool is = false;

	if (!tk_port_open(p->admin))
		return false;
	tk_http_open(&c, p->admin);
	if (tk_http_puts(&c, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		is = tk_http_read(&c, &a, 2000) && a.status == 200;
	tk_response_free(&a);
	tk_http_close(&c);
	return is;
}

/* Start orchestrator i and wait until it is ready. */
void
orch_fixture_spawn(struct orch_fixture *b, int i)
{
	struct orch_process *p = &b->orch[i];
	char name[16], nats[96], redis[96], admin[48], llm[64];
	const char *argv[] = { tk_bin("llm-orchestrator"), NULL };
	const char *env[16] = { nats, redis, admin, llm, "LOG_LEVEL=debug",
		"TOOL_TIMEOUT_SECONDS=2", "LLM_TIMEOUT_MS=3000",
		"REDIS_TIMEOUT_MS=1000" };

	for (size_t n = 0; n < NELEM(b->more); n++)
		env[8 + n] = b->more[n];

	p->admin = tk_port();
	snprintf(name, sizeof(name), "orch-%d", i);
	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(redis, sizeof(redis), "REDIS_URL=%s", b->redis.url);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", p->admin);
	snprintf(llm, sizeof(llm), "OPENAI_BASE_URL=http://127.0.0.1:%d/v1",
	    b->model.port);
	tk_spawn(&p->proc, name, argv, env);
	ck_assert_msg(tk_until(orch_fixture_ready, p, ORCH_WAIT_MS),
	    "%s is not ready", name);
}

void
orch_fixture_kill(struct orch_fixture *b, int i)
{
	tk_signal(&b->orch[i].proc, SIGKILL);
	ck_assert_int_eq(
	    tk_wait(&b->orch[i].proc, ORCH_WAIT_MS), 128 + SIGKILL);
	b->orch[i].proc.pid = 0;
}

/* ---- records ---- */

/* A present body t1 of user u1's soul, with skills and a catalog. */
static void
orch_fixture_put_records(struct orch_fixture *b)
{
	struct soul soul = { .id = STR("soul_1"),
		.user_id = STR("u1"),
		.name = STR("小灵"),
		.mbti_type = STR("INFJ"),
		.model = STR("persona-pad-v2"),
		.created = clock_wall() };
	struct terminal_snapshot skills = { .version = 1,
		.json = STR(orch_fixture_skills) };
	struct terminal_snapshot catalog = { .version = 1,
		.json = STR(orch_fixture_catalog),
		.hash = STR("h") };
	int64_t v;

	b->writer = (struct terminal_writer){
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
	ck_assert_int_eq(soul_create(b->state, &soul, STR("")), RC_OK);
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->state, &b->writer, STR("t1"), true, NULL),
	    RC_OK);
	ck_assert_int_eq(terminal_fixture_put_skills(
			     b->state, &b->writer, STR("t1"), &skills, &v),
	    RC_OK);
	ck_assert_int_eq(terminal_fixture_put_catalog(
			     b->state, &b->writer, STR("t1"), &catalog, &v),
	    RC_OK);
	ck_assert_int_eq(terminal_fixture_bind(
			     b->state, STR("t1"), STR("u1"), STR("soul_1")),
	    RC_OK);
}

/* The body goes offline or comes back. */
void
orch_fixture_set_online(struct orch_fixture *b, bool online)
{
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->state, &b->writer, STR("t1"), online, NULL),
	    RC_OK);
}

/* Replace the skills of the body. */
void
orch_fixture_set_skills(struct orch_fixture *b, const char *json)
{
	struct terminal_snapshot skills = { .version = 2,
		.json = str_of(json) };
	int64_t v;

	ck_assert_int_eq(terminal_fixture_put_skills(
			     b->state, &b->writer, STR("t1"), &skills, &v),
	    RC_OK);
}

/* An empty catalog. */
void
orch_fixture_clear_catalog(struct orch_fixture *b)
{
	struct terminal_snapshot none = {
		.version = 2, .json = STR("[]"), .hash = STR("n")
	};
	int64_t v;

	ck_assert_int_eq(terminal_fixture_put_catalog(
			     b->state, &b->writer, STR("t1"), &none, &v),
	    RC_OK);
}

/* The session's messages as JSON, the last max; freed by json_decref(). */
json_t *
orch_fixture_messages(struct orch_fixture *b, const char *session, size_t max)
{
	struct session_key k = { STR("u1"), str_of(session) };
	struct session_page page = { .after = -1, .max = max };
	json_t *out = json_array();
	struct session_list list;

	arena_reset(b->arena);
	ck_assert_int_eq(
	    session_messages(b->state, &k, page, b->arena, &list), RC_OK);
	for (size_t i = 0; i < list.n; i++)
		json_array_append_new(out,
		    json_loadb(list.message[i].json.p, list.message[i].json.n,
			0, NULL));
	return out;
}

/* ---- start and stop ---- */

void
orch_fixture_start(struct orch_fixture *b, int orchs)
{
	struct state_opts o = { .name = "bed",
		.deadline_ms = 5000,
		.on_format = tk_state_on_format };

	memset(b, 0, sizeof(*b));
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->loop = loop_new(64);
	b->workers = worker_new(b->loop, 1, 16);
	b->arena = arena_new(8 * 1024 * 1024);
	o.url = b->redis.url;
	o.loop = b->loop;
	o.workers = b->workers;
	ck_assert_int_eq(state_new(&o, &b->state), RC_OK);
	orch_fixture_wait_state(b);
	orch_fixture_put_records(b);
	orch_peers_start(&b->peers, b->nats.url);
	orch_model_start(&b->model);
	for (int i = 0; i < orchs; i++)
		orch_fixture_spawn(b, i);
}

/* Orchestrators must drain and exit with 0. */
void
orch_fixture_stop(struct orch_fixture *b)
{
	for (int i = 0; i < ORCH_REPLICAS; i++) {
		if (b->orch[i].proc.pid == 0)
			continue;
		tk_signal(&b->orch[i].proc, SIGTERM);
		ck_assert_int_eq(tk_wait(&b->orch[i].proc, 20000), 0);
	}
	orch_model_stop(&b->model);
	orch_peers_stop(&b->peers);
	state_free(b->state);
	worker_free(b->workers);
	loop_free(b->loop);
	arena_free(b->arena);
	nats_Close();
}
