/*
 * auth: who asks: bearer tokens to callers.
 *
 * A token is one of a file (schema access_tokens), or a JWT (RS256, ES256,
 * EdDSA) signed by a key of a JWKS file, or that of a body
 * (auth_terminal_token()).  The files are read again when they change; one that
 * cannot be used leaves what was known, and the log says why.
 *
 * What a token says is checked in a worker, since signatures take time and a
 * flood of forged ones must not stop the loop; of a JWT it is remembered, by
 * its digest only, until it ends, for AUTH_REMEMBER_S at most.  Tokens are
 * compared in constant time and never logged.
 *
 * All functions run on the loop thread unless they say otherwise.
 */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/worker.h"
#include "wire/iface.h"

/* Bytes of a token; a longer one is refused unread. */
#define AUTH_TOKEN_MAX 8192
/* Tokens of a file; keys of a JWKS file; bytes of either file. */
#define AUTH_TOKENS_MAX 5000
#define AUTH_KEYS_MAX   64
#define AUTH_FILE_MAX   (1024UL * 1024)
/* Callers remembered, and for how long at most (a revoked one that long). */
#define AUTH_REMEMBER_MAX 4096
#define AUTH_REMEMBER_S   30
/* How often the files are looked at. */
#define AUTH_POLL_MS 2000
/* How wrong the clock of a JWT's issuer may be. */
#define AUTH_LEEWAY_S 60
/* Bytes of a tenant: [A-Za-z0-9_-]. */
#define AUTH_TENANT_MAX 64

/* Who asks.  Valid as long as the call it came with. */
struct auth_caller {
	enum wire_role role;
	struct str tenant; /* absent: none */
	/*
	 * As Soul knows him: "<tenant>/<user>", or <user> where there is no
	 * tenant.  Absent where none is named (makers, operators, bodies).
	 */
	struct str user;
	struct str terminal_id; /* of WIRE_ROLE_TERMINAL */
	struct wall until;      /* when the token ends; 0: never by itself */
	uint64_t key;           /* of the token, for limits and logs */
};

struct auth;

struct auth_opts {
	struct loop *loop;
	struct worker_pool *workers;
	const char *tokens_file; /* "": none */
	const char *jwks_file;   /* "": none */
	const char *issuer;      /* "iss" that a JWT must have; "": any */
	const char *audience;    /* one that "aud" must have; "": any */
	struct metric_set *metrics;
};

/*
 * auth_check_files(o, errors):
 * Whether the files of o can be used; if not, a line for each that cannot,
 * with a path.  Only the files of o are looked at.
 */
enum rc auth_check_files(
    const struct auth_opts *o, struct buf *errors) RC_CHECK;

/*
 * auth_new(o, out):
 * RC_INVALID if a file cannot be read or used; the log says why, with a path.
 */
enum rc auth_new(const struct auth_opts *o, struct auth **out) RC_CHECK;

/* auth_free(a): After worker_free() of its workers.  NULL is allowed. */
void auth_free(struct auth *a);

/*
 * How a body's credential is looked up: *hash is what auth_secret_hash() made
 * of its secret, *tenant its tenant (absent: none).  RC_NOENT: it has none.
 */
typedef enum rc (*auth_terminal_fn)(
    void *arg, struct str terminal_id, struct str *hash, struct str *tenant);

/* auth_accept_terminals(a, fn, arg): Take tokens of bodies, too; fn runs on the
 * loop. */
void auth_accept_terminals(struct auth *a, auth_terminal_fn fn, void *arg);

/*
 * What came of a check, on the loop; c is valid until fn returns.  RC_OK;
 * RC_DENIED: the token is not good, why says what is wrong with it in words
 * that may be told to whoever sent it; RC_RETRY: too many are being checked;
 * RC_DOWN: it cannot be found out now.
 */
typedef void (*auth_fn)(
    void *arg, enum rc rc, const struct auth_caller *c, const char *why);

/*
 * auth_check(a, token, fn, arg):
 * Find out who has the token; fn is called once, possibly before it returns.
 */
void auth_check(struct auth *a, struct str token, auth_fn fn, void *arg);

/* ---- secrets of bodies; any thread ----------------------------------------
 */

/* Room for a secret, its hash, and a body's token; NUL included. */
#define AUTH_SECRET_MAX         64
#define AUTH_HASH_MAX           160
#define AUTH_TERMINAL_TOKEN_MAX 320

/* auth_secret_new(secret): A new one: 24 random bytes as base64url. */
void auth_secret_new(char secret[AUTH_SECRET_MAX]);

/*
 * auth_secret_hash(secret, hash):
 * What may be stored of it: as mosquitto's password file has it ("$7$…":
 * PBKDF2 with SHA-512), with a new salt.
 */
void auth_secret_hash(struct str secret, char hash[AUTH_HASH_MAX]);

/* auth_secret_is(secret, hash): Whether hash was made of it. */
bool auth_secret_is(struct str secret, struct str hash);

/*
 * auth_terminal_token(terminal_id, secret, token):
 * The bearer token of a body: "soul_body.<id, base64url>.<secret>".
 */
void auth_terminal_token(struct str terminal_id, struct str secret,
    char token[AUTH_TERMINAL_TOKEN_MAX]);

#endif /* !AUTH_AUTH_H */
