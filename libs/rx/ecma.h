/*
 * ecma: ECMA 262 patterns in PCRE2's words.
 */
#ifndef RX_ECMA_H
#define RX_ECMA_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * rx_ecma(pattern, out, at, why):
 * Append to out what PCRE2 must compile, with PCRE2_UTF, PCRE2_DOLLAR_ENDONLY,
 * PCRE2_MATCH_UNSET_BACKREF and PCRE2_ALLOW_EMPTY_CLASS, to match what pattern
 * matches in ECMA 262 with the flag u.  RC_INVALID if pattern says what ECMA
 * 262 does not know: *why then says what, *at is the offset in pattern.
 * RC_TOOBIG if out is full.  Not every error is found: PCRE2 finds the others.
 */
enum rc rx_ecma(
    struct str pattern, struct buf *out, size_t *at, const char **why) RC_CHECK;

#endif /* !RX_ECMA_H */
