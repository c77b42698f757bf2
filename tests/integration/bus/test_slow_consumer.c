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

struct slow_state {
	struct row *r;
	int ups, downs;
	int at_down; /* what had arrived by then */
};

static void
on_slow_state(void *arg, bool up)
{
	struct slow_state *s = arg;

	s->ups += up;
	s->downs += !up;
	if (!up)
		s->at_down = s->r->next;
}

static bool
has_reconnected(void *arg)
{
	const struct slow_state *s = arg;

	return s->downs == 1 && s->ups == 2;
}

/* The server does not wait for it, and the bus reports that. */
TEST_T(a_bus_that_is_too_far_behind_is_disconnected, 60)
{
	static char body[1024];
	struct bus_fixture e = { .loop = loop_new(64) };
	struct bus_fixture_reply a;
	struct row r = { 0, 0 };
	struct slow_state s = { &r, 0, 0, 0 };
	struct bus_opts o = {
		.loop = e.loop, .on_state = on_slow_state, .arg = &s
	};
	natsConnection *nc;
	int i, n = 64 * 1024;

	tk_server_start_with(
	    &e.nats, TK_NATS, "max_pending: 1MB\nwrite_deadline: \"1s\"\n");
	nc = tk_nats_connect(e.nats.url);
	o.url = e.nats.url;
	ck_assert_int_eq(bus_new(&o, &e.bus), RC_OK);
	bus_fixture_serve(e.bus, "l.row", on_numbered, &r);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	/* 64 MiB, more than the buffers of the kernel. */
	for (i = 0; i < n; i++) {
		snprintf(body, sizeof(body), "%01023d", i);
		ck_assert_int_eq(
		    natsConnection_PublishString(nc, "l.row", body), NATS_OK);
	}
	ck_assert_int_eq(natsConnection_Flush(nc), NATS_OK);
	BUS_FIXTURE_WAIT(&e, has_reconnected, &s);
	/* All that was sent before it was disconnected, in order. */
	ck_assert_int_gt(s.at_down, 0);
	ck_assert_int_lt(s.at_down, n);
	ck_assert_int_eq(r.gaps, 0);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(r.next, s.at_down);
	r.next = 7;
	publish_flood(nc, "l.row", 1);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(r.next, 1);
	natsConnection_Destroy(nc);
	bus_free(e.bus);
	loop_free(e.loop);
}
