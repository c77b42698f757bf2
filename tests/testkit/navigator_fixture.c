/*
 * The other services reply at once, and their requests are stored for the test.
 */
#include "testkit/navigator_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/nav.h"
#include "state/session.h"

#define SOUL_EMOTION                                                    \
	"\"soul_id\":\"s1\",\"soul_emotion\":{\"p\":0,\"a\":0,\"d\":0," \
	"\"drives\":{\"fear\":0.1,\"survival\":0.9,\"curiosity\":%.2f," \
	"\"laziness\":%.2f,\"intimacy\":%.2f}}"

static void
fixture_reply(natsConnection *nc, natsMsg *m, const char *json)
{
	(void)natsConnection_PublishString(nc, natsMsg_GetReply(m), json);
}

static void
fixture_on_emotion(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const struct navigator_fixture *f = arg;
	char json[512];

	(void)sub;
	snprintf(json, sizeof(json),
	    "{" SOUL_EMOTION ",\"exec_probability\":1,"
	    "\"exec_mode\":\"auto_execute\",\"version\":1}",
	    f->curiosity, f->laziness, f->intimacy);
	fixture_reply(nc, m, json);
	natsMsg_Destroy(m);
}

/* Replies to what the test reads by itself. */
static void
fixture_on_request(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	const struct navigator_fixture *f = arg;
	char json[512];

	(void)sub;
	snprintf(json, sizeof(json),
	    "{" SOUL_EMOTION ",\"applied\":true,\"version\":2}", f->curiosity,
	    f->laziness, f->intimacy);
	if (strcmp(natsMsg_GetSubject(m), "soul.rpc.speak") == 0)
		snprintf(json, sizeof(json),
		    "{\"push_id\":\"pu_1\",\"state\":\"due\"}");
	if (strcmp(natsMsg_GetSubject(m), "soul.rpc.evolution.request") == 0)
		snprintf(json, sizeof(json),
		    "{\"evolution_id\":\"evo_1\",\"user_id\":\"u1\","
		    "\"soul_id\":\"s1\",\"cycle_id\":\"cyc_1\","
		    "\"need\":\"n\",\"state\":\"proposed\",\"steps\":[],"
		    "\"step_count\":1,"
		    "\"created_at\":\"2026-11-27T10:00:00Z\"}");
	fixture_reply(nc, m, json);
	natsMsg_Destroy(m);
}

static void
fixture_serve(struct navigator_fixture *f)
{
	static const char *const subjects[] = { "soul.rpc.psyche.apply",
		"soul.rpc.speak", "soul.rpc.evolution.request" };

	ck_assert_int_eq(natsConnection_Subscribe(&f->emotion, f->nc,
			     "soul.rpc.emotion.state", fixture_on_emotion, f),
	    NATS_OK);
	for (size_t i = 0; i < NELEM(subjects); i++)
		ck_assert_int_eq(natsConnection_Subscribe(&f->peers[i], f->nc,
				     subjects[i], fixture_on_request, f),
		    NATS_OK);
	f->psyche = tk_nats_listen(f->nc, subjects[0]);
	f->speak = tk_nats_listen(f->nc, subjects[1]);
	f->evolutions = tk_nats_listen(f->nc, subjects[2]);
	f->jobs = tk_nats_listen(f->nc, "soul.job.*");
	f->suggestions =
	    tk_nats_listen(f->nc, "soul.event.navigator_suggestion.*");
	f->notices = tk_nats_listen(f->nc, "soul.event.system_notification.*");
}

void
navigator_fixture_servers(struct navigator_fixture *f)
{
	char code[TK_CODE];

	*f = (struct navigator_fixture){ .curiosity = .5, .laziness = .2 };
	tk_server_start(&f->nats, TK_NATS);
	tk_server_start(&f->redis, TK_REDIS);
	f->nc = tk_nats_connect(f->nats.url);
	tk_nats_events(f->nc);
	json_decref(tk_nats_request(f->nc, "$JS.API.STREAM.CREATE.SOUL_JOBS",
	    "{\"name\":\"SOUL_JOBS\",\"subjects\":[\"soul.job.*\"]}", code));
	fixture_serve(f);
	tk_state_open(&f->db, f->redis.url);
	tk_state_soul(&f->db, "s1", "INFP", "u1");
	f->llm.http = tk_port();
	f->llm.admin = tk_port();
}

