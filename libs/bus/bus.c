/*
 * The life of a bus: connect, confirm, disconnect, reconnect, free.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus_internal.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 250
/* A connection that lasted this long resets the backoff. */
#define STABLE_MS  5000
#define CONFIRM_MS 3000
/* A silent server is noticed after 10 to 15 s. */
#define PING_MS   5000
#define PINGS_OUT 2

/* One attempt to connect, on the worker and back. */
struct connect_attempt {
	struct bus *bus;
	struct bus_conn_opts conf;
	struct bus_conn *conn;
	enum rc rc;
};

static void bus_connect_later(struct bus *b);
static const struct bus_conn_handler bus_conn_handler;

/* ---- confirming a connection ---- */

static void
bus_on_confirm_timeout(void *arg)
{
	struct bus *b = arg;

	log_warn("bus.confirm_timeout", LOG_I("ms", CONFIRM_MS));
	bus_conn_break(b->conn);
}

static enum rc
bus_attach_all(struct bus *b)
{
	struct bus_sub *s;
	enum rc rc;

	rc = bus_sub_attach(&b->inbox);
	TAILQ_FOREACH (s, &b->subs, link)
		if (rc == RC_OK && !b->draining)
			rc = bus_sub_attach(s);
	return rc;
}

/* Each connection has its own inbox, so that replies to requests of an earlier
 * one do not arrive. */
static void
bus_inbox_renew(struct bus *b)
{
	char all[BUS_INBOX_MAX + 1], hex[ID_HEX32_MAX];
	bool named = bus_token_valid(b->name);

	id_hex32(hex);
	(void)snprintf(b->inbox_prefix, sizeof(b->inbox_prefix),
	    "_INBOX.%s%s%s.", named ? b->name : "", named ? "." : "", hex);
	(void)snprintf(all, sizeof(all), "%s*", b->inbox_prefix);
	free(b->inbox.subject);
	b->inbox.subject = mem_strdup(all);
}

static void
bus_on_ping_timer(void *arg)
{
	struct bus *b = arg;

	if (b->silent_for >= PINGS_OUT) {
		log_warn("bus.silent",
		    LOG_I("ms", (int64_t)b->silent_for * PING_MS));
		bus_conn_break(b->conn);
		return;
	}
	if (bus_conn_ping(b->conn) != RC_OK) {
		bus_conn_break(b->conn);
		return;
	}
	b->pings++;
	b->silent_for++;
	loop_timer_set(b->loop, &b->ping_timer,
	    mono_add_ms(clock_mono(), PING_MS), bus_on_ping_timer, b);
}

static void
bus_conn_begin(struct bus *b, struct bus_conn *c)
{
	b->conn = c;
	b->state = BUS_CONFIRMING;
	b->since = clock_mono();
	b->pings = 1;
	b->pongs = 0;
	b->silent_for = 1;
	bus_conn_start(c, b->loop, &bus_conn_handler, b);
	bus_inbox_renew(b);
	loop_timer_set(b->loop, &b->retry, mono_add_ms(b->since, CONFIRM_MS),
	    bus_on_confirm_timeout, b);
	loop_timer_set(b->loop, &b->ping_timer, mono_add_ms(b->since, PING_MS),
	    bus_on_ping_timer, b);
	if (bus_attach_all(b) != RC_OK || bus_conn_ping(c) != RC_OK)
		bus_conn_break(c);
}

static void
bus_notify_state(struct bus *b, bool up)
{
	struct bus_listener *l;

	b->connections += up;
	TAILQ_FOREACH (l, &b->listeners, link)
		if (l->on_state != NULL)
			l->on_state(l, up);
	if (b->on_state != NULL)
		b->on_state(b->arg, up);
}

/* The first one confirms the subscriptions. */
static void
bus_on_pong(struct bus *b)
{
	b->pongs++;
	b->silent_for = 0;
	bus_pending_flushed(b);
	bus_drain_check(b);
	if (b->state != BUS_CONFIRMING)
		return;
	loop_timer_cancel(b->loop, &b->retry);
	b->state = BUS_UP;
	atomic_store(&b->up, true);
	metric_set(b->metric.connected, 1);
	if (b->been_up)
		metric_add(b->metric.reconnects, 1);
	b->been_up = true;
	bus_notify_state(b, true);
}

