/*
 * digest: what stands for a token where the token itself must not be kept.
 * Private; any thread.
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

/*
 * identity: who the holder of a token is, by the rules that hold for all kinds
 * of tokens.  Private, pure; any thread.
 */
/* What a token says; absent: nothing.  Of a role terminal user does not count,
 * of others terminal_id does not. */
struct auth_claims {
	enum wire_role role;
	struct str user, tenant, terminal_id;
	struct wall until;
};

/* A caller with its texts; freed with free(). */
struct auth_identity {
	struct auth_caller caller;
	bool deprecated_role; /* the token says maker */
	char text[];
};

/* What of a token is wrong: the member, and why. */
struct auth_error {
	const char *member;
	const char *why;
};

/*
 * auth_identity_new(says, fault):
 * NULL with *fault set if it breaks the rules: an owner has a user, a terminal
 * a terminal_id; a user is an id without "/", and with its tenant before it is
 * an id still; a tenant is 1 to AUTH_TENANT_MAX of [A-Za-z0-9_-].  key is 0.
 */
struct auth_identity *auth_identity_new(
    const struct auth_claims *says, struct auth_error *fault);

/*
 * file: a file that is read again when it has changed.  Private.
 *
 * What counts is what the path leads to: Kubernetes replaces a symbolic link.
 */
struct auth_stamp {
	bool there;
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec changed;
};

/*
 * auth_file_stamp(path): What is there now.  Any thread; blocks.
 * auth_stamp_equal(a, b): Whether nothing has changed.
 */
struct auth_stamp auth_file_stamp(const char *path);
bool auth_stamp_equal(const struct auth_stamp *a, const struct auth_stamp *b);

/*
 * auth_file_read(path, out, why):
 * All of it.  RC_DOWN or, over the ceiling of out, RC_TOOBIG; why then says it
 * in words.  Any thread; blocks.
 */
enum rc auth_file_read(
    const char *path, struct buf *out, const char **why) RC_CHECK;

/*
 * auth_file_write(path, text, why):
 * Put text there, all or nothing: "<path>.new" takes the place of what path
 * leads to, with its owner and mode (0600 if there was none).  RC_RETRY: there
 * is such a file already, of another writer; RC_DOWN; why says it in words.
 * Any thread; blocks.
 */
enum rc auth_file_write(
    const char *path, struct str text, const char **why) RC_CHECK;

/*
 * source: what a file says, as long as it can be used: a new content that
 * cannot leaves what was known.  Private.
 */
/* What a file is made of. */
struct auth_kind {
	const char *variable; /* that names the file */
	/* Any thread. */
	enum rc (*read)(struct str json, void **out, struct wire_err *err);
	void (*drop)(void *content);
};

/* A file, and what it said when it could be used last. */
struct auth_source {
	const struct auth_kind *kind;
	const char *path;  /* "": there is none */
	void *content;     /* NULL: nothing yet */
	struct metric *ok; /* may be NULL */
	/* Of the last look, on whatever thread it was. */
	struct auth_stamp seen;
	void *fresh; /* NULL: nothing new that can be used */
	enum rc rc;  /* of the last reading */
	bool read;   /* there was one in the last look */
	struct wire_err err;
};

/*
 * auth_source_poll(s):
 * Read the file if it has changed since the last look.  Any thread, one at a
 * time; blocks.
 *
 * auth_source_apply(s): On the loop, after it: take what is new, log what is
 * wrong.  Whether content is another now.
 */
void auth_source_poll(struct auth_source *s);
bool auth_source_apply(struct auth_source *s);

/* auth_source_free(s): Drop its contents. */
void auth_source_free(struct auth_source *s);

/*
 * key: one public key of a JWKS file, for one algorithm.  Private, pure; any
 * thread.
 */
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

/*
 * keys: the public keys of a JWKS file, each for one algorithm.  Private.
 *
 * Shared between the loop and the checks that run in workers, therefore
 * counted; what is in it does not change.
 */
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

/*
 * jwt: JSON Web Tokens (RFC 7519) as compact JWS, by the keys that are known.
 * Private, pure: time is handed in; any thread.
 */
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

/*
 * memory: callers whose tokens were found good a moment ago, by digest.
 * Private, pure: time is handed in.
 */
struct auth_cache;

/* auth_cache_new(), auth_cache_free(m): NULL is allowed. */
struct auth_cache *auth_cache_new(void);
void auth_cache_free(struct auth_cache *m);

/*
 * auth_cache_put(m, d, who, now):
 * Remember who, which m owns from now on, for AUTH_REMEMBER_S; of more than
 * AUTH_REMEMBER_MAX the oldest is forgotten.
 */
void auth_cache_put(struct auth_cache *m, const struct auth_digest *d,
    struct auth_identity *who, struct mono now);

/*
 * auth_cache_find(m, d, now, wall):
 * Who it was, valid until m changes; NULL if nobody is remembered, or his token
 * has ended since.
 */
const struct auth_caller *auth_cache_find(struct auth_cache *m,
    const struct auth_digest *d, struct mono now, struct wall wall);

/* auth_cache_clear(m): Forget all. */
void auth_cache_clear(struct auth_cache *m);

#endif /* !AUTH_AUTH_INTERNAL_H */
