/*
 * Which key of format 1 becomes which of format 2, and back.
 */
#include "core/mem.h"
#include "migrate/key_map.h"
#include "state/keys.h"
#include "state/state.h"
#include "testkit/testkit.h"

/* The tokens of "acme/ada", and of the digest of an input. */
#define ADA    "~YWNtZS9hZGE"
#define DIGEST "da39a3ee5e6b4b0d3255bfef95601890afd80709"

/* NULL: the format has no such key. */
static const struct {
	enum key_record record;
	const char *owner; /* not in the key of format 1 */
	const char *key[FORMAT_N];
} rows[] = {
	{ RECORD_SESSION, "",
	    { "soul:session:{u1:s1}", "soul:session:{b0478}:u1:s1" } },
	{ RECORD_SESSION, "",
	    { "soul:session:{" ADA ":s-1_2}",
		"soul:session:{b0171}:" ADA ":s-1_2" } },
	{ RECORD_MESSAGES, "",
	    { "soul:session:{u1:s1}:messages",
		"soul:messages:{b0478}:u1:s1" } },
	{ RECORD_EVENTS, "",
	    { "soul:session:{u1:s1}:events:1",
		"soul:events:{b0478}:u1:s1:1" } },
	{ RECORD_RETRY, "",
	    { "soul:session:{" ADA ":s1}:retry:1:" DIGEST,
		"soul:retry:{b0171}:" ADA ":s1:1:" DIGEST } },
	{ RECORD_QUEUE, "",
	    { "soul:session:{u1:s1}:turns:1", "soul:turns:{b0478}:u1:s1:2" } },
	{ RECORD_TURN, "u1", { "soul:turn:{t1}", "soul:turn:{b0478}:u1:t1" } },
	{ RECORD_TURN, ADA,
	    { "soul:turn:{t1}", "soul:turn:{b0171}:" ADA ":t1" } },
	{ RECORD_INSTANCE, NULL, { "soul:instance:{i1}:1", NULL } },
	{ RECORD_INSTANCE, NULL, { NULL, "soul:instance:{b0007}:i1:1" } },
	{ RECORD_IDLE, NULL, { "soul:idle:1", NULL } },
	{ RECORD_IDLE, NULL, { NULL, "soul:idle:{b1023}:1" } },
	{ RECORD_USER_SESSIONS, "",
	    { "soul:user:{u1}:sessions:1",
		"soul:user:{b0478}:u1:sessions:1" } },
	{ RECORD_USER_SOULS, "",
	    { "soul:user:{u1}:souls:1", "soul:user:{b0478}:u1:souls:1" } },
	{ RECORD_SOUL_NAMES, "",
	    { "soul:user:{u1}:soul_names:1",
		"soul:user:{b0478}:u1:soul_names:1" } },
	{ RECORD_USER_TERMINALS, "",
	    { "soul:user:{" ADA "}:terminals:1",
		"soul:user:{b0171}:" ADA ":terminals:1" } },
	{ RECORD_DELETING, NULL, { NULL, "soul:user:{b0478}:u1:deleting:1" } },
	{ RECORD_SOUL, "u1", { "soul:soul:{x}", "soul:soul:{b0478}:u1:x" } },
	{ RECORD_SOUL_STATE, "u1",
	    { "soul:soul:{x}:state", "soul:state:{b0478}:u1:x" } },
	{ RECORD_SOUL_LOG, ADA,
	    { "soul:soul:{x}:log:1", "soul:log:{b0171}:" ADA ":x:1" } },
	{ RECORD_BODIES, "u1",
	    { "soul:soul:{x}:terminals:1", "soul:bodies:{b0478}:u1:x:1" } },
	{ RECORD_TICKS, NULL, { "soul:ticks:1", NULL } },
	{ RECORD_TICKS, NULL, { NULL, "soul:ticks:{b0000}:1" } },
	{ RECORD_TICK_INTERVAL, NULL, { "soul:ticks:interval:1", NULL } },
	{ RECORD_MEMORY, "",
	    { "soul:memory:{u1:x}", "soul:memory:{b0478}:u1:x" } },
	{ RECORD_MEMORY_ITEMS, "",
	    { "soul:memory:{u1:x}:items", "soul:memory:{b0478}:u1:x:items" } },
	{ RECORD_MEMORY_ORDER, "",
	    { "soul:memory:{u1:x}:order", "soul:memory:{b0478}:u1:x:order" } },
	{ RECORD_MEMORY_TOMBSTONES, "",
	    { "soul:memory:{u1:x}:gone", "soul:memory:{b0478}:u1:x:gone" } },
	{ RECORD_MEMORY_VECTORS, "",
	    { "soul:memory:{u1:x}:vectors",
		"soul:memory:{b0478}:u1:x:vectors" } },
	{ RECORD_MEMORY_SUPERSEDED, "",
	    { "soul:memory:{u1:x}:past", "soul:memory:{b0478}:u1:x:past" } },
	{ RECORD_MEMORY_SUPERSEDED_ITEMS, "",
	    { "soul:memory:{u1:x}:past_items",
		"soul:memory:{b0478}:u1:x:past_items" } },
	{ RECORD_PROFILE, "",
	    { "soul:profile:{u1}", "soul:profile:{b0478}:u1" } },
	{ RECORD_TERMINAL, "", { "soul:terminal:{t}", "soul:terminal:{t}" } },
	{ RECORD_RESULT, "", { "soul:result:{t:r}", "soul:result:{t}:r" } },
	{ RECORD_CREDENTIAL, "",
	    { "soul:credential:{t}", "soul:credential:{t}" } },
	{ RECORD_CREDENTIALS, "",
	    { "soul:credentials:1", "soul:credentials:{identities}:1" } },
	{ RECORD_CREDENTIALS_VERSION, "",
	    { "soul:credentials:version:1",
		"soul:credentials:{identities}:version:1" } },
	{ RECORD_CREDENTIALS_CHANGING, NULL,
	    { NULL, "soul:credentials:{identities}:changing:1" } },
	{ RECORD_TENANT, "",
	    { "soul:tenant:{acme}:credentials:1",
		"soul:tenant:{identities}:acme:credentials:1" } },
	{ RECORD_LEASE, "",
	    { "soul:lease:{reports_main}:1", "soul:lease:{reports_main}:2" } },
	{ RECORD_LEASE_EPOCH, "",
	    { "soul:lease:{reports_main}:epoch:1",
		"soul:lease:{reports_main}:epoch:2" } },
	{ RECORD_TIMERS, NULL, { NULL, "soul:timers:{ticks}:1" } },
};

