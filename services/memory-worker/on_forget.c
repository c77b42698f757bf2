/*
 * One soul after the other.
 */
#include "on_forget.h"

#include "core/mem.h"
#include "fit.h"
#include "keeper.h"
#include "on_memory.h"
#include "profile.h"
#include "store.h"
#include "svc/audit.h"
#include "svc/svc.h"
#include "walk.h"
#include "wire/msgs.h"

/* How many of a soul's memories may be what a query means: the one that fits
 * need not be the nearest. */
#define NEAREST 5

/* In the call's arena. */
struct forgetting {
	struct walk walk;
	struct keeper *k;
	struct svc_call *call;
	const struct wire_memory_forget_request *req;
	struct arena *a;
	struct rank_query query;
	/* Of a query: what fits, its soul, how well. */
	struct str best, best_text, best_soul;
	double fit;
	struct str gone[STORE_GONE_MAX];
	size_t n_gone, total;
	bool begun;   /* something may be gone */
	bool profile; /* it is gone, too */
};

static struct forgetting *
forgetting_of(struct walk *w)
{
	return CONTAINER_OF(w, struct forgetting, walk);
}

/* Whoever asks outside of a conversation tells it himself: he knows for whom.
 */
static void
audit(struct forgetting *f, enum rc rc)
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
	if (!f->begun || (rc == RC_OK && f->total == 0))
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
end(struct walk *w, enum rc rc)
{
	struct forgetting *f = forgetting_of(w);

	audit(f, rc);
	if (rc != RC_OK) {
		memory_fail(f->call, rc);
		return;
	}
	svc_reply(f->call,
	    &(struct wire_memory_forget_reply){
		.forgotten = (int64_t)f->total,
		.memory_ids = f->gone,
		.n_memory_ids = f->n_gone,
		.has_memory_ids = true,
		.profile = f->profile,
		.texts = &f->best_text,
		.n_texts = f->best.p != NULL ? f->n_gone : 0,
		.has_texts = f->best.p != NULL && f->n_gone > 0,
	    });
}

static void
add_gone(struct forgetting *f, struct str id)
{
	if (f->n_gone < STORE_GONE_MAX)
		f->gone[f->n_gone] = arena_str(f->a, id);
	if (f->n_gone < STORE_GONE_MAX && f->gone[f->n_gone].p != NULL)
		f->n_gone++;
}

static void
on_cleared(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;
	size_t i;

	if (rc == RC_OK)
		f->total += a->total;
	for (i = 0; rc == RC_OK && i < a->n; i++)
		add_gone(f, a->hit[i].memory->id);
	walk_on(&f->walk, rc);
}

static void
clear(struct walk *w)
{
	struct forgetting *f = forgetting_of(w);
	const struct memory_scope scope = walk_scope(w);
	struct store_ask ask = walk_ask(w, &scope, on_cleared, f);

	f->begun = true;
	store_clear(f->k->store, &ask);
}

/* One that is not there is forgotten. */
static enum rc
count_one(struct forgetting *f, enum rc rc, struct str id)
{
	if (rc == RC_OK) {
		f->total++;
		add_gone(f, id);
	}
	return rc == RC_NOENT ? RC_OK : rc;
}

static void
on_one(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;

	(void)a;
	walk_on(&f->walk, count_one(f, rc, f->req->memory_id));
}

static void
forget_one(struct walk *w)
{
	struct forgetting *f = forgetting_of(w);
	const struct memory_scope scope = walk_scope(w);
	struct store_ask ask = walk_ask(w, &scope, on_one, f);

	f->begun = true;
	store_forget(f->k->store, &ask, f->req->memory_id);
}

static void
on_found(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;

	for (size_t i = 0; rc == RC_OK && i < a->n; i++) {
		const struct rank_memory *m = a->hit[i].memory;
		double fit = fit_of(f->query.text, m->text);

		if (fit <= f->fit)
			continue;
		f->fit = fit;
		f->best = arena_str(f->a, m->id);
		f->best_text = arena_str(f->a, m->text);
		f->best_soul = walk_scope(&f->walk).soul_id;
		if (f->best.p == NULL || f->best_text.p == NULL)
			rc = RC_TOOBIG;
	}
	walk_on(&f->walk, rc);
}

static void
search(struct walk *w)
{
	struct forgetting *f = forgetting_of(w);
	const struct memory_scope scope = walk_scope(w);
	struct store_ask ask = walk_ask(w, &scope, on_found, f);

	store_search(f->k->store, &ask, &f->query);
}

static void
on_best(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;

	(void)a;
	end(&f->walk, count_one(f, rc, f->best));
}

/* All souls were searched. */
static void
forget_best(struct walk *w, enum rc rc)
{
	struct forgetting *f = forgetting_of(w);
	const struct memory_scope scope = { w->user_id, f->best_soul };
	struct store_ask ask = walk_ask(w, &scope, on_best, f);

	if (rc != RC_OK || f->best.p == NULL) {
		end(w, rc);
		return;
	}
	f->begun = true;
	store_forget(f->k->store, &ask, f->best);
}

/* Everything of a user is more than what his souls remember. */
static enum rc
forget_profile(struct forgetting *f)
{
	enum rc rc;

	if (f->req->soul_id.p != NULL || f->req->memory_id.p != NULL ||
	    f->req->query.p != NULL)
		return RC_OK;
	rc = profile_clear(f->k->state, f->req->user_id);
	f->profile = rc == RC_OK;
	return rc;
}

void
on_forget(void *app, struct svc_call *c)
{
	struct forgetting *f =
	    arena_alloc(svc_call_arena(c), sizeof(struct forgetting));
	enum rc rc;

	if (f == NULL) {
		memory_fail(c, RC_TOOBIG);
		return;
	}
	f->k = app;
	f->call = c;
	f->req = svc_call_request(c);
	f->a = svc_call_arena(c);
	f->fit = 0;
	f->query = (struct rank_query){
		.text = f->req->query, .now = clock_wall(), .k = NEAREST
	};
	f->walk = (struct walk){
		.ask = clear, .end = end, .call = c, .user_id = f->req->user_id
	};
	if (f->req->memory_id.p != NULL) {
		f->walk.ask = forget_one;
	} else if (f->req->query.p != NULL) {
		f->walk.ask = search;
		f->walk.end = forget_best;
	}
	/* First, so that nothing comes in behind it. */
	rc = forget_profile(f);
	if (rc == RC_OK)
		rc = walk_find(&f->walk, f->k->state, f->req->soul_id, f->a);
	if (rc != RC_OK)
		end(&f->walk, rc);
	else
		walk_start(&f->walk);
}
