/*
 * mqtt: an MQTT client for the loop: one, or thousands in one process.
 *
 * Connects, and goes on for ever; names are resolved in a worker.  Nothing
 * stale is sent: while disconnected a publish is refused, and a message whose
 * acknowledgement was outstanding when the connection broke is not sent again
 * by the library.
 *
 * All functions run on the loop thread unless they say otherwise, and none
 * blocks.  Callbacks run on the loop; from inside one, every function may be
 * called, mqtt_free() included.  A client takes three descriptors, and the
 * process ignores SIGPIPE once there was one.
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
/* Publishes of one client that are not done, and bytes of their payloads. */
#define MQTT_OUTSTANDING_MAX       20000
#define MQTT_OUTSTANDING_BYTES_MAX (64UL * 1024 * 1024)
/* Of those, unacknowledged on the wire: more makes libmosquitto slow. */
#define MQTT_INFLIGHT_MAX 100

struct mqtt;

struct mqtt_msg {
	struct str topic;
	struct str payload;
	int qos; /* 0 or 1 */
	bool
	    retain; /* received: whether it is an old one, kept by the broker */
};

struct mqtt_opts {
	struct loop *loop;
	struct worker_pool *workers; /* NULL: the URL's host is a number */
	/* mqtt://, tcp://, or with TLS mqtts://; [user[:pw]@]host[:port] */
	const char *url;
	const char *client_id; /* NULL: a random one */
	const char *user;      /* NULL: that of the URL, if any */
	const char *password;
	/*
	 * Of mqtts://, PEM.  The authorities that are believed, NULL or "":
	 * the system's; our certificate and its key, likewise: none.  All are
	 * read again at each attempt to connect, unless there is no ca_file.
	 */
	const char *ca_file, *cert_file, *key_file;
	int version;     /* 5, also 0; or 3 for MQTT 3.1.1 */
	int keepalive_s; /* 5 to 65535; 0: 60 */
	/*
	 * How long the broker keeps session and subscriptions after a
	 * disconnect; 0: not at all.  MQTT 3.1.1 only knows 0 and for ever.
	 */
	uint32_t session_s;
	const struct mqtt_msg *will; /* NULL: none; copied */
	int retry_max_ms; /* longest pause of reconnecting; 0: 2000 */
	/*
	 * One descriptor instead of three, for crowds.  The price: at each
	 * attempt to connect, for some microseconds, no thread of the process
	 * can open a descriptor (EMFILE).
	 */
	bool lean;
	struct metric_set *metrics; /* may be NULL; clients may share one */
	/*
	 * May be NULL.  true: the broker has accepted us, and the subscriptions
	 * have been sent before anything that fn publishes.  false: the
	 * connection is lost.
	 */
	void (*on_state)(void *arg, bool up);
	/* May be NULL.  A message; m is valid until fn returns. */
	void (*on_message)(void *arg, const struct mqtt_msg *m);
	void *arg;
};

/*
 * mqtt_opts_error(o):
 * What is wrong with the URL, the client id, the version, the keepalive, the
 * will or a file, which is read: a constant without a piece of them; NULL:
 * nothing.  Any thread.
 */
const char *mqtt_opts_error(const struct mqtt_opts *o);

/*
 * mqtt_new(o, out):
 * A client that starts connecting.  RC_INVALID if the URL, the client id, the
 * version, the keepalive, the will or a file is not valid (the log says which),
 * RC_TOOBIG if the will is over MQTT_WILL_MAX.
 */
enum rc mqtt_new(const struct mqtt_opts *o, struct mqtt **out) RC_CHECK;

/*
 * mqtt_free(m):
 * Say goodbye, so that the broker does not send the will, and close; no
 * callback comes after it but the completions of outstanding publishes, which
 * are called here.  What the socket does not take at once is lost: wait for
 * completions first.  NULL is allowed.
 */
void mqtt_free(struct mqtt *m);

/*
 * mqtt_break(m):
 * Lose the connection without a goodbye, as in a crash (the broker sends the
 * will), and reconnect as usual.  For tests and simulated faults.
 */
void mqtt_break(struct mqtt *m);

/* mqtt_up(m): Whether the broker has accepted us.  Any thread. */
bool mqtt_up(const struct mqtt *m);

/*
 * Completion of a publish with QoS 1 or of a subscription.  reason is the
 * MQTT 5 reason code as the broker sent it (0 with MQTT 3.1.1 or without one).
 */
typedef void (*mqtt_done_fn)(void *arg, enum rc rc, unsigned reason);

/*
 * mqtt_publish(m, msg, fn, arg):
 * Send.  When it returns RC_OK and msg->qos is 1, fn (may be NULL) is called
 * exactly once, never from inside mqtt_publish(), with
 *   RC_OK       the broker took it over
 *   RC_NOENT    as RC_OK, but nobody is subscribed (reason 16, MQTT 5 only)
 *   RC_DENIED, RC_RETRY, RC_INVALID
 *               the broker refused it: no right, over a quota, otherwise
 *   RC_TIMEOUT  sent, but the connection broke before the answer: unknown
 *   RC_DOWN     not sent, and it never will be: the connection broke first
 * For QoS 0 fn must be NULL.  Otherwise nothing is sent, now or later:
 * RC_DOWN while disconnected; RC_RETRY over MQTT_OUTSTANDING_MAX messages or
 * MQTT_OUTSTANDING_BYTES_MAX bytes; RC_TOOBIG if a ceiling above, or the
 * broker's own, is passed; RC_INVALID if the topic is empty, not UTF-8 or has
 * wildcards, or the QoS is wrong.  Messages of one QoS keep their order.
 */
enum rc mqtt_publish(struct mqtt *m, const struct mqtt_msg *msg,
    mqtt_done_fn fn, void *arg) RC_CHECK;

/* mqtt_outstanding(m): Publishes that are not done. */
size_t mqtt_outstanding(const struct mqtt *m);

/*
 * With a QoS: a message that was published to be kept is marked so (retain)
 * also when it comes at once.  MQTT 5 only.
 */
#define MQTT_AS_PUBLISHED 8

/*
 * mqtt_subscribe(m, filter, qos, fn, arg):
 * Receive what matches filter, now and after every reconnect, until
 * mqtt_unsubscribe().  fn (may be NULL) is called each time the broker has
 * answered, once per connection: RC_OK, or RC_DENIED, RC_RETRY or RC_INVALID,
 * as above.  Subscribing again to the same filter replaces it and makes the
 * broker send its retained messages again.  RC_INVALID if filter is not one.
 */
enum rc mqtt_subscribe(struct mqtt *m, struct str filter, int qos,
    mqtt_done_fn fn, void *arg) RC_CHECK;

/*
 * mqtt_unsubscribe(m, filter):
 * Messages on their way may still come.  RC_NOENT if there is no such
 * subscription.
 */
enum rc mqtt_unsubscribe(struct mqtt *m, struct str filter) RC_CHECK;

/* ---- topics, without a client; any thread -------------------------------- */

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
