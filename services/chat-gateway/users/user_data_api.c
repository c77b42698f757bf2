/*
 * DELETE /v1/users/{user_id}/data: all that is stored of a user.
 *
 * Memories first, which may be in a store that only memory-worker knows; then
 * the souls, after which nothing is remembered for them any more.
 */
#include "caller.h"
#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "handlers.h"
#include "memories/memory_request.h"
#include "runs/run_wake.h"
#include "state/alarm_entry.h"
#include "state/memory.h"
#include "state/run.h"
#include "state/session.h"
#include "state/soul.h"
#include "state/star_home.h"
#include "state/terminal.h"
#include "state/turn_detail.h"
#include "state/user_data.h"
#include "state/webhook.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* Lists of ids. */
#define LISTS_MAX (16UL * 1024 * 1024)

struct user_data {
	struct gateway *g;
	struct svc_call *c;
	struct str user;
	struct arena *a; /* of the lists */
	bool no_worker;  /* memories are in Redis only */
	struct wire_user_data_deleted n;
};

/* ---- each kind ---- */

static enum rc
user_data_delete_soul(struct user_data *d, struct str soul)
{
	const struct memory_scope of = { d->user, soul };
	struct state *s = d->g->state;
	size_t n = 0;
	enum rc rc = RC_OK;

	if (d->no_worker)
		rc = memory_clear(s, &of, &n);
	d->n.memories += (int64_t)n;
	if (rc == RC_OK)
		rc = star_guest_leave(s, d->user, soul);
	if (rc == RC_OK)
		rc = soul_delete(s, d->user, soul, NULL);
	if (rc == RC_OK)
		d->n.souls++;
	if (rc == RC_OK || rc == RC_NOENT)
		rc = user_data_delete_memory(s, d->user, soul);
	return rc;
}

static enum rc
user_data_delete_souls(struct user_data *d)
{
	struct soul *list;
	size_t i, n;
	enum rc rc = soul_list(d->g->state, d->user, d->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++)
		rc = user_data_delete_soul(d, list[i].id);
	return rc;
}

static enum rc
user_data_delete_sessions(struct user_data *d)
{
	struct session_key k = { .user_id = d->user };
	struct str *list;
	size_t i, n;
	enum rc rc = user_data_sessions(d->g->state, d->user, d->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		k.session_id = list[i];
		rc = session_delete(d->g->state, &k);
		d->n.sessions += rc == RC_OK;
		if (rc == RC_NOENT)
			rc = RC_OK;
	}
	return rc;
}

/* Those that no soul has bound, or that were bound meanwhile. */
static enum rc
user_data_unbind(struct user_data *d)
{
	struct terminal_listed *list;
	size_t i, n;
	enum rc rc = terminal_list(d->g->state, d->user, d->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = terminal_unbind(d->g->state, list[i].id, d->user);
		d->n.terminals += rc == RC_OK;
		if (rc == RC_NOENT || rc == RC_DENIED)
			rc = terminal_list_drop(d->g->state, d->user, &list[i]);
	}
	return rc;
}

static enum rc
user_data_delete_identities(struct user_data *d)
{
	struct star_identity *list;
	size_t i, n;
	enum rc rc = star_user_read(d->g->state, d->user, d->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = star_user_drop(d->g->state, d->user, &list[i]);
		d->n.star_identities += rc == RC_OK;
	}
	return rc;
}

/* Also those that have not ended: their runners find out that they are gone. */
static enum rc
user_data_delete_runs(struct user_data *d)
{
	struct run_page p = { .max = RUN_PAGE_MAX };
	enum rc rc;
	size_t i;

	do {
		rc = run_list(d->g->state, d->user, d->a, &p);
		for (i = 0; rc == RC_OK && i < p.n; i++) {
			rc = run_delete(
			    d->g->state, p.run[i].run_id, d->user, true);
			d->n.runs += rc == RC_OK;
			if (rc == RC_OK)
				run_wake(d->g, d->c, p.run[i].runner,
				    p.run[i].run_id);
			if (rc == RC_NOENT)
				rc = RC_OK;
		}
		p.after = p.next;
	} while (rc == RC_OK && p.next.p != NULL);
	return rc;
}

