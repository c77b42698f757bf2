/*
 * The queue and its one active request.  Spans are queued as encoded JSON; a
 * batch stays at the front of the queue until its request has succeeded or
 * failed, so a retry sends the same bytes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "core/url.h"
#include "httpc/httpc.h"
#include "otlp/otlp.h"
#include "otlp/otlp_internal.h"

#define INTERVAL_MS 2000
#define TIMEOUT_MS  10000
#define RETRY_MS    1000
/* Longest wait before a retry: by back-off, and by Retry-After. */
#define RETRY_MAX_MS       30000
#define RETRY_AFTER_MAX_MS 300000
#define RESPONSE_MAX       (64 * 1024)
#define LOG_EVERY_S        60
/* The wall clock has millisecond resolution. */
#define ANCHOR_SLACK_NS INT64_C(2000000)

/* How a span left the queue. */
enum span_end { SENT, REJECTED, FAILED, GIVEN_UP, QUEUE_FULL, STOPPED, END_N };

static const char *const span_end_names[END_N] = { "sent", "rejected",
	"refused", "given_up", "queue_full", "stopped" };

struct otlp {
	struct loop *loop;
	struct httpc *http;
	struct httpc_call *call; /* the active request, or NULL */
	char *url;
	struct otlp_headers headers;
	int64_t interval_ms, timeout_ms;
	struct buf head;                /* of each request */
	struct buf body;                /* of the request being made */
	struct buf one;                 /* the span being queued */
	struct buf spans;               /* those queued, a comma after each */
	uint32_t len[OTLP_QUEUE_SPANS]; /* of each; a ring */
	size_t first, n;
	size_t batch, batch_bytes; /* of the first: being sent */
	unsigned tries;            /* of the batch */
	struct backoff backoff;
	struct mono not_before; /* by Retry-After */
	bool backing_off;       /* the timer is of a retry */
	struct loop_timer timer;
	bool flushing;
	struct mono flush_by;
	int64_t anchor_ns; /* the wall clock minus the monotonic one */
	struct log_rate log_lost, log_partial;
	struct metric *ends[END_N];
	struct metric *waiting;
};

/* ---- the queue ---- */

static void
otlp_count(struct otlp *o, enum span_end end, size_t n)
{
	metric_add(o->ends[end], (int64_t)n);
}

/* Choose how many of the first spans go into one request. */
static void
batch_select(struct otlp *o)
{
	size_t n = 0, bytes = 0;

	while (n < o->n && n < OTLP_BATCH_SPANS) {
		size_t len = o->len[(o->first + n) % OTLP_QUEUE_SPANS];
		if (n > 0 && bytes + len > OTLP_BATCH_BYTES)
			break;
		bytes += len;
		n++;
	}
	o->batch = n;
	o->batch_bytes = bytes;
}

static void
batch_remove(struct otlp *o)
{
	buf_drop(&o->spans, o->batch_bytes);
	o->first = (o->first + o->batch) % OTLP_QUEUE_SPANS;
	o->n -= o->batch;
	metric_set(o->waiting, (int64_t)o->n);
	o->batch = 0;
	o->batch_bytes = 0;
	o->tries = 0;
}

static bool
batch_is_full(const struct otlp *o)
{
	return o->n >= OTLP_BATCH_SPANS || o->spans.n >= OTLP_BATCH_BYTES;
}

/* ---- sending ---- */

static void otlp_on_timer(void *arg);

static void
otlp_set_timer(struct otlp *o, int64_t ms)
{
	loop_timer_set(o->loop, &o->timer, mono_add_ms(clock_mono(), ms),
	    otlp_on_timer, o);
}

static void
batch_drop(struct otlp *o, enum span_end end, enum rc rc,
    const struct httpc_response *response)
{
	int64_t missed;

	otlp_count(o, end, o->batch);
	if (log_every(&o->log_lost, LOG_EVERY_S, &missed))
		log_warn("otlp.lost", LOG_S("how", span_end_names[end]),
		    LOG_I("spans", o->batch), LOG_RC(rc),
		    LOG_I("status", response->status),
		    LOG_S("why", response->why), LOG_I("missed", missed));
	batch_remove(o);
}

static void
batch_accepted(struct otlp *o, const struct otlp_response *a)
{
	int64_t missed;

	if ((a->rejected > 0 || a->text[0] != '\0') &&
	    log_every(&o->log_partial, LOG_EVERY_S, &missed))
		log_warn("otlp.partial_success", LOG_I("rejected", a->rejected),
		    LOG_S("why", a->text), LOG_I("missed", missed));
	otlp_count(o, REJECTED, a->rejected);
	otlp_count(o, SENT, o->batch - a->rejected);
	backoff_reset(&o->backoff);
	batch_remove(o);
}

