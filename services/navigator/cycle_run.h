/*
 * cycle_run: runs a cycle (cycle.h) in a fiber: loads, calls the model, carries
 * out the effects, and extends the claim meanwhile.
 */
#ifndef NAVIGATOR_CYCLE_RUN_H
#define NAVIGATOR_CYCLE_RUN_H

#include <stdbool.h>
#include <sys/queue.h>

#include "context.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/trace.h"
#include "cycle_output.h"
#include "cycle_prompt.h"
#include "search/memory_policy.h"

struct fiber;
struct llm_call;
struct wire_emotion_state_reply;

struct cycle_run {
	LIST_ENTRY(cycle_run) link;
	struct navigator *n;
	struct nav_cycle c; /* its strings are in a */
	struct cycle fsm;
	struct arena *a;
	struct trace trace;
	struct mono start;
	/* What there is to think about. */
	struct cycle_view view;
	struct drive_levels drives;
	struct memory_policy policy;                    /* for memories */
	const struct wire_emotion_state_reply *emotion; /* NULL: unknown */
	/* What it has thought. */
	struct cycle_output out;
	struct str completion; /* of the model */
	char why[CYCLE_WHY_MAX];
	/* While the model is called. */
	struct llm_call *call;
	struct fiber *fiber;
	enum rc completion_rc;
	struct loop_timer timer; /* until the claim is extended */
	bool lost;               /* the claim is another's */
	unsigned owners;         /* the cycle, and an extension that runs */
};

/* cycle_run_start(n, c): Run a claimed cycle; c is copied. */
void cycle_run_start(struct navigator *n, const struct nav_cycle *c);

/*
 * cycle_run_drain(n):
 * End calls of the model: their cycles are left to other replicas at once.
 */
void cycle_run_drain(struct navigator *n);

/* ---- cycle_load.c, cycle_effect.c; only in the cycle's fiber ---- */

/* cycle_load(x): Fill in x's view and policy: the next event. */
enum cycle_event cycle_load(struct cycle_run *x);

/* cycle_effect_do(x): Carry out x->fsm.effect: the next event. */
enum cycle_event cycle_effect_do(struct cycle_run *x);

#endif /* !NAVIGATOR_CYCLE_RUN_H */
