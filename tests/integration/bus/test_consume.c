/*
 * Durable consumers: every job is done, one way or another.
 */
#include "testkit/bus_fixture.h"
#include "testkit/bus_jobs.h"

TEST(a_job_is_delivered_until_it_is_acknowledged)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	bus_jobs_publish_many(&e, 10);
	s.outcome = BUS_JOBS_HOLD;
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &s, 10, 10));
	ck_assert_int_eq(s.last.delivered, 1);
	ck_assert_int_eq(s.last.seq, 10);
	ck_assert_int_eq(s.last.pending, 0);
	ck_assert(bus_jobs_consumer_until(&e, "num_ack_pending", 10));
	while (s.n_held > 0)
		ck_assert_int_eq(bus_ack(s.held[--s.n_held]), RC_OK);
	ck_assert(bus_jobs_consumer_until(&e, "num_ack_pending", 0));
	ck_assert(bus_jobs_consumer_until(&e, "num_redelivered", 0));
	/* Later messages are delivered too. */
	s.outcome = BUS_JOBS_ACK;
	bus_jobs_publish_many(&e, 12);
	ck_assert(bus_jobs_until(&e, &s, 12, 12));
	ck_assert_int_eq(s.n, 12);
	bus_fixture_stop(&e);
}

TEST(a_nak_comes_back_after_its_delay)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s.outcome = BUS_JOBS_NAK;
	s.delay_ms = 300;
	bus_jobs_consume(&e, e.bus, &c);
	bus_jobs_publish_many(&e, 1);
	ck_assert(bus_jobs_until(&e, &s, 1, 2));
	ck_assert_int_ge(mono_diff_ms(s.at[1], s.at[0]), 290);
	ck_assert_int_lt(mono_diff_ms(s.at[1], s.at[0]), 2000);
	/* Without a delay, earlier than the delay used before. */
	s.delay_ms = 0;
	ck_assert(bus_jobs_until(&e, &s, 1, 4));
	ck_assert_int_lt(mono_diff_ms(s.at[3], s.at[2]), 250);
	s.outcome = BUS_JOBS_ACK;
	ck_assert(bus_jobs_until(&e, &s, 1, 5));
	ck_assert_int_eq(s.delivered[0], 1);
	ck_assert_int_eq(s.delivered[1], 2);
	ck_assert_int_eq(s.delivered[2], 3);
	ck_assert_int_ge(s.last.delivered, 5);
	bus_fixture_stop(&e);
}

TEST(no_ack_within_ack_wait_is_a_nak)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s.outcome = BUS_JOBS_FREE;
	c.ack_wait_ms = 400;
	bus_jobs_consume(&e, e.bus, &c);
	bus_jobs_publish_many(&e, 1);
	ck_assert(bus_jobs_until(&e, &s, 1, 1));
	s.outcome = BUS_JOBS_ACK;
	ck_assert(bus_jobs_until(&e, &s, 1, 2));
	ck_assert_int_ge(mono_diff_ms(s.at[1], s.at[0]), 390);
	ck_assert_int_eq(s.delivered[1], 2);
	bus_fixture_stop(&e);
}

struct toil {
	struct bus_jobs_member *s;
	struct mono until;
	struct mono next;
};

/* Sends an ack progress every 100 ms. */
static bool
has_progressed(void *arg)
{
	struct toil *t = arg;
	struct mono now = clock_mono();

	if (now.ns >= t->next.ns) {
		ck_assert_int_eq(bus_ack_progress(t->s->held[0]), RC_OK);
		t->next = mono_add_ms(now, 100);
	}
	return now.ns >= t->until.ns;
}

