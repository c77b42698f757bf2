/*
 * think_output: reads what a model has thought.  Pure.
 *
 * The model is requested to reply with one JSON object (think_prompt.h).  It is
 * found in the whole text, in a fence, or from the first brace to the last;
 * reasoning in <think> is removed.  Lines of the form "suggestion: …" are read,
 * too.  A text in which neither is found, or a member that is of another type,
 * is an error with its path: nothing is guessed.
 */
#ifndef NAVIGATOR_THINK_OUTPUT_H
#define NAVIGATOR_THINK_OUTPUT_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Code points of a suggestion, and of what is to be spoken; memories. */
#define THINK_TEXT_MAX     500
#define THINK_MEMORIES_MAX 4
/* Most that one cycle may move a drive. */
#define THINK_DELTA_MAX 0.3
/* Size of the text about an error. */
#define THINK_WHY_MAX 160

struct think_output {
	struct wire_navigator_output o;
	/* Names in psyche_delta that are none, with spaces between them. */
	struct str unknown;
};

/*
 * think_output_read(text, a, out, why):
 * RC_INVALID with why: what is wrong, for the model and the log.  RC_TOOBIG if
 * a is full.  Texts live in a.  Texts beyond a limit are shortened, numbers are
 * limited to THINK_DELTA_MAX, and what is empty or null counts as absent.
 */
enum rc think_output_read(struct str text, struct arena *a,
    struct think_output *out, char why[THINK_WHY_MAX]) RC_CHECK;

#endif /* !NAVIGATOR_THINK_OUTPUT_H */
