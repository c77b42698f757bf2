/*
 * base64: base64 and base64url (RFC 4648).  Pure; any thread.
 */
#ifndef CORE_BASE64_H
#define CORE_BASE64_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * base64_decode(s, out):
 * Append the bytes of s, which is padded.  RC_INVALID if it is not valid,
 * RC_TOOBIG if out is full; out then has some of them.
 */
enum rc base64_decode(struct str s, struct buf *out) RC_CHECK;

/* base64url_digit(c): The value of a digit of base64url, or -1. */
int base64url_digit(char c);

/* Most bytes in n characters of base64url; characters, with a NUL, of n bytes.
 */
#define BASE64URL_BYTES(n) ((n) / 4 * 3 + 2)
#define BASE64URL_CHARS(n) (((n)*4 + 2) / 3 + 1)

/*
 * base64url_decode(s, dst, max, n):
 * The bytes of s, which is base64url without padding.  RC_INVALID for other
 * characters, padding included, and for a length or unused bits that no encoder
 * writes; RC_TOOBIG over max.
 */
enum rc base64url_decode(
    struct str s, void *dst, size_t max, size_t *n) RC_CHECK;

/*
 * base64url_encode(p, n, dst):
 * n bytes as base64url without padding, BASE64URL_CHARS(n) with the NUL.
 */
void base64url_encode(const void *p, size_t n, char *dst);

#endif /* !CORE_BASE64_H */
