/*
 * Checks: tokens of the file and cached ones at once, others in a worker.
 */
#include "auth/auth.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "core/base64.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define TERMINAL_PREFIX "soul_body."
#define UNKNOWN         "the token is not known"
#define EXPIRED         "the token has expired"
#define UNREACHABLE     "whether the token is good cannot be found out now"

struct auth {
	struct auth_opts o;
	char *issuer, *audience, *tokens_file, *jwks_file;
	struct auth_source tokens, keys;
	struct auth_cache *cache;
	struct loop_timer poll;
	uint64_t generation;          /* counts what was read anew */
	bool warned_file, warned_jwt; /* of a deprecated role */
	auth_terminal_fn lookup;      /* NULL: none */
	void *lookup_arg;
};

/* A check in a worker. */
struct auth_check_job {
	struct auth *a;
	auth_fn fn;
	void *arg;
	struct auth_digest digest;
	struct auth_keyset *keys; /* of a JWT */
	uint64_t generation;
	/* For a terminal: its identity, and the hash of its secret. */
	struct auth_identity *identity;
	char hash[AUTH_HASH_MAX];
	enum rc rc;
	char why[AUTH_WHY_MAX];
	struct str token; /* or the secret of a terminal */
	char text[];
};

/* Once for the token file and once for JWTs. */
static void
auth_warn_role(bool *warned, const char *source, const char *file)
{
	if (*warned)
		return;
	*warned = true;
	log_warn("auth.role_deprecated", LOG_S("source", source),
	    LOG_S("file", file), LOG_S("role", "maker"),
	    LOG_S("why",
		"is called provisioner now; maker is accepted until 0.3.0"));
}

/* ---- files ---- */

static enum rc
auth_read_tokens(struct str json, void **out, struct wire_err *err)
{
	return auth_tokens_parse(json, (struct auth_tokens **)out, err);
}

static enum rc
auth_read_keys(struct str json, void **out, struct wire_err *err)
{
	return auth_keyset_parse(json, (struct auth_keyset **)out, err);
}

static void
auth_drop_tokens(void *content)
{
	auth_tokens_free(content);
}

static void
auth_drop_keys(void *content)
{
	auth_keyset_unref(content);
}

static const struct auth_kind auth_tokens_kind = { "AUTH_TOKENS",
	auth_read_tokens, auth_drop_tokens };
static const struct auth_kind auth_keys_kind = { "AUTH_JWKS", auth_read_keys,
	auth_drop_keys };

static void
auth_check_file(
    const struct auth_kind *kind, const char *path, struct buf *errors)
{
	struct auth_source s = { .kind = kind, .path = path };
	char why[WIRE_ERR_TEXT_MAX];

	auth_source_poll(&s);
	if (s.read && s.rc != RC_OK) {
		wire_err_text(&s.err, why, sizeof(why));
		buf_printf(errors, "%s: %s: %s\n", kind->variable, path, why);
	}
	auth_source_free(&s);
}

enum rc
auth_check_files(const struct auth_opts *o, struct buf *errors)
{
	size_t before = errors->n;

	auth_check_file(&auth_tokens_kind, o->tokens_file, errors);
	auth_check_file(&auth_keys_kind, o->jwks_file, errors);
	return errors->n == before ? RC_OK : RC_INVALID;
}

static void
auth_poll_work(void *arg)
{
	struct auth *a = arg;

	auth_source_poll(&a->tokens);
	auth_source_poll(&a->keys);
}

static void auth_poll_later(struct auth *a);

static void
auth_poll_done(void *arg)
{
	struct auth *a = arg;
	bool tokens = auth_source_apply(&a->tokens);
	bool keys = auth_source_apply(&a->keys);

	if (tokens && auth_tokens_deprecated_role(a->tokens.content))
		auth_warn_role(&a->warned_file, "AUTH_TOKENS", a->tokens_file);
	/* Callers may have been verified by a key that was removed. */
	if (tokens || keys) {
		a->generation++;
		auth_cache_clear(a->cache);
	}
	auth_poll_later(a);
}