TEST(a_key_is_renamed_in_both_directions)
{
	char text[STATE_KEY_MAX];
	struct str key;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		if (rows[i].owner == NULL)
			continue;
		ck_assert_int_eq(key_rename(str_of(rows[i].key[0]), FORMAT_1,
				     str_of(rows[i].owner), text, &key),
		    RC_OK);
		ck_assert_str_eq(text, rows[i].key[1]);
		ck_assert_uint_eq(key.n, strlen(text));
		ck_assert_int_eq(key_rename(str_of(rows[i].key[1]), FORMAT_2,
				     STR(""), text, &key),
		    RC_OK);
		ck_assert_str_eq(text, rows[i].key[0]);
	}
}

TEST(a_key_is_of_its_record_and_format_only)
{
	bool seen[RECORD_N][FORMAT_N] = { { false } };
	struct key_parts k;
	size_t i;
	int f;

	for (i = 0; i < NELEM(rows); i++) {
		for (f = FORMAT_1; f < FORMAT_N; f++) {
			const char *key = rows[i].key[f];
			const char *other = rows[i].key[!f];

			if (key == NULL)
				continue;
			ck_assert(
			    key_parse(str_of(key), (enum key_format)f, &k));
			ck_assert_int_eq(k.record, rows[i].record);
			seen[k.record][f] = true;
			ck_assert_int_eq(
			    key_parse(str_of(key), (enum key_format) !f, &k),
			    other != NULL && strcmp(key, other) == 0);
		}
	}
	for (i = 0; i < RECORD_N; i++)
		for (f = FORMAT_1; f < FORMAT_N; f++)
			ck_assert_int_eq(seen[i][f],
			    key_record_exists(
				(enum key_record)i, (enum key_format)f));
}