/* The next batch waits, too, since it would probably fail as well. */
static void
batch_retry_later(
    struct otlp *o, enum rc rc, const struct httpc_response *response)
{
	int64_t ms = backoff_next_ms(&o->backoff);
	int64_t wanted = response->retry_after_ms;

	o->not_before = (struct mono){ 0 };
	if (wanted > ms) {
		ms = wanted < RETRY_AFTER_MAX_MS ? wanted : RETRY_AFTER_MAX_MS;
		o->not_before = mono_add_ms(clock_mono(), ms);
	}
	if (++o->tries >= OTLP_TRIES)
		batch_drop(o, GIVEN_UP, rc, response);
	o->backing_off = true;
	otlp_set_timer(o, ms);
}

static void otlp_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response);

static void
batch_send(struct otlp *o)
{
	loop_timer_cancel(o->loop, &o->timer);
	if (o->batch == 0)
		batch_select(o);
	buf_reset(&o->body);
	buf_put_str(&o->body, buf_str(&o->head));
	buf_put(&o->body, o->spans.p, o->batch_bytes - 1);
	buf_puts(&o->body, OTLP_TAIL);
	enum rc rc = httpc_start(o->http,
	    &(struct httpc_request){ .method = "POST",
		.url = o->url,
		.headers = (const char *const *)o->headers.line,
		.nheaders = o->headers.n,
		.body = buf_str(&o->body),
		.deadline = { clock_wall().ms + o->timeout_ms },
		.body_max = RESPONSE_MAX,
		.on_done = otlp_on_done,
		.arg = o },
	    &o->call);
	if (rc == RC_OK)
		return;
	o->call = NULL;
	batch_drop(o, FAILED, rc,
	    &(struct httpc_response){ .why = "no request can be made of it" });
}

/* Send what is due; a batch that no request can be made of is dropped. */
static void
otlp_send_due(struct otlp *o)
{
	while (o->call == NULL && !o->backing_off && o->n > 0 &&
	    (o->flushing || batch_is_full(o)))
		batch_send(o);
	if (o->call == NULL && o->n > 0 && o->timer.pos == 0)
		otlp_set_timer(o, o->interval_ms);
}

/* Nothing is left, or it cannot be sent in time. */
static bool
otlp_flush_done(const struct otlp *o)
{
	return o->n == 0 || mono_diff_ns(o->flush_by, clock_mono()) <= 0 ||
	    (o->backing_off && mono_diff_ns(o->timer.at, o->flush_by) > 0);
}

static void
otlp_continue(struct otlp *o)
{
	otlp_send_due(o);
	if (o->flushing && otlp_flush_done(o))
		loop_stop(o->loop);
}

static void
otlp_on_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *response)
{
	struct otlp *o = arg;
	struct otlp_response a;

	(void)call;
	o->call = NULL;
	otlp_response_parse(rc, response->status, response->body, o->batch, &a);
	if (a.fate == OTLP_ACCEPTED)
		batch_accepted(o, &a);
	else if (a.fate == OTLP_RETRY)
		batch_retry_later(o, rc, response);
	else
		batch_drop(o, FAILED, rc, response);
	otlp_continue(o);
}

static void
otlp_on_timer(void *arg)
{
	struct otlp *o = arg;

	o->backing_off = false;
	if (o->n > 0)
		batch_send(o);
	otlp_continue(o);
}

/* ---- interface ---- */

static void
otlp_make_metrics(struct otlp *o, struct metric_set *set)
{
	char labels[32];

	for (size_t i = 0; i < END_N; i++) {
		(void)snprintf(
		    labels, sizeof(labels), "result=\"%s\"", span_end_names[i]);
		o->ends[i] = metric_counter(set, "soul_otlp_spans_total",
		    "Spans of traces that left the queue, by result.", labels);
	}
	o->waiting = metric_gauge(
	    set, "soul_otlp_waiting", "Spans of traces in the queue.", NULL);
}

static struct str
otlp_str_or_absent(const char *s)
{
	struct str none = { NULL, 0 };

	return s != NULL && s[0] != '\0' ? str_of(s) : none;
}

static void
otlp_make_head(struct otlp *o, const struct otlp_opts *opts)
{
	char uuid[ID_UUID_MAX];
	struct otlp_resource r = { .service = otlp_str_or_absent(
				       opts->conf->service_name),
		.version = otlp_str_or_absent(opts->version),
		.instance = otlp_str_or_absent(opts->instance) };

	if (r.instance.p == NULL) {
		id_uuid(uuid);
		r.instance = str_of(uuid);
	}
	buf_init(&o->head, OTLP_HEAD_MAX);
	otlp_encode_head(&r, &o->head);
}

