/*
 * A request's way through a worker: refuse it, or read its body, hand it to the
 * handler, wait, and send what came of it.
 */
#include "httpd/conn.h"

#include <civetweb.h>
#include <unistd.h>

#include "core/log.h"
#include "httpd/send.h"
#include "httpd/take.h"
#include "httpd/watch.h"

/* A small body of a refused request is read, to keep the connection. */
#define SKIP_MAX 65536

struct serving {
	struct httpd *h;
	struct mg_connection *c;
	struct httpd_req *r;
	struct send_answer a; /* of this thread: a refusal, a time-out */
	struct buf json;
	bool gone;   /* nobody reads an answer any more */
	bool unread; /* a body that was not read makes the connection useless */
};

/* The code of an error that no enum rc stands for. */
static const char *
code_of(int status)
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

/* Make an error of this thread the answer; false, for the caller to return. */
static bool
refuse(struct serving *s, int status, const char *code, const char *text)
{
	s->a.status = status;
	s->a.type = "application/json";
	buf_reset(&s->json);
	req_error_json(&s->json, code, text, &s->r->trace);
	s->a.body = buf_str(&s->json);
	return false;
}

static bool
refuse_load(struct serving *s, enum server_refusal why, const char *text)
{
	metric_add(s->h->refused[why], 1);
	s->a.retry_after_s = 1;
	s->a.close = true;
	return refuse(s, 503, rc_name(RC_RETRY), text);
}

/* An address that stands for many, and has the limits of one. */
static void
hint_proxy(const struct httpd_req *r)
{
	static struct log_rate rate;
	int64_t missed;

	if (head_find(r->fields, r->nfields, STR("X-Forwarded-For")).p ==
		NULL ||
	    !str_eq(str_of(r->client.text), str_of(r->remote_addr)) ||
	    !log_every(&rate, 1, &missed))
		return;
	log_warn("httpd.proxy_limited", LOG_S("address", r->remote_addr),
	    LOG_S("hint", "if it is a proxy of yours: TRUSTED_PROXIES"),
	    LOG_I("missed", missed));
}

/* A client that asks too much; the body is not read. */
static bool
refuse_limit(struct serving *s, enum server_refusal why, int64_t ms)
{
	metric_add(s->h->refused[why], 1);
	hint_proxy(s->r);
	s->a.retry_after_s = (int)((ms + 999) / 1000);
	if (why == SERVER_RATE)
		return refuse(s, 429, "rate_limited",
		    "too many requests of this address; wait as long as "
		    "Retry-After says");
	s->a.close = true;
	return refuse(s, 429, "too_many_connections",
	    "too many requests of this address at a time");
}

static bool
refuse_head(struct serving *s, enum rc rc, const char *why)
{
	int status = rc == RC_TOOBIG ? 431 : rc == RC_DENIED ? 417 : 400;

	s->a.close = true;
	return refuse(s, status, code_of(status), why);
}

static bool
refuse_body(struct serving *s, enum rc rc)
{
	s->a.close = true;
	if (rc == RC_TOOBIG)
		return refuse(s, 413, code_of(413), "the body is too large");
	if (rc == RC_TIMEOUT)
		return refuse(
		    s, 408, code_of(408), "the body did not arrive in time");
	return refuse(s, 400, code_of(400),
	    "the body is shorter than announced, or its chunks are broken");
}

/* Whether there is a worker to spare for this request. */
static bool
admit(struct serving *s)
{
	size_t held = atomic_load(&s->h->connections);

	if (atomic_load(&s->h->stopping))
		return refuse_load(
		    s, SERVER_STOPPING, "the service is stopping");
	/* Idle connections hold workers too: keep none when there are few. */
	if (held * 4 > (size_t)s->h->workers * 3)
		s->a.close = true;
	if (s->r->route != NULL && s->r->route->direct)
		return true;
	/* Idle connections, and bodies that do not come, let theirs go. */
	size_t reading = atomic_load(&s->h->reading);
	if (atomic_load(&s->h->busy) + HTTPD_SPARE_WORKERS >
	    s->h->workers + reading)
		return refuse_load(s, SERVER_BUSY, "too many requests at once");
	return true;
}

/* Whether the client may ask more, as the server's limits are. */
static bool
within_limits(struct serving *s)
{
	struct httpd_req *r = s->r;
	struct gate *gate = s->h->gate;

	if (gate == NULL)
		return true;
	int64_t ms = gate_rate(gate, &r->client, clock_mono());
	if (ms > 0)
		return refuse_limit(s, SERVER_RATE, ms);
	r->entered = gate_enter(gate, &r->client);
	return r->entered || refuse_limit(s, SERVER_CROWD, 1);
}

