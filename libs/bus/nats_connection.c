/*
 * One connection to NATS on cnats 3.4.1, and the port from its threads to the
 * loop.
 *
 * The library's own reconnecting is switched off.  It retains what it could not
 * send, cannot tell which connection an event belongs to, and gives up for good
 * on a second rejected login or an error it does not know.
 */
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bus/bus_internal.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/url.h"

#define CONNECT_MS    2000
#define WRITE_MS      500
#define CLOSE_MS      500
#define DRAIN_MS      60000
#define PING_MS       5000 /* a silent peer is noticed after 10 to 15 s */
#define PINGS_OUT     2
#define PENDING_MSGS  65536 /* per subscription, beyond the loop's inbox */
#define PENDING_BYTES (64 * 1024 * 1024)
/* How often a full inbox is retried. */
#define FULL_NS 500000

/* ---- port to the loop ---- */

/*
 * loop_post_wait() cannot be interrupted, and bus_free() runs on the thread
 * that would have to make room; this wait ends when the port closes.
 */
struct bus_port {
	pthread_mutex_t mu; /* protects closed and refs */
	pthread_cond_t cv;  /* closed has become true */
	bool closed;
	unsigned refs;
	struct loop *loop;
	struct bus *bus; /* loop thread only */
};

struct bus_port *
bus_port_new(struct loop *l, struct bus *b)
{
	struct bus_port *p = mem_zalloc(sizeof(*p));
	pthread_condattr_t attr;

	pthread_mutex_init(&p->mu, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->cv, &attr);
	pthread_condattr_destroy(&attr);
	p->refs = 1;
	p->loop = l;
	p->bus = b;
	return p;
}

void
bus_port_ref(struct bus_port *p)
{
	pthread_mutex_lock(&p->mu);
	p->refs++;
	pthread_mutex_unlock(&p->mu);
}

void
bus_port_unref(struct bus_port *p)
{
	unsigned left;

	pthread_mutex_lock(&p->mu);
	left = --p->refs;
	pthread_mutex_unlock(&p->mu);
	if (left > 0)
		return;
	pthread_cond_destroy(&p->cv);
	pthread_mutex_destroy(&p->mu);
	free(p);
}

void
bus_port_close(struct bus_port *p)
{
	pthread_mutex_lock(&p->mu);
	p->closed = true;
	pthread_cond_broadcast(&p->cv);
	pthread_mutex_unlock(&p->mu);
	p->bus = NULL;
}

struct bus *
bus_port_bus(const struct bus_port *p)
{
	return p->bus;
}

/* Wait a little, or until the port closes; the lock is held. */
static void
port_wait_for_room(struct bus_port *p)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += FULL_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	pthread_cond_timedwait(&p->cv, &p->mu, &t);
}

enum rc
bus_port_post(struct bus_port *p, loop_fn fn, void *arg)
{
	enum rc rc;

	pthread_mutex_lock(&p->mu);
	for (;;) {
		/* Under the lock, so that a closed port has left the loop. */
		rc = p->closed ? RC_DOWN : loop_post(p->loop, fn, arg);
		if (rc != RC_RETRY)
			break;
		port_wait_for_room(p);
	}
	if (rc == RC_OK)
		p->refs++;
	pthread_mutex_unlock(&p->mu);
	return rc;
}

/* ---- context of the library's callbacks ---- */

/* One per connection and one per subscription. */
struct conn_ctx {
	struct bus_port *port;
	loop_fn deliver;
	uint64_t gen;
	struct bus_sub *sub; /* NULL: the connection's */
};

struct bus_conn {
	natsConnection *nc;
	struct conn_ctx ctx; /* template for those of its subscriptions */
};

static struct conn_ctx *
conn_ctx_new(const struct conn_ctx *ctx, struct bus_sub *s)
{
	struct conn_ctx *k = mem_alloc(sizeof(*k));

	*k = *ctx;
	k->sub = s;
	bus_port_ref(k->port);
	return k;
}

static void
conn_ctx_free(struct conn_ctx *k)
{
	bus_port_unref(k->port);
	free(k);
}

/* ---- callbacks, on the library's threads ---- */

static void
conn_post(const struct conn_ctx *k, enum bus_event event, natsMsg *in)
{
	struct bus_msg *m = mem_zalloc(sizeof(*m));

	m->event = event;
	m->gen = k->gen;
	m->port = k->port;
	m->sub = k->sub;
	m->in = in;
	if (bus_port_post(k->port, k->deliver, m) == RC_OK)
		return;
	natsMsg_Destroy(in);
	free(m);
}

