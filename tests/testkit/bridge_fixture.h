/*
 * bridge_fixture: a broker, nats-server and Redis, bridges between them, and
 * plain peers: devices that speak MQTT, a service that speaks NATS, a reader of
 * the terminals' records.  What fails here fails the test.
 */
#ifndef TESTKIT_BRIDGE_FIXTURE_H
#define TESTKIT_BRIDGE_FIXTURE_H

#include <mosquitto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "state/terminal.h"
#include "testkit/json.h"
#include "testkit/mqtt_loop.h"
#include "testkit/nats.h"
#include "testkit/service.h"
#include "testkit/state.h"
#include "testkit/testkit.h"

/* Time that any condition may take to become true. */
#define BRIDGE_WAIT_MS 20000
/* Bridges that may run beside each other. */
#define BRIDGE_REPLICAS 3
/* Time to live of snapshots, unless a test sets another. */
#define BRIDGE_TTL_S 60

struct bridge_fixture {
	struct tk_server nats, redis, mqtt;
	struct tk_service bridge[BRIDGE_REPLICAS];
	int starts[BRIDGE_REPLICAS]; /* each start has a log of its own */
	natsConnection *nc;
	struct tk_state db;
	const char *more; /* one more variable for bridges, or NULL */
	bool strict;      /* bridges have the default rate limits */
};

/* ---- servers and bridges ---- */

/* bridge_fixture_servers(b, broker): Start the servers, no bridge. */
void bridge_fixture_servers(
    struct bridge_fixture *b, enum tk_server_kind broker);

/*
 * bridge_fixture_spawn(b, i): Start bridge i.
 * bridge_fixture_start_replica(b, i): The same, and wait until it is ready.
 */
void bridge_fixture_spawn(struct bridge_fixture *b, int i);
void bridge_fixture_start_replica(struct bridge_fixture *b, int i);

/* bridge_fixture_is_leader(s): Whether a bridge leads and has caught up. */
bool bridge_fixture_is_leader(void *s);

/* bridge_fixture_start_leader(b, i): Start bridge i, which must lead. */
void bridge_fixture_start_leader(struct bridge_fixture *b, int i);

/* bridge_fixture_start(b): The servers, and one bridge that leads. */
void bridge_fixture_start(struct bridge_fixture *b);

/* bridge_fixture_stop(b): Bridges must drain and exit with 0. */
void bridge_fixture_stop(struct bridge_fixture *b);

/* ---- records ---- */

/* bridge_fixture_terminal(b, id): Its record; valid until the next call. */
struct terminal bridge_fixture_terminal(
    struct bridge_fixture *b, const char *id);

/* bridge_terminal_error(t, kind): Its last error of one kind, or of any. */
struct str bridge_terminal_error(
    const struct terminal *t, enum terminal_rejection_kind kind);

/* bridge_fixture_wait(b, id, is, what): Wait until is(record, what). */
void bridge_fixture_wait(struct bridge_fixture *b, const char *id,
    bool (*is)(const struct terminal *t, const char *what), const char *what);

/* bridge_ck_present(b, id): Wait until the terminal is present. */
void bridge_ck_present(struct bridge_fixture *b, const char *id);

/*
 * Conditions for it: "present" or "gone"; text that the skills, the catalog, or
 * any error must contain.
 */
bool bridge_terminal_present(const struct terminal *t, const char *what);
bool bridge_terminal_has_skills(const struct terminal *t, const char *what);
bool bridge_terminal_has_catalog(const struct terminal *t, const char *what);
bool bridge_terminal_has_error(const struct terminal *t, const char *what);

/* bridge_text_has(s, what): Whether s contains what. */
bool bridge_text_has(struct str s, const char *what);

/* ---- bus ---- */

/*
 * bridge_fixture_event(sub, path, text):
 * The next event whose member at path is text; earlier ones are skipped.
 */
