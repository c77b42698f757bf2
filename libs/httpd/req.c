/*
 * The meeting point of a worker and the loop, and what a handler may read.
 */
#include "httpd/req.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "core/log.h"
#include "core/mem.h"

#define YIELDS 4 /* before a worker sleeps until its answer */
/* How often the client of a watched request is looked at; and a stream's. */
#define LOOK_MS        250
#define STREAM_LOOK_MS 1000
/* How long a full inbox is left alone. */
#define INBOX_MS 10

struct httpd_req *
req_new(void)
{
	struct httpd_req *r = mem_zalloc(sizeof(*r));
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&r->lock, NULL);
	r->refs = 1;
	buf_init(&r->body, HTTPD_BODY_MAX);
	buf_init(&r->out, HTTPD_RESPONSE_MAX);
	return r;
}

void
req_share(struct httpd_req *r)
{
	atomic_fetch_add(&r->refs, 1);
}

void
req_drop(struct httpd_req *r)
{
	if (atomic_fetch_sub(&r->refs, 1) > 1)
		return;
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	buf_free(&r->body);
	buf_free(&r->out);
	free(r->fields);
	free(r->text);
	free(r);
}

bool
req_left(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	bool left = r->left;
	pthread_mutex_unlock(&r->lock);
	return left;
}

enum rc
httpd_on_abort(struct httpd_req *r, void (*fn)(void *arg), void *arg)
{
	bool gone;

	pthread_mutex_lock(&r->lock);
	gone = r->left || r->closing;
	r->watched = !gone;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (gone)
		return RC_DOWN;
	r->gone = fn;
	r->gone_arg = arg;
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
req_end(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->ended = true;
	pthread_mutex_unlock(&r->lock);
	if (r->on_end != NULL)
		r->on_end(r->on_end_arg);
}

void
req_forget(struct httpd_req *r)
{
	r->gone = NULL;
}

/* On the loop, which alone touches r->gone. */
static void
on_gone(void *arg)
{
	struct httpd_req *r = arg;
	void (*fn)(void *arg) = r->gone;

	r->gone = NULL;
	if (fn != NULL) {
		log_trace_set(r->trace.trace_id);
		fn(r->gone_arg);
		log_trace_set("");
	}
	req_drop(r);
}

void
req_close(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->closing = true;
	pthread_cond_signal(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Wait for a change; false when the moment has come. */
static bool
wait_until(struct httpd_req *r, struct mono until)
{
	struct timespec ts = { .tv_sec = (time_t)(until.ns / 1000000000),
		.tv_nsec = (long)(until.ns % 1000000000) };

	return pthread_cond_timedwait(&r->changed, &r->lock, &ts) == 0;
}

/* A full inbox is tried again, unless the loop has stopped for good. */
void
req_tell_gone(struct httpd_req *r, struct loop *l)
{
	enum rc rc = RC_DOWN;

	pthread_mutex_lock(&r->lock);
	if (r->watched && r->state != REQ_ANSWERED && !r->closing) {
		r->watched = false;
		req_share(r);
		while (
		    (rc = loop_post(l, on_gone, r)) == RC_RETRY && !r->closing)
			wait_until(r, mono_add_ms(clock_mono(), INBOX_MS));
		if (rc != RC_OK)
			atomic_fetch_sub(&r->refs, 1);
	}
	pthread_mutex_unlock(&r->lock);
}

/* The sooner of a moment and the next look at the client. */
static struct mono
look_at(const struct httpd_req *r, struct mono until, int64_t ms)
{
	struct mono look = mono_add_ms(clock_mono(), ms);

	return r->watched && mono_diff_ns(look, until) < 0 ? look : until;
}

enum rc
req_wait(struct httpd_req *r, enum req_state *state)
{
	enum rc rc = RC_OK;

	/* A quick handler has answered before this thread would be asleep:
	 * letting it run costs less than to sleep and be woken by it. */
	for (int i = 0; i < YIELDS && !atomic_load(&r->settled); i++)
		sched_yield();
	pthread_mutex_lock(&r->lock);
	while (r->state == REQ_OPEN && !r->closing) {
		struct mono until = look_at(r, r->due, LOOK_MS);
		if (wait_until(r, until))
			continue;
		if (until.ns < r->due.ns && r->state == REQ_OPEN)
			rc = RC_RETRY;
		break;
	}
	*state = r->state;
	if (r->state == REQ_OPEN && rc == RC_OK) {
		rc = r->closing ? RC_DOWN : RC_TIMEOUT;
		r->left = true;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

void
req_leave(struct httpd_req *r)
{
	pthread_mutex_lock(&r->lock);
	r->left = true;
	pthread_mutex_unlock(&r->lock);
}

enum rc
req_stream_next(struct httpd_req *r, struct mono until, struct buf *chunk)
{
	enum rc rc = RC_OK;

	buf_reset(chunk);
	pthread_mutex_lock(&r->lock);
	while (r->out.n == 0 && r->state == REQ_STREAM && !r->closing &&
	    !r->over) {
		struct mono look = look_at(r, until, STREAM_LOOK_MS);
		if (wait_until(r, look))
			continue;
		rc = look.ns < until.ns ? RC_RETRY : RC_TIMEOUT;
		break;
	}
	if (r->closing || r->over) {
		rc = RC_DOWN;
	} else if (r->out.n > 0) {
		struct buf empty = *chunk;
		*chunk = r->out;
		r->out = empty;
		rc = RC_OK;
	} else if (r->state == REQ_ENDED) {
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
	return head_find(r->fields, r->nfields, str_of(name));
}

size_t
httpd_req_header_count(const struct httpd_req *r, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < r->nfields; i++)
		n += str_eq_nocase(r->fields[i].name, str_of(name));
	return n;
}

/* A browser names its page's origin as it names the host that it asks. */
static bool
is_own_origin(struct str origin, struct str host)
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
		    !is_own_origin(httpd_req_header(r, "Origin"),
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

struct wall
httpd_req_deadline(const struct httpd_req *r)
{
	return r->deadline;
}
