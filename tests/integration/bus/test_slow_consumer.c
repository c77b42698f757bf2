/*
 * A loop that is too slow: messages wait for it in the socket and the server.
 */
#include <stdio.h>

#include "testkit/bus_fixture.h"
#include "testkit/nats.h"

struct row {
	int next;
	int gaps;
};

static void
on_numbered(void *arg, struct bus_msg *m)
{
	struct row *r = arg;
	int64_t n;

	ck_assert_int_eq(str_to_i64(bus_msg_data(m), 0, 1 << 30, &n), RC_OK);
	r->gaps += n != r->next;
	r->next = (int)n + 1;
	bus_msg_free(m);
}

static void
publish_flood(natsConnection *nc, const char *subject, int n)
{
	char text[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_int_eq(
		    natsConnection_PublishString(nc, subject, text), NATS_OK);
	}
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
}

struct rows {
	struct row *r;
	int want;
};

static bool
all_arrived(void *arg)
{
	struct rows *w = arg;

	return w->r->next >= w->want;
}

TEST_T(messages_to_a_blocked_loop_are_not_lost, 60)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct row r = { 0, 0 };
	struct rows w = { &r, 100000 };
	natsConnection *nc;

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	bus_fixture_serve(e.bus, "l.row", on_numbered, &r);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	/* The loop does not run meanwhile. */
	publish_flood(nc, "l.row", w.want);
	ck_assert(bus_fixture_until(&e, all_arrived, &w, 40000));
	ck_assert_int_eq(r.gaps, 0);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}

TEST_T(a_bus_can_be_freed_while_messages_wait, 60)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct row r = { 0, 0 };
	natsConnection *nc;
	struct bus *b;
	struct mono start;
	int i;

	bus_fixture_start(&e);
	nc = tk_nats_connect(e.nats.url);
	for (i = 0; i < 5; i++) {
		b = bus_fixture_bus(&e, "short");
		bus_fixture_serve(b, "l.row", on_numbered, &r);
		ck_assert_int_eq(
		    bus_fixture_call(&e, b, "t.unserved", "", &a), RC_NOENT);
		publish_flood(nc, "l.row", 10000);
		start = clock_mono();
		bus_free(b);
		ck_assert_int_lt(mono_diff_ms(clock_mono(), start), 3000);
	}
	/* The other bus of this loop still works. */
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(r.next, 0);
	natsConnection_Destroy(nc);
	bus_fixture_stop(&e);
}
