/*
 * The life of a bus: connect, greet, lose, connect again, free.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/internal.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 250
/* A connection that lasted this long was a good one. */
#define GOOD_MS     5000
#define GREETING_MS 3000

/* One try to connect, on the worker and back. */
struct attempt {
	struct bus *bus;
	struct conn_conf conf;
	struct conn *conn;
	enum rc rc;
};

static void open_later(struct bus *b);

/* ---- greeting ----------------------------------------------------------- */

static void
greeting_late(void *arg)
{
	struct bus *b = arg;

	log_warn("bus.greeting_late", LOG_I("ms", GREETING_MS));
	conn_break(b->conn);
}

/* Behind the subscriptions: once it is back, the server has taken them all. */
enum rc
bus_greet(struct bus *b)
{
	char subject[INBOX_MAX + 1];

	(void)snprintf(subject, sizeof(subject), "%s0", b->inbox_prefix);
	return bus_send(b, &(struct conn_out){ .subject = subject });
}

/* Put all subscriptions onto the new connection. */
static enum rc
subscribe_all(struct bus *b)
{
	struct bus_sub *s;
	enum rc rc;

	rc = bus_sub_put(&b->inbox);
	TAILQ_FOREACH (s, &b->subs, link)
		if (rc == RC_OK && !b->draining)
			rc = bus_sub_put(s);
	return rc;
}

/* The inbox is of this connection alone: what others answer to requests of an
 * earlier one does not even arrive. */
static void
inbox_renew(struct bus *b)
{
	char all[INBOX_MAX + 1], hex[ID_HEX32_MAX];
	bool named = names_token_ok(b->name);

	id_hex32(hex);
	(void)snprintf(b->inbox_prefix, sizeof(b->inbox_prefix),
	    "_INBOX.%s%s%s.", named ? b->name : "", named ? "." : "", hex);
	(void)snprintf(all, sizeof(all), "%s*", b->inbox_prefix);
	free(b->inbox.subject);
	b->inbox.subject = mem_strdup(all);
}

static void
begin(struct bus *b, struct conn *c)
{
	b->conn = c;
	b->state = BUS_GREETING;
	b->since = clock_mono();
	inbox_renew(b);
	loop_timer_set(b->loop, &b->retry, mono_add_ms(b->since, GREETING_MS),
	    greeting_late, b);
	if (subscribe_all(b) != RC_OK || bus_greet(b) != RC_OK)
		conn_break(c);
}

static void
tell(struct bus *b, bool up)
{
	struct bus_watcher *w;

	TAILQ_FOREACH (w, &b->watchers, link)
		if (w->on_state != NULL)
			w->on_state(w, up);
	if (b->on_state != NULL)
		b->on_state(b->arg, up);
}

void
bus_greeted(struct bus *b)
{
	if (b->state != BUS_GREETING) {
		bus_sub_passed(b);
		return;
	}
	loop_timer_cancel(b->loop, &b->retry);
	b->state = BUS_UP;
	atomic_store(&b->up, true);
	metric_set(b->metric.connected, 1);
	if (b->been_up)
		metric_add(b->metric.reconnects, 1);
	b->been_up = true;
	tell(b, true);
}

/* ---- connecting --------------------------------------------------------- */

static void
lose(struct bus *b)
{
	bool was_up = b->state == BUS_UP;

	atomic_store(&b->up, false);
	atomic_store(&b->silent, false);
	metric_set(b->metric.connected, 0);
	conn_close(b->conn);
	b->conn = NULL;
	bus_subs_lost(b);
	if (mono_diff_ms(clock_mono(), b->since) >= GOOD_MS)
		backoff_reset(&b->backoff);
	open_later(b);
	if (was_up)
		tell(b, false);
	bus_waiters_fail(b);
	bus_drain_check(b);
}

static void
on_event(void *arg)
{
	struct bus_msg *m = arg;
	struct bus *b = port_bus(m->port);

	if (b != NULL && m->event == CONN_MSG) {
		metric_add(b->metric.received, 1);
		m->bus = b;
		if (m->sub->kind == SUB_INBOX)
			bus_answered(b, m);
		else
			bus_sub_deliver(m->sub, m);
		return;
	}
	if (b != NULL && m->event == CONN_SUB_END)
		bus_sub_end(m->sub, m->gen);
	else if (b != NULL && m->event == CONN_SLOW)
		metric_add(b->metric.slow, 1);
	else if (b != NULL && m->event == CONN_DENIED)
		metric_add(b->metric.denied, 1);
	else if (b != NULL && m->event == CONN_CLOSED) {
		b->lost = m->gen;
		if (b->conn != NULL && m->gen == b->gen)
			lose(b);
	}
	conn_event_free(m);
}

static void
attempt_work(void *arg)
{
	struct attempt *a = arg;

	a->rc = conn_open(&a->conf, &a->conn);
}

static void
attempt_done(void *arg)
{
	struct attempt *a = arg;
	struct bus *b = a->bus;

	if (a->rc == RC_OK && !b->closing && b->lost != b->gen) {
		begin(b, a->conn);
	} else {
		conn_close(a->conn);
		if (!b->closing)
			open_later(b);
	}
	free(a);
}

