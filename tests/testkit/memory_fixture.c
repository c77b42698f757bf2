/*
 * Servers are started on free ports by the testkit.
 */
#include "testkit/memory_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/json.h"

void
memory_fixture_soul(struct memory_fixture *fx, const char *id, const char *user)
{
	tk_state_soul(&fx->db, id, "INFP", user);
}

void
memory_fixture_servers(struct memory_fixture *fx)
{
	*fx = (struct memory_fixture){ 0 };
	tk_server_start(&fx->nats, TK_NATS);
	tk_server_start(&fx->redis, TK_REDIS);
	fx->nc = tk_nats_connect(fx->nats.url);
	tk_state_open(&fx->db, fx->redis.url);
	memory_fixture_soul(fx, "s1", "u1");
	fx->llm.http = tk_port();
	fx->llm.admin = tk_port();
	snprintf(fx->llm_url, sizeof(fx->llm_url), "http://127.0.0.1:%d/v1",
	    fx->llm.http);
}

void
memory_fixture_llm_start(struct memory_fixture *fx)
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", fx->nats.url);
	tk_service_start(&fx->llm, "llm-sim", "llm-sim", &e);
}

void
memory_fixture_llm_script(struct memory_fixture *fx, const char *list)
{
	struct tk_response a = { 0 };
	char body[1024];
	int n = snprintf(body, sizeof(body), "{\"faults\":[%s]}", list);

	ck_assert_int_lt(n, (int)sizeof(body));
	ck_assert_int_eq(
	    tk_http_request(fx->llm.http, &a, "POST", "/sim/script", body),
	    200);
	tk_response_free(&a);
}

