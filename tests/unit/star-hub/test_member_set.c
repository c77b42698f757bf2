/* Members of an environment, as notices and Redis tell of them. */
#include <string.h>

#include "cluster/member_set.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define BOB STR("/h//bob")
#define EVE STR("/h//eve")
#define ANN STR("/h//ann")

static char hubs[2];
#define HUB(i) ((struct peer *)(void *)&hubs[i])

TEST(the_newest_claim_is_a_member)
{
	struct member_set *r = member_set_new();

	ck_assert_int_eq(member_set_gen(r, BOB), 0);
	ck_assert_int_eq(member_set_put(r, BOB, HUB(0), 5), 0);
	ck_assert_int_eq(member_set_put(r, BOB, HUB(0), 5), 5);
	/* An older one changes nothing. */
	ck_assert_int_eq(member_set_put(r, BOB, HUB(1), 4), 5);
	ck_assert(!member_set_has(r, HUB(1)));
	ck_assert_int_eq(member_set_put(r, BOB, HUB(1), 6), 5);
	ck_assert_int_eq(member_set_gen(r, BOB), 6);
	/* Nor does its end. */
	ck_assert(!member_set_remove(r, BOB, 5));
	ck_assert(!member_set_remove(r, BOB, 7));
	ck_assert(!member_set_remove(r, EVE, 6));
	ck_assert_uint_eq(member_set_count(r), 1);
	ck_assert(member_set_remove(r, BOB, 6));
	ck_assert(!member_set_remove(r, BOB, 6));
	ck_assert_uint_eq(member_set_count(r), 0);
	member_set_free(r);
	member_set_free(NULL);
}

TEST(hubs_with_members_are_counted)
{
	struct member_set *r = member_set_new();

	ck_assert(!member_set_has(r, HUB(0)) && !member_set_has(r, NULL));
	(void)member_set_put(r, BOB, HUB(0), 1);
	(void)member_set_put(r, EVE, HUB(0), 2);
	(void)member_set_put(r, ANN, NULL, 3);
	ck_assert(member_set_has(r, HUB(0)) && member_set_has(r, NULL));
	ck_assert(!member_set_has(r, HUB(1)));
	/* One moves, one leaves, and again. */
	(void)member_set_put(r, BOB, HUB(1), 4);
	ck_assert(member_set_has(r, HUB(0)) && member_set_has(r, HUB(1)));
	ck_assert(member_set_remove(r, EVE, 2));
	ck_assert(!member_set_has(r, HUB(0)) && member_set_has(r, HUB(1)));
	(void)member_set_put(r, BOB, HUB(1), 5);
	ck_assert(member_set_has(r, HUB(1)));
	ck_assert(member_set_remove(r, ANN, 3));
	ck_assert(!member_set_has(r, NULL));
	ck_assert(member_set_remove(r, BOB, 5));
	ck_assert(!member_set_has(r, HUB(1)));
	member_set_free(r);
}

TEST(members_can_be_removed_while_they_are_iterated)
{
	static const char *const names[] = { "/h//a01", "/h//a02", "/h//a03",
		"/h//a04", "/h//a05", "/h//a06", "/h//a07" };
	struct member_set *r = member_set_new();
	const struct set_member *m;
	size_t i, n = 0, pos = 0;
	struct str key;

	for (i = 0; i < NELEM(names); i++)
		(void)member_set_put(
		    r, str_of(names[i]), HUB(i % 2), (int64_t)i + 1);
	while ((m = member_set_next(r, &pos, &key)) != NULL) {
		n++;
		if (m->peer == HUB(0))
			ck_assert(member_set_remove(r, key, m->gen));
	}
	ck_assert_uint_eq(n, NELEM(names));
	ck_assert_uint_eq(member_set_count(r), 3);
	ck_assert(!member_set_has(r, HUB(0)));
	member_set_free(r);
}

/*
 * Bob's claim 5 is in Redis when it is read, or is not.  Notices before the
 * load, while it reads, and after it: "j5": claim 5 joins, "l5": it leaves.
 */
