/*
 * ways: bare MQTT clients, a broker with a bridge and one without, and what a
 * message costs on its way through either.
 */
#ifndef MQTT_BRIDGE_WAYS_H
#define MQTT_BRIDGE_WAYS_H

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "integration/mqtt-bridge/bed.h"
#include "testkit/figures.h"

#define ROUNDS 5
#define N      20000
/* Publishes that wait for their acknowledgement. */
#define WINDOW 100
#define WAIT_S 120

struct bench {
	struct bed bed;
	struct tk_server bare; /* another broker, with no bridge */
	struct mosquitto *from, *to;
	int sent, acked, got; /* of the two */
	_Atomic int results;  /* on the bus */
	int round;
};

/* ---- bare clients -------------------------------------------------------- */

static inline void
on_acked(struct mosquitto *mosq, void *arg, int mid)
{
	struct bench *b = arg;

	(void)mosq;
	(void)mid;
	b->acked++;
}

static inline void
on_got(struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct bench *b = arg;

	(void)mosq;
	(void)m;
	b->got++;
}

static inline void
on_up(struct mosquitto *mosq, void *arg, int rc)
{
	struct bench *b = arg;

	(void)mosq;
	ck_assert_int_eq(rc, 0);
	b->got = -1;
}

static inline void
on_subscribed(struct mosquitto *mosq, void *arg, int mid, int n, const int *qos)
{
	struct bench *b = arg;

	(void)mosq;
	(void)mid;
	(void)n;
	(void)qos;
	b->got = -2;
}

/* Let both clients read and write what they can. */
static inline void
turn(struct bench *b, int ms)
{
	struct mosquitto *all[] = { b->from, b->to };
	struct pollfd fds[2];
	nfds_t i, n = b->to != NULL ? 2 : 1;

	for (i = 0; i < n; i++)
		fds[i] = (struct pollfd){ mosquitto_socket(all[i]),
			(short)(POLLIN |
			    (mosquitto_want_write(all[i]) ? POLLOUT : 0)),
			0 };
	(void)poll(fds, n, ms);
	for (i = 0; i < n; i++) {
		if ((fds[i].revents & POLLIN) != 0)
			ck_assert_int_eq(mosquitto_loop_read(all[i], 64), 0);
		if (mosquitto_want_write(all[i]))
			ck_assert_int_eq(mosquitto_loop_write(all[i], 64), 0);
		(void)mosquitto_loop_misc(all[i]);
	}
}

static inline void
client_open(struct bench *b, struct mosquitto **m, int port)
{
	*m = mosquitto_new(NULL, true, b);
	mosquitto_int_option(*m, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
	mosquitto_int_option(*m, MOSQ_OPT_TCP_NODELAY, 1);
	mosquitto_max_inflight_messages_set(*m, 1000);
	mosquitto_connect_callback_set(*m, on_up);
	mosquitto_publish_callback_set(*m, on_acked);
	mosquitto_message_callback_set(*m, on_got);
	mosquitto_subscribe_callback_set(*m, on_subscribed);
	b->got = 0;
	ck_assert_int_eq(mosquitto_connect_async(*m, "127.0.0.1", port, 60), 0);
	while (b->got != -1)
		turn(b, 100);
}

static inline void
client_close(struct mosquitto **m)
{
	mosquitto_disconnect(*m);
	mosquitto_destroy(*m);
	*m = NULL;
}

/* ---- processor time ------------------------------------------------------ */

enum { BROKER, BRIDGE, REDIS, NATS, PROCS };

static inline void
all_cpu_us(const struct bench *b, double v[PROCS])
{
	v[BROKER] = tk_cpu_us(b->bed.mqtt.proc.pid);
	v[BRIDGE] = tk_cpu_us(b->bed.bridge[0].proc.pid);
	v[REDIS] = tk_cpu_us(b->bed.redis.proc.pid);
	v[NATS] = tk_cpu_us(b->bed.nats.proc.pid);
}

typedef void (*fill_fn)(
    struct bench *b, int i, char topic[128], char payload[512]);

/* Publish as fast as the broker takes it, until done() says so. */
static inline double
run(struct bench *b, fill_fn fill, bool (*done)(struct bench *b))
{
	struct mono start = clock_mono();
	char topic[128], payload[512];

	b->sent = b->acked = b->got = 0;
	atomic_store(&b->results, 0);
	while (b->acked < N || !done(b)) {
		while (b->sent < N && b->sent - b->acked < WINDOW) {
			fill(b, b->sent++, topic, payload);
			ck_assert_int_eq(
			    mosquitto_publish(b->from, NULL, topic,
				(int)strlen(payload), payload, 1, false),
			    0);
		}
		turn(b, 1);
		ck_assert_msg(
		    mono_diff_ms(clock_mono(), start) < WAIT_S * INT64_C(1000),
		    "%d acknowledged", b->acked);
	}
	return N / ((double)mono_diff_ns(clock_mono(), start) / 1e9);
}

static inline bool
all_got(struct bench *b)
{
	return b->got == N;
}

/* ---- rounds -------------------------------------------------------------- */

static inline void
relay_bare(struct bench *b, fill_fn fill, const char *filter, double *rate)
{
	client_open(b, &b->from, b->bare.port);
	client_open(b, &b->to, b->bare.port);
	mosquitto_subscribe(b->to, NULL, filter, 1);
	while (b->got != -2)
		turn(b, 100);
	*rate = run(b, fill, all_got);
	client_close(&b->to);
	client_close(&b->from);
}

/* A way through the bridge, and what it takes. */
struct way {
	const char *name;
	double rate[ROUNDS], bare[ROUNDS];
	double cpu_us[PROCS]; /* of all rounds */
};

static inline void
through_bridge(
    struct bench *b, fill_fn fill, bool (*done)(struct bench *b), struct way *w)
{
	double before[PROCS], after[PROCS];
	int i;

	client_open(b, &b->from, b->bed.mqtt.port);
	all_cpu_us(b, before);
	w->rate[b->round] = run(b, fill, done);
	all_cpu_us(b, after);
	for (i = 0; i < PROCS; i++)
		w->cpu_us[i] += after[i] - before[i];
	client_close(&b->from);
}

static inline void
show(struct way *w)
{
	int i;

	tk_sort(w->rate, ROUNDS);
	tk_sort(w->bare, ROUNDS);
	printf("%-36s %8.0f %8.0f %6.2f  ", w->name, w->rate[ROUNDS / 2],
	    w->bare[ROUNDS / 2], w->rate[ROUNDS / 2] / w->bare[ROUNDS / 2]);
	for (i = 0; i < PROCS; i++)
		printf(" %6.1f", w->cpu_us[i] / N / ROUNDS);
	printf("\n");
	(void)fflush(stdout);
}

/* The line above the figures. */
static inline void
show_head(void)
{
	printf("messages per second, QoS 1, and processor time of each in us\n"
	       "%-36s %8s %8s %6s   %6s %6s %6s %6s\n",
	    "", "bridge", "bare", "ratio", "broker", "bridge", "redis", "nats");
}

/* Both brokers, and a bridge that leads. */
static inline struct bench *
bench_open(void)
{
	struct bench *b = mem_zalloc(sizeof(*b));

	bed_start(&b->bed);
	tk_server_start(&b->bare, TK_MOSQUITTO);
	mosquitto_lib_init();
	return b;
}

static inline void
bench_close(struct bench *b)
{
	mosquitto_lib_cleanup();
	bed_stop(&b->bed);
	free(b);
}

#endif /* !MQTT_BRIDGE_WAYS_H */