TEST(progress_extends_ack_wait)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct toil t = { .s = &s };

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	s.outcome = BUS_JOBS_HOLD;
	c.ack_wait_ms = 800;
	bus_jobs_consume(&e, e.bus, &c);
	bus_jobs_publish_many(&e, 1);
	ck_assert(bus_jobs_until(&e, &s, 1, 1));
	t.next = clock_mono();
	t.until = mono_add_ms(t.next, 2000);
	BUS_FIXTURE_WAIT(&e, has_progressed, &t);
	ck_assert_int_eq(s.n, 1);
	ck_assert_int_eq(bus_ack(s.held[0]), RC_OK);
	ck_assert(bus_jobs_consumer_until(&e, "num_ack_pending", 0));
	bus_fixture_stop(&e);
}

TEST(at_most_max_in_flight_are_unacknowledged)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	bus_jobs_publish_many(&e, 12);
	s.outcome = BUS_JOBS_HOLD;
	c.max_in_flight = 5;
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &s, 5, 5));
	ck_assert(bus_jobs_consumer_until(&e, "num_ack_pending", 5));
	ck_assert(bus_jobs_consumer_until(&e, "num_pending", 7));
	ck_assert_int_eq(s.n, 5);
	s.outcome = BUS_JOBS_ACK;
	while (s.n_held > 0)
		ck_assert_int_eq(bus_ack(s.held[--s.n_held]), RC_OK);
	ck_assert(bus_jobs_until(&e, &s, 12, 12));
	ck_assert_int_eq(s.n, 12);
	bus_fixture_stop(&e);
}

struct pair {
	struct bus_jobs_member *a, *b;
	int want;
};

static bool
both_have_deliveries(void *arg)
{
	const struct pair *p = arg;

	return p->a->n + p->b->n >= p->want;
}

TEST(members_share_a_consumer)
{
	static struct bus_jobs_member a, b;
	struct bus_fixture e;
	struct bus *second;
	struct bus_consumer ca = bus_jobs_consumer(&a),
			    cb = bus_jobs_consumer(&b);
	struct pair p = { &a, &b, 400 };
	int i;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	second = bus_fixture_bus(&e, "second");
	bus_jobs_consume(&e, e.bus, &ca);
	bus_jobs_consume(&e, second, &cb);
	bus_jobs_publish_many(&e, p.want);
	BUS_FIXTURE_WAIT(&e, both_have_deliveries, &p);
	ck_assert_int_eq(a.n + b.n, p.want);
	for (i = 0; i < p.want; i++)
		ck_assert_int_eq(a.times[i] + b.times[i], 1);
	ck_assert_int_gt(a.n, p.want / 10);
	ck_assert_int_gt(b.n, p.want / 10);
	bus_free(second);
	bus_fixture_stop(&e);
}

TEST(a_filter_selects_its_subject_only)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct bus_jobs_ack p;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	c.filter = "job.n";
	ck_assert_int_eq(bus_jobs_publish(&e, "job.other", "7", &p), RC_OK);
	bus_jobs_publish_many(&e, 3);
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &s, 3, 3));
	ck_assert(bus_jobs_consumer_until(&e, "num_pending", 0));
	ck_assert_int_eq(s.times[7], 0);
	bus_fixture_stop(&e);
}

/*
 * nats-server 2.9 ignores filter_subjects, so such a consumer gets everything;
 * ours has one filter, which replaces that.
 */
TEST(a_filter_replaces_one_that_is_ignored)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct bus_jobs_ack p;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	json_decref(bus_fixture_request_json(&e,
	    "$JS.API.CONSUMER.DURABLE.CREATE.JOBS.worker",
	    "{\"stream_name\":\"JOBS\",\"config\":{"
	    "\"durable_name\":\"worker\","
	    "\"deliver_subject\":\"soul.deliver.JOBS.worker\","
	    "\"deliver_group\":\"worker\",\"deliver_policy\":\"all\","
	    "\"ack_policy\":\"explicit\","
	    "\"filter_subjects\":[\"job.x\",\"job.y\"]}}"));
	c.filter = "job.n";
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert_int_eq(bus_jobs_publish(&e, "job.other", "7", &p), RC_OK);
	bus_jobs_publish_many(&e, 3);
	ck_assert(bus_jobs_until(&e, &s, 3, 3));
	ck_assert(bus_jobs_consumer_until(&e, "num_pending", 0));
	ck_assert_int_eq(s.times[7], 0);
	bus_fixture_stop(&e);
}