long long
memory_fixture_llm_calls(struct memory_fixture *fx)
{
	return tk_service_metric(
	    &fx->llm, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

void
memory_fixture_spawn(struct memory_fixture *fx, int i)
{
	struct tk_env e = { 0 };
	char name[32];
	size_t k;

	tk_env_put(&e, "NATS_URL=%s", fx->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", fx->redis.url);
	tk_env_put(&e, "OPENAI_BASE_URL=%s", fx->llm_url);
	tk_env_list(&e,
	    TK_ENV("REDIS_TIMEOUT_MS=5000",
		"IDLE_SUMMARY_SCAN_INTERVAL_SECONDS=0.05",
		"IDLE_SUMMARY_RETRY_SECONDS=0.1"));
	for (k = 0; k < MEMORY_FIXTURE_ENV_MAX && fx->env[k] != NULL; k++)
		tk_env_put(&e, "%s", fx->env[k]);
	snprintf(name, sizeof(name), "worker-%d", i);
	tk_service_spawn(&fx->worker[i], "memory-worker", name, &e);
}

static bool
memory_fixture_has_streams(void *arg)
{
	struct memory_fixture *fx = arg;
	static const char *const what[] = { "STREAM.INFO.SOUL_DEAD",
		"CONSUMER.INFO.SOUL_JOBS.memory-worker" };
	char subject[96], code[64];
	bool found = true;
	size_t i;

	for (i = 0; i < NELEM(what) && found; i++) {
		snprintf(subject, sizeof(subject), "$JS.API.%s", what[i]);
		json_t *j = tk_nats_request(fx->nc, subject, "", code);
		found = json_object_get(j, "config") != NULL;
		json_decref(j);
	}
	return found;
}

void
memory_fixture_wait_ready(struct memory_fixture *fx, int i)
{
	tk_service_wait(&fx->worker[i]);
	ck_assert(tk_until(memory_fixture_has_streams, fx, MEMORY_FIXTURE_MS));
}

void
memory_fixture_start(struct memory_fixture *fx, int workers)
{
	int i;

	memory_fixture_servers(fx);
	memory_fixture_llm_start(fx);
	for (i = 0; i < workers; i++)
		memory_fixture_spawn(fx, i);
	for (i = 0; i < workers; i++)
		memory_fixture_wait_ready(fx, i);
}

void
memory_fixture_stop(struct memory_fixture *fx)
{
	int i;

	for (i = 0; i < MEMORY_FIXTURE_WORKERS; i++)
		tk_service_end(&fx->worker[i]);
	tk_service_end(&fx->llm);
	natsConnection_Destroy(fx->nc);
	tk_state_close(&fx->db);
	nats_Close();
}

void
memory_fixture_message(struct memory_fixture *fx, struct session_key k,
    const char *role, const char *text)
{
	json_t *j = json_pack("{ssssssss}", "id", "1", "role", role, "content",
	    text, "created_at", "2026-02-22T10:20:30Z");
	char *s = json_dumps(j, JSON_COMPACT);
	struct str json = str_of(s);

	ck_assert_int_eq(session_append(fx->db.s, &k, &json, 1, NULL), RC_OK);
	free(s);
	json_decref(j);
}

void
memory_fixture_converse_as(struct memory_fixture *fx, struct session_key k,
    const char *soul, const char *text, int64_t idle_ms)
{
	memory_fixture_message(fx, k, "user", text);
	memory_fixture_message(fx, k, "assistant", "好的，我记住了。");
	ck_assert_int_eq(
	    session_user_input(fx->db.s, &k, str_of(soul), STR("t1"), idle_ms),
	    RC_OK);
}

void
memory_fixture_converse(struct memory_fixture *fx, const char *session,
    const char *text, int64_t idle_ms)
{
	memory_fixture_converse_as(fx,
	    (struct session_key){ STR("u1"), str_of(session) }, "s1", text,
	    idle_ms);
}

struct session
memory_fixture_session(struct memory_fixture *fx, const char *session)
{
	struct session_key k = { STR("u1"), str_of(session) };
	struct session s;

	ck_assert_int_eq(session_read(fx->db.s, &k, fx->db.arena, &s), RC_OK);
	return s;
}

void
memory_fixture_remember(struct memory_fixture *fx, const char *user,
    const char *soul, const char *id, const char *text)
{
	struct memory_scope scope = { str_of(user), str_of(soul) };
	char json[1024], now[WALL_FORMAT_MAX];
	struct memory_item item = { .id = str_of(id), .json = { NULL, 0 } };

	wall_format(clock_wall(), 0, now);
	snprintf(json, sizeof(json),
	    "{\"text\":\"%s\",\"type\":\"fact\",\"created_at\":\"%s\"}", text,
	    now);
	item.json = str_of(json);
	ck_assert_int_eq(
	    memory_put(fx->db.s, &scope, &item, clock_wall()), RC_OK);
}

struct memory_list
memory_fixture_memories_of(
    struct memory_fixture *fx, const char *user, const char *soul)
{
	struct memory_scope scope = { str_of(user), str_of(soul) };
	struct memory_list l;

	arena_reset(fx->db.arena);
	ck_assert_int_eq(
	    memory_all(fx->db.s, &scope, -1, fx->db.arena, &l), RC_OK);
	return l;
}

struct memory_list
memory_fixture_memories(struct memory_fixture *fx)
{
	return memory_fixture_memories_of(fx, "u1", "s1");
}

struct memory_fixture_count {
	struct memory_fixture *fx;
	size_t n;
};

static bool
memory_fixture_has_count(void *arg)
{
	struct memory_fixture_count *c = arg;

	return memory_fixture_memories(c->fx).n >= c->n;
}

struct memory_list
memory_fixture_wait_memories(struct memory_fixture *fx, size_t n)
{
	struct memory_fixture_count c = { fx, n };
	struct memory_list l;

	ck_assert_msg(tk_until(memory_fixture_has_count, &c, MEMORY_FIXTURE_MS),
	    "%zu of %zu memories", memory_fixture_memories(fx).n, n);
	l = memory_fixture_memories(fx);
	ck_assert_uint_eq(l.n, n);
	return l;
}

size_t
memory_fixture_count_text(const struct memory_list *l, const char *text)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += str_find(l->item[i].json, str_of(text)) >= 0;
	return n;
}

static bool
memory_fixture_none_idle(void *arg)
{
	struct memory_fixture *fx = arg;
	struct state_reply *r;
	bool is;

	if (state_cmd(fx->db.s,
		STATE_ARGS(STR("EVAL"),
		    STR("return #redis.call('KEYS','soul:idle:{b*}:1')"),
		    STR("0")),
		&r) != RC_OK)
		return false;
	is = state_reply_int(r) == 0;
	state_reply_free(r);
	return is;
}

void
memory_fixture_wait_summaries(struct memory_fixture *fx)
{
	ck_assert(tk_until(memory_fixture_none_idle, fx, MEMORY_FIXTURE_MS));
}

void
memory_fixture_publish_job(
    struct memory_fixture *fx, const char *id, const char *json)
{
	natsMsg *m = NULL, *reply = NULL;

	ck_assert_int_eq(natsMsg_Create(&m, "soul.job.memory_store", NULL, json,
			     (int)strlen(json)),
	    NATS_OK);
	ck_assert_int_eq(natsMsgHeader_Set(m, "Nats-Msg-Id", id), NATS_OK);
	ck_assert_int_eq(
	    natsConnection_RequestMsg(&reply, fx->nc, m, MEMORY_FIXTURE_MS),
	    NATS_OK);
	ck_assert_msg(strstr(natsMsg_GetData(reply), "\"seq\"") != NULL, "%s",
	    natsMsg_GetData(reply));
	natsMsg_Destroy(m);
	natsMsg_Destroy(reply);
}

void
memory_fixture_publish_fact(struct memory_fixture *fx, const char *id,
    const char *soul, const char *text)
{
	char json[1024], now[WALL_FORMAT_MAX];

	wall_format(clock_wall(), 0, now);
	snprintf(json, sizeof(json),
	    "{\"job_id\":\"%s\",\"kind\":\"memory_store\",\"user_id\":\"u1\","
	    "\"soul_id\":\"%s\",\"text\":\"%s\",\"type\":\"fact\","
	    "\"created_at\":\"%s\"}",
	    id, soul, text, now);
	memory_fixture_publish_job(fx, id, json);
}

json_t *
memory_fixture_rpc(struct memory_fixture *fx, const char *subject, json_t *req)
{
	char *s = json_dumps(req, 0), code[64];
	json_t *j = tk_nats_request(fx->nc, subject, s, code);

	ck_assert_msg(code[0] == '\0', "%s", code);
	free(s);
	json_decref(req);
	return j;
}

json_t *
memory_fixture_recall(struct memory_fixture *fx, const char *user,
    const char *soul, const char *query, int top_k)
{
	return memory_fixture_rpc(fx, "soul.rpc.memory.recall",
	    json_pack("{sssssssi}", "user_id", user, "soul_id", soul, "query",
		query, "top_k", top_k));
}

const char *
memory_fixture_hit_text(json_t *reply, size_t i)
{
	return tk_text(memory_fixture_item(reply, i), "text");
}

size_t
memory_fixture_hits(json_t *reply)
{
	return json_array_size(json_object_get(reply, "items"));
}

int64_t
memory_fixture_stream_len(struct memory_fixture *fx, const char *stream)
{
	char subject[96], code[64];
	json_t *j;
	int64_t n;

	snprintf(subject, sizeof(subject), "$JS.API.STREAM.INFO.%s", stream);
	j = tk_nats_request(fx->nc, subject, "", code);
	n = json_integer_value(
	    json_object_get(json_object_get(j, "state"), "messages"));
	json_decref(j);
	return n;
}

int64_t
memory_fixture_pending_jobs(struct memory_fixture *fx)
{
	char code[64];
	json_t *j = tk_nats_request(
	    fx->nc, "$JS.API.CONSUMER.INFO.SOUL_JOBS.memory-worker", "", code);
	int64_t n = json_integer_value(json_object_get(j, "num_pending")) +
	    json_integer_value(json_object_get(j, "num_ack_pending"));

	json_decref(j);
	return n;
}

static bool
memory_fixture_jobs_done(void *arg)
{
	return memory_fixture_pending_jobs(arg) == 0;
}

void
memory_fixture_spawn_ready(struct memory_fixture *fx, int i)
{
	memory_fixture_spawn(fx, i);
	memory_fixture_wait_ready(fx, i);
}

void
memory_fixture_wait_jobs(struct memory_fixture *fx)
{
	ck_assert_msg(tk_until(memory_fixture_jobs_done, fx, MEMORY_FIXTURE_MS),
	    "%lld pending jobs", (long long)memory_fixture_pending_jobs(fx));
}

static bool
memory_fixture_llm_active(void *arg)
{
	return tk_service_metric(arg, "soul_httpc_active{peer=\"llm\"}") > 0;
}

void
memory_fixture_wait_llm(struct memory_fixture *fx, int i)
{
	ck_assert(tk_until(
	    memory_fixture_llm_active, &fx->worker[i], MEMORY_FIXTURE_MS));
}

void
memory_fixture_stop_nats(struct memory_fixture *fx)
{
	tk_server_stop(&fx->nats, SIGKILL);
	natsConnection_Destroy(fx->nc);
	fx->nc = NULL;
}

void
memory_fixture_restart_nats(struct memory_fixture *fx)
{
	if (fx->nc != NULL)
		memory_fixture_stop_nats(fx);
	tk_server_restart(&fx->nats);
	fx->nc = tk_nats_connect(fx->nats.url);
}

void
memory_fixture_restart_redis(struct memory_fixture *fx)
{
	tk_server_stop(&fx->redis, SIGKILL);
	tk_server_restart(&fx->redis);
	tk_state_wait(&fx->db);
}

json_t *
memory_fixture_item(json_t *reply, size_t i)
{
	return json_array_get(json_object_get(reply, "items"), i);
}

json_t *
memory_fixture_forget_reply(struct memory_fixture *fx, const char *user,
    const char *soul, const char *member, const char *value)
{
	json_t *req = json_pack("{ss}", "user_id", user);

	if (soul != NULL)
		json_object_set_new(req, "soul_id", json_string(soul));
	if (member != NULL)
		json_object_set_new(req, member, json_string(value));
	return memory_fixture_rpc(fx, "soul.rpc.memory.forget", req);
}

int64_t
memory_fixture_forget(struct memory_fixture *fx, const char *user,
    const char *soul, const char *member, const char *value)
{
	json_t *j = memory_fixture_forget_reply(fx, user, soul, member, value);
	int64_t n = tk_int(j, "forgotten");

	json_decref(j);
	return n;
}

natsSubscription *
memory_fixture_consume(struct memory_fixture *fx)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(
	    natsConnection_QueueSubscribeSync(&sub, fx->nc,
		"soul.deliver.SOUL_JOBS.memory-worker", "memory-worker"),
	    NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(fx->nc), NATS_OK);
	return sub;
}
