/*
 * Without an embedding model all is done before a call returns.
 */
#include "builtin.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/mem.h"
#include "index.h"
#include "llm/embed.h"
#include "record.h"
#include "repair.h"
#include "state/state.h"
#include "vector.h"

/* Answers of a list. */
#define LIST_MAX (512UL * 1024 * 1024)

struct builtin {
	struct builtin_opts o;
	struct index *index;
	struct repair *repair;
	struct metric *degraded;
};

static bool
builtin_up(void *self)
{
	return state_up(((struct builtin *)self)->o.state);
}

static void
builtin_free(void *self)
{
	struct builtin *b = self;

	repair_free(b->repair);
	index_free(b->index);
	free(b);
}

static void
say(const struct store_ask *ask, enum rc rc)
{
	ask->fn(ask->arg, rc, &(struct store_answer){ 0 });
}

/* Until when the model is waited for. */
static struct wall
embed_until(const struct builtin *b, struct wall deadline)
{
	struct wall until = { clock_wall().ms + b->o.embed_ms };

	return deadline.ms < until.ms ? deadline : until;
}

/* What waits for a vector. */
struct waiting {
	struct builtin *b;
	struct store_ask ask;
	struct store_put put;
	struct rank_query query;
};

/* Ask for the vector of text; fn is called in any case. */
static void
embed(struct builtin *b, const struct store_ask *ask, struct str text,
    embed_fn fn, const struct waiting *w)
{
	struct waiting *copy = mem_alloc(sizeof(*copy));
	const struct embed_ask e = {
		.texts = &text,
		.n = 1,
		.deadline = embed_until(b, ask->deadline),
		.trace = ask->trace,
		.fn = fn,
		.arg = copy,
	};
	enum rc rc = RC_DOWN;

	*copy = *w;
	copy->b = b;
	copy->ask = *ask;
	if (b->o.embed != NULL)
		rc = embed_ask(b->o.embed, &e);
	if (rc != RC_OK)
		fn(copy, &(struct embed_result){ .rc = rc });
}

/* ---- put -------------------------------------------------------------------
 */

static enum rc
put(struct builtin *b, const struct store_put *p, struct str vector)
{
	const struct memory_scope scope = { p->job->user_id, p->job->soul_id };
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct memory_item item = { .id = p->job->job_id, .vector = vector };
	enum rc rc;

	rc = record_write(p->job, &json);
	if (rc == RC_OK) {
		item.json = buf_str(&json);
		rc = memory_put(b->o.state, &scope, &item, p->made);
	}
	buf_free(&json);
	return rc;
}

/* Without a vector it is stored all the same, and gets one later. */
static void
on_put(void *arg, const struct embed_result *r)
{
	struct waiting *w = arg;
	struct buf vector = BUF_INIT(MEMORY_VECTOR_MAX);
	enum rc rc;

	if (r->rc == RC_OK)
		repair_write(
		    w->b->repair, r->vectors[0], r->dimensions, &vector);
	rc = put(w->b, &w->put, buf_str(&vector));
	buf_free(&vector);
	say(&w->ask, rc);
	free(w);
}

static void
builtin_put(void *self, const struct store_ask *ask, const struct store_put *p)
{
	embed(self, ask, p->job->text, on_put, &(struct waiting){ .put = *p });
}

/* ---- search ----------------------------------------------------------------
 */

static enum rc
search(struct builtin *b, const struct store_ask *ask,
    const struct rank_query *query, bool degraded)
{
	struct rank_query q = *query;
	struct store_answer answer = { .degraded = degraded };
	struct rank_hit *hit;
	struct rank *rank;
	enum rc rc;

	rc = index_open(b->index, &ask->scope, &rank);
	if (rc != RC_OK)
		return rc;
	if (q.vector.n > 0 && rank_lacking(rank, q.vector.n, NULL, 0) > 0) {
		q.vector = (struct str){ NULL, 0 };
		answer.degraded = true;
		repair_start(b->repair, &ask->scope, query->vector.n);
		/* It may have opened another. */
		rc = index_open(b->index, &ask->scope, &rank);
		if (rc != RC_OK)
			return rc;
	}
	hit = mem_calloc(q.k + 1, sizeof(*hit));
	answer.n = rank_find(rank, &q, hit);
	answer.hit = hit;
	if (answer.degraded)
		metric_add(b->degraded, 1);
	ask->fn(ask->arg, RC_OK, &answer);
	free(hit);
	return RC_OK;
}

