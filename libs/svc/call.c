/*
 * One request from its arrival over NATS or HTTP to its answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "svc/call.h"
#include "svc/guard.h"
#include "svc/internal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Ended calls whose memory is kept for the next ones. */
#define SPARE_MAX 64
/* A larger body takes the loop too long to decode: some ms for 64 KiB. */
#define DECODE_HERE_MAX ((size_t)16 * 1024)

/* What a decoder found. */
struct call_decoded {
	enum rc rc;
	struct wire_err err;
	int64_t ns; /* processor time */
};

static struct svc_call *
call_new(struct svc_lane *lane)
{
	struct svc *s = lane->svc;
	struct svc_call *c = TAILQ_FIRST(&s->spare);

	if (c != NULL) {
		TAILQ_REMOVE(&s->spare, c, link);
		s->nspare--;
		arena_reset(c->arena);
	} else {
		c = mem_zalloc(sizeof(*c));
		c->arena = arena_new(WIRE_ARENA_MAX);
	}
	c->lane = lane;
	c->msg = NULL;
	c->http = NULL;
	c->request = NULL;
	c->decoded = NULL;
	c->streaming = false;
	c->known = false;
	c->watch = NULL;
	c->start = clock_mono();
	TAILQ_INSERT_TAIL(&s->open, c, link);
	s->nopen++;
	return c;
}

static void
call_count(struct svc_call *c, enum rc rc, const char *text)
{
	struct svc_lane *lane = c->lane;
	int64_t ns = mono_diff_ns(clock_mono(), c->start);

	metric_add(lane->by_rc[rc], 1);
	metric_observe(lane->seconds, (double)ns / 1e9);
	if (c->msg == NULL)
		return;
	lane->endpoint->requests++;
	lane->endpoint->busy_ns += ns;
	if (rc != RC_OK) {
		lane->endpoint->errors++;
		str_copy(str_of(text), lane->endpoint->last_error,
		    sizeof(lane->endpoint->last_error));
	}
}

static void
call_free(struct svc_call *c)
{
	struct svc *s = c->lane->svc;

	guard_leave(c);
	TAILQ_REMOVE(&s->open, c, link);
	s->nopen--;
	if (s->nspare < SPARE_MAX) {
		TAILQ_INSERT_HEAD(&s->spare, c, link);
		s->nspare++;
	} else {
		arena_free(c->arena);
		free(c);
	}
	log_trace_set("");
	svc_drain_step(s);
}

/* How a call ended; text is NULL unless it failed. */
struct outcome {
	enum rc rc;
	int status;
	const char *text;
};

/*
 * Count the call, answer it whatever way it came, and end it.  Counted first,
 * so that whoever has the answer finds it in the metrics.
 */
static void
call_end(struct svc_call *c, struct outcome o, struct str body)
{
	enum rc sent = RC_OK;

	call_count(c, o.rc, o.text);
	if (c->streaming)
		httpd_stream_end(c->http);
	else if (c->http != NULL)
		httpd_respond(c->http, o.status, "application/json", body);
	else if (!bus_msg_wants_reply(c->msg))
		bus_msg_free(c->msg);
	else if (o.rc == RC_OK)
		sent = bus_reply(c->msg, body);
	else
		sent = bus_reply_error(c->msg, o.rc, body);
	if (sent != RC_OK)
		log_debug("svc.reply_lost",
		    LOG_S("route", c->lane->route->name), LOG_RC(sent));
	call_free(c);
}

static void
call_fail(
    struct svc_call *c, struct outcome o, const char *code, const char *reason)
{
	struct wire_error msg = { .error = str_of(o.text),
		.code = str_of(code),
		.reason = str_of(reason),
		.trace_id = str_of(c->trace.trace_id) };
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;

