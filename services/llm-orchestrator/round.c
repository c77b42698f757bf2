/*
 * A round's calls are those deeds that have its number.
 */
#include "round.h"

bool
round_has_deed(const struct turn *t, size_t i)
{
	return t->deeds[i].round == t->round && t->deeds[i].kind != TURN_DIRECT;
}

/* Whether a call of that kind is of a tool that is not on offer. */
static bool
is_absent(const struct turn *t, enum turn_kind kind)
{
	if (kind == TURN_RECALL)
		return !t->memory || t->recalled;
	return kind == TURN_FORGET && !t->memory;
}

bool
round_take(struct turn *t, const struct turn_event *e, enum turn_outcome gate)
{
	bool searches = false;

	t->said[t->round++] = e->text;
	for (size_t i = 0; i < e->n_deeds; i++) {
		if (i == TURN_CALLS_MAX || t->n_deeds == TURN_DEEDS_MAX) {
			t->overflow = true;
			break;
		}
		struct turn_deed *d = &t->deeds[t->n_deeds++];
		*d = e->deeds[i];
		d->round = t->round;
		if (d->outcome != TURN_OPEN)
			continue;
		if (is_absent(t, d->kind))
			d->outcome = TURN_UNKNOWN;
		else if (d->kind == TURN_RECALL)
			searches = true;
		else if (d->kind == TURN_INVOKE && !d->safety)
			d->outcome = gate;
	}
	return searches;
}

bool
round_is_open(const struct turn *t)
{
	return round_has(t, TURN_OPEN) || round_has(t, TURN_SENT);
}

bool
round_has(const struct turn *t, enum turn_outcome outcome)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (round_has_deed(t, i) && t->deeds[i].outcome == outcome)
			return true;
	}
	return false;
}

bool
round_ok(const struct turn *t)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (round_has_deed(t, i) && t->deeds[i].outcome != TURN_OK)
			return false;
	}
	return true;
}

bool
round_forgets(const struct turn *t)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		if (round_has_deed(t, i) && t->deeds[i].kind == TURN_FORGET)
			return true;
	}
	return false;
}

enum turn_outcome
round_due(const struct turn *t, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		const struct turn_deed *d = &t->deeds[k];
		if (!round_has_deed(t, k) ||
		    !str_eq(d->skill, t->deeds[i].skill))
			continue;
		if (d->outcome <= TURN_SENT)
			return TURN_OPEN;
		if (d->outcome == TURN_NOT_CONFIRMED ||
		    d->outcome == TURN_SKIPPED)
			return TURN_SKIPPED;
	}
	return TURN_SENT;
}

bool
round_result(struct turn *t, const struct turn_event *e)
{
	if (e->deed >= t->n_deeds || !round_has_deed(t, e->deed))
		return false;
	struct turn_deed *d = &t->deeds[e->deed];
	if (d->outcome != TURN_SENT || e->outcome <= TURN_SENT)
		return false;
	d->outcome = e->outcome;
	d->output = e->output;
	d->why = e->why;
	return true;
}

bool
round_may_go_on(struct turn *t)
{
	static const enum turn_outcome absent[] = { TURN_NOT_CONFIRMED,
		TURN_OFFLINE, TURN_UNHEARD, TURN_LATE, TURN_BLOCKED,
		TURN_UNGATED };

	if (t->round >= t->max_rounds + t->recalled)
		return false;
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		if (round_has(t, absent[i]))
			return false;
	}
	if (!round_has(t, TURN_INVALID))
		return true;
	bool first = !t->corrected;
	t->corrected = true;
	return first;
}
