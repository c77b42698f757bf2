/*
 * base64: bytes in texts (RFC 4648).  Pure; any thread.
 */
#ifndef CORE_BASE64_H
#define CORE_BASE64_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * base64_decode(s, out):
 * Append the bytes that s stands for, which is padded.  RC_INVALID if it is
 * none, RC_TOOBIG if out is full; out then has a part.
 */
enum rc base64_decode(struct str s, struct buf *out) RC_CHECK;

/* base64url_digit(c): The value of a digit of base64url, or -1. */
int base64url_digit(char c);

/* Most bytes that n characters of base64url stand for. */
#define BASE64URL_BYTES(n) ((n) / 4 * 3 + 2)

/*
 * base64url_decode(s, dst, max, n):
 * The bytes that s stands for, which is base64url without padding.  RC_INVALID:
 * s has a character that is none of base64url's (padding is none), a length or
 * last bits that no encoder writes; RC_TOOBIG: over max.
 */
enum rc base64url_decode(
    struct str s, void *dst, size_t max, size_t *n) RC_CHECK;

#endif /* !CORE_BASE64_H */
