#include "runs/engine_view.h"

/* As of the schemas. */
#define ENGINES_MAX 16
#define RUNNERS_MAX 256

static bool
engine_is_allowed(
    const struct wire_runner_status_engines *e, bool known, struct str tenant)
{
	size_t i;

	if (!known || !e->has_tenants)
		return true;
	for (i = 0; i < e->n_tenants; i++)
		if (str_eq(e->tenants[i], tenant))
			return true;
	return false;
}

/* The engine's entry, a new one if there is none; NULL: there is no room. */
static struct wire_engine_list_items *
engine_find_entry(
    struct wire_engine_list *out, struct str engine, size_t n, struct arena *a)
{
	struct wire_engine_list_items *e;
	size_t i;

	for (i = 0; i < out->n_items; i++)
		if (str_eq(out->items[i].engine, engine))
			return &out->items[i];
	if (out->n_items == ENGINES_MAX)
		return NULL;
	e = &out->items[out->n_items];
	*e = (struct wire_engine_list_items){ .engine = engine,
		.runners = arena_alloc(a, n * sizeof(*e->runners)) };
	if (e->runners == NULL)
		return NULL;
	out->n_items++;
	return e;
}

static void
engine_add(struct wire_engine_list_items *to,
    const struct wire_runner_status *r,
    const struct wire_runner_status_engines *e)
{
	if (to->n_runners == RUNNERS_MAX)
		return;
	to->places += r->places;
	to->free += r->free;
	to->runners[to->n_runners++] = (struct wire_engine_list_items_runners){
		.runner = r->runner,
		.version = e->version,
		.models = e->models,
		.n_models = e->n_models,
		.has_models = e->has_models,
		.isolation = r->isolation,
		.n_isolation = r->n_isolation,
		.has_isolation = r->has_isolation,
		.not_enforced = r->not_enforced,
		.n_not_enforced = r->n_not_enforced,
		.has_not_enforced = r->has_not_enforced,
		.places = r->places,
		.free = r->free,
	};
}

enum rc
engine_view(const struct wire_runner_status *list, size_t n, bool known,
    struct str tenant, struct arena *a, struct wire_engine_list *out)
{
	struct wire_engine_list_items *to;
	size_t i, k;

	*out = (struct wire_engine_list){ .items = arena_alloc(
					      a, ENGINES_MAX * sizeof(*to)) };
	if (out->items == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		for (k = 0; k < list[i].n_engines; k++) {
			if (!engine_is_allowed(
				&list[i].engines[k], known, tenant))
				continue;
			to = engine_find_entry(
			    out, list[i].engines[k].engine, n, a);
			if (to == NULL)
				return RC_TOOBIG;
			engine_add(to, &list[i], &list[i].engines[k]);
		}
	return RC_OK;
}