	if (wire_encode(&wire_error_desc, &msg, &out, &err) != RC_OK)
		log_error("svc.error_invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	call_end(c, o, buf_str(&out));
	buf_free(&out);
}

void
svc_fail(struct svc_call *c, enum rc rc, const char *text)
{
	call_fail(c, (struct outcome){ rc, rc_http_status(rc), text },
	    rc_name(rc), NULL);
}

/* The code that stands for a status in metrics and over NATS. */
static enum rc
rc_of(int status)
{
	int rc;

	if (status == 429)
		return RC_RETRY;
	if (status == 401)
		return RC_DENIED;
	for (rc = RC_OK + 1; rc < RC_N; rc++) {
		if (rc_http_status((enum rc)rc) == status)
			return (enum rc)rc;
	}
	return status >= 500 ? RC_DOWN : RC_INVALID;
}

void
svc_fail_because(
    struct svc_call *c, const struct svc_error *e, const char *reason)
{
	call_fail(c, (struct outcome){ rc_of(e->status), e->status, e->text },
	    e->code, reason);
}

struct httpd_req *
svc_call_http(struct svc_call *c)
{
	return c->http;
}

void
svc_call_streams(struct svc_call *c)
{
	c->streaming = true;
}

void
svc_stream_end(struct svc_call *c, enum rc rc)
{
	call_end(c, (struct outcome){ rc, rc_http_status(rc), rc_name(rc) },
	    (struct str){ NULL, 0 });
}

/* A message of ours that breaks its schema is a bug; it is not sent. */
static enum rc
reply_encode(const struct svc_call *c, const void *msg, struct buf *out)
{
	const struct svc_route *r = c->lane->route;
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(r->reply, msg, out, &err);
	if (rc != RC_OK)
		log_error("svc.reply_invalid", LOG_S("route", r->name),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	return rc;
}

void
svc_progress(struct svc_call *c, const void *msg)
{
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	if (c->msg == NULL || !bus_msg_wants_reply(c->msg))
		return;
	rc = reply_encode(c, msg, &out);
	if (rc == RC_OK)
		rc = bus_reply_partial(c->msg, buf_str(&out));
	if (rc != RC_OK)
		log_debug("svc.progress_lost",
		    LOG_S("route", c->lane->route->name), LOG_RC(rc));
	buf_free(&out);
}

void
svc_reply(struct svc_call *c, const void *msg)
{
	struct buf out =
	    BUF_INIT(c->http != NULL ? HTTPD_RESPONSE_MAX : WIRE_MESSAGE_MAX);

	if (reply_encode(c, msg, &out) != RC_OK) {
		buf_free(&out);
		svc_fail(c, RC_BUG, "the answer could not be written");
		return;
	}
	call_end(c, (struct outcome){ RC_OK, 200, NULL }, buf_str(&out));
	buf_free(&out);
}

/*
 * The protocol's words for what is wrong, or ours.  What is over a ceiling may
 * well be JSON.
 */
static void
refuse_request(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	const struct svc_route *r = c->lane->route;
	bool absent = strcmp(err->why, WIRE_WHY_MISSING) == 0 ||
	    strcmp(err->why, WIRE_WHY_EMPTY) == 0;
	char text[WIRE_ERR_TEXT_MAX];
	size_t i;

	for (i = 0; i < r->ntexts; i++) {
		if (strcmp(r->texts[i].path, err->path) == 0 &&
		    (absent || (err->path[0] == '\0' && rc == RC_INVALID))) {
			svc_fail(c, rc, r->texts[i].text);
			return;
		}
	}
	wire_err_text(err, text, sizeof(text));
	svc_fail(c, rc, text);
}

/* A POST that asks for nothing needs no body. */
static enum rc
read_request(struct svc_call *c, struct wire_err *err)
{
	const struct svc_route *r = c->lane->route;
	struct str body = svc_call_body(c);

	c->request = arena_alloc(c->arena, wire_desc_size(r->request));
	if (c->http != NULL && body.n == 0 && strcmp(r->method, "POST") == 0 &&
	    wire_decode(r->request, STR("{}"), c->arena, c->request, err) ==
		RC_OK)
		return RC_OK;
	return wire_decode(r->request, body, c->arena, c->request, err);
}

static void
serve(struct svc_call *c, struct guard_bill *bill)
{
	const struct svc_route *r = c->lane->route;
	struct wire_err err;
	enum rc rc;

	log_trace_set(c->trace.trace_id);
	if (r->request != NULL) {
		if (c->decoded != NULL) {
			rc = c->decoded->rc;
			err = c->decoded->err;
		} else {
			rc = read_request(c, &err);
		}
		if (rc != RC_OK) {
			refuse_request(c, rc, &err);
			return;
		}
		if (!guard_checks_request(c))
			return;
		guard_bill_body(bill, c);
	}
	r->fn(c->lane->svc->app, c);
	log_trace_set("");
}

static void
serve_billed(struct svc_call *c)
{
	struct guard_bill bill;

	guard_bill_begin(&bill, c, c->decoded != NULL ? c->decoded->ns : 0);
	serve(c, &bill);
	guard_bill_end(&bill);
}

/* On a decoder's thread: only c is touched, which nobody else does now. */
static void
decode(void *arg)
{
	struct svc_call *c = arg;
	struct call_decoded *d = c->decoded;
	int64_t began = guard_thread_ns();

	d->rc = read_request(c, &d->err);
	d->ns = guard_thread_ns() - began;
}

static void
on_decoded(void *arg)
{
	struct svc_call *c = arg;

	if (clock_wall().ms < c->deadline.ms)
		serve_billed(c);
	else
		/* Nobody waits any more for what would be done now. */
		svc_fail(c, RC_TIMEOUT, "deadline exceeded");
}

static void
decode_elsewhere(struct svc_call *c)
{
	enum rc rc;

	c->decoded = arena_alloc(c->arena, sizeof(*c->decoded));
	*c->decoded = (struct call_decoded){ .rc = RC_DOWN };
	rc = worker_run(c->lane->svc->decoders, decode, on_decoded, c);
	if (rc != RC_OK)
		svc_fail(c, rc, "too many large requests at once; try again");
}

void
svc_call_serve(struct svc_call *c)
{
	if (c->lane->route->request != NULL &&
	    svc_call_body(c).n > DECODE_HERE_MAX)
		decode_elsewhere(c);
	else
		serve_billed(c);
}

void
svc_call_of_msg(void *arg, struct bus_msg *m)
{
	struct svc_lane *lane = arg;
	struct svc_call *c = call_new(lane);

	c->msg = m;
	if (!bus_msg_trace(m, &c->trace))
		trace_new(&c->trace);
	c->deadline = bus_msg_deadline(m);
	if (c->deadline.ms == 0)
		c->deadline.ms = clock_wall().ms + lane->route->deadline_ms;
	svc_call_serve(c);
}

void
svc_call_of_http(void *arg, struct httpd_req *r)
{
	struct svc_lane *lane = arg;
	struct svc_call *c = call_new(lane);

	c->http = r;
	c->trace = *httpd_req_trace(r);
	/* The server's is that of the slowest route, and a little more. */
	c->deadline.ms = httpd_req_deadline(r).ms - lane->svc->http_timeout_ms +
	    lane->route->deadline_ms;
	if (strcmp(lane->route->method, "GET") != 0 &&
	    httpd_req_is_cross_origin(r))
		svc_fail(c, RC_DENIED,
		    "a web page of another origin may not do this: name its "
		    "origin in CORS_ORIGINS");
	else
		guard_enter(c);
}
