/*
 * access: which caller may use which route, in whose name, and how often.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "svc/svc_internal.h"
#include "wire/wire.h"

/* Tokens and terminals whose rate is tracked. */
#define RATE_KEYS 16384
/* Checking a forged signature costs time: one thread bounds that. */
#define THREADS 1
/* Checks of WebSocket clients that may wait for it. */
#define WS_CHECKS   4096
#define LOG_EVERY_S 10
#define BEARER      "Bearer "
#define US_NS       1000
#define SECOND_NS   INT64_C(1000000000)

enum rc
svc_access_start(struct svc *s)
{
	const struct svc_conf *conf = &s->conf;
	struct svc_access *a;
	struct auth_opts o;
	enum rc rc;

	if (!svc_def_has_http(s->def))
		return RC_OK;
	svc_access_conf_warn(conf);
	if (conf->auth_tokens[0] == '\0' && conf->auth_jwks[0] == '\0')
		return RC_OK;
	a = mem_zalloc(sizeof(*a));
	a->svc = s;
	/* At most one check for each connection of HTTP. */
	a->workers = worker_new(s->loop, THREADS,
	    (size_t)conf->http_workers + (s->def->ws != NULL ? WS_CHECKS : 0));
	o = svc_access_auth_opts(conf);
	o.loop = s->loop;
	o.workers = a->workers;
	o.metrics = s->metrics;
	a->rejections = svc_rejections_new(s->metrics);
	a->tokens =
	    rate_new(conf->rate_token_per_s, conf->rate_token_burst, RATE_KEYS);
	a->terminals =
	    rate_new(conf->rate_token_per_s, conf->rate_token_burst, RATE_KEYS);
	s->access = a;
	rc = auth_new(&o, &a->auth);
	if (rc == RC_OK)
		svc_stream_check_start(a);
	return rc;
}

void
svc_access_stop(struct svc *s)
{
	struct svc_access *a = s->access;

	if (a == NULL)
		return;
	svc_stream_check_stop(a);
	worker_free(a->workers);
	auth_free(a->auth);
	rate_free(a->tokens);
	rate_free(a->terminals);
	svc_rejections_free(a->rejections);
	free(a);
	s->access = NULL;
}

struct auth *
svc_auth(struct svc *s)
{
	return s->access != NULL ? s->access->auth : NULL;
}

/* ---- rejecting ---- */

static void
access_reject(struct svc_call *c, const struct rejection *why)
{
	svc_rejection_send(c, why);
}

static void
access_reject_token(struct svc_call *c, enum rejection_reason reason,
    const char *challenge, const char *text)
{
	access_reject(c,
	    &(struct rejection){
		reason, 401, "unauthenticated", text, challenge });
}

/* where names something, and text says what is wrong with it. */
static void
access_reject_named(struct svc_call *c, enum rc rc,
    enum rejection_reason reason, const char *where, const char *text)
{
	struct str s = arena_printf(c->arena, "%s: %s", where, text);

	if (rc == RC_DENIED)
		access_reject(c,
		    &(struct rejection){ reason, 403, rc_name(rc), s.p, NULL });
	else
		svc_fail(c, rc, s.p);
}

/* ---- the token ---- */

static bool
bearer_is_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~+/=", c));
}

struct str
svc_access_bearer(struct httpd_req *r)
{
	const struct str none = { NULL, 0 };
	struct str s = httpd_req_header(r, "Authorization");
	struct str scheme = s;
	size_t i;

	scheme.n = sizeof(BEARER) - 1;
	if (s.n <= scheme.n || !str_eq_nocase(scheme, STR(BEARER)))
		return none;
	s.p += scheme.n;
	s.n -= scheme.n;
	for (i = 0; i < s.n; i++) {
		if (!bearer_is_char(s.p[i]))
			return none;
	}
	return s;
}

/* ---- what a caller may do ---- */

