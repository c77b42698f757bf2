/*
 * Which providers are present, and the cache of their lists.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "tools/provider_table.h"
#include "tools/tool_list.h"

#define NAMES "mcp-host,alarm-clock"
#define ROOM  ((size_t)1024 * 1024)

static struct mono
at(int64_t ms)
{
	return (struct mono){ (ms + 1) * 1000000 };
}

static void
announce(struct provider_table *t, const char *name, const char *revision,
    const char *user, int64_t ms)
{
	struct wire_tool_present m = { .provider = str_of(name),
		.instance = STR("i"),
		.revision = str_of(revision),
		.user_id = str_of(user) };

	provider_table_announce(t, &m, at(ms));
}

static struct tool_list *
list(bool whole)
{
	struct str names[] = { STR_INIT("x") };
	struct wire_tool_list_reply_left_out rest = {
		.server = STR("s"), .names = names, .n_names = 1
	};
	struct wire_tool_list_reply m = {
		.revision = STR("r1"), .left_out = &rest, .n_left_out = !whole
	};
	struct tool_list *l;

	ck_assert_int_eq(tool_list_new(&m, STR("mcp-host"), &l), RC_OK);
	return l;
}

static const struct provider_user ann = { 0, STR_INIT("ann"),
	STR_INIT("soul") };
static const struct provider_user bob = { 0, STR_INIT("bob"),
	STR_INIT("soul") };

static void
put(struct provider_table *t, const struct provider_user *k, int64_t ms)
{
	struct tool_list *l = list(true);

	provider_table_put(t, k, l, provider_table_mark(t, 0), at(ms));
	tool_list_free(l);
}

static bool
has(struct provider_table *t, const struct provider_user *k, int64_t ms)
{
	struct tool_list *l = provider_table_get(t, k, at(ms));

	tool_list_free(l);
	return l != NULL;
}

TEST(names_are_checked)
{
	ck_assert_ptr_null(provider_names_error(STR(NAMES)));
	ck_assert_ptr_null(provider_names_error(STR(" a , b-2 ")));
	ck_assert_ptr_null(provider_names_error(STR("")));
	ck_assert_ptr_nonnull(provider_names_error(STR("a,,b")));
	ck_assert_ptr_nonnull(provider_names_error(STR("a.b")));
	ck_assert_ptr_nonnull(provider_names_error(STR("A")));
	ck_assert_ptr_nonnull(provider_names_error(STR("a,a")));
	ck_assert_ptr_nonnull(provider_names_error(STR("present")));
	ck_assert_ptr_nonnull(provider_names_error(STR("a,b,c,d,e,f,g,h,i")));
}

TEST(a_provider_is_present_for_a_while)
{
	struct provider_table *t = provider_table_new(STR(NAMES), ROOM);

	ck_assert_uint_eq(provider_table_n(t), 2);
	ck_assert(str_eq(provider_table_name(t, 1), STR("alarm-clock")));
	ck_assert(!provider_table_any(t, at(0)));
	announce(t, "unknown", "r1", NULL, 0);
	ck_assert(!provider_table_any(t, at(0)));
	announce(t, "alarm-clock", "r1", NULL, 0);
	ck_assert(provider_table_any(t, at(14999)));
	ck_assert(provider_table_is_present(t, 1, at(14999)));
	ck_assert(!provider_table_is_present(t, 0, at(0)));
	ck_assert(!provider_table_any(t, at(15000)));
	provider_table_free(t);
}

TEST(a_list_is_used_until_it_may_have_changed)
{
	struct provider_table *t = provider_table_new(STR(NAMES), ROOM);
	struct provider_user other_soul = { 0, STR_INIT("ann"),
		STR_INIT("other") };

	announce(t, "mcp-host", "r1", NULL, 0);
	put(t, &ann, 0);
	put(t, &bob, 0);
	ck_assert(has(t, &ann, 59999));
	ck_assert(!has(t, &other_soul, 0));
	/* Only this user's list. */
	announce(t, "mcp-host", "r1", "ann", 0);
	ck_assert(!has(t, &ann, 0));
	ck_assert(has(t, &bob, 0));
	/* Also if the user has decided of the tools of another provider. */
	put(t, &ann, 0);
	announce(t, "alarm-clock", "r1", "ann", 0);
	ck_assert(!has(t, &ann, 0));
	ck_assert(has(t, &bob, 0));
	/* Everybody's. */
	announce(t, "mcp-host", "r2", NULL, 0);
	ck_assert(!has(t, &bob, 0));
	put(t, &bob, 0);
	ck_assert(!has(t, &bob, 60000));
	put(t, &bob, 0);
	provider_table_drop(t, &bob);
	ck_assert(!has(t, &bob, 0));
	provider_table_free(t);
}

/* The tools changed while the list was on its way; or it is not whole. */
TEST(some_lists_are_not_stored)
{
	struct provider_table *t = provider_table_new(STR(NAMES), ROOM);
	struct tool_list *whole = list(true), *part = list(false);
	uint64_t mark;

	announce(t, "mcp-host", "r1", NULL, 0);
	mark = provider_table_mark(t, 0);
	announce(t, "mcp-host", "r1", "bob", 0);
	provider_table_put(t, &ann, whole, mark, at(0));
	ck_assert(!has(t, &ann, 0));
	mark = provider_table_mark(t, 0);
	announce(t, "mcp-host", "r2", NULL, 0);
	provider_table_put(t, &ann, whole, mark, at(0));
	ck_assert(!has(t, &ann, 0));
	provider_table_put(t, &ann, part, provider_table_mark(t, 0), at(0));
	ck_assert(!has(t, &ann, 0));
	tool_list_free(whole);
	tool_list_free(part);
	provider_table_free(t);
}

TEST(the_least_recently_used_list_goes)
{
	struct provider_table *t = provider_table_new(STR(NAMES), 1);

	announce(t, "mcp-host", "r1", NULL, 0);
	put(t, &ann, 0);
	ck_assert(has(t, &ann, 0));
	put(t, &bob, 0);
	ck_assert(!has(t, &ann, 0));
	ck_assert(has(t, &bob, 0));
	provider_table_free(t);
}
