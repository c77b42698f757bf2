/*
 * Requests: every way in which one can end, and that it ends once.
 */
#include <stdio.h>

#include "core/mem.h"
#include "testkit/bus_fixture.h"

TEST(a_reply_arrives)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	int served = 0;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.echo", bus_fixture_on_echo, &served);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.echo", "hello", &a), RC_OK);
	ck_assert_str_eq(a.body, "hello");
	ck_assert_int_eq(bus_fixture_call(&e, e.bus, "t.echo", "", &a), RC_OK);
	ck_assert_uint_eq(a.n, 0);
	ck_assert(!a.absent);
	ck_assert_int_eq(served, 2);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_connected"), 1);
	ck_assert_int_ge(
	    bus_fixture_counter(&e, "soul_bus_published_total"), 4);
	ck_assert_int_ge(bus_fixture_counter(&e, "soul_bus_received_total"), 4);
	bus_fixture_stop(&e);
}

static void
never_called(void *arg, enum rc rc, struct str data)
{
	(void)arg;
	(void)rc;
	(void)data;
	ck_abort_msg("the handler of a rejected request was called");
}

static void
on_reply_outside(void *arg, enum rc rc, struct str data)
{
	(void)rc;
	(void)data;
	ck_assert(*(bool *)arg);
	*(bool *)arg = false;
}

static bool
is_unset(void *arg)
{
	return !*(bool *)arg;
}

TEST(a_reply_handler_is_never_called_from_inside)
{
	struct bus_fixture e;
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000) };
	bool returned = false;

	bus_fixture_start(&e);
	ck_assert_int_eq(bus_request(e.bus, "t.unserved", STR(""), &meta,
			     (struct bus_reply_handler){
				 .fn = on_reply_outside, .arg = &returned },
			     NULL),
	    RC_OK);
	returned = true;
	BUS_FIXTURE_WAIT(&e, is_unset, &returned);
	bus_fixture_stop(&e);
}

TEST(no_responders_is_noent)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;

	bus_fixture_start(&e);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "x", &a), RC_NOENT);
	ck_assert(a.absent);
	bus_fixture_stop(&e);
}

/* Replies with the code that the request names. */
static void
on_request_error(void *arg, struct bus_msg *m)
{
	int64_t code;

	(void)arg;
	ck_assert_int_eq(
	    str_to_i64(bus_msg_data(m), 0, RC_N - 1, &code), RC_OK);
	ck_assert_int_eq(
	    bus_reply_error(m, (enum rc)code, STR("{\"code\":\"x\"}")), RC_OK);
}

TEST(error_replies_have_code_and_body)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	char text[16];
	int rc;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.fail", on_request_error, NULL);
	for (rc = 1; rc < RC_N; rc++) {
		snprintf(text, sizeof(text), "%d", rc);
		ck_assert_int_eq(
		    bus_fixture_call(&e, e.bus, "t.fail", text, &a), rc);
		ck_assert_str_eq(a.body, "{\"code\":\"x\"}");
	}
	bus_fixture_stop(&e);
}

static void
on_store_last(void *arg, struct bus_msg *m)
{
	struct bus_msg **last_msg = arg;

	if (*last_msg != NULL)
		bus_msg_free(*last_msg);
	*last_msg = m;
}

static bool
has_last_msg(void *arg)
{
	return *(struct bus_msg **)arg != NULL;
}

TEST(a_request_without_a_reply_ends_at_its_deadline)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct bus_msg *last_msg = NULL;
	struct mono start = clock_mono();
	int64_t took;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.silent", on_store_last, &last_msg);
	start = clock_mono();
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.silent", STR("x"), 200, &a), RC_OK);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 1);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	took = mono_diff_ms(a.at, start);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ck_assert(a.absent);
	ck_assert_int_ge(took, 195);
	ck_assert_int_lt(took, 2000);
	/* The late reply is ignored, even with a new request in its slot. */
	ck_assert_int_eq(bus_reply(last_msg, STR("late")), RC_OK);
	last_msg = NULL;
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.silent", STR("x"), 500, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, has_last_msg, &last_msg);
	ck_assert_int_eq(a.calls, 0);
	ck_assert_int_eq(bus_reply(last_msg, STR("good")), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_str_eq(a.body, "good");
	ck_assert_int_eq(a.calls, 1);
	bus_fixture_stop(&e);
}