/* ---- connecting ---- */

static void
bus_on_end(struct bus *b)
{
	bool was_up = b->state == BUS_UP;

	atomic_store(&b->up, false);
	atomic_store(&b->silent, false);
	metric_set(b->metric.connected, 0);
	loop_timer_cancel(b->loop, &b->ping_timer);
	bus_subs_detach(b);
	bus_conn_close(b->conn);
	b->conn = NULL;
	b->drain_ping = 0;
	if (mono_diff_ms(clock_mono(), b->since) >= STABLE_MS)
		backoff_reset(&b->backoff);
	bus_connect_later(b);
	if (was_up)
		bus_notify_state(b, false);
	bus_pending_fail(b);
	bus_drain_check(b);
}

static void
bus_on_msg(struct bus *b, struct bus_sub *s, const struct bus_frame *f)
{
	struct bus_msg *m = bus_msg_new(b, f);

	metric_add(b->metric.received, 1);
	if (s->kind == SUB_INBOX)
		bus_pending_reply(b, m);
	else
		bus_sub_deliver(s, m);
}

static void
bus_on_denied(struct bus *b)
{
	metric_add(b->metric.denied, 1);
}

static const struct bus_conn_handler bus_conn_handler = { bus_on_msg,
	bus_on_pong, bus_on_denied, bus_on_end };

static void
connect_work(void *arg)
{
	struct connect_attempt *a = arg;

	a->rc = bus_conn_open(&a->conf, &a->conn);
}

static void
connect_done(void *arg)
{
	struct connect_attempt *a = arg;
	struct bus *b = a->bus;

	if (a->rc == RC_OK && !b->closing) {
		bus_conn_begin(b, a->conn);
	} else {
		bus_conn_close(a->conn);
		if (!b->closing)
			bus_connect_later(b);
	}
	free(a);
}

static void
bus_connect(void *arg)
{
	struct bus *b = arg;
	struct connect_attempt *a = mem_zalloc(sizeof(*a));

	b->state = BUS_CONNECTING;
	a->bus = b;
	a->conf = (struct bus_conn_opts){ .urls = b->urls,
		.n_urls = b->n_urls,
		.name = b->name,
		.user = b->user,
		.password = b->password,
		.ca_file = b->ca_file,
		.cert_file = b->cert_file,
		.key_file = b->key_file,
		.first = b->attempts++ };
	if (worker_run(b->opener, connect_work, connect_done, a) != RC_OK) {
		free(a);
		bus_connect_later(b);
	}
}

static void
bus_connect_later(struct bus *b)
{
	b->state = BUS_BACKOFF;
	loop_timer_set(b->loop, &b->retry,
	    mono_add_ms(clock_mono(), backoff_next_ms(&b->backoff)),
	    bus_connect, b);
}

/* ---- options, creation, end ---- */

static void
bus_metrics_init(struct bus_metrics *m, struct metric_set *s)
{
	m->connected = metric_gauge(
	    s, "soul_bus_connected", "Whether NATS is connected.", NULL);
	m->reconnects = metric_counter(s, "soul_bus_reconnects_total",
	    "Connections to NATS after the first.", NULL);
	m->published = metric_counter(s, "soul_bus_published_total",
	    "Messages sent: events, requests and replies.", NULL);
	m->received = metric_counter(s, "soul_bus_received_total",
	    "Messages received: events, requests and replies.", NULL);
	m->stale = metric_counter(s, "soul_bus_stale_total",
	    "Messages rejected because their deadline had passed.", NULL);
	m->denied = metric_counter(s, "soul_bus_denied_total",
	    "Messages and subscriptions that NATS did not permit.", NULL);
	m->resent = metric_counter(s, "soul_bus_asked_again_total",
	    "Requests sent a second time for lack of a reply.", NULL);
	m->inflight = metric_gauge(
	    s, "soul_bus_inflight", "Requests without a reply yet.", NULL);
}

