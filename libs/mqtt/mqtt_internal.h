/*
 * mqtt_internal: the client's state, and what the files of mqtt call of each
 * other.  Loop thread.
 *
 * Two rules.  Everything the loop calls runs between mqtt_link_enter() and
 * mqtt_link_leave(), so that a client freed in a callback stays valid until the
 * callback returns.  Inside a callback of libmosquitto (m->in_lib) libmosquitto
 * is not called, because its lock order differs there; the work is recorded and
 * done by mqtt_pub_flush() and mqtt_sub_flush().
 */
#ifndef MQTT_MQTT_INTERNAL_H
#define MQTT_MQTT_INTERNAL_H

#include <sys/queue.h>

#include "core/clock.h"
#include "core/rate.h"
#include "core/url.h"
#include "mqtt/mqtt.h"

struct mosquitto;

/* Addresses of a host name that are tried; room for one as text. */
#define MQTT_ADDRS_MAX 4
#define MQTT_ADDR_TEXT 64
#define MQTT_WHY_MAX   128

/* A publish with QoS 1 that is not complete, or one with QoS 0 not written. */
struct mqtt_pub {
	TAILQ_ENTRY(mqtt_pub) link;
	mqtt_done_fn fn;
	void *arg;
	size_t bytes;    /* of the payload */
	int mid;         /* once sent */
	unsigned reason; /* once acknowledged */
	bool retain;
	char *copy; /* topic, NUL, payload; until sent */
};
TAILQ_HEAD(mqtt_pub_list, mqtt_pub);

struct mqtt_sub {
	TAILQ_ENTRY(mqtt_sub) link;
	mqtt_done_fn fn;
	void *arg;
	int qos;
	int mid; /* of the SUBSCRIBE without a SUBACK; 0: none */
	bool as_published;
	bool unsent;   /* SUBSCRIBE is to be sent */
	bool removing; /* UNSUBSCRIBE is to be sent, then it is freed */
	int granted;   /* reason code of SUBACK for fn; -1: none */
	char filter[];
};
TAILQ_HEAD(mqtt_sub_list, mqtt_sub);

enum mqtt_phase {
	MQTT_PHASE_IDLE,
	MQTT_PHASE_CONNECTING,
	MQTT_PHASE_UP,
	MQTT_PHASE_BROKEN
};

struct mqtt_resolve_job; /* a job of the worker pool */

struct mqtt {
	struct mqtt_opts o; /* texts and the will point to copies */
	struct url url;
	struct mqtt_msg will;
	char *client_id, *source, *user, *password, *will_bytes;
	char *ca_file, *cert_file, *key_file;
	void *tls; /* OpenSSL's context; NULL: no TLS */

	enum mqtt_phase phase;
	_Atomic bool up;
	bool freed;
	bool in_lib;
	bool paused;  /* by mqtt_pause() */
	bool backlog; /* it was, and the socket was not empty since */
	int inside;
	struct mosquitto *mosq; /* one per connection */
	struct loop_fd watch;
	struct loop_timer timer; /* pause, connect timeout, or break */
	struct loop_timer tick;  /* keepalive */
	struct loop_timer read;  /* after a pause */
	struct backoff backoff;
	struct mono connected_at;
	char why[MQTT_WHY_MAX]; /* why the connection ended */
	int connack;            /* reason code; -1: none received */
	int disconnect_reason;  /* of the broker's DISCONNECT */
	int keepalive_s;        /* as set by the broker, or by us */

	struct mqtt_resolve_job *job;
	char addrs[MQTT_ADDRS_MAX][MQTT_ADDR_TEXT];
	int n_addrs, next_addr;

	struct mqtt_sub_list subs;
	bool subs_dirty;                /* something to send or to report */
	struct mqtt_pub_list waiting;   /* for room in the window */
	struct mqtt_pub_list inflight;  /* sent, in the order of their ids */
	struct mqtt_pub_list acked;     /* completion is to be called */
	struct mqtt_pub_list deferred;  /* QoS 0, published in a callback */
	struct mqtt_pub_list unwritten; /* QoS 0, in libmosquitto's queue */
	size_t n_inflight, window;
	size_t n_pubs, pub_bytes; /* of all lists */
	int last_mid;

