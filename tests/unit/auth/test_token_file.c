/*
 * Changes of a token file.
 */
#include "auth/token_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth_internal.h"
#include "testkit/testkit.h"

static const struct auth_token_file_entry ada = { .role = WIRE_ROLE_OWNER,
	.user = STR_INIT("ada"),
	.tenant = STR_INIT("acme"),
	.name = STR_INIT("phone"),
	.until = { 4000000000000 } };

/* The result of looking up a token as a service does. */
static enum rc
find(const char *file, const char *token, struct auth_caller *out)
{
	struct auth_digest d = auth_digest_of(str_of(token));
	const struct auth_caller *c;
	struct auth_tokens *t;
	struct wire_err err;
	size_t n;
	char *json = tk_read_file(file, &n);
	enum rc rc;

	ck_assert_msg(
	    auth_tokens_parse((struct str){ json, n }, &t, &err) == RC_OK,
	    "%s: %s", err.path, err.why);
	rc = auth_tokens_find(t, &d, (struct wall){ 1800000000000 }, &c);
	if (rc == RC_OK) {
		*out =
		    (struct auth_caller){ .role = c->role, .until = c->until };
		ck_assert(str_starts(c->user, STR("acme/")));
	}
	auth_tokens_free(t);
	free(json);
	return rc;
}

static unsigned
mode_of(const char *file)
{
	struct stat st;

	ck_assert_int_eq(lstat(file, &st), 0);
	return st.st_mode & 07777;
}

TEST(a_token_is_valid_until_it_is_removed)
{
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], other[AUTH_TOKEN_FILE_TOKEN_MAX];
	struct auth_token_file_entry e = ada;
	const char *file = tk_path("tokens.json");
	struct buf out = BUF_INIT(65536);
	char why[AUTH_TOKEN_FILE_ERROR_MAX];
	struct auth_caller c;

	ck_assert_int_eq(auth_token_file_add(file, &ada, token, why), RC_OK);
	ck_assert_uint_eq(mode_of(file), 0600);
	ck_assert_int_eq(find(file, token, &c), RC_OK);
	ck_assert_int_eq(c.role, WIRE_ROLE_OWNER);
	ck_assert_int_eq(c.until.ms, ada.until.ms);
	e.name = STR("tablet");
	ck_assert_int_eq(chmod(file, 0640), 0);
	ck_assert_int_eq(auth_token_file_add(file, &e, other, why), RC_OK);
	ck_assert_uint_eq(mode_of(file), 0640);
	ck_assert_str_ne(token, other);
	ck_assert_int_eq(find(file, token, &c), RC_OK);
	ck_assert_int_eq(auth_token_file_list(file, &out, why), RC_OK);
	ck_assert_ptr_nonnull(strstr(out.p, "acme/ada  # phone\n"));
	ck_assert_ptr_nonnull(strstr(out.p, "acme/ada  # tablet\n"));
	ck_assert_ptr_null(strstr(out.p, token));
	buf_reset(&out);
	ck_assert_int_eq(
	    auth_token_file_remove(file, STR("phone"), &out, why), RC_OK);
	ck_assert_ptr_nonnull(strstr(out.p, "# phone\n"));
	ck_assert_int_eq(find(file, token, &c), RC_NOENT);
	ck_assert_int_eq(find(file, other, &c), RC_OK);
	buf_free(&out);
}

TEST(a_notifiers_users_are_listed_in_the_file)
{
	const struct auth_token_file_entry bell = { .role = WIRE_ROLE_NOTIFIER,
		.users = STR_INIT("ada, bob") };
	struct auth_token_file_entry none = bell;
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];
	const char *file = tk_path("notifier.json");
	char *json;
	size_t n;

	ck_assert_int_eq(auth_token_file_add(file, &bell, token, why), RC_OK);
	json = tk_read_file(file, &n);
	ck_assert_ptr_nonnull(strstr(json, "\"users\":[\"ada\",\"bob\"]"));
	free(json);
	none.users = (struct str){ NULL, 0 };
	ck_assert_int_eq(
	    auth_token_file_add(file, &none, token, why), RC_INVALID);
	ck_assert_str_eq(why, "users: is missing");
}

