/*
 * One soul after the other.
 */
#include "on_forget.h"

#include "core/mem.h"
#include "keeper.h"
#include "on_memory.h"
#include "state/soul.h"
#include "store.h"
#include "svc/svc.h"
#include "tokens.h"
#include "wire/msgs.h"

/* What a query must have in common with the memory that it makes forgotten. */
#define COMMON 2
/* What is left of a caller's deadline for the answer's way. */
#define WAY_MS 50

/* In the call's arena. */
struct forgetting {
	struct keeper *k;
	struct svc_call *call;
	const struct wire_memory_forget_request *req;
	struct arena *a;
	struct str *soul; /* the souls that are asked */
	size_t n, at;
	struct rank_query query;
	struct str best; /* of a query: the id of what fits, of the soul */
	struct str best_soul;
	size_t common;
	struct str gone[STORE_GONE_MAX];
	size_t n_gone, total;
};

static void step(struct forgetting *f);

static void
end(struct forgetting *f, enum rc rc)
{
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

static struct store_ask
ask_for(struct forgetting *f, struct str soul, store_fn fn)
{
	return (struct store_ask){
		.scope = { f->req->user_id, soul },
		.deadline = { svc_call_deadline(f->call).ms - WAY_MS },
		.trace = svc_call_trace(f->call),
		.fn = fn,
		.arg = f,
	};
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

	if (rc != RC_OK) {
		end(f, rc);
		return;
	}
	f->total += a->total;
	for (i = 0; i < a->n; i++)
		add_gone(f, a->hit[i].memory->id);
	f->at++;
	step(f);
}

/* One that is not there is forgotten. */
static void
on_one(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;

	(void)a;
	if (rc != RC_OK && rc != RC_NOENT) {
		end(f, rc);
		return;
	}
	if (rc == RC_OK) {
		f->total++;
		add_gone(f,
		    f->req->memory_id.p != NULL ? f->req->memory_id : f->best);
	}
	f->at++;
	step(f);
}

static void
on_found(void *arg, enum rc rc, const struct store_answer *a)
{
	struct forgetting *f = arg;
	size_t common;

	if (rc != RC_OK) {
		end(f, rc);
		return;
	}
	if (a->n > 0) {
		common = tokens_common(f->query.text, a->hit[0].memory->text);
		if (common > f->common) {
			f->common = common;
			f->best = arena_str(f->a, a->hit[0].memory->id);
			f->best_soul = f->soul[f->at];
		}
	}
	f->at++;
	step(f);
}

/* All souls were searched. */
static void
forget_best(struct forgetting *f)
{
	struct store_ask ask = ask_for(f, f->best_soul, on_one);
	struct str id = f->best;

	if (f->best_soul.p == NULL || id.p == NULL) {
		end(f, RC_OK);
		return;
	}
	f->best_soul.p = NULL;
	store_forget(f->k->store, &ask, id);
}

static void
step(struct forgetting *f)
{
	struct str soul = { NULL, 0 };
	struct store_ask ask;

	if (f->at < f->n)
		soul = f->soul[f->at];
	if (f->req->memory_id.p == NULL && f->req->query.p != NULL) {
		ask = ask_for(f, soul, on_found);
		if (soul.p != NULL)
			store_search(f->k->store, &ask, &f->query);
		else
			forget_best(f);
	} else if (soul.p == NULL) {
		end(f, RC_OK);
	} else if (f->req->memory_id.p != NULL) {
		ask = ask_for(f, soul, on_one);
		store_forget(f->k->store, &ask, f->req->memory_id);
	} else {
		ask = ask_for(f, soul, on_cleared);
		store_clear(f->k->store, &ask);
	}
}

/* The souls that are asked: one, or all of the user's. */
static enum rc
find_souls(struct forgetting *f)
{
	struct soul *list = NULL;
	enum rc rc = RC_OK;
	size_t i;

	f->n = 1;
	if (f->req->soul_id.p == NULL)
		rc =
		    soul_list(f->k->state, f->req->user_id, f->a, &list, &f->n);
	if (rc != RC_OK)
		return rc;
	f->soul = arena_alloc(f->a, (f->n + 1) * sizeof(*f->soul));
	if (f->soul == NULL)
		return RC_TOOBIG;
	for (i = 0; i < f->n; i++)
		f->soul[i] = list == NULL ? f->req->soul_id : list[i].id;
	return RC_OK;
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
	rc = find_souls(f);
	if (rc != RC_OK)
		end(f, rc);
	else
		step(f);
}
