/*
 * auth: authentication of callers by bearer tokens.
 *
 * A token is listed in a file (schema access_tokens), or is a JWT (RS256,
 * ES256, EdDSA) signed by a key of a JWKS file, or belongs to a terminal
 * (auth_terminal_token()).  The files are read again when they change; an
 * invalid version is logged and leaves the previous one in force.
 *
 * Signatures are verified in a worker, so that a flood of forged tokens does
 * not block the loop.  A verified JWT is cached by its digest until it expires,
 * for AUTH_REMEMBER_S at most.  Tokens are compared in constant time and never
 * logged.
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

/* Bytes of a token; a longer one is rejected unread. */
#define AUTH_TOKEN_MAX 8192
/* Tokens of a file; keys of a JWKS file; bytes of either file. */
#define AUTH_TOKENS_MAX 5000
#define AUTH_KEYS_MAX   64
#define AUTH_FILE_MAX   (1024UL * 1024)
/* Cached callers, and for how long (a revoked JWT is valid that long). */
#define AUTH_REMEMBER_MAX 4096
#define AUTH_REMEMBER_S   30
/* How often the files are polled. */
#define AUTH_POLL_MS 2000
/* Tolerated error of the clock of a JWT's issuer. */
#define AUTH_LEEWAY_S 60
/* Bytes of a tenant: [A-Za-z0-9_-]. */
#define AUTH_TENANT_MAX 64

/* What has authenticated a caller; no secret.  For auth_recheck(). */
#define AUTH_PROOF_BYTES 32

struct auth_proof {
	enum auth_proof_kind { AUTH_BY_FILE, AUTH_BY_KEY, AUTH_BY_SECRET } kind;
	unsigned char digest[AUTH_PROOF_BYTES];
};

/* An authenticated caller, valid until the callback returns. */
struct auth_caller {
	enum wire_role role;
	struct str tenant; /* absent: none */
	/*
	 * "<tenant>/<user>", or <user> without a tenant.  Absent for terminals
	 * and notifiers, and for provisioners and operators without one.
	 */
	struct str user;
	struct str terminal_id; /* for WIRE_ROLE_TERMINAL */
	/* For WIRE_ROLE_NOTIFIER: whom it may speak to, as user has them, with
	 * a line feed after each. */
	struct str users;
	struct wall until; /* when the token expires; 0: never */
	uint64_t key;      /* identifies the token in limits and logs */
	struct auth_proof proof;
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
 * Read the files of o, and nothing else of it.  RC_INVALID if one is not valid;
 * errors then has a line for each, with a path.  Blocks.
 */
enum rc auth_check_files(
    const struct auth_opts *o, struct buf *errors) RC_CHECK;

/*
 * auth_new(o, out):
 * RC_INVALID if a file cannot be read or is not valid; the reason is logged.
 */
enum rc auth_new(const struct auth_opts *o, struct auth **out) RC_CHECK;

/* auth_free(a): After worker_free() of its workers.  NULL is allowed. */
void auth_free(struct auth *a);

/*
 * Looks up a terminal's credential: *hash by auth_secret_hash(), and *tenant
 * (absent: none).  RC_NOENT if it has none.
 */
typedef enum rc (*auth_terminal_fn)(
    void *arg, struct str terminal_id, struct str *hash, struct str *tenant);

/* auth_accept_terminals(a, fn, arg): Accept tokens of terminals, by fn. */
void auth_accept_terminals(struct auth *a, auth_terminal_fn fn, void *arg);

/*
 * The result of a check, on the loop; c is valid until fn returns.  RC_OK;
 * RC_DENIED: the token is not valid, with a reason that may be sent to the
 * client; RC_RETRY: too many checks are running; RC_DOWN: not possible now.
 */
typedef void (*auth_fn)(
    void *arg, enum rc rc, const struct auth_caller *c, const char *why);

/*
 * auth_check(a, token, fn, arg):
 * Authenticate token, which is copied; fn is called exactly once, possibly
 * before it returns.  A terminal is looked up in the fiber of the caller.
 */
void auth_check(struct auth *a, struct str token, auth_fn fn, void *arg);

/*
 * auth_recheck(a, c, why):
 * Whether what has authenticated c, a copy of a caller, is still valid, without
 * its token, for connections that last.  RC_OK; RC_DENIED, with a reason that
 * may be sent to the client: the token has expired, or is not in the file any
 * more, or is another caller's there; its key is not in the JWKS any more; the
 * terminal has another secret, or none.  RC_DOWN: not possible now.  A terminal
 * is looked up in the fiber of the caller; others take no time.
 */
enum rc auth_recheck(
    struct auth *a, const struct auth_caller *c, const char **why) RC_CHECK;

/* ---- secrets of terminals; any thread ---- */

/* Room for a secret, its hash, and a terminal's token; NUL included. */
#define AUTH_SECRET_MAX         64
#define AUTH_HASH_MAX           160
#define AUTH_TERMINAL_TOKEN_MAX 320

/* auth_secret_new(secret): A new secret: 24 random bytes as base64url. */
void auth_secret_new(char secret[AUTH_SECRET_MAX]);

/*
 * auth_secret_hash(secret, hash):
 * Its hash, with a new salt, in the format of mosquitto's password file
 * ("$7$…": PBKDF2 with SHA-512).
 */
void auth_secret_hash(struct str secret, char hash[AUTH_HASH_MAX]);

/* auth_secret_is(secret, hash): Whether hash is a hash of secret. */
bool auth_secret_is(struct str secret, struct str hash);

/*
 * auth_terminal_token(terminal_id, secret, token):
 * The bearer token of a terminal: "soul_body.<id as base64url>.<secret>".
 */
void auth_terminal_token(struct str terminal_id, struct str secret,
    char token[AUTH_TERMINAL_TOKEN_MAX]);

#endif /* !AUTH_AUTH_H */