TEST(a_cancelled_request_calls_no_handler)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct bus_msg *last_msg = NULL;
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(50) };
	uint64_t id = 0;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.silent", on_store_last, &last_msg);
	meta.deadline = bus_fixture_in_ms(300);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.silent", STR("x"), &meta,
		(struct bus_reply_handler){ .fn = never_called, .arg = NULL },
		&id),
	    RC_OK);
	ck_assert(id != 0);
	BUS_FIXTURE_WAIT(&e, has_last_msg, &last_msg);
	bus_request_cancel(e.bus, id);
	bus_request_cancel(e.bus, id);
	bus_request_cancel(e.bus, 0);
	bus_request_cancel(e.bus, UINT64_MAX);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	ck_assert_int_eq(bus_reply(last_msg, STR("late")), RC_OK);
	last_msg = NULL;
	/* After the late reply and the deadline another request works. */
	ck_assert(!bus_fixture_until(&e, bus_fixture_never, NULL, 350));
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.unserved", "x", &a), RC_NOENT);
	bus_fixture_stop(&e);
}

/* A flush that ends in *a. */
static enum rc
flush(struct bus_fixture *e, int ms, struct bus_fixture_reply *a)
{
	memset(a, 0, sizeof(*a));
	return bus_flush(e->bus, bus_fixture_in_ms(ms),
	    (struct bus_reply_handler){ bus_fixture_on_reply, a, false }, NULL);
}

TEST(a_flush_ends_when_the_server_has_what_was_sent)
{
	struct bus_fixture_reply a[100];
	struct bus_fixture e;
	int n = 0;
	size_t i;

	bus_fixture_start(&e);
	bus_fixture_freeze(&e);
	bus_fixture_serve(e.bus, "t.new", bus_fixture_on_echo, &n);
	for (i = 0; i < NELEM(a); i++)
		ck_assert_int_eq(flush(&e, BUS_FIXTURE_MS, &a[i]), RC_OK);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), NELEM(a));
	/* Longer than the server takes when it runs. */
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_replied, &a[0], 100));
	tk_signal(&e.nats.proc, SIGCONT);
	for (i = 0; i < NELEM(a); i++) {
		BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a[i]);
		ck_assert_int_eq(a[i].rc, RC_OK);
		ck_assert_int_eq(a[i].calls, 1);
	}
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	bus_fixture_stop(&e);
}

TEST(a_flush_ends_with_its_deadline_or_the_connection)
{
	struct bus_fixture_reply a, b;
	struct bus_fixture e;

	bus_fixture_start(&e);
	ck_assert_int_eq(flush(&e, -1, &a), RC_TIMEOUT);
	bus_fixture_freeze(&e);
	ck_assert_int_eq(flush(&e, 50, &a), RC_OK);
	ck_assert_int_eq(flush(&e, BUS_FIXTURE_MS, &b), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	ck_assert_int_eq(b.calls, 0);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &b);
	ck_assert_int_eq(b.rc, RC_DOWN);
	ck_assert_int_eq(flush(&e, BUS_FIXTURE_MS, &a), RC_DOWN);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(flush(&e, BUS_FIXTURE_MS, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_OK);
	bus_fixture_stop(&e);
}

TEST(invalid_requests_are_rejected)
{
	static const char *const bad[] = { "", ".", "a.", ".a", "a..b", "a b",
		"a\tb", "a\r\nPUB x 1\r\n", "a.*", "a.>", ">", "*", "a\x7f",
		"\xc3\xa4" };
	struct bus_fixture e;
	struct bus_reply_handler w = { .fn = never_called, .arg = NULL };
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(1000) };
	size_t i;

	bus_fixture_start(&e);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(
		    bus_request(e.bus, bad[i], STR("x"), &meta, w, NULL),
		    RC_INVALID);
		ck_assert_int_eq(
		    bus_publish(e.bus, bad[i], STR("x"), NULL), RC_INVALID);
	}
	ck_assert_int_eq(
	    bus_request(e.bus, NULL, STR("x"), &meta, w, NULL), RC_INVALID);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR("x"), NULL, w, NULL), RC_INVALID);
	meta.deadline.ms = 0;
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR("x"), &meta, w, NULL), RC_INVALID);
	meta.deadline = bus_fixture_in_ms(-1);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.x", STR("x"), &meta, w, NULL), RC_TIMEOUT);
	meta = (struct bus_meta){ .msg_id = "a\r\nb: c" };
	ck_assert_int_eq(
	    bus_publish(e.bus, "t.x", STR("x"), &meta), RC_INVALID);
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	ck_assert(bus_up(e.bus));
	bus_fixture_stop(&e);
}