static void
conn_on_msg(natsConnection *nc, natsSubscription *ns, natsMsg *in, void *arg)
{
	(void)nc;
	(void)ns;
	conn_post(arg, BUS_EVENT_MSG, in);
}

static void
conn_on_sub_end(void *arg)
{
	struct conn_ctx *k = arg;

	conn_post(k, BUS_EVENT_SUB_END, NULL);
	conn_ctx_free(k);
}

/* The server's text: Permissions Violation for Publish to "<subject>". */
static void
conn_log_denied(const char *why)
{
	static struct log_rate rate;
	struct str text = str_of(why), subject = { NULL, 0 };
	int64_t missed;

	if (!log_every(&rate, 1, &missed))
		return;
	(void)str_split(&text, '"');
	if (text.p != NULL)
		subject = str_split(&text, '"');
	log_error("bus.denied", LOG_V("subject", subject), LOG_S("why", why),
	    LOG_I("missed", missed));
}

static void
conn_on_error(natsConnection *nc, natsSubscription *ns, natsStatus s, void *arg)
{
	static struct log_rate rate;
	int64_t missed;

	(void)nc;
	if (s == NATS_SLOW_CONSUMER) {
		if (log_every(&rate, 10, &missed))
			log_error("bus.slow_consumer",
			    LOG_S("subject", natsSubscription_GetSubject(ns)),
			    LOG_I("missed", missed));
		conn_post(arg, BUS_EVENT_SLOW, NULL);
		return;
	}
	if (s == NATS_NOT_PERMITTED) {
		conn_log_denied(nats_GetLastError(NULL));
		conn_post(arg, BUS_EVENT_DENIED, NULL);
		return;
	}
	log_error("bus.nats_error", LOG_S("status", natsStatus_GetText(s)),
	    LOG_S("why", nats_GetLastError(NULL)));
}

/* The last callback of a connection. */
static void
conn_on_closed(natsConnection *nc, void *arg)
{
	struct conn_ctx *k = arg;

	(void)nc;
	conn_post(k, BUS_EVENT_CLOSED, NULL);
	conn_ctx_free(k);
}

/* ---- opening and closing ---- */

/* cnats copies these into the JSON of CONNECT unescaped. */
static char *
conn_json_escape(const char *s)
{
	struct buf b = BUF_INIT(64 * 1024);
	struct wire_out o = { .b = &b };
	char *text = NULL;

	wire_out_str(&o, str_of(s));
	if (buf_rc(&b) == RC_OK && b.n >= 2)
		text = str_dup((struct str){ b.p + 1, b.n - 2 });
	buf_free(&b);
	return text != NULL ? text : mem_strdup("");
}

static natsStatus
conn_set_identity(natsOptions *no, const struct bus_conn_opts *o)
{
	char *name = conn_json_escape(o->name != NULL ? o->name : "");
	char *user = NULL, *password = NULL;
	natsStatus s;

	s = natsOptions_SetName(no, name);
	if (s == NATS_OK && o->user != NULL && o->user[0] != '\0') {
		user = conn_json_escape(o->user);
		password =
		    conn_json_escape(o->password != NULL ? o->password : "");
		s = natsOptions_SetUserInfo(no, user, password);
	}
	free(name);
	free(user);
	free(password);
	return s;
}

/* Verify the server against url's host, and present our certificate. */
static natsStatus
conn_set_tls(natsOptions *no, const struct bus_conn_opts *o, const char *url)
{
	struct url u;
	natsStatus s;

	if (url_parse(str_of(url), &u, NULL) != RC_OK)
		return NATS_INVALID_ARG;
	s = natsOptions_SetSecure(no, true);
	if (s == NATS_OK && o->ca_file != NULL)
		s = natsOptions_LoadCATrustedCertificates(no, o->ca_file);
	if (s == NATS_OK && o->cert_file != NULL)
		s = natsOptions_LoadCertificatesChain(
		    no, o->cert_file, o->key_file);
	if (s == NATS_OK)
		s = natsOptions_SetExpectedHostname(no, u.host);
	return s;
}

