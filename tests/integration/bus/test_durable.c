/*
 * Durable consumers over the end of a member and of the server.
 */
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

TEST(a_returning_member_continues_at_its_position)
{
	static struct bus_jobs_member first, later;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&first);
	struct bus *b;
	bool drained = false;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	bus_jobs_publish_many(&e, 20);
	b = bus_fixture_bus(&e, "first");
	bus_jobs_consume(&e, b, &c);
	ck_assert(bus_jobs_until(&e, &first, 20, 20));
	bus_drain(b, bus_fixture_set, &drained);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	bus_free(b);
	bus_jobs_publish_many(&e, 50);
	c = bus_jobs_consumer(&later);
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &later, 30, 30));
	ck_assert_int_eq(first.n, 20);
	ck_assert_int_eq(later.n, 30);
	ck_assert_int_eq(later.times[19], 0);
	bus_fixture_stop(&e);
}

TEST(deliveries_of_a_dead_member_go_to_another)
{
	static struct bus_jobs_member dead, heir;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&dead);
	struct bus *b;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	bus_jobs_publish_many(&e, 10);
	b = bus_fixture_bus(&e, "dead");
	dead.outcome = BUS_JOBS_HOLD;
	c.ack_wait_ms = 500;
	bus_jobs_consume(&e, b, &c);
	ck_assert(bus_jobs_until(&e, &dead, 10, 10));
	while (dead.n_held > 0)
		bus_msg_free(dead.held[--dead.n_held]);
	bus_free(b);
	c = bus_jobs_consumer(&heir);
	c.ack_wait_ms = 500;
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &heir, 10, 10));
	ck_assert_int_eq(heir.last.delivered, 2);
	bus_fixture_stop(&e);
}

static void
restart(struct bus_fixture *e, int sig)
{
	tk_server_stop(&e->nats, sig);
	BUS_FIXTURE_WAIT(e, bus_fixture_is_down, e->bus);
	tk_server_restart(&e->nats);
	BUS_FIXTURE_WAIT(e, bus_fixture_is_up, e->bus);
}

TEST_T(a_consumer_continues_after_the_server_was_killed, 60)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct bus_msg *held;
	int i;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	c.ack_wait_ms = 1000;
	bus_jobs_consume(&e, e.bus, &c);
	bus_jobs_publish_many(&e, 20);
	ck_assert(bus_jobs_until(&e, &s, 20, 20));
	s.outcome = BUS_JOBS_HOLD;
	bus_jobs_publish_many(&e, 21);
	ck_assert(bus_jobs_until(&e, &s, 21, 21));
	held = s.held[0];
	s.n_held = 0;
	/* Delivered on the former connection, acknowledged on the new one. */
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	s.outcome = BUS_JOBS_ACK;
	s.ready.ok = 0;
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(bus_ack(held), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_ready, &s.ready);
	bus_jobs_publish_many(&e, 40);
	ck_assert(bus_jobs_until(&e, &s, 40, 40));
	for (i = 0; i < 40; i++)
		ck_assert_int_ge(s.times[i], 1);
	bus_fixture_stop(&e);
}

TEST_T(acknowledged_jobs_are_not_redelivered_after_a_restart, 60)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	c.ack_wait_ms = 1000;
	bus_jobs_consume(&e, e.bus, &c);
	bus_jobs_publish_many(&e, 30);
	ck_assert(bus_jobs_until(&e, &s, 30, 30));
	ck_assert(bus_jobs_consumer_until(&e, "num_ack_pending", 0));
	restart(&e, SIGTERM);
	bus_jobs_publish_many(&e, 31);
	ck_assert(bus_jobs_until(&e, &s, 31, 31));
	/* Longer than ack_wait: nothing is redelivered. */
	ck_assert(!bus_fixture_until(&e, bus_fixture_never, NULL, 1500));
	ck_assert_int_eq(s.n, 31);
	bus_fixture_stop(&e);
}