static enum rc
user_data_delete_alarms(struct user_data *d)
{
	static const enum alarm_entry_type types[] = { ALARM_ENTRY_ALARM,
		ALARM_ENTRY_PUSH };
	struct alarm_entry which = { .user_id = d->user };
	struct alarm_entry_list list;
	enum rc rc = RC_OK;

	for (size_t i = 0; rc == RC_OK && i < NELEM(types); i++) {
		which.type = types[i];
		rc = alarm_entry_list(d->g->state, &which, true, d->a, &list);
		if (rc == RC_OK)
			rc = alarm_entry_wipe(d->g->state, &which);
		if (rc == RC_OK)
			d->n.alarms += (int64_t)list.n;
	}
	return rc;
}

static enum rc
user_data_delete_webhooks(struct user_data *d)
{
	struct webhook_listed *list;
	size_t i, n;
	enum rc rc = webhook_list(d->g->state, d->user, d->a, &list, &n);

	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = webhook_delete(
		    d->g->state, &(struct webhook_key){ d->user, list[i].id });
		d->n.webhooks += rc == RC_OK;
		if (rc == RC_NOENT)
			rc = RC_OK;
	}
	return rc;
}

/* ---- the route ---- */

static void
user_data_audit(struct user_data *d, enum rc rc)
{
	svc_audit_call(d->c,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_USER_DATA_DELETED,
		.user_id = d->user,
		.reason = rc == RC_OK ? (struct str){ NULL, 0 }
				      : STR("a part may be left"),
		.has_count = true,
		.count =
		    d->n.souls + d->n.sessions + d->n.memories + d->n.runs });
}

static void
user_data_delete(struct user_data *d)
{
	enum rc rc;

	d->a = arena_new(LISTS_MAX);
	/* The souls know which terminals are bound to them. */
	rc = user_data_unbind(d);
	if (rc == RC_OK)
		rc = user_data_delete_souls(d);
	if (rc == RC_OK)
		rc = user_data_delete_sessions(d);
	if (rc == RC_OK)
		rc = user_data_delete_identities(d);
	if (rc == RC_OK)
		rc = user_data_delete_runs(d);
	if (rc == RC_OK)
		rc = user_data_delete_alarms(d);
	if (rc == RC_OK)
		rc = turn_detail_wipe(d->g->state, d->user);
	if (rc == RC_OK)
		rc = user_data_delete_webhooks(d);
	if (rc == RC_OK)
		rc = user_data_delete_rest(d->g->state, d->user);
	user_data_audit(d, rc);
	if (rc == RC_OK)
		svc_reply(d->c, &d->n);
	else
		svc_fail(d->c, rc == RC_TIMEOUT ? RC_DOWN : rc,
		    "the state cannot be used now: a part may be deleted; "
		    "repeat it");
	arena_free(d->a);
}

static void
user_data_on_forgotten(struct peer_request *q, enum rc rc)
{
	const struct wire_memory_forget_request *req = q->msg;
	const struct wire_memory_forget_reply *deleted = q->reply;
	struct user_data d = { .g = q->g, .c = q->arg, .user = req->user_id };

	d.no_worker = rc == RC_DOWN && q->error.p == NULL;
	if (!d.no_worker)
		memory_request_audit(q, rc);
	if (rc == RC_OK)
		d.n.memories = deleted->forgotten;
	if (rc == RC_OK || d.no_worker)
		user_data_delete(&d);
	else
		memory_request_fail(q->arg, q, rc);
}

void
on_user_data_delete(void *app, struct svc_call *c)
{
	struct wire_memory_forget_request req = { 0 };
	struct gateway *g = app;

	if (caller_user(g, c, svc_call_param(c, 0), &req.user_id))
		memory_request_forget(g, c, &req, user_data_on_forgotten);
}
