/*
 * Servers, engines, souls and bodies of emotion-engine's tests.
 */
#include "testkit/emotion_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "state/soul.h"
#include "state/state.h"
#include "testkit/terminal_fixture.h"

void
emotion_fixture_servers(struct emotion_fixture *b)
{
	*b = (struct emotion_fixture){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
	b->writer =
	    (struct terminal_writer){ .broker = STR(EMOTION_FIXTURE_BROKER),
		    .epoch = 1,
		    .ttl_ms = 60000 };
}

void
emotion_fixture_spawn_as(
    struct emotion_fixture *b, int i, const char *tick, const char *more)
{
	struct tk_env e = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "engine-%d", i);
	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_list(&e, TK_ENV("REDIS_TIMEOUT_MS=5000", tick, more));
	tk_service_spawn(&b->engine[i], "emotion-engine", name, &e);
}

void
emotion_fixture_spawn(struct emotion_fixture *b, int i, const char *more)
{
	emotion_fixture_spawn_as(b, i, "EMOTION_TICK_INTERVAL_SECONDS=2", more);
}

void
emotion_fixture_start(struct emotion_fixture *b, int engines, const char *more)
{
	int i;

	emotion_fixture_servers(b);
	for (i = 0; i < engines; i++)
		emotion_fixture_spawn(b, i, more);
	for (i = 0; i < engines; i++)
		tk_service_wait(&b->engine[i]);
}

void
emotion_fixture_stop(struct emotion_fixture *b)
{
	int i;

	for (i = 0; i < EMOTION_FIXTURE_ENGINES; i++)
		tk_service_end(&b->engine[i]);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

void
emotion_fixture_soul_of(struct emotion_fixture *b, const char *id,
    const char *mbti, const char *user)
{
	tk_state_soul(&b->db, id, mbti, user);
}

void
emotion_fixture_soul(
    struct emotion_fixture *b, const char *id, const char *mbti)
{
	emotion_fixture_soul_of(b, id, mbti, "u1");
}

/* What the bridge and the gateway publish if a soul begins to tick. */
static void
emotion_fixture_hint(struct emotion_fixture *b, const char *user)
{
	unsigned bucket;
	char body[32];

	ck_assert_int_eq(state_bucket(str_of(user), &bucket), RC_OK);
	snprintf(body, sizeof(body), "{\"bucket\":%u}", bucket);
	ck_assert_int_eq(
	    natsConnection_PublishString(b->nc, "soul.timer.tick", body),
	    NATS_OK);
}

void
emotion_fixture_bind(struct emotion_fixture *b, const char *id,
    const char *user, const char *soul)
{
	ck_assert_int_eq(terminal_fixture_bind(
			     b->db.s, str_of(id), str_of(user), str_of(soul)),
	    RC_OK);
	emotion_fixture_hint(b, user);
}

void
emotion_fixture_online(struct emotion_fixture *b, const char *id, bool online)
{
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->db.s, &b->writer, str_of(id), online, NULL),
	    RC_OK);
	emotion_fixture_hint(b, "u1");
}

void
emotion_fixture_body(
    struct emotion_fixture *b, const char *id, const char *soul, bool online)
{
	emotion_fixture_online(b, id, online);
	emotion_fixture_bind(b, id, "u1", soul);
}

int64_t
emotion_fixture_version_of(
    struct emotion_fixture *b, const char *soul, const char *user)
{
	struct soul_state st = { .user_id = str_of(user),
		.soul_id = str_of(soul) };

	arena_reset(b->db.arena);
	ck_assert_int_eq(soul_state_get(b->db.s, &st, 1, b->db.arena), RC_OK);
	return st.version;
}

int64_t
emotion_fixture_version(struct emotion_fixture *b, const char *soul)
{
	return emotion_fixture_version_of(b, soul, "u1");
}

json_t *
emotion_fixture_observe(struct emotion_fixture *b, const char *soul,
    const char *body, const char *text)
{
	json_t *req = json_pack("{ssssssssss}", "user_id", "u1", "soul_id",
	    soul, "session_id", "s1", "terminal_id", body, "text", text);
	char *s = json_dumps(req, 0), code[64];
	json_t *j = tk_nats_request(b->nc, "soul.rpc.emotion.observe", s, code);

	ck_assert_msg(code[0] == '\0', "%s", code);
	free(s);
	json_decref(req);
	return j;
}

json_t *
emotion_fixture_query(
    struct emotion_fixture *b, const char *subject, const char *soul)
{
	char body[256], code[64];
	json_t *j;

	snprintf(body, sizeof(body), "{\"user_id\":\"u1\",\"soul_id\":\"%s\"}",
	    soul);
	j = tk_nats_request(b->nc, subject, body, code);
	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}
