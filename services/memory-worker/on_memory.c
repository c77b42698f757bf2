/*
 * The built-in store over NATS.
 */
#include "on_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "builtin.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "keeper.h"
#include "state/soul.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/* How long a probe that went well is believed, and one that failed. */
#define PROBE_MS (5 * 60 * 1000)
#define RETRY_MS 2000
/* Ids in the answer to a forget. */
#define GONE_MAX 1000
/* What a query must have in common with the memory that it makes forgotten. */
#define FORGET_COMMON 2

static void
fail(struct svc_call *c, enum rc rc)
{
	svc_fail(c, rc == RC_INVALID ? RC_BUG : rc,
	    rc == RC_INVALID ? "the memories are not readable"
			     : "the memory store does not answer");
}

/* ---- search ----------------------------------------------------------------
 */

static enum rc
put_hits(const struct builtin_hits *hits, struct arena *a,
    struct wire_memory_recall_reply *rep)
{
	struct wire_memory_recall_reply_items *item;
	char text[WALL_FORMAT_MAX];
	size_t i;

	rep->items = arena_alloc(a, (hits->n + 1) * sizeof(*rep->items));
	if (rep->items == NULL)
		return RC_TOOBIG;
	for (i = 0; i < hits->n; i++) {
		const struct rank_memory *m = hits->hit[i].memory;

		item = &rep->items[rep->n_items++];
		wall_format(m->created, 0, text);
		*item = (struct wire_memory_recall_reply_items){
			.memory_id = m->id,
			.text = m->text,
			.type = m->type,
			.has_type = true,
			.score = hits->hit[i].score,
			.created_at = arena_str(a, str_of(text)),
		};
		if (item->created_at.p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

void
on_recall(void *app, struct svc_call *c)
{
	struct keeper *k = app;
	const struct wire_memory_recall_request *req = svc_call_request(c);
	const struct memory_scope scope = { req->user_id, req->soul_id };
	const struct rank_query q = {
		.text = req->query, .now = clock_wall(), .k = (size_t)req->top_k
	};
	struct wire_memory_recall_reply rep = { .backend = STR(BUILTIN_NAME) };
	struct arena *a = svc_call_arena(c);
	struct builtin_hits hits;
	enum rc rc;

	rc = builtin_search(k->store, &scope, &q, a, &hits);
	if (rc == RC_OK)
		rc = put_hits(&hits, a, &rep);
	if (rc != RC_OK)
		fail(c, rc);
	else
		svc_reply(c, &rep);
}

/* ---- readiness -------------------------------------------------------------
 */

struct ready {
	struct mono until; /* what is known holds; {0}: nothing is known */
	enum rc rc;
};

struct ready *
ready_new(void)
{
	return mem_zalloc(sizeof(struct ready));
}

void
ready_free(struct ready *r)
{
	free(r);
}

static enum rc
probe(struct keeper *k)
{
	struct ready *r = k->ready;
	struct mono now = clock_mono();
	char id[ID_HEX32_MAX];

	if (!state_up(k->state)) {
		/* When it is back, memories may be gone. */
		r->until = (struct mono){ 0 };
		return RC_DOWN;
	}
	if (mono_diff_ns(r->until, now) > 0)
		return r->rc;
	id_hex32(id);
	r->rc = builtin_probe(k->store, str_of(id), clock_wall());
	r->until = mono_add_ms(now, r->rc == RC_OK ? PROBE_MS : RETRY_MS);
	if (r->rc != RC_OK)
		log_warn("memory.probe_failed", LOG_RC(r->rc));
	return r->rc;
}

void
on_ready(void *app, struct svc_call *c)
{
	enum rc rc = probe(app);
	struct wire_memory_ready_reply rep = { .ready = rc == RC_OK,
		.backend = STR(BUILTIN_NAME) };

	if (rc == RC_DOWN)
		rep.reason = STR("Redis does not answer");
	else if (rc == RC_BUG)
		rep.reason = STR("what was stored was not found");
	else if (rc != RC_OK)
		rep.reason = STR("storing or searching failed");
	svc_reply(c, &rep);
}

/* ---- forgetting ------------------------------------------------------------
 */

struct forgetting {
	struct keeper *k;
	const struct wire_memory_forget_request *req;
	struct arena *a;
	struct builtin_gone gone;
};

/* The souls that are asked: one, or all of the user's. */
static enum rc
souls(struct forgetting *f, struct soul **list, size_t *n)
{
	if (f->req->soul_id.p == NULL)
		return soul_list(f->k->state, f->req->user_id, f->a, list, n);
	*list = arena_alloc(f->a, sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	(*list)->id = f->req->soul_id;
	*n = 1;
	return RC_OK;
}

static enum rc
forget_one(
    struct forgetting *f, const struct memory_scope *scope, struct str id)
{
	enum rc rc = builtin_forget(f->k->store, scope, id);

	if (rc == RC_NOENT)
		return RC_OK;
	if (rc == RC_OK) {
		f->gone.total++;
		f->gone.id[f->gone.n++] = id;
	}
	return rc;
}

/* The memory that fits the query best, whichever soul's it is. */
static enum rc
forget_best(struct forgetting *f, const struct soul *list, size_t n)
{
	const struct rank_query q = {
		.text = f->req->query, .now = clock_wall(), .k = 1
	};
	struct memory_scope scope = { .user_id = f->req->user_id }, best;
	struct builtin_hits hits;
	size_t i, common, most = FORGET_COMMON - 1;
	struct str id = { NULL, 0 };
	enum rc rc;

	for (i = 0; i < n; i++) {
		scope.soul_id = list[i].id;
		rc = builtin_search(f->k->store, &scope, &q, f->a, &hits);
		if (rc != RC_OK)
			return rc;
		if (hits.n == 0)
			continue;
		common = rank_common(q.text, hits.hit[0].memory->text);
		if (common <= most)
			continue;
		most = common;
		best = scope;
		id = arena_str(f->a, hits.hit[0].memory->id);
	}
	return id.p != NULL ? forget_one(f, &best, id) : RC_OK;
}

static enum rc
forget(struct forgetting *f)
{
	struct memory_scope scope = { .user_id = f->req->user_id };
	struct soul *list;
	size_t i, n;
	enum rc rc;

	f->gone.max = GONE_MAX;
	f->gone.id = arena_alloc(f->a, GONE_MAX * sizeof(*f->gone.id));
	if (f->gone.id == NULL)
		return RC_TOOBIG;
	rc = souls(f, &list, &n);
	if (rc == RC_OK && f->req->memory_id.p == NULL && f->req->query.p)
		return forget_best(f, list, n);
	for (i = 0; rc == RC_OK && i < n; i++) {
		scope.soul_id = list[i].id;
		rc = f->req->memory_id.p != NULL
		    ? forget_one(f, &scope, f->req->memory_id)
		    : builtin_clear(f->k->store, &scope, f->a, &f->gone);
	}
	return rc;
}

void
on_forget(void *app, struct svc_call *c)
{
	struct forgetting f = {
		.k = app, .req = svc_call_request(c), .a = svc_call_arena(c)
	};
	enum rc rc = forget(&f);

	if (rc != RC_OK) {
		fail(c, rc);
		return;
	}
	svc_reply(c,
	    &(struct wire_memory_forget_reply){
		.forgotten = (int64_t)f.gone.total,
		.memory_ids = f.gone.id,
		.n_memory_ids = f.gone.n,
		.has_memory_ids = true,
	    });
}
