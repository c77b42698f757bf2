/*
 * ws_listener: the WebSocket connections of a service: access, and the drain.
 */
#include <stdlib.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "httpd/cors.h"
#include "svc/svc_internal.h"
#include "svc/svc_ws.h"
#include "ws/handshake.h"

#define ADDRESSES_MAX 16384
#define LOG_EVERY_S   10
#define BEARER        STR("Bearer ")
#define SUBPROTOCOL   STR("soul.bearer.")
/* A drain: how often it closes some, at least how many, and when all should be:
 * so long before its end, for clients that are slow to close. */
#define DRAIN_MS       50
#define DRAIN_LEAST    64
#define DRAIN_SPARE_MS 3000

/* A client whose token is being checked. */
struct ws_check {
	LIST_ENTRY(ws_check) link;
	struct svc_ws_listener *l;
	struct ws_peer *peer; /* NULL: it has ended */
};

struct svc_ws_listener {
	struct svc *svc;
	const struct svc_ws *def;
	struct ws *ws;
	struct cors cors;
	struct rate *handshakes; /* of addresses; NULL: unlimited */
	LIST_HEAD(, ws_check) checks;
	struct loop_timer drain;
	struct mono drain_began;
	size_t closing, connections; /* that a drain has closed, of so many */
};

/* ---- rejecting ---- */

static struct str
head_find(const struct http_head *h, struct str name)
{
	return header_find(h->field, h->n, name);
}

static void
listener_reject(struct svc_ws_listener *l, struct ws_peer *p,
    const struct http_head *h, const struct auth_caller *who,
    const struct rejection *why)
{
	struct trace trace;

	if (trace_parse(head_find(h, STR("traceparent")), &trace) != RC_OK)
		trace_new(&trace);
	svc_rejection_note(l->svc,
	    &(struct rejection_context){ .route = l->def->name,
		.address = str_of(ws_peer_address(p)),
		.who = who,
		.trace = &trace },
	    why);
	ws_reject(p, why->status, why->text);
}

static void
listener_reject_origin(
    struct ws_peer *p, struct str value, const char *field, const char *text)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("svc.foreign_page", LOG_V(field, value),
		    LOG_S("address", ws_peer_address(p)),
		    LOG_I("missed", missed));
	ws_reject(p, 403, text);
}

/* ---- what a client may do ---- */

/* Whether origin is "<scheme>://<host>". */
static bool
origin_is_host(struct str origin, struct str host)
{
	ptrdiff_t at = str_find(origin, STR("://"));

	if (at < 0)
		return false;
	origin.p += at + 3;
	origin.n -= (size_t)at + 3;
	return str_eq_nocase(origin, host);
}

/* Browsers let any page connect to any server, and send its Origin. */
static bool
listener_permits_page(const struct svc_ws_listener *l, struct ws_peer *p,
    const struct http_head *h)
{
	struct str host = head_find(h, STR("Host"));
	struct str origin = head_find(h, STR("Origin"));

	if (l->svc->access == NULL && l->svc->conf.auth[0] == '\0' &&
	    !svc_host_is_local(host)) {
		listener_reject_origin(p, host, "host",
		    "the Host is a name other than localhost: set AUTH_TOKENS "
		    "or AUTH_JWKS, or AUTH=off, to be reached by that name");
		return false;
	}
	if (origin.p == NULL || origin_is_host(origin, host) ||
	    cors_allow(&l->cors, origin).p != NULL)
		return true;
	listener_reject_origin(
	    p, origin, "origin", "the page's Origin is not in CORS_ORIGINS");
	return false;
}

static bool
listener_is_over(struct svc_ws_listener *l, struct ws_peer *p,
    const struct http_head *h, struct rate *rate, struct str key,
    const struct auth_caller *who)
{
	if (rate == NULL || rate_take(rate, key, clock_mono()) == 0)
		return false;
	listener_reject(l, p, h, who,
	    &(struct rejection){ REJECTION_RATE, 429, "rate_limited",
		"too many connections are opened", NULL });
	return true;
}

