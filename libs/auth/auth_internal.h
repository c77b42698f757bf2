/*
 * auth_internal: what the files of auth share, and what its tests call.
 *
 * Pure, any thread, with time as an argument, unless stated otherwise.
 */
#ifndef AUTH_AUTH_INTERNAL_H
#define AUTH_AUTH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "auth/auth.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* ---- digests, which are stored and compared instead of tokens ---- */

#define AUTH_DIGEST_BYTES 32

struct auth_digest {
	unsigned char bytes[AUTH_DIGEST_BYTES];
};

/* auth_digest_of(token): Its SHA-256. */
struct auth_digest auth_digest_of(struct str token);

/* auth_digest_parse(hex, out): From 64 lower-case hexadecimal digits. */
enum rc auth_digest_parse(struct str hex, struct auth_digest *out) RC_CHECK;

/* auth_digest_is(a, b): Whether they are equal, in constant time. */
bool auth_digest_is(const struct auth_digest *a, const struct auth_digest *b);

/*
 * auth_digest_map_key(d):
 * The key of d in a map: its first half only, so that auth_digest_is() decides
 * on the rest.  Valid as long as *d.
 */
struct str auth_digest_map_key(const struct auth_digest *d);

/* auth_digest_prove(d, kind): As the proof of a caller. */
struct auth_proof auth_digest_prove(
    const struct auth_digest *d, enum auth_proof_kind kind);

/* auth_digest_id(d): A number that identifies the token in limits and logs. */
uint64_t auth_digest_id(const struct auth_digest *d);

/* ---- identities ---- */

/*
 * The claims of a token; absent: none.  user is ignored for the roles terminal
 * and notifier, terminal_id for all but the former.  users: of a notifier only.
 */
struct auth_claims {
	enum wire_role role;
	struct str user, tenant, terminal_id;
	struct wall until;
	const struct str *users;
	size_t n_users;
};

/* A caller with its texts; freed with free(). */
struct auth_identity {
	struct auth_caller caller;
	bool deprecated_role; /* the token has the role maker */
	char text[];
};

/* What is wrong with a token: the member, and why. */
struct auth_error {
	const char *member;
	const char *why;
};

/*
 * auth_identity_new(claims, error):
 * The caller, with key 0.  NULL with *error set if the claims break a rule: an
 * owner has a user, a terminal has a terminal_id, a notifier, and no other, has
 * users; a user is an id without "/",
 * also with its tenant in front; a tenant is 1 to AUTH_TENANT_MAX characters of
 * [A-Za-z0-9_-].
 */
struct auth_identity *auth_identity_new(
    const struct auth_claims *claims, struct auth_error *error);

/* ---- files; these block ---- */

