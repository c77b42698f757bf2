/*
 * The token file: read by services, changed by the command "token".
 */
#include <errno.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "auth/token_file.h"
#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "wire/msgs.h"

struct token {
	struct auth_digest digest;
	struct auth_identity *identity;
};

struct auth_tokens {
	struct map *by_digest;
	bool deprecated_role;
};

static const enum wire_role token_roles[] = {
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_OWNER] = WIRE_ROLE_OWNER,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_TERMINAL] = WIRE_ROLE_TERMINAL,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_PROVISIONER] = WIRE_ROLE_PROVISIONER,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_NOTIFIER] = WIRE_ROLE_NOTIFIER,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_OPERATOR] = WIRE_ROLE_OPERATOR,
	[WIRE_ACCESS_TOKENS_TOKENS_ROLE_MAKER] = WIRE_ROLE_PROVISIONER,
};

/* The identity; NULL if a member does not fit the role, or is not valid. */
static struct auth_identity *
token_identity(
    const struct wire_access_tokens_tokens *w, struct auth_error *error)
{
	struct auth_claims claims_of = { token_roles[w->role], w->user,
		w->tenant, w->terminal_id, { 0 }, w->users, w->n_users };

	*error = (struct auth_error){ 0 };
	if (w->expires_at.p != NULL &&
	    wall_parse(w->expires_at, &claims_of.until) != RC_OK)
		*error = (struct auth_error){ "expires_at",
			"must be a time as 2030-01-31T00:00:00Z" };
	else if (claims_of.role == WIRE_ROLE_NOTIFIER && w->user.p != NULL)
		*error = (struct auth_error){ "user",
			"must not be there: a notifier has users" };
	else if (claims_of.role == WIRE_ROLE_TERMINAL && w->user.p != NULL)
		*error = (struct auth_error){ "user",
			"must not be there: a terminal acts for the user it "
			"is bound to" };
	else if (claims_of.role != WIRE_ROLE_TERMINAL &&
	    w->terminal_id.p != NULL)
		*error = (struct auth_error){ "terminal_id",
			"must not be there: only the role terminal has one" };
	return error->member == NULL ? auth_identity_new(&claims_of, error)
				     : NULL;
}

static enum rc
tokens_add(struct auth_tokens *t, const struct wire_access_tokens_tokens *w,
    struct auth_error *error)
{
	struct auth_identity *identity = token_identity(w, error);
	struct token *k;

	if (identity == NULL)
		return RC_INVALID;
	k = mem_zalloc(sizeof(*k));
	k->identity = identity;
	if (auth_digest_parse(w->sha256, &k->digest) != RC_OK)
		abort(); /* checked by the schema */
	identity->caller.key = auth_digest_id(&k->digest);
	identity->caller.proof = auth_digest_prove(&k->digest, AUTH_BY_FILE);
	if (map_get(t->by_digest, auth_digest_map_key(&k->digest)) != NULL) {
		free(identity);
		free(k);
		*error = (struct auth_error){ "sha256", "is a duplicate" };
		return RC_INVALID;
	}
	map_put(t->by_digest, auth_digest_map_key(&k->digest), k);
	if (w->role == WIRE_ACCESS_TOKENS_TOKENS_ROLE_MAKER)
		t->deprecated_role = true;
	return RC_OK;
}

enum rc
auth_tokens_parse(
    struct str json, struct auth_tokens **out, struct wire_err *err)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct auth_tokens *t = mem_zalloc(sizeof(*t));
	struct wire_access_tokens file = { 0 };
	struct auth_error error;
	size_t i;
	enum rc rc;

	t->by_digest = map_new();
	rc = wire_decode(&wire_access_tokens_desc, json, a, &file, err);
	for (i = 0; rc == RC_OK && i < file.n_tokens; i++) {
		rc = tokens_add(t, &file.tokens[i], &error);
		if (rc != RC_OK) {
			snprintf(err->path, sizeof(err->path), "/tokens/%zu/%s",
			    i, error.member);
			snprintf(err->why, sizeof(err->why), "%s", error.why);
		}
	}
	arena_free(a);
	if (rc != RC_OK)
		auth_tokens_free(t);
	else
		*out = t;
	return rc;
}

void
auth_tokens_free(struct auth_tokens *t)
{
	struct token *k;
	size_t pos = 0;

	if (t == NULL)
		return;
	while ((k = map_next(t->by_digest, &pos, NULL)) != NULL) {
		free(k->identity);
		free(k);
	}
	map_free(t->by_digest);
	free(t);
}

size_t
auth_tokens_count(const struct auth_tokens *t)
{
	return map_len(t->by_digest);
}

bool
auth_tokens_deprecated_role(const struct auth_tokens *t)
{
	return t != NULL && t->deprecated_role;
}

enum rc
auth_tokens_find(const struct auth_tokens *t, const struct auth_digest *d,
    struct wall now, const struct auth_caller **out)
{
	const struct token *k;