TEST(a_token_is_removed_by_its_digest)
{
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];
	const char *file = tk_path("tokens.json");
	struct buf out = BUF_INIT(65536);
	struct auth_caller c;
	char sha[13];

	ck_assert_int_eq(auth_token_file_add(file, &ada, token, why), RC_OK);
	ck_assert_int_eq(auth_token_file_list(file, &out, why), RC_OK);
	snprintf(sha, sizeof(sha), "%.12s", out.p);
	/* A prefix that is too short. */
	ck_assert_int_eq(
	    auth_token_file_remove(file, (struct str){ sha, 7 }, &out, why),
	    RC_NOENT);
	ck_assert_int_eq(
	    auth_token_file_remove(file, str_of(sha), &out, why), RC_OK);
	ck_assert_int_eq(find(file, token, &c), RC_NOENT);
	ck_assert_int_eq(
	    auth_token_file_remove(file, str_of(sha), &out, why), RC_NOENT);
	buf_free(&out);
}

static void
expect_rejected(const char *file, const struct auth_token_file_entry *e,
    enum rc rc, const char *want)
{
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];

	ck_assert_int_eq(auth_token_file_add(file, e, token, why), rc);
	ck_assert_msg(strstr(why, want) == why, "%s", why);
}

TEST(an_invalid_change_is_not_written)
{
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];
	const char *file = tk_path("tokens.json"), *new;
	struct auth_token_file_entry e = ada;
	struct stat before, after;

	ck_assert_int_eq(auth_token_file_add(file, &ada, token, why), RC_OK);
	ck_assert_int_eq(stat(file, &before), 0);
	expect_rejected(file, &ada, RC_INVALID, "name: another");
	e.name = (struct str){ 0 };
	e.user = (struct str){ 0 };
	expect_rejected(file, &e, RC_INVALID, "user: is missing");
	e.user = STR("acme/ada");
	expect_rejected(file, &e, RC_INVALID, "user: must not have a /");
	e.user = STR("star:human:bob");
	expect_rejected(
	    file, &e, RC_INVALID, "user: must not begin with star:");
	e.user = STR("ada");
	e.tenant = STR("a b");
	expect_rejected(file, &e, RC_INVALID, "tenant: ");
	/* Another writer is active. */
	new = tk_path("tokens.json.new");
	tk_write_file(new, "");
	e.tenant = STR("acme");
	expect_rejected(file, &e, RC_RETRY, "is being changed");
	ck_assert_int_eq(unlink(new), 0);
	ck_assert_int_eq(stat(file, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	tk_write_file(file, "{\"tokens\":[{}]}");
	expect_rejected(file, &e, RC_INVALID, "/tokens/0/sha256: is missing");
	expect_rejected(tk_dir(), &e, RC_DOWN, "Is a directory");
	expect_rejected(
	    tk_path("none/tokens.json"), &e, RC_DOWN, "No such file");
}

TEST(a_change_follows_a_symbolic_link)
{
	char token[AUTH_TOKEN_FILE_TOKEN_MAX], why[AUTH_TOKEN_FILE_ERROR_MAX];
	const char *file = tk_path("tokens.json"), *link = tk_path("link");
	struct auth_token_file_entry e = ada;
	struct auth_caller c;

	ck_assert_int_eq(auth_token_file_add(file, &ada, token, why), RC_OK);
	ck_assert_int_eq(symlink(file, link), 0);
	e.name = STR("tablet");
	ck_assert_int_eq(auth_token_file_add(link, &e, token, why), RC_OK);
	ck_assert_uint_eq(mode_of(file), 0600);
	ck_assert_int_eq(find(file, token, &c), RC_OK);
	ck_assert_uint_ne(mode_of(link), 0600);
}
