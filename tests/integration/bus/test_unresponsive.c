/*
 * A server that accepts connections and does nothing.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"

TEST_T(a_frozen_server_is_disconnected, 60)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct mono start;

	bus_fixture_start(&e);
	bus_fixture_freeze(&e);
	start = clock_mono();
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.x", STR("x"), 60000, &a), RC_OK);
	ck_assert(bus_fixture_until(&e, bus_fixture_is_replied, &a, 25000));
	ck_assert_int_eq(a.rc, RC_DOWN);
	ck_assert_int_lt(mono_diff_ms(a.at, start), 17000);
	tk_signal(&e.nats.proc, SIGCONT);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	bus_fixture_stop(&e);
}

struct flood {
	int n;
	bool wrong;
};

/* Every message repeats one letter. */
static void
on_flood_msg(void *arg, struct bus_msg *m)
{
	struct flood *flood_state = arg;
	struct str data = bus_msg_data(m);

	flood_state->n++;
	if (data.n != BUS_PAYLOAD_MAX ||
	    memcmp(data.p, data.p + 1, data.n - 1) != 0)
		flood_state->wrong = true;
	bus_msg_free(m);
}

/* The socket fills up, and a message is written in part. */
TEST_T(a_server_that_does_not_read_is_disconnected, 60)
{
	static struct flood flood_state;
	struct bus_fixture e;
	struct bus *b;
	struct bus_fixture_reply a;
	struct mono from;
	char *big = mem_alloc(BUS_PAYLOAD_MAX);
	struct bus_sub *ended;
	int64_t longest = 0, ms;
	enum rc rc = RC_OK;
	int i;

	bus_fixture_start(&e);
	b = bus_fixture_bus(&e, "reader");
	bus_fixture_serve(b, "t.big", on_flood_msg, &flood_state);
	ck_assert_int_eq(
	    bus_fixture_call(&e, b, "t.unserved", "", &a), RC_NOENT);
	bus_fixture_freeze(&e);
	for (i = 0; i < 64 && rc == RC_OK; i++) {
		memset(big, 'a' + i % 26, BUS_PAYLOAD_MAX);
		from = clock_mono();
		rc = bus_publish(
		    e.bus, "t.big", (struct str){ big, BUS_PAYLOAD_MAX }, NULL);
		ms = mono_diff_ms(clock_mono(), from);
		longest = ms > longest ? ms : longest;
	}
	ck_assert_int_eq(rc, RC_DOWN);
	ck_assert_int_lt(longest, 2000);
	/* On a connection that has ended, and is not closed yet. */
	bus_fixture_serve(e.bus, "t.late", bus_fixture_on_echo, NULL);
	ck_assert_int_eq(bus_subscribe(e.bus, "t.ended", NULL,
			     bus_fixture_on_echo, NULL, &ended),
	    RC_OK);
	bus_unsubscribe(ended);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	tk_signal(&e.nats.proc, SIGCONT);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(bus_publish(e.bus, "t.big",
			     (struct str){ big, BUS_PAYLOAD_MAX }, NULL),
	    RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, b);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "", &a), RC_NOENT);
	ck_assert_int_eq(bus_fixture_call(&e, b, "t.late", "x", &a), RC_OK);
	/* Messages arrived complete: no part was read as protocol. */
	ck_assert(!flood_state.wrong);
	ck_assert_int_le(flood_state.n, i + 1);
	bus_free(b);
	bus_fixture_stop(&e);
	free(big);
}

TEST(freeing_the_bus_waits_briefly_for_a_frozen_server)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct mono from;
	struct bus *b;

	bus_fixture_start(&e);
	b = bus_fixture_bus(&e, "short");
	bus_fixture_serve(b, "t.x", bus_fixture_on_echo, NULL);
	ck_assert_int_eq(
	    bus_fixture_call(&e, b, "t.unserved", "", &a), RC_NOENT);
	bus_fixture_freeze(&e);
	from = clock_mono();
	bus_free(b);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), from), 3000);
	tk_signal(&e.nats.proc, SIGCONT);
	bus_fixture_stop(&e);
}
