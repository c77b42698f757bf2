/*
 * The request between its worker and its handler: waiting, what a handler may
 * read.
 */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpd/httpd_internal.h"

/* ---- worker and handler ---- */

#define YIELDS 4 /* before a worker sleeps until the response */
/* Interval of polling the client of a request, and of a stream. */
#define POLL_MS        250
#define STREAM_POLL_MS 1000
/* After which time a full inbox is retried. */
#define INBOX_MS 10

/* How much memory an ended request may keep in each buffer for the next. */
#define SPARE_BYTES 65536

static struct httpd_req *
request_alloc(void)
{
	struct httpd_req *r = mem_zalloc(sizeof(*r));
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&r->lock, NULL);
	buf_init(&r->body, HTTPD_BODY_MAX);
	buf_init(&r->out, HTTPD_RESPONSE_MAX);
	buf_init(&r->sent, RESPONSE_JOINED_MAX);
	return r;
}

struct httpd_req *
request_new(struct httpd *h)
{
	struct httpd_req *r = spare_take(&h->spare);

	if (r == NULL)
		r = request_alloc();
	r->refs = 1;
	return r;
}

static void
request_free(struct httpd_req *r)
{
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	buf_free(&r->body);
	buf_free(&r->out);
	buf_free(&r->sent);
	free(r->fields);
	free(r->text);
	free(r);
}

/* Make r empty, as request_alloc() does. */
static void
request_reset(struct httpd_req *r)
{
	memset(r, 0, offsetof(struct httpd_req, lock));
	buf_reset(&r->out);
	buf_reset(&r->body);
	buf_reset(&r->sent);
	r->uri.nsegments = r->uri.npairs = 0;
}

void
request_end(struct httpd *h, struct httpd_req *r)
{
	if (atomic_fetch_sub(&r->refs, 1) > 1)
		return;
	if (r->out.cap <= SPARE_BYTES && r->body.cap <= SPARE_BYTES &&
	    r->sent.cap <= SPARE_BYTES) {
		request_reset(r);
		if (spare_put(&h->spare, r))
			return;
	}
	request_free(r);
}

void
request_free_spare(struct httpd *h)
{
	struct httpd_req *r;

	while ((r = spare_take(&h->spare)) != NULL)
		request_free(r);
}

void
request_ref(struct httpd_req *r)
{
	atomic_fetch_add(&r->refs, 1);
}

void
request_unref(struct httpd_req *r)
{
	if (atomic_fetch_sub(&r->refs, 1) == 1)
		request_free(r);
}

bool
request_is_abandoned(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	bool left = r->abandoned;
	pthread_mutex_unlock(&r->lock);
	return left;
}

enum rc
httpd_on_abort(struct httpd_req *r, void (*fn)(void *arg), void *arg)
{
	bool aborted;

	pthread_mutex_lock(&r->lock);
	aborted = r->abandoned || r->closing;
	r->abort_watched = !aborted;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (aborted)
		return RC_DOWN;
	r->on_abort = fn;
	r->on_abort_arg = arg;
	return RC_OK;
}

void
httpd_on_end(struct httpd_req *r, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&r->lock);
	bool ended = r->ended;
	if (!ended) {
		r->on_end = fn;
		r->on_end_arg = arg;
	}
	pthread_mutex_unlock(&r->lock);
	if (ended)
		fn(arg);
}

void
request_ended(struct httpd_req *r)
{
	/* With one reference, the handler has none and calls nothing. */
	if (atomic_load(&r->refs) > 1) {
		pthread_mutex_lock(&r->lock);
		r->ended = true;
		pthread_mutex_unlock(&r->lock);
	}
	if (r->on_end != NULL)
		r->on_end(r->on_end_arg);
}

void
request_clear_abort(struct httpd_req *r)
{
	r->on_abort = NULL;
}

/* On the loop, which alone touches r->on_abort. */
static void
request_run_abort(void *arg)
{
	struct httpd_req *r = arg;
	void (*fn)(void *arg) = r->on_abort;

	r->on_abort = NULL;
	if (fn != NULL) {
		log_trace_set(r->trace.trace_id);
		fn(r->on_abort_arg);
		log_trace_set("");
	}
	request_unref(r);
}

