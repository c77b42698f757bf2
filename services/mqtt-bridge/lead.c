/*
 * Leading as a state machine: no clock, no broker, no Redis.
 */
#include "lead.h"

#define ALL ((1U << LEAD_FILTERS) - 1)

bool
lead_drop(struct lead *l)
{
	bool did = l->epoch != 0;

	*l = (struct lead)LEAD_INIT;
	return did;
}

static void
win(struct lead *l, int64_t epoch)
{
	*l = (struct lead)LEAD_INIT;
	l->epoch = epoch;
	l->todo = ALL;
}

enum lead_change
lead_lease(struct lead *l, const struct lead_answer *answer, struct mono now)
{
	enum lead_change change = LEAD_SAME;

	if (answer->rc != RC_OK) {
		if (mono_diff_ns(now, l->until) >= 0 && lead_drop(l))
			return LEAD_LOST;
		return LEAD_SAME;
	}
	if (answer->epoch == 0)
		return lead_drop(l) ? LEAD_LOST : LEAD_SAME;
	if (answer->epoch != l->epoch) {
		win(l, answer->epoch);
		change = LEAD_WON;
	}
	l->until = mono_add_ms(answer->asked, LEAD_TTL_MS);
	return change;
}

int
lead_next(struct lead *l, struct mono now)
{
	struct mono due = lead_due(l);
	int i;

	if (due.ns == 0 || mono_diff_ns(now, due) < 0)
		return -1;
	l->asking = -1;
	for (i = 0; i < LEAD_FILTERS; i++) {
		if ((l->todo & 1U << i) == 0)
			continue;
		l->todo &= ~(1U << i);
		l->asking = i;
		l->quiet = (struct mono){ 0 };
		return i;
	}
	return -1;
}

void
lead_answered(struct lead *l, int filter, struct mono now)
{
	if (l->asking == filter)
		l->quiet = now;
}

void
lead_replayed(struct lead *l, struct mono now)
{
	if (l->quiet.ns != 0)
		l->quiet = now;
}

void
lead_again(struct lead *l, unsigned filters, struct mono now)
{
	if (l->epoch == 0 || (filters & ~l->todo) == 0)
		return;
	l->todo |= filters;
	l->again = mono_add_ms(now, LEAD_AGAIN_MS);
}

struct mono
lead_due(const struct lead *l)
{
	if (l->epoch == 0)
		return (struct mono){ 0 };
	if (l->asking >= 0) {
		/* Of heartbeats the broker keeps none. */
		if (l->quiet.ns == 0 || l->asking == LEAD_HEARTBEAT)
			return l->quiet;
		return mono_add_ms(l->quiet, LEAD_QUIET_MS);
	}
	if (l->todo == 0)
		return (struct mono){ 0 };
	/* At once, unless it is for the sake of what was lost. */
	return l->again.ns != 0 ? l->again : (struct mono){ 1 };
}
