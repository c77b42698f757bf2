/*
 * Requests that are sent once more after silence: whom that helps, and that
 * each still ends once.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"

#define AGAIN_MS 100

/* Who answers only some of what it gets. */
struct forgetful {
	int got, mute; /* the first so many are not answered */
	char last[256];
};

static void
on_some(void *arg, struct bus_msg *m)
{
	struct forgetful *f = arg;
	struct trace t;

	f->got++;
	str_copy(bus_msg_data(m), f->last, sizeof(f->last));
	ck_assert_int_gt(bus_msg_deadline(m).ms, clock_wall().ms);
	ck_assert(bus_msg_trace(m, &t));
	ck_assert_str_eq(t.trace_id, "0123456789abcdef0123456789abcdef");
	if (f->got <= f->mute)
		bus_msg_free(m);
	else
		ck_assert_int_eq(bus_reply(m, bus_msg_data(m)), RC_OK);
}

static void
ask_again(struct bus_fixture *e, const char *subject, int ms,
    struct bus_fixture_reply *a)
{
	struct trace trace = { "0123456789abcdef0123456789abcdef",
		"0123456789abcdef", 1 };
	char data[] = "question";
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(ms),
		.trace = &trace,
		.resend_ms = AGAIN_MS };

	memset(a, 0, sizeof(*a));
	ck_assert_int_eq(bus_request(e->bus, subject, str_of(data), &meta,
			     (struct bus_reply_handler){
				 .fn = bus_fixture_on_reply, .arg = a },
			     NULL),
	    RC_OK);
	/* All was copied. */
	memset(&trace, 'x', sizeof(trace));
	memset(data, 'x', sizeof(data) - 1);
}

TEST(silence_is_asked_again_once)
{
	static const struct {
		int mute;
		enum rc rc;
		int got, again;
	} rows[] = {
		{ 0, RC_OK, 1, 0 },
		{ 1, RC_OK, 2, 1 },
		{ 2, RC_TIMEOUT, 2, 1 },
	};
	int64_t again = 0;
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct forgetful f = { .mute = rows[i].mute };
		struct bus_sub *sub;
		struct mono start = clock_mono();

		ck_assert_int_eq(
		    bus_subscribe(e.bus, "t.some", NULL, on_some, &f, &sub),
		    RC_OK);
		ask_again(&e, "t.some", 1000, &a);
		ck_assert(bus_fixture_until(
		    &e, bus_fixture_is_replied, &a, BUS_FIXTURE_MS));
		ck_assert_int_eq(a.rc, rows[i].rc);
		ck_assert_int_eq(f.got, rows[i].got);
		ck_assert_str_eq(f.last, "question");
		again += rows[i].again;
		ck_assert_int_eq(
		    bus_fixture_counter(&e, "soul_bus_asked_again_total"),
		    again);
		if (rows[i].again != 0)
			ck_assert_int_ge(
			    mono_diff_ms(clock_mono(), start), AGAIN_MS);
		ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
		bus_unsubscribe(sub);
	}
	bus_fixture_stop(&e);
}

/* Two that keep what they get, and answer when they are told. */
struct keeper {
	struct bus_msg *kept[2];
	size_t n;
};

static void
on_keep(void *arg, struct bus_msg *m)
{
	struct keeper *k = arg;

	ck_assert_uint_lt(k->n, NELEM(k->kept));
	k->kept[k->n++] = m;
}

static bool
has_both(void *arg)
{
	return ((const struct keeper *)arg)->n == 2;
}

static void
on_done(void *arg, struct bus_msg *m)
{
	bus_fixture_set(arg);
	bus_msg_free(m);
}

/* Both are answered: the first answer counts, the second is nobody's. */
TEST(the_first_answer_counts)
{
	struct keeper k = { .n = 0 };
	bool done = false;
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.keep", on_keep, &k);
	bus_fixture_serve(e.bus, "t.done", on_done, &done);
	ask_again(&e, "t.keep", 5000, &a);
	ck_assert(bus_fixture_until(&e, has_both, &k, BUS_FIXTURE_MS));
	ck_assert_int_eq(bus_reply(k.kept[1], STR("second")), RC_OK);
	ck_assert_int_eq(bus_reply(k.kept[0], STR("first")), RC_OK);
	/* What comes after both has come. */
	ck_assert_int_eq(bus_publish(e.bus, "t.done", STR(""), NULL), RC_OK);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_set, &done, BUS_FIXTURE_MS));
	ck_assert_int_eq(a.calls, 1);
	ck_assert_str_eq(a.body, "second");
	bus_fixture_stop(&e);
}

TEST(what_ends_before_is_not_asked_again)
{
	struct forgetful f = { .mute = 9 };
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.some", on_some, &f);
	ask_again(&e, "t.some", AGAIN_MS / 2, &a);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_replied, &a, BUS_FIXTURE_MS));
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ask_again(&e, "t.nobody", 5000, &a);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_replied, &a, BUS_FIXTURE_MS));
	ck_assert_int_eq(a.rc, RC_NOENT);
	ask_again(&e, "t.some", 5000, &a);
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_replied, &a, BUS_FIXTURE_MS));
	ck_assert_int_eq(a.rc, RC_DOWN);
	tk_loop_step(e.loop);
	ck_assert_int_le(f.got, 2);
	ck_assert_int_eq(
	    bus_fixture_counter(&e, "soul_bus_asked_again_total"), 0);
	/* With one on its way, all is freed. */
	tk_server_restart(&e.nats);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_up, e.bus, BUS_FIXTURE_MS));
	ask_again(&e, "t.some", 5000, &a);
	bus_fixture_stop(&e);
	ck_assert_int_eq(a.rc, RC_DOWN);
}

static void
never(void *arg, enum rc rc, struct str data)
{
	(void)arg;
	(void)rc;
	(void)data;
	ck_abort_msg("called");
}

TEST(what_cannot_be_asked_again)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000),
		.resend_ms = 1 };
	struct bus_reply_handler many = { .fn = never, .many = true };
	struct bus_reply_handler one = { .fn = never };
	struct bus_fixture e;

	bus_fixture_start(&e);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR(""), &meta, many, NULL), RC_INVALID);
	meta.resend_ms = -1;
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR(""), &meta, one, NULL), RC_INVALID);
	bus_fixture_stop(&e);
}
