/*
 * Identifiers: random ones, validity, and tokens.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/id.h"
#include "core/mem.h"
#include "testkit/testkit.h"

TEST(random_bytes_fill_the_buffer)
{
	unsigned char big[1000] = { 0 };
	bool seen[256] = { false };
	size_t different = 0;

	id_random(big, sizeof(big));
	for (size_t i = 0; i < sizeof(big); i++)
		seen[big[i]] = true;
	for (size_t i = 0; i < 256; i++)
		different += seen[i];
	/* About 251 of 256; below 200 is practically impossible. */
	ck_assert_uint_gt(different, 200);
	id_random(big, 0);
}

TEST(a_forked_process_has_different_ids)
{
	char mine[ID_HEX32_MAX], theirs[ID_HEX32_MAX];
	int p[2], status;
	pid_t pid;

	id_hex32(mine);
	ck_assert_int_eq(pipe(p), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		id_hex32(theirs);
		_exit(write(p[1], theirs, sizeof(theirs)) ==
			    (ssize_t)sizeof(theirs)
			? 0
			: 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(p[0], theirs, sizeof(theirs)), sizeof(theirs));
	id_hex32(mine);
	ck_assert_str_ne(mine, theirs);
	(void)close(p[0]);
	(void)close(p[1]);
}

TEST(random_numbers_are_uniform_below_n)
{
	int count[3] = { 0 };

	for (int i = 0; i < 3000; i++) {
		uint64_t v = id_random_below(3);

		ck_assert_uint_lt(v, 3);
		count[v]++;
		ck_assert_uint_eq(id_random_below(1), 0);
		ck_assert_uint_lt(
		    id_random_below(UINT64_MAX / 2 + 2), UINT64_MAX / 2 + 2);
		ck_assert_uint_lt(id_random_below(UINT64_MAX), UINT64_MAX);
	}
	/* 1000 ± 26: six standard deviations are practically impossible. */
	for (int i = 0; i < 3; i++) {
		ck_assert_int_gt(count[i], 840);
		ck_assert_int_lt(count[i], 1160);
	}
}

TEST(uuids_and_hex)
{
	char uuid[ID_UUID_MAX], hex[ID_HEX32_MAX], second[ID_UUID_MAX];

	for (int i = 0; i < 200; i++) {
		id_uuid(uuid);
		ck_assert_uint_eq(strlen(uuid), 36);
		for (size_t k = 0; k < 36; k++)
			if (k == 8 || k == 13 || k == 18 || k == 23)
				ck_assert_int_eq(uuid[k], '-');
			else
				ck_assert_ptr_nonnull(
				    strchr("0123456789abcdef", uuid[k]));
		ck_assert_int_eq(uuid[14], '4');
		ck_assert_ptr_nonnull(strchr("89ab", uuid[19]));
		id_uuid(second);
		ck_assert_str_ne(uuid, second);
		id_hex32(hex);
		ck_assert_uint_eq(strlen(hex), 32);
		ck_assert_uint_eq(strspn(hex, "0123456789abcdef"), 32);
	}
}

static char long_id[200];

static struct str
id_of_length(size_t n)
{
	memset(long_id, 'a', n);
	return (struct str){ long_id, n };
}

TEST(valid_and_invalid_ids)
{
	static const struct {
		const char *id;
		bool valid, terminal;
	} rows[] = {
		{ "", false, false },
		{ "a", true, true },
		{ "\xe6\x9d\xa5\xe7\xa6\x8f", true, true },
		{ "two words", true, true },
		{ "a/b", true, false },
		{ "a+", true, false },
		{ "#", true, false },
		{ "a\nb", false, false },
		{ "\x1f", false, false },
		{ "\x7f", false, false },
		{ "\xff", false, false },
		{ "\xed\xa0\x80", false, false },
		{ "*", true, true },
		{ ".", true, true },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str s = str_of(rows[i].id);

		ck_assert_int_eq(id_valid(s), rows[i].valid);
		ck_assert_int_eq(id_terminal_valid(s), rows[i].terminal);
	}
	ck_assert(!id_valid((struct str){ NULL, 0 }));
	ck_assert(!id_valid(STR("a\0b")));
	ck_assert(id_valid(id_of_length(ID_MAX)));
	ck_assert(!id_valid(id_of_length(ID_MAX + 1)));
}

TEST(known_ids_have_known_tokens)
{
	static const struct {
		const char *id, *token;
	} rows[] = {
		{ "terminal-01_A", "terminal-01_A" },
		{ "a.b", "~YS5i" },
		{ "a b", "~YSBi" },
		{ "*", "~Kg" },
		{ ">", "~Pg" },
		{ "~", "~fg" },
		{ "~YS5i", "~fllTNWk" },
		{ "\xe4\xbd\xa0\xe5\xa5\xbd", "~5L2g5aW9" },
		{ "\?\?>", "~Pz8-" },
		{ "\?\?\?", "~Pz8_" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		char token[ID_TOKEN_MAX], id[ID_MAX + 1];

		ck_assert_int_eq(id_token(str_of(rows[i].id), token), RC_OK);
		ck_assert_str_eq(token, rows[i].token);
		ck_assert_int_eq(id_untoken(str_of(token), id), RC_OK);
		ck_assert_str_eq(id, rows[i].id);
	}
}

TEST(ids_of_every_length_convert_to_tokens_and_back)
{
	char token[ID_TOKEN_MAX], id[ID_MAX + 1];

	for (size_t n = 1; n <= ID_MAX; n++) {
		struct str s = id_of_length(n);

		for (int odd = 0; odd < 2; odd++) {
			long_id[n - 1] = odd != 0 ? '.' : 'z';
			ck_assert_int_eq(id_token(s, token), RC_OK);
			ck_assert_int_eq(token[0] == '~', odd != 0 || n > 64);
			ck_assert_uint_lt(strlen(token), ID_TOKEN_MAX);
			ck_assert_int_eq(id_untoken(str_of(token), id), RC_OK);
			ck_assert(str_eq(str_of(id), s));
		}
	}
	ck_assert_int_eq(id_token(id_of_length(ID_MAX + 1), token), RC_INVALID);
	ck_assert_int_eq(id_token(STR(""), token), RC_INVALID);
	ck_assert_int_eq(id_token(STR("a\nb"), token), RC_INVALID);
}

TEST(different_ids_have_different_tokens)
{
	for (int i = 0; i < 20000; i++) {
		char raw[ID_MAX], token[ID_TOKEN_MAX], id[ID_MAX + 1];
		struct str s = { raw, 1 + id_random_below(ID_MAX) };

		id_random(raw, s.n);
		for (size_t k = 0; k < s.n; k++)
			raw[k] = (char)(0x20 + (raw[k] & 63));
		ck_assert_int_eq(id_token(s, token), RC_OK);
		ck_assert_uint_eq(strspn(token,
				      "~-_0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		    strlen(token));
		ck_assert_int_eq(id_untoken(str_of(token), id), RC_OK);
		ck_assert(str_eq(str_of(id), s));
	}
}

TEST(invalid_tokens_are_rejected)
{
	static const char *const rows[] = {
		"",
		"~",
		"a.b",
		"a b",
		"a~b",
		"*",
		">",
		/* A digit too many. */
		"~YS5iY",
		"~A",
		/* Non-zero unused bits. */
		"~Kh",
		"~YS5iYj",
		/* Padding, other alphabets. */
		"~Kg==",
		"~Pz8/",
		"~Pz8+",
		"~Kg.",
		"~K g",
		"~Kg~",
		/* "abc", which is its own token. */
		"~YWJj",
		/* A newline, a NUL, no UTF-8. */
		"~Cg",
		"~AA",
		"~_w",
	};
	char id[ID_MAX + 1] = "untouched", token[ID_TOKEN_MAX + 8];

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_msg(id_untoken(str_of(rows[i]), id) == RC_INVALID,
		    "\"%s\"", rows[i]);
	/* Over 64 plain characters have to be coded. */
	ck_assert_int_eq(id_untoken(id_of_length(65), id), RC_INVALID);
	ck_assert_int_eq(id_untoken((struct str){ NULL, 0 }, id), RC_INVALID);
	/* 129 bytes of "a", encoded: too long. */
	token[0] = '~';
	for (size_t i = 0; i < 172; i += 4)
		memcpy(token + 1 + i, "YWFh", 4);
	ck_assert_int_eq(
	    id_untoken((struct str){ token, 173 }, id), RC_INVALID);
	ck_assert_str_eq(id, "untouched");
}

TEST(a_stock_gives_no_byte_twice)
{
	static struct id_stock s;
	unsigned char got[200][24], large[1000];
	char hex[49];

	memset(large, 0, sizeof(large));
	for (size_t i = 0; i < NELEM(got); i++) {
		id_stock_take(&s, got[i], sizeof(got[i]));
		for (size_t k = 0; k < i; k++)
			ck_assert_int_ne(
			    memcmp(got[i], got[k], sizeof(got[i])), 0);
	}
	/* What was given is not there any more. */
	for (size_t i = s.left; i < sizeof(s.bytes); i++)
		ck_assert_uint_eq(s.bytes[i], 0);
	id_stock_take(&s, large, sizeof(large));
	ck_assert_uint_ne(large[0] | large[500] | large[999] | large[1], 0);
	id_hex((const unsigned char *)"\x01\xab\xff", 3, hex);
	ck_assert_str_eq(hex, "01abff");
}