TEST(payloads_are_accepted_up_to_the_limit)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	struct bus_reply_handler w = { .fn = never_called, .arg = NULL };
	struct trace t;
	struct bus_meta meta = { .trace = &t, .msg_id = "id" };
	char *big = mem_zalloc(BUS_PAYLOAD_MAX + 1);
	struct str data = { big, BUS_PAYLOAD_MAX };

	bus_fixture_start(&e);
	trace_new(&t);
	bus_fixture_serve(e.bus, "t.echo", bus_fixture_on_echo, NULL);
	memset(big, 'x', BUS_PAYLOAD_MAX + 1);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "t.echo", data, 5000, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_OK);
	ck_assert_uint_eq(a.n, BUS_PAYLOAD_MAX);
	meta.deadline = bus_fixture_in_ms(5000);
	ck_assert_int_eq(bus_publish(e.bus, "t.x", data, &meta), RC_OK);
	data.n++;
	ck_assert_int_eq(
	    bus_request(e.bus, "t.echo", data, &meta, w, NULL), RC_TOOBIG);
	ck_assert_int_eq(bus_publish(e.bus, "t.x", data, NULL), RC_TOOBIG);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.echo", "still", &a), RC_OK);
	bus_fixture_stop(&e);
	free(big);
}

static void
on_too_big(void *arg, struct bus_msg *m)
{
	char *big = mem_zalloc(BUS_PAYLOAD_MAX + 1);

	(void)arg;
	ck_assert_int_eq(
	    bus_reply(m, (struct str){ big, BUS_PAYLOAD_MAX + 1 }), RC_TOOBIG);
	free(big);
}

TEST(a_reply_that_is_too_big_is_an_error_immediately)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.big", on_too_big, NULL);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "t.big", "", &a), RC_TOOBIG);
	ck_assert_ptr_nonnull(strstr(a.body, rc_name(RC_TOOBIG)));
	bus_fixture_stop(&e);
}

struct many {
	int ok, down, other;
};

static void
on_counted_reply(void *arg, enum rc rc, struct str data)
{
	struct many *n = arg;

	(void)data;
	if (rc == RC_OK)
		n->ok++;
	else if (rc == RC_DOWN)
		n->down++;
	else
		n->other++;
}

static void
on_hold(void *arg, struct bus_msg *m)
{
	struct bus_msg **held = arg;

	while (*held != NULL)
		held++;
	*held = m;
}

static bool
all_are_held(void *arg)
{
	struct bus_msg **held = arg;

	return held[BUS_INFLIGHT_MAX - 1] != NULL;
}

static bool
none_is_pending(void *arg)
{
	return bus_fixture_gauge(arg, "soul_bus_inflight") == 0;
}

TEST_T(pending_requests_are_limited, 60)
{
	struct bus_fixture e;
	struct many n = { 0, 0, 0 };
	struct bus_meta meta;
	struct bus_reply_handler w = { .fn = on_counted_reply, .arg = &n };
	struct bus_msg **held = mem_calloc(BUS_INFLIGHT_MAX + 1, sizeof(*held));
	int i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.hold", on_hold, held);
	meta = (struct bus_meta){ .deadline = bus_fixture_in_ms(50000) };
	for (i = 0; i < BUS_INFLIGHT_MAX; i++)
		ck_assert_int_eq(
		    bus_request(e.bus, "t.hold", STR("x"), &meta, w, NULL),
		    RC_OK);
	ck_assert_int_eq(
	    bus_request(e.bus, "t.hold", STR("x"), &meta, w, NULL), RC_RETRY);
	ck_assert_int_eq(
	    bus_fixture_gauge(&e, "soul_bus_inflight"), BUS_INFLIGHT_MAX);
	ck_assert(bus_fixture_until(&e, all_are_held, held, 40000));
	for (i = 0; i < BUS_INFLIGHT_MAX; i++)
		ck_assert_int_eq(bus_reply(held[i], STR("y")), RC_OK);
	ck_assert(bus_fixture_until(&e, none_is_pending, &e, 40000));
	ck_assert_int_eq(n.ok, BUS_INFLIGHT_MAX);
	ck_assert_int_eq(n.down + n.other, 0);
	bus_fixture_stop(&e);
	free(held);
}

TEST(freeing_the_bus_ends_pending_requests)
{
	struct bus_fixture e;
	struct many n = { 0, 0, 0 };
	struct bus_msg *last_msg = NULL;
	struct bus_meta meta;
	int i;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "t.silent", on_store_last, &last_msg);
	meta = (struct bus_meta){ .deadline = bus_fixture_in_ms(20000) };
	for (i = 0; i < 10; i++)
		ck_assert_int_eq(bus_request(e.bus, "t.silent", STR("x"), &meta,
				     (struct bus_reply_handler){
					 .fn = on_counted_reply, .arg = &n },
				     NULL),
		    RC_OK);
	BUS_FIXTURE_WAIT(&e, has_last_msg, &last_msg);
	bus_msg_free(last_msg);
	/* Messages are still in this loop's inbox. */
	bus_fixture_stop(&e);
	ck_assert_int_eq(n.down, 10);
	ck_assert_int_eq(n.ok + n.other, 0);
}
