/*
 * jwt: JSON Web Tokens (RFC 7519) as compact JWS, by the keys that are known.
 * Private, pure: time is handed in; any thread.
 */
#ifndef AUTH_JWT_H
#define AUTH_JWT_H

#include "auth/auth_internal.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Room for why, NUL included. */
#define AUTH_WHY_MAX (WIRE_ERR_TEXT_MAX + 32)

struct auth_jwt_rules {
	const struct auth_keyset *keys;
	const char *issuer;   /* that "iss" must be; "": any */
	const char *audience; /* that "aud" must have; "": any */
};

/* auth_jwt_is_compact(token): Whether it has three parts, as a compact JWS. */
bool auth_jwt_is_compact(struct str token);

/*
 * auth_jwt_verify(token, rules, now, out, why):
 * Who has the token; *out is freed with free() and has no key.  RC_DENIED with
 * why in words, without anything of the token, if
 * - it is no compact JWS over JSON objects of the schemas jwt_header and
 *   jwt_claims, or has "crit",
 * - the key it names is not known, or is for another algorithm than it says,
 * - the signature is not of that key,
 * - it has ended, does not begin yet, or is of another issuer or for another
 *   audience (clocks may differ by AUTH_LEEWAY_S),
 * - who it is breaks the rules of auth_identity_new().
 */
enum rc auth_jwt_verify(struct str token, const struct auth_jwt_rules *rules,
    struct wall now, struct auth_identity **out,
    char why[AUTH_WHY_MAX]) RC_CHECK;

#endif /* !AUTH_JWT_H */