/* Who asks, where that is of interest. */
static bool
identify(struct serving *s)
{
	struct httpd *h = s->h;
	struct httpd_req *r = s->r;

	if (h->gate == NULL && h->trusted.n == 0)
		return true;
	/* What civetweb says of an IPv4 connection is an address. */
	if (peer_find(&r->client, str_of(r->remote_addr), &h->trusted,
		r->fields, r->nfields) != RC_OK)
		return refuse_head(s, RC_INVALID, "no address");
	return true;
}

static bool
read_head(struct serving *s)
{
	const char *why;
	enum rc rc = take_head(s->r, s->c, &why);

	if (s->h->cors.on)
		s->a.allow_origin = s->r->allow_origin = cors_allow(&s->h->cors,
		    head_find(s->r->fields, s->r->nfields, STR("Origin")));
	if (rc != RC_OK)
		return refuse_head(s, rc, why);
	s->unread = s->r->head.has_body;
	s->a.head_only = str_eq(s->r->method, STR("HEAD"));
	if (!s->r->head.keep)
		s->a.close = true;
	return identify(s);
}

static bool
read_body(struct serving *s)
{
	struct httpd_req *r = s->r;

	if (!r->head.has_body)
		return true;
	if (r->head.length > HTTPD_BODY_MAX)
		return refuse_body(s, RC_TOOBIG);
	enum rc rc = take_body(s->h, r, s->c);
	if (rc != RC_OK)
		return refuse_body(s, rc);
	s->unread = false;
	return true;
}

/*
 * The client of a refused request sends its body all the same, and closing on
 * it could cost it the answer.
 */
static void
skip_body(struct serving *s)
{
	const struct head *head = &s->r->head;

	if (s->unread && !head->expect && !head->chunked &&
	    head->length <= SKIP_MAX)
		s->unread = take_body(s->h, s->r, s->c) != RC_OK;
}

static bool
refuse_route(struct serving *s, enum rc rc)
{
	skip_body(s);
	if (rc == RC_NOENT)
		return refuse(s, 404, rc_name(RC_NOENT), "no such path");
	if (rc == RC_INVALID)
		return refuse(
		    s, 415, code_of(415), "the body must be application/json");
	s->a.allow = s->r->match.allow;
	return refuse(s, 405, code_of(405), "not with this method");
}

/* A browser asks what a page may send to this path. */
static bool
is_preflight(const struct serving *s)
{
	const struct httpd_req *r = s->r;

	return r->allow_origin.p != NULL && str_eq(r->method, STR("OPTIONS")) &&
	    head_find(
		r->fields, r->nfields, STR("Access-Control-Request-Method"))
		.p != NULL;
}

static bool
answer_preflight(struct serving *s)
{
	skip_body(s);
	s->a.status = 204;
	s->a.methods = s->r->match.allow;
	return false;
}

/* Everything before the handler; load is looked at before the rest. */
static bool
prepare(struct serving *s)
{
	struct httpd_req *r = s->r;
	enum rc found;

	if (!read_head(s))
		return false;
	found = route_find(
	    s->h->routes, s->h->nroutes, r->method, &r->uri, &r->match);
	if (found == RC_OK)
		r->route = &s->h->routes[r->match.index];
	if (!within_limits(s) || !admit(s))
		return false;
	if (found == RC_DENIED && is_preflight(s))
		return answer_preflight(s);
	if (found == RC_OK && r->head.has_body && !r->head.json)
		found = RC_INVALID;
	if (found != RC_OK)
		return refuse_route(s, found);
	/* While a body was on its way others may have come. */
	return read_body(s) && (!r->head.has_body || admit(s));
}

/* On the loop: a request whose client has been answered is not begun. */
static void
on_loop(void *arg)
{
	struct httpd_req *r = arg;

	if (req_left(r)) {
		req_drop(r);
		return;
	}
	log_trace_set(r->trace.trace_id);
	r->route->fn(r->route->arg, r);
	log_trace_set("");
}

