/*
 * secret_box: texts encrypted with AES-256-GCM, by one of a few keys.
 *
 * The first key encrypts, all of them decrypt: to change the key, put the new
 * one before the old one, until nothing is encrypted with that any more.
 *
 * Pure but for random numbers; one thread.
 */
#ifndef AUTH_SECRET_BOX_H
#define AUTH_SECRET_BOX_H

#include <stddef.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"

struct secret_box;

/* Keys, and characters of the name of one. */
#define SECRET_KEYS_MAX     8
#define SECRET_KEY_NAME_MAX 32
/* How much longer than its text a sealed one is, at most; and a third. */
#define SECRET_OVERHEAD 128

/*
 * secret_box_new(keys, out, why):
 * Of "name:key[,name:key…]": a name is [A-Za-z0-9_-], a key 32 bytes in
 * base64url without padding, or 64 hexadecimal digits.  Empty: *out is NULL.
 * RC_INVALID: *why is a constant without any part of keys.
 *
 * secret_box_free(b): Its keys are erased; NULL is allowed.
 */
enum rc secret_box_new(
    struct str keys, struct secret_box **out, const char **why) RC_CHECK;
void secret_box_free(struct secret_box *b);

/*
 * secret_box_seal(b, of, text, out):
 * Append text, encrypted: "name.<base64url>".  It can only be opened with the
 * same of, which says what it belongs to.  RC_TOOBIG if out is full.
 *
 * secret_box_open(b, of, sealed, out):
 * Append the text.  RC_NOENT: the key is not known (b may be NULL); RC_INVALID:
 * it was changed, or belongs to something else.
 */
enum rc secret_box_seal(const struct secret_box *b, struct str of,
    struct str text, struct buf *out) RC_CHECK;
enum rc secret_box_open(const struct secret_box *b, struct str of,
    struct str sealed, struct buf *out) RC_CHECK;

#endif /* !AUTH_SECRET_BOX_H */
