#include "presence/leadership.h"

#define ALL_FILTERS ((1U << FILTERS_N) - 1)

bool
leadership_drop(struct leadership *l)
{
	bool was = l->epoch != 0;

	*l = (struct leadership)LEADERSHIP_INIT;
	return was;
}

static void
leadership_win(struct leadership *l, int64_t epoch)
{
	*l = (struct leadership)LEADERSHIP_INIT;
	l->epoch = epoch;
	l->pending = ALL_FILTERS;
}

enum leadership_change
leadership_update(
    struct leadership *l, const struct lease_reply *reply, struct mono now)
{
	enum leadership_change change = LEADERSHIP_SAME;

	if (reply->rc != RC_OK) {
		if (mono_diff_ns(now, l->valid_until) >= 0 &&
		    leadership_drop(l))
			return LEADERSHIP_LOST;
		return LEADERSHIP_SAME;
	}
	if (reply->epoch == 0)
		return leadership_drop(l) ? LEADERSHIP_LOST : LEADERSHIP_SAME;
	if (reply->epoch != l->epoch) {
		leadership_win(l, reply->epoch);
		change = LEADERSHIP_WON;
	}
	l->valid_until = mono_add_ms(reply->requested, LEASE_TTL_MS);
	return change;
}

int
leadership_next_filter(struct leadership *l, struct mono now)
{
	struct mono due = leadership_due(l);
	int i;

	if (due.ns == 0 || mono_diff_ns(now, due) < 0)
		return -1;
	l->subscribing = -1;
	for (i = 0; i < FILTERS_N; i++) {
		if ((l->pending & 1U << i) == 0)
			continue;
		l->pending &= ~(1U << i);
		l->subscribing = i;
		l->quiet_since = (struct mono){ 0 };
		return i;
	}
	return -1;
}

void
leadership_subscribed(struct leadership *l, int filter, struct mono now)
{
	if (l->subscribing == filter)
		l->quiet_since = now;
}

void
leadership_replayed(struct leadership *l, struct mono now)
{
	if (l->quiet_since.ns != 0)
		l->quiet_since = now;
}

void
leadership_resubscribe(struct leadership *l, unsigned filters, struct mono now)
{
	if (l->epoch == 0 || (filters & ~l->pending) == 0)
		return;
	l->pending |= filters;
	l->retry_at = mono_add_ms(now, REPLAY_RETRY_MS);
}

struct mono
leadership_due(const struct leadership *l)
{
	if (l->epoch == 0)
		return (struct mono){ 0 };
	if (l->subscribing >= 0) {
		/*
		 * No heartbeat is retained, so there is no replay to wait for.
		 */
		if (l->quiet_since.ns == 0 ||
		    l->subscribing == FILTER_HEARTBEAT)
			return l->quiet_since;
		return mono_add_ms(l->quiet_since, REPLAY_QUIET_MS);
	}
	if (l->pending == 0)
		return (struct mono){ 0 };
	/* At once, unless it is a retry. */
	return l->retry_at.ns != 0 ? l->retry_at : (struct mono){ 1 };
}
