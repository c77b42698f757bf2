/*
 * Checks: what is known is answered at once, the rest by a worker.
 */
#include "auth/auth.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "auth/token_file.h"
#include "core/base64.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"

#define BODY_LEAD   "soul_body."
#define UNKNOWN     "the token is not known"
#define UNREACHABLE "whether the token is good cannot be found out now"

struct auth {
	struct auth_opts o;
	char *issuer, *audience, *tokens_file, *jwks_file;
	struct auth_source tokens, keys;
	struct auth_cache *memory;
	struct loop_timer look;
	uint64_t generation;          /* counts what was read anew */
	bool warned_file, warned_jwt; /* of a deprecated role */
	auth_terminal_fn bodies;      /* NULL: none */
	void *bodies_arg;
};

/* A check in a worker. */
struct check {
	struct auth *a;
	auth_fn fn;
	void *arg;
	struct auth_digest digest;
	struct auth_keyset *keys; /* of a JWT */
	uint64_t generation;
	/* Of a body: whose it is, and what its secret must fit. */
	struct auth_identity *who;
	char hash[AUTH_HASH_MAX];
	enum rc rc;
	char why[AUTH_WHY_MAX];
	struct str token; /* or the secret of a body */
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

/* ---- the files ---------------------------------------------------------- */

static enum rc
read_tokens(struct str json, void **out, struct wire_err *err)
{
	return auth_tokens_parse(json, (struct auth_tokens **)out, err);
}

static enum rc
read_keys(struct str json, void **out, struct wire_err *err)
{
	return auth_keyset_parse(json, (struct auth_keyset **)out, err);
}

static void
drop_tokens(void *content)
{
	auth_tokens_free(content);
}

static void
drop_keys(void *content)
{
	auth_keyset_unref(content);
}

static const struct auth_kind tokens_kind = { "AUTH_TOKENS", read_tokens,
	drop_tokens };
static const struct auth_kind keys_kind = { "AUTH_JWKS", read_keys, drop_keys };

static void
try_one(const struct auth_kind *kind, const char *path, struct buf *errors)
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

	try_one(&tokens_kind, o->tokens_file, errors);
	try_one(&keys_kind, o->jwks_file, errors);
	return errors->n == before ? RC_OK : RC_INVALID;
}

static void
look_work(void *arg)
{
	struct auth *a = arg;

	auth_source_poll(&a->tokens);
	auth_source_poll(&a->keys);
}

static void look_later(struct auth *a);

static void
look_done(void *arg)
{
	struct auth *a = arg;
	bool tokens = auth_source_apply(&a->tokens);
	bool keys = auth_source_apply(&a->keys);

	if (tokens && auth_tokens_deprecated_role(a->tokens.content))
		auth_warn_role(&a->warned_file, "AUTH_TOKENS", a->tokens_file);
	/* Who was remembered by a key that is gone must show his token anew. */
	if (tokens || keys) {
		a->generation++;
		auth_cache_clear(a->memory);
	}
	look_later(a);
}

static void
look(void *arg)
{
	struct auth *a = arg;

	if (worker_run(a->o.workers, look_work, look_done, a) != RC_OK)
		look_later(a);
}

static void
look_later(struct auth *a)
{
	loop_timer_set(a->o.loop, &a->look,
	    mono_add_ms(clock_mono(), AUTH_POLL_MS), look, a);
}

static struct metric *
ok_metric(const struct auth_opts *o, const char *labels)
{
	return metric_gauge(o->metrics, "soul_auth_file_ok",
	    "Whether what an access control file says now is in force.",
	    labels);
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
	a->memory = auth_cache_new();
	a->tokens = (struct auth_source){ .kind = &tokens_kind,
		.path = a->tokens_file };
	a->keys =
	    (struct auth_source){ .kind = &keys_kind, .path = a->jwks_file };
	if (a->tokens_file[0] != '\0')
		a->tokens.ok = ok_metric(o, "file=\"tokens\"");
	if (a->jwks_file[0] != '\0')
		a->keys.ok = ok_metric(o, "file=\"jwks\"");
	look_work(a);
	look_done(a);
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
	loop_timer_cancel(a->o.loop, &a->look);
	auth_source_free(&a->tokens);
	auth_source_free(&a->keys);
	auth_cache_free(a->memory);
	free(a->tokens_file);
	free(a->jwks_file);
	free(a->issuer);
	free(a->audience);
	free(a);
}

void
auth_accept_terminals(struct auth *a, auth_terminal_fn fn, void *arg)
{
	a->bodies = fn;
	a->bodies_arg = arg;
}

/* ---- in a worker -------------------------------------------------------- */

static void
check_work(void *arg)
{
	struct check *k = arg;
	const struct auth *a = k->a;

	if (k->keys != NULL) {
		struct auth_jwt_rules rules = { k->keys, a->issuer,
			a->audience };
		k->rc = auth_jwt_verify(
		    k->token, &rules, clock_wall(), &k->who, k->why);
	} else if (auth_secret_is(k->token, str_of(k->hash))) {
		k->rc = RC_OK;
	} else {
		k->rc = RC_DENIED;
		str_copy(STR(UNKNOWN), k->why, sizeof(k->why));
	}
}

