/*
 * mqtt_peer: a plain MQTT client on libmosquitto alone, which stores what it
 * receives.  It runs only while one of these functions waits.  What fails here
 * fails the test.
 */
#ifndef TESTKIT_MQTT_PEER_H
#define TESTKIT_MQTT_PEER_H

#include <mosquitto.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/clock.h"

/* Time that any condition may take to become true. */
#define PEER_WAIT_MS 20000

struct mqtt_peer_msg {
	TAILQ_ENTRY(mqtt_peer_msg) link;
	char *topic, *payload;
	int qos;
	bool retain;
	struct mono at;
};
TAILQ_HEAD(mqtt_peer_msgs, mqtt_peer_msg);

struct mqtt_peer {
	struct mosquitto *mosq;
	struct mqtt_peer_msgs msgs; /* in order of arrival */
	size_t n;
	bool up;
	int subscribed, published;
	/* Also called for each message; may be NULL. */
	void (*fn)(struct mqtt_peer *p, const struct mqtt_peer_msg *m);
	void *arg;
};

/*
 * mqtt_peer_new(p, id): A client; id may be NULL.
 * mqtt_peer_connect(p, port), mqtt_peer_subscribe(p, filter)
 * mqtt_peer_open(p, port, filter): All of these.
 */
void mqtt_peer_new(struct mqtt_peer *p, const char *id);
void mqtt_peer_connect(struct mqtt_peer *p, int port);
void mqtt_peer_subscribe(struct mqtt_peer *p, const char *filter);
void mqtt_peer_open(struct mqtt_peer *p, int port, const char *filter);

/* mqtt_peer_close(p): Disconnect and free. */
void mqtt_peer_close(struct mqtt_peer *p);

/* mqtt_peer_is_up(p): Whether it is connected; for mqtt_peer_until(). */
bool mqtt_peer_is_up(void *p);

/* mqtt_peer_poll(p, ms): Send and receive for up to ms, without reconnect. */
void mqtt_peer_poll(struct mqtt_peer *p, int ms);

/*
 * mqtt_peer_until(p, fn, arg, ms):
 * Run p until fn(arg) is true (returns true) or ms have passed (false).
 */
bool mqtt_peer_until(
    struct mqtt_peer *p, bool (*fn)(void *arg), void *arg, int ms);

/* mqtt_peer_send(p, topic, payload, retain): Publish with QoS 1, wait for it.
 */
void mqtt_peer_send(
    struct mqtt_peer *p, const char *topic, const char *payload, bool retain);

/*
 * mqtt_peer_nth(p, topic, n): The n-th message (from 0) on a topic, or NULL.
 * mqtt_peer_get(p, topic, n): The same, and wait for it.
 * mqtt_peer_clear(p): Drop what it received.
 */
struct mqtt_peer_msg *mqtt_peer_nth(
    struct mqtt_peer *p, const char *topic, int n);
struct mqtt_peer_msg *mqtt_peer_get(
    struct mqtt_peer *p, const char *topic, int n);
void mqtt_peer_clear(struct mqtt_peer *p);

/* mqtt_peer_ck_topics(p, ...): The first topics, in order, NULL at the end. */
void mqtt_peer_ck_topics(struct mqtt_peer *p, const char *first, ...);

#endif /* !TESTKIT_MQTT_PEER_H */
