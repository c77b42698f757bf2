/*
 * alarm_select: which of a user's alarms are meant.
 */
#ifndef ALARM_CLOCK_ALARM_SELECT_H
#define ALARM_CLOCK_ALARM_SELECT_H

#include <stdbool.h>

#include "alarm_reject.h"
#include "alarm_store.h"

struct zone;

struct alarm_selection {
	struct str user_id;
	struct str alarm_id; /* these may be absent */
	struct str when, match_text;
	bool ended; /* also those that have ended */
	bool one;   /* RC_CONFLICT unless it is exactly one */
	/* Set. */
	struct alarm_stored *x;
	size_t n;
	const struct zone *zone; /* the user's */
	struct wall now;
};

/*
 * alarm_select(c, s, a, why): A call.  RC_NOENT if one is set, and there is
 * none, or alarm_id is unknown.
 */
enum rc alarm_select(struct alarm_clock *c, struct alarm_selection *s,
    struct arena *a, struct alarm_rejection *why) RC_CHECK;

#endif /* !ALARM_CLOCK_ALARM_SELECT_H */
