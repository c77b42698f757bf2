/*
 * bed: nats-server, Redis, emotion-engine and chat-gateway, with plain clients
 * of the gateway and plain peers in the place of llm-orchestrator.
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
#include "state/state.h"
#include "state/terminal.h"

#define BED_MS  15000
#define BED_ENV 8

struct bed_proc {
	struct kit_proc proc;
	int http, admin;
};

struct bed {
	struct kit_server nats, redis;
	struct bed_proc gateway, engine;
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
bed_state(struct bed *b)
{
	b->loop = loop_new(64);
	b->workers = worker_new(b->loop, 1, 16);
	b->arena = arena_new(16 * 1024 * 1024);
	ck_assert_int_eq(state_new(&(struct state_opts){ .loop = b->loop,
				       .workers = b->workers,
				       .url = b->redis.url,
				       .name = "bed",
				       .deadline_ms = 5000 },
			     &b->state),
	    RC_OK);
	ck_assert(kit_loop_until(b->loop, bed_state_up, b->state, BED_MS));
	b->writer = (struct terminal_writer){
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
}

static inline void
bed_servers(struct bed *b)
{
	*b = (struct bed){ 0 };
	kit_server_start(&b->nats, KIT_NATS);
	kit_server_start(&b->redis, KIT_REDIS);
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&b->nc, b->nats.url), NATS_OK);
	bed_state(b);
}

static inline bool
bed_ready(void *arg)
{
	struct bed_proc *p = arg;
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

/* Start a service of the suite; more has up to three variables, NULL last. */
static inline void
bed_spawn(struct bed *b, struct bed_proc *p, const char *name,
    const char *const more[])
{
	char nats[96], redis[96], http[48], admin[48];
	const char *argv[] = { kit_bin(name), NULL };
	const char *env[BED_ENV + 1] = { nats, redis, http, admin,
		"REDIS_TIMEOUT_MS=5000" };
	size_t i, n = 5;

	if (p->http == 0) {
		p->http = kit_port();
		p->admin = kit_port();
	}
	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(redis, sizeof(redis), "REDIS_URL=%s", b->redis.url);
	snprintf(http, sizeof(http), "HTTP_ADDR=127.0.0.1:%d", p->http);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", p->admin);
	for (i = 0; more != NULL && more[i] != NULL; i++) {
		ck_assert_uint_lt(n, BED_ENV);
		env[n++] = more[i];
	}
	kit_spawn(&p->proc, name, argv, env);
	ck_assert_msg(kit_until(bed_ready, p, BED_MS), "%s is not ready", name);
}

#define ENV(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Everything but an orchestrator. */
static inline void
bed_start(struct bed *b, const char *const more[])
{
	bed_servers(b);
	bed_spawn(b, &b->engine, "emotion-engine", NULL);
	bed_spawn(b, &b->gateway, "chat-gateway", more);
}

/* Services must drain and end in peace. */
static inline void
bed_stop(struct bed *b)
{
	struct bed_proc *all[] = { &b->gateway, &b->engine };
	size_t i;

	for (i = 0; i < NELEM(all); i++) {
		if (all[i]->proc.pid == 0)
			continue;
		kit_signal(&all[i]->proc, SIGTERM);
		ck_assert_int_eq(kit_wait(&all[i]->proc, BED_MS), 0);
	}
	natsConnection_Destroy(b->nc);
	state_free(b->state);
	worker_free(b->workers);
	loop_free(b->loop);
	arena_free(b->arena);
	nats_Close();
}

/* ---- asking ---------------------------------------------------------------
 */

/* Send a request, on a connection of its own; body NULL: none. */
static inline void
ask_begin(struct bed *b, struct kit_http *c, const char *method,
    const char *path, const char *body)
{
	char head[1024];
	int n;

	n = snprintf(head, sizeof(head),
	    "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", method, path);
	ck_assert_int_lt(n, (int)sizeof(head) - 128);
	if (body != NULL)
		snprintf(head + n, sizeof(head) - (size_t)n,
		    "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n",
		    strlen(body));
	else
		snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
	kit_http_open(c, b->gateway.http);
	ck_assert(kit_http_puts(c, head));
	if (body != NULL)
		(void)kit_http_puts(c, body);
}

