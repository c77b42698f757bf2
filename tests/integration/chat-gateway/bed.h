/*
 * bed: nats-server, Redis, emotion-engine and chat-gateway, with plain clients
 * of the gateway and plain peers in the place of llm-orchestrator.
 */
#ifndef BED_H
#define BED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/terminal_fixture.h"

#define BED_MS 15000

struct bed {
	struct tk_server nats, redis;
	struct tk_service gateway, engine;
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
		.broker = STR("main"), .epoch = 1, .ttl_ms = 60000
	};
}

/* Start a service of the suite; more are further variables, NULL: none. */
static inline void
bed_spawn(struct bed *b, struct tk_service *s, const char *name,
    const char *const more[])
{
	struct tk_env e = { 0 };

	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "REDIS_TIMEOUT_MS=5000");
	tk_env_list(&e, more);
	tk_service_start(s, name, name, &e);
}

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
	tk_service_end(&b->gateway);
	tk_service_end(&b->engine);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

/* Whether the gateway's metrics have this text. */
static inline bool
bed_counts(struct bed *b, const char *text)
{
	struct tk_answer a = { 0 };
	bool is = tk_service_get(&b->gateway, &a, "/metrics") == 200 &&
	    tk_answer_has(&a, text);

	tk_answer_free(&a);
	return is;
}

/* ---- asking ---------------------------------------------------------------
 */

/* Send a request, on a connection of its own; body NULL: none. */
static inline void
ask_begin(struct bed *b, struct tk_http *c, const char *method,
    const char *path, const char *body)
{
	tk_http_begin(c, b->gateway.http, method, path, body);
}

/* The status; *a as of tk_http_read(). */
static inline int
ask(struct bed *b, struct tk_answer *a, const char *method, const char *path,
    const char *body)
{
	return tk_http_ask(b->gateway.http, a, method, path, body);
}

/* The JSON of an answer, which must have this status and type. */
static inline json_t *
answer_json(const struct tk_answer *a, int status)
{
	char type[64];

	ck_assert_msg(a->status == status, "%d instead of %d: %s", a->status,
	    status, a->body.p);
	ck_assert_str_eq(tk_answer_field(a, "Content-Type", type, sizeof(type)),
	    "application/json");
	return tk_json(a->body.p, a->body.n);
}

/* What is answered 200. */
static inline json_t *
take(struct bed *b, const char *method, const char *path, const char *body)
{
	struct tk_answer a = { 0 };
	json_t *j;

	ask(b, &a, method, path, body);
	j = answer_json(&a, 200);
	tk_answer_free(&a);
	return j;
}

/* An error answer: this status, this text, a code and a trace. */
static inline void
answer_refuses(const struct tk_answer *a, int status, const char *text)
{
	json_t *j = answer_json(a, status);

	ck_assert_str_eq(tk_text(j, "error"), text);
	ck_assert_uint_gt(strlen(tk_text(j, "code")), 0);
	ck_assert_uint_eq(strlen(tk_text(j, "trace_id")), 32);
	json_decref(j);
}

static inline void
refused(struct bed *b, const char *method, const char *path, const char *body,
    int status, const char *text)
{
	struct tk_answer a = { 0 };

	ask(b, &a, method, path, body);
	answer_refuses(&a, status, text);
	tk_answer_free(&a);
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
	snprintf(id, SOUL_ID, "%s", tk_text(j, "soul_id"));
	json_decref(j);
	json_decref(req);
	free(body);
}

/* The status of binding a terminal. */
static inline int
bind_soul(struct bed *b, struct tk_answer *a, const char *user,
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
	struct tk_answer a = { 0 };

	ck_assert_int_eq(bind_soul(b, &a, user, terminal, soul), 200);
	tk_answer_free(&a);
}

/* The body said that it is there. */
static inline void
online(struct bed *b, const char *terminal, bool is)
{
	ck_assert_int_eq(terminal_fixture_put_online(
			     b->db.s, &b->writer, str_of(terminal), is, NULL),
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

	ck_assert_int_eq(terminal_fixture_put_skills(b->db.s, &b->writer,
			     str_of(terminal), &snap, &current),
	    RC_OK);
}

#endif /* !BED_H */
