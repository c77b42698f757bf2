/*
 * body: the device's side of the protocol over bare libmosquitto.
 */
#ifndef MQTT_BRIDGE_BODY_H
#define MQTT_BRIDGE_BODY_H

#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>

#include "bed.h"
#include "core/buf.h"

#define PREFIX "soul"

/* Subscriptions of protocol 7.1. */
static const char *const body_filters[] = { "invoke/+", "status",
	"emotion_update", "intent_action" };

struct body {
	struct mosquitto *mosq;
	const char *prefix, *id;
	pthread_mutex_t lock; /* protects got */
	struct buf got;       /* "leaf=payload\n" of each message */
	_Atomic int up, subscribed, acked;
	_Atomic int refused; /* of those subscribed */
};

static inline void
body_connected(struct mosquitto *mosq, void *arg, int rc)
{
	struct body *d = arg;

	(void)mosq;
	ck_assert_int_eq(rc, 0);
	atomic_fetch_add(&d->up, 1);
}

static inline void
body_subscribed(
    struct mosquitto *mosq, void *arg, int mid, int n, const int *granted)
{
	struct body *d = arg;

	(void)mosq;
	(void)mid;
	(void)n;
	if (granted[0] > 1)
		atomic_fetch_add(&d->refused, 1);
	atomic_fetch_add(&d->subscribed, 1);
}

static inline void
body_acked(struct mosquitto *mosq, void *arg, int mid)
{
	struct body *d = arg;

	(void)mosq;
	(void)mid;
	atomic_fetch_add(&d->acked, 1);
}

static inline void
body_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct body *d = arg;
	size_t skip = strlen(d->prefix) + strlen("/terminal/") + strlen(d->id);

	(void)mosq;
	ck_assert(!m->retain);
	pthread_mutex_lock(&d->lock);
	buf_puts(&d->got, m->topic + skip + 1);
	buf_putc(&d->got, '=');
	buf_put(&d->got, m->payload, (size_t)m->payloadlen);
	buf_putc(&d->got, '\n');
	pthread_mutex_unlock(&d->lock);
}

static inline void
body_topic(const struct body *d, const char *leaf, char topic[512])
{
	snprintf(topic, 512, "%s/terminal/%s/%s", d->prefix, d->id, leaf);
}

static inline bool
body_reached(void *arg)
{
	struct {
		_Atomic int *n;
		int want;
	} *w = arg;

	return atomic_load(w->n) >= w->want;
}

static inline void
body_wait(_Atomic int *n, int want)
{
	struct {
		_Atomic int *n;
		int want;
	} w = { n, want };

	ck_assert_msg(tk_until(body_reached, &w, BED_MS), "%d of %d",
	    atomic_load(n), want);
}

/* A client without a will and without subscriptions. */
static inline void
body_init(struct body *d, const char *prefix, const char *id)
{
	*d = (struct body){ .prefix = prefix, .id = id };
	buf_init(&d->got, 64UL * 1024 * 1024);
	pthread_mutex_init(&d->lock, NULL);
	mosquitto_lib_init();
	d->mosq = mosquitto_new(NULL, true, d);
	ck_assert_ptr_nonnull(d->mosq);
	mosquitto_connect_callback_set(d->mosq, body_connected);
	mosquitto_subscribe_callback_set(d->mosq, body_subscribed);
	mosquitto_publish_callback_set(d->mosq, body_acked);
	mosquitto_message_callback_set(d->mosq, body_message);
	mosquitto_max_inflight_messages_set(d->mosq, 100);
	mosquitto_reconnect_delay_set(d->mosq, 1, 1, false);
}

static inline void
body_connect(struct body *d, struct bed *b)
{
	ck_assert_int_eq(
	    mosquitto_connect(d->mosq, "127.0.0.1", b->mqtt.port, 60), 0);
	ck_assert_int_eq(mosquitto_loop_start(d->mosq), 0);
	body_wait(&d->up, 1);
}

/* Listen to commands. */
static inline void
body_subscribe(struct body *d)
{
	int before = atomic_load(&d->subscribed);
	char topic[512];
	size_t i;

	for (i = 0; i < 4; i++) {
		body_topic(d, body_filters[i], topic);
		ck_assert_int_eq(
		    mosquitto_subscribe(d->mosq, NULL, topic, 1), 0);
	}
	body_wait(&d->subscribed, before + 4);
	ck_assert_int_eq(atomic_load(&d->refused), 0);
}

