/*
 * key: one public key of a JWKS file, for one algorithm.  Private, pure; any
 * thread.
 */
#ifndef AUTH_KEY_H
#define AUTH_KEY_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct auth_jwk;
struct wire_jwks_keys;

/* What of a key is wrong: the member ("": all of it), and why. */
struct auth_jwk_error {
	const char *member;
	const char *why;
};

/* auth_jwk_supported(w): Whether it is of a kind, and for a use, we have. */
bool auth_jwk_supported(const struct wire_jwks_keys *w);

/*
 * auth_jwk_new(w, out, fault):
 * The key w, which is wanted.  RC_INVALID with *fault set if it is broken,
 * private, or weaker or larger than it may be.
 */
enum rc auth_jwk_new(const struct wire_jwks_keys *w, struct auth_jwk **out,
    struct auth_jwk_error *fault) RC_CHECK;
void auth_jwk_free(struct auth_jwk *k);

/* auth_jwk_kid(k): Its name; absent: none. */
struct str auth_jwk_kid(const struct auth_jwk *k);

/* auth_jwk_alg(k): "RS256", "ES256" or "EdDSA". */
const char *auth_jwk_alg(const struct auth_jwk *k);

/*
 * auth_jwk_verify(k, text, sig):
 * Whether sig, as a JWS has it, is of text by that key: RC_OK or RC_DENIED.
 */
enum rc auth_jwk_verify(
    const struct auth_jwk *k, struct str text, struct str sig) RC_CHECK;

#endif /* !AUTH_KEY_H */
