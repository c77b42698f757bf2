/*
 * Which soul a terminal is bound to: POST /v1/souls/select, and the check
 * before each chat.
 */
#include "terminals/binding.h"

#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "handlers.h"
#include "souls/souls_api.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "svc/tick_hint.h"
#include "wire/msgs.h"

size_t
binding_match_hint(const struct soul *list, size_t n, struct str hint,
    const struct soul **found)
{
	size_t i, matches = 0;

	*found = NULL;
	if (hint.n == 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (!str_eq(list[i].id, hint) && !str_eq(list[i].name, hint))
			continue;
		*found = &list[i];
		matches++;
	}
	return matches;
}

#define NO_SOUL      "soul selection is required before chat"
#define NO_SUCH_SOUL "soul not found"

/*
 * A concurrent request may create the soul or bind the terminal; the second
 * attempt finds it.
 */
#define TRIES 2

static bool
binding_user_is_full(struct gateway *g, struct svc_call *c, struct str user)
{
	struct terminal_listed *list;
	size_t n;

	return terminal_list(g->state, user, svc_call_arena(c), &list, &n) ==
	    RC_OK &&
	    n >= TERMINAL_LIST_MAX;
}

/* A chat whose terminal must be bound. */
struct binding_request {
	struct gateway *g;
	struct svc_call *c;
	const struct wire_chat_request *req;
	struct str user;
};

static void
binding_reject_other_user(struct svc_call *c, struct str terminal)
{
	gateway_reject(c, RC_CONFLICT, "terminal %.*s is bound by another user",
	    STR_ARG(terminal));
}

/* End c with the error of a failed binding. */
static void
binding_reject(
    struct gateway *g, struct svc_call *c, const struct binding *b, enum rc rc)
{
	if (rc == RC_NOENT)
		svc_fail(c, RC_INVALID, NO_SUCH_SOUL);
	else if (rc == RC_CONFLICT)
		binding_reject_other_user(c, b->terminal_id);
	else if (rc == RC_RETRY && binding_user_is_full(g, c, b->user_id))
		gateway_reject(c, RC_CONFLICT,
		    "a user has at most %d terminals", TERMINAL_LIST_MAX);
	else
		gateway_fail(c, rc);
}

/* Whether the user may use the terminal.  False: c has been ended. */
static bool
binding_may_use(
    struct gateway *g, struct svc_call *c, struct str terminal, struct str user)
{
	enum rc rc = caller_may_bind(g, c, terminal, user);

	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	return rc == RC_OK;
}

/* Bind in Redis; the emotion-engines must know of a soul that begins to tick.
 */
static enum rc
binding_store(struct gateway *g, const struct binding *b, bool if_unbound)
{
	const struct terminal_binding t = { b->terminal_id, b->user_id,
		b->soul_id, gateway_ttl_ms(g) };
	unsigned bucket;
	bool ticks;
	enum rc rc;

	rc = if_unbound ? terminal_bind_if_unbound(g->state, &t, &ticks)
			: terminal_bind(g->state, &t, &ticks);
	if (rc == RC_OK && ticks && state_bucket(b->user_id, &bucket) == RC_OK)
		svc_tick_hint(g->svc, bucket);
	return rc;
}

static bool
binding_make(struct gateway *g, struct svc_call *c, const struct binding *b)
{
	enum rc rc;

	if (!binding_may_use(g, c, b->terminal_id, b->user_id))
		return false;
	rc = binding_store(g, b, false);
	if (rc == RC_OK)
		gateway_audit_binding(c, "selected", b);
	else
		binding_reject(g, c, b, rc);
	return rc == RC_OK;
}

/* The soul in the request is not the terminal's: respond why. */
static void
binding_reject_soul(const struct binding_request *k)
{
	struct soul soul;
	enum rc rc;

	rc = soul_read(
	    k->g->state, k->user, k->req->soul_id, svc_call_arena(k->c), &soul);
	if (rc == RC_NOENT)
		svc_fail(k->c, RC_INVALID, NO_SUCH_SOUL);
	else if (rc != RC_OK)
		gateway_fail(k->c, rc);
	else
		gateway_reject(k->c, RC_INVALID,
		    "terminal %.*s has another soul than %.*s",
		    STR_ARG(k->req->terminal_id), STR_ARG(k->req->soul_id));
}

/*
 * The soul whose id or name is want.  RC_NOENT if there is none, then *missing
 * is set, or more than one.
 */
static enum rc
binding_find_soul(const struct binding_request *k, struct str want,
    struct str *soul, bool *missing)
{
	const struct soul *found;
	struct soul *list;
	size_t n, matches;
	enum rc rc;

	rc = soul_list(k->g->state, k->user, svc_call_arena(k->c), &list, &n);
	if (rc != RC_OK)
		return rc;
	matches = binding_match_hint(list, n, want, &found);
	*missing = matches == 0;
	if (matches != 1)
		return RC_NOENT;
	*soul = found->id;
	return RC_OK;
}

/*
 * The soul that a hint selects; with automatic creation and no hint, the one
 * named like the terminal.
 */