static int64_t
otlp_or_default(int64_t v, int64_t dflt)
{
	return v > 0 ? v : dflt;
}

const char *
otlp_conf_error(const struct otlp_conf *conf)
{
	struct otlp_headers headers = { .n = 0 };
	const char *why = NULL;
	char *url;

	/* Without an endpoint the headers are not used. */
	if (otlp_target_url(conf, &url, &why) == RC_OK && url != NULL &&
	    otlp_target_headers(conf->headers, &headers, &why) == RC_OK)
		why = NULL;
	otlp_headers_free(&headers);
	free(url);
	return why;
}

enum rc
otlp_new(const struct otlp_opts *opts, struct otlp **out, const char **why)
{
	struct otlp_headers headers = { .n = 0 };
	char *url;

	*out = NULL;
	enum rc rc = otlp_target_url(opts->conf, &url, why);
	if (rc != RC_OK || url == NULL)
		return rc;
	rc = otlp_target_headers(opts->conf->headers, &headers, why);
	if (rc != RC_OK) {
		otlp_headers_free(&headers);
		free(url);
		return rc;
	}
	struct otlp *o = mem_zalloc(sizeof(*o));
	o->loop = opts->loop;
	o->url = url;
	o->headers = headers;
	o->interval_ms = otlp_or_default(opts->interval_ms, INTERVAL_MS);
	o->timeout_ms = otlp_or_default(opts->timeout_ms, TIMEOUT_MS);
	o->backoff.min_ms = otlp_or_default(opts->retry_ms, RETRY_MS);
	o->backoff.max_ms = RETRY_MAX_MS;
	otlp_make_head(o, opts);
	buf_init(&o->one, OTLP_SPAN_MAX + 1);
	buf_init(&o->spans, OTLP_QUEUE_BYTES);
	buf_init(
	    &o->body, OTLP_HEAD_MAX + OTLP_BATCH_BYTES + sizeof(OTLP_TAIL));
	otlp_make_metrics(o, opts->metrics);
	o->http = httpc_new(&(struct httpc_opts){ .loop = o->loop,
	    .peer = "otlp",
	    .active_max = 1,
	    .queue_max = 1,
	    .metrics = opts->metrics });
	*out = o;
	return RC_OK;
}

static void
otlp_stop_loop(void *arg)
{
	loop_stop(arg);
}

void
otlp_flush(struct otlp *o, int64_t ms)
{
	struct loop_timer end = { .pos = 0 };

	if (o == NULL || o->n == 0)
		return;
	o->flushing = true;
	o->flush_by = mono_add_ms(clock_mono(), ms);
	if (mono_diff_ns(o->not_before, clock_mono()) <= 0)
		o->backing_off = false;
	otlp_send_due(o);
	loop_timer_set(o->loop, &end, o->flush_by, otlp_stop_loop, o->loop);
	/* The loop may be stopped by others, too. */
	while (!otlp_flush_done(o))
		loop_run(o->loop);
	loop_timer_cancel(o->loop, &end);
	o->flushing = false;
}

void
otlp_free(struct otlp *o)
{
	if (o == NULL)
		return;
	if (o->call != NULL)
		httpc_cancel(o->call);
	loop_timer_cancel(o->loop, &o->timer);
	if (o->n > 0)
		log_warn("otlp.lost", LOG_S("how", span_end_names[STOPPED]),
		    LOG_I("spans", o->n));
	otlp_count(o, STOPPED, o->n);
	metric_set(o->waiting, 0);
	httpc_free(o->http);
	otlp_headers_free(&o->headers);
	buf_free(&o->head);
	buf_free(&o->body);
	buf_free(&o->one);
	buf_free(&o->spans);
	free(o->url);
	free(o);
}

bool
otlp_wants(const struct otlp *o, const struct trace *t)
{
	return o != NULL && (t->flags & TRACE_SAMPLED) != 0;
}

int64_t
otlp_unix_ns(struct otlp *o, struct mono at)
{
	if (o == NULL)
		return 0;
	struct mono before = clock_mono();
	int64_t anchor = clock_wall().ms * 1000000 - before.ns;
	int64_t off = anchor - o->anchor_ns;
	bool moved = off > ANCHOR_SLACK_NS || off < -ANCHOR_SLACK_NS;
	/* Ignore the pair if this thread was preempted between the reads. */
	if (o->anchor_ns == 0 ||
	    (moved && mono_diff_ns(clock_mono(), before) < ANCHOR_SLACK_NS / 2))
		o->anchor_ns = anchor;
	return o->anchor_ns + at.ns;
}

