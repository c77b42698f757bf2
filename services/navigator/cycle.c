#include "cycle.h"

#include "wire/msgs.h"

#define BIT(x) (1U << (unsigned)(x))

const char *
cycle_end_name(enum cycle_end e)
{
	static const char *const names[CYCLE_END_N] = {
		[CYCLE_END_DONE] = "done",
		[CYCLE_END_RESTED] = "rested",
		[CYCLE_END_UNREADABLE] = "unreadable",
		[CYCLE_END_MODEL] = "model",
		[CYCLE_END_GAVE_UP] = "gave_up",
		[CYCLE_END_ABANDONED] = "abandoned",
		[CYCLE_END_LOST] = "lost",
	};

	return names[e];
}

unsigned
cycle_effects(const struct wire_navigator_output *o)
{
	unsigned bits = 0;

	if (o->suggestion.n > 0)
		bits |= BIT(EFFECT_LINK) | BIT(EFFECT_SUGGESTION);
	if (o->psyche_delta.n > 0)
		bits |= BIT(EFFECT_PSYCHE);
	if (o->n_memories > 0)
		bits |= BIT(EFFECT_MEMORIES);
	if (o->memory_archival)
		bits |= BIT(EFFECT_ARCHIVAL);
	if (o->has_proactive)
		bits |= BIT(EFFECT_SPEECH);
	if (o->has_evolution_request)
		bits |= BIT(EFFECT_EVOLUTION);
	return bits;
}

static enum cycle_action
cycle_end(struct cycle *c, enum cycle_end end)
{
	c->state = CYCLE_ENDING;
	c->end = end;
	return CYCLE_END;
}

static enum cycle_action
cycle_leave(struct cycle *c, enum cycle_end end, enum cycle_action a)
{
	c->state = CYCLE_ENDING;
	c->end = end;
	return a;
}

static enum cycle_action
cycle_act(struct cycle *c)
{
	unsigned i;

	c->state = CYCLE_ACTING;
	for (i = 0; i < EFFECT_N; i++) {
		if ((c->effects & BIT(i)) == 0)
			continue;
		c->effects &= ~BIT(i);
		c->effect = (enum cycle_effect)i;
		return CYCLE_EFFECT;
	}
	return cycle_end(c, c->gave_up ? CYCLE_END_GAVE_UP : CYCLE_END_DONE);
}

static enum cycle_action
cycle_fail(struct cycle *c)
{
	if (c->tries < CYCLE_TRIES_MAX)
		return cycle_leave(c, CYCLE_END_ABANDONED, CYCLE_ABANDON);
	c->gave_up = true;
	if (c->state == CYCLE_ACTING)
		return cycle_act(c);
	return cycle_end(c, CYCLE_END_GAVE_UP);
}

static enum cycle_action
cycle_enter(struct cycle *c, enum cycle_state s, enum cycle_action a)
{
	c->state = s;
	return a;
}

/* Thinking or repairing. */
static enum cycle_action
cycle_completed(struct cycle *c, enum cycle_event e)
{
	if (e == CYCLE_READ)
		return cycle_enter(c, CYCLE_DECIDING, CYCLE_DECIDE);
	if (e == CYCLE_NO_MODEL)
		return cycle_end(c, CYCLE_END_MODEL);
	if (e != CYCLE_UNREAD)
		return CYCLE_STOP;
	if (c->state == CYCLE_COMPLETING)
		return cycle_enter(c, CYCLE_REPAIRING, CYCLE_REPAIR);
	return cycle_end(c, CYCLE_END_UNREADABLE);
}

enum cycle_action
cycle_step(struct cycle *c, enum cycle_event e)
{
	if (c->state == CYCLE_ENDING)
		return CYCLE_STOP;
	if (c->state == CYCLE_NEW) {
		if (e == CYCLE_BEGIN)
			return cycle_enter(c, CYCLE_LOADING, CYCLE_LOAD);
		return e == CYCLE_RESUME ? cycle_act(c) : CYCLE_STOP;
	}
	if (e == CYCLE_LOST)
		return cycle_leave(c, CYCLE_END_LOST, CYCLE_STOP);
	if (e == CYCLE_FAILED)
		return cycle_fail(c);
	if (c->state == CYCLE_LOADING && e == CYCLE_LOADED)
		return cycle_enter(c, CYCLE_COMPLETING, CYCLE_COMPLETE);
	if (c->state == CYCLE_LOADING && e == CYCLE_RESTED)
		return cycle_end(c, CYCLE_END_RESTED);
	if (c->state == CYCLE_COMPLETING || c->state == CYCLE_REPAIRING)
		return cycle_completed(c, e);
	if (c->state == CYCLE_DECIDING && e == CYCLE_DECIDED)
		return cycle_act(c);
	if (c->state == CYCLE_ACTING && e == CYCLE_EFFECTED)
		return cycle_act(c);
	return CYCLE_STOP;
}