/* The token of a request; absent: none, or one that is none. */
static struct str
head_token(const struct http_head *h)
{
	struct str s = head_find(h, STR("Authorization")), scheme = s;

	if (s.p == NULL)
		return handshake_offer_after(h, SUBPROTOCOL);
	scheme.n = BEARER.n;
	if (header_count(h->field, h->n, STR("Authorization")) != 1 ||
	    s.n <= BEARER.n || !str_eq_nocase(scheme, BEARER))
		return (struct str){ NULL, 0 };
	return (struct str){ s.p + BEARER.n, s.n - BEARER.n };
}

static void
listener_on_caller(
    void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	struct ws_check *check = arg;
	struct svc_ws_listener *l = check->l;
	struct ws_peer *p = check->peer;
	struct http_head h;

	LIST_REMOVE(check, link);
	free(check);
	/* A drain may have closed it meanwhile. */
	if (p == NULL || !ws_peer_head(p, &h))
		return;
	if (rc == RC_DENIED) {
		listener_reject(l, p, &h, NULL,
		    &(struct rejection){
			REJECTION_TOKEN, 401, "unauthenticated", why, NULL });
	} else if (rc != RC_OK) {
		ws_reject(p, 503, why);
	} else if ((l->def->roles & 1U << who->role) == 0) {
		listener_reject(l, p, &h, who,
		    &(struct rejection){ REJECTION_ROLE, 403,
			rc_name(RC_DENIED),
			"the role of the access token may not do this", NULL });
	} else if (!listener_is_over(l, p, &h, l->svc->access->tokens,
		       (struct str){
			   (const char *)&who->key, sizeof(who->key) },
		       who)) {
		l->def->on_request(l->svc->app, p, &h, who);
	}
}

struct ws_check_start {
	struct ws_check *check;
	struct str token;
};

/* In a fiber, since a terminal may have to be looked up. */
static void
listener_check(void *arg)
{
	const struct ws_check_start *start = arg;

	auth_check(start->check->l->svc->access->auth, start->token,
	    listener_on_caller, start->check);
}

static void
listener_authenticate(
    struct svc_ws_listener *l, struct ws_peer *p, const struct http_head *h)
{
	struct ws_check_start start = { .token = head_token(h) };
	struct ws_check *check;

	if (start.token.p == NULL) {
		listener_reject(l, p, h, NULL,
		    &(struct rejection){ REJECTION_NO_TOKEN, 401,
			"unauthenticated",
			"an access token is needed: one header Authorization: "
			"Bearer <token>, or a subprotocol soul.bearer.<token>",
			NULL });
		return;
	}
	check = mem_zalloc(sizeof(*check));
	check->l = l;
	check->peer = p;
	LIST_INSERT_HEAD(&l->checks, check, link);
	start.check = check;
	fiber_start(listener_check, &start);
}

/* ---- events of the listener ---- */

/* Before it is known who it is. */
static bool
listener_may_try(
    struct svc_ws_listener *l, struct ws_peer *p, const struct http_head *h)
{
	return listener_permits_page(l, p, h) &&
	    !listener_is_over(
		l, p, h, l->handshakes, str_of(ws_peer_address(p)), NULL);
}

static void
listener_on_request(void *arg, struct ws_peer *p, const struct http_head *h)
{
	struct svc_ws_listener *l = arg;

	if (!listener_may_try(l, p, h))
		return;
	if (l->svc->access == NULL)
		l->def->on_request(l->svc->app, p, h, NULL);
	else
		listener_authenticate(l, p, h);
}

/* Without a token: they are the same for everybody. */
static bool
listener_on_file(void *arg, struct ws_peer *p, const struct http_head *h)
{
	return listener_may_try(arg, p, h);
}

static void
listener_on_message(void *arg, struct ws_peer *p, struct str data, bool binary)
{
	const struct svc_ws_listener *l = arg;

	l->def->on_message(l->svc->app, p, data, binary);
}

static void
listener_on_room(void *arg, struct ws_peer *p)
{
	const struct svc_ws_listener *l = arg;

	l->def->on_room(l->svc->app, p);
}

