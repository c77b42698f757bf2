/* Building of keys. */
#include "core/id.h"
#include "state/state.h"
#include "testkit/testkit.h"

TEST(tokens_replace_the_placeholders)
{
	static const struct {
		const char *pattern;
		struct str ids[4];
		size_t n;
		enum rc rc;
		const char *want;
	} t[] = {
		{ "soul:due:tick", { { NULL, 0 } }, 0, RC_OK, "soul:due:tick" },
		{ "soul:terminal:%", { STR_INIT("robot-1") }, 1, RC_OK,
		    "soul:terminal:robot-1" },
		{ "soul:session:{%:%}:log", { STR_INIT("u1"), STR_INIT("s_2") },
		    2, RC_OK, "soul:session:{u1:s_2}:log" },
		{ "%%", { STR_INIT("a"), STR_INIT("b") }, 2, RC_OK, "ab" },
		{ "soul:log:{#}:%:%", { STR_INIT("u1"), STR_INIT("s_2") }, 2,
		    RC_OK, "soul:log:{b0478}:u1:s_2" },
		{ "k:{#}:%", { STR_INIT("小灵") }, 1, RC_OK,
		    "k:{b0789}:~5bCP54G1" },
		/* Ids that are not plain become base64url. */
		{ "k:%", { STR_INIT("a:b") }, 1, RC_OK, "k:~YTpi" },
		{ "k:%", { STR_INIT("%") }, 1, RC_OK, "k:~JQ" },
		{ "k:%", { STR_INIT("{x}") }, 1, RC_OK, "k:~e3h9" },
		{ "k:%", { STR_INIT("~YTpi") }, 1, RC_OK, "k:~fllUcGk" },
		{ "k:%", { STR_INIT("小灵") }, 1, RC_OK, "k:~5bCP54G1" },
		/* Not ids. */
		{ "k:%", { STR_INIT("") }, 1, RC_INVALID, NULL },
		{ "k:%", { { NULL, 0 } }, 1, RC_INVALID, NULL },
		{ "k:%", { STR_INIT("a\nb") }, 1, RC_INVALID, NULL },
		{ "k:%", { STR_INIT("a\0b") }, 1, RC_INVALID, NULL },
		{ "k:%", { STR_INIT("\xff") }, 1, RC_INVALID, NULL },
		/* Not as many ids as placeholders. */
		{ "k", { STR_INIT("a") }, 1, RC_INVALID, NULL },
		{ "k:%", { STR_INIT("a") }, 0, RC_INVALID, NULL },
		{ "k:#", { STR_INIT("a") }, 0, RC_INVALID, NULL },
		{ "k:#", { STR_INIT("a") }, 1, RC_INVALID, NULL },
		{ "k:%", { STR_INIT("a"), STR_INIT("b") }, 2, RC_INVALID,
		    NULL },
		{ "", { { NULL, 0 } }, 0, RC_OK, "" },
	};
	char dst[STATE_KEY_MAX];
	struct str key;
	enum rc rc;

	for (size_t i = 0; i < NELEM(t); i++) {
		rc = state_key(dst, t[i].pattern, t[i].ids, t[i].n, &key);
		ck_assert_msg(rc == t[i].rc, "%zu: %s", i, rc_name(rc));
		if (rc != RC_OK)
			continue;
		ck_assert_ptr_eq(key.p, dst);
		ck_assert_str_eq(dst, t[i].want);
		ck_assert_uint_eq(key.n, strlen(t[i].want));
	}
}

TEST(buckets)
{
	char dst[STATE_KEY_MAX];
	unsigned bucket;
	struct str key;

	ck_assert_int_eq(state_bucket(STR("u1"), &bucket), RC_OK);
	ck_assert_uint_eq(bucket, 478);
	ck_assert_int_eq(
	    state_bucket_key(dst, "soul:ticks:{#}:1", bucket, &key), RC_OK);
	ck_assert_str_eq(dst, "soul:ticks:{b0478}:1");
	ck_assert_uint_eq(key.n, strlen(dst));
	ck_assert_int_eq(state_bucket(STR(""), &bucket), RC_INVALID);
	ck_assert_int_eq(
	    state_bucket_key(dst, "k:{#}", STATE_BUCKETS, &key), RC_INVALID);
}

TEST(the_longest_key_is_built)
{
	char longest[ID_MAX + 1], dst[STATE_KEY_MAX],
	    pattern[STATE_KEY_MAX + 2];
	struct str id = { longest, ID_MAX };
	struct str ids[4] = { id, id, id, id };
	struct str key;

	memset(longest, '.', sizeof(longest));
	/* Three ids of maximal length fit. */
	ck_assert_int_eq(
	    state_key(dst, "soul:something:{%:%:%}:log", ids, 3, &key), RC_OK);
	ck_assert_int_eq(state_key(dst, "%:%:%:%", ids, 4, &key), RC_TOOBIG);
	id.n++;
	ck_assert_int_eq(state_key(dst, "%", &id, 1, &key), RC_INVALID);

	memset(pattern, 'p', sizeof(pattern));
	pattern[STATE_KEY_MAX] = '\0';
	ck_assert_int_eq(state_key(dst, pattern, NULL, 0, &key), RC_TOOBIG);
	pattern[STATE_KEY_MAX - 1] = '\0';
	ck_assert_int_eq(state_key(dst, pattern, NULL, 0, &key), RC_OK);
	ck_assert_uint_eq(key.n, STATE_KEY_MAX - 1);
}
