/* What turns did, by user, the newest first. */
#include <stdio.h>

#include "state/turn_detail.h"
#include "testkit/state_fixture.h"

STATE_FIXTURE_ON_CLUSTER

static void
put(struct state_fixture *b, const char *turn, int64_t at)
{
	char detail[64];

	snprintf(detail, sizeof(detail), "{\"of\":\"%s\"}", turn);
	OK(turn_detail_put(b->s,
	    &(struct turn_detail){ STR("one/u"), str_of(turn), { at },
		3600 * 1000, str_of(turn), str_of(detail) }));
}

/* A page of max; its summaries, each with a comma. */
static void
page_is(struct state_fixture *b, struct turn_detail_page *p, size_t max,
    const char *want)
{
	char have[256] = "";
	size_t i, n = 0;

	p->max = max;
	OK(turn_detail_list(b->s, STR("one/u"), b->a, p));
	for (i = 0; i < p->n; i++)
		n += (size_t)snprintf(have + n, sizeof(have) - n, "%.*s,",
		    STR_ARG(p->summary[i]));
	ck_assert_str_eq(have, want);
	p->after = p->next;
}

TEST(pages_are_in_order_and_complete)
{
	struct turn_detail_page p = { .max = 1 };
	struct state_fixture b;

	state_fixture_start(&b);
	page_is(&b, &p, 5, "");
	ck_assert_ptr_null(p.next.p);
	/* Two began in the same millisecond. */
	put(&b, "t1", 1000);
	put(&b, "t2", 2000);
	put(&b, "t3", 2000);
	put(&b, "t4", 3000);
	page_is(&b, &p, 2, "t4,t3,");
	page_is(&b, &p, 1, "t2,");
	page_is(&b, &p, 1, "t1,");
	ck_assert_ptr_null(p.next.p);
	/* The same turn is stored once. */
	put(&b, "t4", 3000);
	p = (struct turn_detail_page){ .max = 1 };
	page_is(&b, &p, 100, "t4,t3,t2,t1,");
	p.after = STR("x");
	ck_assert_int_eq(
	    turn_detail_list(b.s, STR("one/u"), b.a, &p), RC_INVALID);
	p.after = STR("1:");
	ck_assert_int_eq(
	    turn_detail_list(b.s, STR("one/u"), b.a, &p), RC_INVALID);
	state_fixture_stop(&b);
}

TEST(one_is_read_by_its_user_and_deleted_with_all)
{
	struct turn_detail_page p = { .max = 1 };
	struct state_fixture b;
	struct str json;

	state_fixture_start(&b);
	put(&b, "t1", 1000);
	OK(turn_detail_read(b.s, STR("one/u"), STR("t1"), b.a, &json));
	ck_assert(str_eq(json, STR("{\"of\":\"t1\"}")));
	ck_assert_int_eq(
	    turn_detail_read(b.s, STR("two/u"), STR("t1"), b.a, &json),
	    RC_NOENT);
	OK(turn_detail_wipe(b.s, STR("one/u")));
	ck_assert_int_eq(
	    turn_detail_read(b.s, STR("one/u"), STR("t1"), b.a, &json),
	    RC_NOENT);
	page_is(&b, &p, 5, "");
	state_fixture_stop(&b);
}

TEST_T(the_oldest_of_many_are_removed, 60)
{
	struct turn_detail_page p = { .max = 1 };
	struct state_fixture b;
	struct str json;
	char turn[16];
	size_t n = 0;

	state_fixture_start(&b);
	for (int i = 0; i <= TURN_DETAIL_TURNS_MAX; i++) {
		snprintf(turn, sizeof(turn), "t%d", i);
		put(&b, turn, 1000 + i);
	}
	ck_assert_int_eq(
	    turn_detail_read(b.s, STR("one/u"), STR("t0"), b.a, &json),
	    RC_NOENT);
	OK(turn_detail_read(b.s, STR("one/u"), STR("t1"), b.a, &json));
	p.max = TURN_DETAIL_PAGE_MAX;
	do {
		OK(turn_detail_list(b.s, STR("one/u"), b.a, &p));
		n += p.n;
		p.after = p.next;
	} while (p.next.p != NULL);
	ck_assert_uint_eq(n, TURN_DETAIL_TURNS_MAX);
	state_fixture_stop(&b);
}
