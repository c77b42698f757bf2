/*
 * From the Authorization header to the handler.
 */
#include "svc/guard.h"

#include <stdlib.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "core/worker.h"
#include "svc/call.h"
#include "svc/guard_own.h"
#include "svc/host.h"
#include "svc/named.h"
#include "wire/wire.h"

/* Tokens whose use is counted. */
#define RATE_KEYS 16384
/* A forged signature costs a thread's time; one thread is not the machine. */
#define THREADS 1

/* A page that points here is told of so often. */
#define NAME_EVERY_S 10

#define LEAD "Bearer "

enum rc
guard_start(struct svc *s)
{
	const struct svc_conf *conf = &s->conf;
	struct svc_guard *g;
	struct auth_opts o;
	enum rc rc;

	if (!svc_def_has_http(s->def))
		return RC_OK;
	guard_conf_warn(conf);
	if (conf->auth_tokens[0] == '\0' && conf->auth_jwks[0] == '\0')
		return RC_OK;
	g = mem_zalloc(sizeof(*g));
	g->svc = s;
	/* Each check is of a request, and these are counted already. */
	g->workers = worker_new(s->loop, THREADS, (size_t)conf->http_workers);
	o = guard_auth_opts(conf);
	o.loop = s->loop;
	o.workers = g->workers;
	o.metrics = s->metrics;
	g->refusals = refusals_new(s->metrics);
	g->rate =
	    rate_new(conf->rate_token_per_s, conf->rate_token_burst, RATE_KEYS);
	g->bodies =
	    rate_new(conf->rate_token_per_s, conf->rate_token_burst, RATE_KEYS);
	s->guard = g;
	rc = auth_new(&o, &g->auth);
	if (rc == RC_OK)
		guard_streams_start(g);
	return rc;
}

void
guard_stop(struct svc *s)
{
	struct svc_guard *g = s->guard;

	if (g == NULL)
		return;
	guard_streams_stop(g);
	worker_free(g->workers);
	auth_free(g->auth);
	rate_free(g->rate);
	rate_free(g->bodies);
	refusals_free(g->refusals);
	free(g);
	s->guard = NULL;
}

struct auth *
svc_auth(struct svc *s)
{
	return s->guard != NULL ? s->guard->auth : NULL;
}

/* ---- refusing ----------------------------------------------------------- */

static void
turn_away(struct svc_call *c, const struct refusal *why)
{
	refuse(c->lane->svc->guard->refusals, c, why);
}

static void
unauthenticated(struct svc_call *c, enum refusal_reason reason,
    const char *challenge, const char *text)
{
	turn_away(c,
	    &(struct refusal){
		reason, 401, "unauthenticated", text, challenge });
}

/* text of what is named where: "/user_id: is not …". */
static void
not_his(struct svc_call *c, enum rc rc, enum refusal_reason reason,
    const char *where, const char *text)
{
	struct str s = arena_printf(c->arena, "%s: %s", where, text);

	if (rc == RC_DENIED)
		turn_away(c,
		    &(struct refusal){ reason, 403, rc_name(rc), s.p, NULL });
	else
		svc_fail(c, rc, s.p);
}

/* ---- the token ---------------------------------------------------------- */

static bool
is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~+/=", c));
}

struct str
guard_bearer(struct httpd_req *r)
{
	const struct str none = { NULL, 0 };
	struct str s = httpd_req_header(r, "Authorization");
	struct str lead = s;
	size_t i;

	lead.n = sizeof(LEAD) - 1;
	if (s.n <= lead.n || !str_eq_nocase(lead, STR(LEAD)))
		return none;
	s.p += lead.n;
	s.n -= lead.n;
	for (i = 0; i < s.n; i++) {
		if (!is_token_char(s.p[i]))
			return none;
	}
	return s;
}

/* ---- what a known caller may ask ---------------------------------------- */

