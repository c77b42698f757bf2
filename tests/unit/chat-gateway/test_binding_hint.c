/*
 * Which souls match a hint.
 */
#include "core/mem.h"
#include "state/soul.h"
#include "terminals/binding.h"
#include "testkit/testkit.h"

static const struct soul souls[] = {
	{ .id = STR_INIT("soul_1"), .name = STR_INIT("friendly") },
	{ .id = STR_INIT("soul_2"), .name = STR_INIT("小灵") },
	{ .id = STR_INIT("soul_3"), .name = STR_INIT("soul_1") },
	/* Its name equals its id. */
	{ .id = STR_INIT("soul_4"), .name = STR_INIT("soul_4") },
};

static const struct {
	const char *hint;
	size_t matches;
	const char *id;
} rows[] = {
	{ "friendly", 1, "soul_1" },
	{ "小灵", 1, "soul_2" },
	{ "soul_2", 1, "soul_2" },
	{ "soul_3", 1, "soul_3" },
	{ "soul_4", 1, "soul_4" },
	{ "soul_1", 2, NULL },
	{ "Friendly", 0, NULL },
	{ "friendl", 0, NULL },
	{ "friendly ", 0, NULL },
	{ "soul_", 0, NULL },
	{ "", 0, NULL },
};

TEST(a_hint_names_a_soul_by_id_or_name)
{
	const struct soul *found;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_uint_eq(binding_match_hint(souls, NELEM(souls),
				      str_of(rows[i].hint), &found),
		    rows[i].matches);
		ck_assert_int_eq(found == NULL, rows[i].matches == 0);
		if (rows[i].matches == 1)
			ck_assert(str_eq(found->id, str_of(rows[i].id)));
	}
}

TEST(no_souls_match_no_hint)
{
	const struct soul *found = souls;

	ck_assert_uint_eq(binding_match_hint(NULL, 0, STR("x"), &found), 0);
	ck_assert_ptr_null(found);
	found = souls;
	ck_assert_uint_eq(binding_match_hint(souls, NELEM(souls),
			      (struct str){ NULL, 0 }, &found),
	    0);
	ck_assert_ptr_null(found);
}
