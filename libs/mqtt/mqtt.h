/*
 * mqtt: an MQTT client on the loop, for one or thousands in a process.
 *
 * It connects and reconnects until it is freed; names are resolved in a worker.
 * Nothing stale is sent: a publish while disconnected fails, and a message that
 * was unacknowledged when the connection was lost is not sent again.
 *
 * All functions run on the loop thread unless they say otherwise, and none
 * blocks.  Callbacks run on the loop and may call every function, mqtt_free()
 * included.  A client uses three descriptors; the first one makes the process
 * ignore SIGPIPE.
 */
#ifndef MQTT_MQTT_H
#define MQTT_MQTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/worker.h"

/* Bytes of a payload sent or received; larger ones received are dropped. */
#define MQTT_PAYLOAD_MAX (1024UL * 1024)
/* Bytes of a will's payload, of a topic or filter, of a client id. */
#define MQTT_WILL_MAX  65535UL
#define MQTT_TOPIC_MAX 65535
#define MQTT_ID_MAX    256
/* Incomplete publishes of one client, and bytes of their payloads. */
#define MQTT_OUTSTANDING_MAX       20000
#define MQTT_OUTSTANDING_BYTES_MAX (64UL * 1024 * 1024)
/* Of those, sent and unacknowledged: more makes libmosquitto slow. */
#define MQTT_INFLIGHT_MAX 100

struct mqtt;

struct mqtt_msg {
	struct str topic;
	struct str payload;
	int qos;     /* 0 or 1 */
	bool retain; /* received: it was retained by the broker */
};

struct mqtt_opts {
	struct loop *loop;
	struct worker_pool *workers; /* NULL: the URL's host is an address */
	/* mqtt://, tcp://, or with TLS mqtts://; [user[:pw]@]host[:port] */
	const char *url;
	const char *client_id; /* NULL: a random one */
	const char *source;    /* address of its connections; NULL, "": any */
	const char *user;      /* NULL: that of the URL, if any */
	const char *password;
	/*
	 * For mqtts://, PEM.  Trusted authorities, by default the system's;
	 * the client's certificate and key, by default none ("" is NULL).
	 * With a ca_file all are read again at each attempt to connect.
	 */
	const char *ca_file, *cert_file, *key_file;
	int version;     /* 5, also 0; or 3 for MQTT 3.1.1 */
	int keepalive_s; /* 5 to 65535; 0: 60 */
	/*
	 * Session expiry interval after a disconnect; 0: clean start.  In
	 * MQTT 3.1.1 any other value means a session without expiry.
	 */
	uint32_t session_s;
	const struct mqtt_msg *will; /* NULL: none; copied */
	int retry_max_ms; /* longest pause before reconnecting; 0: 2000 */
	/*
	 * One descriptor instead of three, for thousands of clients.  At each
	 * attempt to connect no thread of the process can open a descriptor
	 * for some microseconds (EMFILE).
	 */
	bool lean;
	struct metric_set *metrics; /* may be NULL; clients may share one */
	/*
	 * May be NULL.  true: connected; subscriptions have been sent before
	 * anything that the callback publishes.  false: connection lost.
	 */
	void (*on_state)(void *arg, bool up);
	/* May be NULL.  A message; m is valid until fn returns. */
	void (*on_message)(void *arg, const struct mqtt_msg *m);
	void *arg;
};

/*
 * mqtt_opts_error(o):
 * What is wrong with the URL, the client id, the version, the keepalive, the
 * will or a TLS file, which is read; NULL if nothing is.  A constant text that
 * contains none of the values.  Any thread.
 */
const char *mqtt_opts_error(const struct mqtt_opts *o);

/*
 * mqtt_new(o, out):
 * A client that starts connecting.  RC_INVALID if the URL, the client id, the
 * version, the keepalive, the will or a file is not valid (logged),
 * RC_TOOBIG if the will is over MQTT_WILL_MAX.
 */
enum rc mqtt_new(const struct mqtt_opts *o, struct mqtt **out) RC_CHECK;

/*
 * mqtt_free(m):
 * Send DISCONNECT, so that the broker does not publish the will, and close.
 * Completions of outstanding publishes are called before it returns, no
 * callback after.  What the socket does not take at once is lost: wait for
 * completions first.  NULL is allowed.
 */
void mqtt_free(struct mqtt *m);

