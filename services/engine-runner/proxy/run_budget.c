#include "proxy/run_budget.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "core/map.h"
#include "core/mem.h"

struct run_budget {
	TAILQ_ENTRY(run_budget) link;
	struct run_budgets *all;
	char run[PROXY_RUN_MAX + 1];
	int64_t epoch, used;
	size_t calls;
};

TAILQ_HEAD(run_budget_list, run_budget);

struct run_budgets {
	struct map *by_run;
	/* Without calls, the longest idle first. */
	struct run_budget_list idle;
	size_t max;
};

struct run_budgets *
run_budgets_new(size_t max)
{
	struct run_budgets *b = mem_zalloc(sizeof(*b));

	b->by_run = map_new();
	b->max = max;
	TAILQ_INIT(&b->idle);
	return b;
}

static void
budget_forget(struct run_budget *r)
{
	TAILQ_REMOVE(&r->all->idle, r, link);
	map_del(r->all->by_run, str_of(r->run));
	free(r);
}

void
run_budgets_free(struct run_budgets *b)
{
	struct run_budget *r;

	if (b == NULL)
		return;
	while ((r = TAILQ_FIRST(&b->idle)) != NULL)
		budget_forget(r);
	map_free(b->by_run);
	free(b);
}

/* NULL: there is no room. */
static struct run_budget *
budget_add(struct run_budgets *b, struct str run)
{
	struct run_budget *r;

	if (map_len(b->by_run) >= b->max) {
		if (TAILQ_EMPTY(&b->idle))
			return NULL;
		budget_forget(TAILQ_FIRST(&b->idle));
	}
	r = mem_zalloc(sizeof(*r));
	r->all = b;
	str_copy(run, r->run, sizeof(r->run));
	map_put(b->by_run, run, r);
	TAILQ_INSERT_TAIL(&b->idle, r, link);
	return r;
}

enum rc
run_budget_begin(
    struct run_budgets *b, const struct proxy_grant *g, struct run_budget **out)
{
	struct run_budget *r = map_get(b->by_run, g->run);

	if (r == NULL)
		r = budget_add(b, g->run);
	if (r == NULL)
		return RC_RETRY;
	if (g->epoch < r->epoch)
		return RC_DENIED;
	r->epoch = g->epoch;
	if (r->used >= g->budget)
		return RC_TOOBIG;
	if (r->calls == RUN_BUDGET_CALLS_MAX)
		return RC_RETRY;
	if (r->calls++ == 0)
		TAILQ_REMOVE(&b->idle, r, link);
	*out = r;
	return RC_OK;
}

void
run_budget_end(struct run_budget *r, int64_t tokens)
{
	if (__builtin_add_overflow(r->used, tokens, &r->used))
		r->used = INT64_MAX;
	if (--r->calls == 0)
		TAILQ_INSERT_TAIL(&r->all->idle, r, link);
}
