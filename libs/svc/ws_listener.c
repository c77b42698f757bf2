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
	svc_ws_check_fn fn;   /* NULL: it is that of the handshake */
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

/* h NULL: without its request. */
static void
listener_note(struct svc_ws_listener *l, struct ws_peer *p,
    const struct http_head *h, const struct auth_caller *who,
    const struct rejection *why)
{
	struct trace trace;

	if (h == NULL ||
	    trace_parse(head_find(h, STR("traceparent")), &trace) != RC_OK)
		trace_new(&trace);
	svc_rejection_note(l->svc,
	    &(struct rejection_context){ .route = l->def->name,
		.address = str_of(ws_peer_address(p)),
		.who = who,
		.trace = &trace },
	    why);
}

static void
listener_reject(struct svc_ws_listener *l, struct ws_peer *p,
    const struct http_head *h, const struct auth_caller *who,
    const struct rejection *why)
{
	listener_note(l, p, h, who, why);
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

static const struct rejection listener_over = { REJECTION_RATE, 429,
	"rate_limited", "too many connections are opened", NULL };

static bool
listener_is_over(struct rate *rate, struct str key)
{
	return rate != NULL && rate_take(rate, key, clock_mono()) > 0;
}

static bool
listener_address_is_over(struct svc_ws_listener *l, struct ws_peer *p)
{
	return listener_is_over(l->handshakes, str_of(ws_peer_address(p)));
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

/* Whether the result of a check rejects the client, and why. */
static bool
listener_rejects(const struct svc_ws_listener *l, enum rc rc,
    const struct auth_caller *who, const char *why, struct rejection *out)
{
	struct str key;

	if (rc == RC_DENIED) {
		*out = (struct rejection){ REJECTION_TOKEN, 401,
			"unauthenticated", why, NULL };
		return true;
	}
	if (rc != RC_OK)
		return false;
	if ((l->def->roles & 1U << who->role) == 0) {
		*out = (struct rejection){ REJECTION_ROLE, 403,
			rc_name(RC_DENIED),
			"the role of the access token may not do this", NULL };
		return true;
	}
	key = (struct str){ (const char *)&who->key, sizeof(who->key) };
	*out = listener_over;
	return listener_is_over(l->svc->access->tokens, key);
}

/* A handshake with a token. */
static void
listener_decide(struct svc_ws_listener *l, struct ws_peer *p, enum rc rc,
    const struct auth_caller *who, const char *why)
{
	struct rejection rejection;
	struct http_head h;

	/* A drain may have closed it meanwhile. */
	if (!ws_peer_head(p, &h))
		return;
	if (listener_rejects(l, rc, who, why, &rejection))
		listener_reject(l, p, &h, who, &rejection);
	else if (rc != RC_OK)
		ws_reject(p, 503, why);
	else
		l->def->on_request(l->svc->app, p, &h, who);
}

static void
listener_on_caller(
    void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	const struct ws_check check = *(struct ws_check *)arg;
	struct rejection rejection;

	LIST_REMOVE((struct ws_check *)arg, link);
	free(arg);
	if (check.peer == NULL)
		return;
	if (check.fn == NULL) {
		listener_decide(check.l, check.peer, rc, who, why);
		return;
	}
	if (listener_rejects(check.l, rc, who, why, &rejection)) {
		listener_note(check.l, check.peer, NULL, who, &rejection);
		rc = RC_DENIED;
		why = rejection.text;
	}
	check.fn(check.l->svc->app, check.peer, rc, who, why);
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
listener_start_check(struct svc_ws_listener *l, struct ws_peer *p,
    struct str token, svc_ws_check_fn fn)
{
	struct ws_check_start start = { .token = token };
	struct ws_check *check = mem_zalloc(sizeof(*check));

	check->l = l;
	check->peer = p;
	check->fn = fn;
	LIST_INSERT_HEAD(&l->checks, check, link);
	start.check = check;
	fiber_start(listener_check, &start);
}

/* Whether it says nothing of who it is. */
static bool
listener_is_anonymous(const struct http_head *h)
{
	return head_find(h, STR("Authorization")).p == NULL &&
	    handshake_offer_after(h, SUBPROTOCOL).p == NULL;
}

static void
listener_authenticate(
    struct svc_ws_listener *l, struct ws_peer *p, const struct http_head *h)
{
	struct str token = head_token(h);

	if (token.p != NULL)
		listener_start_check(l, p, token, NULL);
	else if (l->def->token_later && listener_is_anonymous(h))
		l->def->on_request(l->svc->app, p, h, NULL);
	else
		listener_reject(l, p, h, NULL,
		    &(struct rejection){ REJECTION_NO_TOKEN, 401,
			"unauthenticated",
			"an access token is needed: one header Authorization: "
			"Bearer <token>, or a subprotocol soul.bearer.<token>",
			NULL });
}

void
svc_ws_check(
    struct svc *s, struct ws_peer *p, struct str token, svc_ws_check_fn fn)
{
	struct svc_ws_listener *l = s->ws;

	if (!listener_address_is_over(l, p)) {
		listener_start_check(l, p, token, fn);
		return;
	}
	listener_note(l, p, NULL, NULL, &listener_over);
	fn(s->app, p, RC_DENIED, NULL, listener_over.text);
}

/* ---- events of the listener ---- */

static void
listener_on_request(void *arg, struct ws_peer *p, const struct http_head *h)
{
	struct svc_ws_listener *l = arg;

	if (!listener_permits_page(l, p, h))
		return;
	if (listener_address_is_over(l, p))
		listener_reject(l, p, h, NULL, &listener_over);
	else if (l->svc->access == NULL)
		l->def->on_request(l->svc->app, p, h, NULL);
	else
		listener_authenticate(l, p, h);
}

/* Without a token: they are the same for everybody. */
static bool
listener_on_file(void *arg, struct ws_peer *p, const struct http_head *h)
{
	struct svc_ws_listener *l = arg;

	if (!listener_permits_page(l, p, h))
		return false;
	if (!listener_address_is_over(l, p))
		return true;
	listener_reject(l, p, h, NULL, &listener_over);
	return false;
}

static void
listener_on_message(void *arg, struct ws_peer *p, struct str data, bool binary)
{
	const struct svc_ws_listener *l = arg;

	l->def->on_message(l->svc->app, p, data, binary);
}

static void
listener_on_read(void *arg, struct ws_peer *p)
{
	const struct svc_ws_listener *l = arg;

	if (l->def->on_read != NULL)
		l->def->on_read(l->svc->app, p);
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

static void
listener_on_reject(void *arg, int status)
{
	const struct svc_ws_listener *l = arg;

	if (l->def->on_reject != NULL)
		l->def->on_reject(l->svc->app, status);
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
	o.handler = (struct ws_handler){ listener_on_request,
		listener_on_message, listener_on_read, listener_on_room,
		listener_on_end, listener_on_reject, listener_on_file, l };
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
