#include "testkit/mqtt_loop.h"

#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "testkit/testkit.h"

/* How long an order to end is not noticed while nothing is received. */
#define LOOP_MS 10

enum { ORDER_NONE, ORDER_CLOSE, ORDER_DROP };

/* Whether to connect again now: false on an order to end. */
static bool
mqtt_loop_pause(struct mqtt_loop *l)
{
	struct pollfd p = { .fd = l->wake, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, l->retry_ms);
	while (n == -1);
	return n == 0;
}

static void *
mqtt_loop_run(void *arg)
{
	struct mqtt_loop *l = arg;

	while (atomic_load(&l->order) == ORDER_NONE) {
		if (mosquitto_loop(l->m, LOOP_MS, 1) == MOSQ_ERR_SUCCESS)
			continue;
		if (!mqtt_loop_pause(l))
			return NULL;
		(void)mosquitto_reconnect(l->m);
	}
	if (atomic_load(&l->order) == ORDER_CLOSE &&
	    mosquitto_disconnect(l->m) == MOSQ_ERR_SUCCESS) {
		/* Once it is sent there is no connection to run. */
		while (mosquitto_loop(l->m, LOOP_MS, 1) == MOSQ_ERR_SUCCESS)
			continue;
	}
	return NULL;
}

void
mqtt_loop_start(struct mqtt_loop *l, struct mosquitto *m, int retry_ms)
{
	*l = (struct mqtt_loop){ .m = m, .retry_ms = retry_ms };
	l->wake = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ne(l->wake, -1);
	ck_assert_int_eq(mosquitto_threaded_set(m, true), MOSQ_ERR_SUCCESS);
	ck_assert_int_eq(pthread_create(&l->thread, NULL, mqtt_loop_run, l), 0);
	l->runs = true;
}

static void
mqtt_loop_end(struct mqtt_loop *l, int order)
{
	const uint64_t one = 1;

	if (!l->runs)
		return;
	atomic_store(&l->order, order);
	ck_assert_int_eq(write(l->wake, &one, sizeof(one)), sizeof(one));
	ck_assert_int_eq(pthread_join(l->thread, NULL), 0);
	close(l->wake);
	l->runs = false;
}

void
mqtt_loop_close(struct mqtt_loop *l)
{
	mqtt_loop_end(l, ORDER_CLOSE);
}

void
mqtt_loop_drop(struct mqtt_loop *l)
{
	mqtt_loop_end(l, ORDER_DROP);
}
