/*
 * bed: a broker, a body-sim, a plain peer.
 */
#ifndef BED_H
#define BED_H

#include <signal.h>

#include "integration/body-sim/peer.h"
#include "testkit/json.h"
#include "testkit/service.h"

#define T1 "soul/terminal/terminal-001/"

struct bed {
	struct tk_server broker;
	struct tk_service sim;
	struct peer peer;
};

/* Start body-sim; more are "K=V" strings, NULL at the end. */
static inline void
bed_sim(struct bed *b, const char *const *more)
{
	struct tk_env e = { 0 };

	tk_env_list(&e, more);
	tk_env_put(&e, "MQTT_BROKER_URL=%s", b->broker.url);
	tk_env_put(&e, "LOG_LEVEL=debug");
	tk_service_spawn(&b->sim, "body-sim", "body-sim", &e);
}

/* Broker, peer (subscribed to everything), then body-sim, ready. */
static inline void
bed_start(struct bed *b, const char *const *more)
{
	*b = (struct bed){ 0 };
	tk_server_start(&b->broker, TK_MOSQUITTO);
	peer_open(&b->peer, b->broker.port, "#");
	bed_sim(b, more);
	tk_service_wait(&b->sim);
}

/* body-sim must end in peace. */
static inline void
bed_stop(struct bed *b)
{
	tk_service_end(&b->sim);
	peer_free(&b->peer);
}

/* GET /state of a body, the first if id is NULL; released by the caller. */
static inline json_t *
bed_state(struct bed *b, const char *id)
{
	struct tk_answer a = { 0 };
	char path[256];
	json_t *j;

	snprintf(path, sizeof(path), "/state%s%s",
	    id != NULL ? "?terminal_id=" : "", id != NULL ? id : "");
	ck_assert_int_eq(tk_http_ask(b->sim.http, &a, "GET", path, NULL), 200);
	j = tk_json(a.body.p, a.body.n);
	tk_answer_free(&a);
	return j;
}

/* Whether a text or number in the state of the first body is as given. */
struct bed_want {
	struct bed *b;
	const char *id, *key, *text;
};

static inline bool
bed_shows(void *arg)
{
	const struct bed_want *w = arg;
	json_t *j = bed_state(w->b, w->id), *v = json_object_get(j, w->key);
	char *is = json_dumps(
	    v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(6));
	bool same = is != NULL && strstr(is, w->text) != NULL;

	free(is);
	json_decref(j);
	return same;
}

/* Wait until member key of the first body's state has text in its JSON. */
static inline void
bed_expect(struct bed *b, const char *key, const char *text)
{
	struct bed_want w = { b, NULL, key, text };

	ck_assert_msg(
	    peer_until(&b->peer, bed_shows, &w, PEER_MS), "%s %s", key, text);
}

/* The payload as JSON; released by the caller. */
static inline json_t *
bed_json(const struct peer_msg *m)
{
	return tk_json(m->payload, strlen(m->payload));
}

/* Invoke a skill of a body and wait for the result; released by the caller. */
static inline json_t *
bed_invoke(struct bed *b, const char *terminal, const char *id,
    const char *skill, const char *arguments)
{
	char topic[128], body[1024];

	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/invoke/%s", terminal, id);
	snprintf(body, sizeof(body),
	    "{\"request_id\":\"%s\",\"skill\":\"%s\",\"arguments\":%s}", id,
	    skill, arguments);
	peer_send(&b->peer, topic, body, false);
	snprintf(
	    topic, sizeof(topic), "soul/terminal/%s/result/%s", terminal, id);
	return bed_json(peer_get(&b->peer, topic, 0));
}

static inline const char *
text_of(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));

	return s != NULL ? s : "";
}

static inline bool
is_true(const json_t *j, const char *key)
{
	return json_is_true(json_object_get(j, key));
}

#endif /* !BED_H */
