/* Leading: the lease, and the order of subscribing. */
#include "lead.h"
#include "testkit/testkit.h"

static struct mono
at(int64_t ms)
{
	return (struct mono){ 1000000000 + ms * 1000000 };
}

static enum lead_change
lease(struct lead *l, enum rc rc, int64_t epoch, int64_t ms)
{
	struct lead_answer a = { rc, epoch, at(ms) };

	return lead_lease(l, &a, at(ms + 1));
}

TEST(winning_and_losing)
{
	struct lead l = LEAD_INIT;

	ck_assert_int_eq(lead_due(&l).ns, 0);
	ck_assert_int_eq(lead_next(&l, at(0)), -1);
	ck_assert_int_eq(lease(&l, RC_OK, 0, 0), LEAD_SAME);
	ck_assert_int_eq(lease(&l, RC_DOWN, 0, 100), LEAD_SAME);
	ck_assert_int_eq(lease(&l, RC_OK, 7, 200), LEAD_WON);
	ck_assert_int_eq(l.epoch, 7);
	ck_assert_int_eq(lease(&l, RC_OK, 7, 900), LEAD_SAME);
	/* It is ours until it must have ended, whatever cannot be asked. */
	ck_assert_int_eq(lease(&l, RC_TIMEOUT, 0, 1500), LEAD_SAME);
	ck_assert_int_eq(
	    lease(&l, RC_DOWN, 0, 900 + LEAD_TTL_MS - 2), LEAD_SAME);
	ck_assert_int_eq(
	    lease(&l, RC_DOWN, 0, 900 + LEAD_TTL_MS - 1), LEAD_LOST);
	ck_assert_int_eq(l.epoch, 0);
	ck_assert_int_eq(lease(&l, RC_DOWN, 0, 9000), LEAD_SAME);
	ck_assert_int_eq(lease(&l, RC_OK, 8, 9100), LEAD_WON);
	ck_assert_int_eq(lease(&l, RC_OK, 0, 9200), LEAD_LOST);
	ck_assert_int_eq(lease(&l, RC_OK, 9, 9300), LEAD_WON);
	/* Another epoch is another lease: it had ended meanwhile. */
	ck_assert_int_eq(lease(&l, RC_OK, 11, 9400), LEAD_WON);
	ck_assert(lead_drop(&l));
	ck_assert(!lead_drop(&l));
}

TEST(one_filter_at_a_time)
{
	struct lead l = LEAD_INIT;
	int64_t t = 0;

	ck_assert_int_eq(lease(&l, RC_OK, 1, t), LEAD_WON);
	ck_assert_int_eq(lead_next(&l, at(t)), LEAD_HEARTBEAT);
	/* Without an answer nothing goes on. */
	ck_assert_int_eq(lead_due(&l).ns, 0);
	ck_assert_int_eq(lead_next(&l, at(t + 5000)), -1);
	lead_answered(&l, LEAD_SKILLS, at(t));
	ck_assert_int_eq(lead_next(&l, at(t + 5000)), -1);
	/* No heartbeat is kept, so there is none to wait for. */
	lead_answered(&l, LEAD_HEARTBEAT, at(t));
	ck_assert_int_eq(lead_next(&l, at(t)), LEAD_ONLINE);
	lead_replayed(&l, at(t + 1)); /* before the answer: not counted */
	ck_assert_int_eq(lead_due(&l).ns, 0);
	lead_answered(&l, LEAD_ONLINE, at(t));
	ck_assert_int_eq(lead_due(&l).ns, at(t + LEAD_QUIET_MS).ns);
	ck_assert_int_eq(lead_next(&l, at(t + LEAD_QUIET_MS - 1)), -1);
	lead_replayed(&l, at(t + 10));
	ck_assert_int_eq(lead_next(&l, at(t + LEAD_QUIET_MS)), -1);
	t += 10 + LEAD_QUIET_MS;
	ck_assert_int_eq(lead_next(&l, at(t)), LEAD_SKILLS);
	lead_answered(&l, LEAD_SKILLS, at(t));
	t += LEAD_QUIET_MS;
	ck_assert_int_eq(lead_next(&l, at(t)), LEAD_CATALOG);
	lead_answered(&l, LEAD_CATALOG, at(t));
	t += LEAD_QUIET_MS;
	ck_assert_int_eq(l.asking, LEAD_CATALOG);
	ck_assert_int_eq(lead_next(&l, at(t)), -1);
	ck_assert_int_eq(l.asking, -1);
	ck_assert_int_eq(lead_due(&l).ns, 0);
	ck_assert_int_eq(lead_next(&l, at(t + 99999)), -1);
}

static void
catch_up(struct lead *l)
{
	int i, filter;

	ck_assert_int_eq(lease(l, RC_OK, 1, 0), LEAD_WON);
	for (i = 0; i < LEAD_FILTERS; i++) {
		filter = lead_next(l, at(1000 * i));
		ck_assert_int_eq(filter, i);
		lead_answered(l, filter, at(1000 * i));
	}
	ck_assert_int_eq(lead_next(l, at(1000 * i)), -1);
}

TEST(what_was_lost_is_asked_for_again)
{
	struct lead l = LEAD_INIT;

	lead_again(&l, 1U << LEAD_SKILLS, at(0));
	ck_assert_int_eq(lead_due(&l).ns, 0);
	catch_up(&l);
	lead_again(&l, 1U << LEAD_SKILLS, at(9000));
	ck_assert_int_eq(lead_due(&l).ns, at(9000 + LEAD_AGAIN_MS).ns);
	/* More of the same does not put it off. */
	lead_again(&l, 1U << LEAD_SKILLS, at(9500));
	ck_assert_int_eq(lead_due(&l).ns, at(9000 + LEAD_AGAIN_MS).ns);
	ck_assert_int_eq(lead_next(&l, at(9000)), -1);
	ck_assert_int_eq(lead_next(&l, at(9000 + LEAD_AGAIN_MS)), LEAD_SKILLS);
	/* Lost again while it is being sent. */
	lead_again(&l, 1U << LEAD_SKILLS | 1U << LEAD_ONLINE, at(12000));
	lead_answered(&l, LEAD_SKILLS, at(12000));
	ck_assert_int_eq(lead_next(&l, at(20000)), LEAD_ONLINE);
	lead_answered(&l, LEAD_ONLINE, at(20000));
	ck_assert_int_eq(lead_next(&l, at(21000)), LEAD_SKILLS);
	lead_answered(&l, LEAD_SKILLS, at(21000));
	ck_assert_int_eq(lead_next(&l, at(22000)), -1);
	ck_assert_int_eq(lead_due(&l).ns, 0);
}