/* With a new format these become literals, as those of format 1 are. */
TEST(format_2_has_the_keys_that_services_use)
{
	static const struct {
		enum key_record record;
		const char *pattern; /* of state_key() */
	} used[] = {
		{ RECORD_SESSION, KEY_SESSION },
		{ RECORD_MESSAGES, KEY_SESSION_MESSAGES },
		{ RECORD_EVENTS, KEY_SESSION_EVENTS },
		{ RECORD_RETRY, KEY_SESSION_RETRY DIGEST },
		{ RECORD_QUEUE, KEY_TURNS },
		{ RECORD_TURN, KEY_TURN },
		{ RECORD_USER_SESSIONS, KEY_USER_SESSIONS },
		{ RECORD_USER_SOULS, KEY_USER_SOULS },
		{ RECORD_SOUL_NAMES, KEY_USER_SOUL_NAMES },
		{ RECORD_USER_TERMINALS, KEY_USER_TERMINALS },
		{ RECORD_DELETING, KEY_USER_DELETING },
		{ RECORD_SOUL, KEY_SOUL },
		{ RECORD_SOUL_STATE, KEY_SOUL_STATE },
		{ RECORD_SOUL_LOG, KEY_SOUL_LOG },
		{ RECORD_BODIES, KEY_BODIES },
		{ RECORD_MEMORY, KEY_MEMORY },
		{ RECORD_MEMORY_ITEMS, KEY_MEMORY_ITEMS },
		{ RECORD_MEMORY_ORDER, KEY_MEMORY_ORDER },
		{ RECORD_MEMORY_TOMBSTONES, KEY_MEMORY_GONE },
		{ RECORD_MEMORY_VECTORS, KEY_MEMORY_VECS },
		{ RECORD_MEMORY_SUPERSEDED, KEY_MEMORY_PAST },
		{ RECORD_MEMORY_SUPERSEDED_ITEMS, KEY_MEMORY_PAST_ITEMS },
		{ RECORD_PROFILE, KEY_PROFILE },
		{ RECORD_TERMINAL, KEY_TERMINAL },
		{ RECORD_RESULT, KEY_RESULT },
		{ RECORD_CREDENTIAL, KEY_CREDENTIAL },
		{ RECORD_CREDENTIALS, KEY_CREDENTIALS },
		{ RECORD_CREDENTIALS_VERSION, KEY_CREDENTIALS_VERSION },
		{ RECORD_CREDENTIALS_CHANGING, KEY_CREDENTIALS_CHANGING },
		{ RECORD_TENANT, KEY_TENANT_TERMINALS },
		{ RECORD_LEASE, KEY_LEASE },
		{ RECORD_LEASE_EPOCH, KEY_LEASE_EPOCH },
		{ RECORD_TIMERS, KEY_TIMERS },
	};
	static const char *const of_buckets[] = { KEY_TICKS, KEY_IDLE };
	static const struct str ids[] = { STR_INIT("u1"), STR_INIT("x") };
	char text[STATE_KEY_MAX];
	struct key_parts k;
	struct str key;
	size_t i, n;

	ck_assert_str_eq(STATE_FORMAT, "2");
	for (i = 0; i < NELEM(used); i++) {
		const char *p = used[i].pattern;

		for (n = 0; (p = strchr(p, '%')) != NULL; p++)
			n++;
		ck_assert_int_eq(
		    state_key(text, used[i].pattern, ids, n, &key), RC_OK);
		ck_assert_msg(key_parse(key, FORMAT_2, &k), "%s", text);
		ck_assert_int_eq(k.record, used[i].record);
	}
	for (i = 0; i < NELEM(of_buckets); i++) {
		ck_assert_int_eq(
		    state_bucket_key(text, of_buckets[i], 7, &key), RC_OK);
		ck_assert_msg(key_parse(key, FORMAT_2, &k), "%s", text);
	}
}

TEST(what_is_no_key_is_not_taken_for_one)
{
	static const char *const others[] = { "", "soul:", "soul:format",
		"soul:session:{u1}", "soul:session:{u1:s1", "soul:session:{:s}",
		"soul:session:{u1:s1}:message",
		"soul:session:{u1:s1}:messagess",
		"soul:session:{u1:s1}:retry:1:", "soul:session:{~:s1}",
		/* "u1" is written otherwise, and is of another bucket. */
		"soul:session:{~dTE:s1}", "soul:session:{b0479}:u1:s1",
		"soul:session:{b478}:u1:s1", "soul:session:{b0478}:u1",
		"soul:session:{b0478}:u1:s1:x", "soul:idle:{b012}:1",
		"soul:idle:{c0123}:1", "soul:credentials:{other}:1",
		"other:session:{u1:s1}" };
	struct key_parts k;
	size_t i;

	for (i = 0; i < NELEM(others); i++) {
		ck_assert_msg(!key_parse(str_of(others[i]), FORMAT_1, &k) &&
			!key_parse(str_of(others[i]), FORMAT_2, &k),
		    "%s", others[i]);
	}
}

TEST(a_soul_without_an_owner_has_no_key_of_format_2)
{
	char text[STATE_KEY_MAX];
	struct str key;

	ck_assert_int_eq(
	    key_rename(STR("soul:soul:{x}"), FORMAT_1, STR(""), text, &key),
	    RC_NOENT);
	ck_assert_int_eq(key_rename(STR("soul:soul:{x}"), FORMAT_1,
			     STR("not a token"), text, &key),
	    RC_INVALID);
	ck_assert_int_eq(key_rename(STR("soul:ticks:interval:1"), FORMAT_1,
			     STR("u1"), text, &key),
	    RC_NOENT);
}

TEST(an_idle_session_has_the_set_of_its_user)
{
	static const char *const others[] = { "", "u1", ":", "u1:", ":s1",
		"u1:s1:x", "~:s1" };
	char text[STATE_KEY_MAX];
	struct str key;
	size_t i;

	ck_assert_int_eq(key_idle(STR("u1:s1"), text, &key), RC_OK);
	ck_assert_str_eq(text, "soul:idle:{b0478}:1");
	ck_assert_int_eq(key_idle(STR(ADA ":s1"), text, &key), RC_OK);
	ck_assert_str_eq(text, "soul:idle:{b0171}:1");
	for (i = 0; i < NELEM(others); i++)
		ck_assert_int_eq(
		    key_idle(str_of(others[i]), text, &key), RC_INVALID);
}
