/*
 * Durable consumers over the end of a member and of the server.
 */
#include "jobs.h"

TEST(a_member_that_comes_back_goes_on_where_it_stood)
{
	static struct seen first, later;
	struct bed e;
	struct bus_consumer c = jobs_consumer(&first);
	struct bus *b;
	bool drained = false;

	bed_start(&e);
	jobs_make(&e);
	put_many(&e, 20);
	b = bed_bus(&e, "first");
	consume(&e, b, &c);
	ck_assert(seen_until(&e, &first, 20, 20));
	bus_drain(b, bed_set, &drained);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	bus_free(b);
	put_many(&e, 50);
	c = jobs_consumer(&later);
	consume(&e, e.bus, &c);
	ck_assert(seen_until(&e, &later, 30, 30));
	ck_assert_int_eq(first.n, 20);
	ck_assert_int_eq(later.n, 30);
	ck_assert_int_eq(later.times[19], 0);
	bed_stop(&e);
}

TEST(what_a_dead_member_held_goes_to_another)
{
	static struct seen dead, heir;
	struct bed e;
	struct bus_consumer c = jobs_consumer(&dead);
	struct bus *b;

	bed_start(&e);
	jobs_make(&e);
	put_many(&e, 10);
	b = bed_bus(&e, "dead");
	dead.how = HOLD;
	c.ack_wait_ms = 500;
	consume(&e, b, &c);
	ck_assert(seen_until(&e, &dead, 10, 10));
	while (dead.n_held > 0)
		bus_msg_free(dead.held[--dead.n_held]);
	bus_free(b);
	c = jobs_consumer(&heir);
	c.ack_wait_ms = 500;
	consume(&e, e.bus, &c);
	ck_assert(seen_until(&e, &heir, 10, 10));
	ck_assert_int_eq(heir.last.delivered, 2);
	bed_stop(&e);
}

static void
restart(struct bed *e, int sig)
{
	tk_server_stop(&e->nats, sig);
	ck_assert(bed_until(e, bed_is_down, e->bus, BED_MS));
	tk_server_restart(&e->nats);
	ck_assert(bed_until(e, bed_is_up, e->bus, BED_MS));
}

TEST_T(a_consumer_goes_on_after_the_server_was_killed, 60)
{
	static struct seen s;
	struct bed e;
	struct bus_consumer c = jobs_consumer(&s);
	struct bus_msg *held;
	int i;

	bed_start(&e);
	jobs_make(&e);
	c.ack_wait_ms = 1000;
	consume(&e, e.bus, &c);
	put_many(&e, 20);
	ck_assert(seen_until(&e, &s, 20, 20));
	s.how = HOLD;
	put_many(&e, 21);
	ck_assert(seen_until(&e, &s, 21, 21));
	held = s.held[0];
	s.n_held = 0;
	/* Its delivery was on a connection that is gone; its ack is not. */
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	s.how = ACK;
	s.wish.ok = 0;
	tk_server_restart(&e.nats);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	ck_assert_int_eq(bus_ack(held), RC_OK);
	ck_assert(bed_until(&e, is_granted, &s.wish, BED_MS));
	put_many(&e, 40);
	ck_assert(seen_until(&e, &s, 40, 40));
	for (i = 0; i < 40; i++)
		ck_assert_int_ge(s.times[i], 1);
	bed_stop(&e);
}

TEST_T(acknowledged_jobs_stay_done_over_a_restart, 60)
{
	static struct seen s;
	struct bed e;
	struct bus_consumer c = jobs_consumer(&s);

	bed_start(&e);
	jobs_make(&e);
	c.ack_wait_ms = 1000;
	consume(&e, e.bus, &c);
	put_many(&e, 30);
	ck_assert(seen_until(&e, &s, 30, 30));
	ck_assert(consumer_until(&e, "num_ack_pending", 0));
	restart(&e, SIGTERM);
	put_many(&e, 31);
	ck_assert(seen_until(&e, &s, 31, 31));
	/* Longer than ack_wait: nothing comes a second time. */
	ck_assert(!bed_until(&e, bed_never, NULL, 1500));
	ck_assert_int_eq(s.n, 31);
	bed_stop(&e);
}
