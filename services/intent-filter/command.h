/*
 * command: what the user said, brought into the form that is matched.
 */
#ifndef INTENT_FILTER_COMMAND_H
#define INTENT_FILTER_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct command {
	struct str raw; /* as the caller sent it */
	/*
	 * Unicode NFKC, white space removed (in a Latin command: runs made one
	 * blank), one polite prefix removed.  Spans refer to it.
	 */
	struct str text;
	/*
	 * The same with ASCII letters in lower case and traditional characters
	 * simplified, each at the same byte: what is matched.
	 */
	struct str folded;
	bool polite;        /* the prefix makes a request of a question */
	const char *locale; /* "zh-CN", "en-US", … */
	const uint32_t *from, *to; /* private: bytes of raw, per byte of text */
};

/*
 * command_read(raw, locale, dflt, a, out):
 * Normalise raw, taking memory from a; raw must outlive *out.  locale NULL:
 * recognised from the letters, dflt if there are none.  A text that is nothing
 * but a prefix is kept.  RC_INVALID if raw is not UTF-8, RC_TOOBIG if a is
 * full.
 */
enum rc command_read(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out) RC_CHECK;

/*
 * command_source(c, start, end):
 * The part of raw that became the bytes [start, end) of text, which are code
 * point borders.
 */
struct str command_source(const struct command *c, size_t start, size_t end);

/*
 * command_fold(raw, a, out):
 * A catalog's keyword in the form that command.folded is matched with: NFKC,
 * trimmed, lower case, simplified, without blanks beside an ideograph.  Fails
 * as command_read().
 */
enum rc command_fold(struct str raw, struct arena *a, struct str *out) RC_CHECK;

#endif /* !INTENT_FILTER_COMMAND_H */
