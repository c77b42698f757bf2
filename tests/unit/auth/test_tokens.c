/*
 * Token files, identities, and the cache of verified callers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "auth/token_file.h"
#include "testkit/testkit.h"

/* Of "secret", and of nothing. */
#define SECRET \
	"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
#define NOTHING \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define TOKEN(sha, rest) "{\"sha256\":\"" sha "\"," rest "}"

static const struct wall now = { 1800000000000 };

static struct auth_tokens *
expect_accepted(const char *list)
{
	struct auth_tokens *t;
	struct wire_err err;
	char json[2048];

	snprintf(json, sizeof(json), "{\"tokens\":[%s]}", list);
	ck_assert_msg(auth_tokens_parse(str_of(json), &t, &err) == RC_OK,
	    "%s: %s", err.path, err.why);
	return t;
}

static void
expect_rejected(const char *list, const char *path, const char *why)
{
	struct auth_tokens *t;
	struct wire_err err;
	char json[2048];

	snprintf(json, sizeof(json), "{\"tokens\":[%s]}", list);
	ck_assert_int_eq(auth_tokens_parse(str_of(json), &t, &err), RC_INVALID);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.why, why) != NULL, "%s", err.why);
}

TEST(a_token_is_found_by_its_digest)
{
	struct auth_tokens *t = expect_accepted(TOKEN(SECRET,
	    "\"role\":\"owner\",\"user\":\"ada\",\"tenant\":\"acme\","
	    "\"expires_at\":\"2027-01-15T08:00:01Z\""));
	struct auth_digest good = auth_digest_of(STR("secret"));
	struct auth_digest bad = auth_digest_of(STR("Secret"));
	const struct auth_caller *c;

	ck_assert_uint_eq(auth_tokens_count(t), 1);
	ck_assert_int_eq(auth_tokens_find(t, &good, now, &c), RC_OK);
	ck_assert(str_eq(c->user, STR("acme/ada")));
	ck_assert_int_eq(c->role, WIRE_ROLE_OWNER);
	ck_assert(c->key != 0);
	ck_assert_int_eq(auth_tokens_find(t, &bad, now, &c), RC_NOENT);
	ck_assert_int_eq(
	    auth_tokens_find(t, &good, (struct wall){ now.ms + 1000 }, &c),
	    RC_DENIED);
	ck_assert_int_eq(auth_tokens_find(NULL, &good, now, &c), RC_NOENT);
	/* The last bit differs, which is not part of the map key. */
	good.bytes[31] ^= 1;
	ck_assert_int_eq(auth_tokens_find(t, &good, now, &c), RC_NOENT);
	auth_tokens_free(t);
}

TEST(invalid_tokens_are_reported_with_their_path)
{
	expect_rejected(
	    TOKEN(SECRET, "\"role\":\"owner\""), "/tokens/0/user", "missing");
	expect_rejected(TOKEN(SECRET, "\"role\":\"owner\",\"user\":\"a/b\""),
	    "/tokens/0/user", "/");
	expect_rejected(TOKEN(SECRET, "\"role\":\"terminal\""),
	    "/tokens/0/terminal_id", "id of a terminal");
	expect_rejected(TOKEN(SECRET,
			    "\"role\":\"terminal\",\"terminal_id\":\"a\","
			    "\"user\":\"ada\""),
	    "/tokens/0/user", "must not be there");
	expect_rejected(
	    TOKEN(SECRET, "\"role\":\"provisioner\",\"terminal_id\":\"a\""),
	    "/tokens/0/terminal_id", "must not be there");
	expect_rejected(
	    TOKEN(SECRET, "\"role\":\"provisioner\"") "," TOKEN(
		NOTHING, "\"role\":\"provisioner\",\"expires_at\":\"soon\""),
	    "/tokens/1/expires_at", "a time");
	expect_rejected(TOKEN(SECRET, "\"role\":\"provisioner\"") "," TOKEN(
			    SECRET, "\"role\":\"operator\""),
	    "/tokens/1/sha256", "duplicate");
	expect_rejected("1", "/tokens/0", "object");
}

