/*
 * bed: a broker, nats-server and Redis, bridges between them, and plain peers:
 * bodies that speak MQTT (body.h), a service that speaks NATS, a reader of the
 * terminals' records.
 */
#ifndef MQTT_BRIDGE_BED_H
#define MQTT_BRIDGE_BED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/rate.h"
#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"

#define BED_MS 20000
/* Bridges that may run beside each other. */
#define BRIDGES 3
/* Time to live of snapshots, unless a test says otherwise. */
#define BED_TTL_S 60

struct bed {
	struct tk_server nats, redis, mqtt;
	struct tk_service bridge[BRIDGES];
	int starts[BRIDGES]; /* each has a log of its own */
	natsConnection *nc;
	struct tk_state db;
	const char *more; /* one more variable for bridges, or NULL */
	bool strict;      /* bridges have the limits that are shipped */
};

static inline void
bed_servers(struct bed *b, enum tk_server_kind broker)
{
	*b = (struct bed){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	tk_server_start(&b->mqtt, broker);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
}

/* ---- bridges ------------------------------------------------------------- */

static inline void
bridge_spawn(struct bed *b, int i)
{
	struct tk_env e = { 0 };
	char name[24];

	/* The first of two counts. */
	tk_env_list(&e, TK_ENV(b->more));
	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "MQTT_BROKER_URL=%s", b->mqtt.url);
	tk_env_put(&e, "SKILL_SNAPSHOT_TTL_SECONDS=%d", BED_TTL_S);
	/* One client speaks for a whole fleet here. */
	if (!b->strict) {
		tk_env_put(&e, "RATE_TERMINAL_PER_S=%d", RATE_MAX);
		tk_env_put(&e, "RATE_TERMINAL_BURST=%d", RATE_MAX);
	}
	snprintf(name, sizeof(name), "bridge-%d-%d", i, b->starts[i]++);
	tk_service_spawn(&b->bridge[i], "mqtt-bridge", name, &e);
}

static inline bool
bridge_leads(void *arg)
{
	struct tk_service *p = arg;

	return tk_service_metric(p, "soul_bridge_leads") == 1 &&
	    tk_log_has(&p->proc, "ev=bridge.caught_up");
}

/* Start one, and wait until it is ready. */
static inline void
bridge_start_one(struct bed *b, int i)
{
	bridge_spawn(b, i);
	tk_service_wait(&b->bridge[i]);
}

/* The servers, and one bridge that leads. */
static inline void
bed_start(struct bed *b)
{
	bed_servers(b, TK_MOSQUITTO);
	bridge_start_one(b, 0);
	ck_assert(tk_until(bridge_leads, &b->bridge[0], BED_MS));
}

