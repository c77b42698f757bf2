/*
 * command_text: the user's text in the forms that are matched.
 */
#ifndef INTENT_FILTER_TEXT_COMMAND_TEXT_H
#define INTENT_FILTER_TEXT_COMMAND_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"

struct command {
	struct str raw; /* as the caller sent it */
	/*
	 * Unicode NFKC, white space removed (Latin commands: runs reduced to
	 * one blank), one polite prefix removed.  Spans refer to it.
	 */
	struct str text;
	/*
	 * The same with ASCII letters in lower case and traditional characters
	 * simplified, at the same bytes: the text that is matched.
	 */
	struct str folded;
	bool polite;        /* the prefix makes a request of a question */
	const char *locale; /* "zh-CN", "en-US", … */
	const uint32_t *from, *to; /* private: bytes of raw, per byte of text */
};

/*
 * command_parse(raw, locale, dflt, a, out):
 * Normalize raw with memory from a; raw must outlive *out.  locale NULL:
 * detected from the letters, dflt if there are none.  A text that consists of a
 * prefix only is left unchanged.  RC_INVALID if raw is not UTF-8, RC_TOOBIG if
 * a is full.
 */
enum rc command_parse(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out) RC_CHECK;

/*
 * command_source(c, start, end):
 * The part of raw that became the bytes [start, end) of text, which must be
 * code point boundaries.
 */
struct str command_source(const struct command *c, size_t start, size_t end);

/*
 * command_fold(raw, a, out):
 * A phrase of a catalog in the form of command.folded: NFKC, trimmed, lower
 * case, simplified, without blanks next to an ideograph.  Fails as
 * command_parse().
 */
enum rc command_fold(struct str raw, struct arena *a, struct str *out) RC_CHECK;

/* ---- normalized text ---- */

/*
 * A command without what may separate a verb from its object, so that the
 * keyword 点头 is found in 点个头, 点三下头, 点点头 and 把头点一下.
 */
struct normalized_text {
	struct str text;     /* absent: the same as the command */
	uint32_t *from, *to; /* private: bytes of the command, per byte */
};

/*
 * normalized_text_make(folded, a, out):
 * Linear in the text; memory from a.  If it is full, out->text is absent.
 */
void normalized_text_make(
    struct str folded, struct arena *a, struct normalized_text *out);

/*
 * normalized_text_source(p, start, end, src_start, src_end):
 * The bytes of the command that [start, end) of the normalized text stands for.
 * Returns whether something was removed or moved between them.
 */
bool normalized_text_source(const struct normalized_text *p, size_t start,
    size_t end, size_t *src_start, size_t *src_end);

/* normalized_text_part(p, start, end): What became of [start, end). */
struct str normalized_text_part(
    const struct normalized_text *p, size_t start, size_t end);

#endif /* !INTENT_FILTER_TEXT_COMMAND_TEXT_H */