TEST(a_notifier_has_users)
{
	struct auth_tokens *t = expect_accepted(TOKEN(SECRET,
	    "\"role\":\"notifier\",\"users\":[\"ada\",\"bob\"],"
	    "\"tenant\":\"acme\""));
	struct auth_digest digest = auth_digest_of(STR("secret"));
	const struct auth_caller *c;

	ck_assert_int_eq(auth_tokens_find(t, &digest, now, &c), RC_OK);
	ck_assert_int_eq(c->role, WIRE_ROLE_NOTIFIER);
	ck_assert_ptr_null(c->user.p);
	ck_assert(str_eq(c->users, STR("acme/ada\nacme/bob\n")));
	auth_tokens_free(t);
	expect_rejected(TOKEN(SECRET, "\"role\":\"notifier\""),
	    "/tokens/0/users", "is missing");
	expect_rejected(
	    TOKEN(SECRET, "\"role\":\"notifier\",\"users\":[\"a/b\"]"),
	    "/tokens/0/users", "must not have a /");
	expect_rejected(TOKEN(SECRET,
			    "\"role\":\"notifier\",\"user\":\"ada\","
			    "\"users\":[\"ada\"]"),
	    "/tokens/0/user", "must not be there");
	expect_rejected(TOKEN(SECRET,
			    "\"role\":\"owner\",\"user\":\"ada\","
			    "\"users\":[\"ada\"]"),
	    "/tokens/0/users", "only the role notifier");
}

TEST(user_and_tenant_together_are_one_id)
{
	struct auth_claims claims = { .role = WIRE_ROLE_OWNER,
		.user = STR("ada"),
		.tenant = STR("acme") };
	struct auth_error error;
	char user[126];

	memset(user, 'u', sizeof(user));
	claims.user = (struct str){ user, 123 };
	free(auth_identity_new(&claims, &error));
	ck_assert_ptr_null(error.member);
	claims.user.n = 124;
	ck_assert_ptr_null(auth_identity_new(&claims, &error));
	ck_assert_str_eq(error.member, "user");
	claims.user = STR("ada");
	claims.tenant = STR("");
	ck_assert_ptr_null(auth_identity_new(&claims, &error));
	ck_assert_str_eq(error.member, "tenant");
}

static struct auth_identity *
identity_until(int64_t until)
{
	const struct auth_claims claims = {
		.role = WIRE_ROLE_OWNER, .user = STR("ada"), .until = { until }
	};
	struct auth_error error;

	return auth_identity_new(&claims, &error);
}

TEST(verified_callers_are_cached_for_a_while)
{
	const struct mono t = { 1000 };
	struct auth_cache *m = auth_cache_new();
	struct auth_digest a = auth_digest_of(STR("a"));
	struct auth_digest b = auth_digest_of(STR("b"));
	size_t i;
	char text[16];

	auth_cache_put(m, &a, identity_until(0), t);
	auth_cache_put(m, &b, identity_until(now.ms + 5), t);
	ck_assert_ptr_nonnull(auth_cache_find(m, &a, t, now));
	ck_assert_ptr_nonnull(auth_cache_find(m, &b, t, now));
	ck_assert_ptr_null(
	    auth_cache_find(m, &b, t, (struct wall){ now.ms + 5 }));
	ck_assert_ptr_null(auth_cache_find(
	    m, &a, mono_add_ms(t, AUTH_REMEMBER_S * 1000L), now));
	auth_cache_put(m, &a, identity_until(0), t);
	auth_cache_clear(m);
	ck_assert_ptr_null(auth_cache_find(m, &a, t, now));
	/* The oldest is evicted. */
	for (i = 0; i <= AUTH_REMEMBER_MAX; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		b = auth_digest_of(str_of(text));
		auth_cache_put(m, &b, identity_until(0), t);
	}
	ck_assert_ptr_nonnull(auth_cache_find(m, &b, t, now));
	b = auth_digest_of(STR("0"));
	ck_assert_ptr_null(auth_cache_find(m, &b, t, now));
	b = auth_digest_of(STR("1"));
	ck_assert_ptr_nonnull(auth_cache_find(m, &b, t, now));
	auth_cache_free(m);
}
