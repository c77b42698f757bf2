/*
 * The way from cnats' threads to the loop, with back-pressure.
 *
 * loop_post_wait() would do for a bus that lives as long as its loop.  It
 * cannot be interrupted, though, and bus_free() runs on the very thread that
 * would have to make room; so the wait is here, and ends when the port closes.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "bus/port.h"
#include "core/mem.h"

/* How often a full inbox is tried again. */
#define FULL_NS 500000

struct port {
	pthread_mutex_t mu; /* protects closed and refs */
	pthread_cond_t cv;  /* closed has become true */
	bool closed;
	unsigned refs;
	struct loop *loop;
	struct bus *bus; /* loop thread only */
};

struct port *
port_new(struct loop *l, struct bus *b)
{
	struct port *p = mem_zalloc(sizeof(*p));
	pthread_condattr_t attr;

	pthread_mutex_init(&p->mu, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->cv, &attr);
	pthread_condattr_destroy(&attr);
	p->refs = 1;
	p->loop = l;
	p->bus = b;
	return p;
}

void
port_ref(struct port *p)
{
	pthread_mutex_lock(&p->mu);
	p->refs++;
	pthread_mutex_unlock(&p->mu);
}

void
port_unref(struct port *p)
{
	unsigned left;

	pthread_mutex_lock(&p->mu);
	left = --p->refs;
	pthread_mutex_unlock(&p->mu);
	if (left > 0)
		return;
	pthread_cond_destroy(&p->cv);
	pthread_mutex_destroy(&p->mu);
	free(p);
}

void
port_close(struct port *p)
{
	pthread_mutex_lock(&p->mu);
	p->closed = true;
	pthread_cond_broadcast(&p->cv);
	pthread_mutex_unlock(&p->mu);
	p->bus = NULL;
}

struct bus *
port_bus(const struct port *p)
{
	return p->bus;
}

/* Wait a little, or until the port closes; the lock is held. */
static void
wait_for_room(struct port *p)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += FULL_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	pthread_cond_timedwait(&p->cv, &p->mu, &t);
}

enum rc
port_post(struct port *p, loop_fn fn, void *arg)
{
	enum rc rc;

	pthread_mutex_lock(&p->mu);
	for (;;) {
		/* Under the lock, so that a closed port has left the loop. */
		rc = p->closed ? RC_DOWN : loop_post(p->loop, fn, arg);
		if (rc != RC_RETRY)
			break;
		wait_for_room(p);
	}
	if (rc == RC_OK)
		p->refs++;
	pthread_mutex_unlock(&p->mu);
	return rc;
}
