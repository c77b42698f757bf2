/*
 * One connection to NATS on cnats 3.4.1.
 *
 * The library's own reconnecting is switched off.  It keeps what it could not
 * send, has no way to tell which connection an event belonged to, and gives up
 * for good on a second refused login or an error it does not know.
 */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/conn.h"
#include "bus/names.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/url.h"
#include "wire/out.h"

#define CONNECT_MS    2000
#define WRITE_MS      500
#define CLOSE_MS      500
#define DRAIN_MS      60000
#define PING_MS       5000 /* a silent peer is noticed after 10 to 15 s */
#define PINGS_OUT     2
#define PENDING_MSGS  65536 /* per subscription, beyond the loop's inbox */
#define PENDING_BYTES (64 * 1024 * 1024)

/* What a callback gets; one per connection and one per subscription. */
struct link {
	struct port *port;
	loop_fn deliver;
	uint64_t gen;
	struct bus_sub *sub; /* NULL: the connection's */
};

struct conn {
	natsConnection *nc;
	struct link like; /* its subscriptions' links begin as this */
};

static struct link *
link_new(const struct link *like, struct bus_sub *s)
{
	struct link *k = mem_alloc(sizeof(*k));

	*k = *like;
	k->sub = s;
	port_ref(k->port);
	return k;
}

static void
link_free(struct link *k)
{
	port_unref(k->port);
	free(k);
}

/* ---- on the library's threads ------------------------------------------ */

static void
post(const struct link *k, enum conn_event event, natsMsg *in)
{
	struct bus_msg *m = mem_zalloc(sizeof(*m));

	m->event = event;
	m->gen = k->gen;
	m->port = k->port;
	m->sub = k->sub;
	m->in = in;
	if (port_post(k->port, k->deliver, m) == RC_OK)
		return;
	natsMsg_Destroy(in);
	free(m);
}

static void
on_msg(natsConnection *nc, natsSubscription *ns, natsMsg *in, void *arg)
{
	(void)nc;
	(void)ns;
	post(arg, CONN_MSG, in);
}

static void
on_sub_end(void *arg)
{
	struct link *k = arg;

	post(k, CONN_SUB_END, NULL);
	link_free(k);
}

/* The server's words: Permissions Violation for Publish to "<subject>". */
static void
log_denied(const char *why)
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
on_error(natsConnection *nc, natsSubscription *ns, natsStatus s, void *arg)
{
	static struct log_rate rate;
	int64_t missed;

	(void)nc;
	if (s == NATS_SLOW_CONSUMER) {
		if (log_every(&rate, 10, &missed))
			log_error("bus.slow_consumer",
			    LOG_S("subject", natsSubscription_GetSubject(ns)),
			    LOG_I("missed", missed));
		post(arg, CONN_SLOW, NULL);
		return;
	}
	if (s == NATS_NOT_PERMITTED) {
		log_denied(nats_GetLastError(NULL));
		post(arg, CONN_DENIED, NULL);
		return;
	}
	log_error("bus.refused", LOG_S("status", natsStatus_GetText(s)),
	    LOG_S("why", nats_GetLastError(NULL)));
}

/* The last callback of a connection. */
static void
on_closed(natsConnection *nc, void *arg)
{
	struct link *k = arg;

	(void)nc;
	post(k, CONN_CLOSED, NULL);
	link_free(k);
}

/* ---- opening and closing ------------------------------------------------ */

/* cnats puts these into JSON as they are. */
static char *
json_text(const char *s)
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
set_names(natsOptions *no, const struct conn_conf *o)
{
	char *name = json_text(o->name != NULL ? o->name : "");
	char *user = NULL, *password = NULL;
	natsStatus s;

	s = natsOptions_SetName(no, name);
	if (s == NATS_OK && o->user != NULL && o->user[0] != '\0') {
		user = json_text(o->user);
		password = json_text(o->password != NULL ? o->password : "");
		s = natsOptions_SetUserInfo(no, user, password);
	}
	free(name);
	free(user);
	free(password);
	return s;
}

/* The server must be who url says, and is shown who we are. */
static natsStatus
set_tls(natsOptions *no, const struct conn_conf *o, const char *url)
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

/* For the server at url; NULL: any of them. */
static natsStatus
set_options(
    natsOptions *no, const struct conn_conf *o, const char *url, struct link *k)
{
	const char *urls[NAMES_SERVERS_MAX];
	natsStatus s;
	int i;

	for (i = 0; i < o->n_urls; i++)
		urls[i] = o->urls[i];
	if (url == NULL)
		s = natsOptions_SetServers(no, urls, o->n_urls);
	else
		s = natsOptions_SetURL(no, url);
	if (s == NATS_OK && url != NULL)
		s = set_tls(no, o, url);
	if (s == NATS_OK)
		s = set_names(no, o);
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
		s = natsOptions_SetErrorHandler(no, on_error, k);
	if (s == NATS_OK)
		s = natsOptions_SetClosedCB(no, on_closed, k);
	return s;
}

