/*
 * The store in Redis.  Searches use an index per scope, kept in memory and
 * checked against Redis each time, so replicas need no coordination.  Without
 * an embedding model every call of a fiber completes before it returns.
 */
#include "store/memory_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "llm/embed.h"
#include "state/state.h"
#include "store/memory_record.h"
#include "store/store_internal.h"

/* ---- index cache, least recently used first out ---- */

/* Largest scope that can be loaded, in bytes. */
#define LOAD_MAX (512UL * 1024 * 1024)
/* Overhead of an entry, beside its index. */
#define ENTRY_BYTES 1024

struct index_entry {
	TAILQ_ENTRY(index_entry) link;
	char *key;
	int64_t version; /* of the stored memories; -1: none loaded */
	struct rank *rank;
	size_t bytes;           /* as accounted for in the cache */
	struct fiber_lock lock; /* of who compares it with Redis */
	size_t users;           /* have or want the lock */
};

struct index_cache {
	struct state *state;
	struct str model; /* of vectors; empty: vectors are not used */
	TAILQ_HEAD(index_entry_list, index_entry) used; /* most recent first */
	struct map *by_key;
	size_t bytes, max_bytes;
	struct arena *item; /* used for one memory */
	struct metric *m_bytes, *m_loads, *m_hits;
};

static struct index_cache *
index_cache_new(
    struct state *s, struct str model, size_t max_bytes, struct metric_set *set)
{
	struct index_cache *ix = mem_zalloc(sizeof(*ix));

	ix->state = s;
	ix->model = model;
	TAILQ_INIT(&ix->used);
	ix->by_key = map_new();
	ix->max_bytes = max_bytes;
	ix->item = arena_new(WIRE_ARENA_MAX);
	ix->m_bytes = metric_gauge(
	    set, "soul_memory_index_bytes", "Memory used by indexes.", NULL);
	ix->m_loads = metric_counter(set, "soul_memory_index_loads_total",
	    "Searches that had to reload the index.", NULL);
	ix->m_hits = metric_counter(set, "soul_memory_index_hits_total",
	    "Searches with an up-to-date index.", NULL);
	return ix;
}

static void
index_entry_drop(struct index_cache *ix, struct index_entry *e)
{
	TAILQ_REMOVE(&ix->used, e, link);
	(void)map_del(ix->by_key, str_of(e->key));
	ix->bytes -= e->bytes;
	rank_free(e->rank);
	free(e->key);
	free(e);
}

static void
index_cache_free(struct index_cache *ix)
{
	struct index_entry *e;

	if (ix == NULL)
		return;
	while ((e = TAILQ_FIRST(&ix->used)) != NULL)
		index_entry_drop(ix, e);
	map_free(ix->by_key);
	arena_free(ix->item);
	free(ix);
}

/* Ids contain no line break. */
static char *
index_entry_key(const struct memory_scope *scope)
{
	struct buf key = BUF_INIT(2 * ID_MAX + 2);
	char *s;

	buf_printf(&key, "%.*s\n%.*s", STR_ARG(scope->user_id),
	    STR_ARG(scope->soul_id));
	s = str_dup(buf_str(&key));
	buf_free(&key);
	return s;
}

static struct index_entry *
index_entry_get(struct index_cache *ix, const struct memory_scope *scope)
{
	char *key = index_entry_key(scope);
	struct index_entry *e = map_get(ix->by_key, str_of(key));
	uint64_t seed;

	if (e != NULL) {
		free(key);
		TAILQ_REMOVE(&ix->used, e, link);
		TAILQ_INSERT_HEAD(&ix->used, e, link);
		return e;
	}
	id_random(&seed, sizeof(seed));
	e = mem_zalloc(sizeof(*e));
	e->key = key;
	e->version = -1;
	e->rank = rank_new(seed);
	(void)map_put(ix->by_key, str_of(key), e);
	TAILQ_INSERT_HEAD(&ix->used, e, link);
	return e;
}

static void
index_entry_account(struct index_cache *ix, struct index_entry *e)
{
	struct index_entry *old, *before;

	ix->bytes -= e->bytes;
	e->bytes = ENTRY_BYTES + rank_bytes(e->rank);
	ix->bytes += e->bytes;
	for (old = TAILQ_LAST(&ix->used, index_entry_list);
	     old != NULL && ix->bytes > ix->max_bytes; old = before) {
		before = TAILQ_PREV(old, index_entry_list, link);
		if (old != e && old->users == 0)
			index_entry_drop(ix, old);
	}
	metric_set(ix->m_bytes, (int64_t)ix->bytes);
}

