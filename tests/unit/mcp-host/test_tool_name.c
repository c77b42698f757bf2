/* Model-facing names, and the way back from what a model writes. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tool_name.h"

static void
name_is(const struct tool_names *t, size_t i, const char *want)
{
	struct str s = tool_names_at(t, i);

	ck_assert_msg(str_eq(s, str_of(want)), "%.*s", STR_ARG(s));
}

TEST(a_name_is_that_of_server_and_tool_in_the_models_alphabet)
{
	const struct tool_origin list[] = { { STR("fs"), STR("read_file") },
		{ STR("my server"), STR("a/b.c d") },
		{ STR("家"), STR("开") } };
	struct tool_names *t = tool_names_new(list, NELEM(list));

	name_is(t, 0, "fs__read_file");
	name_is(t, 1, "my_server__a_b_c_d");
	name_is(t, 2,
	    "_____"
	    "___");
	ck_assert_uint_eq(tool_names_find(t, STR("fs__read_file")), 0);
	ck_assert_uint_eq(tool_names_find(t, STR("my_server__a_b_c_d")), 1);
	ck_assert_uint_eq(
	    tool_names_find(t, STR("fs__other")), TOOL_NAMES_NONE);
	tool_names_free(t);
}

TEST(names_that_clash_have_digests_whatever_their_order)
{
	const struct tool_origin one[] = { { STR("a.b"), STR("c") },
		{ STR("a_b"), STR("c") }, { STR("a"), STR("b__c") },
		{ STR("a__b"), STR("c") } };
	const struct tool_origin two[] = { one[3], one[2], one[1], one[0] };
	struct tool_names *t = tool_names_new(one, NELEM(one));
	struct tool_names *u = tool_names_new(two, NELEM(two));
	size_t i, k;

	for (i = 0; i < NELEM(one); i++) {
		struct str s = tool_names_at(t, i);

		ck_assert(str_eq(s, tool_names_at(u, NELEM(one) - 1 - i)));
		ck_assert_uint_eq(tool_names_find(t, s), i);
		for (k = 0; k < i; k++)
			ck_assert(!str_eq(s, tool_names_at(t, k)));
	}
	ck_assert(str_starts(tool_names_at(t, 0), STR("a_b__c_")));
	/* The form without a digest is nobody's. */
	ck_assert_uint_eq(tool_names_find(t, STR("a_b__c")), TOOL_NAMES_NONE);
	tool_names_free(t);
	tool_names_free(u);
}

TEST(a_long_name_is_cut_and_stays_unique)
{
	char server[129], tool[2][129];
	struct tool_origin list[2];
	struct tool_names *t;
	size_t i;

	memset(server, 's', 40);
	server[40] = '\0';
	for (i = 0; i < 2; i++) {
		memset(tool[i], 't', 128);
		tool[i][127] = (char)('0' + i);
		tool[i][128] = '\0';
		list[i] =
		    (struct tool_origin){ str_of(server), str_of(tool[i]) };
	}
	t = tool_names_new(list, 2);
	for (i = 0; i < 2; i++) {
		ck_assert_uint_eq(tool_names_at(t, i).n, TOOL_NAME_MAX);
		ck_assert_uint_eq(tool_names_find(t, tool_names_at(t, i)), i);
	}
	ck_assert(!str_eq(tool_names_at(t, 0), tool_names_at(t, 1)));
	tool_names_free(t);
}

TEST(a_tool_cannot_take_the_name_of_another_one)
{
	/* The second tool is called as the first one with its digest. */
	const struct tool_origin before[] = { { STR("a.b"), STR("c") },
		{ STR("a_b"), STR("c") } };
	struct tool_names *t = tool_names_new(before, 2);
	char stolen[TOOL_NAME_MAX + 1];
	struct tool_origin list[3];

	str_copy(tool_names_at(t, 0), stolen, sizeof(stolen));
	tool_names_free(t);
	list[0] = before[0];
	list[1] = before[1];
	list[2] = (struct tool_origin){ STR("a_b"), str_of(stolen + 5) };
	t = tool_names_new(list, 3);
	ck_assert_uint_eq(tool_names_find(t, str_of(stolen)), 0);
	ck_assert_uint_eq(tool_names_at(t, 2).n, 0);
	tool_names_free(t);
}

TEST(a_tool_that_is_listed_twice_has_one_name)
{
	const struct tool_origin list[] = { { STR("a"), STR("b") },
		{ STR("a"), STR("b") } };
	struct tool_names *t = tool_names_new(list, 2);

	name_is(t, 0, "a__b");
	name_is(t, 1, "");
	tool_names_free(t);
}

TEST(bare_names_and_single_underscores_are_understood_if_unambiguous)
{
	const struct tool_origin list[] = {
		{ STR("puppeteer"), STR("navigate") },
		{ STR("other"), STR("puppeteer_click") },
		{ STR("one"), STR("get.it") },
		{ STR("two"), STR("get.it") },
	};
	struct tool_names *t = tool_names_new(list, NELEM(list));

	ck_assert_uint_eq(tool_names_find(t, STR("puppeteer_navigate")), 0);
	ck_assert_uint_eq(tool_names_find(t, STR("navigate")), 0);
	ck_assert_uint_eq(tool_names_find(t, STR("puppeteer_click")), 1);
	ck_assert_uint_eq(tool_names_find(t, STR("get.it")), TOOL_NAMES_NONE);
	ck_assert_uint_eq(tool_names_find(t, STR("get_it")), TOOL_NAMES_NONE);
	ck_assert_uint_eq(tool_names_find(t, STR("one_get_it")), 2);
	ck_assert_uint_eq(tool_names_find(t, STR("")), TOOL_NAMES_NONE);
	tool_names_free(t);
}

TEST(ten_thousand_tools_have_as_many_names)
{
	static char text[10000][16];
	static struct tool_origin list[10000];
	struct tool_names *t;
	size_t i;

	for (i = 0; i < NELEM(list); i++) {
		snprintf(text[i], sizeof(text[i]), "t%zu", i);
		list[i] = (struct tool_origin){ STR("s"), str_of(text[i]) };
	}
	t = tool_names_new(list, NELEM(list));
	for (i = 0; i < NELEM(list); i++)
		ck_assert_uint_eq(tool_names_find(t, tool_names_at(t, i)), i);
	tool_names_free(t);
}
