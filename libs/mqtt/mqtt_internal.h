/*
 * own: what the files of mqtt share.
 *
 * Two rules.  Whatever the loop calls is between link_enter() and link_leave(),
 * so that a client that its owner frees in a callback outlives it.  And inside
 * a callback of libmosquitto (m->in_lib) libmosquitto is not called: it holds
 * locks then, in another order than outside.  What happens meanwhile is noted
 * and done by pub_after() and sub_after().
 */
#ifndef MQTT_MQTT_INTERNAL_H
#define MQTT_MQTT_INTERNAL_H

#include <sys/queue.h>

#include "core/clock.h"
#include "core/rate.h"
#include "core/url.h"
#include "mqtt/mqtt.h"

struct mosquitto;

/* Addresses tried of those a name has; room for one as text. */
#define ADDRS_MAX    4
#define ADDR_TEXT    64
#define MQTT_WHY_MAX 128

/* A publish with QoS 1 that is not done, or one with QoS 0 not written. */
struct pub {
	TAILQ_ENTRY(pub) link;
	mqtt_done_fn fn;
	void *arg;
	size_t bytes;    /* of the payload */
	int mid;         /* once sent */
	unsigned reason; /* once acknowledged */
	bool retain;
	char *held; /* topic, NUL, payload; until sent */
};
TAILQ_HEAD(pubs, pub);

struct sub {
	TAILQ_ENTRY(sub) link;
	mqtt_done_fn fn;
	void *arg;
	int qos;
	int mid; /* of the SUBSCRIBE that is not answered; 0: none */
	bool as_published;
	bool due;   /* SUBSCRIBE is to be sent */
	bool gone;  /* UNSUBSCRIBE is */
	int answer; /* reason code to be told to fn; -1: none */
	char filter[];
};
TAILQ_HEAD(subs, sub);

enum phase { PHASE_IDLE, PHASE_CONNECTING, PHASE_UP, PHASE_BROKEN };

struct resolving; /* a job of the worker pool */

struct mqtt {
	struct mqtt_opts o; /* texts and the will point to copies */
	struct url url;
	struct mqtt_msg will;
	char *client_id, *user, *password, *will_bytes;
	char *ca_file, *cert_file, *key_file;
	void *tls; /* OpenSSL's context; NULL: no TLS */

	enum phase phase;
	_Atomic bool up;
	bool freed;
	bool in_lib;
	int inside;
	struct mosquitto *mosq; /* one per connection */
	struct loop_fd watch;
	struct loop_timer timer; /* pause, connect timeout, or break */
	struct loop_timer tick;  /* keepalive */
	struct backoff backoff;
	struct mono up_at;
	char why[MQTT_WHY_MAX]; /* the connection ended */
	int connack;            /* reason code; -1: none came */
	int bye;                /* likewise, of the broker's DISCONNECT */
	int keepalive_s;        /* what the broker wants, else ours */

	struct resolving *job;
	char addrs[ADDRS_MAX][ADDR_TEXT];
	int n_addrs, next_addr;

	struct subs subs;
	bool subs_news;        /* something to send or to tell */
	struct pubs waiting;   /* for room in the window */
	struct pubs inflight;  /* sent, in the order of their ids */
	struct pubs acked;     /* not yet told to their owners */
	struct pubs deferred;  /* QoS 0, published in a callback */
	struct pubs unwritten; /* QoS 0, in libmosquitto's queue */
	size_t n_inflight, window;
	size_t n_pubs, pub_bytes; /* of all lists */
	int last_mid;

	struct metric *m_up, *m_connects, *m_sent, *m_failed, *m_received;
	struct metric *m_oversize, *m_outstanding;
};

/* ---- link.c: the connection ---------------------------------------------- */

/* link_start(m), link_stop(m): Begin connecting; end whatever is going on. */
void link_start(struct mqtt *m);
void link_stop(struct mqtt *m);

/* link_break(m, why): Give the connection up, soon, from any context. */
void link_break(struct mqtt *m, const char *why);

/* link_sendable(m): Whether libmosquitto may be given something to send. */
bool link_sendable(const struct mqtt *m);

/* link_touch(m): Something was sent: watch for room if it did not go out. */
void link_touch(struct mqtt *m);

/* link_enter(m), link_leave(m): Around everything the loop calls. */
void link_enter(struct mqtt *m);
void link_leave(struct mqtt *m);

/* link_rc(m, code): A code of libmosquitto; breaks the link if it is broken. */
enum rc link_rc(struct mqtt *m, int code);

/* ---- client.c: libmosquitto's object ------------------------------------- */

/* client_new(m): m->mosq, configured, not connected; false with m->why. */
bool client_new(struct mqtt *m);

/* client_free(m): Without a goodbye. */
void client_free(struct mqtt *m);

/* client_reason_rc(reason): What a refusal in an MQTT 5 answer means. */
enum rc client_reason_rc(unsigned reason);

/* ---- tls.c --------------------------------------------------------------- */

/* tls_load(m): m->tls anew from its files; NULL, or why it stays as it was. */
const char *tls_load(struct mqtt *m);

/* tls_free(m): Free m->tls, if there is one. */
void tls_free(struct mqtt *m);

/* tls_pending(m): Whether bytes wait that the socket does not tell of. */
bool tls_pending(const struct mqtt *m);

/* tls_why(m): What is wrong with the broker's certificate; NULL: nothing. */
const char *tls_why(const struct mqtt *m);

/* ---- resolve.c ----------------------------------------------------------- */

/*
 * resolve(m):
 * Fill m->addrs and call resolved(m), at once if the host is a number, else
 * when a worker has the answer; n_addrs is 0 and m->why says it if there is
 * none.  False if the worker is busy.
 */
bool resolve(struct mqtt *m);

/* resolve_is_number(host): Whether host needs no resolving. */
bool resolve_is_number(const char *host);

/* resolve_cancel(m): A worker's answer will be thrown away. */
void resolve_cancel(struct mqtt *m);

/* resolved(m): The answer is there; in link.c. */
void resolved(struct mqtt *m);

/* ---- publish.c, subscribe.c ---------------------------------------------- */

/*
 * pub_acked(m, mid, reason):
 * libmosquitto has written it (QoS 0) or the broker has answered (QoS 1).
 */
void pub_acked(struct mqtt *m, int mid, unsigned reason);

/* pub_after(m): Tell owners, send what was published meanwhile. */
void pub_after(struct mqtt *m);

/* pub_fail_all(m): The connection is gone: complete everything. */
void pub_fail_all(struct mqtt *m);

/* sub_renew(m): A new connection: all subscriptions are to be made. */
void sub_renew(struct mqtt *m);

/* sub_acked(m, mid, reason): The broker has answered. */
void sub_acked(struct mqtt *m, int mid, unsigned reason);

/* sub_after(m): Send what is to be sent, tell owners. */
void sub_after(struct mqtt *m);

/* sub_forget_all(m): Free the list. */
void sub_forget_all(struct mqtt *m);

/*
 * topic: topics as libmosquitto wants them, NUL-terminated.
 */
/* topic_copy(t, dst), topic_filter_copy(f, dst): dst is t, if it is valid. */
bool topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1]);
bool topic_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1]);

#endif /* !MQTT_MQTT_INTERNAL_H */
