/*
 * call: one request from its arrival over NATS or HTTP to its reply.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "svc/svc_internal.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Ended calls whose memory is reused. */
#define SPARE_MAX 64
/* A larger body takes the loop too long to decode: some ms for 64 KiB. */
#define DECODE_HERE_MAX ((size_t)16 * 1024)
/* Room for a reply at first. */
#define REPLY_BYTES 2048
/* Handlers that have not returned, and requests over NATS that wait for one. */
#define FIBERS_MAX  512
#define WAITING_MAX 65536

/* The result of a decoder. */
struct call_decoded {
	enum rc rc;
	struct wire_err err;
	int64_t ns; /* processor time */
};

void
svc_call_init(
    struct svc_call *c, struct svc_endpoint *endpoint, struct mono start)
{
	c->endpoint = endpoint;
	c->msg = NULL;
	c->http = NULL;
	c->request = NULL;
	c->data = NULL;
	c->decoded = NULL;
	c->on_worker = false;
	c->to_loop = false;
	c->streaming = false;
	c->authenticated = false;
	c->form = NULL;
	c->check = NULL;
	c->start = start;
}

static struct svc_call *
call_new(struct svc_endpoint *endpoint)
{
	struct svc *s = endpoint->svc;
	struct svc_call *c = TAILQ_FIRST(&s->spare);

	if (c != NULL) {
		TAILQ_REMOVE(&s->spare, c, link);
		s->nspare--;
		arena_reset(c->arena);
	} else {
		c = mem_zalloc(sizeof(*c));
		c->arena = arena_new(WIRE_ARENA_MAX);
	}
	svc_call_init(c, endpoint, clock_mono());
	TAILQ_INSERT_TAIL(&s->open, c, link);
	s->nopen++;
	return c;
}

static void
call_count(struct svc_call *c, enum rc rc, const char *text)
{
	struct svc_endpoint *endpoint = c->endpoint;
	int64_t ns = mono_diff_ns(clock_mono(), c->start);

	metric_add(endpoint->by_rc[rc], 1);
	metric_observe(endpoint->seconds, (double)ns / 1e9);
	if (c->msg == NULL)
		return;
	endpoint->nats->requests++;
	endpoint->nats->busy_ns += ns;
	if (rc != RC_OK) {
		endpoint->nats->errors++;
		str_copy(str_of(text), endpoint->nats->last_error,
		    sizeof(endpoint->nats->last_error));
	}
}

static void
call_free(struct svc_call *c)
{
	struct svc *s = c->endpoint->svc;

	/* Its worker still has it. */
	if (c->on_worker)
		return;
	svc_stream_check_forget(c);
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

void
svc_call_as(struct svc_call *c, const struct svc_form *f)
{
	c->form = f;
}

/* How a call ended; text is NULL unless it failed. */
struct call_outcome {
	enum rc rc;
	int status;
	const char *text;
};

/*
 * Count the call, reply the way it came, and end it.  Counted first, so that a
 * client that has the reply finds it in the metrics.
 */
static void
call_end(struct svc_call *c, struct call_outcome o, struct str body)
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
		    LOG_S("route", c->endpoint->route->name), LOG_RC(sent));
	call_free(c);
}

/* The same in the form of the call, if it has one. */
static void
call_end_as(struct svc_call *c, struct call_outcome o, struct str body)
{
	struct buf out = BUF_INIT(HTTPD_RESPONSE_MAX);

	if (c->form != NULL) {
		o.status = c->form->put(c->form->arg, o.status, body, &out);
		body = buf_str(&out);
	}
	call_end(c, o, body);
	buf_free(&out);
}

static void
call_fail(struct svc_call *c, struct call_outcome o, const char *code,
    const char *reason)
{
	struct wire_error msg = { .error = str_of(o.text),
		.code = str_of(code),
		.reason = str_of(reason),
		.trace_id = str_of(c->trace.trace_id) };
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	const struct svc_def *def = c->endpoint->svc->def;
	struct wire_err err = { "", "" };
	enum rc rc = RC_NOENT;

	if (def->put_error != NULL && c->http != NULL && c->form == NULL)
		rc = def->put_error(c->endpoint->route, &msg, o.status, &out);
	if (rc != RC_OK) {
		buf_reset(&out);
		rc = wire_encode(&wire_error_desc, &msg, &out, &err);
	}
	if (rc != RC_OK)
		log_error("svc.error_invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	call_end_as(c, o, buf_str(&out));
	buf_free(&out);
}

void
svc_fail(struct svc_call *c, enum rc rc, const char *text)
{
	call_fail(c, (struct call_outcome){ rc, rc_http_status(rc), text },
	    rc_name(rc), NULL);
}

/* The code that stands for a status in metrics and over NATS. */
static enum rc
call_rc(int status)
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
	call_fail(c,
	    (struct call_outcome){ call_rc(e->status), e->status, e->text },
	    e->code, reason);
}