/* A body that is connected, with its will, and listens; it has said nothing. */
static inline void
body_open(struct body *d, struct bed *b, const char *id)
{
	char topic[512];

	body_init(d, PREFIX, id);
	body_topic(d, "online", topic);
	ck_assert_int_eq(
	    mosquitto_will_set(d->mosq, topic, 7, "offline", 1, true), 0);
	body_connect(d, b);
	body_subscribe(d);
}

struct say {
	int qos;
	bool retain;
};

/* Publish under any topic; with QoS 1 wait until the broker has it. */
static inline void
body_publish(
    struct body *d, const char *topic, struct str payload, struct say how)
{
	int before = atomic_load(&d->acked);

	ck_assert_int_eq(mosquitto_publish(d->mosq, NULL, topic, (int)payload.n,
			     payload.p, how.qos, how.retain),
	    0);
	body_wait(&d->acked, before + 1);
}

static inline void
body_say(struct body *d, const char *leaf, const char *payload, struct say how)
{
	char topic[512];

	body_topic(d, leaf, topic);
	body_publish(d, topic, str_of(payload), how);
}

/* A report as the protocol has it. */
static inline void
body_report(struct body *d, const char *leaf, const char *payload)
{
	body_say(d, leaf, payload, (struct say){ 1, true });
}

static inline void
body_beat(struct body *d)
{
	body_say(d, "heartbeat", "1", (struct say){ 0, false });
}

static inline void
body_answer(struct body *d, const char *request, const char *payload)
{
	char leaf[256];

	snprintf(leaf, sizeof(leaf), "result/%s", request);
	body_say(d, leaf, payload, (struct say){ 1, false });
}

/* A copy of what it has received. */
static inline char *
body_got(struct body *d)
{
	char *s;

	pthread_mutex_lock(&d->lock);
	s = str_dup(buf_str(&d->got));
	pthread_mutex_unlock(&d->lock);
	return s;
}

struct body_wish {
	struct body *d;
	const char *text;
};

static inline bool
body_has(void *arg)
{
	struct body_wish *w = arg;
	char *s = body_got(w->d);
	bool is = strstr(s, w->text) != NULL;

	free(s);
	return is;
}

/* Wait until a message with that text has come. */
static inline void
body_expect(struct body *d, const char *text)
{
	struct body_wish w = { d, text };

	ck_assert_msg(
	    tk_until(body_has, &w, BED_MS), "%s never got %s", d->id, text);
}

static inline void
body_forget(struct body *d)
{
	pthread_mutex_lock(&d->lock);
	buf_reset(&d->got);
	pthread_mutex_unlock(&d->lock);
}

static inline void
body_free(struct body *d)
{
	mosquitto_loop_stop(d->mosq, true);
	mosquitto_destroy(d->mosq);
	d->mosq = NULL;
	buf_free(&d->got);
	pthread_mutex_destroy(&d->lock);
	mosquitto_lib_cleanup();
}

/* Go without a goodbye: the broker publishes the will. */
static inline void
body_crash(struct body *d)
{
	body_free(d);
}

static inline void
body_leave(struct body *d)
{
	mosquitto_disconnect(d->mosq);
	mosquitto_loop_stop(d->mosq, false);
	mosquitto_destroy(d->mosq);
	d->mosq = NULL;
	buf_free(&d->got);
	pthread_mutex_destroy(&d->lock);
	mosquitto_lib_cleanup();
}

/* ---- what bodies say ----------------------------------------------------- */

#define SKILLS_V(v)                                                         \
	"{\"terminal_id\":\"t1\",\"soul_hint\":\"friendly\","               \
	"\"skill_version\":" #v ",\"skills\":[{\"name\":\"skill_" #v "\"}," \
	"{\"name\":\"control_light\",\"description\":\"控制灯\","        \
	"\"input_schema\":{\"type\":\"object\"}}]}"

#define CATALOG_V(v)                                                  \
	"{\"terminal_id\":\"t1\",\"catalog_version\":" #v ","         \
	"\"intent_catalog\":[{\"id\":\"intent_" #v "\",\"match\":"    \
	"{\"keywords_any\":[\"灯\"]},\"slots\":[{\"name\":\"mode\"," \
	"\"regex\":\"(开灯|关灯)\",\"regex_group\":1}]}]}"

#endif /* !MQTT_BRIDGE_BODY_H */
