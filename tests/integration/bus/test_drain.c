/*
 * Draining: what was taken is finished, and nothing is lost on the way.
 */
#include <stdio.h>

#include "testkit/bus_fixture.h"

#define REQUESTS 10000
#define WINDOW   300
#define DRAIN_AT 3000
#define HELD_MAX 4096

/* A service that answers a moment later, as one that works does. */
struct member {
	struct bus_fixture *e;
	struct bus *bus;
	struct loop_timer timer;
	struct bus_msg *held[HELD_MAX];
	int n, served;
	bool drained;
	int after; /* messages that came after it was drained */
};

static void
on_moment(void *arg)
{
	struct member *m = arg;
	int i;

	for (i = 0; i < m->n; i++)
		ck_assert_int_eq(bus_reply(m->held[i], STR("done")), RC_OK);
	m->served += m->n;
	m->n = 0;
}

static void
on_work(void *arg, struct bus_msg *in)
{
	struct member *m = arg;

	m->after += m->drained;
	ck_assert_int_lt(m->n, HELD_MAX);
	m->held[m->n++] = in;
	if (m->timer.pos == 0)
		loop_timer_set(m->e->loop, &m->timer,
		    mono_add_ms(clock_mono(), 2), on_moment, m);
}

struct client {
	struct bus_fixture *e;
	struct member *leaver;
	int sent, answered, lost;
};

static void on_done(void *arg, enum rc rc, struct str data);

static void
on_drained(void *arg)
{
	((struct member *)arg)->drained = true;
}

static void
send_more(struct client *c)
{
	struct bus_meta meta = { .deadline = bus_fixture_in_ms(20000) };

	while (c->sent < REQUESTS && c->sent - c->answered < WINDOW) {
		ck_assert_int_eq(
		    bus_request(c->e->bus, "d.work", STR("x"), &meta,
			(struct bus_reply_handler){ .fn = on_done, .arg = c },
			NULL),
		    RC_OK);
		c->sent++;
	}
}

static void
on_done(void *arg, enum rc rc, struct str data)
{
	struct client *c = arg;

	c->answered++;
	if (rc != RC_OK || !str_eq(data, STR("done")))
		c->lost++;
	if (c->answered == DRAIN_AT)
		bus_drain(c->leaver->bus, on_drained, c->leaver);
	send_more(c);
}

static bool
is_finished(void *arg)
{
	struct client *c = arg;

	/* The leaver leaves in the middle, not at the end. */
	if (c->leaver->drained && c->leaver->n == 0 && c->leaver->bus != NULL) {
		ck_assert_int_lt(c->answered, REQUESTS);
		bus_free(c->leaver->bus);
		c->leaver->bus = NULL;
	}
	return c->answered == REQUESTS;
}

static void
join(struct member *m, struct bus_fixture *e)
{
	struct bus_fixture_reply a;

	m->e = e;
	m->bus = bus_fixture_bus(e, "member");
	ck_assert_int_eq(
	    bus_subscribe(m->bus, "d.work", "group", on_work, m, NULL), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_request_wait(e, m->bus, "t.nobody", "", &a), RC_NOENT);
}

TEST_T(a_member_leaves_under_load_and_nothing_is_lost, 60)
{
	struct bus_fixture e;
	static struct member stays, leaves;
	struct client c = { .e = &e, .leaver = &leaves };

	bus_fixture_start(&e);
	join(&stays, &e);
	join(&leaves, &e);
	send_more(&c);
	ck_assert(bus_fixture_until(&e, is_finished, &c, 40000));
	ck_assert_int_eq(c.lost, 0);
	ck_assert_ptr_null(leaves.bus);
	ck_assert_int_eq(leaves.after, 0);
	ck_assert_int_eq(stays.served + leaves.served, REQUESTS);
	ck_assert_int_gt(leaves.served, DRAIN_AT / 10);
	ck_assert_int_gt(stays.served, REQUESTS / 2);
	bus_free(stays.bus);
	bus_fixture_stop(&e);
}

static void
on_order(void *arg, struct bus_msg *m)
{
	int *next = arg;
	int64_t n;

	ck_assert_int_eq(str_to_i64(bus_msg_data(m), 0, 1 << 30, &n), RC_OK);
	ck_assert_int_eq(n, *next);
	++*next;
	bus_msg_free(m);
}

TEST(everything_sent_before_comes_before_the_end)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	bool drained = false;
	int next = 0, i;
	char text[16];

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.order", on_order, &next);
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_int_eq(
		    bus_publish(e.bus, "d.order", str_of(text), NULL), RC_OK);
	}
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(!drained);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &drained, BUS_FIXTURE_MS));
	ck_assert_int_eq(next, 5000);
	/* Nobody is there any more, but asking others still works. */
	ck_assert_int_eq(
	    bus_fixture_request_wait(&e, e.bus, "d.order", "", &a), RC_NOENT);
	ck_assert_int_eq(bus_subscribe(e.bus, "d.new", NULL,
			     bus_fixture_on_echo, NULL, NULL),
	    RC_DOWN);
	bus_fixture_stop(&e);
}

TEST(drained_stays_drained_over_a_reconnect)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	bool drained = false;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	ck_assert_int_eq(
	    bus_fixture_request_wait(&e, e.bus, "d.echo", "", &a), RC_OK);
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &drained, BUS_FIXTURE_MS));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_down, e.bus, BUS_FIXTURE_MS));
	tk_server_restart(&e.nats);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_up, e.bus, BUS_FIXTURE_MS));
	ck_assert_int_eq(
	    bus_fixture_request_wait(&e, e.bus, "d.echo", "", &a), RC_NOENT);
	bus_fixture_stop(&e);
}

TEST(draining_ends_without_a_server_too)
{
	struct bus_fixture e;
	struct bus *b;
	bool drained = false;
	int i;

	bus_fixture_start(&e);
	b = bus_fixture_bus(&e, "second");
	/* Nothing to drain, and still not from inside. */
	bus_drain(b, bus_fixture_set, &drained);
	ck_assert(!drained);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &drained, BUS_FIXTURE_MS));
	bus_free(b);
	/* The server is killed while the drain waits for it. */
	for (i = 0; i < 20; i++)
		bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	bus_fixture_freeze(&e);
	drained = false;
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_set, &drained, 200));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &drained, BUS_FIXTURE_MS));
	bus_fixture_stop(&e);
	/* Down from the beginning. */
	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(
	    bus_fixture_until(&e, bus_fixture_is_down, e.bus, BUS_FIXTURE_MS));
	drained = false;
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &drained, BUS_FIXTURE_MS));
	bus_fixture_stop(&e);
}

struct owner {
	struct bus *bus;
	bool freed;
};

static void
free_now(void *arg)
{
	struct owner *o = arg;

	bus_free(o->bus);
	o->freed = true;
}

TEST(the_end_of_draining_may_free)
{
	struct bus_fixture e;
	struct owner o = { NULL, false };

	bus_fixture_start(&e);
	o.bus = bus_fixture_bus(&e, "short");
	bus_fixture_serve(o.bus, "d.echo", bus_fixture_on_echo, NULL);
	bus_drain(o.bus, free_now, &o);
	ck_assert(bus_fixture_until(
	    &e, bus_fixture_is_set, &o.freed, BUS_FIXTURE_MS));
	bus_fixture_stop(&e);
}