/* The status; *a as of kit_http_read(). */
static inline int
ask(struct bed *b, struct kit_answer *a, const char *method, const char *path,
    const char *body)
{
	struct kit_http c = { 0 };

	ask_begin(b, &c, method, path, body);
	if (!kit_http_read(&c, a, BED_MS))
		a->status = 0;
	kit_http_close(&c);
	return a->status;
}

/* The JSON of an answer, which must have this status and type. */
static inline json_t *
answer_json(const struct kit_answer *a, int status)
{
	char type[64];
	json_t *j;

	ck_assert_msg(a->status == status, "%d instead of %d: %s", a->status,
	    status, a->body.p);
	ck_assert_str_eq(
	    kit_answer_field(a, "Content-Type", type, sizeof(type)),
	    "application/json");
	j = json_loadb(a->body.p, a->body.n, 0, NULL);
	ck_assert_msg(j != NULL, "not JSON: %s", a->body.p);
	return j;
}

/* What is answered 200. */
static inline json_t *
take(struct bed *b, const char *method, const char *path, const char *body)
{
	struct kit_answer a = { 0 };
	json_t *j;

	ask(b, &a, method, path, body);
	j = answer_json(&a, 200);
	kit_answer_free(&a);
	return j;
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

/* An error answer: this status, this text, a code and a trace. */
static inline void
answer_refuses(const struct kit_answer *a, int status, const char *text)
{
	json_t *j = answer_json(a, status);

	ck_assert_str_eq(text_at(j, "error"), text);
	ck_assert_uint_gt(strlen(text_at(j, "code")), 0);
	ck_assert_uint_eq(strlen(text_at(j, "trace_id")), 32);
	json_decref(j);
}

static inline void
refused(struct bed *b, const char *method, const char *path, const char *body,
    int status, const char *text)
{
	struct kit_answer a = { 0 };

	ask(b, &a, method, path, body);
	answer_refuses(&a, status, text);
	kit_answer_free(&a);
}

static inline void
done(struct bed *b, const char *method, const char *path, const char *body)
{
	json_decref(take(b, method, path, body));
}

/* ---- souls and terminals --------------------------------------------------
 */

/* Room for a soul's id. */
#define SOUL_ID 64

/* A new soul of a user (NULL: the default one). */
static inline void
make_soul(struct bed *b, const char *user, const char *name, char id[SOUL_ID])
{
	json_t *req = json_pack("{ssss}", "name", name, "mbti_type", "INFP");
	char *body;
	json_t *j;

	if (user != NULL)
		json_object_set_new(req, "user_id", json_string(user));
	body = json_dumps(req, 0);
	j = take(b, "POST", "/v1/souls", body);
	snprintf(id, SOUL_ID, "%s", text_at(j, "soul_id"));
	json_decref(j);
	json_decref(req);
	free(body);
}

/* The status of binding a terminal. */
static inline int
bind_soul(struct bed *b, struct kit_answer *a, const char *user,
    const char *terminal, const char *soul)
{
	char body[512];

	snprintf(body, sizeof(body),
	    "{\"user_id\":\"%s\",\"terminal_id\":\"%s\",\"soul_id\":\"%s\"}",
	    user, terminal, soul);
	return ask(b, a, "POST", "/v1/souls/select", body);
}

static inline void
bound(struct bed *b, const char *user, const char *terminal, const char *soul)
{
	struct kit_answer a = { 0 };

	ck_assert_int_eq(bind_soul(b, &a, user, terminal, soul), 200);
	kit_answer_free(&a);
}

/* The body said that it is there. */
static inline void
online(struct bed *b, const char *terminal, bool is)
{
	ck_assert_int_eq(terminal_put_online(
			     b->state, &b->writer, str_of(terminal), is, NULL),
	    RC_OK);
}

/* The body reported skills (a JSON array), with a hint (NULL: none). */
static inline void
reported(
    struct bed *b, const char *terminal, const char *skills, const char *hint)
{
	struct terminal_snapshot snap = {
		.version = 1, .json = str_of(skills), .soul_hint = str_of(hint)
	};
	int64_t current;

	ck_assert_int_eq(terminal_put_skills(b->state, &b->writer,
			     str_of(terminal), &snap, &current),
	    RC_OK);
}

#endif /* !BED_H */
