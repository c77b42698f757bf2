/*
 * Draining: what was taken is finished, and nothing is lost on the way.
 */
#include <stdio.h>

#include "bed.h"

#define REQUESTS 10000
#define WINDOW   300
#define DRAIN_AT 3000
#define HELD_MAX 4096

/* A service that answers a moment later, as one that works does. */
struct member {
	struct bed *e;
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
	struct bed *e;
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
	struct bus_meta meta = { .deadline = in_ms(20000) };

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
join(struct member *m, struct bed *e)
{
	struct answer a;

	m->e = e;
	m->bus = bed_bus(e, "member");
	ck_assert_int_eq(
	    bus_subscribe(m->bus, "d.work", "group", on_work, m, NULL), RC_OK);
	ck_assert_int_eq(ask_wait(e, m->bus, "t.nobody", "", &a), RC_NOENT);
}

TEST_T(a_member_leaves_under_load_and_nothing_is_lost, 60)
{
	struct bed e;
	static struct member stays, leaves;
	struct client c = { .e = &e, .leaver = &leaves };

	bed_start(&e);
	join(&stays, &e);
	join(&leaves, &e);
	send_more(&c);
	ck_assert(bed_until(&e, is_finished, &c, 40000));
	ck_assert_int_eq(c.lost, 0);
	ck_assert_ptr_null(leaves.bus);
	ck_assert_int_eq(leaves.after, 0);
	ck_assert_int_eq(stays.served + leaves.served, REQUESTS);
	ck_assert_int_gt(leaves.served, DRAIN_AT / 10);
	ck_assert_int_gt(stays.served, REQUESTS / 2);
	bus_free(stays.bus);
	bed_stop(&e);
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
	struct bed e;
	struct answer a;
	bool drained = false;
	int next = 0, i;
	char text[16];

	bed_start(&e);
	serve(e.bus, "d.order", on_order, &next);
	for (i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_int_eq(
		    bus_publish(e.bus, "d.order", str_of(text), NULL), RC_OK);
	}
	bus_drain(e.bus, bed_set, &drained);
	ck_assert(!drained);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	ck_assert_int_eq(next, 5000);
	/* Nobody is there any more, but asking others still works. */
	ck_assert_int_eq(ask_wait(&e, e.bus, "d.order", "", &a), RC_NOENT);
	ck_assert_int_eq(
	    bus_subscribe(e.bus, "d.new", NULL, on_echo, NULL, NULL), RC_DOWN);
	bed_stop(&e);
}

TEST(drained_stays_drained_over_a_reconnect)
{
	struct bed e;
	struct answer a;
	bool drained = false;

	bed_start(&e);
	serve(e.bus, "d.echo", on_echo, NULL);
	ck_assert_int_eq(ask_wait(&e, e.bus, "d.echo", "", &a), RC_OK);
	bus_drain(e.bus, bed_set, &drained);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	tk_server_restart(&e.nats);
	ck_assert(bed_until(&e, bed_is_up, e.bus, BED_MS));
	ck_assert_int_eq(ask_wait(&e, e.bus, "d.echo", "", &a), RC_NOENT);
	bed_stop(&e);
}

TEST(draining_ends_without_a_server_too)
{
	struct bed e;
	struct bus *b;
	bool drained = false;
	int i;

	bed_start(&e);
	b = bed_bus(&e, "second");
	/* Nothing to drain, and still not from inside. */
	bus_drain(b, bed_set, &drained);
	ck_assert(!drained);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	bus_free(b);
	/* The server is killed while the drain waits for it. */
	for (i = 0; i < 20; i++)
		serve(e.bus, "d.echo", on_echo, NULL);
	bed_freeze(&e);
	drained = false;
	bus_drain(e.bus, bed_set, &drained);
	ck_assert(!bed_until(&e, bed_is_set, &drained, 200));
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	bed_stop(&e);
	/* Down from the beginning. */
	bed_start(&e);
	serve(e.bus, "d.echo", on_echo, NULL);
	tk_server_stop(&e.nats, SIGKILL);
	ck_assert(bed_until(&e, bed_is_down, e.bus, BED_MS));
	drained = false;
	bus_drain(e.bus, bed_set, &drained);
	ck_assert(bed_until(&e, bed_is_set, &drained, BED_MS));
	bed_stop(&e);
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
	struct bed e;
	struct owner o = { NULL, false };

	bed_start(&e);
	o.bus = bed_bus(&e, "short");
	serve(o.bus, "d.echo", on_echo, NULL);
	bus_drain(o.bus, free_now, &o);
	ck_assert(bed_until(&e, bed_is_set, &o.freed, BED_MS));
	bed_stop(&e);
}