static natsStatus
open_one(const struct conn_conf *o, const char *url, struct conn **out)
{
	struct link like = { o->port, o->deliver, o->gen, NULL };
	struct link *k = link_new(&like, NULL);
	natsOptions *no = NULL;
	natsConnection *nc = NULL;
	natsStatus s;

	s = natsOptions_Create(&no);
	if (s == NATS_OK)
		s = set_options(no, o, url, k);
	if (s == NATS_OK)
		s = natsConnection_Connect(&nc, no);
	natsOptions_Destroy(no);
	if (s != NATS_OK) {
		/* A connection that never was does not call back. */
		link_free(k);
		return s;
	}
	*out = mem_zalloc(sizeof(**out));
	(*out)->nc = nc;
	(*out)->like = like;
	return NATS_OK;
}

/* With TLS one after the other: each has a name of its own to be checked. */
static natsStatus
open_any(const struct conn_conf *o, struct conn **out)
{
	natsStatus s = NATS_NO_SERVER;
	size_t n = (size_t)o->n_urls, i;

	if (!names_tls(o->urls[0]))
		return open_one(o, NULL, out);
	for (i = 0; i < n && s != NATS_OK; i++)
		s = open_one(o, o->urls[(o->gen + i) % n], out);
	return s;
}

enum rc
conn_open(const struct conn_conf *o, struct conn **out)
{
	static struct log_rate rate;
	int64_t missed;
	natsStatus s;

	s = open_any(o, out);
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
conn_close(struct conn *c)
{
	if (c == NULL)
		return;
	/* Closing a socket with unread bytes in it would reset it and could
	 * lose the last replies; behind a PONG nothing is left to lose. */
	if (natsConnection_Status(c->nc) == NATS_CONN_STATUS_CONNECTED)
		(void)natsConnection_FlushTimeout(c->nc, CLOSE_MS);
	natsConnection_Close(c->nc);
	natsConnection_Destroy(c->nc);
	free(c);
}

void
conn_break(struct conn *c)
{
	natsConnection_Close(c->nc);
}

/* ---- subscriptions ------------------------------------------------------ */

static natsSubscription *
sub_of(struct conn_sub *s)
{
	return (natsSubscription *)(void *)s;
}

enum rc
conn_subscribe(struct conn *c, const char *subject, const char *queue,
    struct bus_sub *s, struct conn_sub **out)
{
	struct link *k = link_new(&c->like, s);
	natsSubscription *ns = NULL;
	natsStatus st;

	if (queue == NULL)
		st = natsConnection_Subscribe(&ns, c->nc, subject, on_msg, k);
	else
		st = natsConnection_QueueSubscribe(
		    &ns, c->nc, subject, queue, on_msg, k);
	if (st != NATS_OK) {
		link_free(k);
		return RC_DOWN;
	}
	(void)natsSubscription_SetPendingLimits(
	    ns, PENDING_MSGS, PENDING_BYTES);
	/* This fails only if the connection broke since the call above.  The
	 * library then never says when it is done with the link, which is
	 * left to it, as s is until bus_free(). */
	(void)natsSubscription_SetOnCompleteCB(ns, on_sub_end, k);
	*out = (struct conn_sub *)(void *)ns;
	return RC_OK;
}

enum rc
conn_sub_drain(struct conn_sub *s)
{
	return natsSubscription_DrainTimeout(sub_of(s), DRAIN_MS) == NATS_OK
	    ? RC_OK
	    : RC_DOWN;
}

/*
 * The library's reading thread looks up whose a message is, lets go of the
 * lock and uses the subscription then, with no reference of its own.  If ours
 * were given back before that, it would use what is freed, and abort.
 */
void
conn_sub_end(struct conn_sub *s)
{
	/* It fails if the connection has ended, and s with it. */
	(void)natsSubscription_Unsubscribe(sub_of(s));
}

void
conn_sub_free(struct conn_sub *s)
{
	natsSubscription_Destroy(sub_of(s));
}

/* ---- messages ----------------------------------------------------------- */

static natsStatus
send_headers(struct conn *c, const struct conn_out *m)
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
conn_send(struct conn *c, const struct conn_out *m)
{
	natsStatus s;

	if (m->n_headers > 0)
		s = send_headers(c, m);
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
		/* After a write that stopped half-way the server would take
		 * the next message for the rest of this one. */
		if (!natsConnection_IsClosed(c->nc))
			log_warn("bus.send_failed",
			    LOG_S("status", natsStatus_GetText(s)));
		conn_break(c);
		return RC_DOWN;
	}
}

void
conn_event_free(struct bus_msg *m)
{
	natsMsg_Destroy(m->in);
	port_unref(m->port);
	free(m);
}

struct str
conn_msg_subject(const struct bus_msg *m)
{
	return str_of(natsMsg_GetSubject(m->in));
}

struct str
conn_msg_reply(const struct bus_msg *m)
{
	return str_of(natsMsg_GetReply(m->in));
}

struct str
conn_msg_data(const struct bus_msg *m)
{
	int n = natsMsg_GetDataLength(m->in);

	return n > 0 ? (struct str){ natsMsg_GetData(m->in), (size_t)n }
		     : STR("");
}

struct str
conn_msg_header(const struct bus_msg *m, const char *key)
{
	const char *value = NULL;

	if (natsMsgHeader_Get(m->in, key, &value) != NATS_OK)
		value = NULL;
	return str_of(value);
}

bool
conn_msg_unserved(const struct bus_msg *m)
{
	return natsMsg_IsNoResponders(m->in);
}