/*
 * mqtt_break(m):
 * Close the connection without DISCONNECT, as in a crash (the broker publishes
 * the will), and reconnect as usual.  For tests and simulated outages.
 */
void mqtt_break(struct mqtt *m);

/*
 * mqtt_pause(m), mqtt_resume(m):
 * Stop reading from the broker, which then queues messages for this client, as
 * many as its own limits allow; and continue.  After mqtt_pause() as many as
 * MQTT_INFLIGHT_MAX messages may still arrive.  Acknowledgements of publishes
 * and subscriptions wait too, and the loss of the connection may be noticed
 * only after mqtt_resume().  However long it is paused, the broker does not
 * take the client for dead.  A pause outlives a connection.  No effect if it is
 * so already.
 */
void mqtt_pause(struct mqtt *m);
void mqtt_resume(struct mqtt *m);

/* mqtt_up(m): Whether it is connected.  Any thread. */
bool mqtt_up(const struct mqtt *m);

/*
 * Completion of a publish with QoS 1 or of a subscription.  reason is the MQTT
 * 5 reason code that was received (0 with MQTT 3.1.1 or without one).
 */
typedef void (*mqtt_done_fn)(void *arg, enum rc rc, unsigned reason);

/*
 * mqtt_publish(m, msg, fn, arg):
 * Send.  When it returns RC_OK and msg->qos is 1, fn (may be NULL) is called
 * exactly once, never from inside mqtt_publish(), with
 *   RC_OK       acknowledged by the broker
 *   RC_NOENT    as RC_OK, but no client is subscribed (reason 16, MQTT 5 only)
 *   RC_DENIED, RC_RETRY, RC_INVALID
 *               rejected by the broker: not authorized, over a quota, otherwise
 *   RC_TIMEOUT  sent, but the connection was lost before the PUBACK: unknown
 *   RC_DOWN     not sent, and it never will be: the connection was lost first
 * For QoS 0 fn must be NULL.  Otherwise nothing is sent, now or later:
 * RC_DOWN while disconnected; RC_RETRY over MQTT_OUTSTANDING_MAX messages or
 * MQTT_OUTSTANDING_BYTES_MAX bytes; RC_TOOBIG over a limit above, or the
 * broker's; RC_INVALID if the topic is empty, not UTF-8 or has
 * wildcards, or the QoS is wrong.  Messages of one QoS keep their order.
 */
enum rc mqtt_publish(struct mqtt *m, const struct mqtt_msg *msg,
    mqtt_done_fn fn, void *arg) RC_CHECK;

/* mqtt_outstanding(m): Publishes that are not complete. */
size_t mqtt_outstanding(const struct mqtt *m);

/*
 * Or'ed to a QoS: the option retain-as-published of MQTT 5: live messages keep
 * their retain flag.
 */
#define MQTT_AS_PUBLISHED 8

/*
 * mqtt_subscribe(m, filter, qos, fn, arg):
 * Receive what matches filter, now and after every reconnect, until
 * mqtt_unsubscribe().  fn (may be NULL) is called at each SUBACK, once per
 * connection: RC_OK, or RC_DENIED, RC_RETRY or RC_INVALID, as above.
 * Subscribing to the same filter replaces the subscription and makes the broker
 * send retained messages again.  RC_INVALID if filter is not valid.
 */
enum rc mqtt_subscribe(struct mqtt *m, struct str filter, int qos,
    mqtt_done_fn fn, void *arg) RC_CHECK;

/*
 * mqtt_unsubscribe(m, filter):
 * Messages in flight may still be received.  RC_NOENT if there is no such
 * subscription.
 */
enum rc mqtt_unsubscribe(struct mqtt *m, struct str filter) RC_CHECK;

/* ---- topics, without a client; any thread ---- */

/*
 * mqtt_topic_valid(t), mqtt_filter_valid(t):
 * Whether t may be published to, or subscribed to: 1 to MQTT_TOPIC_MAX bytes of
 * UTF-8 without NUL; '+' and '#' not at all, or only as MQTT allows.
 */
bool mqtt_topic_valid(struct str t);
bool mqtt_filter_valid(struct str t);

/* mqtt_topic_matches(filter, t): False also if either is not valid. */
bool mqtt_topic_matches(struct str filter, struct str t);

#endif /* !MQTT_MQTT_H */
