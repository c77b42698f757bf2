/*
 * keys: the public keys of a JWKS file, each for one algorithm.  Private.
 *
 * Shared between the loop and the checks that run in workers, therefore
 * counted; what is in it does not change.
 */
#ifndef AUTH_KEYS_H
#define AUTH_KEYS_H

#include <stddef.h>

#include "auth/auth_internal.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

struct auth_keyset;

/*
 * auth_keyset_parse(json, out, err):
 * The keys in json (schema jwks) that can be used: RSA of 2048 to 4096 bits for
 * RS256, EC P-256 for ES256, OKP Ed25519 for EdDSA.  Keys for other things are
 * left out, which is logged.  RC_INVALID or RC_TOOBIG as wire_decode(), for a
 * key of these kinds that is broken, private or weak, for two of one kid, and
 * if none can be used; err says where.  Any thread.
 */
enum rc auth_keyset_parse(
    struct str json, struct auth_keyset **out, struct wire_err *err) RC_CHECK;

/*
 * auth_keyset_ref(k), auth_keyset_unref(k):
 * One more that has k, one less; the last frees.  NULL is allowed.  Any thread.
 */
struct auth_keyset *auth_keyset_ref(struct auth_keyset *k);
void auth_keyset_unref(struct auth_keyset *k);

/* auth_keyset_count(k): How many there are. */
size_t auth_keyset_count(const struct auth_keyset *k);

/*
 * auth_keyset_find(k, kid):
 * The key called kid; without kid (absent) the only one there is.  NULL: none.
 */
const struct auth_jwk *auth_keyset_find(
    const struct auth_keyset *k, struct str kid);

#endif /* !AUTH_KEYS_H */
