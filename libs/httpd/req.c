/*
 * The meeting point of a worker and the loop, and what a handler may read.
 */
#include "httpd/req.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"

#define YIELDS 4 /* before a worker sleeps until its answer */

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
	buf_init(&r->out, HTTPD_ANSWER_MAX);
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

enum rc
req_wait(struct httpd_req *r, enum req_state *state)
{
	enum rc rc = RC_OK;

	/* A quick handler has answered before this thread would be asleep:
	 * letting it run costs less than to sleep and be woken by it. */
	for (int i = 0; i < YIELDS && !atomic_load(&r->settled); i++)
		sched_yield();
	pthread_mutex_lock(&r->lock);
	while (r->state == REQ_OPEN && !r->closing)
		if (!wait_until(r, r->due))
			break;
	*state = r->state;
	if (r->state == REQ_OPEN) {
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
	while (
	    r->out.n == 0 && r->state == REQ_STREAM && !r->closing && !r->over)
		if (!wait_until(r, until)) {
			rc = RC_TIMEOUT;
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