/* Options for the server at url; NULL: for all servers. */
static natsStatus
conn_set_options(natsOptions *no, const struct bus_conn_opts *o,
    const char *url, struct conn_ctx *k)
{
	const char *urls[BUS_SERVERS_MAX];
	natsStatus s;
	int i;

	for (i = 0; i < o->n_urls; i++)
		urls[i] = o->urls[i];
	if (url == NULL)
		s = natsOptions_SetServers(no, urls, o->n_urls);
	else
		s = natsOptions_SetURL(no, url);
	if (s == NATS_OK && url != NULL)
		s = conn_set_tls(no, o, url);
	if (s == NATS_OK)
		s = conn_set_identity(no, o);
	if (s == NATS_OK)
		s = natsOptions_SetAllowReconnect(no, false);
	if (s == NATS_OK)
		s = natsOptions_SetTimeout(no, CONNECT_MS);
	if (s == NATS_OK)
		s = natsOptions_SetSendAsap(no, !o->buffered);
	if (s == NATS_OK)
		s = natsOptions_SetWriteDeadline(no, WRITE_MS);
	if (s == NATS_OK)
		s = natsOptions_SetPingInterval(no, PING_MS);
	if (s == NATS_OK)
		s = natsOptions_SetMaxPingsOut(no, PINGS_OUT);
	if (s == NATS_OK)
		s = natsOptions_SetMaxPendingMsgs(no, PENDING_MSGS);
	if (s == NATS_OK)
		s = nats_SetMessageDeliveryPoolSize(1);
	if (s == NATS_OK)
		s = natsOptions_UseGlobalMessageDelivery(no, true);
	if (s == NATS_OK)
		s = natsOptions_SetErrorHandler(no, conn_on_error, k);
	if (s == NATS_OK)
		s = natsOptions_SetClosedCB(no, conn_on_closed, k);
	return s;
}

static natsStatus
conn_open_one(
    const struct bus_conn_opts *o, const char *url, struct bus_conn **out)
{
	struct conn_ctx ctx = { o->port, o->deliver, o->gen, NULL };
	struct conn_ctx *k = conn_ctx_new(&ctx, NULL);
	natsOptions *no = NULL;
	natsConnection *nc = NULL;
	natsStatus s;

	s = natsOptions_Create(&no);
	if (s == NATS_OK)
		s = conn_set_options(no, o, url, k);
	if (s == NATS_OK)
		s = natsConnection_Connect(&nc, no);
	natsOptions_Destroy(no);
	if (s != NATS_OK) {
		/* A failed connect does not call conn_on_closed(). */
		conn_ctx_free(k);
		return s;
	}
	*out = mem_zalloc(sizeof(**out));
	(*out)->nc = nc;
	(*out)->ctx = ctx;
	return NATS_OK;
}

/* With TLS one after the other: each has its own host name to verify. */
static natsStatus
conn_open_any(const struct bus_conn_opts *o, struct bus_conn **out)
{
	natsStatus s = NATS_NO_SERVER;
	size_t n = (size_t)o->n_urls, i;

	if (!bus_url_is_tls(o->urls[0]))
		return conn_open_one(o, NULL, out);
	for (i = 0; i < n && s != NATS_OK; i++)
		s = conn_open_one(o, o->urls[(o->gen + i) % n], out);
	return s;
}

enum rc
bus_conn_open(const struct bus_conn_opts *o, struct bus_conn **out)
{
	static struct log_rate rate;
	int64_t missed;
	natsStatus s;

	s = conn_open_any(o, out);
	if (s == NATS_OK)
		return RC_OK;
	if (log_every(&rate, 10, &missed))
		log_warn("bus.no_connection",
		    LOG_S("status", natsStatus_GetText(s)),
		    LOG_S("why", nats_GetLastError(NULL)),
		    LOG_I("missed", missed));
	return s == NATS_CONNECTION_AUTH_FAILED ? RC_DENIED : RC_DOWN;
}

void
bus_conn_close(struct bus_conn *c)
{
	if (c == NULL)
		return;
	/* Closing a socket with unread bytes resets the connection and could
	 * lose the last replies; after the PONG everything has arrived. */
	if (natsConnection_Status(c->nc) == NATS_CONN_STATUS_CONNECTED)
		(void)natsConnection_FlushTimeout(c->nc, CLOSE_MS);
	natsConnection_Close(c->nc);
	natsConnection_Destroy(c->nc);
	free(c);
}

void
bus_conn_break(struct bus_conn *c)
{
	natsConnection_Close(c->nc);
}

/* ---- subscriptions ---- */

static natsSubscription *
conn_sub_handle(struct bus_conn_sub *s)
{
	return (natsSubscription *)(void *)s;
}

enum rc
bus_conn_subscribe(struct bus_conn *c, const char *subject, const char *queue,
    struct bus_sub *s, struct bus_conn_sub **out)
{
	struct conn_ctx *k = conn_ctx_new(&c->ctx, s);
	natsSubscription *ns = NULL;
	natsStatus st;

