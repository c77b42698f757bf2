/*
 * A server that is there and does nothing.
 */
#include "bed.h"
#include "core/mem.h"

TEST_T(a_silent_server_is_given_up, 60)
{
	struct bed e;
	struct answer a;
	struct mono start;

	bed_start(&e);
	bed_freeze(&e);
	start = clock_mono();
	ck_assert_int_eq(ask(e.bus, "t.x", STR("x"), 60000, &a), RC_OK);
	ck_assert(bed_until(&e, is_answered, &a, 25000));
	ck_assert_int_eq(a.rc, RC_DOWN);
	ck_assert_int_lt(mono_diff_ms(a.at, start), 17000);
	tk_signal(&e.nats.proc, SIGCONT);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	ck_assert_int_eq(ask_wait(&e, e.bus, "t.nobody", "", &a), RC_NOENT);
	bed_stop(&e);
}

struct flood {
	int n;
	bool wrong;
};

/* Every message has one letter all through. */
static void
on_flood(void *arg, struct bus_msg *m)
{
	struct flood *f = arg;
	struct str data = bus_msg_data(m);

	f->n++;
	if (data.n != BUS_PAYLOAD_MAX ||
	    memcmp(data.p, data.p + 1, data.n - 1) != 0)
		f->wrong = true;
	bus_msg_free(m);
}

/* The socket fills up, and a message is cut off in the middle. */
TEST_T(a_server_that_does_not_read_is_given_up, 60)
{
	static struct flood f;
	struct bed e;
	struct bus *b;
	struct answer a;
	struct mono from;
	char *big = mem_alloc(BUS_PAYLOAD_MAX);
	int64_t longest = 0, ms;
	enum rc rc = RC_OK;
	int i;

	bed_start(&e);
	b = bed_bus(&e, "reader");
	serve(b, "t.big", on_flood, &f);
	ck_assert_int_eq(ask_wait(&e, b, "t.nobody", "", &a), RC_NOENT);
	bed_freeze(&e);
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
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	tk_signal(&e.nats.proc, SIGCONT);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	ck_assert_int_eq(bus_publish(e.bus, "t.big",
			     (struct str){ big, BUS_PAYLOAD_MAX }, NULL),
	    RC_OK);
	ck_assert(bed_until(&e, bed_is_up, b, BED_MS));
	ck_assert_int_eq(ask_wait(&e, e.bus, "t.nobody", "", &a), RC_NOENT);
	/* What arrived arrived whole: no rest was taken for protocol. */
	ck_assert(!f.wrong);
	ck_assert_int_le(f.n, i + 1);
	bus_free(b);
	bed_stop(&e);
	free(big);
}

TEST(freeing_does_not_wait_long_for_a_frozen_server)
{
	struct bed e;
	struct answer a;
	struct mono from;
	struct bus *b;

	bed_start(&e);
	b = bed_bus(&e, "short");
	serve(b, "t.x", on_echo, NULL);
	ck_assert_int_eq(ask_wait(&e, b, "t.nobody", "", &a), RC_NOENT);
	bed_freeze(&e);
	from = clock_mono();
	bus_free(b);
	ck_assert_int_lt(mono_diff_ms(clock_mono(), from), 3000);
	tk_signal(&e.nats.proc, SIGCONT);
	bed_stop(&e);
}