static void
auth_poll(void *arg)
{
	struct auth *a = arg;

	if (worker_run(a->o.workers, auth_poll_work, auth_poll_done, a) !=
	    RC_OK)
		auth_poll_later(a);
}

static void
auth_poll_later(struct auth *a)
{
	loop_timer_set(a->o.loop, &a->poll,
	    mono_add_ms(clock_mono(), AUTH_POLL_MS), auth_poll, a);
}

static struct metric *
auth_ok_metric(const struct auth_opts *o, const char *labels)
{
	return metric_gauge(o->metrics, "soul_auth_file_ok",
	    "Whether the current version of the file is in force.", labels);
}

enum rc
auth_new(const struct auth_opts *o, struct auth **out)
{
	struct auth *a = mem_zalloc(sizeof(*a));

	a->o = *o;
	a->tokens_file = mem_strdup(o->tokens_file);
	a->jwks_file = mem_strdup(o->jwks_file);
	a->issuer = mem_strdup(o->issuer);
	a->audience = mem_strdup(o->audience);
	a->cache = auth_cache_new();
	a->tokens = (struct auth_source){ .kind = &auth_tokens_kind,
		.path = a->tokens_file };
	a->keys = (struct auth_source){ .kind = &auth_keys_kind,
		.path = a->jwks_file };
	if (a->tokens_file[0] != '\0')
		a->tokens.ok = auth_ok_metric(o, "file=\"tokens\"");
	if (a->jwks_file[0] != '\0')
		a->keys.ok = auth_ok_metric(o, "file=\"jwks\"");
	auth_poll_work(a);
	auth_poll_done(a);
	if (a->tokens.rc != RC_OK || a->keys.rc != RC_OK) {
		auth_free(a);
		return RC_INVALID;
	}
	*out = a;
	return RC_OK;
}

void
auth_free(struct auth *a)
{
	if (a == NULL)
		return;
	loop_timer_cancel(a->o.loop, &a->poll);
	auth_source_free(&a->tokens);
	auth_source_free(&a->keys);
	auth_cache_free(a->cache);
	free(a->tokens_file);
	free(a->jwks_file);
	free(a->issuer);
	free(a->audience);
	free(a);
}

void
auth_accept_terminals(struct auth *a, auth_terminal_fn fn, void *arg)
{
	a->lookup = fn;
	a->lookup_arg = arg;
}

/* ---- checks in a worker ---- */

static void
check_job_work(void *arg)
{
	struct auth_check_job *k = arg;
	const struct auth *a = k->a;

	if (k->keys != NULL) {
		struct auth_jwt_rules rules = { k->keys, a->issuer,
			a->audience };
		k->rc = auth_jwt_verify(
		    k->token, &rules, clock_wall(), &k->identity, k->why);
	} else if (auth_secret_is(k->token, str_of(k->hash))) {
		k->rc = RC_OK;
	} else {
		k->rc = RC_DENIED;
		str_copy(STR(UNKNOWN), k->why, sizeof(k->why));
	}
}

static void
check_job_done(void *arg)
{
	struct auth_check_job *k = arg;
	struct auth *a = k->a;

	if (k->rc == RC_OK) {
		k->identity->caller.key = auth_digest_id(&k->digest);
		if (k->identity->deprecated_role)
			auth_warn_role(&a->warned_jwt, "JWT", "");
	}
	k->fn(k->arg, k->rc, k->rc == RC_OK ? &k->identity->caller : NULL,
	    k->rc == RC_OK ? NULL : k->why);
	/*
	 * Not cached if the files have changed meanwhile.  Terminals are looked
	 * up each time, so that changing or revoking a secret works at once on
	 * all replicas.
	 */
	if (k->rc == RC_OK && k->generation == a->generation &&
	    k->keys != NULL) {
		auth_cache_put(a->cache, &k->digest, k->identity, clock_mono());
		k->identity = NULL;
	}
	auth_keyset_unref(k->keys);
	free(k->identity);
	OPENSSL_cleanse(k->text, k->token.n);
	free(k);
}

