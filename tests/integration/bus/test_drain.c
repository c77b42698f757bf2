/*
 * Draining: received messages are handled, and none is lost.
 */
#include <stdio.h>

#include "testkit/bus_fixture.h"

#define REQUESTS 10000
#define WINDOW   300
#define DRAIN_AT 3000
#define HELD_MAX 4096

/* A service that replies with a delay. */
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
on_delayed_reply(void *arg)
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
		    mono_add_ms(clock_mono(), 2), on_delayed_reply, m);
}

struct client {
	struct bus_fixture *e;
	struct member *leaver;
	int sent, replied, lost;
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

	while (c->sent < REQUESTS && c->sent - c->replied < WINDOW) {
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

	c->replied++;
	if (rc != RC_OK || !str_eq(data, STR("done")))
		c->lost++;
	if (c->replied == DRAIN_AT)
		bus_drain(c->leaver->bus, on_drained, c->leaver);
	send_more(c);
}

static bool
is_finished(void *arg)
{
	struct client *c = arg;

	/* The service drains during the load, not after it. */
	if (c->leaver->drained && c->leaver->n == 0 && c->leaver->bus != NULL) {
		ck_assert_int_lt(c->replied, REQUESTS);
		bus_free(c->leaver->bus);
		c->leaver->bus = NULL;
	}
	return c->replied == REQUESTS;
}

static void
join_service(struct member *m, struct bus_fixture *e)
{
	struct bus_fixture_reply a;

	m->e = e;
	m->bus = bus_fixture_bus(e, "member");
	ck_assert_int_eq(
	    bus_subscribe(m->bus, "d.work", "group", on_work, m, NULL), RC_OK);
	ck_assert_int_eq(
	    bus_fixture_call(e, m->bus, "t.unserved", "", &a), RC_NOENT);
}

TEST_T(a_member_leaves_under_load_and_nothing_is_lost, 60)
{
	struct bus_fixture e;
	static struct member service_stays, leave_service;
	struct client c = { .e = &e, .leaver = &leave_service };

	bus_fixture_start(&e);
	join_service(&service_stays, &e);
	join_service(&leave_service, &e);
	send_more(&c);
	ck_assert(bus_fixture_until(&e, is_finished, &c, 40000));
	ck_assert_int_eq(c.lost, 0);
	ck_assert_ptr_null(leave_service.bus);
	ck_assert_int_eq(leave_service.after, 0);
	ck_assert_int_eq(service_stays.served + leave_service.served, REQUESTS);
	ck_assert_int_gt(leave_service.served, DRAIN_AT / 10);
	ck_assert_int_gt(service_stays.served, REQUESTS / 2);
	bus_free(service_stays.bus);
	bus_fixture_stop(&e);
}

static void
on_ordered(void *arg, struct bus_msg *m)
{
	int *next = arg;
	int64_t n;

	ck_assert_int_eq(str_to_i64(bus_msg_data(m), 0, 1 << 30, &n), RC_OK);
	ck_assert_int_eq(n, *next);
	++*next;
	bus_msg_free(m);
}

TEST(drain_delivers_everything_sent_before)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	bool drained = false;
	int next = 0, i;
	char text[16];

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.order", on_ordered, &next);
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_int_eq(
		    bus_publish(e.bus, "d.order", str_of(text), NULL), RC_OK);
	}
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(!drained);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	ck_assert_int_eq(next, 5000);
	/* It is not subscribed any more, but its own requests work. */
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "d.order", "", &a), RC_NOENT);
	ck_assert_int_eq(bus_subscribe(e.bus, "d.new", NULL,
			     bus_fixture_on_echo, NULL, NULL),
	    RC_DOWN);
	bus_fixture_stop(&e);
}

TEST(a_drained_bus_stays_drained_after_a_reconnect)
{
	struct bus_fixture e;
	struct bus_fixture_reply a;
	bool drained = false;

	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	ck_assert_int_eq(bus_fixture_call(&e, e.bus, "d.echo", "", &a), RC_OK);
	bus_drain(e.bus, bus_fixture_set, &drained);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	ck_assert_int_eq(
	    bus_fixture_call(&e, e.bus, "d.echo", "", &a), RC_NOENT);
	bus_fixture_stop(&e);
}

TEST(draining_ends_without_a_server)
{
	struct bus_fixture e;
	struct bus *b;
	bool drained = false;
	int i;

	bus_fixture_start(&e);
	b = bus_fixture_bus(&e, "second");
	/* Even with nothing to drain it is not called from inside. */
	bus_drain(b, bus_fixture_set, &drained);
	ck_assert(!drained);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	bus_free(b);
	/* The server is killed while the drain waits for it. */
	for (i = 0; i < 20; i++)
		bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	bus_fixture_freeze(&e);
	drained = false;
	bus_drain(e.bus, bus_fixture_set, &drained);
	ck_assert(!bus_fixture_until(&e, bus_fixture_is_set, &drained, 200));
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	bus_fixture_stop(&e);
	/* Down from the beginning. */
	bus_fixture_start(&e);
	bus_fixture_serve(e.bus, "d.echo", bus_fixture_on_echo, NULL);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	drained = false;
	bus_drain(e.bus, bus_fixture_set, &drained);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &drained);
	bus_fixture_stop(&e);
}

struct owner {
	struct bus *bus;
	bool freed;
};

static void
free_bus(void *arg)
{
	struct owner *o = arg;

	bus_free(o->bus);
	o->freed = true;
}

TEST(the_drain_callback_may_free_the_bus)
{
	struct bus_fixture e;
	struct owner o = { NULL, false };

	bus_fixture_start(&e);
	o.bus = bus_fixture_bus(&e, "short");
	bus_fixture_serve(o.bus, "d.echo", bus_fixture_on_echo, NULL);
	bus_drain(o.bus, free_bus, &o);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_set, &o.freed);
	bus_fixture_stop(&e);
}
