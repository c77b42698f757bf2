/*
 * Indexes by scope, least recently used first out.
 */
#include "builtin.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "record.h"

/* All memories of a scope, as they are read. */
#define LOAD_MAX (256UL * 1024 * 1024)
/* What an entry takes beside its index. */
#define ENTRY_BYTES 1024

#define PROBE_USER "soul-probe"
#define PROBE_SOUL "memory-worker"

struct entry {
	TAILQ_ENTRY(entry) link;
	char *key;
	int64_t version; /* of what is stored; -1: none */
	struct rank *rank;
	size_t bytes; /* as counted in the store's */
};

struct builtin {
	struct state *state;
	TAILQ_HEAD(entry_list, entry) used; /* most recent first */
	struct map *by_key;
	size_t bytes, max_bytes;
	struct arena *list, *item; /* while memories are read */
	struct metric *m_bytes, *m_loads, *m_hits;
};

struct builtin *
builtin_new(struct state *s, size_t max_bytes, struct metric_set *set)
{
	struct builtin *b = mem_zalloc(sizeof(*b));

	b->state = s;
	TAILQ_INIT(&b->used);
	b->by_key = map_new();
	b->max_bytes = max_bytes;
	b->list = arena_new(LOAD_MAX);
	b->item = arena_new(WIRE_ARENA_MAX);
	b->m_bytes = metric_gauge(set, "soul_memory_index_bytes",
	    "Memory of the indexes that are kept.", NULL);
	b->m_loads = metric_counter(set, "soul_memory_index_loads_total",
	    "Searches that had to read the memories again.", NULL);
	b->m_hits = metric_counter(set, "soul_memory_index_hits_total",
	    "Searches in an index that was still right.", NULL);
	return b;
}

static void
entry_drop(struct builtin *b, struct entry *e)
{
	TAILQ_REMOVE(&b->used, e, link);
	(void)map_del(b->by_key, str_of(e->key));
	b->bytes -= e->bytes;
	rank_free(e->rank);
	free(e->key);
	free(e);
}

