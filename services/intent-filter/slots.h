/*
 * slots: the parameters of a matched intent, as said and ready for execution.
 */
#ifndef INTENT_FILTER_SLOTS_H
#define INTENT_FILTER_SLOTS_H

#include <stddef.h>

#include "match.h"
#include "timing.h"

#define SLOTS_SPANS 16

struct slots {
	struct str parameters; /* JSON object: all slots but "skill" */
	struct str normalized; /* JSON object: all slots */
	struct str *missing;   /* names of required slots without a value */
	size_t nmissing;
	size_t said; /* how many were filled from the text */
	/* Where they were said, as far as that is known. */
	struct reading_span spans[SLOTS_SPANS];
	size_t n_spans;
	struct timing timing; /* which of the reading's times they took */
};

/*
 * slots_fill(m, g, t):
 * Fill the slots of a match of g, unless they are: t->slots, in the arena.
 * Each slot takes the first of: the time it names, an entity of its types, its
 * pattern's capture, one of its own values that was said, its default.  A slot
 * whose name ends in "_seconds" or "_at" and that has nothing else takes the
 * segment's time; a colour without a mode means mode set_color.  A slot whose
 * time of today is over is missing, required or not; one moment does not stand
 * for a repetition, unless another slot says that it is one.  RC_TOOBIG if the
 * arena is full.
 */
enum rc slots_fill(
    const struct matcher *m, const struct segment *g, struct match *t) RC_CHECK;

#endif /* !INTENT_FILTER_SLOTS_H */
