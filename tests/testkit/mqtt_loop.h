/*
 * mqtt_loop: the network thread of a client of libmosquitto.
 *
 * libmosquitto's own thread can be stopped without a DISCONNECT only by
 * cancelling it.  It may be reconnecting then, and what it has allocated for
 * that is lost, which the sanitizer reports.
 */
#ifndef TESTKIT_MQTT_LOOP_H
#define TESTKIT_MQTT_LOOP_H

#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MQTT_LOOP_NO_RETRY (-1)

struct mqtt_loop {
	struct mosquitto *m;
	pthread_t thread;
	int retry_ms;
	int wake; /* an eventfd: readable when the thread shall end */
	_Atomic int order;
	bool runs;
};

/*
 * mqtt_loop_start(l, m, retry_ms):
 * Run m, after mosquitto_connect(), on a thread.  A lost connection is opened
 * again after retry_ms, or never (MQTT_LOOP_NO_RETRY).  m's callbacks run on
 * that thread; other threads may publish and subscribe.  Fails the test.
 */
void mqtt_loop_start(struct mqtt_loop *l, struct mosquitto *m, int retry_ms);

/*
 * mqtt_loop_close(l): Send what is queued and a DISCONNECT, and end the thread.
 * mqtt_loop_drop(l): End the thread; the connection stays until
 * mosquitto_destroy(), which sends no DISCONNECT.
 * Both do nothing if l, zeroed, was never started.
 */
void mqtt_loop_close(struct mqtt_loop *l);
void mqtt_loop_drop(struct mqtt_loop *l);

#endif /* !TESTKIT_MQTT_LOOP_H */