static enum rc
binding_wanted_soul(
    const struct binding_request *k, const struct terminal *t, struct str *soul)
{
	const struct gateway_conf *conf = k->g->conf;
	struct str want = gateway_trim_text(k->req->soul_hint);
	bool create = conf->soul_auto_create && k->req->soul_id.p == NULL;
	bool missing = false;
	struct soul made;
	enum rc rc = RC_NOENT;
	int i;

	if (want.n == 0)
		want = gateway_trim_text(t->soul_hint);
	if (want.n == 0 && create)
		want = k->req->terminal_id;
	if (str_utf8_count(want) > SOULS_NAME_MAX)
		create = false;
	for (i = 0; i < TRIES && want.n > 0; i++) {
		rc = binding_find_soul(k, want, soul, &missing);
		if (rc != RC_NOENT || !missing || !create)
			return rc;
		rc = souls_create(k->g, k->c,
		    &(struct souls_new){
			k->user, want, str_of(conf->default_mbti) },
		    &made);
		*soul = made.id;
		if (rc != RC_CONFLICT)
			return rc;
	}
	return RC_NOENT;
}

/*
 * Bind an unbound terminal.  RC_OK: the chat may start.  RC_CONFLICT: it was
 * bound concurrently.  Otherwise the call has been ended.
 */
static enum rc
binding_by_hint(const struct binding_request *k, const struct terminal *t)
{
	struct binding b = { .terminal_id = k->req->terminal_id,
		.user_id = k->user };
	enum rc rc;

	rc = binding_wanted_soul(k, t, &b.soul_id);
	if (rc == RC_NOENT) {
		svc_fail(k->c, RC_INVALID, NO_SOUL);
		return RC_NOENT;
	}
	if (rc != RC_OK) {
		souls_reject(k->c, rc);
		return RC_DENIED;
	}
	if (k->req->soul_id.p != NULL && !str_eq(k->req->soul_id, b.soul_id)) {
		binding_reject_soul(k);
		return RC_DENIED;
	}
	rc = binding_store(k->g, &b, true);
	if (rc == RC_OK)
		gateway_audit_binding(k->c, "soul_hint", &b);
	else if (rc != RC_CONFLICT)
		binding_reject(k->g, k->c, &b, rc);
	return rc;
}

/* Whether the chat may start with the terminal's binding.  False: ended. */
static bool
binding_matches(const struct binding_request *k, const struct terminal *t)
{
	if (!str_eq(t->user_id, k->user))
		binding_reject_other_user(k->c, k->req->terminal_id);
	else if (k->req->soul_id.p != NULL &&
	    !str_eq(k->req->soul_id, t->soul_id))
		binding_reject_soul(k);
	else
		return true;
	return false;
}

/*
 * A terminal chats for the user who bound it and cannot choose another.  False:
 * the call has been ended.
 */
static bool
binding_adopt_user(struct binding_request *k, const struct terminal *t)
{
	struct str tenant = caller_tenant(k->c);

	if (t->user_id.p == NULL) {
		svc_fail(k->c, RC_INVALID, NO_SOUL);
		return false;
	}
	if (!str_eq(caller_user_tenant(k->c, t->user_id), tenant)) {
		svc_fail(k->c, RC_NOENT, "terminal not found");
		return false;
	}
	k->user = arena_str(svc_call_arena(k->c), t->user_id);
	if (k->user.p == NULL) {
		gateway_fail(k->c, RC_TOOBIG);
		return false;
	}
	return binding_may_use(k->g, k->c, k->req->terminal_id, k->user);
}

static bool
binding_resolve(struct binding_request *k, struct terminal *t)
{
	bool by_terminal = caller_is_terminal(k->c);
	struct arena *a = svc_call_arena(k->c);
	enum rc rc = RC_CONFLICT;
	int i;

	for (i = 0; i < TRIES && rc == RC_CONFLICT; i++) {
		rc = terminal_read_brief(k->g->state, k->req->terminal_id,
		    gateway_ttl_ms(k->g), a, t);
		if (rc != RC_OK) {
			gateway_fail(k->c, rc);
			return false;
		}
		if (by_terminal && !binding_adopt_user(k, t))
			return false;
		if (t->soul_id.p != NULL)
			return binding_matches(k, t);
		rc = binding_by_hint(k, t);
	}
	/* Bound and unbound concurrently. */
	if (rc == RC_CONFLICT)
		svc_fail(k->c, RC_INVALID, NO_SOUL);
	return rc == RC_OK;
}

bool
binding_check(
    struct gateway *g, struct svc_call *c, struct str *user, struct terminal *t)
{
	struct binding_request k = {
		.g = g, .c = c, .req = svc_call_request(c)
	};

	if (!caller_is_terminal(c) &&
	    (!caller_user(g, c, k.req->user_id, &k.user) ||
		!binding_may_use(g, c, k.req->terminal_id, k.user)))
		return false;
	if (!binding_resolve(&k, t))
		return false;
	*user = k.user;
	return true;
}

void
on_souls_select(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	const struct wire_soul_select_request *req = svc_call_request(c);
	struct binding b = { .terminal_id = req->terminal_id,
		.soul_id = req->soul_id };

	if (!caller_user(g, c, req->user_id, &b.user_id) ||
	    !binding_make(g, c, &b))
		return;
	svc_reply(c,
	    &(struct wire_soul_select_response){ .ok = true,
		.user_id = b.user_id,
		.terminal_id = b.terminal_id,
		.soul_id = b.soul_id });
}
