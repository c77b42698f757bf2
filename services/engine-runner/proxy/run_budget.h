/*
 * run_budget: the tokens that runs have taken of their models, and their calls
 * in progress.
 *
 * In memory only: a restart of the proxy begins at 0.  Loop thread.
 */
#ifndef ENGINE_RUNNER_RUN_BUDGET_H
#define ENGINE_RUNNER_RUN_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "proxy/proxy_path.h"

/* What an engine is sent when its run has used up its tokens. */
#define PROXY_BUDGET_TEXT "BUDGET_EXCEEDED: the run's tokens are used up"

/* Calls of one run at a time. */
#define RUN_BUDGET_CALLS_MAX 16

struct run_budgets;
struct run_budget;

/*
 * run_budgets_new(max):
 * For max (> 0) runs; beyond, the one that has been idle for longest is
 * forgotten.
 * run_budgets_free(b): After all calls have ended.  NULL is allowed.
 */
struct run_budgets *run_budgets_new(size_t max);
void run_budgets_free(struct run_budgets *b);

/*
 * run_budget_begin(b, g, out):
 * A call of a run begins.  RC_DENIED: a later epoch of the run has been seen;
 * RC_TOOBIG: its budget is used up; RC_RETRY: it has RUN_BUDGET_CALLS_MAX
 * calls, or all runs that fit have some.  *out is valid until run_budget_end().
 */
enum rc run_budget_begin(struct run_budgets *b, const struct proxy_grant *g,
    struct run_budget **out) RC_CHECK;

/* run_budget_end(r, tokens): The call has ended and has taken these. */
void run_budget_end(struct run_budget *r, int64_t tokens);

#endif /* !ENGINE_RUNNER_RUN_BUDGET_H */
