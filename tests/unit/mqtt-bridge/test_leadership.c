/* Leadership: the lease, and the order of subscribing. */
#include "presence/leadership.h"
#include "testkit/testkit.h"

static struct mono
time_at(int64_t ms)
{
	return (struct mono){ 1000000000 + ms * 1000000 };
}

static enum leadership_change
lease_reply_at(struct leadership *l, enum rc rc, int64_t epoch, int64_t ms)
{
	struct lease_reply a = { rc, epoch, time_at(ms) };

	return leadership_update(l, &a, time_at(ms + 1));
}

TEST(a_lease_is_won_and_lost)
{
	struct leadership l = LEADERSHIP_INIT;

	ck_assert_int_eq(leadership_due(&l).ns, 0);
	ck_assert_int_eq(leadership_next_filter(&l, time_at(0)), -1);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 0, 0), LEADERSHIP_SAME);
	ck_assert_int_eq(lease_reply_at(&l, RC_DOWN, 0, 100), LEADERSHIP_SAME);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 7, 200), LEADERSHIP_WON);
	ck_assert_int_eq(l.epoch, 7);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 7, 900), LEADERSHIP_SAME);
	/* The lease is valid until its TTL, even if it cannot be renewed. */
	ck_assert_int_eq(
	    lease_reply_at(&l, RC_TIMEOUT, 0, 1500), LEADERSHIP_SAME);
	ck_assert_int_eq(lease_reply_at(&l, RC_DOWN, 0, 900 + LEASE_TTL_MS - 2),
	    LEADERSHIP_SAME);
	ck_assert_int_eq(lease_reply_at(&l, RC_DOWN, 0, 900 + LEASE_TTL_MS - 1),
	    LEADERSHIP_LOST);
	ck_assert_int_eq(l.epoch, 0);
	ck_assert_int_eq(lease_reply_at(&l, RC_DOWN, 0, 9000), LEADERSHIP_SAME);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 8, 9100), LEADERSHIP_WON);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 0, 9200), LEADERSHIP_LOST);
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 9, 9300), LEADERSHIP_WON);
	/* A new epoch is a new lease: the old one expired in between. */
	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 11, 9400), LEADERSHIP_WON);
	ck_assert(leadership_drop(&l));
	ck_assert(!leadership_drop(&l));
}

TEST(filters_are_subscribed_one_at_a_time)
{
	struct leadership l = LEADERSHIP_INIT;
	int64_t t = 0;

	ck_assert_int_eq(lease_reply_at(&l, RC_OK, 1, t), LEADERSHIP_WON);
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(t)), FILTER_HEARTBEAT);
	/* Nothing more is subscribed before the SUBACK. */
	ck_assert_int_eq(leadership_due(&l).ns, 0);
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t + 5000)), -1);
	leadership_subscribed(&l, FILTER_SKILLS, time_at(t));
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t + 5000)), -1);
	/* Heartbeats are not retained, so there is no replay to wait for. */
	leadership_subscribed(&l, FILTER_HEARTBEAT, time_at(t));
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t)), FILTER_ONLINE);
	leadership_replayed(
	    &l, time_at(t + 1)); /* before the SUBACK: not counted */
	ck_assert_int_eq(leadership_due(&l).ns, 0);
	leadership_subscribed(&l, FILTER_ONLINE, time_at(t));
	ck_assert_int_eq(
	    leadership_due(&l).ns, time_at(t + REPLAY_QUIET_MS).ns);
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(t + REPLAY_QUIET_MS - 1)), -1);
	leadership_replayed(&l, time_at(t + 10));
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(t + REPLAY_QUIET_MS)), -1);
	t += 10 + REPLAY_QUIET_MS;
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t)), FILTER_SKILLS);
	leadership_subscribed(&l, FILTER_SKILLS, time_at(t));
	t += REPLAY_QUIET_MS;
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(t)), FILTER_CATALOG);
	leadership_subscribed(&l, FILTER_CATALOG, time_at(t));
	t += REPLAY_QUIET_MS;
	ck_assert_int_eq(l.subscribing, FILTER_CATALOG);
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t)), -1);
	ck_assert_int_eq(l.subscribing, -1);
	ck_assert_int_eq(leadership_due(&l).ns, 0);
	ck_assert_int_eq(leadership_next_filter(&l, time_at(t + 99999)), -1);
}

static void
subscribe_all_filters(struct leadership *l)
{
	int i, filter;

	ck_assert_int_eq(lease_reply_at(l, RC_OK, 1, 0), LEADERSHIP_WON);
	for (i = 0; i < FILTERS_N; i++) {
		filter = leadership_next_filter(l, time_at(1000 * i));
		ck_assert_int_eq(filter, i);
		leadership_subscribed(l, filter, time_at(1000 * i));
	}
	ck_assert_int_eq(leadership_next_filter(l, time_at(1000 * i)), -1);
}

TEST(lost_reports_are_replayed)
{
	struct leadership l = LEADERSHIP_INIT;

	leadership_resubscribe(&l, 1U << FILTER_SKILLS, time_at(0));
	ck_assert_int_eq(leadership_due(&l).ns, 0);
	subscribe_all_filters(&l);
	leadership_resubscribe(&l, 1U << FILTER_SKILLS, time_at(9000));
	ck_assert_int_eq(
	    leadership_due(&l).ns, time_at(9000 + REPLAY_RETRY_MS).ns);
	/* Another loss does not postpone it. */
	leadership_resubscribe(&l, 1U << FILTER_SKILLS, time_at(9500));
	ck_assert_int_eq(
	    leadership_due(&l).ns, time_at(9000 + REPLAY_RETRY_MS).ns);
	ck_assert_int_eq(leadership_next_filter(&l, time_at(9000)), -1);
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(9000 + REPLAY_RETRY_MS)),
	    FILTER_SKILLS);
	/* Lost while it is being replayed. */
	leadership_resubscribe(
	    &l, 1U << FILTER_SKILLS | 1U << FILTER_ONLINE, time_at(12000));
	leadership_subscribed(&l, FILTER_SKILLS, time_at(12000));
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(20000)), FILTER_ONLINE);
	leadership_subscribed(&l, FILTER_ONLINE, time_at(20000));
	ck_assert_int_eq(
	    leadership_next_filter(&l, time_at(21000)), FILTER_SKILLS);
	leadership_subscribed(&l, FILTER_SKILLS, time_at(21000));
	ck_assert_int_eq(leadership_next_filter(&l, time_at(22000)), -1);
	ck_assert_int_eq(leadership_due(&l).ns, 0);
}