static bool
access_is_over(
    struct svc_call *c, struct rate *rate, struct str key, const char *text)
{
	int64_t ms = rate_take(rate, key, clock_mono());

	if (ms == 0)
		return false;
	httpd_retry_after(c->http, (int)((ms + 999) / 1000));
	access_reject(c,
	    &(struct rejection){
		REJECTION_RATE, 429, "rate_limited", text, NULL });
	return true;
}

static struct str
access_token_key(const struct svc_call *c)
{
	return (
	    struct str){ (const char *)&c->caller.key, sizeof(c->caller.key) };
}

static bool
access_token_limited(struct svc_call *c)
{
	return access_is_over(c, c->endpoint->svc->access->tokens,
	    access_token_key(c),
	    "the access token is used too often, or for what costs much; wait "
	    "as long as Retry-After says");
}

/* What a terminal is counted under: a user cannot use up another user's rate.
 */
static struct str
access_terminal_key(
    const struct svc_call *c, struct str terminal, char dst[TERMINAL_KEY_MAX])
{
	(void)snprintf(dst, TERMINAL_KEY_MAX, "%.*s/%.*s/%.*s",
	    STR_ARG(c->caller.tenant), STR_ARG(c->caller.user),
	    STR_ARG(terminal));
	return str_of(dst);
}

/* Several tokens may be for one terminal. */
static bool
access_terminal_limited(struct svc_call *c, struct str terminal)
{
	char text[TERMINAL_KEY_MAX];

	return terminal.n > 0 &&
	    access_is_over(c, c->endpoint->svc->access->terminals,
		access_terminal_key(c, terminal, text),
		"the terminal is used too often, or for what costs much; wait "
		"as long as Retry-After says");
}

static bool
access_role_denied(struct svc_call *c)
{
	if ((c->endpoint->roles & 1U << c->caller.role) != 0)
		return false;
	access_reject(c,
	    &(struct rejection){ REJECTION_ROLE, 403, rc_name(RC_DENIED),
		"the role of the access token may not do this",
		"insufficient_scope" });
	return true;
}

/* Whether the caller may name this user, which becomes the full id. */
static bool
access_may_name_user(struct svc_call *c, const char *where, struct str *user)
{
	const char *why = "";
	enum rc rc = svc_caller_user(&c->caller, c->arena, *user, user, &why);

	if (rc != RC_OK)
		access_reject_named(c, rc, REJECTION_USER, where, why);
	return rc == RC_OK;
}

static bool
access_may_name_terminal(struct svc_call *c, const char *where, struct str *id)
{
	const char *why = "";
	enum rc rc = svc_caller_terminal(&c->caller, *id, id, &why);

	if (rc != RC_OK)
		access_reject_named(c, rc, REJECTION_TERMINAL, where, why);
	return rc == RC_OK;
}

/* The i-th {…} of the route's path, without braces; absent: there is none. */
static struct str
route_placeholder(const struct svc_route *r, size_t i)
{
	struct str rest = str_of(r->path), part;

	do {
		part = str_split(&rest, '/');
		if (part.n > 2 && part.p[0] == '{' && i-- == 0)
			return (struct str){ part.p + 1, part.n - 2 };
	} while (rest.p != NULL);
	return (struct str){ NULL, 0 };
}

static bool
access_check_names(struct svc_call *c)
{
	struct str user = httpd_req_query(c->http, "user_id");
	struct str terminal = httpd_req_query(c->http, "terminal_id");
	struct str name, value;
	size_t i;

	if (!access_may_name_user(c, "user_id", &user) ||
	    !access_may_name_terminal(c, "terminal_id", &terminal))
		return false;
	for (i = 0; (name = route_placeholder(c->endpoint->route, i)).p != NULL;
	     i++) {
		value = httpd_req_param(c->http, i);
		if (str_eq(name, STR("user_id")) &&
		    !access_may_name_user(c, "user_id", &value))
			return false;
		if (str_eq(name, STR("terminal_id")) &&
		    !access_may_name_terminal(c, "terminal_id", &value))
			return false;
	}
	return true;
}

