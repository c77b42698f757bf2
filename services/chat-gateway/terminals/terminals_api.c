/*
 * Routes that show terminals and unbind them.
 */
#include "terminals/terminals_api.h"

#include <stdlib.h>

#include "caller.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Copies go to a; rc is RC_TOOBIG once one did not fit. */
struct view_copy {
	struct arena *a;
	enum rc rc;
};

static struct str
view_copy_text(struct view_copy *vc, struct str s)
{
	struct str out = arena_str(vc->a, s);

	if (s.p != NULL && out.p == NULL)
		vc->rc = RC_TOOBIG;
	return out;
}

static struct str *
view_copy_list(struct view_copy *vc, size_t n)
{
	struct str *out = arena_alloc(vc->a, n * sizeof(*out));

	if (out == NULL)
		vc->rc = RC_TOOBIG;
	return out;
}

static bool
terminal_view_decode(struct str json, const struct wire_desc *d,
    struct arena *scratch, void *msg, struct str id)
{
	struct wire_err err;

	if (json.p == NULL)
		return false;
	if (wire_decode(d, json, scratch, msg, &err) == RC_OK)
		return true;
	log_error("gateway.stored", LOG_S("message", wire_desc_name(d)),
	    LOG_V("terminal", id), LOG_S("path", err.path),
	    LOG_S("why", err.why));
	return false;
}

static void
terminal_view_skills(struct view_copy *vc, const struct terminal *t,
    struct arena *scratch, struct wire_terminal *out)
{
	struct wire_skills_report r;
	size_t i;

	if (!t->present ||
	    !terminal_view_decode(t->skills, &wire_skills_report_desc, scratch,
		&r, out->terminal_id))
		return;
	out->skills = view_copy_list(vc, r.n_skills);
	for (i = 0; vc->rc == RC_OK && i < r.n_skills; i++)
		out->skills[out->n_skills++] =
		    view_copy_text(vc, r.skills[i].name);
}

static void
terminal_view_intents(struct view_copy *vc, const struct terminal *t,
    struct arena *scratch, struct wire_terminal *out)
{
	struct wire_intent_catalog_report r;
	size_t i;

	if (!t->present ||
	    !terminal_view_decode(t->catalog, &wire_intent_catalog_report_desc,
		scratch, &r, out->terminal_id))
		return;
	out->intents = view_copy_list(vc, r.n_intent_catalog);
	for (i = 0; vc->rc == RC_OK && i < r.n_intent_catalog; i++)
		out->intents[out->n_intents++] =
		    view_copy_text(vc, r.intent_catalog[i].id);
}

/*
 * The last rejection of each kind of report, and the newest of all.  The format
 * of times makes them comparable.
 */
static void
terminal_view_rejections(struct view_copy *vc, const struct terminal *t,
    struct arena *scratch, struct wire_terminal *out)
{
	struct wire_refusal *r;
	size_t i;

	out->refused = arena_alloc(vc->a, TERMINAL_REJECTED_N * sizeof(*r));
	if (out->refused == NULL)
		vc->rc = RC_TOOBIG;
	for (i = 0; vc->rc == RC_OK && i < TERMINAL_REJECTED_N; i++) {
		r = &out->refused[out->n_refused];
		if (!terminal_view_decode(t->rejected[i], &wire_refusal_desc,
			scratch, r, out->terminal_id))
			continue;
		r->path = view_copy_text(vc, r->path);
		r->reason = view_copy_text(vc, r->reason);
		r->at = view_copy_text(vc, r->at);
		if (!out->has_last_refused ||
		    str_cmp(out->last_refused.at, r->at) < 0)
			out->last_refused = *r;
		out->has_last_refused = true;
		out->n_refused++;
	}
	out->has_refused = out->n_refused > 0;
	if (!out->has_refused)
		out->refused = NULL;
}

enum rc
terminal_view_put(const struct terminal *t, struct str id,
    struct arena *scratch, struct arena *a, struct wire_terminal *out)
{
	struct view_copy vc = { a, RC_OK };
	char seen[WALL_FORMAT_MAX];

	*out = (struct wire_terminal){
		.terminal_id = view_copy_text(&vc, id),
		.online = t->present,
		.broker = view_copy_text(&vc, t->broker),
		.skill_version = t->skill_version,
		.catalog_version = t->catalog_version,
		.soul_hint = view_copy_text(&vc, t->soul_hint),
		.user_id = view_copy_text(&vc, t->user_id),
		.soul_id = view_copy_text(&vc, t->soul_id),
	};
	if (t->seen.ms != 0) {
		wall_format(t->seen, 0, seen);
		out->last_seen = view_copy_text(&vc, str_of(seen));
	}
	terminal_view_skills(&vc, t, scratch, out);
	terminal_view_intents(&vc, t, scratch, out);
	terminal_view_rejections(&vc, t, scratch, out);
	return vc.rc;
}

/* Records read before the loop handles other events. */
#define SLICE 32
/* Size limit of a list. */
#define LIST_MAX (32 * (size_t)1024 * 1024)

/* A list in progress. */
struct terminals_list {
	struct gateway *g;
	struct svc_call *c;
	struct str user;
	struct terminal_listed *list;
	size_t n, next;
	struct arena *a;
	struct arena *record; /* the one being read */
	struct wire_terminal_list rep;
	struct loop_timer timer;
};

static void
terminals_list_end(struct terminals_list *l, enum rc rc)
{
	if (rc != RC_OK)
		gateway_fail(l->c, rc);
	else
		svc_reply(l->c, &l->rep);
	arena_free(l->record);
	arena_free(l->a);
	free(l);
}