void
svc_stream_end(struct svc_call *c, enum rc rc)
{
	call_end(c,
	    (struct call_outcome){ rc, rc_http_status(rc), rc_name(rc) },
	    (struct str){ NULL, 0 });
}

/* A reply that breaks its schema is a bug; it is not sent. */
enum rc
svc_encode(const struct svc_call *c, const void *msg, struct buf *out)
{
	const struct svc_route *r =
	    c->form != NULL ? c->form->route : c->endpoint->route;
	struct wire_err err;
	enum rc rc;

	buf_init(out, c->http != NULL ? HTTPD_RESPONSE_MAX : WIRE_MESSAGE_MAX);
	/* Most replies fit. */
	(void)buf_reserve(out, REPLY_BYTES);
	rc = wire_encode(r->reply, msg, out, &err);
	if (rc != RC_OK)
		log_error("svc.reply_invalid", LOG_S("route", r->name),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	return rc;
}

void
svc_progress(struct svc_call *c, const void *msg)
{
	struct buf out;
	enum rc rc;

	if (c->msg == NULL || !bus_msg_wants_reply(c->msg))
		return;
	rc = svc_encode(c, msg, &out);
	if (rc == RC_OK)
		rc = bus_reply_partial(c->msg, buf_str(&out));
	if (rc != RC_OK)
		log_debug("svc.progress_lost",
		    LOG_S("route", c->endpoint->route->name), LOG_RC(rc));
	buf_free(&out);
}

void
svc_done(struct svc_call *c)
{
	call_count(c, RC_OK, NULL);
	bus_msg_free(c->msg);
	call_free(c);
}

void
svc_reply_encoded(struct svc_call *c, struct str json)
{
	call_end_as(c, (struct call_outcome){ RC_OK, 200, NULL }, json);
}

static void
call_reply(struct svc_call *c, int status, const void *msg)
{
	struct buf out;

	if (svc_encode(c, msg, &out) == RC_OK)
		call_end_as(c, (struct call_outcome){ RC_OK, status, NULL },
		    buf_str(&out));
	else
		svc_fail(c, RC_BUG, "the reply could not be encoded");
	buf_free(&out);
}

void
svc_reply(struct svc_call *c, const void *msg)
{
	call_reply(c, 200, msg);
}

void
svc_reply_accepted(struct svc_call *c, const void *msg)
{
	call_reply(c, 202, msg);
}

/*
 * The protocol's text for the error, or ours.  The text for a body that is not
 * JSON is not for one that is over a limit.
 */
static void
call_reject_request(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	const struct svc_route *r = c->endpoint->route;
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

static void call_decode_elsewhere(struct svc_call *c, int64_t ns);

/* Whether the service has decoded the request itself. */
static bool
call_decode_by_service(struct svc_call *c)
{
	const struct wire_desc *d = c->endpoint->route->request;
	struct svc *s = c->endpoint->svc;

	if (s->def->decode == NULL || svc_call_body(c).n == 0)
		return false;
	c->request = arena_alloc(c->arena, wire_desc_size(d));
	return s->def->decode(s->app, c, c->request);
}

/* A POST without required members needs no body. */
static enum rc
call_decode(struct svc_call *c, struct wire_err *err)
{
	const struct svc_route *r = c->endpoint->route;
	struct str body = svc_call_body(c);

	if (c->request == NULL)
		c->request = arena_alloc(c->arena, wire_desc_size(r->request));
	if (c->http != NULL && body.n == 0 && strcmp(r->method, "POST") == 0 &&
	    wire_decode(r->request, STR("{}"), c->arena, c->request, err) ==
		RC_OK)
		return RC_OK;
	return wire_decode(r->request, body, c->arena, c->request, err);
}

static bool
call_is_large(const struct svc_call *c)
{
	return svc_call_body(c).n > DECODE_HERE_MAX;
}

static void
call_serve(struct svc_call *c, struct request_cost *cost)
{
	const struct svc_route *r = c->endpoint->route;
	struct wire_err err;
	enum rc rc;

	log_trace_set(c->trace.trace_id);
	if (r->request != NULL) {
		if (c->decoded != NULL) {
			rc = c->decoded->rc;
			err = c->decoded->err;
		} else if (call_decode_by_service(c)) {
			rc = RC_OK;
		} else if (call_is_large(c)) {
			call_decode_elsewhere(c, svc_cost_hand_over(cost));
			log_trace_set("");
			return;
		} else {
			rc = call_decode(c, &err);
		}
		if (rc != RC_OK) {
			call_reject_request(c, rc, &err);
			return;
		}
		if (!svc_access_check_request(c))
			return;
		svc_cost_terminal(cost, c);
	}
	r->fn(c->endpoint->svc->app, c);
	log_trace_set("");
}

bool
svc_call_serve_on_worker(struct svc_call *c)
{
	const struct svc_route *r = c->endpoint->route;
	struct wire_err err;
	enum rc rc;

	if (r->request != NULL && !call_decode_by_service(c)) {
		if (c->to_loop || call_is_large(c))
			return false;
		rc = call_decode(c, &err);
		if (rc != RC_OK) {
			call_reject_request(c, rc, &err);
			return true;
		}
	}
	r->fn(c->endpoint->svc->app, c);
	return !c->to_loop;
}

static void
call_serve_costed(struct svc_call *c)
{
	struct request_cost cost;

	svc_cost_begin(&cost, c, c->decoded != NULL ? c->decoded->ns : 0);
	call_serve(c, &cost);
	svc_cost_end(&cost);
}

/* ---- fibers ---- */

static void call_serve_next(void *arg);

struct call_fiber {
	struct svc_call *c;
	void (*fn)(struct svc_call *c);
};

static void
call_fiber_main(void *arg)
{
	struct call_fiber f = *(struct call_fiber *)arg;
	struct svc *s = f.c->endpoint->svc;

	f.fn(f.c);
	s->nfibers--;
	if (s->nwaiting > 0)
		loop_defer(s->loop, &s->serve_next, call_serve_next, s);
	svc_release(s);
}

/*
 * Run fn(c) in a fiber, this one if it is one.  A drain waits for it even if
 * the call has ended before it.
 */
static void
call_run(struct svc_call *c, void (*fn)(struct svc_call *c))
{
	struct call_fiber f = { c, fn };
	struct svc *s = c->endpoint->svc;

	if (fiber_self() != NULL) {
		fn(c);
		return;
	}
	s->nfibers++;
	svc_hold(s);
	fiber_start(call_fiber_main, &f);
}

/* ---- decoding ---- */

/* On a decoder's thread, which alone uses c meanwhile. */
static void
call_decode_run(void *arg)
{
	struct svc_call *c = arg;
	struct call_decoded *d = c->decoded;
	int64_t began = clock_thread_ns();

	d->rc = call_decode(c, &d->err);
	d->ns += clock_thread_ns() - began;
}

static void
call_on_decoded(void *arg)
{
	struct svc_call *c = arg;

	if (clock_wall().ms < c->deadline.ms)
		call_run(c, call_serve_costed);
	else
		svc_fail(c, RC_TIMEOUT, "deadline exceeded");
}

/* ns: what the call has cost so far. */
static void
call_decode_elsewhere(struct svc_call *c, int64_t ns)
{
	enum rc rc;

	c->decoded = arena_alloc(c->arena, sizeof(*c->decoded));
	*c->decoded = (struct call_decoded){ .rc = RC_DOWN, .ns = ns };
	rc = worker_run(
	    c->endpoint->svc->decoders, call_decode_run, call_on_decoded, c);
	if (rc != RC_OK)
		svc_fail(c, rc, "too many large requests at once; try again");
}

void
svc_call_serve(struct svc_call *c)
{
	const struct svc_endpoint *e = c->endpoint;

	if (e->route->request != NULL && e->svc->def->decode == NULL &&
	    call_is_large(c))
		call_decode_elsewhere(c, 0);
	else
		call_run(c, call_serve_costed);
}

/* ---- arrival ---- */

static void
call_msg_serve(struct svc_call *c)
{
	if (c->deadline.ms == 0)
		c->deadline.ms =
		    clock_wall().ms + c->endpoint->route->deadline_ms;
	svc_call_serve(c);
}

/* Serve those that came first while there was no fiber for them. */
static void
call_serve_next(void *arg)
{
	struct svc *s = arg;
	struct svc_call *c;

	while (
	    s->nfibers < FIBERS_MAX && (c = TAILQ_FIRST(&s->waiting)) != NULL) {
		TAILQ_REMOVE(&s->waiting, c, link);
		s->nwaiting--;
		TAILQ_INSERT_TAIL(&s->open, c, link);
		if (c->deadline.ms != 0 && clock_wall().ms >= c->deadline.ms)
			svc_fail(c, RC_TIMEOUT, "deadline exceeded");
		else
			call_msg_serve(c);
	}
}

static void
call_msg_wait(struct svc *s, struct svc_call *c)
{
	if (s->nwaiting == WAITING_MAX) {
		svc_fail(c, RC_RETRY, "too many requests at once; try again");
		return;
	}
	TAILQ_REMOVE(&s->open, c, link);
	TAILQ_INSERT_TAIL(&s->waiting, c, link);
	s->nwaiting++;
}

void
svc_call_from_msg(void *arg, struct bus_msg *m)
{
	struct svc_endpoint *endpoint = arg;
	struct svc_call *c = call_new(endpoint);
	struct svc *s = endpoint->svc;

	c->msg = m;
	if (!bus_msg_trace(m, &c->trace))
		trace_new(&c->trace);
	c->deadline = bus_msg_deadline(m);
	if (s->nfibers >= FIBERS_MAX || s->nwaiting > 0)
		call_msg_wait(s, c);
	else
		call_msg_serve(c);
}

static void
call_http_serve(struct svc_call *c)
{
	if (strcmp(c->endpoint->route->method, "GET") != 0 &&
	    httpd_req_is_cross_origin(c->http))
		svc_fail(c, RC_DENIED,
		    "a web page of another origin may not do this: name its "
		    "origin in CORS_ORIGINS");
	else
		svc_access_check_call(c);
}

void
svc_call_set_http(struct svc_call *c, struct httpd_req *r)
{
	const struct svc_endpoint *e = c->endpoint;

	c->http = r;
	c->trace = *httpd_req_trace(r);
	/* The server's deadline is that of the slowest route plus a grace. */
	c->deadline.ms = httpd_req_deadline(r).ms - e->svc->http_timeout_ms +
	    e->route->deadline_ms;
}

void
svc_call_from_http(void *arg, struct httpd_req *r)
{
	struct svc_endpoint *endpoint = arg;
	struct svc_call *c = call_new(endpoint);

	svc_call_set_http(c, r);
	call_run(c, call_http_serve);
}

/* ---- for handlers ---- */

bool
svc_call_on_worker(const struct svc_call *c)
{
	return c->on_worker;
}

void
svc_call_to_loop(struct svc_call *c)
{
	c->to_loop = true;
}

const void *
svc_call_request(const struct svc_call *c)
{
	return c->form != NULL ? c->form->request : c->request;
}

void
svc_call_set_data(struct svc_call *c, void *data)
{
	c->data = data;
}

void *
svc_call_data(const struct svc_call *c)
{
	return c->data;
}

struct str
svc_call_body(const struct svc_call *c)
{
	return c->http != NULL ? httpd_req_body(c->http) : bus_msg_data(c->msg);
}

struct str
svc_call_header(const struct svc_call *c, const char *name)
{
	return c->http != NULL && c->form == NULL
	    ? httpd_req_header(c->http, name)
	    : (struct str){ 0 };
}

enum rc
svc_call_on_abort(struct svc_call *c, void (*fn)(void *arg), void *arg)
{
	return c->http != NULL ? httpd_on_abort(c->http, fn, arg) : RC_OK;
}

struct arena *
svc_call_arena(struct svc_call *c)
{
	return c->arena;
}

struct wall
svc_call_deadline(const struct svc_call *c)
{
	return c->deadline;
}

struct mono
svc_call_start(const struct svc_call *c)
{
	return c->start;
}

const struct trace *
svc_call_trace(const struct svc_call *c)
{
	return &c->trace;
}

/* ---- streaming responses ---- */

enum rc
svc_sse_start(struct svc_call *c)
{
	if (c->http == NULL)
		return RC_INVALID;
	httpd_sse_start(c->http);
	c->streaming = true;
	return RC_OK;
}

enum rc
svc_sse_send(
    struct svc_call *c, const char *event, const char *id, struct str data)
{
	return httpd_sse_send(c->http, event, id, data);
}

enum rc
svc_sse_comment(struct svc_call *c, const char *text)
{
	return httpd_sse_comment(c->http, text);
}

size_t
svc_stream_pending(struct svc_call *c)
{
	return httpd_stream_pending(c->http);
}

enum rc
svc_lines_start(struct svc_call *c)
{
	if (c->http == NULL)
		return RC_INVALID;
	httpd_lines_start(c->http);
	c->streaming = true;
	return RC_OK;
}

enum rc
svc_lines_send(struct svc_call *c, struct str lines)
{
	return httpd_lines_send(c->http, lines);
}

void
svc_lines_truncate(struct svc_call *c, enum rc rc)
{
	httpd_lines_truncate(c->http);
	svc_stream_end(c, rc);
}

enum rc
svc_raw_start(struct svc_call *c, int status, bool persistent)
{
	if (c->http == NULL)
		return RC_INVALID;
	httpd_raw_start(c->http, status, persistent);
	c->streaming = true;
	return RC_OK;
}

enum rc
svc_raw_send(struct svc_call *c, struct str bytes)
{
	return httpd_raw_send(c->http, bytes);
}