	if (queue == NULL)
		st = natsConnection_Subscribe(
		    &ns, c->nc, subject, conn_on_msg, k);
	else
		st = natsConnection_QueueSubscribe(
		    &ns, c->nc, subject, queue, conn_on_msg, k);
	if (st != NATS_OK) {
		conn_ctx_free(k);
		return RC_DOWN;
	}
	(void)natsSubscription_SetPendingLimits(
	    ns, PENDING_MSGS, PENDING_BYTES);
	/* Fails only if the connection broke since the call above.  The
	 * library then never reports that it is done with k, which is leaked,
	 * as s is until bus_free(). */
	(void)natsSubscription_SetOnCompleteCB(ns, conn_on_sub_end, k);
	*out = (struct bus_conn_sub *)(void *)ns;
	return RC_OK;
}

enum rc
bus_conn_sub_drain(struct bus_conn_sub *s)
{
	return natsSubscription_DrainTimeout(conn_sub_handle(s), DRAIN_MS) ==
		NATS_OK
	    ? RC_OK
	    : RC_DOWN;
}

/*
 * The library's reading thread looks up the subscription of a message, unlocks
 * and then uses it without a reference of its own: dropping ours here would be
 * a use after free, so that is bus_conn_sub_free()'s job.
 */
void
bus_conn_sub_unsubscribe(struct bus_conn_sub *s)
{
	/* Fails if the connection has ended, and s with it. */
	(void)natsSubscription_Unsubscribe(conn_sub_handle(s));
}

void
bus_conn_sub_free(struct bus_conn_sub *s)
{
	natsSubscription_Destroy(conn_sub_handle(s));
}

/* ---- messages ---- */

static natsStatus
conn_send_with_headers(struct bus_conn *c, const struct bus_out_msg *m)
{
	natsMsg *out = NULL;
	natsStatus s;
	size_t i;

	s = natsMsg_Create(
	    &out, m->subject, m->reply, m->data.p, (int)m->data.n);
	for (i = 0; s == NATS_OK && i < m->n_headers; i++)
		s = natsMsgHeader_Set(
		    out, m->headers[i].key, m->headers[i].value);
	if (s == NATS_OK)
		s = natsConnection_PublishMsg(c->nc, out);
	natsMsg_Destroy(out);
	return s;
}

enum rc
bus_conn_send(struct bus_conn *c, const struct bus_out_msg *m)
{
	natsStatus s;

	if (m->n_headers > 0)
		s = conn_send_with_headers(c, m);
	else if (m->reply != NULL)
		s = natsConnection_PublishRequest(
		    c->nc, m->subject, m->reply, m->data.p, (int)m->data.n);
	else
		s = natsConnection_Publish(
		    c->nc, m->subject, m->data.p, (int)m->data.n);
	switch (s) {
	case NATS_OK:
		return RC_OK;
	case NATS_MAX_PAYLOAD:
		return RC_TOOBIG;
	case NATS_INVALID_SUBJECT:
	case NATS_INVALID_ARG:
	case NATS_NO_SERVER_SUPPORT:
		return RC_INVALID;
	default:
		/* After a partial write the server would read the next message
		 * as the rest of this one. */
		if (!natsConnection_IsClosed(c->nc))
			log_warn("bus.send_failed",
			    LOG_S("status", natsStatus_GetText(s)));
		bus_conn_break(c);
		return RC_DOWN;
	}
}

void
bus_event_free(struct bus_msg *m)
{
	natsMsg_Destroy(m->in);
	bus_port_unref(m->port);
	free(m);
}

struct str
bus_conn_msg_subject(const struct bus_msg *m)
{
	return str_of(natsMsg_GetSubject(m->in));
}

struct str
bus_conn_msg_reply(const struct bus_msg *m)
{
	return str_of(natsMsg_GetReply(m->in));
}

struct str
bus_conn_msg_data(const struct bus_msg *m)
{
	int n = natsMsg_GetDataLength(m->in);

	return n > 0 ? (struct str){ natsMsg_GetData(m->in), (size_t)n }
		     : STR("");
}

struct str
bus_conn_msg_header(const struct bus_msg *m, const char *key)
{
	const char *value = NULL;

	if (natsMsgHeader_Get(m->in, key, &value) != NATS_OK)
		value = NULL;
	return str_of(value);
}

bool
bus_conn_msg_no_responders(const struct bus_msg *m)
{
	return natsMsg_IsNoResponders(m->in);
}