static void
otlp_drop_span(struct otlp *o)
{
	int64_t missed;

	otlp_count(o, QUEUE_FULL, 1);
	if (log_every(&o->log_lost, LOG_EVERY_S, &missed))
		log_warn("otlp.lost", LOG_S("how", span_end_names[QUEUE_FULL]),
		    LOG_I("spans", 1), LOG_I("missed", missed));
}

void
otlp_span(struct otlp *o, const struct otlp_span *span)
{
	if (!otlp_wants(o, span->trace))
		return;
	if (o->n == OTLP_QUEUE_SPANS) {
		otlp_drop_span(o);
		return;
	}
	buf_reset(&o->one);
	otlp_encode_span(span, &o->one);
	buf_putc(&o->one, ',');
	if (o->spans.n + o->one.n > OTLP_QUEUE_BYTES) {
		otlp_drop_span(o);
		return;
	}
	o->len[(o->first + o->n) % OTLP_QUEUE_SPANS] = (uint32_t)o->one.n;
	buf_put_str(&o->spans, buf_str(&o->one));
	metric_set(o->waiting, (int64_t)++o->n);
	otlp_send_due(o);
}

/* ---- endpoint and headers ---- */

#define URL_MAX   1024
#define NAME_MAX  128
#define VALUE_MAX 8192

/* Characters of a header's name (RFC 9110). */
#define TOKEN                        \
	"!#$%&'*+-.^_`|~0123456789"  \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool
target_is_set(const char *s)
{
	return s != NULL && s[0] != '\0';
}

static enum rc
target_check(const char *url, const char **why)
{
	struct url u;

	if (url_parse(str_of(url), &u, why) != RC_OK)
		return RC_INVALID;
	if (strcmp(u.scheme, "http") == 0 || strcmp(u.scheme, "https") == 0)
		return RC_OK;
	*why = "the scheme is neither http nor https";
	return RC_INVALID;
}

enum rc
otlp_target_url(const struct otlp_conf *conf, char **url, const char **why)
{
	struct buf b = BUF_INIT(URL_MAX);
	struct str base = str_of(conf->endpoint);

	*url = NULL;
	if (target_is_set(conf->traces_endpoint)) {
		buf_puts(&b, conf->traces_endpoint);
	} else if (target_is_set(conf->endpoint)) {
		while (base.n > 0 && base.p[base.n - 1] == '/')
			base.n--;
		buf_put_str(&b, base);
		buf_puts(&b, "/v1/traces");
	} else {
		return RC_OK;
	}
	enum rc rc = buf_rc(&b);
	if (rc == RC_OK)
		rc = target_check(b.p, why);
	else
		*why = "the endpoint is too long";
	if (rc == RC_OK)
		*url = str_dup(buf_str(&b));
	buf_free(&b);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}

static bool
header_is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '\0' || strchr(TOKEN, s.p[i]) == NULL)
			return false;
	return s.n > 0;
}

/* "name=value" as a header line on the heap; NULL with *why set. */
static char *
header_parse(struct str pair, const char **why)
{
	struct str name = str_trim(str_split(&pair, '='));
	struct str escaped = str_trim(pair);
	struct buf b = BUF_INIT(NAME_MAX + VALUE_MAX + 2);
	char value[VALUE_MAX];
	char *line = NULL;

	*why = NULL;
	if (!header_is_token(name) || name.n > NAME_MAX)
		*why = "a header's name is not one";
	else if (escaped.n == 0)
		*why = "a header has no value";
	else if (url_unescape(escaped, value, sizeof(value)) != RC_OK)
		*why = "a header's value is badly escaped or too long";
	if (*why == NULL) {
		buf_put_str(&b, name);
		buf_puts(&b, ": ");
		buf_puts(&b, value);
		line = str_dup(buf_str(&b));
	}
	buf_free(&b);
	return line;
}

enum rc
otlp_target_headers(const char *text, struct otlp_headers *h, const char **why)
{
	struct str rest = str_of(text);

	while (rest.p != NULL) {
		struct str pair = str_trim(str_split(&rest, ','));
		if (pair.n == 0)
			continue;
		if (h->n == OTLP_HEADERS_MAX) {
			*why = "there are too many headers";
			return RC_INVALID;
		}
		char *line = header_parse(pair, why);
		if (line == NULL)
			return RC_INVALID;
		h->line[h->n++] = line;
	}
	return RC_OK;
}

void
otlp_headers_free(struct otlp_headers *h)
{
	while (h->n > 0)
		free(h->line[--h->n]);
}