static void terminals_list_on_timer(void *arg);

static void
terminals_list_step(void *arg)
{
	struct terminals_list *l = arg;
	struct terminal t;
	const struct terminal_listed *of;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < SLICE && l->next < l->n; i++) {
		of = &l->list[l->next++];
		arena_reset(l->record);
		rc = terminal_read(
		    l->g->state, of->id, gateway_ttl_ms(l->g), l->record, &t);
		/*
		 * It may have been bound by another user since the list was
		 * read, or its binding was never completed.
		 */
		if (rc == RC_OK && str_eq(t.user_id, l->user))
			rc = terminal_view_put(&t, of->id, l->record, l->a,
			    &l->rep.items[l->rep.n_items++]);
		else if (rc == RC_OK &&
		    terminal_list_drop(l->g->state, l->user, of) != RC_OK)
			log_debug("terminals.entry_left");
	}
	if (rc != RC_OK || l->next == l->n)
		terminals_list_end(l, rc);
	else
		loop_timer_set(svc_loop(l->g->svc), &l->timer, clock_mono(),
		    terminals_list_on_timer, l);
}

static void
terminals_list_on_timer(void *arg)
{
	fiber_start(terminals_list_step, arg);
}

void
on_terminals_list(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct terminals_list *l;
	struct str user;
	enum rc rc;

	if (!caller_query_user(g, c, &user))
		return;
	l = mem_zalloc(sizeof(*l));
	l->g = g;
	l->c = c;
	l->user = user;
	l->a = arena_new(LIST_MAX);
	l->record = arena_new(GATEWAY_RECORD_MAX);
	rc = terminal_list(g->state, user, svc_call_arena(c), &l->list, &l->n);
	if (rc == RC_OK) {
		l->rep.items = arena_alloc(l->a, l->n * sizeof(*l->rep.items));
		rc = l->rep.items != NULL ? RC_OK : RC_TOOBIG;
	}
	if (rc != RC_OK)
		terminals_list_end(l, rc);
	else
		terminals_list_step(l);
}

/* A provisioner sees the terminals of its identities, but not their owners. */
static enum rc
terminals_read_provisioned(struct gateway *g, struct svc_call *c, struct str id,
    struct arena *a, struct terminal *t)
{
	struct credential cr;
	enum rc rc;

	rc = caller_identity(g, c, id, &cr);
	if (rc == RC_OK)
		rc = terminal_read(g->state, id, gateway_ttl_ms(g), a, t);
	t->user_id = t->soul_id = (struct str){ NULL, 0 };
	return rc;
}

/* Terminals of other users are reported as missing. */
static enum rc
terminals_read_of_user(struct gateway *g, struct svc_call *c, struct str id,
    struct str user, struct arena *a, struct terminal *t)
{
	enum rc rc = terminal_read(g->state, id, gateway_ttl_ms(g), a, t);

	if (rc == RC_OK &&
	    (!t->known || (t->user_id.p != NULL && !str_eq(t->user_id, user))))
		return RC_NOENT;
	if (rc == RC_OK && t->user_id.p == NULL)
		rc = caller_may_bind(g, c, id, user);
	return rc;
}

bool
terminal_read_visible(struct gateway *g, struct svc_call *c, struct str id,
    struct arena *a, struct terminal *t)
{
	bool by_provisioner = caller_is_provisioner(c);
	struct str user;
	enum rc rc;

	if ((!by_provisioner && !caller_query_user(g, c, &user)) ||
	    !gateway_id(c, id, "terminal_id"))
		return false;
	rc = by_provisioner ? terminals_read_provisioned(g, c, id, a, t)
			    : terminals_read_of_user(g, c, id, user, a, t);
	if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	return rc == RC_OK;
}

void
on_terminals_get(void *app, struct svc_call *c)
{
	struct str id = svc_call_param(c, 0);
	struct wire_terminal rep;
	struct arena *a = arena_new(GATEWAY_RECORD_MAX);
	struct terminal t = { 0 };
	enum rc rc = RC_OK;

	bool visible = terminal_read_visible(app, c, id, a, &t);
	if (visible)
		rc = terminal_view_put(&t, id, a, svc_call_arena(c), &rep);
	arena_free(a);
	if (visible && rc == RC_OK)
		svc_reply(c, &rep);
	else if (visible)
		gateway_fail(c, rc);
}

/*
 * The result for a terminal that could not be unbound with rc: RC_OK if it is
 * not bound and visible to the user.
 */
static enum rc
terminals_unbind_error(
    struct gateway *g, struct svc_call *c, struct str user, enum rc rc)
{
	struct terminal t;
	struct arena *a;

	if (rc == RC_DENIED && svc_call_caller(c) != NULL)
		return RC_NOENT;
	if (rc != RC_NOENT)
		return rc;
	a = arena_new(GATEWAY_RECORD_MAX);
	rc = terminals_read_of_user(g, c, svc_call_param(c, 0), user, a, &t);
	arena_free(a);
	return rc;
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
		gateway_audit_binding(
		    c, "unbound", &(struct binding){ id, user, { NULL, 0 } });
	else
		rc = terminals_unbind_error(g, c, user, rc);
	if (rc == RC_DENIED)
		gateway_reject(c, RC_CONFLICT,
		    "terminal %.*s is bound by another user", STR_ARG(id));
	else if (rc != RC_OK)
		gateway_fail_missing(c, rc, "terminal not found");
	else
		svc_reply(c, &(struct wire_ok_response){ .ok = true });
}
