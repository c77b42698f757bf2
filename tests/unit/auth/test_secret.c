/*
 * Secrets and hashes of terminals, compared with mosquitto's tool.
 */
#include <string.h>

#include "auth/auth.h"
#include "testkit/testkit.h"

TEST(a_hash_matches_its_secret_only)
{
	char a[AUTH_SECRET_MAX], b[AUTH_SECRET_MAX], hash[AUTH_HASH_MAX];

	auth_secret_new(a);
	auth_secret_new(b);
	ck_assert_uint_eq(strlen(a), 32);
	ck_assert_str_ne(a, b);
	auth_secret_hash(str_of(a), hash);
	ck_assert(auth_secret_is(str_of(a), str_of(hash)));
	ck_assert(!auth_secret_is(str_of(b), str_of(hash)));
	ck_assert(!auth_secret_is(STR(""), str_of(hash)));
}

/* Made by mosquitto_passwd 2.0.11 of "secret". */
TEST(hashes_of_mosquitto_passwd_are_accepted)
{
	static const char text[] =
	    "$7$101$7RQgAuKfzBlXBNlT$L60MmZv11gW5rCYJkHNNxF8k"
	    "ICQvNQ/+jBqWrvJPCrOHfE9hhqjwqrPkUPea91mCn3sBAyiynxbnnvi8VDGeBQ==";
	const struct str hash = str_of(text);

	ck_assert(auth_secret_is(STR("secret"), hash));
	ck_assert(!auth_secret_is(STR("Secret"), hash));
}

TEST(malformed_hashes_match_nothing)
{
	static const char *const bad[] = { "", "$7$", "$7$101", "$7$101$",
		"$7$101$$", "$7$0$AAAA$AAAA", "$7$x$AAAA$AAAA", "$6$AAAA$AAAA",
		"$7$101$AAAA$AAAA", "$7$101$A$B$C" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(!auth_secret_is(STR("secret"), str_of(bad[i])),
		    "%s", bad[i]);
}

TEST(a_terminal_token_contains_its_terminal_id)
{
	char token[AUTH_TERMINAL_TOKEN_MAX];

	auth_terminal_token(STR("lamp-1"), STR("s3cret"), token);
	ck_assert_str_eq(token, "soul_body.bGFtcC0x.s3cret");
}
