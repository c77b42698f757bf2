/* The steps of a cycle: every state and event. */
#include "core/mem.h"
#include "cycle.h"
#include "testkit/testkit.h"
#include "wire/msgs.h"

#define LINK   (1U << EFFECT_LINK)
#define PSYCHE (1U << EFFECT_PSYCHE)

static const struct {
	enum cycle_state state;
	enum cycle_event event;
	enum cycle_action action;
	enum cycle_state next;
	enum cycle_end end; /* of CYCLE_ENDING */
} rows[] = {
	{ CYCLE_NEW, CYCLE_BEGIN, CYCLE_LOAD, CYCLE_LOADING, 0 },
	{ CYCLE_NEW, CYCLE_RESUME, CYCLE_EFFECT, CYCLE_ACTING, 0 },
	{ CYCLE_LOADING, CYCLE_LOADED, CYCLE_COMPLETE, CYCLE_COMPLETING, 0 },
	{ CYCLE_LOADING, CYCLE_RESTED, CYCLE_END, CYCLE_ENDING,
	    CYCLE_END_RESTED },
	{ CYCLE_LOADING, CYCLE_FAILED, CYCLE_ABANDON, CYCLE_ENDING,
	    CYCLE_END_ABANDONED },
	{ CYCLE_LOADING, CYCLE_LOST, CYCLE_STOP, CYCLE_ENDING, CYCLE_END_LOST },
	{ CYCLE_COMPLETING, CYCLE_READ, CYCLE_DECIDE, CYCLE_DECIDING, 0 },
	{ CYCLE_COMPLETING, CYCLE_UNREAD, CYCLE_REPAIR, CYCLE_REPAIRING, 0 },
	{ CYCLE_COMPLETING, CYCLE_NO_MODEL, CYCLE_END, CYCLE_ENDING,
	    CYCLE_END_MODEL },
	{ CYCLE_COMPLETING, CYCLE_FAILED, CYCLE_ABANDON, CYCLE_ENDING,
	    CYCLE_END_ABANDONED },
	{ CYCLE_COMPLETING, CYCLE_LOST, CYCLE_STOP, CYCLE_ENDING,
	    CYCLE_END_LOST },
	{ CYCLE_REPAIRING, CYCLE_READ, CYCLE_DECIDE, CYCLE_DECIDING, 0 },
	{ CYCLE_REPAIRING, CYCLE_UNREAD, CYCLE_END, CYCLE_ENDING,
	    CYCLE_END_UNREADABLE },
	{ CYCLE_REPAIRING, CYCLE_NO_MODEL, CYCLE_END, CYCLE_ENDING,
	    CYCLE_END_MODEL },
	{ CYCLE_REPAIRING, CYCLE_FAILED, CYCLE_ABANDON, CYCLE_ENDING,
	    CYCLE_END_ABANDONED },
	{ CYCLE_REPAIRING, CYCLE_LOST, CYCLE_STOP, CYCLE_ENDING,
	    CYCLE_END_LOST },
	{ CYCLE_DECIDING, CYCLE_DECIDED, CYCLE_EFFECT, CYCLE_ACTING, 0 },
	{ CYCLE_DECIDING, CYCLE_FAILED, CYCLE_ABANDON, CYCLE_ENDING,
	    CYCLE_END_ABANDONED },
	{ CYCLE_DECIDING, CYCLE_LOST, CYCLE_STOP, CYCLE_ENDING,
	    CYCLE_END_LOST },
	{ CYCLE_ACTING, CYCLE_EFFECTED, CYCLE_EFFECT, CYCLE_ACTING, 0 },
	{ CYCLE_ACTING, CYCLE_FAILED, CYCLE_ABANDON, CYCLE_ENDING,
	    CYCLE_END_ABANDONED },
	{ CYCLE_ACTING, CYCLE_LOST, CYCLE_STOP, CYCLE_ENDING, CYCLE_END_LOST },
};

TEST(each_state_and_event_has_its_action)
{
	for (int s = 0; s < CYCLE_STATE_N; s++)
		for (int e = 0; e < CYCLE_EVENT_N; e++) {
			struct cycle c = { .state = (enum cycle_state)s,
				.tries = 1,
				.effects = PSYCHE };
			enum cycle_action a;
			size_t i = 0;

			while (i < NELEM(rows) &&
			    ((int)rows[i].state != s ||
				(int)rows[i].event != e))
				i++;
			a = cycle_step(&c, (enum cycle_event)e);
			if (i == NELEM(rows)) {
				ck_assert_int_eq(a, CYCLE_STOP);
				ck_assert_int_eq(c.state, s);
				continue;
			}
			ck_assert_int_eq(a, rows[i].action);
			ck_assert_int_eq(c.state, rows[i].next);
			if (c.state == CYCLE_ENDING)
				ck_assert_int_eq(c.end, rows[i].end);
		}
}

TEST(effects_come_in_order_and_then_the_end)
{
	const struct wire_navigator_output o = { .suggestion = STR("a"),
		.psyche_delta = STR("{}"),
		.n_memories = 1,
		.memory_archival = true,
		.has_proactive = true,
		.has_evolution_request = true };
	struct cycle c = { .tries = 1, .effects = cycle_effects(&o) };
	enum cycle_event e = CYCLE_RESUME;

	for (int i = 0; i < EFFECT_N; i++) {
		ck_assert_int_eq(cycle_step(&c, e), CYCLE_EFFECT);
		ck_assert_int_eq(c.effect, i);
		e = CYCLE_EFFECTED;
	}
	ck_assert_int_eq(cycle_step(&c, e), CYCLE_END);
	ck_assert_int_eq(c.end, CYCLE_END_DONE);
	ck_assert_uint_eq(
	    cycle_effects(&(struct wire_navigator_output){ 0 }), 0);
}

TEST(the_last_try_leaves_out_what_fails)
{
	struct cycle c = { .tries = CYCLE_TRIES_MAX, .effects = LINK | PSYCHE };

	ck_assert_int_eq(cycle_step(&c, CYCLE_RESUME), CYCLE_EFFECT);
	ck_assert_int_eq(cycle_step(&c, CYCLE_FAILED), CYCLE_EFFECT);
	ck_assert_int_eq(c.effect, EFFECT_PSYCHE);
	ck_assert_int_eq(cycle_step(&c, CYCLE_EFFECTED), CYCLE_END);
	ck_assert_int_eq(c.end, CYCLE_END_GAVE_UP);
	c = (struct cycle){ .state = CYCLE_LOADING, .tries = CYCLE_TRIES_MAX };
	ck_assert_int_eq(cycle_step(&c, CYCLE_FAILED), CYCLE_END);
	ck_assert_int_eq(c.end, CYCLE_END_GAVE_UP);
}
