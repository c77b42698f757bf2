/*
 * bed: a broker, nats-server and Redis, bridges between them, and plain peers:
 * bodies that speak MQTT (body.h), a service that speaks NATS, a reader of the
 * terminals' records.
 *
 * The loop that the Redis connection needs runs only while a function of the
 * bed waits; between two calls the test may use b->state.
 */
#ifndef MQTT_BRIDGE_BED_H
#define MQTT_BRIDGE_BED_H

#include <jansson.h>
#include <nats/nats.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/loop.h"
#include "core/worker.h"
#include "kit/kit.h"
#include "kit/kit_http.h"
#include "kit/kit_loop.h"
#include "state/state.h"
#include "state/terminal.h"

#define BED_MS 20000
/* Bridges that may run beside each other. */
#define BRIDGES 3
/* Time to live of snapshots, unless a test says otherwise. */
#define BED_TTL_S 60

struct bridge_proc {
	struct kit_proc proc;
	int admin;
	int starts;
};

struct bed {
	struct kit_server nats, redis, mqtt;
	struct bridge_proc bridge[BRIDGES];
	natsConnection *nc;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct arena *arena;
	const char *more; /* one more variable for bridges, or NULL */
};

static inline bool
bed_state_up(void *arg)
{
	return state_up(arg);
}

static inline void
bed_servers(struct bed *b, enum kit_server_kind broker)
{
	struct state_opts o = { .name = "bed", .deadline_ms = 5000 };

	*b = (struct bed){ 0 };
	kit_server_start(&b->nats, KIT_NATS);
	kit_server_start(&b->redis, KIT_REDIS);
	kit_server_start(&b->mqtt, broker);
	ck_assert_int_eq(
	    natsConnection_ConnectTo(&b->nc, b->nats.url), NATS_OK);
	b->loop = loop_new(64);
	b->workers = worker_new(b->loop, 1, 16);
	b->arena = arena_new(64UL * 1024 * 1024);
	o.loop = b->loop;
	o.workers = b->workers;
	o.url = b->redis.url;
	ck_assert_int_eq(state_new(&o, &b->state), RC_OK);
	ck_assert(kit_loop_until(b->loop, bed_state_up, b->state, BED_MS));
}

/* ---- bridges ------------------------------------------------------------- */

