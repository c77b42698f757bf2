/*
 * mqtt_fixture: a loop, a worker, a broker, and clients that record what they
 * receive.  A failed wait or call fails the test.
 */
#ifndef TESTKIT_MQTT_FIXTURE_H
#define TESTKIT_MQTT_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

#define MQTT_FIXTURE_MS 20000

struct mqtt_fixture {
	struct tk_server broker;
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
};

/* A client and what happened to it. */
struct mqtt_fixture_client {
	struct mqtt_fixture *fixture;
	struct mqtt *m;
	struct mqtt_opts o;
	int ups, downs, messages;
	struct buf got; /* "topic=payload qos[R];" of each message */
	int dones[RC_N];
	int done, reason;
	int subscribed;
};

/* mqtt_fixture_init(r): Without a broker.  mqtt_fixture_start(r): With
 * mosquitto. */
void mqtt_fixture_init(struct mqtt_fixture *r);
void mqtt_fixture_start(struct mqtt_fixture *r);
void mqtt_fixture_end(struct mqtt_fixture *r);

/* Completions; arg is the client, which counts them. */
void mqtt_client_on_done(void *arg, enum rc rc, unsigned reason);

void mqtt_client_on_subscribed(void *arg, enum rc rc, unsigned reason);

/*
 * mqtt_client_init(c, r, id): Set c->o; change it before mqtt_client_start(c).
 * mqtt_client_open(c, r, id): Both, and wait until it is connected.
 */
void mqtt_client_init(
    struct mqtt_fixture_client *c, struct mqtt_fixture *r, const char *id);
void mqtt_client_start(struct mqtt_fixture_client *c);
void mqtt_client_open(
    struct mqtt_fixture_client *c, struct mqtt_fixture *r, const char *id);
void mqtt_client_end(struct mqtt_fixture_client *c);

void mqtt_client_wait_up(struct mqtt_fixture_client *c);
void mqtt_client_wait_down(struct mqtt_fixture_client *c);

/* mqtt_client_wait(c, n, want): Wait until the counter n of c is at least want.
 */
void mqtt_client_wait(struct mqtt_fixture_client *c, const int *n, int want);

enum rc mqtt_client_send(struct mqtt_fixture_client *c, const char *topic,
    const char *payload, int qos);

/* Subscribe and wait for the SUBACK. */
void mqtt_client_subscribe(
    struct mqtt_fixture_client *c, const char *filter, int qos);

/* mqtt_client_expect(c, got): Compare c->got, and clear it. */
void mqtt_client_expect(struct mqtt_fixture_client *c, const char *got);

#endif /* !TESTKIT_MQTT_FIXTURE_H */
