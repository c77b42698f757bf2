/*
 * Bodies over HTTP.
 */
#include "on_terminals.h"

#include <stdlib.h>

#include "binding.h"
#include "body.h"
#include "caller.h"
#include "core/arena.h"
#include "core/mem.h"
#include "gateway.h"
#include "on_identities.h"
#include "state/credential.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Records read before others have their turn on the loop. */
#define SLICE 32
/* A list of more could not be answered. */
#define LIST_MAX (32 * (size_t)1024 * 1024)

/* A list in the making. */
struct listing {
	struct gateway *g;
	struct svc_call *c;
	struct str user;
	struct str *ids;
	size_t n, next;
	struct arena *a;
	struct wire_terminal_list rep;
	struct loop_timer go_on;
};

static enum rc
read_one(struct gateway *g, struct str id, struct terminal *t)
{
	arena_reset(g->scratch);
	return terminal_read(g->state, id, gateway_ttl_ms(g), g->scratch, t);
}

static void
listing_end(struct listing *l, enum rc rc)
{
	if (rc != RC_OK)
		gateway_fail(l->c, rc);
	else
		svc_reply(l->c, &l->rep);
	arena_free(l->a);
	free(l);
}

static void
listing_go_on(void *arg)
{
	struct listing *l = arg;
	struct terminal t;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < SLICE && l->next < l->n; i++) {
		struct str id = l->ids[l->next++];

		rc = read_one(l->g, id, &t);
		/* It may have changed hands since the list was read. */
		if (rc == RC_OK && str_eq(t.user_id, l->user))
			rc = body_put(&t, id, l->g->scratch, l->a,
			    &l->rep.items[l->rep.n_items++]);
	}
	if (rc != RC_OK || l->next == l->n)
		listing_end(l, rc);
	else
		loop_timer_set(svc_loop(l->g->svc), &l->go_on, clock_mono(),
		    listing_go_on, l);
}

void
on_terminals_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct listing *l;
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	l = mem_zalloc(sizeof(*l));
	l->g = g;
	l->c = c;
	l->user = user;
	l->a = arena_new(LIST_MAX);
	rc = terminal_list(g->state, user, svc_call_arena(c), &l->ids, &l->n);
	if (rc == RC_OK) {
		l->rep.items = arena_alloc(l->a, l->n * sizeof(*l->rep.items));
		rc = l->rep.items != NULL ? RC_OK : RC_TOOBIG;
	}
	if (rc != RC_OK)
		listing_end(l, rc);
	else
		listing_go_on(l);
}

/* A maker sees the bodies that he gave an identity, but not whose they are. */
static enum rc
read_made(
    struct gateway *g, struct svc_call *c, struct str id, struct terminal *t)
{
	struct credential cr;
	enum rc rc;

	rc = identity_read(g, c, id, &cr);
	if (rc == RC_OK)
		rc = read_one(g, id, t);
	t->user_id = t->soul_id = (struct str){ NULL, 0 };
	return rc;
}

/* Another user's body is none of this one's business. */
static enum rc
read_seen(struct gateway *g, struct svc_call *c, struct str user, struct str id,
    struct terminal *t)
{
	enum rc rc = read_one(g, id, t);

	if (rc == RC_OK &&
	    (!t->known || (t->user_id.p != NULL && !str_eq(t->user_id, user))))
		return RC_NOENT;
	if (rc == RC_OK && t->user_id.p == NULL)
		rc = caller_may_have(g, c, id, user);
	return rc;
}

void
on_terminals_get(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str id = svc_call_param(c, 0), user;
	bool made = caller_is_provisioner(c);
	struct wire_terminal rep;
	struct terminal t = { 0 };
	enum rc rc;

	if ((!made && !caller_query_user(g, c, &user)) ||
	    !gateway_id(c, id, "terminal_id"))
		return;
	rc = made ? read_made(g, c, id, &t) : read_seen(g, c, user, id, &t);
	if (rc == RC_OK)
		rc = body_put(&t, id, g->scratch, svc_call_arena(c), &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else if (rc == RC_NOENT)
		svc_fail(c, rc, "terminal not found");
	else
		gateway_fail(c, rc);
}

/*
 * What a terminal is answered that could not be unbound because of rc.  Nothing
 * was left to do if it is bound by nobody, and one that the user may know.
 */
static enum rc
why_not(struct gateway *g, struct svc_call *c, struct str user, struct str id,
    enum rc rc)
{
	struct terminal t;

	if (rc == RC_DENIED && svc_call_caller(c) != NULL)
		return RC_NOENT;
	return rc == RC_NOENT ? read_seen(g, c, user, id, &t) : rc;
}

void
on_terminals_unbind(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct str id = svc_call_param(c, 0);
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user) ||
	    !gateway_id(c, id, "terminal_id"))
		return;
	rc = terminal_unbind(g->state, id, user);
	if (rc == RC_OK)
		binding_audit(
		    c, "unbound", &(struct binding){ id, user, { NULL, 0 } });
	else
		rc = why_not(g, c, user, id, rc);
	if (rc == RC_NOENT)
		svc_fail(c, rc, "terminal not found");
	else if (rc == RC_DENIED)
		gateway_refuse(c, RC_CONFLICT,
		    "terminal %.*s is bound by another user", STR_ARG(id));
	else if (rc != RC_OK)
		gateway_fail(c, rc);
	else
		svc_reply(c, &(struct wire_ok_response){ .ok = true });
}