/* Identifies a version of a file, behind symbolic links. */
struct auth_stamp {
	bool exists;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/* auth_file_stamp(path): Its version now.  auth_stamp_equal(a, b): The same? */
struct auth_stamp auth_file_stamp(const char *path);
bool auth_stamp_equal(const struct auth_stamp *a, const struct auth_stamp *b);

/*
 * auth_file_read(path, out, why):
 * Append the content.  RC_DOWN if it cannot be read, RC_TOOBIG over the limit
 * of out, each with *why set.
 */
enum rc auth_file_read(
    const char *path, struct buf *out, const char **why) RC_CHECK;

/*
 * auth_file_write(path, text, why):
 * Replace the content atomically, through "<path>.new", keeping owner and mode
 * (0600 for a new file); a symbolic link stays one.  RC_RETRY if another writer
 * has "<path>.new", RC_DOWN if it fails, each with *why set.
 */
enum rc auth_file_write(
    const char *path, struct str text, const char **why) RC_CHECK;

/* How a kind of file is parsed. */
struct auth_kind {
	const char *variable; /* that names the file */
	/* Any thread. */
	enum rc (*read)(struct str json, void **out, struct wire_err *err);
	void (*drop)(void *content);
};

/*
 * A file that is watched by polling, and its last valid content: an invalid
 * version leaves it in force.
 */
struct auth_source {
	const struct auth_kind *kind;
	const char *path;  /* "": none */
	void *content;     /* NULL: none yet */
	struct metric *ok; /* may be NULL */
	/* Of the last poll, which may run on a worker. */
	struct auth_stamp seen;
	void *fresh; /* a new content that is valid, or NULL */
	enum rc rc;  /* of the last parse */
	bool read;   /* the last poll has read the file */
	struct wire_err err;
};

/*
 * auth_source_poll(s):
 * Read the file if it has changed.  Any thread, one at a time; blocks.
 *
 * auth_source_apply(s):
 * After it, on the loop: take the new content, log errors.  True if content has
 * changed.
 */
void auth_source_poll(struct auth_source *s);
bool auth_source_apply(struct auth_source *s);

/* auth_source_free(s): Free its contents. */
void auth_source_free(struct auth_source *s);

/* ---- the token file ---- */

struct auth_tokens;

/*
 * auth_tokens_parse(json, out, err):
 * The tokens in json (schema access_tokens).  RC_INVALID or RC_TOOBIG as
 * wire_decode(), and RC_INVALID for claims that auth_identity_new() rejects, a
 * terminal_id or user that the role may not have, an invalid time, and a
 * duplicate digest; err has the path.
 */
enum rc auth_tokens_parse(
    struct str json, struct auth_tokens **out, struct wire_err *err) RC_CHECK;
void auth_tokens_free(struct auth_tokens *t); /* NULL is allowed */

/* auth_tokens_count(t): How many there are. */
size_t auth_tokens_count(const struct auth_tokens *t);

/* auth_tokens_deprecated_role(t): Whether a token has the role maker. */
bool auth_tokens_deprecated_role(const struct auth_tokens *t);

/*
 * auth_tokens_find(t, d, now, out):
 * The caller with the token of digest d, valid as long as t.  RC_NOENT:
 * unknown; RC_DENIED: expired.  t may be NULL.
 */
enum rc auth_tokens_find(const struct auth_tokens *t,
    const struct auth_digest *d, struct wall now,
    const struct auth_caller **out) RC_CHECK;

/* ---- JWKS ---- */

struct auth_jwk;    /* a public key, for one algorithm */
struct auth_keyset; /* immutable and reference-counted: workers use it, too */

/* auth_jwk_alg(k): "RS256", "ES256" or "EdDSA". */
const char *auth_jwk_alg(const struct auth_jwk *k);

/* auth_jwk_digest(k): The digest of the key and its kid. */
const struct auth_digest *auth_jwk_digest(const struct auth_jwk *k);

/* auth_jwk_verify(k, text, sig): Verify the signature of a JWS: or RC_DENIED.
 */
enum rc auth_jwk_verify(
    const struct auth_jwk *k, struct str text, struct str sig) RC_CHECK;

/*
 * auth_keyset_parse(json, out, err):
 * The usable keys in json (schema jwks): RSA of 2048 to 4096 bits for RS256, EC
 * P-256 for ES256, OKP Ed25519 for EdDSA; others are skipped and logged.
 * RC_INVALID or RC_TOOBIG as wire_decode(), and RC_INVALID for a key of these
 * kinds that is malformed, private or weak, for a duplicate kid, and if no key
 * is usable; err has the path.
 */
enum rc auth_keyset_parse(
    struct str json, struct auth_keyset **out, struct wire_err *err) RC_CHECK;

/* auth_keyset_ref(k), auth_keyset_unref(k): Count a reference; NULL allowed. */
struct auth_keyset *auth_keyset_ref(struct auth_keyset *k);
void auth_keyset_unref(struct auth_keyset *k);

/* auth_keyset_count(k): How many keys it has. */
size_t auth_keyset_count(const struct auth_keyset *k);

/*
 * auth_keyset_find(k, kid):
 * The key with that kid; without a kid (absent) the only key, if there is one.
 */
const struct auth_jwk *auth_keyset_find(
    const struct auth_keyset *k, struct str kid);

/* auth_keyset_has(k, p): Whether it has the key that proved a caller; k may be
 * NULL. */
bool auth_keyset_has(const struct auth_keyset *k, const struct auth_proof *p);

/* ---- JWTs (RFC 7519) as compact JWS ---- */

/* Room for why, NUL included. */
#define AUTH_WHY_MAX (WIRE_ERR_TEXT_MAX + 32)

struct auth_jwt_rules {
	const struct auth_keyset *keys;
	const char *issuer;   /* required "iss"; "": any */
	const char *audience; /* required in "aud"; "": any */
};

/* auth_jwt_is_compact(token): Whether it has the three parts of one. */
bool auth_jwt_is_compact(struct str token);

/*
 * auth_jwt_verify(token, rules, now, out, why):
 * The identity of a valid token, with key 0, freed with free().  RC_DENIED with
 * why, which contains nothing of the token, if
 * - it is no compact JWS over JSON objects of the schemas jwt_header and
 *   jwt_claims, or has "crit",
 * - its key is unknown, or is for another algorithm than its header states,
 * - the signature is wrong,
 * - it has expired, is not valid yet, or has another issuer or audience (clocks
 *   may differ by AUTH_LEEWAY_S),
 * - auth_identity_new() rejects its claims.
 */
enum rc auth_jwt_verify(struct str token, const struct auth_jwt_rules *rules,
    struct wall now, struct auth_identity **out,
    char why[AUTH_WHY_MAX]) RC_CHECK;

/* ---- cache of verified JWTs, by digest; one thread ---- */

struct auth_cache;

/* auth_cache_new(), auth_cache_free(m): NULL is allowed. */
struct auth_cache *auth_cache_new(void);
void auth_cache_free(struct auth_cache *m);

/*
 * auth_cache_put(m, d, identity, now):
 * Store identity, which m owns from now on, for AUTH_REMEMBER_S; evicts the
 * oldest of more than AUTH_REMEMBER_MAX.
 */
void auth_cache_put(struct auth_cache *m, const struct auth_digest *d,
    struct auth_identity *identity, struct mono now);

/*
 * auth_cache_find(m, d, now, wall):
 * The caller, valid until m changes; NULL if it is not cached, or if its token
 * has expired.
 */
const struct auth_caller *auth_cache_find(struct auth_cache *m,
    const struct auth_digest *d, struct mono now, struct wall wall);

/* auth_cache_clear(m): Remove everything. */
void auth_cache_clear(struct auth_cache *m);

#endif /* !AUTH_AUTH_INTERNAL_H */