/* A vector of another model is ignored. */
static void
index_entry_set_vector(const struct index_cache *ix, struct index_entry *e,
    const struct memory_item *item)
{
	struct str x = { NULL, 0 };

	if (ix->model.n > 0)
		x = vector_read(item->vector, ix->model);
	if (x.n > 0)
		rank_vector(e->rank, item->id, x);
}

/* Add a new memory, or the vector of one that lacked it. */
static void
index_entry_add(struct index_cache *ix, struct index_entry *e,
    const struct memory_item *item)
{
	static struct log_rate rate;
	struct rank_memory m;
	int64_t missed;

	arena_reset(ix->item);
	if (rank_mark(e->rank, item->id) ||
	    (memory_record_read(item->id, item->json, ix->item, &m) == RC_OK &&
		rank_add(e->rank, &m)))
		index_entry_set_vector(ix, e, item);
	else if (log_every(&rate, 10, &missed))
		log_error("memory.unreadable", LOG_V("id", item->id),
		    LOG_I("bytes", item->json.n), LOG_I("missed", missed));
}

/* Load everything. */
static enum rc
index_entry_load(struct index_cache *ix, const struct memory_scope *scope,
    struct index_entry *e, struct arena *a, struct memory_list *list)
{
	enum rc rc;
	size_t i;

	rc = memory_all(ix->state, scope, e->version, a, list);
	rank_unmark_all(e->rank);
	for (i = 0; rc == RC_OK && i < list->n; i++)
		index_entry_add(ix, e, &list->item[i]);
	return rc;
}

/* Load the ids, and only memories that are new; RC_TOOBIG if they are many. */
static enum rc
index_entry_update(struct index_cache *ix, const struct memory_scope *scope,
    struct index_entry *e, struct arena *a, struct memory_list *list)
{
	const struct rank_memory *missing[MEMORY_GET_MAX];
	struct memory_item item[MEMORY_GET_MAX];
	size_t i, n = 0;
	enum rc rc;

	rc = memory_ids(ix->state, scope, e->version, a, list);
	if (rc != RC_OK || !list->changed)
		return rc;
	rank_unmark_all(e->rank);
	if (ix->model.n > 0)
		n = rank_missing_vectors(e->rank, 0, missing, MEMORY_GET_MAX);
	for (i = 0; i < n && i < MEMORY_GET_MAX; i++)
		item[i] = (struct memory_item){ .id = missing[i]->id };
	for (i = 0; i < list->n; i++) {
		if (rank_mark(e->rank, list->item[i].id))
			continue;
		if (n < MEMORY_GET_MAX)
			item[n] = list->item[i];
		n++;
	}
	if (n > MEMORY_GET_MAX)
		return RC_TOOBIG;
	rc = memory_get(ix->state, scope, item, n, a);
	for (i = 0; rc == RC_OK && i < n; i++)
		if (item[i].json.p != NULL)
			index_entry_add(ix, e, &item[i]);
	return rc;
}

/* Make it match Redis, with its lock held. */
static enum rc
index_entry_refresh(struct index_cache *ix, const struct memory_scope *scope,
    struct index_entry *e)
{
	struct arena *a = arena_new(LOAD_MAX);
	struct memory_list list;
	enum rc rc = RC_TOOBIG;

	if (rank_len(e->rank) > 0)
		rc = index_entry_update(ix, scope, e, a, &list);
	if (rc == RC_TOOBIG)
		rc = index_entry_load(ix, scope, e, a, &list);
	if (rc == RC_OK && list.changed) {
		metric_add(ix->m_loads, 1);
		rank_sweep(e->rank);
		e->version = list.version;
	} else if (rc == RC_OK) {
		metric_add(ix->m_hits, 1);
	}
	arena_free(a);
	return rc;
}

/*
 * The index of a scope, up to date, and valid until the fiber waits the next
 * time.
 */
static enum rc
index_cache_open(
    struct index_cache *ix, const struct memory_scope *scope, struct rank **out)
{
	struct index_entry *e;
	enum rc rc;

	if (!id_valid(scope->user_id) || !id_valid(scope->soul_id))
		return RC_INVALID;
	e = index_entry_get(ix, scope);
	e->users++;
	fiber_lock(&e->lock);
	rc = index_entry_refresh(ix, scope, e);
	fiber_unlock(&e->lock);
	e->users--;
	*out = e->rank;
	index_entry_account(ix, e);
	return rc;
}

/* ---- backfill: vectors for memories that lack them, one scope at a time ----
 */

#define BACKFILL_TEXTS_MAX (EMBED_TEXTS_MAX * MEMORY_JSON_MAX)
#define BACKFILL_WAIT_MS   30000