static inline int
bridge_get(struct bridge_proc *p, const char *path, struct kit_answer *a)
{
	if (!kit_port_open(p->admin))
		return 0;
	return kit_http_call(
	    p->admin, a, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
}

static inline bool
bridge_ready(void *arg)
{
	struct kit_answer a = { 0 };
	bool is = bridge_get(arg, "/readyz", &a) == 200;

	kit_answer_free(&a);
	return is;
}

/* The value of a metric, "name" or "name{labels}"; -1 if there is none. */
static inline long long
bridge_metric(struct bridge_proc *p, const char *name)
{
	struct kit_answer a = { 0 };
	char line[256];
	const char *at;
	long long v = -1;

	snprintf(line, sizeof(line), "\n%s ", name);
	if (bridge_get(p, "/metrics", &a) == 200) {
		at = strstr(a.body.p, line);
		if (at != NULL)
			v = strtoll(at + strlen(line), NULL, 10);
	}
	kit_answer_free(&a);
	return v;
}

static inline void
bridge_spawn(struct bed *b, int i)
{
	struct bridge_proc *p = &b->bridge[i];
	char name[24], nats[96], redis[96], mqtt[96], admin[48], ttl[64];
	const char *argv[] = { kit_bin("mqtt-bridge"), NULL };
	/* The first of two counts. */
	const char *env[] = { b->more != NULL ? b->more : "LOG_LEVEL=info",
		nats, redis, mqtt, admin, ttl, NULL };

	if (p->admin == 0)
		p->admin = kit_port();
	snprintf(name, sizeof(name), "bridge-%d-%d", i, p->starts++);
	snprintf(nats, sizeof(nats), "NATS_URL=%s", b->nats.url);
	snprintf(redis, sizeof(redis), "REDIS_URL=%s", b->redis.url);
	snprintf(mqtt, sizeof(mqtt), "MQTT_BROKER_URL=%s", b->mqtt.url);
	snprintf(admin, sizeof(admin), "ADMIN_ADDR=127.0.0.1:%d", p->admin);
	snprintf(ttl, sizeof(ttl), "SKILL_SNAPSHOT_TTL_SECONDS=%d", BED_TTL_S);
	kit_spawn(&p->proc, name, argv, env);
}

static inline bool
bridge_leads(void *arg)
{
	struct bridge_proc *p = arg;

	return bridge_metric(p, "soul_bridge_leads") == 1 &&
	    kit_log_has(&p->proc, "ev=bridge.caught_up");
}

/* Start one, and wait until it is ready. */
static inline void
bridge_start_one(struct bed *b, int i)
{
	bridge_spawn(b, i);
	ck_assert(kit_until(bridge_ready, &b->bridge[i], BED_MS));
}

/* The servers, and one bridge that leads. */
static inline void
bed_start(struct bed *b)
{
	bed_servers(b, KIT_MOSQUITTO);
	bridge_start_one(b, 0);
	ck_assert(kit_until(bridge_leads, &b->bridge[0], BED_MS));
}

/* A bridge must drain and end in peace. */
static inline void
bridge_end(struct bridge_proc *p)
{
	kit_signal(&p->proc, SIGTERM);
	ck_assert_int_eq(kit_wait(&p->proc, BED_MS), 0);
	p->proc.pid = 0;
}

static inline void
bridge_kill(struct bridge_proc *p)
{
	kit_signal(&p->proc, SIGKILL);
	ck_assert_int_eq(kit_wait(&p->proc, BED_MS), 128 + SIGKILL);
	p->proc.pid = 0;
}

static inline void
bed_stop(struct bed *b)
{
	int i;

	for (i = 0; i < BRIDGES; i++)
		if (b->bridge[i].proc.pid != 0)
			bridge_end(&b->bridge[i]);
	natsConnection_Destroy(b->nc);
	state_free(b->state);
	worker_free(b->workers);
	loop_free(b->loop);
	arena_free(b->arena);
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
		ck_assert(
		    kit_loop_until(b->loop, bed_state_up, b->state, BED_MS));
		arena_reset(b->arena);
	} while (terminal_read(b->state, str_of(id), BED_TTL_S * 1000, b->arena,
		     &t) != RC_OK &&
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

static inline void
bed_wait(struct bed *b, const char *id,
    bool (*is)(const struct terminal *t, const char *what), const char *what)
{
	struct bed_wish w = { b, id, is, what };

	ck_assert_msg(kit_until(bed_wish_is, &w, BED_MS),
	    "%s is never %s; refused: %.*s", id, what,
	    STR_ARG(bed_terminal(b, id).refused));
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
	return has(t->refused, what);
}

/* ---- the bus ------------------------------------------------------------- */

static inline natsSubscription *
bed_listen(struct bed *b, const char *subject)
{
	natsSubscription *sub = NULL;

	ck_assert_int_eq(
	    natsConnection_SubscribeSync(&sub, b->nc, subject), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
	return sub;
}

/* The next message of a subscription as JSON, or NULL after ms. */
static inline json_t *
bed_next(natsSubscription *sub, int ms)
{
	natsMsg *m = NULL;
	json_t *j;

	if (natsSubscription_NextMsg(&m, sub, ms) != NATS_OK)
		return NULL;
	j = json_loadb(
	    natsMsg_GetData(m), (size_t)natsMsg_GetDataLength(m), 0, NULL);
	ck_assert_ptr_nonnull(j);
	natsMsg_Destroy(m);
	return j;
}

/* The member at a path like "payload.refusal.path"; NULL if there is none. */
static inline json_t *
at(json_t *j, const char *path)
{
	char key[64];
	size_t n;

	while (*path != '\0' && j != NULL) {
		n = strcspn(path, ".");
		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		j = json_object_get(j, key);
		path += path[n] == '.' ? n + 1 : n;
	}
	return j;
}

static inline const char *
text_at(json_t *j, const char *path)
{
	const char *s = json_string_value(at(j, path));

	return s != NULL ? s : "";
}

/*
 * The next event of sub whose member at path is text; the ones before it are
 * passed over.
 */
static inline json_t *
bed_event(natsSubscription *sub, const char *path, const char *text)
{
	json_t *j;

	while ((j = bed_next(sub, BED_MS)) != NULL) {
		if (strcmp(text_at(j, path), text) == 0)
			return j;
		json_decref(j);
	}
	ck_abort_msg("no event with %s=%s", path, text);
	return NULL;
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
		a.body = json_loadb(natsMsg_GetData(m),
		    (size_t)natsMsg_GetDataLength(m), 0, NULL);
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
		snprintf(text, sizeof(text), "%s", text_at(a.body, "state"));
	json_decref(a.body);
	return text;
}

static inline void
bed_publish(struct bed *b, const char *subject, const char *body)
{
	ck_assert_int_eq(
	    natsConnection_PublishString(b->nc, subject, body), NATS_OK);
	ck_assert_int_eq(natsConnection_Flush(b->nc), NATS_OK);
}

#endif /* !MQTT_BRIDGE_BED_H */
