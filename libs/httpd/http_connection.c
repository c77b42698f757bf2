/*
 * The way of a request through a worker: reject it, or read its body, pass it
 * to the handler, wait, and send the response.
 */
#include <civetweb.h>
#include <unistd.h>

#include "core/log.h"
#include "httpd/httpd_files.h"
#include "httpd/httpd_internal.h"

/* A small body of a rejected request is read, so that the connection can be
 * reused. */
#define SKIP_MAX 65536

struct exchange {
	struct httpd *h;
	struct mg_connection *c;
	struct httpd_req *r;
	struct mono start;
	struct response response;
	const struct httpd_file *file; /* to be sent; NULL: none */
	struct tunnel *tunnel;         /* to be run; NULL: none */
	struct buf json;               /* body of an error */
	bool disconnected;             /* the client */
	bool unread; /* part of the body: the connection must close */
};

/* The code of an error without an enum rc. */
static const char *
exchange_error_code(int status)
{
	switch (status) {
	case 405:
		return "method_not_allowed";
	case 408:
		return "request_timeout";
	case 411:
		return "length_required";
	case 413:
		return rc_name(RC_TOOBIG);
	case 415:
		return "unsupported_media_type";
	case 417:
		return "expectation_failed";
	case 431:
		return "header_too_large";
	case 503:
		return rc_name(RC_RETRY);
	case 505:
		return "http_version_not_supported";
	default:
		return status < 500 ? rc_name(RC_INVALID) : rc_name(RC_BUG);
	}
}

/* Set an error as the response; false, for the caller to return. */
static bool
exchange_reject(
    struct exchange *s, int status, const char *code, const char *text)
{
	s->response.status = status;
	s->response.type = "application/json";
	buf_reset(&s->json);
	response_error_json(&s->json, code, text, &s->r->trace);
	s->response.body = buf_str(&s->json);
	return false;
}

static bool
exchange_reject_load(
    struct exchange *s, enum server_rejection why, const char *text)
{
	metric_add(s->h->rejected[why], 1);
	s->response.retry_after_s = 1;
	s->response.close = true;
	return exchange_reject(s, 503, rc_name(RC_RETRY), text);
}

/* Warn if the limited address looks like a proxy. */
static void
exchange_hint_proxy(const struct httpd_req *r)
{
	static struct log_rate rate;
	int64_t missed;

	if (header_find(r->fields, r->nfields, STR("X-Forwarded-For")).p ==
		NULL ||
	    !str_eq(str_of(r->client.text), str_of(r->remote_addr)) ||
	    !log_every(&rate, 1, &missed))
		return;
	log_warn("httpd.proxy_limited", LOG_S("address", r->remote_addr),
	    LOG_S("hint", "if it is a proxy of yours: TRUSTED_PROXIES"),
	    LOG_I("missed", missed));
}

/* Reject a client over its limits; the body is not read. */
static bool
exchange_reject_limit(struct exchange *s, enum server_rejection why, int64_t ms)
{
	metric_add(s->h->rejected[why], 1);
	exchange_hint_proxy(s->r);
	s->response.retry_after_s = (int)((ms + 999) / 1000);
	if (why == SERVER_RATE)
		return exchange_reject(s, 429, "rate_limited",
		    "too many requests from this address; see Retry-After");
	s->response.close = true;
	return exchange_reject(s, 429, "too_many_connections",
	    "too many concurrent requests from this address");
}

static bool
exchange_reject_head(struct exchange *s, enum rc rc, const char *why)
{
	int status = rc == RC_TOOBIG ? 431 : rc == RC_DENIED ? 417 : 400;

	s->response.close = true;
	return exchange_reject(s, status, exchange_error_code(status), why);
}

static bool
exchange_reject_body(struct exchange *s, enum rc rc)
{
	s->response.close = true;
	if (rc == RC_TOOBIG)
		return exchange_reject(
		    s, 413, exchange_error_code(413), "the body is too large");
	if (rc == RC_TIMEOUT)
		return exchange_reject(s, 408, exchange_error_code(408),
		    "the body did not arrive in time");
	return exchange_reject(s, 400, exchange_error_code(400),
	    "the body is shorter than announced, or its chunks are broken");
}

