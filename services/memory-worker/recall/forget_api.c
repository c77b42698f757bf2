/*
 * Forgetting one memory, the one that matches a query, or all.
 */
#include "handlers.h"

#include "core/mem.h"
#include "memory_worker.h"
#include "profile/profile_store.h"
#include "recall/forget_match.h"
#include "recall/scope_iter.h"
#include "store/memory_store.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/*
 * Search results per soul that may match a query: the matching one need not be
 * the best result.
 */
#define NEAREST 5

/* In the call's arena. */
struct forget_op {
	struct scope_iter iter;
	struct memory_worker *w;
	struct svc_call *call;
	const struct wire_memory_forget_request *req;
	struct arena *a;
	struct rank_query query;
	/* Of a query: the best match, its soul, its score. */
	struct str best, best_text, best_soul;
	double score;
	struct str removed[STORE_REMOVED_MAX];
	size_t n_removed, total;
	bool started; /* something may have been removed */
	bool profile; /* it was removed, too */
};

static struct forget_op *
forget_op_of(struct scope_iter *it)
{
	return CONTAINER_OF(it, struct forget_op, iter);
}

/*
 * Requests outside a conversation are audited by the caller, who knows on whose
 * behalf.
 */
static void
forget_audit(struct forget_op *f, enum rc rc)
{
	const struct wire_memory_forget_request *req = f->req;

	if (req->session_id.p == NULL)
		return;
	if (f->profile)
		svc_audit_call(f->call,
		    &(struct wire_audit){
			.action = WIRE_AUDIT_ACTION_PROFILE_CHANGED,
			.user_id = req->user_id,
			.terminal_id = req->terminal_id,
			.session_id = req->session_id,
			.reason = STR("deleted") });
	if (!f->started || (rc == RC_OK && f->total == 0))
		return;
	svc_audit_call(f->call,
	    &(struct wire_audit){ .action = WIRE_AUDIT_ACTION_MEMORIES_DELETED,
		.user_id = req->user_id,
		.terminal_id = req->terminal_id,
		.soul_id = req->soul_id,
		.session_id = req->session_id,
		.reason = rc == RC_OK
		    ? STR("asked for in a conversation")
		    : STR("asked for in a conversation; how much is not known"),
		.has_count = rc == RC_OK,
		.count = (int64_t)f->total });
}

static void
forget_end(struct scope_iter *it, enum rc rc)
{
	struct forget_op *f = forget_op_of(it);

	forget_audit(f, rc);
	if (rc != RC_OK) {
		handler_fail_store(f->call, rc);
		return;
	}
	svc_reply(f->call,
	    &(struct wire_memory_forget_reply){
		.forgotten = (int64_t)f->total,
		.memory_ids = f->removed,
		.n_memory_ids = f->n_removed,
		.has_memory_ids = true,
		.profile = f->profile,
		.texts = &f->best_text,
		.n_texts = f->best.p != NULL ? f->n_removed : 0,
		.has_texts = f->best.p != NULL && f->n_removed > 0,
	    });
}

static void
forget_add_id(struct forget_op *f, struct str id)
{
	if (f->n_removed < STORE_REMOVED_MAX)
		f->removed[f->n_removed] = arena_str(f->a, id);
	if (f->n_removed < STORE_REMOVED_MAX &&
	    f->removed[f->n_removed].p != NULL)
		f->n_removed++;
}

static void
forget_on_cleared(void *arg, enum rc rc, const struct store_result *a)
{
	struct forget_op *f = arg;
	size_t i;

	if (rc == RC_OK)
		f->total += a->total;
	for (i = 0; rc == RC_OK && i < a->n; i++)
		forget_add_id(f, a->hit[i].memory->id);
	scope_iter_next(&f->iter, rc);
}

static void
forget_clear(struct scope_iter *it)
{
	struct forget_op *f = forget_op_of(it);
	const struct memory_scope scope = scope_iter_scope(it);
	struct store_request req =
	    scope_iter_request(it, &scope, forget_on_cleared, f);

	f->started = true;
	store_clear(f->w->store, &req);
}

