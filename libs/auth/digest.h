/*
 * digest: what stands for a token where the token itself must not be kept.
 * Private; any thread.
 */
#ifndef AUTH_DIGEST_H
#define AUTH_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

#define AUTH_DIGEST_BYTES 32

struct auth_digest {
	unsigned char bytes[AUTH_DIGEST_BYTES];
};

/* auth_digest_of(token): Its SHA-256. */
struct auth_digest auth_digest_of(struct str token);

/* auth_digest_parse(hex, out): Of 64 lower-case hexadecimal digits. */
enum rc auth_digest_parse(struct str hex, struct auth_digest *out) RC_CHECK;

/* auth_digest_is(a, b): Whether both are the same, in constant time. */
bool auth_digest_is(const struct auth_digest *a, const struct auth_digest *b);

/*
 * auth_digest_map_key(d): What d is found by in a map: not all of it, so that
 * the comparison of auth_digest_is() decides.  Valid as long as *d.
 */
struct str auth_digest_map_key(const struct auth_digest *d);

/* auth_digest_id(d): A number for it in limits and logs. */
uint64_t auth_digest_id(const struct auth_digest *d);

#endif /* !AUTH_DIGEST_H */