static bool
bus_text_set(const char *s)
{
	return s != NULL && s[0] != '\0';
}

const char *
bus_opts_error(const struct bus_opts *o)
{
	char *urls[BUS_SERVERS_MAX];
	const char *error = NULL;
	int n;

	if (bus_servers_parse(o->url, urls, &n) != RC_OK)
		return "the URL must be nats://host:port or tls://host:port, "
		       "or up to 16 of one kind with commas between them";
	if (bus_text_set(o->cert_file) != bus_text_set(o->key_file))
		error = "a certificate needs its key, and a key its "
			"certificate";
	/* Files mean TLS; connecting without it would be a downgrade. */
	else if (!bus_url_is_tls(urls[0]) &&
	    (bus_text_set(o->ca_file) || bus_text_set(o->cert_file)))
		error = "files for TLS need a URL that begins with tls://";
	bus_servers_free(urls, n);
	return error;
}

static char *
bus_text_copy(const char *s)
{
	return bus_text_set(s) ? mem_strdup(s) : NULL;
}

static void
bus_free_texts(struct bus *b)
{
	bus_servers_free(b->urls, b->n_urls);
	free(b->name);
	free(b->user);
	free(b->password);
	free(b->ca_file);
	free(b->cert_file);
	free(b->key_file);
}

enum rc
bus_new(const struct bus_opts *o, struct bus **out)
{
	struct bus *b = mem_zalloc(sizeof(*b));
	enum rc rc;

	rc = bus_servers_parse(o->url, b->urls, &b->n_urls);
	if (rc == RC_OK && bus_opts_error(o) != NULL)
		rc = RC_INVALID;
	if (rc != RC_OK) {
		bus_free_texts(b);
		free(b);
		return rc;
	}
	b->ca_file = bus_text_copy(o->ca_file);
	b->cert_file = bus_text_copy(o->cert_file);
	b->key_file = bus_text_copy(o->key_file);
	b->loop = o->loop;
	b->opener = worker_new(o->loop, 1, 1);
	b->name = mem_strdup(o->name != NULL ? o->name : "");
	b->user = str_dup(str_of(o->user));
	b->password = str_dup(str_of(o->password));
	b->replicas = o->replicas > 0 ? o->replicas : 1;
	b->attempts = id_random_below((uint64_t)b->n_urls);
	b->on_state = o->on_state;
	b->on_no_cluster = o->on_no_cluster;
	b->arg = o->arg;
	b->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	bus_metrics_init(&b->metric, o->metrics);
	TAILQ_INIT(&b->subs);
	TAILQ_INIT(&b->listeners);
	TAILQ_INIT(&b->pending);
	TAILQ_INIT(&b->free_slots);
	b->inbox.bus = b;
	b->inbox.kind = SUB_INBOX;
	bus_connect(b);
	*out = b;
	return RC_OK;
}

void
bus_free(struct bus *b)
{
	struct bus_listener *l;

	if (b == NULL)
		return;
	b->closing = true;
	loop_timer_cancel(b->loop, &b->retry);
	loop_timer_cancel(b->loop, &b->ping_timer);
	loop_timer_cancel(b->loop, &b->drain_timer);
	worker_free(b->opener);
	bus_subs_detach(b);
	bus_conn_close(b->conn);
	b->conn = NULL;
	atomic_store(&b->up, false);
	metric_set(b->metric.connected, 0);
	bus_pending_fail(b);
	while ((l = TAILQ_FIRST(&b->listeners)) != NULL) {
		TAILQ_REMOVE(&b->listeners, l, link);
		l->on_free(l);
	}
	bus_subs_free(b);
	bus_pending_free(b);
	bus_free_texts(b);
	free(b);
}

uint64_t
bus_connections(const struct bus *b)
{
	return b->connections;
}

bool
bus_up(const struct bus *b)
{
	return atomic_load(&b->up);
}

void
bus_listener_add(struct bus *b, struct bus_listener *l)
{
	TAILQ_INSERT_TAIL(&b->listeners, l, link);
	if (b->state == BUS_UP && l->on_state != NULL)
		l->on_state(l, true);
}