static struct auth_check_job *
check_job_new(struct auth *a, struct str text, auth_fn fn, void *arg)
{
	struct auth_check_job *k = mem_zalloc(sizeof(*k) + text.n);

	k->a = a;
	k->fn = fn;
	k->arg = arg;
	k->generation = a->generation;
	k->rc = RC_DOWN;
	str_copy(STR(UNREACHABLE), k->why, sizeof(k->why));
	memcpy(k->text, text.p, text.n);
	k->token = (struct str){ k->text, text.n };
	return k;
}

static void
check_job_start(struct auth_check_job *k)
{
	enum rc rc =
	    worker_run(k->a->o.workers, check_job_work, check_job_done, k);

	if (rc == RC_OK)
		return;
	k->rc = rc;
	str_copy(STR("too many tokens are being checked; try again"), k->why,
	    sizeof(k->why));
	check_job_done(k);
}

/* ---- checks ---- */

/* Split a terminal's token; false if it is none. */
static bool
auth_split_terminal_token(
    struct str token, char id[ID_MAX + 1], struct str *secret)
{
	struct str rest = token, id64;
	size_t n;

	rest.p += sizeof(TERMINAL_PREFIX) - 1;
	rest.n -= sizeof(TERMINAL_PREFIX) - 1;
	id64 = str_split(&rest, '.');
	if (rest.p == NULL || rest.n == 0 || rest.n >= AUTH_SECRET_MAX ||
	    base64url_decode(id64, id, ID_MAX, &n) != RC_OK)
		return false;
	id[n] = '\0';
	*secret = rest;
	return id_terminal_valid((struct str){ id, n }) && strlen(id) == n;
}

/* A rotated secret has another hash. */
static struct auth_proof
auth_secret_proof(struct str hash)
{
	struct auth_digest d = auth_digest_of(hash);

	return auth_digest_prove(&d, AUTH_BY_SECRET);
}

static void
auth_check_terminal(struct auth *a, struct str token,
    const struct auth_digest *d, auth_fn fn, void *arg)
{
	struct str hash = { 0 }, tenant = { 0 }, secret;
	struct auth_error error;
	char id[ID_MAX + 1];
	struct auth_check_job *k;

	if (a->lookup == NULL ||
	    !auth_split_terminal_token(token, id, &secret)) {
		fn(arg, RC_DENIED, NULL, UNKNOWN);
		return;
	}
	k = check_job_new(a, secret, fn, arg);
	k->digest = *d;
	k->rc = a->lookup(a->lookup_arg, str_of(id), &hash, &tenant);
	if (k->rc != RC_OK) {
		if (k->rc == RC_NOENT)
			str_copy(STR(UNKNOWN), k->why, sizeof(k->why));
		k->rc = k->rc == RC_NOENT ? RC_DENIED : RC_DOWN;
		check_job_done(k);
		return;
	}
	k->rc = RC_DOWN; /* if the pool ends first */
	str_copy(hash, k->hash, sizeof(k->hash));
	k->identity =
	    auth_identity_new(&(struct auth_claims){ .role = WIRE_ROLE_TERMINAL,
				  .terminal_id = str_of(id),
				  .tenant = tenant },
		&error);
	if (k->identity == NULL)
		k->hash[0] = '\0'; /* matches no secret */
	else
		k->identity->caller.proof = auth_secret_proof(hash);
	check_job_start(k);
}

static void
auth_check_jwt(struct auth *a, struct str token, const struct auth_digest *d,
    auth_fn fn, void *arg)
{
	struct auth_check_job *k = check_job_new(a, token, fn, arg);

	k->digest = *d;
	k->keys = auth_keyset_ref(a->keys.content);
	check_job_start(k);
}