	k = t != NULL ? map_get(t->by_digest, auth_digest_map_key(d)) : NULL;
	if (k == NULL || !auth_digest_is(&k->digest, d))
		return RC_NOENT;
	*out = &k->identity->caller;
	if ((*out)->until.ms != 0 && now.ms >= (*out)->until.ms)
		return RC_DENIED;
	return RC_OK;
}

/* ---- changes ---- */

#define TOKEN_PREFIX "soul_"
#define HEX_MAX      (2 * AUTH_DIGEST_BYTES + 1)
#define PREFIX_MIN   8
#define SHOWN        12 /* digits of a digest in a list */

#define TOKEN      wire_access_tokens_tokens
#define ROLE_NAMES wire_access_tokens_tokens_role_names

/* A file being changed. */
struct token_file {
	const char *path;
	struct arena *a;
	struct wire_access_tokens file;
	struct str users[AUTH_TOKEN_FILE_USERS_MAX]; /* of a new entry */
	size_t n_users;
	char *why;
};

static enum rc
token_file_fail(const struct token_file *l, enum rc rc, const char *why)
{
	snprintf(l->why, AUTH_TOKEN_FILE_ERROR_MAX, "%s", why);
	return rc;
}

static enum rc
token_file_fail_at(
    const struct token_file *l, enum rc rc, const struct wire_err *err)
{
	wire_err_text(err, l->why, AUTH_TOKEN_FILE_ERROR_MAX);
	return rc;
}

/* Whether services accept it. */
static enum rc
token_file_check(const struct token_file *l, struct str json)
{
	struct auth_tokens *t = NULL;
	struct wire_err err;
	enum rc rc = auth_tokens_parse(json, &t, &err);

	auth_tokens_free(t);
	return rc == RC_OK ? rc : token_file_fail_at(l, rc, &err);
}

static enum rc
token_file_open(struct token_file *l, bool may_be_new)
{
	struct buf json = BUF_INIT(AUTH_FILE_MAX);
	struct wire_err err;
	const char *why = "";
	enum rc rc;

	l->why[0] = '\0';
	l->a = arena_new(2 * WIRE_ARENA_MAX);
	if (may_be_new && !auth_file_stamp(l->path).exists)
		return RC_OK;
	rc = auth_file_read(l->path, &json, &why);
	if (rc != RC_OK)
		token_file_fail(l, rc, why);
	else
		rc = token_file_check(l, buf_str(&json));
	if (rc == RC_OK &&
	    wire_decode(&wire_access_tokens_desc, buf_str(&json), l->a,
		&l->file, &err) != RC_OK)
		rc = token_file_fail_at(l, RC_INVALID, &err);
	buf_free(&json);
	return rc;
}

/* Check the new content and write it. */
static enum rc
token_file_save(struct token_file *l)
{
	struct buf json = BUF_INIT(AUTH_FILE_MAX);
	struct wire_err err;
	const char *why = "";
	enum rc rc =
	    wire_encode(&wire_access_tokens_desc, &l->file, &json, &err);

	if (rc != RC_OK)
		token_file_fail_at(l, rc, &err);
	buf_putc(&json, '\n');
	if (rc == RC_OK && buf_rc(&json) != RC_OK)
		rc = token_file_fail(l, RC_TOOBIG, "would be too large");
	if (rc == RC_OK)
		rc = token_file_check(l, buf_str(&json));
	if (rc == RC_OK) {
		rc = auth_file_write(l->path, buf_str(&json), &why);
		if (rc != RC_OK)
			token_file_fail(l, rc, why);
	}
	buf_free(&json);
	return rc;
}

