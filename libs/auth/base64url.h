/*
 * base64url: of JWTs, JWKs and the tokens of bodies, without padding.
 * Private, pure; any thread.
 */
#ifndef AUTH_BASE64URL_H
#define AUTH_BASE64URL_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

/* Most bytes that n characters stand for. */
#define AUTH_BASE64URL_BYTES(n) ((n) / 4 * 3 + 2)

/*
 * auth_base64url_read(s, dst, max, n):
 * The bytes that s stands for.  RC_INVALID: s has a character that is none of
 * base64url's (padding is none), a length or last bits that no encoder writes;
 * RC_TOOBIG: over max.
 */
enum rc auth_base64url_read(
    struct str s, unsigned char *dst, size_t max, size_t *n) RC_CHECK;

#endif /* !AUTH_BASE64URL_H */