static bool
is_over(struct svc_call *c, struct rate *rate, struct str key, const char *text)
{
	int64_t ms = rate_take(rate, key, clock_mono());

	if (ms == 0)
		return false;
	httpd_retry_after(c->http, (int)((ms + 999) / 1000));
	turn_away(c,
	    &(struct refusal){ REFUSAL_RATE, 429, "rate_limited", text, NULL });
	return true;
}

static struct str
token_key(const struct svc_call *c)
{
	return (
	    struct str){ (const char *)&c->caller.key, sizeof(c->caller.key) };
}

static bool
is_too_often(struct svc_call *c)
{
	return is_over(c, c->lane->svc->guard->rate, token_key(c),
	    "the access token is used too often, or for what costs much; wait "
	    "as long as Retry-After says");
}

/* Several tokens may be for one body. */
static bool
is_body_too_often(struct svc_call *c, struct str terminal)
{
	char text[GUARD_BODY_MAX];

	return terminal.n > 0 &&
	    is_over(c, c->lane->svc->guard->bodies,
		guard_body(c, terminal, text),
		"the body is used too often, or for what costs much; wait "
		"as long as Retry-After says");
}

static bool
has_no_role(struct svc_call *c)
{
	if ((c->lane->roles & 1U << c->caller.role) != 0)
		return false;
	turn_away(c,
	    &(struct refusal){ REFUSAL_ROLE, 403, rc_name(RC_DENIED),
		"the role of the access token may not ask this",
		"insufficient_scope" });
	return true;
}

/* Whether the caller may name this user; what is named becomes full. */
static bool
may_name_user(struct svc_call *c, const char *where, struct str *user)
{
	const char *why = "";
	enum rc rc = named_user(&c->caller, c->arena, *user, user, &why);

	if (rc != RC_OK)
		not_his(c, rc, REFUSAL_USER, where, why);
	return rc == RC_OK;
}

static bool
may_name_terminal(struct svc_call *c, const char *where, struct str *id)
{
	const char *why = "";
	enum rc rc = named_terminal(&c->caller, *id, id, &why);

	if (rc != RC_OK)
		not_his(c, rc, REFUSAL_TERMINAL, where, why);
	return rc == RC_OK;
}

/* The i-th {…} of the route's path, without braces; absent: there is none. */
static struct str
placeholder(const struct svc_route *r, size_t i)
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
names_his_own(struct svc_call *c)
{
	struct str user = httpd_req_query(c->http, "user_id");
	struct str terminal = httpd_req_query(c->http, "terminal_id");
	struct str name, value;
	size_t i;

	if (!may_name_user(c, "user_id", &user) ||
	    !may_name_terminal(c, "terminal_id", &terminal))
		return false;
	for (i = 0; (name = placeholder(c->lane->route, i)).p != NULL; i++) {
		value = httpd_req_param(c->http, i);
		if (str_eq(name, STR("user_id")) &&
		    !may_name_user(c, "user_id", &value))
			return false;
		if (str_eq(name, STR("terminal_id")) &&
		    !may_name_terminal(c, "terminal_id", &value))
			return false;
	}
	return true;
}

bool
guard_checks_request(struct svc_call *c)
{
	const struct wire_desc *d = c->lane->route->request;
	struct str *user, *terminal;

	if (!c->known || d == NULL)
		return true;
	user = wire_text_of(d, c->request, STR("user_id"));
	terminal = wire_text_of(d, c->request, STR("terminal_id"));
	return (user == NULL || may_name_user(c, "/user_id", user)) &&
	    (terminal == NULL ||
		(may_name_terminal(c, "/terminal_id", terminal) &&
		    !is_body_too_often(c, *terminal)));
}

/* ---- the way in --------------------------------------------------------- */

static void
know(struct svc_call *c, const struct auth_caller *who)
{
	c->caller = *who;
	c->caller.tenant = arena_str(c->arena, who->tenant);
	c->caller.user = arena_str(c->arena, who->user);
	c->caller.terminal_id = arena_str(c->arena, who->terminal_id);
	c->known = true;
}