bool
svc_access_check_request(struct svc_call *c)
{
	const struct wire_desc *d = c->endpoint->route->request;
	struct str *user, *terminal;

	if (!c->authenticated || d == NULL)
		return true;
	user = wire_text_of(d, c->request, STR("user_id"));
	terminal = wire_text_of(d, c->request, STR("terminal_id"));
	return (user == NULL || access_may_name_user(c, "/user_id", user)) &&
	    (terminal == NULL ||
		(access_may_name_terminal(c, "/terminal_id", terminal) &&
		    !access_terminal_limited(c, *terminal)));
}

/* ---- checks in order ---- */

static void
access_set_caller(struct svc_call *c, const struct auth_caller *who)
{
	c->caller = *who;
	c->caller.tenant = arena_str(c->arena, who->tenant);
	c->caller.user = arena_str(c->arena, who->user);
	c->caller.terminal_id = arena_str(c->arena, who->terminal_id);
	c->caller.users = arena_str(c->arena, who->users);
	c->authenticated = true;
}

static void
access_on_caller(
    void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	struct svc_call *c = arg;

	log_trace_set(c->trace.trace_id);
	if (rc == RC_DENIED) {
		access_reject_token(c, REJECTION_TOKEN, "invalid_token", why);
	} else if (rc != RC_OK) {
		svc_fail(c, rc, why);
	} else if (clock_wall().ms >= c->deadline.ms) {
		/* The caller has stopped waiting. */
		svc_fail(c, RC_TIMEOUT, "deadline exceeded");
	} else {
		access_set_caller(c, who);
		if (!access_token_limited(c) && !access_role_denied(c) &&
		    access_check_names(c))
			svc_call_serve(c);
	}
	log_trace_set("");
}

static void
access_reject_host(struct svc_call *c, struct str host)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("svc.foreign_host", LOG_V("host", host),
		    LOG_V("address", svc_call_address(c)),
		    LOG_I("missed", missed));
	svc_fail(c, RC_DENIED,
	    "the Host is a name other than localhost: set AUTH_TOKENS or "
	    "AUTH_JWKS, or AUTH=off, to be reached by that name");
}

/*
 * Without authentication a service listens on loopback, and every program of
 * this machine may call it.  A page in a browser may not; but a page whose name
 * is made to resolve to 127.0.0.1 would count as same-origin (DNS rebinding):
 * its requests have that name as their Host.
 */
static void
access_check_host(struct svc_call *c)
{
	struct str host = httpd_req_header(c->http, "Host");

	if (c->endpoint->svc->conf.auth[0] == '\0' && !svc_host_is_local(host))
		access_reject_host(c, host);
	else
		svc_call_serve(c);
}

void
svc_access_check_call(struct svc_call *c)
{
	struct svc_access *a = c->endpoint->svc->access;
	struct str token;

	if (a == NULL) {
		access_check_host(c);
		return;
	}
	log_trace_set(c->trace.trace_id);
	token = svc_access_bearer(c->http);
	if (httpd_req_query(c->http, "access_token").p != NULL)
		access_reject_token(c, REJECTION_HEADER, "invalid_request",
		    "the access token must be in the Authorization header, not "
		    "in the address");
	else if (httpd_req_header_count(c->http, "Authorization") == 0)
		access_reject_token(c, REJECTION_NO_TOKEN, NULL,
		    "an access token is needed: Authorization: Bearer <token>");
	else if (httpd_req_header_count(c->http, "Authorization") > 1 ||
	    token.p == NULL)
		access_reject_token(c, REJECTION_HEADER, "invalid_request",
		    "there must be one header Authorization: Bearer <token>");
	else
		auth_check(a->auth, token, access_on_caller, c);
}