static void
listener_on_end(void *arg, struct ws_peer *p, const struct ws_end *end)
{
	struct svc_ws_listener *l = arg;
	struct ws_check *check;

	LIST_FOREACH (check, &l->checks, link)
		if (check->peer == p)
			check->peer = NULL;
	if (ws_peer_arg(p) != NULL)
		l->def->on_end(l->svc->app, p, end);
	if (atomic_load(&l->svc->draining))
		svc_drain_step(l->svc);
}

/* ---- its life ---- */

enum rc
svc_ws_start(struct svc *s)
{
	const struct svc_conf *conf = &s->conf;
	struct proxy_nets proxies;
	struct ws_opts o = { .loop = s->loop, .addr = conf->http_addr };
	struct svc_ws_listener *l;

	if (s->def->ws == NULL)
		return RC_OK;
	s->ws = l = mem_zalloc(sizeof(*l));
	l->svc = s;
	l->def = s->def->ws;
	LIST_INIT(&l->checks);
	/* Both are valid: the configuration was checked. */
	if (proxy_nets_parse(str_of(conf->trusted_proxies), &proxies) !=
		RC_OK ||
	    cors_parse(str_of(conf->cors_origins), &l->cors) != RC_OK)
		return RC_INVALID;
	l->def->limits(s->app_conf, &o);
	o.proxies = &proxies;
	o.handler =
	    (struct ws_handler){ listener_on_request, listener_on_message,
		    listener_on_room, listener_on_end, listener_on_file, l };
	o.files = l->def->files;
	o.nfiles = l->def->nfiles;
	if (s->access != NULL) {
		o.per_address = conf->http_per_address > 0
		    ? (size_t)conf->http_per_address
		    : (o.connections_max + 1) / 2;
		if (conf->rate_address_per_s > 0)
			l->handshakes = rate_new(conf->rate_address_per_s,
			    conf->rate_address_burst, ADDRESSES_MAX);
	}
	return ws_new(&o, &l->ws);
}

struct ws *
svc_ws_listener(struct svc *s)
{
	return s->ws != NULL ? s->ws->ws : NULL;
}

/* How many should be closed by now, if a drain is spread over its time. */
static size_t
listener_drain_due(const struct svc_ws_listener *l)
{
	int64_t all = l->svc->conf.drain_timeout_ms - DRAIN_SPARE_MS;
	int64_t ms = mono_diff_ms(clock_mono(), l->drain_began) + DRAIN_MS;

	if (ms >= all)
		return l->connections;
	return l->connections * (size_t)ms / (size_t)all;
}

static void
listener_drain_some(void *arg)
{
	struct svc_ws_listener *l = arg;
	size_t due = listener_drain_due(l), n = DRAIN_LEAST;

	if (due > l->closing + n)
		n = due - l->closing;
	l->closing += n;
	if (ws_close_some(l->ws, n, WS_CLOSE_GOING_AWAY,
		str_of(l->def->drain_reason)) > 0)
		loop_timer_set(l->svc->loop, &l->drain,
		    mono_add_ms(clock_mono(), DRAIN_MS), listener_drain_some,
		    l);
}

void
svc_ws_drain(struct svc *s)
{
	struct svc_ws_listener *l = s->ws;

	if (l == NULL)
		return;
	ws_stop(l->ws);
	l->drain_began = clock_mono();
	l->connections = ws_count(l->ws);
	listener_drain_some(l);
}

bool
svc_ws_is_empty(const struct svc *s)
{
	return s->ws == NULL || ws_count(s->ws->ws) == 0;
}

void
svc_ws_free(struct svc *s)
{
	struct svc_ws_listener *l = s->ws;

	if (l == NULL)
		return;
	loop_timer_cancel(s->loop, &l->drain);
	ws_free(l->ws);
	l->ws = NULL;
}

void
svc_ws_forget(struct svc *s)
{
	struct svc_ws_listener *l = s->ws;

	if (l == NULL)
		return;
	rate_free(l->handshakes);
	free(l);
	s->ws = NULL;
}