json_t *bridge_fixture_event(
    natsSubscription *sub, const char *path, const char *text);

/*
 * bridge_ck_denied(b, audit, terminal, reason):
 * The next audit event denies the terminal for that reason, and bridge 0 has
 * logged it.
 */
void bridge_ck_denied(struct bridge_fixture *b, natsSubscription *audit,
    const char *terminal, const char *reason);

/* The reply to a request, and the code of its error or "". */
struct bridge_reply {
	json_t *body; /* NULL: none arrived */
	char error[64];
};

/*
 * bridge_fixture_request(b, subject, body):
 * bridge_fixture_request_at(b, subject, body, age_ms):
 * Send a request; the second has a deadline that passed age_ms ago.
 */
struct bridge_reply bridge_fixture_request(
    struct bridge_fixture *b, const char *subject, const char *body);
struct bridge_reply bridge_fixture_request_at(struct bridge_fixture *b,
    const char *subject, const char *body, int64_t age_ms);

/*
 * bridge_fixture_deliver(b, subject, body):
 * The state of the delivery, the code of the error, or "no answer"; valid until
 * the next call.
 */
const char *bridge_fixture_deliver(
    struct bridge_fixture *b, const char *subject, const char *body);

/*
 * bridge_ck_delivery(b, command, body, state):
 * That result for the subject soul.body.main.<command>.
 */
void bridge_ck_delivery(struct bridge_fixture *b, const char *command,
    const char *body, const char *state);

/* bridge_ck_message(sub): A message arrives. */
void bridge_ck_message(natsSubscription *sub);

/* ---- devices: the terminal's side of the protocol on bare libmosquitto ----
 */

#define TOPIC_PREFIX "soul"

struct mqtt_device {
	struct mosquitto *mosq;
	struct mqtt_loop loop;
	const char *prefix, *id;
	pthread_mutex_t lock; /* protects received */
	struct buf received;  /* "leaf=payload\n" of each message */
	_Atomic int up, subscribed, acked;
	_Atomic int denied; /* subscriptions, of those in subscribed */
};

struct mqtt_flags {
	int qos;
	bool retain;
};

#define MQTT_QOS1     ((struct mqtt_flags){ 1, false })
#define MQTT_RETAINED ((struct mqtt_flags){ 1, true })

/*
 * mqtt_device_init(d, prefix, id): A client without will or subscriptions.
 * mqtt_device_connect(d, b): Connect to b's broker.
 * mqtt_device_subscribe(d): Subscribe to the four topics of commands.
 * mqtt_device_open(d, b, id): All of these, with the will of the protocol.
 * mqtt_device_open_online(d, b, id): The same, and wait until it is present.
 */
void mqtt_device_init(
    struct mqtt_device *d, const char *prefix, const char *id);
void mqtt_device_connect(struct mqtt_device *d, struct bridge_fixture *b);
void mqtt_device_subscribe(struct mqtt_device *d);
void mqtt_device_open(
    struct mqtt_device *d, struct bridge_fixture *b, const char *id);

void mqtt_device_open_online(
    struct mqtt_device *d, struct bridge_fixture *b, const char *id);

/*
 * bridge_ck_skills(b, d, payload, text): d, which is t1, reports skills, until
 * they are stored with that text.
 * bridge_ck_catalog(b, d, payload, text): The same for its catalog.
 */
void bridge_ck_skills(struct bridge_fixture *b, struct mqtt_device *d,
    const char *payload, const char *text);
void bridge_ck_catalog(struct bridge_fixture *b, struct mqtt_device *d,
    const char *payload, const char *text);

/*
 * mqtt_device_close(d): Disconnect and free.
 * mqtt_device_crash(d): Free without a DISCONNECT: the will is published.
 */
void mqtt_device_close(struct mqtt_device *d);
void mqtt_device_crash(struct mqtt_device *d);

