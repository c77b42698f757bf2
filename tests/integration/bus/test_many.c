/*
 * Requests with many answers: progress, and the end of it.
 */
#include "core/mem.h"
#include "testkit/bus_fixture.h"

struct course {
	struct bus *bus;
	uint64_t id;
	int stop_at; /* cancel inside the callback of this answer; 0: never */
	int ok, ends;
	enum rc rc;
	char body[64];
};

static void
on_course(void *arg, enum rc rc, struct str data)
{
	struct course *c = arg;

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
start(struct course *c, struct bus *b, const char *subject, int ms)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(ms) };
	int stop_at = c->stop_at;

	memset(c, 0, sizeof(*c));
	c->bus = b;
	c->stop_at = stop_at;
	ck_assert_int_eq(bus_request(b, subject, STR("x"), &meta,
			     (struct bus_reply_handler){
				 .fn = on_course, .arg = c, .many = true },
			     &c->id),
	    RC_OK);
}

/* Three steps, then the end that *arg says. */
static void
on_steps(void *arg, struct bus_msg *m)
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
has_four(void *arg)
{
	const struct course *c = arg;

	return c->ok + c->ends >= 4;
}

static bool
has_ended(void *arg)
{
	return ((const struct course *)arg)->ends > 0;
}

static bool
none_waits(void *arg)
{
	return bus_fixture_gauge(arg, "soul_bus_inflight") == 0;
}

TEST(answers_come_until_it_is_cancelled)
{
	struct bus_fixture e;
	struct course c = { .stop_at = 4 };
	enum rc end = RC_OK;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_steps, &end);
	start(&c, e.bus, "m.steps", 5000);
	ck_assert(bus_fixture_until(&e, none_waits, &e, BUS_FIXTURE_MS));
	ck_assert_int_eq(c.ok, 4);
	ck_assert_int_eq(c.ends, 0);
	ck_assert_str_eq(c.body, "end");
	/* Cancelled early: what still comes is nobody's. */
	c.stop_at = 2;
	start(&c, e.bus, "m.steps", 5000);
	ck_assert(bus_fixture_until(&e, none_waits, &e, BUS_FIXTURE_MS));
	ck_assert(!bus_fixture_until(&e, bus_fixture_never, NULL, 50));
	ck_assert_int_eq(c.ok, 2);
	ck_assert_int_eq(c.ends, 0);
	bus_fixture_stop(&e);
}

TEST(an_error_is_the_last_answer)
{
	struct bus_fixture e;
	struct course c = { .stop_at = 0 };
	enum rc end = RC_DENIED;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_steps, &end);
	start(&c, e.bus, "m.steps", 5000);
	ck_assert(bus_fixture_until(&e, has_ended, &c, BUS_FIXTURE_MS));
	ck_assert_int_eq(c.ok, 3);
	ck_assert_int_eq(c.rc, RC_DENIED);
	ck_assert_str_eq(c.body, "why");
	ck_assert_int_eq(bus_fixture_gauge(&e, "soul_bus_inflight"), 0);
	start(&c, e.bus, "m.nobody", 5000);
	ck_assert(bus_fixture_until(&e, has_ended, &c, BUS_FIXTURE_MS));
	ck_assert_int_eq(c.rc, RC_NOENT);
	bus_fixture_stop(&e);
}

TEST(the_deadline_and_the_break_end_it_too)
{
	struct bus_fixture e;
	struct course c = { .stop_at = 0 };
	enum rc end = RC_OK;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.steps", on_steps, &end);
	start(&c, e.bus, "m.steps", 300);
	ck_assert(bus_fixture_until(&e, has_ended, &c, BUS_FIXTURE_MS));
	ck_assert_int_eq(c.ok, 4);
	ck_assert_int_eq(c.rc, RC_TIMEOUT);
	start(&c, e.bus, "m.steps", 60000);
	ck_assert(bus_fixture_until(&e, has_four, &c, BUS_FIXTURE_MS));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bus_fixture_until(&e, has_ended, &c, BUS_FIXTURE_MS));
	ck_assert_int_eq(c.rc, RC_DOWN);
	ck_assert_int_eq(c.ends, 1);
	bus_fixture_stop(&e);
}

static void
on_unasked(void *arg, struct bus_msg *m)
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
is_two(void *arg)
{
	return *(int *)arg == 2;
}

TEST(progress_that_cannot_be_sent_leaves_the_message)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	int n = 0;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "m.x", on_unasked, &n);
	ck_assert_int_eq(bus_publish(e.bus, "m.x", STR(""), NULL), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_request(e.bus, "m.x", STR(""), 200, &a), RC_OK);
	ck_assert(bus_fixture_until(&e, is_two, &n, BUS_FIXTURE_MS));
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_replied, &a, BUS_FIXTURE_MS));
	ck_assert_int_eq(a.rc, RC_TIMEOUT);
	bus_fixture_stop(&e);
}
