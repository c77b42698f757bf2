/*
 * keys: the public keys of a JWKS file, each for one algorithm.  Private.
 *
 * Shared between the loop and the checks that run in workers, therefore
 * counted; what is in it does not change.
 */
#ifndef AUTH_KEYS_H
#define AUTH_KEYS_H

#include <stddef.h>

#include "auth/key.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

struct auth_keys;

/*
 * auth_keys_read(json, out, err):
 * The keys in json (schema jwks) that can be used: RSA of 2048 to 4096 bits for
 * RS256, EC P-256 for ES256, OKP Ed25519 for EdDSA.  Keys for other things are
 * left out, which is logged.  RC_INVALID or RC_TOOBIG as wire_decode(), for a
 * key of these kinds that is broken, private or weak, for two of one kid, and
 * if none can be used; err says where.  Any thread.
 */
enum rc auth_keys_read(
    struct str json, struct auth_keys **out, struct wire_err *err) RC_CHECK;

/*
 * auth_keys_hold(k), auth_keys_drop(k):
 * One more that has k, one less; the last frees.  NULL is allowed.  Any thread.
 */
struct auth_keys *auth_keys_hold(struct auth_keys *k);
void auth_keys_drop(struct auth_keys *k);

/* auth_keys_n(k): How many there are. */
size_t auth_keys_n(const struct auth_keys *k);

/*
 * auth_keys_find(k, kid):
 * The key called kid; without kid (absent) the only one there is.  NULL: none.
 */
const struct auth_key *auth_keys_find(
    const struct auth_keys *k, struct str kid);

#endif /* !AUTH_KEYS_H */