void
builtin_free(struct builtin *b)
{
	struct entry *e;

	if (b == NULL)
		return;
	while ((e = TAILQ_FIRST(&b->used)) != NULL)
		entry_drop(b, e);
	map_free(b->by_key);
	arena_free(b->list);
	arena_free(b->item);
	free(b);
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
entry_of(struct builtin *b, const struct memory_scope *scope)
{
	char *key = key_of(scope);
	struct entry *e = map_get(b->by_key, str_of(key));
	uint64_t seed;

	if (e != NULL) {
		free(key);
		TAILQ_REMOVE(&b->used, e, link);
		TAILQ_INSERT_HEAD(&b->used, e, link);
		return e;
	}
	id_random(&seed, sizeof(seed));
	e = mem_zalloc(sizeof(*e));
	e->key = key;
	e->version = -1;
	e->rank = rank_new(seed);
	(void)map_put(b->by_key, str_of(key), e);
	TAILQ_INSERT_HEAD(&b->used, e, link);
	return e;
}

static void
entry_count(struct builtin *b, struct entry *e)
{
	b->bytes -= e->bytes;
	e->bytes = ENTRY_BYTES + rank_bytes(e->rank);
	b->bytes += e->bytes;
	while (b->bytes > b->max_bytes && TAILQ_NEXT(e, link) != NULL)
		entry_drop(b, TAILQ_LAST(&b->used, entry_list));
	metric_set(b->m_bytes, (int64_t)b->bytes);
}

/* Make the index what is stored. */
static void
entry_sync(struct builtin *b, struct entry *e, const struct memory_list *list)
{
	static struct log_rate rate;
	struct rank_memory m;
	int64_t missed;
	size_t i;

	for (i = 0; i < list->n; i++) {
		if (rank_keep(e->rank, list->item[i].id))
			continue;
		arena_reset(b->item);
		if (record_read(list->item[i].id, list->item[i].json, b->item,
			&m) == RC_OK)
			(void)rank_add(e->rank, &m);
		else if (log_every(&rate, 10, &missed))
			log_error("memory.unreadable",
			    LOG_V("id", list->item[i].id),
			    LOG_I("bytes", list->item[i].json.n),
			    LOG_I("missed", missed));
	}
	rank_sweep(e->rank);
	e->version = list->version;
}

/* The index of a scope as it is stored now. */
static enum rc
entry_open(
    struct builtin *b, const struct memory_scope *scope, struct entry **out)
{
	struct memory_list list;
	struct entry *e;
	enum rc rc;

	if (!id_valid(scope->user_id) || !id_valid(scope->soul_id))
		return RC_INVALID;
	e = entry_of(b, scope);
	arena_reset(b->list);
	rc = memory_all(b->state, scope, e->version, b->list, &list);
	if (rc == RC_OK && list.changed) {
		metric_add(b->m_loads, 1);
		entry_sync(b, e, &list);
	} else if (rc == RC_OK) {
		metric_add(b->m_hits, 1);
	}
	arena_reset(b->list);
	entry_count(b, e);
	*out = e;
	return rc;
}

/* ---- the store -------------------------------------------------------------
 */

enum rc
builtin_put(
    struct builtin *b, const struct wire_memory_job *job, struct wall made)
{
	const struct memory_scope scope = { job->user_id, job->soul_id };
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct memory_item item = { .id = job->job_id };
	enum rc rc;

	rc = record_write(job, &json);
	if (rc == RC_OK) {
		item.json = buf_str(&json);
		rc = memory_put(b->state, &scope, &item, made);
	}
	buf_free(&json);
	return rc;
}

enum rc
builtin_search(struct builtin *b, const struct memory_scope *scope,
    const struct rank_query *q, struct arena *a, struct builtin_hits *out)
{
	struct entry *e;
	enum rc rc;

	*out = (struct builtin_hits){ 0 };
	rc = entry_open(b, scope, &e);
	if (rc != RC_OK)
		return rc;
	out->hit = arena_alloc(a, (q->k + 1) * sizeof(*out->hit));
	if (out->hit == NULL)
		return RC_TOOBIG;
	out->n = rank_find(e->rank, q, out->hit);
	return RC_OK;
}

enum rc
builtin_forget(
    struct builtin *b, const struct memory_scope *scope, struct str id)
{
	return memory_forget(b->state, scope, id);
}

enum rc
builtin_clear(struct builtin *b, const struct memory_scope *scope,
    struct arena *a, struct builtin_gone *gone)
{
	struct memory_list list;
	size_t i, n;
	enum rc rc;

	arena_reset(b->list);
	rc = memory_all(b->state, scope, -1, b->list, &list);
	if (rc == RC_OK)
		rc = memory_clear(b->state, scope, &n);
	if (rc == RC_OK) {
		gone->total += n;
		for (i = 0; i < list.n && gone->n < gone->max; i++) {
			gone->id[gone->n] = arena_str(a, list.item[i].id);
			if (gone->id[gone->n].p == NULL)
				break;
			gone->n++;
		}
	}
	arena_reset(b->list);
	return rc;
}

/* Whether the probe is what a search for it finds. */
static enum rc
probe_find(struct builtin *b, const struct memory_scope *scope, struct str id,
    struct wall now)
{
	const struct rank_query q = { .text = id, .now = now, .k = 1 };
	struct arena *a = arena_new(4096);
	struct builtin_hits hits;
	enum rc rc;

	rc = builtin_search(b, scope, &q, a, &hits);
	if (rc == RC_OK && (hits.n != 1 || !str_eq(hits.hit[0].memory->id, id)))
		rc = RC_BUG;
	arena_free(a);
	return rc;
}

enum rc
builtin_probe(struct builtin *b, struct str id, struct wall now)
{
	const struct memory_scope scope = { STR(PROBE_USER), STR(PROBE_SOUL) };
	char text[WALL_FORMAT_MAX];
	struct wire_memory_job job = {
		.job_id = id,
		.kind = STR(RECORD_JOB_KIND),
		.user_id = scope.user_id,
		.soul_id = scope.soul_id,
		.text = id,
		.type = WIRE_MEMORY_TYPE_FACT,
	};
	enum rc rc, gone;

	wall_format(now, 0, text);
	job.created_at = str_of(text);
	rc = builtin_put(b, &job, now);
	if (rc != RC_OK)
		return rc;
	rc = probe_find(b, &scope, id, now);
	/* Not memory_forget(): nobody will bring it back. */
	gone = memory_del(b->state, &scope, id);
	return rc != RC_OK ? rc : gone;
}