	struct metric *m_up, *m_connects, *m_sent, *m_failed, *m_received;
	struct metric *m_oversize, *m_outstanding;
};

/* ---- link.c: the connection ---- */

/* mqtt_link_start(m), mqtt_link_stop(m): Start connecting; close. */
void mqtt_link_start(struct mqtt *m);
void mqtt_link_stop(struct mqtt *m);

/* mqtt_link_break(m, why): Close the connection soon; from any context. */
void mqtt_link_break(struct mqtt *m, const char *why);

/* mqtt_link_resume(m): Read soon, after a pause. */
void mqtt_link_resume(struct mqtt *m);

/* mqtt_link_sendable(m): Whether libmosquitto may be called to send. */
bool mqtt_link_sendable(const struct mqtt *m);

/* mqtt_link_touch(m): After sending: watch for writability if need be. */
void mqtt_link_touch(struct mqtt *m);

/* mqtt_link_enter(m), mqtt_link_leave(m): Around every callback of the loop. */
void mqtt_link_enter(struct mqtt *m);
void mqtt_link_leave(struct mqtt *m);

/*
 * mqtt_link_rc(m, code):
 * The result for a code of libmosquitto; closes a connection that is lost.
 */
enum rc mqtt_link_rc(struct mqtt *m, int code);

/* ---- mqtt.c: libmosquitto's object ---- */

/* mqtt_mosq_new(m): Make m->mosq, configured; false with m->why. */
bool mqtt_mosq_new(struct mqtt *m);

/* mqtt_mosq_free(m): Without sending DISCONNECT. */
void mqtt_mosq_free(struct mqtt *m);

/* mqtt_reason_rc(reason): The result for a reason code of PUBACK or SUBACK. */
enum rc mqtt_reason_rc(unsigned reason);

/* ---- tls.c ---- */

/* mqtt_tls_load(m): Read the files into m->tls; NULL, or why it is unchanged.
 */
const char *mqtt_tls_load(struct mqtt *m);

/* mqtt_tls_free(m): Free m->tls, if there is one. */
void mqtt_tls_free(struct mqtt *m);

/* mqtt_tls_pending(m): Whether decrypted bytes are buffered beside the socket.
 */
bool mqtt_tls_pending(const struct mqtt *m);

/* mqtt_tls_error(m): What is wrong with the broker's certificate, or NULL. */
const char *mqtt_tls_error(const struct mqtt *m);

/* ---- publish.c, subscribe.c ---- */

/*
 * mqtt_pub_acked(m, mid, reason):
 * libmosquitto has written it (QoS 0) or received its PUBACK (QoS 1).
 */
void mqtt_pub_acked(struct mqtt *m, int mid, unsigned reason);

/* mqtt_pub_flush(m): Call completions, send what was deferred. */
void mqtt_pub_flush(struct mqtt *m);

/* mqtt_pub_fail_all(m): Complete everything, after the connection is lost. */
void mqtt_pub_fail_all(struct mqtt *m);

/* mqtt_sub_renew(m): Subscribe to everything on a new connection. */
void mqtt_sub_renew(struct mqtt *m);

/*
 * mqtt_sub_probe(m):
 * Send a packet that changes nothing, from which the broker sees that the
 * client lives.
 */
void mqtt_sub_probe(struct mqtt *m);

/* mqtt_sub_acked(m, mid, reason): A SUBACK was received. */
void mqtt_sub_acked(struct mqtt *m, int mid, unsigned reason);

/* mqtt_sub_flush(m): Send what is unsent, call completions. */
void mqtt_sub_flush(struct mqtt *m);

/* mqtt_sub_free_all(m): Free the list. */
void mqtt_sub_free_all(struct mqtt *m);

/*
 * mqtt_topic_copy(t, dst), mqtt_filter_copy(f, dst):
 * Copy t with a NUL, as libmosquitto needs it; false if it is not valid.
 */
bool mqtt_topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1]);
bool mqtt_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1]);

#endif /* !MQTT_MQTT_INTERNAL_H */