static void
on_caller(void *arg, enum rc rc, const struct auth_caller *who, const char *why)
{
	struct svc_call *c = arg;

	log_trace_set(c->trace.trace_id);
	if (rc == RC_DENIED) {
		unauthenticated(c, REFUSAL_TOKEN, "invalid_token", why);
	} else if (rc != RC_OK) {
		svc_fail(c, rc, why);
	} else if (clock_wall().ms >= c->deadline.ms) {
		/* Nobody waits any more for what would be done now. */
		svc_fail(c, RC_TIMEOUT, "deadline exceeded");
	} else {
		know(c, who);
		if (!is_too_often(c) && !has_no_role(c) && names_his_own(c))
			svc_call_serve(c);
	}
	log_trace_set("");
}

static void
refuse_name(struct svc_call *c, struct str host)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, NAME_EVERY_S, &missed))
		log_warn("svc.foreign_host", LOG_V("host", host),
		    LOG_V("address", svc_call_address(c)),
		    LOG_I("missed", missed));
	svc_fail(c, RC_DENIED,
	    "the Host is a name other than localhost: set AUTH_TOKENS or "
	    "AUTH_JWKS, or say AUTH=off, to be asked by that name");
}

/* Nobody is known here; who says AUTH=off lets anybody in. */
static void
enter_unknown(struct svc_call *c)
{
	struct str host = httpd_req_header(c->http, "Host");

	if (c->lane->svc->conf.auth[0] == '\0' && !host_is_local(host))
		refuse_name(c, host);
	else
		svc_call_serve(c);
}

void
guard_enter(struct svc_call *c)
{
	struct svc_guard *g = c->lane->svc->guard;
	struct str token;

	if (g == NULL) {
		enter_unknown(c);
		return;
	}
	log_trace_set(c->trace.trace_id);
	token = guard_bearer(c->http);
	if (httpd_req_query(c->http, "access_token").p != NULL)
		unauthenticated(c, REFUSAL_HEADER, "invalid_request",
		    "the access token must be in the Authorization header, not "
		    "in the address");
	else if (httpd_req_header_count(c->http, "Authorization") == 0)
		unauthenticated(c, REFUSAL_NO_TOKEN, NULL,
		    "an access token is needed: Authorization: Bearer <token>");
	else if (httpd_req_header_count(c->http, "Authorization") > 1 ||
	    token.p == NULL)
		unauthenticated(c, REFUSAL_HEADER, "invalid_request",
		    "there must be one header Authorization: Bearer <token>");
	else
		auth_check(g->auth, token, on_caller, c);
}

/* ---- what handlers see of it -------------------------------------------- */

const struct auth_caller *
svc_call_caller(const struct svc_call *c)
{
	return c->known ? &c->caller : NULL;
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

	if (!c->known)
		return named;
	if (named_user(&c->caller, c->arena, named, &user, &why) != RC_OK)
		return (struct str){ 0 };
	return user;
}

/* What was asked for under this name, in full. */
static struct str
in_full(const struct svc_call *c, struct str name, struct str value)
{
	const char *why;

	if (!c->known)
		return value;
	if (str_eq(name, STR("user_id")))
		return svc_call_user(c, value);
	if (str_eq(name, STR("terminal_id")) &&
	    named_terminal(&c->caller, value, &value, &why) != RC_OK)
		return (struct str){ 0 };
	return value;
}

struct str
svc_call_param(const struct svc_call *c, size_t i)
{
	if (c->http == NULL)
		return (struct str){ 0 };
	return in_full(
	    c, placeholder(c->lane->route, i), httpd_req_param(c->http, i));
}

struct str
svc_call_query(struct svc_call *c, const char *name)
{
	if (c->http == NULL)
		return (struct str){ 0 };
	return in_full(c, str_of(name), httpd_req_query(c->http, name));
}

bool
svc_call_has_query(struct svc_call *c, const char *name)
{
	return c->http != NULL && httpd_req_query(c->http, name).p != NULL;
}