static bool
hand_over(struct serving *s)
{
	struct httpd_req *r = s->r;

	r->due = mono_add_ms(clock_mono(), s->h->timeout_ms);
	r->deadline.ms = clock_wall().ms + s->h->timeout_ms;
	req_share(r);
	if (r->route->direct) {
		r->route->fn(r->route->arg, r);
		return true;
	}
	enum rc rc = loop_post(s->h->loop, on_loop, r);
	if (rc == RC_OK)
		return true;
	req_drop(r);
	return refuse_load(s, SERVER_INBOX, "too many requests at once");
}

/* As req_wait(); RC_NOENT: the client has gone. */
static enum rc
wait_for(struct serving *s, enum req_state *state)
{
	int fd = -1;
	enum rc rc;

	while ((rc = req_wait(s->r, state)) == RC_RETRY) {
		if (watch_gone(s->h, s->r, &fd)) {
			req_leave(s->r);
			rc = RC_NOENT;
			break;
		}
	}
	if (fd >= 0)
		close(fd);
	if (rc != RC_OK)
		req_tell_gone(s->r, s->h->loop);
	return rc;
}

/* Wait for the handler and take over what it answers; true for a stream. */
static bool
await(struct serving *s)
{
	struct httpd_req *r = s->r;
	enum req_state state;
	enum rc rc = wait_for(s, &state);

	s->gone = rc == RC_NOENT;
	if (s->gone)
		return refuse(s, 499, "client_closed_request", "nobody waits");
	if (rc == RC_TIMEOUT)
		return refuse(s, rc_http_status(RC_TIMEOUT),
		    rc_name(RC_TIMEOUT), "there was no answer in time");
	if (rc != RC_OK)
		return refuse_load(
		    s, SERVER_STOPPING, "the service is stopping");
	if (state != REQ_ANSWERED)
		return true;
	s->a.status = r->status;
	s->a.type = r->type;
	s->a.retry_after_s = r->retry_after_s;
	s->a.challenge = r->challenge;
	s->a.body = buf_str(&r->out);
	return false;
}

static void
log_end(const struct serving *s, struct mono start)
{
	const struct httpd_req *r = s->r;

	log_trace_set(r->trace.trace_id);
	log_debug("http.request", LOG_V("method", r->method),
	    LOG_V("path", r->path), LOG_I("status", s->a.status),
	    LOG_I("us", mono_diff_ns(clock_mono(), start) / 1000));
	log_trace_set("");
}

/*
 * Who waits so long for an answer pauses as long after it, and would ask again
 * at the moment at which the idle connection is closed: then nobody could tell
 * him what became of his request.
 */
static bool
was_slow(struct mono start)
{
	return mono_diff_ms(clock_mono(), start) >= SERVER_KEEP_MS;
}

int
conn_serve(struct httpd *h, struct mg_connection *c)
{
	struct serving s = {
		.h = h, .c = c, .r = req_new(), .json = BUF_INIT(4096)
	};
	struct mono start = clock_mono();

	take_peer(s.r, c);
	server_enter(h, s.r);
	s.a.trace = &s.r->trace;
	s.a.cors = &h->cors;
	bool stream = prepare(&s) && hand_over(&s) && await(&s);
	if (s.unread || atomic_load(&h->stopping) || was_slow(start))
		s.a.close = true;
	if (stream) {
		s.a.status = s.r->status;
		send_stream(h, s.r, c);
	} else if (s.gone || !send_answer(c, &s.a)) {
		mg_disable_connection_keep_alive(c);
	}
	log_end(&s, start);
	server_count(h, s.r->route, s.a.status, start);
	/* Who waits for a 100 before sending sends nothing now. */
	if (s.unread && !s.gone && !s.r->head.expect)
		take_rest(h, s.r, c);
	server_leave(h, s.r);
	if (s.r->entered)
		gate_leave(h->gate, &s.r->client);
	req_end(s.r);
	buf_free(&s.json);
	req_drop(s.r);
	return s.a.status;
}

void
conn_fail(
    struct httpd *h, struct mg_connection *c, int status, const char *text)
{
	struct buf json = BUF_INIT(4096);
	struct trace trace;
	struct mono start = clock_mono();

	trace_new(&trace);
	req_error_json(&json, code_of(status), text, &trace);
	(void)send_answer(c,
	    &(struct send_answer){ .status = status,
		.type = "application/json",
		.body = buf_str(&json),
		.trace = &trace,
		.cors = &h->cors,
		.allow_origin = cors_allow(&h->cors, (struct str){ 0 }),
		.close = true });
	buf_free(&json);
	server_count(h, NULL, status, start);
}