struct backfill {
	struct builtin_store_opts o;
	struct index_cache *index;
	bool running;
	char user[ID_MAX + 1], soul[ID_MAX + 1];
	size_t dimensions;
	struct arena *a; /* of the current request */
	struct str id[EMBED_TEXTS_MAX];
	size_t n;
};

static struct backfill *
backfill_new(const struct builtin_store_opts *o, struct index_cache *index)
{
	struct backfill *r = mem_zalloc(sizeof(*r));

	r->o = *o;
	r->index = index;
	r->a = arena_new(BACKFILL_TEXTS_MAX);
	return r;
}

static void
backfill_free(struct backfill *r)
{
	if (r == NULL)
		return;
	arena_free(r->a);
	free(r);
}

static void
builtin_quantize(const double *v, size_t n, int8_t *x)
{
	float f[VECTOR_MAX];
	size_t i;

	for (i = 0; i < n; i++)
		f[i] = (float)v[i];
	vector_quantize(f, n, x);
}

static void
builtin_encode_vector(
    const struct backfill *r, const double *v, size_t n, struct buf *out)
{
	int8_t x[VECTOR_MAX];

	if (n > VECTOR_MAX)
		return;
	builtin_quantize(v, n, x);
	vector_write(str_of(embed_model(r->o.embed)), x, n, out);
}

static struct memory_scope
backfill_scope(const struct backfill *r)
{
	return (struct memory_scope){ str_of(r->user), str_of(r->soul) };
}

static void backfill_next(struct backfill *r);

/* A text that the model rejects gets a vector that is similar to nothing. */
static enum rc
backfill_store(struct backfill *r, const struct embed_result *res)
{
	const struct memory_scope scope = backfill_scope(r);
	struct memory_item item[EMBED_TEXTS_MAX];
	struct buf bytes[EMBED_TEXTS_MAX];
	double none[VECTOR_MAX] = { 0 };
	enum rc rc;
	size_t i;

	for (i = 0; i < r->n; i++) {
		buf_init(&bytes[i], MEMORY_VECTOR_MAX);
		builtin_encode_vector(r,
		    res->rc == RC_OK ? res->vectors[i] : none,
		    res->rc == RC_OK ? res->dimensions : r->dimensions,
		    &bytes[i]);
		item[i] = (struct memory_item){ .id = r->id[i],
			.vector = buf_str(&bytes[i]) };
	}
	rc = memory_vectors(r->o.state, &scope, item, r->n);
	for (i = 0; i < r->n; i++)
		buf_free(&bytes[i]);
	return rc;
}

/* What an embedding model replied, for a fiber that uses it before it waits. */
struct vector_reply {
	void *arg;
	const struct embed_result *result;
};

static void
backfill_take_vectors(void *arg)
{
	const struct vector_reply *reply = arg;
	const struct embed_result *res = reply->result;
	struct backfill *r = reply->arg;
	enum rc rc = res->rc == RC_TOOBIG ? RC_INVALID : res->rc;

	if (rc == RC_OK && res->dimensions != r->dimensions)
		rc = RC_CONFLICT;
	else if (rc == RC_OK || (rc == RC_INVALID && r->n == 1))
		rc = backfill_store(r, res);
	else if (rc == RC_INVALID)
		r->n = 1; /* find out which text it rejects */
	if (rc != RC_OK && rc != RC_INVALID) {
		log_warn("memory.backfill_failed", LOG_RC(rc));
		r->running = false;
		return;
	}
	if (rc == RC_OK)
		r->n = EMBED_TEXTS_MAX;
	backfill_next(r);
}

static void
backfill_on_vectors(void *arg, const struct embed_result *res)
{
	fiber_start(backfill_take_vectors, &(struct vector_reply){ arg, res });
}

/* The next texts, at most r->n; false if there are none. */
static bool
backfill_take(struct backfill *r, struct str *text)
{
	const struct rank_memory *m[EMBED_TEXTS_MAX];
	const struct memory_scope scope = backfill_scope(r);
	struct rank *rank;
	size_t i, n;

	arena_reset(r->a);
	if (index_cache_open(r->index, &scope, &rank) != RC_OK)
		return false;
	n = rank_missing_vectors(rank, r->dimensions, m, r->n);
	r->n = n < r->n ? n : r->n;
	for (i = 0; i < r->n; i++) {
		r->id[i] = arena_str(r->a, m[i]->id);
		text[i] = arena_str(r->a, m[i]->text);
		if (r->id[i].p == NULL || text[i].p == NULL)
			r->n = i;
	}
	return r->n > 0;
}

