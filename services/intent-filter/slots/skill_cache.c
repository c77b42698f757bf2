/*
 * Compiled schemas by text, least recently used first out.
 */
#include "slots/skill_cache.h"

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
};

struct skill_cache {
	TAILQ_HEAD(skill_cache_list, skill_cache_entry)
	used; /* most recent first */
	struct map *by_text;
	size_t bytes, max_bytes;
};

struct skill_cache *
skill_cache_new(size_t max_bytes)
{
	struct skill_cache *c = mem_zalloc(sizeof(*c));

	TAILQ_INIT(&c->used);
	c->by_text = map_new();
	c->max_bytes = max_bytes;
	return c;
}

static void
skill_cache_drop(struct skill_cache *c, struct skill_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	(void)map_del(c->by_text, e->text);
	c->bytes -= ENTRY_BYTES(e->text);
	wire_schema_free(e->shape.compiled);
	wire_tree_free(e->shape.tree);
	free((char *)(uintptr_t)e->text.p);
	free(e);
}

void
skill_cache_free(struct skill_cache *c)
{
	struct skill_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		skill_cache_drop(c, e);
	map_free(c->by_text);
	free(c);
}

size_t
skill_cache_len(const struct skill_cache *c)
{
	return map_len(c->by_text);
}

static struct skill_cache_entry *
skill_cache_add(struct skill_cache *c, struct str schema)
{
	struct skill_cache_entry *e = mem_zalloc(sizeof(*e));

	e->text = (struct str){ str_dup(schema), schema.n };
	e->valid = wire_tree_parse(schema, &e->shape.tree) == RC_OK &&
	    wire_schema_new(schema, &e->shape.compiled, NULL) == RC_OK;
	(void)map_put(c->by_text, e->text, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += ENTRY_BYTES(e->text);
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		skill_cache_drop(c, TAILQ_LAST(&c->used, skill_cache_list));
	return e;
}

enum rc
skill_cache_get(
    struct skill_cache *c, struct str schema, const struct skill_shape **out)
{
	struct skill_cache_entry *e = map_get(c->by_text, schema);

	*out = NULL;
	if (e == NULL) {
		e = skill_cache_add(c, schema);
	} else {
		TAILQ_REMOVE(&c->used, e, link);
		TAILQ_INSERT_HEAD(&c->used, e, link);
	}
	if (!e->valid)
		return RC_INVALID;
	*out = &e->shape;
	return RC_OK;
}
