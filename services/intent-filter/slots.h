/*
 * slots: the parameters of a matched intent, as said and ready for execution.
 */
#ifndef INTENT_FILTER_SLOTS_H
#define INTENT_FILTER_SLOTS_H

#include <stddef.h>

#include "match.h"

struct slots {
	struct str parameters; /* JSON object: all slots but "skill" */
	struct str normalized; /* JSON object: all slots */
	struct str *missing;   /* names of required slots without a value */
	size_t nmissing;
};

/*
 * slots_fill(in, t, rx, a, out):
 * Each slot takes its pattern's capture, else its default.  Captured words of
 * the slots "mode" and "color" become the values that bodies know (绿色 →
 * green); a slot whose name ends in "_seconds" becomes a number of seconds by
 * the unit said with it; a colour without a mode means mode set_color.
 * RC_TOOBIG if a is full.
 */
enum rc slots_fill(const struct catalog_intent *in, struct match_text t,
    struct rx_scratch *rx, struct arena *a, struct slots *out) RC_CHECK;

#endif /* !INTENT_FILTER_SLOTS_H */