static void
check_done(void *arg)
{
	struct check *k = arg;
	struct auth *a = k->a;

	if (k->rc == RC_OK) {
		k->who->caller.key = auth_digest_id(&k->digest);
		if (k->who->deprecated_role)
			auth_warn_role(&a->warned_jwt, "JWT", "");
	}
	k->fn(k->arg, k->rc, k->rc == RC_OK ? &k->who->caller : NULL,
	    k->rc == RC_OK ? NULL : k->why);
	/*
	 * What was read anew meanwhile may know better.  A body is looked up
	 * each time, so that a secret that is changed or taken away is so at
	 * once, wherever that was done.
	 */
	if (k->rc == RC_OK && k->generation == a->generation &&
	    k->keys != NULL) {
		auth_cache_put(a->memory, &k->digest, k->who, clock_mono());
		k->who = NULL;
	}
	auth_keyset_unref(k->keys);
	free(k->who);
	OPENSSL_cleanse(k->text, k->token.n);
	free(k);
}

static struct check *
check_new(struct auth *a, struct str text, auth_fn fn, void *arg)
{
	struct check *k = mem_zalloc(sizeof(*k) + text.n);

	k->a = a;
	k->fn = fn;
	k->arg = arg;
	k->generation = a->generation;
	k->rc = RC_DOWN; /* if the pool ends first */
	str_copy(STR(UNREACHABLE), k->why, sizeof(k->why));
	memcpy(k->text, text.p, text.n);
	k->token = (struct str){ k->text, text.n };
	return k;
}

static void
check_run(struct check *k)
{
	enum rc rc = worker_run(k->a->o.workers, check_work, check_done, k);

	if (rc == RC_OK)
		return;
	k->rc = rc;
	str_copy(STR("too many tokens are being checked; try again"), k->why,
	    sizeof(k->why));
	check_done(k);
}

/* ---- the checks --------------------------------------------------------- */

/* Its token's parts; false: it is none of a body. */
static bool
body_parts(struct str token, char id[ID_MAX + 1], struct str *secret)
{
	struct str rest = token, id64;
	size_t n;

	rest.p += sizeof(BODY_LEAD) - 1;
	rest.n -= sizeof(BODY_LEAD) - 1;
	id64 = str_split(&rest, '.');
	if (rest.p == NULL || rest.n == 0 || rest.n >= AUTH_SECRET_MAX ||
	    base64url_decode(id64, id, ID_MAX, &n) != RC_OK)
		return false;
	id[n] = '\0';
	*secret = rest;
	return id_terminal_valid((struct str){ id, n }) && strlen(id) == n;
}

static void
check_body(struct auth *a, struct str token, const struct auth_digest *d,
    auth_fn fn, void *arg)
{
	struct str hash = { 0 }, tenant = { 0 }, secret;
	struct auth_error fault;
	char id[ID_MAX + 1];
	struct check *k;
	enum rc rc;

	if (a->bodies == NULL || !body_parts(token, id, &secret)) {
		fn(arg, RC_DENIED, NULL, UNKNOWN);
		return;
	}
	rc = a->bodies(a->bodies_arg, str_of(id), &hash, &tenant);
	if (rc != RC_OK) {
		bool none = rc == RC_NOENT;
		fn(arg, none ? RC_DENIED : RC_DOWN, NULL,
		    none ? UNKNOWN : UNREACHABLE);
		return;
	}
	k = check_new(a, secret, fn, arg);
	k->digest = *d;
	str_copy(hash, k->hash, sizeof(k->hash));
	k->who =
	    auth_identity_new(&(struct auth_claims){ .role = WIRE_ROLE_TERMINAL,
				  .terminal_id = str_of(id),
				  .tenant = tenant },
		&fault);
	if (k->who == NULL)
		k->hash[0] = '\0'; /* fits nothing */
	check_run(k);
}

static void
check_jwt(struct auth *a, struct str token, const struct auth_digest *d,
    auth_fn fn, void *arg)
{
	struct check *k = check_new(a, token, fn, arg);

	k->digest = *d;
	k->keys = auth_keyset_ref(a->keys.content);
	check_run(k);
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
		c = auth_cache_find(a->memory, &d, clock_mono(), clock_wall());
		rc = c != NULL ? RC_OK : RC_NOENT;
	}
	if (rc == RC_OK)
		fn(arg, RC_OK, c, NULL);
	else if (rc == RC_DENIED)
		fn(arg, RC_DENIED, NULL, "the token has expired");
	else if (str_starts(token, STR(BODY_LEAD)))
		check_body(a, token, &d, fn, arg);
	else if (a->keys.content != NULL && auth_jwt_is_compact(token))
		check_jwt(a, token, &d, fn, arg);
	else
		fn(arg, RC_DENIED, NULL, UNKNOWN);
}
