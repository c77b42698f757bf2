/*
 * Compiled schemas by text, least recently used first out.
 */
#include "slots/skill_cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"
#include "wire/schema.h"
#include "wire/tree.h"

/* Memory of a schema that is parsed and compiled, by its text. */
#define ENTRY_BYTES(text) (1024 + 12 * (text).n)

struct skill_cache_entry {
	TAILQ_ENTRY(skill_cache_entry) link;
	struct str text; /* the key; owned */
	struct skill_shape shape;
	bool valid;
	size_t borrowed; /* by how many */
	bool evicted;    /* freed by the last that returns it */
};

struct skill_cache {
	pthread_mutex_t lock; /* guards all of it */
	TAILQ_HEAD(skill_cache_list, skill_cache_entry)
	used;                            /* most recent first */
	struct skill_cache_list evicted; /* but borrowed */
	struct map *by_text;
	size_t bytes, max_bytes;
};

struct skill_cache *
skill_cache_new(size_t max_bytes)
{
	struct skill_cache *c = mem_zalloc(sizeof(*c));

	(void)pthread_mutex_init(&c->lock, NULL);
	TAILQ_INIT(&c->used);
	TAILQ_INIT(&c->evicted);
	c->by_text = map_new();
	c->max_bytes = max_bytes;
	return c;
}

static void
skill_cache_free_entry(struct skill_cache_entry *e)
{
	wire_schema_free(e->shape.compiled);
	wire_tree_free(e->shape.tree);
	free((char *)(uintptr_t)e->text.p);
	free(e);
}

static void
skill_cache_drop(struct skill_cache *c, struct skill_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	(void)map_del(c->by_text, e->text);
	c->bytes -= ENTRY_BYTES(e->text);
	if (e->borrowed > 0) {
		e->evicted = true;
		TAILQ_INSERT_TAIL(&c->evicted, e, link);
	} else {
		skill_cache_free_entry(e);
	}
}

void
skill_cache_free(struct skill_cache *c)
{
	struct skill_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		skill_cache_drop(c, e);
	while ((e = TAILQ_FIRST(&c->evicted)) != NULL) {
		TAILQ_REMOVE(&c->evicted, e, link);
		skill_cache_free_entry(e);
	}
	map_free(c->by_text);
	(void)pthread_mutex_destroy(&c->lock);
	free(c);
}

size_t
skill_cache_len(const struct skill_cache *c)
{
	return map_len(c->by_text);
}

static struct skill_cache_entry *
skill_cache_compile(struct str schema)
{
	struct skill_cache_entry *e = mem_zalloc(sizeof(*e));

	e->text = (struct str){ str_dup(schema), schema.n };
	e->shape.entry = e;
	e->valid = wire_tree_parse(schema, &e->shape.tree) == RC_OK &&
	    wire_schema_new(schema, &e->shape.compiled, NULL) == RC_OK;
	return e;
}

static void
skill_cache_add(struct skill_cache *c, struct skill_cache_entry *e)
{
	(void)map_put(c->by_text, e->text, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += ENTRY_BYTES(e->text);
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		skill_cache_drop(c, TAILQ_LAST(&c->used, skill_cache_list));
}

/* The lock is held. */
static struct skill_cache_entry *
skill_cache_borrow(struct skill_cache *c, struct str schema)
{
	struct skill_cache_entry *e = map_get(c->by_text, schema);

	if (e == NULL)
		return NULL;
	TAILQ_REMOVE(&c->used, e, link);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	e->borrowed += e->valid;
	return e;
}

enum rc
skill_cache_get(
    struct skill_cache *c, struct str schema, const struct skill_shape **out)
{
	struct skill_cache_entry *e, *made = NULL;

	*out = NULL;
	(void)pthread_mutex_lock(&c->lock);
	e = skill_cache_borrow(c, schema);
	if (e == NULL) {
		/* It may take 20 ms.  Another thread may be as fast. */
		(void)pthread_mutex_unlock(&c->lock);
		made = skill_cache_compile(schema);
		(void)pthread_mutex_lock(&c->lock);
		e = skill_cache_borrow(c, schema);
		if (e == NULL) {
			e = made;
			made = NULL;
			e->borrowed += e->valid;
			skill_cache_add(c, e);
		}
	}
	if (e->valid)
		*out = &e->shape;
	(void)pthread_mutex_unlock(&c->lock);
	if (made != NULL)
		skill_cache_free_entry(made);
	return *out != NULL ? RC_OK : RC_INVALID;
}

void
skill_cache_return(struct skill_cache *c, const struct skill_shape *shape)
{
	struct skill_cache_entry *e = shape->entry;
	bool unused;

	(void)pthread_mutex_lock(&c->lock);
	unused = --e->borrowed == 0 && e->evicted;
	if (unused)
		TAILQ_REMOVE(&c->evicted, e, link);
	(void)pthread_mutex_unlock(&c->lock);
	if (unused)
		skill_cache_free_entry(e);
}
