/*
 * Indexes by scope, least recently used first out.
 */
#include "index.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "record.h"
#include "vector.h"

/* All memories of a scope, as they are read. */
#define LOAD_MAX (512UL * 1024 * 1024)
/* What an entry takes beside its index. */
#define ENTRY_BYTES 1024

struct entry {
	TAILQ_ENTRY(entry) link;
	char *key;
	int64_t version; /* of what is stored; -1: none */
	struct rank *rank;
	size_t bytes; /* as counted in the store's */
};

struct index {
	struct state *state;
	struct str model; /* of vectors; empty: there are none */
	TAILQ_HEAD(entry_list, entry) used; /* most recent first */
	struct map *by_key;
	size_t bytes, max_bytes;
	struct arena *list, *item; /* while memories are read */
	struct metric *m_bytes, *m_loads, *m_hits;
};

struct index *
index_new(
    struct state *s, struct str model, size_t max_bytes, struct metric_set *set)
{
	struct index *ix = mem_zalloc(sizeof(*ix));

	ix->state = s;
	ix->model = model;
	TAILQ_INIT(&ix->used);
	ix->by_key = map_new();
	ix->max_bytes = max_bytes;
	ix->list = arena_new(LOAD_MAX);
	ix->item = arena_new(WIRE_ARENA_MAX);
	ix->m_bytes = metric_gauge(set, "soul_memory_index_bytes",
	    "Memory of the indexes that are kept.", NULL);
	ix->m_loads = metric_counter(set, "soul_memory_index_loads_total",
	    "Searches that had to read the memories again.", NULL);
	ix->m_hits = metric_counter(set, "soul_memory_index_hits_total",
	    "Searches in an index that was still right.", NULL);
	return ix;
}

static void
entry_drop(struct index *ix, struct entry *e)
{
	TAILQ_REMOVE(&ix->used, e, link);
	(void)map_del(ix->by_key, str_of(e->key));
	ix->bytes -= e->bytes;
	rank_free(e->rank);
	free(e->key);
	free(e);
}

void
index_free(struct index *ix)
{
	struct entry *e;

	if (ix == NULL)
		return;
	while ((e = TAILQ_FIRST(&ix->used)) != NULL)
		entry_drop(ix, e);
	map_free(ix->by_key);
	arena_free(ix->list);
	arena_free(ix->item);
	free(ix);
}

/* ---- indexes ---------------------------------------------------------------
 */

/* No id has a line break in it. */
static char *
key_of(const struct memory_scope *scope)
{
	struct buf key = BUF_INIT(2 * ID_MAX + 2);
	char *s;

	buf_printf(&key, "%.*s\n%.*s", STR_ARG(scope->user_id),
	    STR_ARG(scope->soul_id));
	s = str_dup(buf_str(&key));
	buf_free(&key);
	return s;
}

static struct entry *
entry_of(struct index *ix, const struct memory_scope *scope)
{
	char *key = key_of(scope);
	struct entry *e = map_get(ix->by_key, str_of(key));
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
entry_count(struct index *ix, struct entry *e)
{
	ix->bytes -= e->bytes;
	e->bytes = ENTRY_BYTES + rank_bytes(e->rank);
	ix->bytes += e->bytes;
	while (ix->bytes > ix->max_bytes && TAILQ_NEXT(e, link) != NULL)
		entry_drop(ix, TAILQ_LAST(&ix->used, entry_list));
	metric_set(ix->m_bytes, (int64_t)ix->bytes);
}

/* A vector of another model is none. */
static void
entry_vector(
    const struct index *ix, struct entry *e, const struct memory_item *item)
{
	struct str x = { NULL, 0 };

	if (ix->model.n > 0)
		x = vector_read(item->vector, ix->model);
	if (x.n > 0)
		rank_vector(e->rank, item->id, x);
}

/* What is not there yet comes in, and what has no vector may have one now. */
static void
entry_take(struct index *ix, struct entry *e, const struct memory_item *item)
{
	static struct log_rate rate;
	struct rank_memory m;
	int64_t missed;

	arena_reset(ix->item);
	if (rank_keep(e->rank, item->id) ||
	    (record_read(item->id, item->json, ix->item, &m) == RC_OK &&
		rank_add(e->rank, &m)))
		entry_vector(ix, e, item);
	else if (log_every(&rate, 10, &missed))
		log_error("memory.unreadable", LOG_V("id", item->id),
		    LOG_I("bytes", item->json.n), LOG_I("missed", missed));
}

/* All of it is read. */
static enum rc
entry_load(struct index *ix, const struct memory_scope *scope, struct entry *e,
    struct memory_list *list)
{
	enum rc rc;
	size_t i;

	rc = memory_all(ix->state, scope, e->version, ix->list, list);
	rank_start(e->rank);
	for (i = 0; rc == RC_OK && i < list->n; i++)
		entry_take(ix, e, &list->item[i]);
	return rc;
}

/* The ids are read, and what is not there yet; RC_TOOBIG if that is much. */
static enum rc
entry_update(struct index *ix, const struct memory_scope *scope,
    struct entry *e, struct memory_list *list)
{
	const struct rank_memory *lacking[MEMORY_GET_MAX];
	struct memory_item item[MEMORY_GET_MAX];
	size_t i, n = 0;
	enum rc rc;

	rc = memory_ids(ix->state, scope, e->version, ix->list, list);
	if (rc != RC_OK || !list->changed)
		return rc;
	rank_start(e->rank);
	if (ix->model.n > 0)
		n = rank_lacking(e->rank, 0, lacking, MEMORY_GET_MAX);
	for (i = 0; i < n && i < MEMORY_GET_MAX; i++)
		item[i] = (struct memory_item){ .id = lacking[i]->id };
	for (i = 0; i < list->n; i++) {
		if (rank_keep(e->rank, list->item[i].id))
			continue;
		if (n < MEMORY_GET_MAX)
			item[n] = list->item[i];
		n++;
	}
	if (n > MEMORY_GET_MAX)
		return RC_TOOBIG;
	rc = memory_get(ix->state, scope, item, n, ix->list);
	for (i = 0; rc == RC_OK && i < n; i++)
		if (item[i].json.p != NULL)
			entry_take(ix, e, &item[i]);
	return rc;
}

enum rc
index_open(
    struct index *ix, const struct memory_scope *scope, struct rank **out)
{
	struct memory_list list;
	struct entry *e;
	enum rc rc = RC_TOOBIG;

	if (!id_valid(scope->user_id) || !id_valid(scope->soul_id))
		return RC_INVALID;
	e = entry_of(ix, scope);
	*out = e->rank;
	arena_reset(ix->list);
	if (rank_len(e->rank) > 0)
		rc = entry_update(ix, scope, e, &list);
	if (rc == RC_TOOBIG)
		rc = entry_load(ix, scope, e, &list);
	if (rc == RC_OK && list.changed) {
		metric_add(ix->m_loads, 1);
		rank_sweep(e->rank);
		e->version = list.version;
	} else if (rc == RC_OK) {
		metric_add(ix->m_hits, 1);
	}
	arena_reset(ix->list);
	entry_count(ix, e);
	return rc;
}
