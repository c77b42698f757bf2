/*
 * When a subscription that ended is freed.
 *
 * The thread of cnats 3.4.1 that reads a connection looks up the subscription
 * of a message, unlocks, copies the message and then locks the subscription
 * without a reference to it.  Here it is stopped in between.
 */
#include <dlfcn.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "core/mem.h"
#include "testkit/bus_fixture.h"

#define HELD "t.held"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	bool hold;   /* the reader of a message of HELD */
	bool inside; /* it is held */
} reader = { .lock = PTHREAD_MUTEX_INITIALIZER,
	.moved = PTHREAD_COND_INITIALIZER };

/* Subscriptions freed so far. */
static _Atomic int freed;

static void *
real(const char *name)
{
	void *fn = dlsym(RTLD_NEXT, name);

	ck_assert_ptr_nonnull(fn);
	return fn;
}

#define LIBRARYS_OWN                                                          \
	natsMsg **out, const char *subject, int n_subject, const char *reply, \
	    int n_reply, const char *data, int n, int n_headers

/* Replaces the library's function that copies a message. */
natsStatus
natsMsg_create(LIBRARYS_OWN)
{
	natsStatus (*fn)(LIBRARYS_OWN) = real("natsMsg_create");

	pthread_mutex_lock(&reader.lock);
	if (n_subject == sizeof(HELD) - 1 &&
	    memcmp(subject, HELD, sizeof(HELD) - 1) == 0)
		while (reader.hold) {
			reader.inside = true;
			pthread_cond_wait(&reader.moved, &reader.lock);
		}
	reader.inside = false;
	pthread_mutex_unlock(&reader.lock);
	return fn(out, subject, n_subject, reply, n_reply, data, n, n_headers);
}

void
natsSubscription_Destroy(natsSubscription *s)
{
	void (*fn)(natsSubscription *) = real("natsSubscription_Destroy");

	if (s != NULL)
		atomic_fetch_add(&freed, 1);
	fn(s);
}

static void
reader_hold(bool hold)
{
	pthread_mutex_lock(&reader.lock);
	reader.hold = hold;
	pthread_cond_broadcast(&reader.moved);
	pthread_mutex_unlock(&reader.lock);
}

static bool
reader_is_inside(void *arg)
{
	bool inside;

	(void)arg;
	pthread_mutex_lock(&reader.lock);
	inside = reader.inside;
	pthread_mutex_unlock(&reader.lock);
	return inside;
}

static bool
subs_are_freed(void *arg)
{
	return atomic_load(&freed) == *(int *)arg;
}

static void
on_any(void *arg, struct bus_msg *m)
{
	++*(int *)arg;
	bus_msg_free(m);
}

static struct bus_sub *
is_held_sub(struct bus_fixture *e, int *n)
{
	struct bus_sub *s = NULL;

	ck_assert_int_eq(
	    bus_subscribe(e->bus, HELD, NULL, on_any, n, &s), RC_OK);
	return s;
}

/* Let the loop handle all earlier events. */
static void
flush_bus(struct bus_fixture *e, struct bus *b)
{
	struct bus_fixture_reply a;

	ck_assert_int_eq(
	    bus_fixture_call(e, b, "t.unserved", "", &a), RC_NOENT);
}

TEST(a_subscription_in_use_by_the_library_is_not_freed)
{
	int n = 0, one = 1;
	struct bus_sub *s;
	struct bus *other;
	struct bus_fixture e;

	bus_fixture_start(&e);
	other = bus_fixture_bus(&e, "other");
	s = is_held_sub(&e, &n);
	reader_hold(true);
	ck_assert_int_eq(bus_publish(e.bus, HELD, STR("x"), NULL), RC_OK);
	ck_assert(tk_until(reader_is_inside, NULL, BUS_FIXTURE_MS));
	bus_unsubscribe(s);
	/* One thread delivers for all, so it is done with the subscription. */
	flush_bus(&e, other);
	ck_assert_int_eq(freed, 0);
	reader_hold(false);
	BUS_FIXTURE_WAIT(&e, subs_are_freed, &one);
	ck_assert_int_eq(n, 0);
	bus_free(other);
	bus_fixture_stop(&e);
}

#define MANY 200

TEST(ended_subscriptions_do_not_accumulate)
{
	int n = 0, most = 0, i;
	struct bus_sub *s[MANY];
	struct bus_fixture e;

	bus_fixture_start(&e);
	for (i = 0; i < MANY; i++)
		s[i] = is_held_sub(&e, &n);
	ck_assert_int_eq(bus_publish(e.bus, HELD, STR("x"), NULL), RC_OK);
	for (i = 0; i < MANY; i++)
		bus_unsubscribe(s[i]);
	most = MANY;
	BUS_FIXTURE_WAIT(&e, subs_are_freed, &most);
	ck_assert_int_eq(n, 0);
	bus_fixture_stop(&e);
}

/* The ping that shows that the reader is done with them is lost. */
TEST(ended_subscriptions_are_freed_with_their_connection)
{
	int n = 0, all = 4; /* with the bus's own */
	struct bus_sub *s[3];
	struct bus_fixture e;
	size_t i;

	bus_fixture_start(&e);
	for (i = 0; i < NELEM(s); i++)
		s[i] = is_held_sub(&e, &n);
	flush_bus(&e, e.bus);
	bus_fixture_freeze(&e);
	for (i = 0; i < NELEM(s); i++)
		bus_unsubscribe(s[i]);
	ck_assert_int_eq(freed, 0);
	tk_server_stop(&e.nats, SIGKILL);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_down, e.bus);
	ck_assert(subs_are_freed(&all));
	tk_server_restart(&e.nats);
	BUS_FIXTURE_WAIT(&e, bus_fixture_is_up, e.bus);
	flush_bus(&e, e.bus);
	bus_fixture_stop(&e);
}