TEST(a_consumer_may_be_requested_before_its_stream)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);

	bus_fixture_start(&e);
	ck_assert_int_eq(bus_consume(e.bus, &c), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_rejected, &s.ready);
	ck_assert_int_eq(s.ready.last, RC_NOENT);
	bus_jobs_create(&e);
	BUS_FIXTURE_WAIT(&e, bus_jobs_is_ready, &s.ready);
	bus_jobs_publish_many(&e, 3);
	ck_assert(bus_jobs_until(&e, &s, 3, 3));
	bus_fixture_stop(&e);
}

TEST(invalid_consumers_are_rejected)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer bad[8];
	bool drained = false;
	size_t i;

	for (i = 0; i < 8; i++)
		bad[i] = bus_jobs_consumer(&s);
	bad[0].stream = "A.B";
	bad[1].name = "a b";
	bad[2].name = NULL;
	bad[3].filter = "a..b";
	bad[4].ack_wait_ms = 0;
	bad[5].ack_wait_ms = INT64_MAX;
	bad[6].max_in_flight = 0;
	bad[7].fn = NULL;
	bus_fixture_start(&e);
	for (i = 0; i < 8; i++)
		ck_assert_int_eq(bus_consume(e.bus, &bad[i]), RC_INVALID);
	bus_drain(e.bus, bus_fixture_set, &drained);
	bad[0] = bus_jobs_consumer(&s);
	ck_assert_int_eq(bus_consume(e.bus, &bad[0]), RC_DOWN);
	bus_fixture_stop(&e);
}

static void
on_plain(void *arg, struct bus_msg *m)
{
	struct bus_delivery j;

	++*(int *)arg;
	ck_assert(!bus_msg_delivery(m, &j));
	ck_assert_int_eq(bus_ack_progress(m), RC_INVALID);
	if (*(int *)arg == 1)
		ck_assert_int_eq(bus_ack(m), RC_INVALID);
	else
		ck_assert_int_eq(bus_nak(m, 0), RC_INVALID);
}

TEST(deliveries_and_plain_messages_are_distinguished)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct bus_fixture_reply a;
	int plain = 0;

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	bus_fixture_serve(e.bus, "t.plain", on_plain, &plain);
	ck_assert_int_eq(bus_publish(e.bus, "t.plain", STR(""), NULL), RC_OK);
	ck_assert_int_eq(bus_publish(e.bus, "t.plain", STR(""), NULL), RC_OK);
	bus_jobs_consume(&e, e.bus, &c);
	/* A plain message to the delivery subject is not from the stream. */
	ck_assert_int_eq(
	    bus_publish(e.bus, "soul.deliver.JOBS.worker", STR("1"), NULL),
	    RC_OK);
	ck_assert_int_eq(bus_fixture_request(e.bus, "soul.deliver.JOBS.worker",
			     STR("1"), 200, &a),
	    RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ck_assert_int_eq(s.n, 0);
	ck_assert_int_eq(plain, 2);
	bus_fixture_stop(&e);
}

TEST(stored_messages_have_no_deadline)
{
	static struct bus_jobs_member s;
	struct bus_fixture e;
	struct bus_consumer c = bus_jobs_consumer(&s);
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(-5),
		.msg_id = "3" };

	bus_fixture_start(&e);
	bus_jobs_create(&e);
	ck_assert_int_eq(bus_publish(e.bus, "job.n", STR("3"), &meta), RC_OK);
	bus_jobs_consume(&e, e.bus, &c);
	ck_assert(bus_jobs_until(&e, &s, 1, 1));
	ck_assert_int_eq(s.times[3], 1);
	ck_assert_int_eq(bus_fixture_counter(&e, "soul_bus_stale_total"), 0);
	bus_fixture_stop(&e);
}