static void
on_query(void *arg, const struct embed_result *r)
{
	struct waiting *w = arg;
	int8_t x[VECTOR_MAX];
	enum rc rc;

	if (r->rc == RC_OK && r->dimensions <= VECTOR_MAX) {
		repair_shrink(r->vectors[0], r->dimensions, x);
		w->query.vector =
		    (struct str){ (const char *)x, r->dimensions };
	}
	rc = search(w->b, &w->ask, &w->query,
	    w->b->o.embed != NULL && w->query.vector.n == 0);
	if (rc != RC_OK)
		say(&w->ask, rc);
	free(w);
}

static void
builtin_search(
    void *self, const struct store_ask *ask, const struct rank_query *q)
{
	embed(self, ask, q->text, on_query, &(struct waiting){ .query = *q });
}

/* ---- the rest --------------------------------------------------------------
 */

static void
builtin_forget(
    void *self, const struct store_ask *ask, struct str id, bool for_ever)
{
	struct builtin *b = self;
	const struct rank_memory m = { .id = id };
	const struct rank_hit hit = { .memory = &m };
	enum rc rc;

	rc = for_ever ? memory_forget(b->o.state, &ask->scope, id)
		      : memory_del(b->o.state, &ask->scope, id);
	ask->fn(ask->arg, rc,
	    &(struct store_answer){ .hit = &hit, .n = rc == RC_OK });
}

/* All of a scope, as hits; texts only if they are wanted. */
static enum rc
list(struct builtin *b, const struct memory_scope *scope, bool texts,
    struct arena *a, struct store_answer *out)
{
	struct memory_list all;
	struct rank_memory *m;
	struct rank_hit *hit;
	enum rc rc;
	size_t i;

	rc = memory_all(b->o.state, scope, -1, a, &all);
	if (rc != RC_OK)
		return rc;
	m = arena_alloc(a, (all.n + 1) * sizeof(*m));
	hit = arena_alloc(a, (all.n + 1) * sizeof(*hit));
	if (m == NULL || hit == NULL)
		return RC_TOOBIG;
	for (i = 0; i < all.n; i++) {
		m[i].id = all.item[i].id;
		if (texts &&
		    record_read(m[i].id, all.item[i].json, a, &m[i]) != RC_OK)
			continue;
		hit[out->n++].memory = &m[i];
	}
	out->hit = hit;
	return RC_OK;
}

static void
builtin_list(void *self, const struct store_ask *ask)
{
	struct arena *a = arena_new(LIST_MAX);
	struct store_answer answer = { 0 };
	enum rc rc = list(self, &ask->scope, true, a, &answer);

	ask->fn(ask->arg, rc, &answer);
	arena_free(a);
}

static void
builtin_clear(void *self, const struct store_ask *ask)
{
	struct builtin *b = self;
	struct arena *a = arena_new(LIST_MAX);
	struct store_answer answer = { 0 };
	enum rc rc = list(b, &ask->scope, false, a, &answer);

	if (rc == RC_OK)
		rc = memory_clear(b->o.state, &ask->scope, &answer.total);
	if (answer.n > STORE_GONE_MAX)
		answer.n = STORE_GONE_MAX;
	ask->fn(ask->arg, rc, &answer);
	arena_free(a);
}

static const struct store_ops ops = {
	.name = "builtin",
	.peer = "Redis",
	.in_redis = true,
	.up = builtin_up,
	.put = builtin_put,
	.search = builtin_search,
	.forget = builtin_forget,
	.clear = builtin_clear,
	.list = builtin_list,
	.free = builtin_free,
};

struct store *
builtin_new(const struct builtin_opts *o)
{
	struct builtin *b = mem_zalloc(sizeof(*b));
	struct str model = STR("");

	b->o = *o;
	if (o->embed != NULL)
		model = str_of(embed_model(o->embed));
	b->index = index_new(o->state, model, o->max_bytes, o->metrics);
	b->repair = repair_new(o, b->index);
	b->degraded = metric_counter(o->metrics, "soul_memory_degraded_total",
	    "Searches that went without vectors they should have had.", NULL);
	return store_new(&ops, b, o->state);
}