/* Whether enough workers are free for this request. */
static bool
exchange_admit(struct exchange *s)
{
	size_t held = atomic_load(&s->h->connections);

	if (atomic_load(&s->h->stopping))
		return exchange_reject_load(
		    s, SERVER_STOPPING, "the service is stopping");
	/* Idle connections hold workers too: none when few are free. */
	if (held * 4 > (size_t)s->h->workers * 3)
		s->response.close = true;
	if (s->file != NULL || (s->r->route != NULL && s->r->route->direct))
		return true;
	/* The limiter frees workers of idle connections and of bodies that do
	 * not arrive. */
	size_t receiving = atomic_load(&s->h->receiving);
	if (atomic_load(&s->h->busy) + HTTPD_SPARE_WORKERS >
	    s->h->workers + receiving)
		return exchange_reject_load(
		    s, SERVER_BUSY, "too many requests at once");
	return true;
}

/* Whether the client is within its limits. */
static bool
exchange_check_limits(struct exchange *s)
{
	struct httpd_req *r = s->r;
	struct admission *admission = s->h->admission;

	if (admission == NULL)
		return true;
	int64_t ms = admission_check_rate(admission, &r->client, s->start);
	if (ms > 0)
		return exchange_reject_limit(s, SERVER_RATE, ms);
	r->admitted = admission_enter(admission, &r->client);
	return r->admitted || exchange_reject_limit(s, SERVER_TOO_MANY, 1);
}

/* Find the client's address if limits or proxies are configured. */
static bool
exchange_identify_client(struct exchange *s)
{
	struct httpd *h = s->h;
	struct httpd_req *r = s->r;

	if (h->admission == NULL && h->trusted.n == 0)
		return true;
	/* Never fails: civetweb writes the address of an IPv4 connection. */
	if (client_addr_find(&r->client, str_of(r->remote_addr), &h->trusted,
		r->fields, r->nfields) != RC_OK)
		return exchange_reject_head(s, RC_INVALID, "no address");
	return true;
}

static bool
exchange_read_head(struct exchange *s)
{
	const char *why;
	enum rc rc = request_read_head(s->r, s->c, &why);

	if (s->h->cors.on)
		s->response.allow_origin = s->r->allow_origin = cors_allow(
		    &s->h->cors,
		    header_find(s->r->fields, s->r->nfields, STR("Origin")));
	if (rc != RC_OK)
		return exchange_reject_head(s, rc, why);
	s->unread = s->r->head.has_body;
	s->response.head_only = str_eq(s->r->method, STR("HEAD"));
	if (!s->r->head.persistent)
		s->response.close = true;
	return exchange_identify_client(s);
}

static bool
exchange_read_body(struct exchange *s)
{
	struct httpd_req *r = s->r;

	if (!r->head.has_body)
		return true;
	if (r->head.length > HTTPD_BODY_MAX)
		return exchange_reject_body(s, RC_TOOBIG);
	enum rc rc = request_read_body(s->h, r, s->c, s->start);
	if (rc != RC_OK)
		return exchange_reject_body(s, rc);
	s->unread = false;
	return true;
}

/*
 * The client of a rejected request sends its body nevertheless, and closing
 * meanwhile could lose the response.
 */
static void
exchange_skip_body(struct exchange *s)
{
	const struct request_head *head = &s->r->head;

	if (s->unread && !head->expect && !head->chunked &&
	    head->length <= SKIP_MAX)
		s->unread =
		    request_read_body(s->h, s->r, s->c, s->start) != RC_OK;
}

static bool
exchange_reject_route(struct exchange *s, enum rc rc)
{
	exchange_skip_body(s);
	if (rc == RC_NOENT)
		return exchange_reject(
		    s, 404, rc_name(RC_NOENT), "no such path");
	if (rc == RC_INVALID)
		return exchange_reject(s, 415, exchange_error_code(415),
		    "the body must be application/json");
	s->response.allow = s->r->match.allow;
	return exchange_reject(
	    s, 405, exchange_error_code(405), "method not allowed");
}

/* A browser's preflight request (CORS) of an allowed origin. */
static bool
exchange_is_preflight(const struct exchange *s)
{
	const struct httpd_req *r = s->r;

	return r->allow_origin.p != NULL && str_eq(r->method, STR("OPTIONS")) &&
	    header_find(
		r->fields, r->nfields, STR("Access-Control-Request-Method"))
		.p != NULL;
}

static bool
exchange_respond_preflight(struct exchange *s)
{
	exchange_skip_body(s);
	s->response.status = 204;
	s->response.methods = s->r->match.allow;
	return false;
}

/* The file at a path without a route, for the methods that read. */
static void
exchange_find_file(struct exchange *s)
{
	struct httpd_req *r = s->r;

	s->file = file_find(s->h->files, s->h->nfiles, r->path);
	if (s->file == NULL || str_eq(r->method, STR("GET")) ||
	    str_eq(r->method, STR("HEAD")))
		return;
	s->file = NULL;
	str_copy(STR("GET, HEAD"), r->match.allow, sizeof(r->match.allow));
}

