/*
 * From a terminal to its soul.
 */
#include "binding.h"

#include "caller.h"
#include "core/arena.h"
#include "gateway.h"
#include "hint.h"
#include "on_souls.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "text.h"
#include "wire/msgs.h"

#define NO_SOUL      "soul selection is required before chat"
#define NO_SUCH_SOUL "soul not found"

/*
 * Another request may make the soul that this one misses, or bind the terminal
 * that was free; then it is there.
 */
#define TRIES 2

static bool
is_full(struct gateway *g, struct svc_call *c, struct str user)
{
	struct str *ids;
	size_t n;

	return terminal_list(g->state, user, svc_call_arena(c), &ids, &n) ==
	    RC_OK &&
	    n >= TERMINAL_LIST_MAX;
}

void
binding_audit(struct svc_call *c, const char *how, const struct binding *b)
{
	svc_audit_call(c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_BINDING_CHANGED,
		.user_id = b->user_id,
		.terminal_id = b->terminal_id,
		.soul_id = b->soul_id,
		.reason = str_of(how) });
}

/* A chat that asks for its terminal's soul. */
struct asking {
	struct gateway *g;
	struct svc_call *c;
	const struct wire_chat_request *req;
	struct str user;
};

static void
refuse_other_user(struct svc_call *c, struct str terminal)
{
	gateway_refuse(c, RC_CONFLICT, "terminal %.*s is bound by another user",
	    STR_ARG(terminal));
}

/* Where callers are known nobody learns what others have. */
static void
refuse_other_owner(struct svc_call *c, struct str soul, struct str user)
{
	if (svc_call_caller(c) != NULL)
		svc_fail(c, RC_INVALID, NO_SUCH_SOUL);
	else
		gateway_refuse(c, RC_INVALID,
		    "soul %.*s does not belong to user %.*s", STR_ARG(soul),
		    STR_ARG(user));
}

/* Answer a binding that failed. */
static void
refuse(
    struct gateway *g, struct svc_call *c, const struct binding *b, enum rc rc)
{
	if (rc == RC_NOENT)
		svc_fail(c, RC_INVALID, NO_SUCH_SOUL);
	else if (rc == RC_DENIED)
		refuse_other_owner(c, b->soul_id, b->user_id);
	else if (rc == RC_CONFLICT)
		refuse_other_user(c, b->terminal_id);
	else if (rc == RC_RETRY && is_full(g, c, b->user_id))
		gateway_refuse(c, RC_CONFLICT,
		    "a user has at most %d terminals", TERMINAL_LIST_MAX);
	else
		gateway_fail(c, rc);
}

/* Whether the user may have the terminal; else answered. */
static bool
may_have(
    struct gateway *g, struct svc_call *c, struct str terminal, struct str user)
{
	enum rc rc = caller_may_have(g, c, terminal, user);

	if (rc == RC_NOENT)
		svc_fail(c, rc, "terminal not found");
	else if (rc != RC_OK)
		gateway_fail(c, rc);
	return rc == RC_OK;
}

bool
binding_make(struct gateway *g, struct svc_call *c, const struct binding *b)
{
	enum rc rc;

	if (!may_have(g, c, b->terminal_id, b->user_id))
		return false;
	rc = terminal_bind(g->state, b->terminal_id, b->user_id, b->soul_id);
	if (rc == RC_OK)
		binding_audit(c, "selected", b);
	else
		refuse(g, c, b, rc);
	return rc == RC_OK;
}

/* The client believes in a soul that is not the terminal's: say why not. */
static void
refuse_soul(const struct asking *k)
{
	struct soul soul;
	enum rc rc;

	rc = soul_read(
	    k->g->state, k->req->soul_id, svc_call_arena(k->c), &soul);
	if (rc == RC_NOENT)
		svc_fail(k->c, RC_INVALID, NO_SUCH_SOUL);
	else if (rc != RC_OK)
		gateway_fail(k->c, rc);
	else if (!str_eq(soul.user_id, k->user))
		refuse_other_owner(k->c, k->req->soul_id, k->user);
	else
		gateway_refuse(k->c, RC_INVALID,
		    "terminal %.*s has another soul than %.*s",
		    STR_ARG(k->req->terminal_id), STR_ARG(k->req->soul_id));
}

/*
 * The soul whose id or name is want.  RC_NOENT if that is none or more than
 * one; *missing tells which.
 */