void
navigator_fixture_llm(struct navigator_fixture *f)
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", f->nats.url);
	tk_service_start(&f->llm, "llm-sim", "llm-sim", &e);
}

static bool
fixture_has_consumer(void *arg)
{
	struct navigator_fixture *f = arg;
	char code[TK_CODE];
	json_t *j = tk_nats_request(f->nc,
	    "$JS.API.CONSUMER.INFO.SOUL_EVENTS.navigator-turns", "", code);
	bool found = json_object_get(j, "config") != NULL;

	json_decref(j);
	return found;
}

void
navigator_fixture_spawn(struct navigator_fixture *f, int i)
{
	struct tk_env e = { 0 };
	char name[32];

	tk_env_put(&e, "NATS_URL=%s", f->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", f->redis.url);
	tk_env_put(&e, "OPENAI_BASE_URL=http://127.0.0.1:%d/v1", f->llm.http);
	for (size_t k = 0; k < NAVIGATOR_FIXTURE_ENV_MAX && f->env[k] != NULL;
	     k++)
		tk_env_put(&e, "%s", f->env[k]);
	tk_env_list(&e,
	    TK_ENV("REDIS_TIMEOUT_MS=5000", "NAV_GAP_SECONDS=0",
		"CYCLE_IDLE_SECONDS=0"));
	snprintf(name, sizeof(name), "navigator-%d", i);
	tk_service_spawn(&f->nav[i], "navigator", name, &e);
	tk_service_wait(&f->nav[i]);
	ck_assert(tk_until(fixture_has_consumer, f, NAVIGATOR_FIXTURE_MS));
}

void
navigator_fixture_start(struct navigator_fixture *f, int n)
{
	navigator_fixture_servers(f);
	navigator_fixture_llm(f);
	for (int i = 0; i < n; i++)
		navigator_fixture_spawn(f, i);
}

static void
fixture_unsubscribe(struct navigator_fixture *f)
{
	natsSubscription *const all[] = { f->psyche, f->speak, f->jobs,
		f->suggestions, f->notices, f->emotion, f->evolutions,
		f->peers[0], f->peers[1], f->peers[2] };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		natsSubscription_Destroy(all[i]);
}

void
navigator_fixture_end_evolutions(struct navigator_fixture *f)
{
	natsSubscription_Destroy(f->peers[2]);
	natsSubscription_Destroy(f->evolutions);
	f->peers[2] = f->evolutions = NULL;
	/* The server knows. */
	ck_assert_int_eq(natsConnection_Flush(f->nc), NATS_OK);
}

void
navigator_fixture_stop(struct navigator_fixture *f)
{
	for (int i = 0; i < NAVIGATOR_FIXTURE_REPLICAS; i++)
		tk_service_end(&f->nav[i]);
	tk_service_end(&f->llm);
	fixture_unsubscribe(f);
	natsConnection_Destroy(f->nc);
	tk_state_close(&f->db);
	nats_Close();
}

static void
fixture_message(struct navigator_fixture *f, const char *role, const char *text)
{
	const struct session_key k = { STR("u1"), STR("c1") };
	char now[WALL_FORMAT_MAX];
	json_t *j;
	char *s;

	wall_format(clock_wall(), 0, now);
	j = json_pack(
	    "{ssssss}", "role", role, "content", text, "created_at", now);
	s = json_dumps(j, JSON_COMPACT);
	ck_assert_int_eq(
	    session_append(f->db.s, &k, &(struct str){ s, strlen(s) }, 1, NULL),
	    RC_OK);
	free(s);
	json_decref(j);
}

void
navigator_fixture_converse(struct navigator_fixture *f, const char *text)
{
	const struct session_key k = { STR("u1"), STR("c1") };

	fixture_message(f, "user", text);
	fixture_message(f, "assistant", "嗯。");
	ck_assert_int_eq(
	    session_user_input(f->db.s, &k, STR("s1"), STR("t1"), 600000),
	    RC_OK);
}

void
navigator_fixture_turn(
    struct navigator_fixture *f, const char *soul, const char *emotion)
{
	char subject[TK_SUBJECT], json[1024], emotion_json[256] = "";
	int n = ++f->events;

	snprintf(subject, sizeof(subject), "soul.event.turn_completed.tn%d", n);
	if (emotion != NULL)
		snprintf(emotion_json, sizeof(emotion_json),
		    ",\"user_emotion\":{\"emotion\":\"%s\",\"p\":-0.6,"
		    "\"a\":0,\"d\":0,\"intensity\":0.8}",
		    emotion);
	snprintf(json, sizeof(json),
	    "{\"trace_id\":\"0af76519-16cd-43dd-8448-eb211c80319c\","
	    "\"type\":\"turn_completed\",\"source\":\"llm-orchestrator\","
	    "\"payload\":{\"turn_id\":\"tn%d\",\"user_id\":\"u1\","
	    "\"session_id\":\"c1\",\"terminal_id\":\"t1\",\"soul_id\":\"%s\","
	    "\"state\":\"completed\",\"executed_skills\":[],"
	    "\"duration_ms\":1%s},\"meta\":{\"timestamp\":%lld}}",
	    n, soul, emotion_json, (long long)(clock_wall().ms / 1000));
	tk_nats_send(f->nc, subject, json);
}

void
navigator_fixture_script_json(struct navigator_fixture *f, const char *json)
{
	struct tk_response a = { 0 };

	ck_assert_int_eq(
	    tk_http_request(f->llm.http, &a, "POST", "/sim/script", json), 200);
	tk_response_free(&a);
}

void
navigator_fixture_script(struct navigator_fixture *f, const char *completions)
{
	json_t *list = json_array(), *j;
	struct str rest = str_of(completions), part;
	char *body;

	while (rest.n > 0) {
		part = str_split(&rest, '|');
		json_array_append_new(list,
		    json_pack(
			"{ssss%}", "kind", "answer", "text", part.p, part.n));
	}
	j = json_pack("{so}", "faults", list);
	body = json_dumps(j, 0);
	navigator_fixture_script_json(f, body);
	free(body);
	json_decref(j);
}

long long
navigator_fixture_calls(struct navigator_fixture *f)
{
	return tk_service_metric(
	    &f->llm, "soul_requests_total{route=\"chat\",code=\"ok\"}");
}

long long
navigator_fixture_ended(struct navigator_fixture *f, int i, const char *labels)
{
	char name[128];

	snprintf(name, sizeof(name), "soul_nav_cycles_total{%s}", labels);
	return tk_service_metric(&f->nav[i], name);
}

struct fixture_ended {
	struct navigator_fixture *f;
	const char *labels;
	long long least;
};

static bool
fixture_has_ended(void *arg)
{
	const struct fixture_ended *e = arg;

	return navigator_fixture_ended(e->f, 0, e->labels) >= e->least;
}

void
navigator_fixture_wait_ended(struct navigator_fixture *f, const char *labels)
{
	struct fixture_ended e = { f, labels, 1 };

	ck_assert_msg(tk_until(fixture_has_ended, &e, NAVIGATOR_FIXTURE_MS),
	    "no cycle %s", labels);
}

json_t *
navigator_fixture_next(natsSubscription *sub)
{
	json_t *j = tk_nats_next(sub, NAVIGATOR_FIXTURE_MS, NULL), *payload;

	ck_assert_ptr_nonnull(j);
	payload = json_object_get(j, "payload");
	if (payload == NULL)
		return j;
	json_incref(payload);
	json_decref(j);
	return payload;
}

json_t *
navigator_fixture_link(struct navigator_fixture *f, const char *soul)
{
	const struct nav_key k = { STR("u1"), str_of(soul) };
	struct str json;

	ck_assert_int_eq(
	    mind_link_read(f->db.s, &k, f->db.arena, &json), RC_OK);
	return json.p != NULL ? json_loadb(json.p, json.n, 0, NULL) : NULL;
}
