/*
 * bed: nats-server, Redis with souls and bodies in it, emotion-engines, and
 * plain peers of theirs.
 */
#ifndef BED_H
#define BED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/soul.h"
#include "state/state.h"
#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/terminal_fixture.h"

#define BED_MS  15000
#define ENGINES 2
#define BROKER  "main"

struct bed {
	struct tk_server nats, redis;
	struct tk_service engine[ENGINES];
	natsConnection *nc;
	struct tk_state db;
	struct terminal_writer writer;
};

static inline void
bed_servers(struct bed *b)
{
	*b = (struct bed){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
	b->writer = (struct terminal_writer){
		.broker = STR(BROKER), .epoch = 1, .ttl_ms = 60000
	};
}

/* Start engine i with its interval and more, a variable or NULL. */
static inline void
bed_spawn_as(struct bed *b, int i, const char *tick, const char *more)
{
	struct tk_env e = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "engine-%d", i);
	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_list(&e, TK_ENV("REDIS_TIMEOUT_MS=5000", tick, more));
	tk_service_spawn(&b->engine[i], "emotion-engine", name, &e);
}

/* Start engine i; more is one more variable, or NULL. */
static inline void
bed_spawn(struct bed *b, int i, const char *more)
{
	bed_spawn_as(b, i, "EMOTION_TICK_INTERVAL_SECONDS=2", more);
}

static inline void
bed_start(struct bed *b, int engines, const char *more)
{
	int i;

	bed_servers(b);
	for (i = 0; i < engines; i++)
		bed_spawn(b, i, more);
	for (i = 0; i < engines; i++)
		tk_service_wait(&b->engine[i]);
}

/* Engines must drain and end in peace. */
static inline void
bed_stop(struct bed *b)
{
	int i;

	for (i = 0; i < ENGINES; i++)
		tk_service_end(&b->engine[i]);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

/* A soul that has never felt anything. */
static inline void
bed_soul_of(struct bed *b, const char *id, const char *mbti, const char *user)
{
	struct soul soul = { .id = str_of(id),
		.user_id = str_of(user),
		.name = str_of(id),
		.mbti_type = str_of(mbti),
		.model = STR("persona-pad-v3"),
		.created = clock_wall() };

	ck_assert_int_eq(soul_create(b->db.s, &soul, STR("")), RC_OK);
}

static inline void
bed_soul(struct bed *b, const char *id, const char *mbti)
{
	bed_soul_of(b, id, mbti, "u1");
}

static inline void
bed_online(struct bed *b, const char *id, bool online)
{
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->db.s, &b->writer, str_of(id), online, NULL),
	    RC_OK);
}

/* A body that is bound to a soul, and there or not. */
static inline void
bed_body(struct bed *b, const char *id, const char *soul, bool online)
{
	bed_online(b, id, online);
	ck_assert_int_eq(
	    terminal_bind(b->db.s, str_of(id), STR("u1"), str_of(soul)), RC_OK);
}

static inline int64_t
bed_version(struct bed *b, const char *soul)
{
	struct soul_state st = { .soul_id = str_of(soul) };

	arena_reset(b->db.arena);
	ck_assert_int_eq(soul_state_get(b->db.s, &st, 1, b->db.arena), RC_OK);
	return st.version;
}

/* What user u1 says in session s1 to a soul through a body. */
static inline json_t *
bed_say(struct bed *b, const char *soul, const char *body, const char *text)
{
	json_t *req = json_pack("{ssssssssss}", "user_id", "u1", "soul_id",
	    soul, "session_id", "s1", "terminal_id", body, "text", text);
	char *s = json_dumps(req, 0), code[64];
	json_t *j = tk_nats_ask(b->nc, "soul.rpc.emotion.observe", s, code);

	ck_assert_msg(code[0] == '\0', "%s", code);
	free(s);
	json_decref(req);
	return j;
}

static inline json_t *
bed_of_soul(struct bed *b, const char *subject, const char *soul)
{
	char body[256], code[64];
	json_t *j;

	snprintf(body, sizeof(body), "{\"soul_id\":\"%s\"}", soul);
	j = tk_nats_ask(b->nc, subject, body, code);
	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}

#endif /* !BED_H */