/* mqtt_device_connected(mosq, d, rc): The callback; rc must be 0. */
void mqtt_device_connected(struct mosquitto *mosq, void *d, int rc);

/* mqtt_device_topic(d, leaf, topic): The topic of the device with that leaf. */
void mqtt_device_topic(
    const struct mqtt_device *d, const char *leaf, char topic[512]);

/* mqtt_device_wait(n, want): Wait until a counter of a device reaches want. */
void mqtt_device_wait(_Atomic int *n, int want);

/*
 * mqtt_device_queue(d, topic, payload, flags): Any topic, without waiting.
 * mqtt_device_publish(d, topic, payload, flags): Any topic.
 * mqtt_device_send(d, leaf, payload, flags): A topic of the device.
 * mqtt_device_report(d, leaf, payload): A retained report.
 * mqtt_device_heartbeat(d)
 * mqtt_device_result(d, request, payload)
 * All but the first wait for the acknowledgement.
 */
void mqtt_device_queue(struct mqtt_device *d, const char *topic,
    struct str payload, struct mqtt_flags flags);
void mqtt_device_publish(struct mqtt_device *d, const char *topic,
    struct str payload, struct mqtt_flags flags);
void mqtt_device_send(struct mqtt_device *d, const char *leaf,
    const char *payload, struct mqtt_flags flags);
void mqtt_device_report(
    struct mqtt_device *d, const char *leaf, const char *payload);
void mqtt_device_heartbeat(struct mqtt_device *d);
void mqtt_device_result(
    struct mqtt_device *d, const char *request, const char *payload);

/* mqtt_device_received(d): A copy of what it received, freed by the caller. */
char *mqtt_device_received(struct mqtt_device *d);

/* mqtt_device_clear(d): Drop what it received. */
void mqtt_device_clear(struct mqtt_device *d);

/*
 * mqtt_device_expect(d, text): Wait until it has received text.
 * mqtt_device_ck_never(d, text): It has not received text so far.
 */
void mqtt_device_expect(struct mqtt_device *d, const char *text);
void mqtt_device_ck_never(struct mqtt_device *d, const char *text);

/* Commands to the terminal t1. */
#define ACTION                                                              \
	"{\"request_id\":\"ia-1\",\"session_id\":\"s1\",\"terminal_id\":"   \
	"\"t1\",\"soul_id\":\"soul_1\",\"intents\":[{\"intent_id\":\"i1\"," \
	"\"confidence\":0.9,\"normalized\":{\"skill\":\"nod\"}}],"          \
	"\"exec_probability\":0.8,\"ts\":\"2026-02-22T10:20:31Z\"}"
#define STATUS                                                               \
	"{\"status\":\"mem0_searching\",\"message\":\"…\",\"session_id\":" \
	"\"s1\",\"ts\":\"2026-02-22T10:20:31Z\"}"

/* Reports of skills and intents of the device t1 with version v. */
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

/* ---- fleet: devices f0, f1, ... through one connection ---- */

struct mqtt_fleet {
	struct bridge_fixture *b;
	struct mqtt_device d;
	int n;
};

/* mqtt_fleet_open(f, b, n), mqtt_fleet_close(f): Connect; disconnect. */
void mqtt_fleet_open(struct mqtt_fleet *f, struct bridge_fixture *b, int n);
void mqtt_fleet_close(struct mqtt_fleet *f);

/*
 * mqtt_fleet_announce(f, i, version): Publish the three reports of device i.
 * mqtt_fleet_wait_acked(f, k): Wait until the broker has k announcements of
 * every device.
 */
void mqtt_fleet_announce(struct mqtt_fleet *f, int i, int version);
void mqtt_fleet_wait_acked(struct mqtt_fleet *f, int k);

/* mqtt_fleet_expect(f, version, ms): Wait until all records have version. */
void mqtt_fleet_expect(struct mqtt_fleet *f, int version, int ms);

#endif /* !TESTKIT_BRIDGE_FIXTURE_H */
