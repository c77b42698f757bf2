/*
 * peer: a plain MQTT client of the test, on libmosquitto alone, that keeps what
 * it receives.  It lives only while a function of this file waits.
 */
#ifndef PEER_H
#define PEER_H

#include <mosquitto.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define PEER_MS 20000

struct peer_msg {
	TAILQ_ENTRY(peer_msg) link;
	char *topic, *payload;
	int qos;
	bool retain;
	struct mono at;
};
TAILQ_HEAD(peer_msgs, peer_msg);

struct peer {
	struct mosquitto *mosq;
	struct peer_msgs msgs; /* in the order they came */
	size_t n;
	bool up;
	int subscribed, published;
	/* Called for each message, too; may be NULL. */
	void (*fn)(struct peer *p, const struct peer_msg *m);
	void *arg;
};

static inline void
peer_on_connect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	((struct peer *)arg)->up = rc == 0;
}

static inline void
peer_on_disconnect(struct mosquitto *mosq, void *arg, int rc)
{
	(void)mosq;
	(void)rc;
	((struct peer *)arg)->up = false;
}

static inline void
peer_on_subscribe(
    struct mosquitto *mosq, void *arg, int mid, int n, const int *qos)
{
	(void)mosq;
	(void)mid;
	(void)n;
	(void)qos;
	((struct peer *)arg)->subscribed++;
}

static inline void
peer_on_publish(struct mosquitto *mosq, void *arg, int mid)
{
	(void)mosq;
	(void)mid;
	((struct peer *)arg)->published++;
}

static inline void
peer_on_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct peer *p = arg;
	struct peer_msg *msg = mem_zalloc(sizeof(*msg));

	(void)mosq;
	msg->topic = mem_strdup(m->topic);
	msg->payload = mem_zalloc((size_t)m->payloadlen + 1);
	if (m->payloadlen > 0)
		memcpy(msg->payload, m->payload, (size_t)m->payloadlen);
	msg->qos = m->qos;
	msg->retain = m->retain;
	msg->at = clock_mono();
	TAILQ_INSERT_TAIL(&p->msgs, msg, link);
	p->n++;
	if (p->fn != NULL)
		p->fn(p, msg);
}

static inline void
peer_new(struct peer *p, const char *id)
{
	*p = (struct peer){ 0 };
	TAILQ_INIT(&p->msgs);
	mosquitto_lib_init();
	p->mosq = mosquitto_new(id, true, p);
	mosquitto_connect_callback_set(p->mosq, peer_on_connect);
	mosquitto_disconnect_callback_set(p->mosq, peer_on_disconnect);
	mosquitto_subscribe_callback_set(p->mosq, peer_on_subscribe);
	mosquitto_publish_callback_set(p->mosq, peer_on_publish);
	mosquitto_message_callback_set(p->mosq, peer_on_message);
}

static inline void
peer_forget(struct peer *p)
{
	struct peer_msg *m;

	while ((m = TAILQ_FIRST(&p->msgs)) != NULL) {
		TAILQ_REMOVE(&p->msgs, m, link);
		free(m->topic);
		free(m->payload);
		free(m);
	}
	p->n = 0;
}

static inline void
peer_free(struct peer *p)
{
	mosquitto_disconnect(p->mosq);
	mosquitto_destroy(p->mosq);
	peer_forget(p);
}

/* Send and receive for up to ms; a lost connection stays lost. */
static inline void
peer_once(struct peer *p, int ms)
{
	(void)mosquitto_loop(p->mosq, ms, 1);
}

/* Let the peer live until fn(arg) is true (returns true) or ms have passed. */
static inline bool
peer_until(struct peer *p, bool (*fn)(void *arg), void *arg, int ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);

	while (!fn(arg)) {
		if (mono_diff_ms(clock_mono(), until) >= 0)
			return false;
		peer_once(p, 10);
	}
	return true;
}

static inline bool
peer_is_up(void *arg)
{
	return ((struct peer *)arg)->up;
}

static inline void
peer_connect(struct peer *p, int port)
{
	ck_assert_int_eq(mosquitto_connect(p->mosq, "127.0.0.1", port, 60),
	    MOSQ_ERR_SUCCESS);
	ck_assert(peer_until(p, peer_is_up, p, PEER_MS));
}

struct peer_count {
	const int *n;
	int want;
};

static inline bool
peer_reached(void *arg)
{
	const struct peer_count *c = arg;

	return *c->n >= c->want;
}

static inline void
peer_subscribe(struct peer *p, const char *filter)
{
	struct peer_count c = { &p->subscribed, p->subscribed + 1 };

	ck_assert_int_eq(
	    mosquitto_subscribe(p->mosq, NULL, filter, 1), MOSQ_ERR_SUCCESS);
	ck_assert(peer_until(p, peer_reached, &c, PEER_MS));
}

/* A connected peer, subscribed to filter. */
static inline void
peer_open(struct peer *p, int port, const char *filter)
{
	peer_new(p, NULL);
	peer_connect(p, port);
	peer_subscribe(p, filter);
}

/* Publish with QoS 1 and wait until the broker has it. */
static inline void
peer_send(struct peer *p, const char *topic, const char *payload, bool retain)
{
	struct peer_count c = { &p->published, p->published + 1 };

	ck_assert_int_eq(mosquitto_publish(p->mosq, NULL, topic,
			     (int)strlen(payload), payload, 1, retain),
	    MOSQ_ERR_SUCCESS);
	ck_assert(peer_until(p, peer_reached, &c, PEER_MS));
}

/* The n-th message (from 0) on a topic, or NULL. */
static inline struct peer_msg *
peer_nth(struct peer *p, const char *topic, int n)
{
	struct peer_msg *m;

	TAILQ_FOREACH (m, &p->msgs, link) {
		if (strcmp(m->topic, topic) == 0 && n-- == 0)
			return m;
	}
	return NULL;
}

struct peer_wait {
	struct peer *p;
	const char *topic;
	int n;
};

static inline bool
peer_has(void *arg)
{
	const struct peer_wait *w = arg;

	return peer_nth(w->p, w->topic, w->n) != NULL;
}

/* Wait for it. */
static inline struct peer_msg *
peer_get(struct peer *p, const char *topic, int n)
{
	struct peer_wait w = { p, topic, n };

	struct peer_msg *m;

	ck_assert_msg(peer_until(p, peer_has, &w, PEER_MS), "%s %d", topic, n);
	m = peer_nth(p, topic, n);
	if (m == NULL)
		abort();
	return m;
}

/* Whether p's topics so far are the ones given, NULL at the end. */
static inline void
peer_expect(struct peer *p, const char *first, ...)
{
	struct peer_msg *m = TAILQ_FIRST(&p->msgs);
	const char *topic = first;
	va_list ap;

	va_start(ap, first);
	for (; topic != NULL; topic = va_arg(ap, const char *)) {
		ck_assert_ptr_nonnull(m);
		ck_assert_str_eq(m->topic, topic);
		m = TAILQ_NEXT(m, link);
	}
	va_end(ap);
}

#endif /* !PEER_H */