static enum rc
find(const struct asking *k, struct str want, struct str *soul, bool *missing)
{
	const struct soul *found;
	struct soul *list;
	size_t n, matches;
	enum rc rc;

	rc = soul_list(k->g->state, k->user, svc_call_arena(k->c), &list, &n);
	if (rc != RC_OK)
		return rc;
	matches = hint_find(list, n, want, &found);
	*missing = matches == 0;
	if (matches != 1)
		return RC_NOENT;
	*soul = found->id;
	return RC_OK;
}

/*
 * The soul that the terminal is to have by its hint; or, for clients that know
 * nothing of souls, the one called as the terminal.
 */
static enum rc
wanted_soul(const struct asking *k, const struct terminal *t, struct str *soul)
{
	const struct gateway_conf *conf = k->g->conf;
	struct str want = text_trim(k->req->soul_hint);
	bool create = conf->soul_auto_create && k->req->soul_id.p == NULL;
	bool missing = false;
	struct soul made;
	enum rc rc = RC_NOENT;
	int i;

	if (want.n == 0)
		want = text_trim(t->soul_hint);
	if (want.n == 0 && create)
		want = k->req->terminal_id;
	if (str_utf8_count(want) > SOULS_NAME_MAX)
		create = false;
	for (i = 0; i < TRIES && want.n > 0; i++) {
		rc = find(k, want, soul, &missing);
		if (rc != RC_NOENT || !missing || !create)
			return rc;
		rc = souls_make(k->g, k->c,
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
 * Bind a terminal that nobody has bound.  RC_OK: the chat may begin.
 * RC_CONFLICT: somebody has bound it meanwhile.  Any other: the call has been
 * answered.
 */
static enum rc
bind_by_hint(const struct asking *k, const struct terminal *t)
{
	struct binding b = { .terminal_id = k->req->terminal_id,
		.user_id = k->user };
	enum rc rc;

	rc = wanted_soul(k, t, &b.soul_id);
	if (rc == RC_NOENT) {
		svc_fail(k->c, RC_INVALID, NO_SOUL);
		return RC_NOENT;
	}
	if (rc != RC_OK) {
		souls_refuse(k->c, rc);
		return RC_DENIED;
	}
	if (k->req->soul_id.p != NULL && !str_eq(k->req->soul_id, b.soul_id)) {
		refuse_soul(k);
		return RC_DENIED;
	}
	rc = terminal_bind_free(
	    k->g->state, b.terminal_id, b.user_id, b.soul_id);
	if (rc == RC_OK)
		binding_audit(k->c, "soul_hint", &b);
	else if (rc != RC_CONFLICT)
		refuse(k->g, k->c, &b, rc);
	return rc;
}

/* Whether the chat may begin with the terminal as it is bound; else answered.
 */
static bool
fits(const struct asking *k, const struct terminal *t)
{
	if (!str_eq(t->user_id, k->user))
		refuse_other_user(k->c, k->req->terminal_id);
	else if (k->req->soul_id.p != NULL &&
	    !str_eq(k->req->soul_id, t->soul_id))
		refuse_soul(k);
	else
		return true;
	return false;
}

/*
 * A terminal speaks for the user who bound it; it has no say in who that is.
 * False: answered.
 */
static bool
take_binder(struct asking *k, const struct terminal *t)
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
	return may_have(k->g, k->c, k->req->terminal_id, k->user);
}

static bool
check(struct asking *k)
{
	bool itself = caller_is_terminal(k->c);
	struct terminal t;
	enum rc rc = RC_CONFLICT;
	int i;

	for (i = 0; i < TRIES && rc == RC_CONFLICT; i++) {
		arena_reset(k->g->scratch);
		rc = terminal_read_brief(k->g->state, k->req->terminal_id,
		    gateway_ttl_ms(k->g), k->g->scratch, &t);
		if (rc != RC_OK) {
			gateway_fail(k->c, rc);
			return false;
		}
		if (itself && !take_binder(k, &t))
			return false;
		if (t.soul_id.p != NULL)
			return fits(k, &t);
		rc = bind_by_hint(k, &t);
	}
	/* It was bound and unbound again under our hands. */
	if (rc == RC_CONFLICT)
		svc_fail(k->c, RC_INVALID, NO_SOUL);
	return rc == RC_OK;
}

bool
binding_check(struct gateway *g, struct svc_call *c, struct str *user)
{
	struct asking k = { .g = g, .c = c, .req = svc_call_request(c) };

	if (!caller_is_terminal(c) &&
	    (!caller_user(g, c, k.req->user_id, &k.user) ||
		!may_have(g, c, k.req->terminal_id, k.user)))
		return false;
	if (!check(&k))
		return false;
	*user = k.user;
	return true;
}