static bool
exchange_respond_file(struct exchange *s)
{
	const struct httpd_req *r = s->r;
	const struct httpd_file *f = s->file;
	struct response *a = &s->response;
	struct str accept =
	    header_find(r->fields, r->nfields, STR("Accept-Encoding"));
	struct str tags =
	    header_find(r->fields, r->nfields, STR("If-None-Match"));

	exchange_skip_body(s);
	a->file = f;
	a->type = f->type;
	a->gzip = file_accepts_gzip(accept);
	a->status = file_is_cached(f, tags) ? 304 : 200;
	a->body = a->gzip
	    ? (struct str){ f->gzip, (size_t)(f->gzip_end - f->gzip) }
	    : (struct str){ f->plain, (size_t)(f->plain_end - f->plain) };
	return false;
}

static bool
exchange_open_tunnel(struct exchange *s)
{
	const char *why;
	int status;

	exchange_skip_body(s);
	status = tunnel_open(s->h, s->r, &s->tunnel, &why);
	s->response.close = true;
	if (status != 101)
		return exchange_reject(s, status,
		    status == 403 ? rc_name(RC_DENIED)
				  : exchange_error_code(status),
		    why);
	s->response.status = status;
	return false;
}

/* Everything before the handler; limits and load are checked first. */
static bool
exchange_prepare(struct exchange *s)
{
	struct httpd_req *r = s->r;
	enum rc found;

	if (!exchange_read_head(s))
		return false;
	found = route_find(
	    s->h->routes, s->h->nroutes, r->method, &r->uri, &r->match);
	if (found == RC_OK)
		r->route = &s->h->routes[r->match.index];
	if (found == RC_NOENT)
		exchange_find_file(s);
	if (found == RC_NOENT && r->match.allow[0] != '\0')
		found = RC_DENIED;
	if (!exchange_check_limits(s) || !exchange_admit(s))
		return false;
	if (s->file != NULL)
		return exchange_respond_file(s);
	if (found == RC_NOENT && tunnel_is_at(s->h, r->path))
		return exchange_open_tunnel(s);
	if (found == RC_DENIED && exchange_is_preflight(s))
		return exchange_respond_preflight(s);
	if (found == RC_OK && r->head.has_body && !r->head.json)
		found = RC_INVALID;
	if (found != RC_OK)
		return exchange_reject_route(s, found);
	/* The load may have changed while the body arrived. */
	return exchange_read_body(s) &&
	    (!r->head.has_body || exchange_admit(s));
}

/* On the loop: call the handler unless the worker has responded already. */
static void
exchange_run_handler(void *arg)
{
	struct httpd_req *r = arg;

	if (request_is_abandoned(r)) {
		request_unref(r);
		return;
	}
	log_trace_set(r->trace.trace_id);
	r->route->fn(r->route->arg, r);
	log_trace_set("");
}

static bool
exchange_dispatch(struct exchange *s)
{
	struct httpd_req *r = s->r;

	r->start = clock_mono();
	r->due = mono_add_ms(r->start, s->h->timeout_ms);
	r->deadline.ms = clock_wall().ms + s->h->timeout_ms;
	request_ref(r);
	if (r->route->direct) {
		r->route->fn(r->route->arg, r);
		return true;
	}
	if (r->route->on_worker != NULL &&
	    r->route->on_worker(r->route->arg, r))
		return true;
	enum rc rc = loop_post(s->h->loop, exchange_run_handler, r);
	if (rc == RC_OK)
		return true;
	request_unref(r);
	return exchange_reject_load(
	    s, SERVER_INBOX, "too many requests at once");
}

