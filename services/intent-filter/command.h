/*
 * command: what the user said, brought into the form that is matched.
 */
#ifndef INTENT_FILTER_COMMAND_H
#define INTENT_FILTER_COMMAND_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct command {
	/*
	 * Unicode NFKC, white space removed (in a Latin command: runs made one
	 * blank), one polite prefix removed.  Spans refer to it.
	 */
	struct str text;
	/* The same bytes with ASCII letters in lower case: what is matched. */
	struct str folded;
	const char *locale; /* "zh-CN", "en-US", … */
};

/*
 * command_read(raw, locale, dflt, a, out):
 * Normalise raw, taking memory from a.  locale NULL: recognised from the
 * letters, dflt if there are none.  A text that is nothing but a prefix is
 * kept.  RC_INVALID if raw is not UTF-8, RC_TOOBIG if a is full.
 */
enum rc command_read(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out) RC_CHECK;

/*
 * command_fold(raw, a, out):
 * A catalog's keyword in the form that command.folded is matched with: NFKC,
 * trimmed, ASCII in lower case.
 */
enum rc command_fold(struct str raw, struct arena *a, struct str *out) RC_CHECK;

#endif /* !INTENT_FILTER_COMMAND_H */