/* ---- for handlers ---- */

const struct auth_caller *
svc_call_caller(const struct svc_call *c)
{
	return c->authenticated ? &c->caller : NULL;
}

struct str
svc_call_address(const struct svc_call *c)
{
	return c->http != NULL ? httpd_req_address(c->http) : (struct str){ 0 };
}

struct str
svc_call_user(const struct svc_call *c, struct str named)
{
	const char *why;
	struct str user;

	if (!c->authenticated)
		return named;
	if (svc_caller_user(&c->caller, c->arena, named, &user, &why) != RC_OK)
		return (struct str){ 0 };
	return user;
}

/* The full id, if this parameter names a user or terminal. */
static struct str
access_full_id(const struct svc_call *c, struct str name, struct str value)
{
	const char *why;

	if (!c->authenticated)
		return value;
	if (str_eq(name, STR("user_id")))
		return svc_call_user(c, value);
	if (str_eq(name, STR("terminal_id")) &&
	    svc_caller_terminal(&c->caller, value, &value, &why) != RC_OK)
		return (struct str){ 0 };
	return value;
}

struct str
svc_call_param(const struct svc_call *c, size_t i)
{
	if (c->http == NULL)
		return (struct str){ 0 };
	if (c->form != NULL)
		return c->form->param;
	return access_full_id(c, route_placeholder(c->endpoint->route, i),
	    httpd_req_param(c->http, i));
}

static struct str
form_query(const struct svc_form *f, const char *name)
{
	const struct svc_form_query *q = f->query;

	if (strcmp(name, "user_id") == 0)
		return f->user_id;
	for (; q != NULL && q->name != NULL; q++)
		if (strcmp(name, q->name) == 0)
			return q->value;
	return (struct str){ 0 };
}

struct str
svc_call_query(struct svc_call *c, const char *name)
{
	if (c->http == NULL)
		return (struct str){ 0 };
	if (c->form != NULL)
		return form_query(c->form, name);
	return access_full_id(c, str_of(name), httpd_req_query(c->http, name));
}

bool
svc_call_has_query(struct svc_call *c, const char *name)
{
	return c->http != NULL &&
	    (c->form != NULL ? form_query(c->form, name)
			     : httpd_req_query(c->http, name))
		.p != NULL;
}
/* ---- users and tenants: <tenant>/<user> ---- */

/* Whether named begins with the tenant already. */
static bool
caller_has_tenant(const struct auth_caller *c, struct str named)
{
	return named.n > c->tenant.n && named.p[c->tenant.n] == '/' &&
	    memcmp(named.p, c->tenant.p, c->tenant.n) == 0;
}

static enum rc
caller_full_user(const struct auth_caller *c, struct arena *a, struct str named,
    struct str *out, const char **why)
{
	*out = named;
	if (c->tenant.p == NULL || caller_has_tenant(c, named))
		return RC_OK;
	if (memchr(named.p, '/', named.n) != NULL) {
		*why = "is of another tenant than the token";
		return RC_DENIED;
	}
	if (c->tenant.n + 1 + named.n > ID_MAX) {
		*why = "is too long with its tenant before it";
		return RC_INVALID;
	}
	*out = arena_printf(a, "%.*s/%.*s", STR_ARG(c->tenant), STR_ARG(named));
	*why = "takes too much memory";
	return out->p != NULL ? RC_OK : RC_TOOBIG;
}

/* Whether a notifier may speak to the user. */
static bool
caller_has_user(struct str users, struct str user)
{
	while (users.n > 0)
		if (str_eq(str_split(&users, '\n'), user))
			return true;
	return false;
}

enum rc
svc_caller_user(const struct auth_caller *c, struct arena *a, struct str named,
    struct str *out, const char **why)
{
	enum rc rc;