void
request_close(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->closing = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Wait for a change; false on time-out. */
static bool
request_wait_until(struct httpd_req *r, struct mono until)
{
	struct timespec ts = { .tv_sec = (time_t)(until.ns / 1000000000),
		.tv_nsec = (long)(until.ns % 1000000000) };

	return pthread_cond_timedwait(&r->changed, &r->lock, &ts) == 0;
}

/* A full inbox is retried, unless the loop has stopped. */
void
request_notify_abort(struct httpd_req *r, struct loop *l)
{
	enum rc rc = RC_DOWN;

	pthread_mutex_lock(&r->lock);
	if (r->abort_watched && r->state != REQUEST_RESPONDED && !r->closing) {
		r->abort_watched = false;
		request_ref(r);
		while ((rc = loop_post(l, request_run_abort, r)) == RC_RETRY &&
		    !r->closing)
			request_wait_until(
			    r, mono_add_ms(clock_mono(), INBOX_MS));
		if (rc != RC_OK)
			atomic_fetch_sub(&r->refs, 1);
	}
	pthread_mutex_unlock(&r->lock);
}

/* The earlier of until and the next poll of the client. */
static struct mono
request_next_poll(const struct httpd_req *r, struct mono until, int64_t ms)
{
	struct mono poll = mono_add_ms(clock_mono(), ms);

	return r->abort_watched && mono_diff_ns(poll, until) < 0 ? poll : until;
}

static int
request_seen(const struct httpd_req *r)
{
	return atomic_load_explicit(&r->seen, memory_order_acquire);
}

enum rc
request_wait(struct httpd_req *r, enum request_state *state)
{
	enum rc rc = RC_OK;

	/* A quick handler responds before this thread would be asleep: yielding
	 * to it costs less than to sleep and be woken. */
	for (int i = 0; i < YIELDS && request_seen(r) == REQUEST_OPEN; i++)
		sched_yield();
	/* It does not change any more. */
	if (request_seen(r) == REQUEST_RESPONDED) {
		*state = REQUEST_RESPONDED;
		return RC_OK;
	}
	pthread_mutex_lock(&r->lock);
	while (r->state == REQUEST_OPEN && !r->closing) {
		struct mono until = request_next_poll(r, r->due, POLL_MS);
		if (request_wait_until(r, until))
			continue;
		if (until.ns < r->due.ns && r->state == REQUEST_OPEN)
			rc = RC_RETRY;
		break;
	}
	*state = r->state;
	if (r->state == REQUEST_OPEN && rc == RC_OK) {
		rc = r->closing ? RC_DOWN : RC_TIMEOUT;
		r->abandoned = true;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void
request_abandon(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->abandoned = true;
	pthread_mutex_unlock(&r->lock);
}

enum rc
request_stream_next(struct httpd_req *r, struct mono until, struct buf *chunk)
{
	enum rc rc = RC_OK;

	buf_reset(chunk);
	pthread_mutex_lock(&r->lock);
	while (r->out.n == 0 && r->state == REQUEST_STREAM && !r->closing &&
	    !r->overflow) {
		struct mono poll = request_next_poll(r, until, STREAM_POLL_MS);
		if (request_wait_until(r, poll))
			continue;
		rc = poll.ns < until.ns ? RC_RETRY : RC_TIMEOUT;
		break;
	}
	if (r->closing || r->overflow) {
		rc = RC_DOWN;
	} else if (r->out.n > 0) {
		struct buf empty = *chunk;
		*chunk = r->out;
		r->out = empty;
		rc = RC_OK;
	} else if (r->state == REQUEST_ENDED) {
		rc = RC_NOENT;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

struct str
httpd_req_path(const struct httpd_req *r)
{
	return r->path;
}

struct str
httpd_req_body(const struct httpd_req *r)
{
	return buf_str(&r->body);
}

struct str
httpd_req_param(const struct httpd_req *r, size_t i)
{
	if (i >= r->match.nparams)
		return (struct str){ NULL, 0 };
	return r->match.params[i];
}

struct str
httpd_req_query(struct httpd_req *r, const char *name)
{
	return uri_query(&r->uri, str_of(name));
}

struct str
httpd_req_header(const struct httpd_req *r, const char *name)
{
	return header_find(r->fields, r->nfields, str_of(name));
}

size_t
httpd_req_header_count(const struct httpd_req *r, const char *name)
{
	return header_count(r->fields, r->nfields, str_of(name));
}

/* A browser writes the host of Origin and Host in the same way. */
static bool
request_is_own_origin(struct str origin, struct str host)
{
	int64_t at = str_find(origin, STR("://"));

	if (at < 0)
		return false;
	origin.p += at + 3;
	origin.n -= (size_t)at + 3;
	return host.n > 0 && str_eq_nocase(origin, host);
}

bool
httpd_req_is_cross_origin(const struct httpd_req *r)
{
	size_t origins = httpd_req_header_count(r, "Origin");

	if (r->allow_origin.p != NULL)
		return false;
	if (origins > 0)
		return origins > 1 ||
		    !request_is_own_origin(httpd_req_header(r, "Origin"),
			httpd_req_header(r, "Host"));
	return str_eq_nocase(
	    httpd_req_header(r, "Sec-Fetch-Site"), STR("cross-site"));
}

struct str
httpd_req_address(const struct httpd_req *r)
{
	return str_of(
	    r->client.text[0] != '\0' ? r->client.text : r->remote_addr);
}

const struct trace *
httpd_req_trace(const struct httpd_req *r)
{
	return &r->trace;
}

struct mono
httpd_req_start(const struct httpd_req *r)
{
	return r->start;
}

struct wall
httpd_req_deadline(const struct httpd_req *r)
{
	return r->deadline;
}
