/*
 * Tools by the text they were read from, least recently used first out.
 */
#include "toolbox.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/wire.h"

/* What a compiled schema takes of memory, as a multiple of its text. */
#define COMPILED_SHARE 4

struct entry {
	TAILQ_ENTRY(entry) link;
	struct str skills; /* the key; its text is owned */
	size_t bytes;
	struct tools *tools;
};

struct toolbox {
	TAILQ_HEAD(entry_list, entry) used; /* most recent first */
	struct map *by_skills;
	size_t bytes, max_bytes;
	struct metric *read, *size; /* NULL: not counted */
};

struct toolbox *
toolbox_new(size_t max_bytes, struct metric_set *set)
{
	struct toolbox *b = mem_zalloc(sizeof(*b));

	TAILQ_INIT(&b->used);
	b->by_skills = map_new();
	b->max_bytes = max_bytes;
	b->read = metric_counter(set, "soul_turn_skills_read_total",
	    "Lists of skills that were read, each once while it is kept.",
	    NULL);
	b->size = metric_gauge(set, "soul_turn_skills_bytes",
	    "Memory of the skills that are kept.", NULL);
	return b;
}

static void
drop(struct toolbox *b, struct entry *e)
{
	TAILQ_REMOVE(&b->used, e, link);
	map_del(b->by_skills, e->skills);
	b->bytes -= e->bytes;
	tools_free(e->tools);
	free((char *)(uintptr_t)e->skills.p);
	free(e);
}

void
toolbox_free(struct toolbox *b)
{
	struct entry *e;

	if (b == NULL)
		return;
	while ((e = TAILQ_FIRST(&b->used)) != NULL)
		drop(b, e);
	map_free(b->by_skills);
	free(b);
}

static void
keep(struct toolbox *b, struct str skills, size_t texts, struct tools *t)
{
	struct entry *e = mem_zalloc(sizeof(*e));

	e->skills = (struct str){ str_dup(skills), skills.n };
	e->tools = tools_hold(t);
	/* The map has a copy of the key, too. */
	e->bytes = texts + (2 + COMPILED_SHARE) * skills.n;
	map_put(b->by_skills, e->skills, e);
	TAILQ_INSERT_HEAD(&b->used, e, link);
	b->bytes += e->bytes;
	while (b->bytes > b->max_bytes && TAILQ_NEXT(e, link) != NULL)
		drop(b, TAILQ_LAST(&b->used, entry_list));
	metric_set(b->size, (int64_t)b->bytes);
}

enum rc
toolbox_get(struct toolbox *b, struct str skills, struct tools **out)
{
	struct entry *e = map_get(b->by_skills, skills);
	struct arena *a;
	enum rc rc;

	if (e != NULL) {
		TAILQ_REMOVE(&b->used, e, link);
		TAILQ_INSERT_HEAD(&b->used, e, link);
		*out = tools_hold(e->tools);
		return RC_OK;
	}
	a = arena_new(WIRE_ARENA_MAX);
	metric_add(b->read, 1);
	rc = tools_new(skills, a, out);
	if (rc != RC_OK) {
		arena_free(a);
		return rc;
	}
	tools_take(*out, a);
	keep(b, skills, arena_used(a), *out);
	return RC_OK;
}
