/*
 * cycle_output: reads what a model has thought.  Pure.
 *
 * The model is requested to reply with one JSON object (cycle_prompt.h).  It is
 * found in the whole text, in a fence, or from the first brace to the last;
 * reasoning in <think> is removed.  Lines of the form "suggestion: …" are read,
 * too.  A text in which neither is found, or a member that is of another type,
 * is an error with its path: nothing is guessed.
 */
#ifndef NAVIGATOR_CYCLE_OUTPUT_H
#define NAVIGATOR_CYCLE_OUTPUT_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Code points of a suggestion, and of what is to be spoken; memories. */
#define CYCLE_TEXT_MAX     500
#define CYCLE_MEMORIES_MAX 4
/* Most that one cycle may move a drive. */
#define CYCLE_DELTA_MAX 0.3
/* Size of the text about an error. */
#define CYCLE_WHY_MAX 160

struct cycle_output {
	struct wire_navigator_output o;
	/* Names in psyche_delta that are none, with spaces between them. */
	struct str unknown;
};

/*
 * cycle_output_read(text, a, out, why):
 * RC_INVALID with why: what is wrong, for the model and the log.  RC_TOOBIG if
 * a is full.  Texts live in a.  Texts beyond a limit are shortened, numbers are
 * limited to CYCLE_DELTA_MAX, and what is empty or null counts as absent.
 */
enum rc cycle_output_read(struct str text, struct arena *a,
    struct cycle_output *out, char why[CYCLE_WHY_MAX]) RC_CHECK;

#endif /* !NAVIGATOR_CYCLE_OUTPUT_H */