static const struct load_row {
	const char *before, *during, *after;
	bool read;
	int64_t gen; /* that is a member in the end; 0: none */
	bool stale;  /* one was removed since it was not read */
} load_rows[] = {
	{ "", "", "", true, 5, false },
	{ "", "", "", false, 0, false },
	/* Known already. */
	{ "j5", "", "", true, 5, false },
	/* Its end was missed. */
	{ "j5", "", "", false, 0, true },
	/* So was that of an older claim. */
	{ "j4", "", "", true, 5, false },
	{ "j4", "", "", false, 0, true },
	/* It leaves after it was read. */
	{ "", "l5", "", true, 0, false },
	{ "j5", "l5", "", true, 0, false },
	{ "", "", "l5", true, 0, false },
	/* It joins after that. */
	{ "", "j5", "", false, 5, false },
	{ "", "j6", "", true, 6, false },
	{ "j5", "j6", "", true, 6, false },
	{ "", "j5 l5", "", true, 0, false },
	{ "", "l5 j6", "", true, 6, false },
	/* The ends of two claims, in the other order. */
	{ "", "l5 l4", "", true, 0, false },
	{ "", "l4 l5", "", true, 0, false },
	{ "", "l4", "", true, 5, false },
	/* What left before is in Redis again. */
	{ "j4 l4", "", "", true, 5, false },
};

static void
notices_apply(struct member_set *r, const char *notices)
{
	struct str rest = str_of(notices), one;

	while (rest.n > 0) {
		one = str_split(&rest, ' ');
		if (one.p[0] == 'j')
			(void)member_set_put(r, BOB, HUB(0), one.p[1] - '0');
		else
			(void)member_set_remove(r, BOB, one.p[1] - '0');
	}
}

TEST(what_is_read_is_merged_with_notices)
{
	const struct load_row *row;
	struct member_set *r;
	const struct set_member *m;
	struct str key;
	size_t i, pos, stale;

	for (i = 0; i < NELEM(load_rows); i++) {
		row = &load_rows[i];
		r = member_set_new();
		notices_apply(r, row->before);
		ck_assert_int_eq(member_set_load_begin(r), RC_OK);
		notices_apply(r, row->during);
		if (row->read)
			(void)member_set_load(r, BOB, HUB(0), 5);
		for (pos = stale = 0;
		     (m = member_set_load_stale(r, &pos, &key)) != NULL;
		     stale++)
			ck_assert(member_set_remove(r, key, m->gen));
		(void)member_set_load_end(r, true);
		notices_apply(r, row->after);
		ck_assert_msg(
		    member_set_gen(r, BOB) == row->gen && stale == row->stale,
		    "row %zu: %lld", i, (long long)member_set_gen(r, BOB));
		member_set_free(r);
	}
}

TEST(a_load_returns_what_was_known)
{
	struct member_set *r = member_set_new();

	(void)member_set_put(r, EVE, HUB(0), 3);
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	ck_assert_int_eq(member_set_load(r, BOB, HUB(0), 5), 0);
	ck_assert_int_eq(member_set_load(r, EVE, HUB(0), 3), 3);
	ck_assert_int_eq(member_set_load(r, EVE, HUB(0), 4), 3);
	(void)member_set_remove(r, ANN, 7);
	/* It has left since: as if it were known. */
	ck_assert_int_eq(member_set_load(r, ANN, HUB(0), 7), 7);
	(void)member_set_load_end(r, true);
	ck_assert_uint_eq(member_set_count(r), 2);
	member_set_free(r);
}

TEST(until_all_were_read_any_hub_may_have_members)
{
	struct member_set *r = member_set_new();

	ck_assert(member_set_may_have(r, HUB(0)));
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	ck_assert(member_set_may_have(r, HUB(0)));
	/* Redis was away. */
	ck_assert(!member_set_load_end(r, false));
	ck_assert(member_set_may_have(r, HUB(0)));
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	(void)member_set_put(r, BOB, HUB(1), 5);
	ck_assert(!member_set_load_end(r, true));
	ck_assert(!member_set_may_have(r, HUB(0)));
	ck_assert(member_set_may_have(r, HUB(1)));
	/* Notices may be missing. */
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	ck_assert(member_set_may_have(r, HUB(0)));
	ck_assert(!member_set_has(r, HUB(0)));
	member_set_free(r);
}

TEST(a_load_that_was_rejected_has_to_follow)
{
	struct member_set *r = member_set_new();

	ck_assert(!member_set_load_end(r, true));
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	ck_assert_int_eq(member_set_load_begin(r), RC_RETRY);
	ck_assert_int_eq(member_set_load_begin(r), RC_RETRY);
	ck_assert(member_set_load_end(r, true));
	ck_assert_int_eq(member_set_load_begin(r), RC_OK);
	ck_assert(!member_set_load_end(r, true));
	member_set_free(r);
}
