/*
 * rx: regular expressions with bounded time and memory.
 *
 * PCRE2 in UTF mode, JIT-compiled, with limits of work, CPU time and memory.  A
 * compiled pattern is immutable and may be shared by threads; scratch memory is
 * per thread (struct rx_scratch).
 *
 * Without flags \d, \w and \s are those of Unicode, and $ also matches before a
 * final line feed.  With RX_ECMA a pattern has the meaning of ECMA 262: \d and
 * \w are ASCII, $ is the end of the text; syntax that only PCRE2 has, or that
 * PCRE2 lacks, is rejected.  \C and callouts are always rejected.
 */
#ifndef RX_RX_H
#define RX_RX_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

/* Longest pattern and longest text in bytes. */
#define RX_PATTERN_MAX 4096
#define RX_TEXT_MAX    (1024 * 1024)
/* Capture groups that a match can report, the whole match included. */
#define RX_GROUPS_MAX 100

struct rx;
struct rx_scratch;

enum rx_flags {
	RX_NOCASE = 1, /* fold case by Unicode rules */
	RX_ECMA = 2    /* ECMA 262 with its flag u, not Perl */
};

/* Where a group matched, in bytes; start is -1 if it did not. */
struct rx_span {
	ptrdiff_t start, end;
};

struct rx_match {
	size_t n; /* groups in g, ≥ 1 */
	struct rx_span g[RX_GROUPS_MAX];
};

/*
 * rx_new(pattern, flags, out, why, why_size):
 * Compile, which takes about 0.1 ms and at most some milliseconds.  RC_INVALID
 * if pattern is not valid, RC_TOOBIG over RX_PATTERN_MAX or if it is too
 * complex; why (NULL with size 0 is allowed) then has the reason and the byte
 * offset.
 */
enum rc rx_new(struct str pattern, unsigned flags, struct rx **out, char *why,
    size_t why_size) RC_CHECK;

/* rx_free(r): NULL is allowed. */
void rx_free(struct rx *r);

/* rx_groups(r): Capture groups of the pattern, without the whole match. */
size_t rx_groups(const struct rx *r);

/* rx_scratch_new(), rx_scratch_free(s): One per thread; NULL is allowed. */
struct rx_scratch *rx_scratch_new(void);
void rx_scratch_free(struct rx_scratch *s);

/*
 * rx_scratch_take_exceeded(s):
 * Whether a match with s has exceeded a limit of work or time since the last
 * call: another time it may not.
 */
bool rx_scratch_take_exceeded(struct rx_scratch *s);

/*
 * rx_find(r, s, text, from, m):
 * The first match that starts at byte from, the start of a code point, or
 * later. RC_NOENT if there is none, RC_TOOBIG if a limit was exceeded or text
 * is over RX_TEXT_MAX (treat it as no match), RC_INVALID if text is not UTF-8
 * or from is inside a code point.  m may be NULL.  Most calls take about a
 * microsecond, none much more than 2 ms of CPU time, or 4 ms for 64 KiB of
 * text.
 */
enum rc rx_find(const struct rx *r, struct rx_scratch *s, struct str text,
    size_t from, struct rx_match *m) RC_CHECK;

#endif /* !RX_RX_H */