static void
backfill_next(struct backfill *r)
{
	struct str text[EMBED_TEXTS_MAX];
	struct embed_request req = {
		.texts = text, .fn = backfill_on_vectors, .arg = r
	};

	r->running = backfill_take(r, text);
	if (!r->running)
		return;
	req.n = r->n;
	req.deadline.ms = clock_wall().ms + BACKFILL_WAIT_MS;
	r->running = embed_request(r->o.embed, &req) == RC_OK;
}

static void
backfill_main(void *arg)
{
	backfill_next(arg);
}

static void
backfill_start(struct backfill *r, const struct memory_scope *scope, size_t n)
{
	if (r->running)
		return;
	r->running = true;
	str_copy(scope->user_id, r->user, sizeof(r->user));
	str_copy(scope->soul_id, r->soul, sizeof(r->soul));
	r->dimensions = n;
	r->n = EMBED_TEXTS_MAX;
	fiber_start(backfill_main, r);
}

/* ---- the store ---- */

/* Largest list, in bytes. */
#define LIST_MAX (512UL * 1024 * 1024)

struct builtin_store {
	struct builtin_store_opts o;
	struct index_cache *index;
	struct backfill *backfill;
	struct metric *degraded;
};

static bool
builtin_up(void *self)
{
	return state_up(((struct builtin_store *)self)->o.state);
}

static void
builtin_free(void *self)
{
	struct builtin_store *b = self;

	backfill_free(b->backfill);
	index_cache_free(b->index);
	free(b);
}

static void
builtin_finish(const struct store_request *req, enum rc rc)
{
	req->fn(req->arg, rc, &(struct store_result){ 0 });
}

/* Deadline for the embedding model. */
static struct wall
builtin_embed_deadline(const struct builtin_store *b, struct wall deadline)
{
	struct wall until = { clock_wall().ms + b->o.embed_ms };

	return deadline.ms < until.ms ? deadline : until;
}

/* A call that waits for a vector. */
struct builtin_op {
	struct builtin_store *b;
	struct store_request req;
	struct store_put put;
	struct rank_query query;
};

/* Request the vector of text; fn is called in any case. */
static void
builtin_embed(struct builtin_store *b, const struct store_request *req,
    struct str text, embed_fn fn, const struct builtin_op *w)
{
	struct builtin_op *copy = mem_alloc(sizeof(*copy));
	const struct embed_request e = {
		.texts = &text,
		.n = 1,
		.deadline = builtin_embed_deadline(b, req->deadline),
		.trace = req->trace,
		.fn = fn,
		.arg = copy,
	};
	enum rc rc = RC_DOWN;

	*copy = *w;
	copy->b = b;
	copy->req = *req;
	if (b->o.embed != NULL)
		rc = embed_request(b->o.embed, &e);
	if (rc != RC_OK)
		fn(copy, &(struct embed_result){ .rc = rc });
}

/* ---- put ---- */

static enum rc
builtin_put_record(
    struct builtin_store *b, const struct store_put *p, struct str vector)
{
	const struct memory_scope scope = { p->job->user_id, p->job->soul_id };
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct memory_item item = { .id = p->job->job_id, .vector = vector };
	enum rc rc;

	rc = memory_record_write(p->job, &json);
	if (rc == RC_OK) {
		item.json = buf_str(&json);
		rc = memory_put(b->o.state, &scope, &item, p->made);
	}
	buf_free(&json);
	return rc;
}

/* Without a vector the memory is stored as well; backfill adds one later. */
static void
builtin_put_vector(void *arg)
{
	const struct vector_reply *reply = arg;
	const struct embed_result *r = reply->result;
	struct builtin_op *w = reply->arg;
	struct buf vector = BUF_INIT(MEMORY_VECTOR_MAX);
	enum rc rc;

	if (r->rc == RC_OK)
		builtin_encode_vector(
		    w->b->backfill, r->vectors[0], r->dimensions, &vector);
	rc = builtin_put_record(w->b, &w->put, buf_str(&vector));
	buf_free(&vector);
	builtin_finish(&w->req, rc);
	free(w);
}

static void
builtin_on_put_vector(void *arg, const struct embed_result *r)
{
	fiber_call(builtin_put_vector, &(struct vector_reply){ arg, r });
}

static void
builtin_put(
    void *self, const struct store_request *req, const struct store_put *p)
{
	builtin_embed(self, req, p->job->text, builtin_on_put_vector,
	    &(struct builtin_op){ .put = *p });
}

/* ---- search ---- */

