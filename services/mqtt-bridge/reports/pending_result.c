#include "reports/pending_result.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/map.h"
#include "core/mem.h"

#define NAME_MAX_BYTES (2 * ID_MAX + 2)

struct pending_result {
	TAILQ_ENTRY(pending_result) link;
	struct mono until;
	char name[];
};

struct pending_results {
	TAILQ_HEAD(, pending_result) queue; /* oldest first */
	struct map *names;
};

struct pending_results *
pending_results_new(void)
{
	struct pending_results *e = mem_zalloc(sizeof(*e));

	TAILQ_INIT(&e->queue);
	e->names = map_new();
	return e;
}

static void
pending_result_drop(struct pending_results *e, struct pending_result *it)
{
	(void)map_del(e->names, str_of(it->name));
	TAILQ_REMOVE(&e->queue, it, link);
	free(it);
}

void
pending_results_free(struct pending_results *e)
{
	struct pending_result *it;

	if (e == NULL)
		return;
	while ((it = TAILQ_FIRST(&e->queue)) != NULL)
		pending_result_drop(e, it);
	map_free(e->names);
	free(e);
}

/* Unambiguous: a terminal's id has no '/'. */
static struct str
pending_result_name(
    struct str terminal, struct str request, char dst[NAME_MAX_BYTES])
{
	(void)snprintf(dst, NAME_MAX_BYTES, "%.*s/%.*s", STR_ARG(terminal),
	    STR_ARG(request));
	return str_of(dst);
}

static void
pending_results_expire(struct pending_results *e, struct mono now)
{
	struct pending_result *it;

	while ((it = TAILQ_FIRST(&e->queue)) != NULL &&
	    (mono_diff_ns(now, it->until) >= 0 ||
		map_len(e->names) >= PENDING_RESULTS_MAX))
		pending_result_drop(e, it);
}

bool
pending_results_add(struct pending_results *e, struct str terminal,
    struct str request, struct mono now)
{
	char text[NAME_MAX_BYTES];
	struct str name = pending_result_name(terminal, request, text);
	struct pending_result *it;

	pending_results_expire(e, now);
	if (map_get(e->names, name) != NULL)
		return false;
	it = mem_zalloc(sizeof(*it) + name.n + 1);
	memcpy(it->name, text, name.n + 1);
	it->until = mono_add_ms(now, PENDING_RESULTS_MS);
	(void)map_put(e->names, name, it);
	TAILQ_INSERT_TAIL(&e->queue, it, link);
	return true;
}

bool
pending_results_take(struct pending_results *e, struct str terminal,
    struct str request, struct mono now)
{
	char text[NAME_MAX_BYTES];
	struct pending_result *it;

	it = map_get(e->names, pending_result_name(terminal, request, text));
	if (it == NULL)
		return false;
	now.ns -= it->until.ns;
	pending_result_drop(e, it);
	return now.ns < 0;
}

/* ---- invoke context ---- */

struct str
invoke_context_encode(
    const struct invoke_context *a, char dst[INVOKE_CONTEXT_MAX])
{
	char parent[TRACE_PARENT_MAX];

	trace_format(&a->trace, parent);
	(void)snprintf(dst, INVOKE_CONTEXT_MAX, "%s %lld %.*s", parent,
	    (long long)a->at.ms, STR_ARG(a->skill));
	return str_of(dst);
}

bool
invoke_context_decode(struct str note, struct invoke_context *a)
{
	struct str rest = note, parent, at;

	parent = str_split(&rest, ' ');
	at = str_split(&rest, ' ');
	a->skill = rest;
	return trace_parse(parent, &a->trace) == RC_OK &&
	    str_to_i64(at, 0, INT64_MAX, &a->at.ms) == RC_OK && id_valid(rest);
}
