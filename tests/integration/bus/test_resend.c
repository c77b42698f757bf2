/*
 * Requests that are sent a second time for lack of a reply, and that each still
 * ends once.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"

#define RESEND_MS 100

/* A service that does not reply to its first requests. */
struct lossy_responder {
	int got, ignored; /* the first ones get no reply */
	char last[256];
};

static void
on_lossy(void *arg, struct bus_msg *m)
{
	struct lossy_responder *f = arg;
	struct trace t;

	f->got++;
	str_copy(bus_msg_data(m), f->last, sizeof(f->last));
	ck_assert_int_gt(bus_msg_deadline(m).ms, clock_wall().ms);
	ck_assert(bus_msg_trace(m, &t));
	ck_assert_str_eq(t.trace_id, "0123456789abcdef0123456789abcdef");
	if (f->got <= f->ignored)
		bus_msg_free(m);
	else
		ck_assert_int_eq(bus_reply(m, bus_msg_data(m)), RC_OK);
}

static void
request_with_resend(struct bus_fixture *e, const char *subject, int ms,
    struct bus_fixture_reply *a)
{
	struct trace trace = { "0123456789abcdef0123456789abcdef",
		"0123456789abcdef", 1 };
	char data[] = "question";
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(ms),
		.trace = &trace,
		.resend_ms = RESEND_MS };

	memset(a, 0, sizeof(*a));
	ck_assert_int_eq(bus_request(e->bus, subject, str_of(data), &meta,
			     (struct bus_reply_handler){
				 .fn = bus_fixture_on_reply, .arg = a },
			     NULL),
	    RC_OK);
	/* The bus has copied all of it. */
	memset(&trace, 'x', sizeof(trace));
	memset(data, 'x', sizeof(data) - 1);
}

TEST(a_request_without_a_reply_is_resent_exactly_one_time)
{
	static const struct {
		int ignored;
		enum rc rc;
		int got, resent;
	} rows[] = {
		{ 0, RC_OK, 1, 0 },
		{ 1, RC_OK, 2, 1 },
		{ 2, RC_TIMEOUT, 2, 1 },
	};
	int64_t resent = 0;
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct lossy_responder f = { .ignored = rows[i].ignored };
		struct bus_sub *sub;
		struct mono start = clock_mono();

		ck_assert_int_eq(
		    bus_subscribe(e.bus, "t.some", NULL, on_lossy, &f, &sub),
		    RC_OK);
		request_with_resend(&e, "t.some", 1000, &a);
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
		ck_assert_int_eq(a.rc, rows[i].rc);
		ck_assert_int_eq(f.got, rows[i].got);
		ck_assert_str_eq(f.last, "question");
		resent += rows[i].resent;
		ck_assert_int_eq(
		    bus_fixture_counter(&e, "soul_bus_asked_again_total"),
		    resent);
		if (rows[i].resent != 0)
			ck_assert_int_ge(
			    mono_diff_ms(clock_mono(), start), RESEND_MS);
		ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
		bus_unsubscribe(sub);
	}
	bus_fixture_stop(&e);
}

/* Requests whose replies the test sends itself. */
struct held_requests {
	struct bus_msg *msgs[2];
	size_t n;
};

static void
on_hold(void *arg, struct bus_msg *m)
{
	struct held_requests *k = arg;

	ck_assert_uint_lt(k->n, NELEM(k->msgs));
	k->msgs[k->n++] = m;
}

static bool
both_are_held(void *arg)
{
	return ((const struct held_requests *)arg)->n == 2;
}

static void
on_set(void *arg, struct bus_msg *m)
{
	bus_fixture_set(arg);
	bus_msg_free(m);
}

TEST(the_first_reply_counts)
{
	struct held_requests k = { .n = 0 };
	bool done = false;
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.keep", on_hold, &k);
	bus_fixture_serve(e.bus, "t.done", on_set, &done);
	request_with_resend(&e, "t.keep", 5000, &a);
	BUS_FIXTURE_WAIT(&e, both_are_held, &k);
	ck_assert_int_eq(bus_reply(k.msgs[1], STR("second")), RC_OK);
	ck_assert_int_eq(bus_reply(k.msgs[0], STR("first")), RC_OK);
	/* A later message has arrived, so both replies have. */
	ck_assert_int_eq(bus_publish(e.bus, "t.done", STR(""), NULL), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &done);
	ck_assert_int_eq(a.calls, 1);
	ck_assert_str_eq(a.body, "second");
	bus_fixture_stop(&e);
}

TEST(a_finished_request_is_not_resent)
{
	struct lossy_responder f = { .ignored = 9 };
	struct bus_fixture_reply a;
	struct bus_fixture e;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.some", on_lossy, &f);
	request_with_resend(&e, "t.some", RESEND_MS / 2, &a);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	request_with_resend(&e, "t.unserved", 5000, &a);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_NOENT);
	request_with_resend(&e, "t.some", 5000, &a);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_DOWN);
	tk_loop_step(e.loop);
	ck_assert_int_le(f.got, 2);
	ck_assert_int_eq(
	    bus_fixture_counter(&e, "soul_bus_asked_again_total"), 0);
	/* The bus is freed with a request pending. */
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	request_with_resend(&e, "t.some", 5000, &a);
	bus_fixture_stop(&e);
	ck_assert_int_eq(a.rc, RC_DOWN);
}

static void
never_called(void *arg, enum rc rc, struct str data)
{
	(void)arg;
	(void)rc;
	(void)data;
	ck_abort_msg("called");
}

TEST(requests_that_cannot_be_resent_are_rejected)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000),
		.resend_ms = 1 };
	struct bus_reply_handler many = { .fn = never_called, .many = true };
	struct bus_reply_handler one = { .fn = never_called };
	struct bus_fixture e;

	bus_fixture_start(&e);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR(""), &meta, many, NULL), RC_INVALID);
	meta.resend_ms = -1;
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR(""), &meta, one, NULL), RC_INVALID);
	bus_fixture_stop(&e);
}