static void
open_now(void *arg)
{
	struct bus *b = arg;
	struct attempt *a = mem_zalloc(sizeof(*a));

	b->state = BUS_OPENING;
	a->bus = b;
	a->conf = (struct conn_conf){ .urls = b->urls,
		.n_urls = b->n_urls,
		.name = b->name,
		.user = b->user,
		.password = b->password,
		.ca_file = b->ca_file,
		.cert_file = b->cert_file,
		.key_file = b->key_file,
		.buffered = b->buffered,
		.port = b->port,
		.gen = ++b->gen,
		.deliver = on_event };
	if (worker_run(b->opener, attempt_work, attempt_done, a) != RC_OK) {
		free(a);
		open_later(b);
	}
}

static void
open_later(struct bus *b)
{
	b->state = BUS_WAITING;
	loop_timer_set(b->loop, &b->retry,
	    mono_add_ms(clock_mono(), backoff_next_ms(&b->backoff)), open_now,
	    b);
}

/* ---- beginning and end -------------------------------------------------- */

static void
metrics_make(struct bus_metrics *m, struct metric_set *s)
{
	m->connected = metric_gauge(
	    s, "soul_bus_connected", "Whether NATS is connected.", NULL);
	m->reconnects = metric_counter(s, "soul_bus_reconnects_total",
	    "Connections to NATS after the first.", NULL);
	m->published = metric_counter(s, "soul_bus_published_total",
	    "Messages sent: events, requests and answers.", NULL);
	m->received = metric_counter(s, "soul_bus_received_total",
	    "Messages received: events, requests and answers.", NULL);
	m->stale = metric_counter(s, "soul_bus_stale_total",
	    "Messages refused because their deadline had passed.", NULL);
	m->slow = metric_counter(s, "soul_bus_slow_consumer_total",
	    "Times a subscription began to drop messages.", NULL);
	m->denied = metric_counter(s, "soul_bus_denied_total",
	    "Messages and subscriptions that NATS did not permit.", NULL);
	m->again = metric_counter(s, "soul_bus_asked_again_total",
	    "Requests sent once more because nobody answered.", NULL);
	m->inflight = metric_gauge(s, "soul_bus_inflight",
	    "Requests that wait for their answer.", NULL);
}

static bool
is_set(const char *s)
{
	return s != NULL && s[0] != '\0';
}

const char *
bus_opts_error(const struct bus_opts *o)
{
	char *urls[NAMES_SERVERS_MAX];
	const char *fault = NULL;
	int n;

	if (names_servers(o->url, urls, &n) != RC_OK)
		return "the URL must be nats://host:port or tls://host:port, "
		       "or up to 16 of one kind with commas between them";
	if (is_set(o->cert_file) != is_set(o->key_file))
		fault = "a certificate needs its key, and a key its "
			"certificate";
	/* Who gives files means TLS, and shall not get less. */
	else if (!names_tls(urls[0]) &&
	    (is_set(o->ca_file) || is_set(o->cert_file)))
		fault = "files for TLS need a URL that begins with tls://";
	names_servers_free(urls, n);
	return fault;
}

static char *
copy_of(const char *s)
{
	return is_set(s) ? mem_strdup(s) : NULL;
}

static void
free_texts(struct bus *b)
{
	names_servers_free(b->urls, b->n_urls);
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

	rc = names_servers(o->url, b->urls, &b->n_urls);
	if (rc == RC_OK && bus_opts_error(o) != NULL)
		rc = RC_INVALID;
	if (rc != RC_OK) {
		free_texts(b);
		free(b);
		return rc;
	}
	b->ca_file = copy_of(o->ca_file);
	b->cert_file = copy_of(o->cert_file);
	b->key_file = copy_of(o->key_file);
	b->loop = o->loop;
	b->port = port_new(o->loop, b);
	b->opener = worker_new(o->loop, 1, 1);
	b->name = mem_strdup(o->name != NULL ? o->name : "");
	b->user = str_dup(str_of(o->user));
	b->password = str_dup(str_of(o->password));
	b->buffered = o->buffered;
	b->replicas = o->replicas > 0 ? o->replicas : 1;
	b->on_state = o->on_state;
	b->on_no_cluster = o->on_no_cluster;
	b->arg = o->arg;
	b->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	metrics_make(&b->metric, o->metrics);
	TAILQ_INIT(&b->subs);
	TAILQ_INIT(&b->ended);
	TAILQ_INIT(&b->watchers);
	TAILQ_INIT(&b->waiting);
	TAILQ_INIT(&b->idle);
	b->inbox.bus = b;
	b->inbox.kind = SUB_INBOX;
	open_now(b);
	*out = b;
	return RC_OK;
}

void
bus_free(struct bus *b)
{
	struct bus_watcher *w;

	if (b == NULL)
		return;
	b->closing = true;
	port_close(b->port);
	loop_timer_cancel(b->loop, &b->retry);
	loop_timer_cancel(b->loop, &b->drain_timer);
	worker_free(b->opener);
	conn_close(b->conn);
	b->conn = NULL;
	bus_subs_lost(b);
	atomic_store(&b->up, false);
	metric_set(b->metric.connected, 0);
	bus_waiters_fail(b);
	while ((w = TAILQ_FIRST(&b->watchers)) != NULL) {
		TAILQ_REMOVE(&b->watchers, w, link);
		w->on_free(w);
	}
	bus_subs_free(b);
	bus_waiters_free(b);
	port_unref(b->port);
	free_texts(b);
	free(b);
}

bool
bus_up(const struct bus *b)
{
	return atomic_load(&b->up);
}

void
bus_watch(struct bus *b, struct bus_watcher *w)
{
	TAILQ_INSERT_TAIL(&b->watchers, w, link);
	if (b->state == BUS_UP && w->on_state != NULL)
		w->on_state(w, true);
}