static void
token_digest_hex(struct str token, char hex[HEX_MAX])
{
	struct auth_digest d = auth_digest_of(token);
	size_t i;

	for (i = 0; i < sizeof(d.bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", d.bytes[i]);
}

static bool
token_file_has_name(const struct token_file *l, struct str name)
{
	size_t i;

	for (i = 0; name.p != NULL && i < l->file.n_tokens; i++) {
		if (l->file.tokens[i].name.p != NULL &&
		    str_eq(l->file.tokens[i].name, name))
			return true;
	}
	return false;
}

static enum rc
token_file_set_users(struct token_file *l, struct str users)
{
	while (users.p != NULL) {
		if (l->n_users == AUTH_TOKEN_FILE_USERS_MAX)
			return token_file_fail(
			    l, RC_TOOBIG, "users: are too many");
		l->users[l->n_users++] = str_trim(str_split(&users, ','));
	}
	return RC_OK;
}

/* Add an entry; its texts must stay valid until token_file_save(). */
static enum rc
token_file_append(struct token_file *l, const struct auth_token_file_entry *e,
    struct str sha256, struct str expires_at)
{
	size_t n = l->file.n_tokens;
	struct TOKEN *list = arena_alloc(l->a, (n + 1) * sizeof(*list));

	if (n >= AUTH_TOKENS_MAX || list == NULL)
		return token_file_fail(
		    l, RC_TOOBIG, "has as many tokens as it may");
	if (token_file_has_name(l, e->name))
		return token_file_fail(l, RC_INVALID,
		    "name: another token has it; drop that one first");
	if (n > 0)
		memcpy(list, l->file.tokens, n * sizeof(*list));
	list[n] = (struct TOKEN){ .sha256 = sha256,
		/* The same enumeration (proto-schemas). */
		.role = (enum wire_access_tokens_tokens_role)e->role,
		.user = e->user,
		.tenant = e->tenant,
		.terminal_id = e->terminal_id,
		.users = l->users,
		.n_users = l->n_users,
		.has_users = l->n_users > 0,
		.name = e->name,
		.expires_at = expires_at };
	l->file.tokens = list;
	l->file.n_tokens = n + 1;
	return RC_OK;
}

/* Remove the position of the new entry from an error. */
static void
token_file_strip_path(const struct token_file *l)
{
	char prefix[64];

	snprintf(prefix, sizeof(prefix), "/tokens/%zu/", l->file.n_tokens - 1);
	if (str_starts(str_of(l->why), str_of(prefix)))
		memmove(l->why, l->why + strlen(prefix),
		    strlen(l->why) - strlen(prefix) + 1);
}

enum rc
auth_token_file_add(const char *file, const struct auth_token_file_entry *e,
    char token[AUTH_TOKEN_FILE_TOKEN_MAX], char why[AUTH_TOKEN_FILE_ERROR_MAX])
{
	struct token_file l = { .path = file, .why = why };
	char secret[AUTH_SECRET_MAX], hex[HEX_MAX], end[WALL_FORMAT_MAX];
	struct str until = { NULL, 0 };
	enum rc rc = token_file_open(&l, true);

	if (rc == RC_OK) {
		auth_secret_new(secret);
		snprintf(token, AUTH_TOKEN_FILE_TOKEN_MAX, TOKEN_PREFIX "%s",
		    secret);
		OPENSSL_cleanse(secret, sizeof(secret));
		token_digest_hex(str_of(token), hex);
		if (e->until.ms != 0) {
			wall_format(e->until, 0, end);
			until = str_of(end);
		}
		rc = token_file_set_users(&l, e->users);
	}
	if (rc == RC_OK) {
		rc = token_file_append(&l, e, str_of(hex), until);
	}
	if (rc == RC_OK) {
		rc = token_file_save(&l);
		token_file_strip_path(&l);
	}
	arena_free(l.a);
	return rc;
}

static void
token_file_put_line(struct buf *out, const struct TOKEN *t)
{
	struct str holder = t->terminal_id.p != NULL ? t->terminal_id : t->user;
	struct str end = t->expires_at.p != NULL ? t->expires_at : STR("never");
	struct str sha = { t->sha256.p, SHOWN };

	buf_printf(out, "%.*s  %-11s  ends %-20.*s  %.*s%s%.*s%s%.*s\n",
	    STR_ARG(sha), ROLE_NAMES[t->role].p, STR_ARG(end),
	    STR_ARG(t->tenant), t->tenant.p != NULL ? "/" : "", STR_ARG(holder),
	    t->name.p != NULL ? "  # " : "", STR_ARG(t->name));
}

enum rc
auth_token_file_list(
    const char *file, struct buf *out, char why[AUTH_TOKEN_FILE_ERROR_MAX])
{
	struct token_file l = { .path = file, .why = why };
	enum rc rc = token_file_open(&l, false);
	size_t i;

	for (i = 0; rc == RC_OK && i < l.file.n_tokens; i++)
		token_file_put_line(out, &l.file.tokens[i]);
	arena_free(l.a);
	return rc;
}

/* Whether which is the name of t, or the start of its digest. */
static bool
token_matches(const struct TOKEN *t, struct str which)
{
	return (t->name.p != NULL && str_eq(t->name, which)) ||
	    (which.n >= PREFIX_MIN && str_starts(t->sha256, which));
}

enum rc
auth_token_file_remove(const char *file, struct str which, struct buf *out,
    char why[AUTH_TOKEN_FILE_ERROR_MAX])
{
	struct token_file l = { .path = file, .why = why };
	enum rc rc = token_file_open(&l, false);
	size_t i, at = 0, found = 0;

	for (i = 0; rc == RC_OK && i < l.file.n_tokens; i++) {
		if (token_matches(&l.file.tokens[i], which)) {
			at = i;
			found++;
		}
	}
	if (rc == RC_OK && found == 0)
		rc = token_file_fail(&l, RC_NOENT,
		    "has no token of that name or digest; \"token list\" "
		    "shows what it has");
	else if (rc == RC_OK && found > 1)
		rc = token_file_fail(&l, RC_CONFLICT,
		    "has several such tokens; give more of the digest");
	if (rc == RC_OK) {
		token_file_put_line(out, &l.file.tokens[at]);
		l.file.n_tokens--;
		memmove(&l.file.tokens[at], &l.file.tokens[at + 1],
		    (l.file.n_tokens - at) * sizeof(*l.file.tokens));
		rc = token_file_save(&l);
	}
	arena_free(l.a);
	return rc;
}
