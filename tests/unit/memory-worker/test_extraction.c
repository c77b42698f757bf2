/* Reading a model's completion. */
#include "core/mem.h"
#include "summary/extraction.h"
#include "testkit/testkit.h"

#define STATED                                \
	"我叫小明\n"                      \
	"我最喜欢普洱茶\n"             \
	"我对花生过敏\n"                \
	"我养了一只叫小花的橘猫\n" \
	"明天要去看牙医\n"

static const struct memory_policy default_policy = { STR_INIT(STATED),
	STR_INIT(""), NULL, 0 };

static struct arena *a;

static struct extraction
read_as(const struct memory_policy *policy, const char *answer, enum rc want)
{
	struct extraction e;

	a = arena_new(1UL << 20);
	ck_assert_int_eq(
	    extraction_read(str_of(answer), policy, 3, a, &e), want);
	return e;
}

static struct extraction
read(const char *answer)
{
	return read_as(&default_policy, answer, RC_OK);
}

static void
ck_str(struct str s, const char *want)
{
	ck_assert_msg(str_eq(s, str_of(want)), "%.*s", STR_ARG(s));
}

TEST(an_object_is_read)
{
	struct extraction e =
	    read("好的：```json\n{\"summary\":\"用户改喝普洱。\",\"memories\":["
		 "{\"text\":\"用户最喜欢的茶是普洱茶\",\"type\":\"fact\","
		 "\"replaces\":[2,2,9,0,-1,\"1\"],\"tags\":[\"茶\",7,\"\"]},"
		 "{\"text\":\"用户2026-11-24要去看牙医\",\"type\":\"episode\"},"
		 "\"用户对花生过敏\"],"
		 "\"profile\":{\"name\":\"小明\","
		 "\"preferences\":{\"茶\":\"普洱茶\"},\"old\":null}}\n```");

	ck_str(e.line, "用户改喝普洱。");
	ck_assert_uint_eq(e.n, 3);
	ck_str(e.memory[0].text, "用户最喜欢的茶是普洱茶");
	ck_assert_int_eq(e.memory[0].type, WIRE_MEMORY_TYPE_FACT);
	ck_assert_uint_eq(e.memory[0].n_replaces, 1);
	ck_assert_uint_eq(e.memory[0].replaces[0], 1);
	ck_assert_uint_eq(e.memory[0].n_tags, 1);
	ck_str(e.memory[0].tags[0], "茶");
	ck_assert_int_eq(e.memory[1].type, WIRE_MEMORY_TYPE_EPISODE);
	ck_str(e.memory[2].text, "用户对花生过敏");
	ck_str(e.profile,
	    "{\"user_profile\":{\"name\":\"小明\","
	    "\"preferences\":{\"茶\":\"普洱茶\"},\"old\":null}}");
	ck_assert_uint_eq(e.dropped, 0);
	arena_free(a);
}

TEST(what_was_not_stated_is_left_out)
{
	struct extraction e = read(
	    "{\"summary\":\"无\",\"memories\":["
	    "{\"text\":\"用户住在火星\"},{\"text\":\"用户询问了牙医\"},"
	    "{\"text\":\"\"},{\"text\":7},null,[],"
	    "{\"text\":\"用户养了橘猫\",\"type\":\"nonsense\"}],"
	    "\"profile\":{\"name\":\"约翰\",\"tags\":[\"小花\",\"狗\",1]}}");

	ck_str(e.line, "");
	ck_assert_uint_eq(e.n, 1);
	ck_str(e.memory[0].text, "用户养了橘猫");
	ck_assert_int_eq(e.memory[0].type, WIRE_MEMORY_TYPE_FACT);
	ck_assert_uint_eq(e.dropped, 2);
	ck_str(e.profile, "{\"user_profile\":{\"tags\":[\"小花\"]}}");
	arena_free(a);
}

TEST(a_plain_text_is_one_memory)
{
	struct extraction e = read("用户喜欢普洱茶，养了橘猫。");

	ck_str(e.line, "用户喜欢普洱茶，养了橘猫。");
	ck_assert_uint_eq(e.n, 1);
	ck_str(e.memory[0].text, "用户喜欢普洱茶，养了橘猫。");
	ck_assert_int_eq(e.memory[0].type, WIRE_MEMORY_TYPE_EPISODE);
	ck_assert_ptr_null(e.profile.p);
	arena_free(a);
	e = read("无");
	ck_str(e.line, "");
	ck_assert_uint_eq(e.n, 0);
	arena_free(a);
	/* A line for the session, but no memory. */
	e = read("他们互相问好。");
	ck_str(e.line, "他们互相问好。");
	ck_assert_uint_eq(e.n, 0);
	ck_assert_uint_eq(e.dropped, 1);
	arena_free(a);
}

TEST(malformed_completions_are_rejected)
{
	(void)read_as(&default_policy, "", RC_NOENT);
	arena_free(a);
	(void)read_as(&default_policy, " \n ", RC_NOENT);
	arena_free(a);
	(void)read_as(&default_policy, "{\"summary\":\"用户喜", RC_INVALID);
	arena_free(a);
	(void)read_as(&default_policy, "```json\n[1,2]\n```", RC_INVALID);
	arena_free(a);
	(void)read_as(&default_policy, "{}", RC_INVALID);
	arena_free(a);
}

TEST(limits_are_enforced)
{
	struct buf b = BUF_INIT(1UL << 20);
	struct extraction e;
	int i;

	buf_puts(&b, "{\"memories\":[");
	for (i = 0; i < 100; i++)
		buf_printf(&b,
		    "%s{\"text\":\"用户对花生过敏%d\",\"tags\":[\"1\",\"2\","
		    "\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"],"
		    "\"replaces\":[1,2,3,1,2,3]}",
		    i > 0 ? "," : "", i);
	buf_puts(&b,
	    "],\"profile\":{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":"
	    "\"小明\"}}}}}}");
	buf_putc(&b, '\0');
	e = read(buf_str(&b).p);
	ck_assert_uint_eq(e.n, EXTRACTION_MAX);
	ck_assert_uint_eq(e.memory[7].n_tags, EXTRACTION_TAGS_MAX);
	ck_assert_uint_eq(e.memory[7].n_replaces, EXTRACTION_REPLACES_MAX);
	ck_assert_ptr_null(e.profile.p);
	arena_free(a);
	buf_free(&b);
}
