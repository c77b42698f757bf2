/*
 * Requests with many replies: partial ones, and their end.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"

struct partial_request {
	struct bus *bus;
	uint64_t id;
	int stop_at; /* cancel inside the callback of this reply; 0: never */
	int ok, ends;
	enum rc rc;
	char body[64];
};

static void
on_partial_reply(void *arg, enum rc rc, struct str data)
{
	struct partial_request *c = arg;

	ck_assert_int_eq(c->ends, 0);
	if (rc != RC_OK) {
		c->rc = rc;
		c->ends++;
	} else {
		c->ok++;
	}
	str_copy(data, c->body, sizeof(c->body));
	if (c->ok == c->stop_at && c->stop_at != 0)
		bus_request_cancel(c->bus, c->id);
}

static void
partial_request_start(
    struct partial_request *c, struct bus *b, const char *subject, int ms)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(ms) };
	int stop_at = c->stop_at;

	memset(c, 0, sizeof(*c));
	c->bus = b;
	c->stop_at = stop_at;
	ck_assert_int_eq(
	    bus_request(b, subject, STR("x"), &meta,
		(struct bus_reply_handler){
		    .fn = on_partial_reply, .arg = c, .many = true },
		&c->id),
	    RC_OK);
}

/* Three partial replies, then the end given by *arg. */
static void
on_send_steps(void *arg, struct bus_msg *m)
{
	int i;

	for (i = 0; i < 3; i++)
		ck_assert_int_eq(bus_reply_partial(m, STR("step")), RC_OK);
	if (*(enum rc *)arg == RC_OK)
		ck_assert_int_eq(bus_reply(m, STR("end")), RC_OK);
	else
		ck_assert_int_eq(
		    bus_reply_error(m, *(enum rc *)arg, STR("why")), RC_OK);
}

static bool
has_four_replies(void *arg)
{
	const struct partial_request *c = arg;

	return c->ok + c->ends >= 4;
}

static bool
request_has_ended(void *arg)
{
	return ((const struct partial_request *)arg)->ends > 0;
}

static bool
none_is_pending(void *arg)
{
	return bus_fixture_gauge(arg, "soul_bus_inflight") == 0;
}

TEST(partial_replies_arrive_until_the_request_is_cancelled)
{
	struct bus_fixture e;
	struct partial_request c = { .stop_at = 4 };
	enum rc end = RC_OK;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_send_steps, &end);
	partial_request_start(&c, e.bus, "m.steps", 5000);
	BUS_FIXTURE_WAIT(&e, none_is_pending, &e);
	ck_assert_int_eq(c.ok, 4);
	ck_assert_int_eq(c.ends, 0);
	ck_assert_str_eq(c.body, "end");
	/* Cancelled early: later replies are ignored. */
	c.stop_at = 2;
	partial_request_start(&c, e.bus, "m.steps", 5000);
	BUS_FIXTURE_WAIT(&e, none_is_pending, &e);
	ck_assert(!bus_fixture_until(&e, bus_fixture_never, NULL, 50));
	ck_assert_int_eq(c.ok, 2);
	ck_assert_int_eq(c.ends, 0);
	bus_fixture_stop(&e);
}

TEST(an_error_is_the_last_reply)
{
	struct bus_fixture e;
	struct partial_request c = { .stop_at = 0 };
	enum rc end = RC_DENIED;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_send_steps, &end);
	partial_request_start(&c, e.bus, "m.steps", 5000);
	BUS_FIXTURE_WAIT(&e, request_has_ended, &c);
	ck_assert_int_eq(c.ok, 3);
	ck_assert_int_eq(c.rc, RC_DENIED);
	ck_assert_str_eq(c.body, "why");
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	partial_request_start(&c, e.bus, "m.unserved", 5000);
	BUS_FIXTURE_WAIT(&e, request_has_ended, &c);
	ck_assert_int_eq(c.rc, RC_NOENT);
	bus_fixture_stop(&e);
}

TEST(deadline_and_disconnect_end_a_request_for_many)
{
	struct bus_fixture e;
	struct partial_request c = { .stop_at = 0 };
	enum rc end = RC_OK;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_send_steps, &end);
	partial_request_start(&c, e.bus, "m.steps", 300);
	BUS_FIXTURE_WAIT(&e, request_has_ended, &c);
	ck_assert_int_eq(c.ok, 4);
	ck_assert_int_eq(c.rc, RC_TIMEOUT);
	partial_request_start(&c, e.bus, "m.steps", 60000);
	BUS_FIXTURE_WAIT(&e, has_four_replies, &c);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, request_has_ended, &c);
	ck_assert_int_eq(c.rc, RC_DOWN);
	ck_assert_int_eq(c.ends, 1);
	bus_fixture_stop(&e);
}

static void
on_plain_request(void *arg, struct bus_msg *m)
{
	char *big = mem_zalloc(BUS_PAYLOAD_MAX + 1);

	if (!bus_msg_wants_reply(m))
		ck_assert_int_eq(bus_reply_partial(m, STR("x")), RC_INVALID);
	else
		ck_assert_int_eq(bus_reply_partial(m,
				     (struct str){ big, BUS_PAYLOAD_MAX + 1 }),
		    RC_TOOBIG);
	free(big);
	++*(int *)arg;
	bus_msg_free(m);
}

static bool
has_two_replies(void *arg)
{
	return *(int *)arg == 2;
}

TEST(a_failed_partial_reply_does_not_end_the_message)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	int n = 0;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.x", on_plain_request, &n);
	ck_assert_int_eq(bus_publish(e.bus, "m.x", STR(""), NULL), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "m.x", STR(""), 200, &a), RC_OK);
	BUS_FIXTURE_WAIT(&e, has_two_replies, &n);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_replied, &a);
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	bus_fixture_stop(&e);
}
