/*
 * A queue in the order of asking, and its names in a map.
 */
#include "expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

#define NAME_MAX_BYTES (2 * ID_MAX + 2)

struct entry {
	TAILQ_ENTRY(entry) link;
	struct mono until;
	char name[];
};

struct expected {
	TAILQ_HEAD(, entry) queue; /* the oldest first */
	struct map *names;
};

struct expected *
expected_new(void)
{
	struct expected *e = mem_zalloc(sizeof(*e));

	TAILQ_INIT(&e->queue);
	e->names = map_new();
	return e;
}

static void
forget(struct expected *e, struct entry *it)
{
	(void)map_del(e->names, str_of(it->name));
	TAILQ_REMOVE(&e->queue, it, link);
	free(it);
}

void
expected_free(struct expected *e)
{
	struct entry *it;

	if (e == NULL)
		return;
	while ((it = TAILQ_FIRST(&e->queue)) != NULL)
		forget(e, it);
	map_free(e->names);
	free(e);
}

/* A terminal's id has no '/'. */
static struct str
name_of(struct str terminal, struct str request, char dst[NAME_MAX_BYTES])
{
	(void)snprintf(dst, NAME_MAX_BYTES, "%.*s/%.*s", STR_ARG(terminal),
	    STR_ARG(request));
	return str_of(dst);
}

static void
expire(struct expected *e, struct mono now)
{
	struct entry *it;

	while ((it = TAILQ_FIRST(&e->queue)) != NULL &&
	    (mono_diff_ns(now, it->until) >= 0 ||
		map_len(e->names) >= EXPECTED_MAX))
		forget(e, it);
}

bool
expected_add(struct expected *e, struct str terminal, struct str request,
    struct mono now)
{
	char text[NAME_MAX_BYTES];
	struct str name = name_of(terminal, request, text);
	struct entry *it;

	expire(e, now);
	if (map_get(e->names, name) != NULL)
		return false;
	it = mem_zalloc(sizeof(*it) + name.n + 1);
	memcpy(it->name, text, name.n + 1);
	it->until = mono_add_ms(now, EXPECTED_MS);
	(void)map_put(e->names, name, it);
	TAILQ_INSERT_TAIL(&e->queue, it, link);
	return true;
}

bool
expected_take(struct expected *e, struct str terminal, struct str request,
    struct mono now)
{
	char text[NAME_MAX_BYTES];
	struct entry *it;

	it = map_get(e->names, name_of(terminal, request, text));
	if (it == NULL)
		return false;
	now.ns -= it->until.ns;
	forget(e, it);
	return now.ns < 0;
}
