/*
 * bed: nats-server, Redis with souls and bodies in it, emotion-engines, and
 * plain peers of theirs.
 *
 * The loop that the Redis connection needs runs only while a function of the
 * bed waits; between two calls the test may use b->state.
 */
#ifndef BED_H
#define BED_H

#include <jansson.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/loop.h"
#include "core/worker.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "kit/kit_loop.h"
#include "state/lease.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/terminal.h"

#define BED_MS  15000
#define ENGINES 2
#define BROKER  "main"

struct engine_proc {
	struct kit_proc proc;
	int http, admin;
};

struct bed {
	struct kit_server nats, redis;
	struct engine_proc engine[ENGINES];
	natsConnection *nc;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct arena *arena;
	struct terminal_writer writer;
};

static inline bool
bed_state_up(void *arg)
{
	return state_up(arg);
}

static inline void
bed_servers(struct bed *b)
{
	struct state_opts o = {
		.url = b->redis.url, .name = "bed", .deadline_ms = 5000
	};

	*b = (struct bed){ 0 };
	kit_server_start(&b->nats, KIT_NATS);
	kit_server_start(&b->redis, KIT_REDIS);
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&b->nc, b->nats.url), NATS_OK);
	b->loop = loop_new(64);
	b->workers = worker_new(b->loop, 1, 16);
	b->arena = arena_new(4 * 1024 * 1024);
	o.loop = b->loop;
	o.workers = b->workers;
	ck_assert_int_eq(state_new(&o, &b->state), RC_OK);
	ck_assert(kit_loop_until(b->loop, bed_state_up, b->state, BED_MS));
	b->writer = (struct terminal_writer){
		.broker = STR(BROKER), .epoch = 1, .ttl_ms = 60000
	};
}

static inline bool
engine_ready(void *arg)
{
	struct engine_proc *p = arg;
	struct kit_http c = { 0 };
	struct kit_answer a = { 0 };
	bool is = false;

	if (!kit_port_open(p->admin))
		return false;
	kit_http_open(&c, p->admin);
	if (kit_http_puts(&c, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"))
		is = kit_http_read(&c, &a, 2000) && a.status == 200;
	kit_answer_free(&a);
	kit_http_close(&c);
	return is;
}

/* Start engine i with its interval and more, a variable or NULL. */
static inline void
bed_spawn_as(struct bed *b, int i, const char *tick, const char *more)
{
	struct engine_proc *p = &b->engine[i];
	char name[32], nats[96], redis[96], http[48], admin[48];
	const char *argv[] = { kit_bin("emotion-engine"), NULL };
	const char *env[] = { nats, redis, http, admin, "REDIS_TIMEOUT_MS=5000",
		tick, more, NULL };

	if (p->http == 0) {
		p->http = kit_port();
		p->admin = kit_port();
	}
	snprintf(name, sizeof(name), "engine-%d", i);
	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(redis, sizeof(redis), "REDIS_URL=%s", b->redis.url);
	snprintf(http, sizeof(http), "HTTP_ADDR=127.0.0.1:%d", p->http);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", p->admin);
	kit_spawn(&p->proc, name, argv, env);
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
		ck_assert(kit_until(engine_ready, &b->engine[i], BED_MS));
}

/* Engines must drain and end in peace. */
static inline void
bed_stop(struct bed *b)
{
	int i;

	for (i = 0; i < ENGINES; i++) {
		if (b->engine[i].proc.pid == 0)
			continue;
		kit_signal(&b->engine[i].proc, SIGTERM);
		ck_assert_int_eq(kit_wait(&b->engine[i].proc, BED_MS), 0);
	}
	natsConnection_Destroy(b->nc);
	state_free(b->state);
	worker_free(b->workers);
	loop_free(b->loop);
	arena_free(b->arena);
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

	ck_assert_int_eq(soul_create(b->state, &soul, STR("")), RC_OK);
}

static inline void
bed_soul(struct bed *b, const char *id, const char *mbti)
{
	bed_soul_of(b, id, mbti, "u1");
}

static inline void
bed_online(struct bed *b, const char *id, bool online)
{
	ck_assert_int_eq(
	    terminal_put_online(b->state, &b->writer, str_of(id), online, NULL),
	    RC_OK);
}

/* A body that is bound to a soul, and there or not. */
static inline void
bed_body(struct bed *b, const char *id, const char *soul, bool online)
{
	bed_online(b, id, online);
	ck_assert_int_eq(
	    terminal_bind(b->state, str_of(id), STR("u1"), str_of(soul)),
	    RC_OK);
}

static inline int64_t
bed_version(struct bed *b, const char *soul)
{
	struct soul_state st = { .soul_id = str_of(soul) };

	arena_reset(b->arena);
	ck_assert_int_eq(soul_state_get(b->state, &st, 1, b->arena), RC_OK);
	return st.version;
}

/* Ask over NATS; *code is the error header's or "". */
static inline json_t *
bed_ask(struct bed *b, const char *subject, const char *body, char code[64])
{
	natsMsg *m = NULL;
	const char *err = NULL;
	json_t *j;

	ck_assert_int_eq(
	    natsConnection_RequestString(&m, b->nc, subject, body, BED_MS),
	    NATS_OK);
	if (natsMsgHeader_Get(m, "Nats-Service-Error", &err) != NATS_OK)
		err = "";
	snprintf(code, 64, "%s", err);
	j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

/* What user u1 says in session s1 to a soul through a body. */
static inline json_t *
bed_say(struct bed *b, const char *soul, const char *body, const char *text)
{
	json_t *req = json_pack("{ssssssssss}", "user_id", "u1", "soul_id",
	    soul, "session_id", "s1", "terminal_id", body, "text", text);
	char *s = json_dumps(req, 0), code[64];
	json_t *j = bed_ask(b, "soul.rpc.emotion.observe", s, code);

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
	j = bed_ask(b, subject, body, code);
	ck_assert_msg(code[0] == '\0', "%s", code);
	return j;
}

/* The next message of a subscription as JSON, or NULL after ms. */
static inline json_t *
bed_next(natsSubscription *sub, char subject[256], int ms)
{
	natsMsg *m = NULL;
	json_t *j;

	if (natsSubscription_NextMsg(&m, sub, ms) != NATS_OK)
		return NULL;
	snprintf(subject, 256, "%s", natsMsg_GetSubject(m));
	j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

static inline natsSubscription *
bed_listen(struct bed *b, const char *subject)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, b->nc, subject), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
	return sub;
}

/* The member at a path like "soul_emotion.p". */
static inline json_t *
at(json_t *j, const char *path)
{
	char key[64];
	size_t n;

	while (*path != '\0') {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		ck_assert_msg(j != NULL, "no %s", key);
		path += path[n] == '.' ? n + 1 : n;
	}
	return j;
}

#define text_at(j, path)   json_string_value(at((j), (path)))
#define number_at(j, path) json_number_value(at((j), (path)))
#define int_at(j, path)    json_integer_value(at((j), (path)))

#endif /* !BED_H */