/* Bridges must drain and end in peace. */
static inline void
bed_stop(struct bed *b)
{
	int i;

	for (i = 0; i < BRIDGES; i++)
		tk_service_end(&b->bridge[i]);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

/* ---- records ------------------------------------------------------------- */

/* Redis may have been restarted meanwhile. */
static inline struct terminal
bed_terminal(struct bed *b, const char *id)
{
	struct terminal t;
	int tries = 0;

	do {
		tk_state_wait(&b->db);
		arena_reset(b->db.arena);
	} while (terminal_read(b->db.s, str_of(id), BED_TTL_S * 1000,
		     b->db.arena, &t) != RC_OK &&
	    tries++ < 100);
	return t;
}

/* What a terminal's record is waited to be. */
struct bed_wish {
	struct bed *b;
	const char *id;
	bool (*is)(const struct terminal *t, const char *what);
	const char *what;
};

static inline bool
bed_wish_is(void *arg)
{
	struct bed_wish *w = arg;
	struct terminal t = bed_terminal(w->b, w->id);

	return w->is(&t, w->what);
}

/* What was refused of it, of one kind or, with TERMINAL_REJECTED_N, of any. */
static inline struct str
bed_refused(const struct terminal *t, enum terminal_rejection_kind said)
{
	size_t i;

	if (said < TERMINAL_REJECTED_N)
		return t->refused[said];
	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (t->refused[i].p != NULL)
			return t->refused[i];
	return (struct str){ NULL, 0 };
}

static inline void
bed_wait(struct bed *b, const char *id,
    bool (*is)(const struct terminal *t, const char *what), const char *what)
{
	struct bed_wish w = { b, id, is, what };
	bool done = tk_until(bed_wish_is, &w, BED_MS);
	struct terminal t = bed_terminal(b, id);
	struct str refused = bed_refused(&t, TERMINAL_REJECTED_N);

	ck_assert_msg(
	    done, "%s is never %s; refused: %.*s", id, what, STR_ARG(refused));
}

static inline bool
has(struct str s, const char *what)
{
	return str_find(s, str_of(what)) >= 0;
}

static inline bool
is_present(const struct terminal *t, const char *what)
{
	return t->present == (strcmp(what, "present") == 0);
}

static inline bool
has_skills(const struct terminal *t, const char *what)
{
	return has(t->skills, what);
}

static inline bool
has_catalog(const struct terminal *t, const char *what)
{
	return has(t->catalog, what);
}

static inline bool
was_refused(const struct terminal *t, const char *what)
{
	int i;

	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (has(t->refused[i], what))
			return true;
	return false;
}

/* ---- the bus ------------------------------------------------------------- */

/*
 * The next event of sub whose member at path is text; the ones before it are
 * passed over.
 */
static inline json_t *
bed_event(natsSubscription *sub, const char *path, const char *text)
{
	json_t *j;

	while ((j = tk_nats_next(sub, BED_MS, NULL)) != NULL) {
		if (strcmp(tk_find_text(j, path), text) == 0)
			return j;
		json_decref(j);
	}
	ck_abort_msg("no event with %s=%s", path, text);
	return NULL;
}

/* The next audit event says that the body was refused, for that reason. */
static inline void
ck_denied(
    struct bed *b, natsSubscription *told, const char *body, const char *reason)
{
	json_t *j = tk_nats_next(told, BED_MS, NULL);
	char line[160];

	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_find_text(j, "source"), "mqtt-bridge");
	ck_assert_str_eq(tk_find_text(j, "payload.action"), "access_denied");
	ck_assert_str_eq(tk_find_text(j, "payload.role"), "terminal");
	ck_assert_str_eq(tk_find_text(j, "payload.caller_id"), body);
	ck_assert_str_eq(tk_find_text(j, "payload.terminal_id"), body);
	ck_assert_str_eq(tk_find_text(j, "payload.reason"), reason);
	ck_assert_uint_eq(strlen(tk_find_text(j, "trace_id")), 36);
	json_decref(j);
	snprintf(line, sizeof(line),
	    "ev=audit action=access_denied role=terminal tenant=\"\" caller=%s",
	    body);
	ck_assert(tk_log_has(&b->bridge[0].proc, line));
}

/* A request: its answer, and the code of an error or "". */
struct bed_answer {
	json_t *body; /* NULL: none came */
	char error[64];
};

/* late_ms: the deadline is that long ago; 0: none is sent. */
static inline struct bed_answer
bed_ask_late(
    struct bed *b, const char *subject, const char *body, int64_t late_ms)
{
	struct bed_answer a = { NULL, "" };
	const char *code = NULL;
	char deadline[32];
	natsMsg *q = NULL, *m = NULL;

	ck_assert_int_eq(
	    natsMsg_Create(&q, subject, NULL, body, (int)strlen(body)),
	    NATS_OK);
	if (late_ms != 0) {
		snprintf(deadline, sizeof(deadline), "%lld",
		    (long long)(clock_wall().ms - late_ms));
		ck_assert_int_eq(
		    natsMsgHeader_Set(q, "Soul-Deadline", deadline), NATS_OK);
	}
	if (natsConnection_RequestMsg(&m, b->nc, q, 10000) == NATS_OK) {
		if (natsMsgHeader_Get(m, "Nats-Service-Error", &code) ==
		    NATS_OK)
			snprintf(a.error, sizeof(a.error), "%s", code);
		a.body = tk_nats_json(m);
	}
	natsMsg_Destroy(q);
	natsMsg_Destroy(m);
	return a;
}

static inline struct bed_answer
bed_ask(struct bed *b, const char *subject, const char *body)
{
	return bed_ask_late(b, subject, body, 0);
}

/* The state of the delivery, or the code of the error, or "no answer". */
static inline const char *
bed_deliver(struct bed *b, const char *subject, const char *body)
{
	static char text[64];
	struct bed_answer a = bed_ask(b, subject, body);

	if (a.body == NULL)
		snprintf(text, sizeof(text), "no answer");
	else if (a.error[0] != '\0')
		snprintf(text, sizeof(text), "%s", a.error);
	else
		snprintf(
		    text, sizeof(text), "%s", tk_find_text(a.body, "state"));
	json_decref(a.body);
	return text;
}

#endif /* !MQTT_BRIDGE_BED_H */