	*out = c->user;
	if (named.p == NULL)
		return RC_OK;
	if (!id_valid(named)) {
		*why = "must be 1 to 128 bytes without control characters";
		return RC_INVALID;
	}
	if (c->role == WIRE_ROLE_TERMINAL) {
		*why = "must not be there: a terminal acts for the user it is "
		       "bound to";
		return RC_DENIED;
	}
	rc = caller_full_user(c, a, named, out, why);
	if (rc == RC_OK && c->role == WIRE_ROLE_NOTIFIER) {
		*why = "is none of the users of the token";
		return caller_has_user(c->users, *out) ? RC_OK : RC_DENIED;
	}
	if (rc != RC_OK || c->role == WIRE_ROLE_OPERATOR ||
	    c->role == WIRE_ROLE_PROVISIONER)
		return rc;
	*why = "is not the user of the token";
	return c->user.p != NULL && str_eq(*out, c->user) ? RC_OK : RC_DENIED;
}

enum rc
svc_caller_terminal(const struct auth_caller *c, struct str named,
    struct str *out, const char **why)
{
	*out = named;
	if (c->role != WIRE_ROLE_TERMINAL)
		return RC_OK;
	*out = c->terminal_id;
	*why = "is not the terminal of the token";
	return named.p == NULL || str_eq(named, c->terminal_id) ? RC_OK
								: RC_DENIED;
}

/* ---- the Host header ---- */

/* No host name is all digits and dots, or in brackets. */
static bool
host_is_address(struct str s)
{
	if (s.p[0] == '[')
		return true;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '.' && (s.p[i] < '0' || s.p[i] > '9'))
			return false;
	return true;
}

bool
svc_host_is_local(struct str host)
{
	static const struct str local = STR_INIT("localhost");
	static const struct str below = STR_INIT(".localhost");
	struct str rest = str_trim(host), name;

	if (rest.n == 0 || host_is_address(rest))
		return true;
	name = str_split(&rest, ':');
	if (name.n == 0 || host_is_address(name) || str_eq_nocase(name, local))
		return name.n > 0;
	if (name.n <= below.n)
		return false;
	struct str tail = { name.p + name.n - below.n, below.n };
	return str_eq_nocase(tail, below);
}

/*
 * ---- costs ----
 *
 * Known only after the request, so that it is the next request that waits.
 */

void
svc_cost_begin(
    struct request_cost *b, const struct svc_call *c, int64_t other_ns)
{
	struct svc_access *a = c->endpoint->svc->access;

	*b = (struct request_cost){ .access = c->authenticated ? a : NULL };
	if (b->access == NULL)
		return;
	b->token = c->caller.key;
	b->bytes = svc_call_body(c).n;
	fiber_cpu_begin();
	b->other_ns = other_ns;
}

void
svc_cost_terminal(struct request_cost *b, struct svc_call *c)
{
	struct str *id;

	if (b->access == NULL)
		return;
	id = wire_text_of(
	    c->endpoint->route->request, c->request, STR("terminal_id"));
	if (id == NULL || id->n == 0)
		return;
	b->terminal = access_terminal_key(c, *id, b->text);
}

int64_t
svc_cost_hand_over(struct request_cost *b)
{
	int64_t ns = b->access != NULL ? fiber_cpu_ns() : 0;

	b->access = NULL;
	return ns;
}

void
svc_cost_end(struct request_cost *b)
{
	const struct svc_conf *conf;
	struct mono now;
	int64_t n;

	if (b->access == NULL)
		return;
	conf = &b->access->svc->conf;
	n = (int64_t)b->bytes / conf->rate_cost_bytes +
	    (b->other_ns + fiber_cpu_ns()) / (conf->rate_cost_us * US_NS);
	if (n == 0)
		return;
	now = clock_mono();
	rate_charge(b->access->tokens,
	    (struct str){ (const char *)&b->token, sizeof(b->token) }, n, now);
	if (b->terminal.n > 0)
		rate_charge(b->access->terminals, b->terminal, n, now);
}
