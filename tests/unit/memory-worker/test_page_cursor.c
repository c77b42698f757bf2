/* Cursors of a list: their order and their text. */
#include "core/mem.h"
#include "recall/page_cursor.h"
#include "testkit/testkit.h"

static const struct page_cursor order[] = {
	{ { 0 }, STR_INIT("z"), { 9 }, STR_INIT("z") },
	{ { 5 }, STR_INIT("a"), { 0 }, STR_INIT("b") },
	{ { 5 }, STR_INIT("a"), { 7 }, STR_INIT("a") },
	{ { 5 }, STR_INIT("a"), { 7 }, STR_INIT("a.") },
	{ { 5 }, STR_INIT("a"), { 7 }, STR_INIT("b") },
	{ { 5 }, STR_INIT("a"), { 8 }, STR_INIT("a") },
	{ { 5 }, STR_INIT("灵.魂"), { 0 }, STR_INIT("~") },
	{ { 6 }, STR_INIT("a"), { 0 }, STR_INIT("..") },
};

static int
sign(int v)
{
	return (v > 0) - (v < 0);
}

TEST(cursors_are_ordered)
{
	size_t i, j;

	for (i = 0; i < NELEM(order); i++)
		for (j = 0; j < NELEM(order); j++)
			ck_assert_int_eq(
			    sign(page_cursor_compare(&order[i], &order[j])),
			    i < j ? -1 : i > j);
	ck_assert_int_eq(page_cursor_compare_soul(&order[1], &order[5]), 0);
}

TEST(a_cursor_survives_its_text)
{
	struct arena *a = arena_new(4096);
	struct page_cursor p;
	struct str s;
	size_t i;

	for (i = 0; i < NELEM(order); i++) {
		arena_reset(a);
		s = page_cursor_write(&order[i], a);
		ck_assert_int_eq(page_cursor_read(s, a, &p), RC_OK);
		ck_assert_int_eq(page_cursor_compare(&p, &order[i]), 0);
	}
	arena_free(a);
}

TEST(malformed_cursors_are_rejected)
{
	static const char *const bad[] = { "", ".", "...", "1.a.2", "1.a.2.b.",
		"1.a.2.b.c", "-1.a.2.b", "1.a.x.b", "1..2.b", "1.a b.2.c",
		"1.a.2.~", "1.a.99999999999999999999.b" };
	struct arena *a = arena_new(4096);
	struct page_cursor p;
	size_t i;

	for (i = 0; i < NELEM(bad); i++)
		ck_assert_msg(
		    page_cursor_read(str_of(bad[i]), a, &p) == RC_INVALID, "%s",
		    bad[i]);
	arena_free(a);
}