static enum rc
builtin_search_index(struct builtin_store *b, const struct store_request *req,
    const struct rank_query *query, bool degraded)
{
	struct rank_query q = *query;
	struct store_result result = { .degraded = degraded };
	struct rank_hit *hit;
	struct rank *rank;
	enum rc rc;

	rc = index_cache_open(b->index, &req->scope, &rank);
	if (rc != RC_OK)
		return rc;
	if (q.vector.n > 0 &&
	    rank_missing_vectors(rank, q.vector.n, NULL, 0) > 0) {
		q.vector = (struct str){ NULL, 0 };
		result.degraded = true;
	}
	hit = mem_calloc(q.k + 1, sizeof(*hit));
	result.n = rank_find(rank, &q, hit);
	result.hit = hit;
	/* It changes nothing of the index before it has waited for Redis. */
	if (query->vector.n > q.vector.n)
		backfill_start(b->backfill, &req->scope, query->vector.n);
	if (result.degraded)
		metric_add(b->degraded, 1);
	req->fn(req->arg, RC_OK, &result);
	free(hit);
	return RC_OK;
}

static void
builtin_search_vector(void *arg)
{
	const struct vector_reply *reply = arg;
	const struct embed_result *r = reply->result;
	struct builtin_op *w = reply->arg;
	int8_t x[VECTOR_MAX];
	enum rc rc;

	if (r->rc == RC_OK && r->dimensions <= VECTOR_MAX) {
		builtin_quantize(r->vectors[0], r->dimensions, x);
		w->query.vector =
		    (struct str){ (const char *)x, r->dimensions };
	}
	rc = builtin_search_index(w->b, &w->req, &w->query,
	    w->b->o.embed != NULL && w->query.vector.n == 0);
	if (rc != RC_OK)
		builtin_finish(&w->req, rc);
	free(w);
}

static void
builtin_on_query_vector(void *arg, const struct embed_result *r)
{
	fiber_call(builtin_search_vector, &(struct vector_reply){ arg, r });
}

static void
builtin_search(
    void *self, const struct store_request *req, const struct rank_query *q)
{
	builtin_embed(self, req, q->text, builtin_on_query_vector,
	    &(struct builtin_op){ .query = *q });
}

/* ---- forget, list, clear ---- */

static void
builtin_forget(
    void *self, const struct store_request *req, struct str id, bool for_ever)
{
	struct builtin_store *b = self;
	const struct rank_memory m = { .id = id };
	const struct rank_hit hit = { .memory = &m };
	enum rc rc;

	rc = for_ever ? memory_forget(b->o.state, &req->scope, id)
		      : memory_del(b->o.state, &req->scope, id);
	req->fn(req->arg, rc,
	    &(struct store_result){ .hit = &hit, .n = rc == RC_OK });
}

/* All memories of a scope, as hits; ids only unless texts. */
static enum rc
builtin_read_scope(struct builtin_store *b, const struct memory_scope *scope,
    bool texts, struct arena *a, struct store_result *out)
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
		    memory_record_read(m[i].id, all.item[i].json, a, &m[i]) !=
			RC_OK)
			continue;
		hit[out->n++].memory = &m[i];
	}
	out->hit = hit;
	return RC_OK;
}

static void
builtin_list(void *self, const struct store_request *req)
{
	struct arena *a = arena_new(LIST_MAX);
	struct store_result result = { 0 };
	enum rc rc = builtin_read_scope(self, &req->scope, true, a, &result);

	req->fn(req->arg, rc, &result);
	arena_free(a);
}

static void
builtin_clear(void *self, const struct store_request *req)
{
	struct builtin_store *b = self;
	struct arena *a = arena_new(LIST_MAX);
	struct store_result result = { 0 };
	enum rc rc = builtin_read_scope(b, &req->scope, false, a, &result);

	if (rc == RC_OK)
		rc = memory_clear(b->o.state, &req->scope, &result.total);
	if (result.n > STORE_REMOVED_MAX)
		result.n = STORE_REMOVED_MAX;
	req->fn(req->arg, rc, &result);
	arena_free(a);
}

static const struct store_ops builtin_ops = {
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
builtin_store_new(const struct builtin_store_opts *o)
{
	struct builtin_store *b = mem_zalloc(sizeof(*b));
	struct str model = STR("");

	b->o = *o;
	if (o->embed != NULL)
		model = str_of(embed_model(o->embed));
	b->index = index_cache_new(o->state, model, o->max_bytes, o->metrics);
	b->backfill = backfill_new(o, b->index);
	b->degraded = metric_counter(o->metrics, "soul_memory_degraded_total",
	    "Searches without vectors although there is an embedding model.",
	    NULL);
	return store_new(&builtin_ops, b, o->state);
}