/* Forgetting a memory that does not exist succeeds. */
static enum rc
forget_count(struct forget_op *f, enum rc rc, struct str id)
{
	if (rc == RC_OK) {
		f->total++;
		forget_add_id(f, id);
	}
	return rc == RC_NOENT ? RC_OK : rc;
}

static void
forget_on_removed(void *arg, enum rc rc, const struct store_result *a)
{
	struct forget_op *f = arg;

	(void)a;
	scope_iter_next(&f->iter, forget_count(f, rc, f->req->memory_id));
}

static void
forget_one(struct scope_iter *it)
{
	struct forget_op *f = forget_op_of(it);
	const struct memory_scope scope = scope_iter_scope(it);
	struct store_request req =
	    scope_iter_request(it, &scope, forget_on_removed, f);

	f->started = true;
	store_forget(f->w->store, &req, f->req->memory_id);
}

static void
forget_on_found(void *arg, enum rc rc, const struct store_result *a)
{
	struct forget_op *f = arg;

	for (size_t i = 0; rc == RC_OK && i < a->n; i++) {
		const struct rank_memory *m = a->hit[i].memory;
		double score = forget_match_score(f->query.text, m->text);

		if (score <= f->score)
			continue;
		f->score = score;
		f->best = arena_str(f->a, m->id);
		f->best_text = arena_str(f->a, m->text);
		f->best_soul = scope_iter_scope(&f->iter).soul_id;
		if (f->best.p == NULL || f->best_text.p == NULL)
			rc = RC_TOOBIG;
	}
	scope_iter_next(&f->iter, rc);
}

static void
forget_search(struct scope_iter *it)
{
	struct forget_op *f = forget_op_of(it);
	const struct memory_scope scope = scope_iter_scope(it);
	struct store_request req =
	    scope_iter_request(it, &scope, forget_on_found, f);

	store_search(f->w->store, &req, &f->query);
}

static void
forget_on_best(void *arg, enum rc rc, const struct store_result *a)
{
	struct forget_op *f = arg;

	(void)a;
	forget_end(&f->iter, forget_count(f, rc, f->best));
}

/* All souls have been searched. */
static void
forget_best(struct scope_iter *it, enum rc rc)
{
	struct forget_op *f = forget_op_of(it);
	const struct memory_scope scope = { it->user_id, f->best_soul };
	struct store_request req =
	    scope_iter_request(it, &scope, forget_on_best, f);

	if (rc != RC_OK || f->best.p == NULL) {
		forget_end(it, rc);
		return;
	}
	f->started = true;
	store_forget(f->w->store, &req, f->best);
}

/* Forgetting everything of a user includes the profile. */
static enum rc
forget_profile(struct forget_op *f)
{
	enum rc rc;

	if (f->req->soul_id.p != NULL || f->req->memory_id.p != NULL ||
	    f->req->query.p != NULL)
		return RC_OK;
	rc = profile_clear(f->w->state, f->req->user_id);
	f->profile = rc == RC_OK;
	return rc;
}

void
on_forget(void *app, struct svc_call *c)
{
	struct forget_op *f =
	    arena_alloc(svc_call_arena(c), sizeof(struct forget_op));
	enum rc rc;

	if (f == NULL) {
		handler_fail_store(c, RC_TOOBIG);
		return;
	}
	f->w = app;
	f->call = c;
	f->req = svc_call_request(c);
	f->a = svc_call_arena(c);
	f->score = 0;
	f->query = (struct rank_query){
		.text = f->req->query, .now = clock_wall(), .k = NEAREST
	};
	f->iter = (struct scope_iter){ .visit = forget_clear,
		.done = forget_end,
		.call = c,
		.user_id = f->req->user_id };
	if (f->req->memory_id.p != NULL) {
		f->iter.visit = forget_one;
	} else if (f->req->query.p != NULL) {
		f->iter.visit = forget_search;
		f->iter.done = forget_best;
	}
	/* Before the memories, so that late patches are ignored. */
	rc = forget_profile(f);
	if (rc == RC_OK)
		rc = scope_iter_init(
		    &f->iter, f->w->state, f->req->soul_id, f->a);
	if (rc != RC_OK)
		forget_end(&f->iter, rc);
	else
		scope_iter_start(&f->iter);
}