void
auth_check(struct auth *a, struct str token, auth_fn fn, void *arg)
{
	const struct auth_caller *c = NULL;
	struct auth_digest d;
	enum rc rc;

	if (token.n == 0 || token.n > AUTH_TOKEN_MAX) {
		fn(arg, RC_DENIED, NULL,
		    token.n == 0 ? "the token is empty"
				 : "the token is too long");
		return;
	}
	d = auth_digest_of(token);
	rc = auth_tokens_find(a->tokens.content, &d, clock_wall(), &c);
	if (rc == RC_NOENT) {
		c = auth_cache_find(a->cache, &d, clock_mono(), clock_wall());
		rc = c != NULL ? RC_OK : RC_NOENT;
	}
	if (rc == RC_OK)
		fn(arg, RC_OK, c, NULL);
	else if (rc == RC_DENIED)
		fn(arg, RC_DENIED, NULL, EXPIRED);
	else if (str_starts(token, STR(TERMINAL_PREFIX)))
		auth_check_terminal(a, token, &d, fn, arg);
	else if (a->keys.content != NULL && auth_jwt_is_compact(token))
		auth_check_jwt(a, token, &d, fn, arg);
	else
		fn(arg, RC_DENIED, NULL, UNKNOWN);
}

/* ---- checks of callers, later ---- */

static enum rc
recheck_deny(const char **why, const char *text)
{
	*why = text;
	return RC_DENIED;
}

static enum rc
recheck_file(
    const struct auth *a, const struct auth_caller *c, const char **why)
{
	const struct auth_caller *now = NULL;
	struct auth_digest d;
	enum rc rc;

	memcpy(d.bytes, c->proof.digest, sizeof(d.bytes));
	rc = auth_tokens_find(a->tokens.content, &d, clock_wall(), &now);
	if (rc == RC_NOENT)
		return recheck_deny(why, "the token is not valid any more");
	if (rc == RC_DENIED)
		return recheck_deny(why, EXPIRED);
	return now->role == c->role && str_eq(now->tenant, c->tenant) &&
		str_eq(now->user, c->user) &&
		str_eq(now->terminal_id, c->terminal_id)
	    ? RC_OK
	    : recheck_deny(why, "the token is for another caller now");
}

static enum rc
recheck_terminal(
    const struct auth *a, const struct auth_caller *c, const char **why)
{
	struct str hash = { 0 }, tenant = { 0 };
	struct auth_proof now;
	enum rc rc = RC_NOENT;

	if (a->lookup != NULL)
		rc = a->lookup(a->lookup_arg, c->terminal_id, &hash, &tenant);
	if (rc == RC_NOENT)
		return recheck_deny(
		    why, "the identity of the terminal was revoked");
	if (rc != RC_OK) {
		*why = UNREACHABLE;
		return RC_DOWN;
	}
	now = auth_secret_proof(hash);
	return memcmp(now.digest, c->proof.digest, sizeof(now.digest)) == 0 &&
		str_eq(tenant, c->tenant)
	    ? RC_OK
	    : recheck_deny(why, "the identity of the terminal has changed");
}

enum rc
auth_recheck(struct auth *a, const struct auth_caller *c, const char **why)
{
	*why = "";
	if (c->until.ms != 0 && clock_wall().ms >= c->until.ms)
		return recheck_deny(why, EXPIRED);
	switch (c->proof.kind) {
	case AUTH_BY_FILE:
		return recheck_file(a, c, why);
	case AUTH_BY_KEY:
		return auth_keyset_has(a->keys.content, &c->proof)
		    ? RC_OK
		    : recheck_deny(why,
			  "the key that has signed the token is not valid any "
			  "more");
	default:
		return recheck_terminal(a, c, why);
	}
}
