/*
 * One soul after the other.
 */
#include "on_forget.h"

#include "core/mem.h"
#include "keeper.h"
#include "on_memory.h"
#include "store.h"
#include "svc/svc.h"
#include "tokens.h"
#include "walk.h"
#include "wire/msgs.h"

/* What a query must have in common with the memory that it makes forgotten. */
#define COMMON 2
/* In the call's arena. */
struct forgetting {
	struct walk walk;
	struct keeper *k;
	struct svc_call *call;
	const struct wire_memory_forget_request *req;
	struct arena *a;
	struct rank_query query;
	struct str best; /* of a query: the id of what fits, of the soul */
	struct str best_soul;
	size_t common;
	struct str gone[STORE_GONE_MAX];
	size_t n_gone, total;
};

static struct forgetting *
forgetting_of(struct walk *w)
{
	return CONTAINER_OF(w, struct forgetting, walk);
}

static void
end(struct walk *w, enum rc rc)
{
	struct forgetting *f = forgetting_of(w);

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

	store_forget(f->k->store, &ask, f->req->memory_id);
}

static void
on_found(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;
	size_t common = 0;

	if (rc == RC_OK && a->n > 0)
		common = tokens_common(f->query.text, a->hit[0].memory->text);
	if (common > f->common) {
		f->common = common;
		f->best = arena_str(f->a, a->hit[0].memory->id);
		f->best_soul = walk_scope(&f->walk).soul_id;
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

	if (rc != RC_OK || f->best.p == NULL)
		end(w, rc);
	else
		store_forget(f->k->store, &ask, f->best);
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
	f->common = COMMON - 1;
	f->query = (struct rank_query){
		.text = f->req->query, .now = clock_wall(), .k = 1
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
	rc = walk_find(&f->walk, f->k->state, f->req->soul_id, f->a);
	if (rc != RC_OK)
		end(&f->walk, rc);
	else
		walk_start(&f->walk);
}