/* As request_wait(); RC_NOENT: the client has disconnected. */
static enum rc
exchange_wait(struct exchange *s, enum request_state *state)
{
	int fd = -1;
	enum rc rc;

	while ((rc = request_wait(s->r, state)) == RC_RETRY) {
		if (reaper_client_disconnected(s->h, s->r, &fd)) {
			request_abandon(s->r);
			rc = RC_NOENT;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	if (rc != RC_OK)
		request_notify_abort(s->r, s->h->loop);
	return rc;
}

/* Wait for the handler and copy its response; true for a stream. */
static bool
exchange_await_response(struct exchange *s)
{
	struct httpd_req *r = s->r;
	enum request_state state;
	enum rc rc = exchange_wait(s, &state);

	s->disconnected = rc == RC_NOENT;
	if (s->disconnected)
		return exchange_reject(s, 499, "client_closed_request",
		    "the client has disconnected");
	if (rc == RC_TIMEOUT)
		return exchange_reject(s, rc_http_status(RC_TIMEOUT),
		    rc_name(RC_TIMEOUT), "no response in time");
	if (rc != RC_OK)
		return exchange_reject_load(
		    s, SERVER_STOPPING, "the service is stopping");
	if (state != REQUEST_RESPONDED)
		return true;
	s->response.status = r->status;
	s->response.type = r->type;
	s->response.retry_after_s = r->retry_after_s;
	s->response.challenge = r->challenge;
	s->response.body = buf_str(&r->out);
	return false;
}

static void
exchange_log(const struct exchange *s, int64_t ns)
{
	const struct httpd_req *r = s->r;

	if (!log_wants(LOG_DEBUG))
		return;
	log_trace_set(r->trace.trace_id);
	log_debug("http.request", LOG_V("method", r->method),
	    LOG_V("path", r->path), LOG_I("status", s->response.status),
	    LOG_I("us", ns / 1000));
	log_trace_set("");
}

/*
 * A client that polls with slow requests may pause about as long as they take
 * and send the next one just when the idle connection is closed, without
 * knowing whether it was handled.
 */
static bool
exchange_was_slow(const struct exchange *s, struct mono now)
{
	return mono_diff_ms(now, s->start) >= SERVER_IDLE_MS;
}

/* The wall clock is read once for a request. */
static struct wall
exchange_wall(const struct exchange *s, struct mono now)
{
	const struct httpd_req *r = s->r;

	if (r->deadline.ms == 0)
		return clock_wall();
	return (struct wall){ r->deadline.ms - s->h->timeout_ms +
		mono_diff_ms(now, r->start) };
}

/* Send the response or stream; *now is before, then after it. */
static void
exchange_send(struct exchange *s, bool stream, struct mono *now)
{
	if (s->unread || atomic_load(&s->h->stopping) ||
	    exchange_was_slow(s, *now))
		s->response.close = true;
	s->response.now = exchange_wall(s, *now);
	if (s->tunnel != NULL) {
		tunnel_run(s->tunnel);
		mg_disable_connection_keep_alive(s->c);
	} else if (stream) {
		s->response.status = s->r->status;
		response_send_stream(s->h, s->r, s->c);
	} else if (s->disconnected || !response_send(s->c, &s->response)) {
		mg_disable_connection_keep_alive(s->c);
	}
	*now = clock_mono();
}

int
http_connection_serve(
    struct httpd *h, struct mg_connection *c, struct mono *end)
{
	struct exchange s = { .h = h,
		.c = c,
		.r = request_new(h),
		.start = clock_mono(),
		.json = BUF_INIT(4096) };

	request_read_peer(s.r, c);
	server_enter(h, s.r);
	s.response.trace = &s.r->trace;
	s.response.date = &s.r->date;
	s.response.sent = &s.r->sent;
	s.response.cors = &h->cors;
	bool stream = exchange_prepare(&s) && exchange_dispatch(&s) &&
	    exchange_await_response(&s);
	*end = clock_mono();
	exchange_send(&s, stream, end);
	int64_t ns = mono_diff_ns(*end, s.start);
	exchange_log(&s, ns);
	server_count(h, s.r->route, s.response.status, ns);
	/* A client that waited for "100 Continue" sends no body now. */
	if (s.unread && !s.disconnected && !s.r->head.expect)
		request_discard_body(h, s.r, c);
	server_leave(h, s.r);
	if (s.r->admitted)
		admission_leave(h->admission, &s.r->client);
	request_ended(s.r);
	buf_free(&s.json);
	int status = s.response.status;
	request_end(h, s.r);
	return status;
}

void
http_connection_fail(
    struct httpd *h, struct mg_connection *c, int status, const char *text)
{
	struct buf json = BUF_INIT(4096);
	struct buf sent = BUF_INIT(RESPONSE_JOINED_MAX);
	struct response_date date = { .n = 0 };
	struct trace trace;
	struct mono start = clock_mono();

	trace_new(&trace);
	response_error_json(&json, exchange_error_code(status), text, &trace);
	(void)response_send(c,
	    &(struct response){ .status = status,
		.type = "application/json",
		.body = buf_str(&json),
		.trace = &trace,
		.date = &date,
		.now = clock_wall(),
		.sent = &sent,
		.cors = &h->cors,
		.allow_origin = cors_allow(&h->cors, (struct str){ 0 }),
		.close = true });
	buf_free(&sent);
	buf_free(&json);
	server_count(h, NULL, status, mono_diff_ns(clock_mono(), start));
}
