/*
 * From a terminal to its soul.
 */
#include "binding.h"

#include "core/arena.h"
#include "gateway.h"
#include "hint.h"
#include "on_souls.h"
#include "state/soul.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "text.h"
#include "wire/msgs.h"

#define NO_SOUL "soul selection is required before chat"

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

static void
refuse_other_user(struct svc_call *c, struct str terminal)
{
	gateway_refuse(c, RC_CONFLICT, "terminal %.*s is bound by another user",
	    STR_ARG(terminal));
}

static void
refuse_other_owner(struct svc_call *c, struct str soul, struct str user)
{
	gateway_refuse(c, RC_INVALID, "soul %.*s does not belong to user %.*s",
	    STR_ARG(soul), STR_ARG(user));
}

/* Answer a binding that failed. */
static void
refuse(
    struct gateway *g, struct svc_call *c, const struct binding *b, enum rc rc)
{
	if (rc == RC_NOENT)
		svc_fail(c, RC_INVALID, "soul not found");
	else if (rc == RC_DENIED)
		refuse_other_owner(c, b->soul_id, b->user_id);
	else if (rc == RC_CONFLICT)
		refuse_other_user(c, b->terminal_id);
	else if (rc == RC_AGAIN && is_full(g, c, b->user_id))
		gateway_refuse(c, RC_CONFLICT,
		    "a user has at most %d terminals", TERMINAL_LIST_MAX);
	else
		gateway_fail(c, rc);
}

bool
binding_make(struct gateway *g, struct svc_call *c, const struct binding *b)
{
	enum rc rc;

	rc = terminal_bind(g->state, b->terminal_id, b->user_id, b->soul_id);
	if (rc != RC_OK)
		refuse(g, c, b, rc);
	return rc == RC_OK;
}

/* The client believes in a soul that is not the terminal's: say why not. */
static void
refuse_soul(struct gateway *g, struct svc_call *c)
{
	const struct wire_chat_request *req = svc_call_request(c);
	struct str user = gateway_user(g, req->user_id);
	struct soul soul;
	enum rc rc;

	rc = soul_read(g->state, req->soul_id, svc_call_arena(c), &soul);
	if (rc == RC_NOENT)
		svc_fail(c, RC_INVALID, "soul not found");
	else if (rc != RC_OK)
		gateway_fail(c, rc);
	else if (!str_eq(soul.user_id, user))
		refuse_other_owner(c, req->soul_id, user);
	else
		gateway_refuse(c, RC_INVALID,
		    "terminal %.*s has another soul than %.*s",
		    STR_ARG(req->terminal_id), STR_ARG(req->soul_id));
}

/*
 * The soul whose id or name is want.  RC_NOENT if that is none or more than
 * one; *missing tells which.
 */
static enum rc
find(struct gateway *g, struct svc_call *c, struct str want, struct str *soul,
    bool *missing)
{
	const struct wire_chat_request *req = svc_call_request(c);
	const struct soul *found;
	struct soul *list;
	size_t n, matches;
	enum rc rc;

	rc = soul_list(g->state, gateway_user(g, req->user_id),
	    svc_call_arena(c), &list, &n);
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
wanted_soul(struct gateway *g, struct svc_call *c, const struct terminal *t,
    struct str *soul)
{
	const struct wire_chat_request *req = svc_call_request(c);
	struct str want = text_trim(req->soul_hint);
	bool create = g->conf->soul_auto_create && req->soul_id.p == NULL;
	bool missing = false;
	struct soul made;
	enum rc rc = RC_NOENT;
	int i;

	if (want.n == 0)
		want = text_trim(t->soul_hint);
	if (want.n == 0 && create)
		want = req->terminal_id;
	if (str_utf8_count(want) > SOULS_NAME_MAX)
		create = false;
	for (i = 0; i < TRIES && want.n > 0; i++) {
		rc = find(g, c, want, soul, &missing);
		if (rc != RC_NOENT || !missing || !create)
			return rc;
		rc = souls_make(g, c,
		    &(struct souls_new){ gateway_user(g, req->user_id), want,
			str_of(g->conf->default_mbti) },
		    &made);
		*soul = made.id;
		if (rc != RC_CONFLICT)
			return rc;
	}
	return RC_NOENT;
}

/*
 * Bind a terminal that nobody has bound.  RC_OK: the chat may begin.
 * RC_CONFLICT: somebody has bound it meanwhile.  Any other: c has been
 * answered.
 */
static enum rc
bind_by_hint(struct gateway *g, struct svc_call *c, const struct terminal *t)
{
	const struct wire_chat_request *req = svc_call_request(c);
	struct binding b = { req->terminal_id, gateway_user(g, req->user_id),
		{ NULL, 0 } };
	enum rc rc;

	rc = wanted_soul(g, c, t, &b.soul_id);
	if (rc == RC_NOENT) {
		svc_fail(c, RC_INVALID, NO_SOUL);
		return RC_NOENT;
	}
	if (rc != RC_OK) {
		souls_refuse(c, rc);
		return RC_DENIED;
	}
	if (req->soul_id.p != NULL && !str_eq(req->soul_id, b.soul_id)) {
		refuse_soul(g, c);
		return RC_DENIED;
	}
	rc = terminal_bind_free(g->state, b.terminal_id, b.user_id, b.soul_id);
	if (rc != RC_OK && rc != RC_CONFLICT)
		refuse(g, c, &b, rc);
	return rc;
}

/* Whether the chat may begin with the terminal as it is bound; else answered.
 */
static bool
fits(struct gateway *g, struct svc_call *c, const struct terminal *t)
{
	const struct wire_chat_request *req = svc_call_request(c);

	if (!str_eq(t->user_id, gateway_user(g, req->user_id)))
		refuse_other_user(c, req->terminal_id);
	else if (req->soul_id.p != NULL && !str_eq(req->soul_id, t->soul_id))
		refuse_soul(g, c);
	else
		return true;
	return false;
}

bool
binding_check(struct gateway *g, struct svc_call *c)
{
	const struct wire_chat_request *req = svc_call_request(c);
	struct terminal t;
	enum rc rc = RC_CONFLICT;
	int i;

	for (i = 0; i < TRIES && rc == RC_CONFLICT; i++) {
		arena_reset(g->scratch);
		rc = terminal_read_brief(g->state, req->terminal_id,
		    gateway_ttl_ms(g), g->scratch, &t);
		if (rc != RC_OK) {
			gateway_fail(c, rc);
			return false;
		}
		if (t.soul_id.p != NULL)
			return fits(g, c, &t);
		rc = bind_by_hint(g, c, &t);
	}
	/* It was bound and unbound again under our hands. */
	if (rc == RC_CONFLICT)
		svc_fail(c, RC_INVALID, NO_SOUL);
	return rc == RC_OK;
}
