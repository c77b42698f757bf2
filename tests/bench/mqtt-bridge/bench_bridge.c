/*
 * Messages per second through the bridge, beside what the same kind of broker
 * relays between bare clients in the same run, with QoS 1 everywhere; and the
 * latency of an invoke.
 */
#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/bridge_fixture.h"
#include "testkit/figures.h"
#include "testkit/terminal_fixture.h"

#define ROUNDS 5
#define N      20000
/* Unacknowledged publishes. */
#define WINDOW 100
#define WAIT_S 120

struct bench {
	struct bridge_fixture bridge;
	struct tk_server bare; /* a broker without a bridge */
	struct mosquitto *from, *to;
	int sent, acked, got; /* by the two clients */
	_Atomic int results;  /* on the bus */
	int round;
};

/* ---- bare clients ---- */

static void
bench_on_acked(struct mosquitto *mosq, void *arg, int mid)
{
	struct bench *b = arg;

	(void)mosq;
	(void)mid;
	b->acked++;
}

static void
bench_on_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct bench *b = arg;

	(void)mosq;
	(void)m;
	b->got++;
}

static void
bench_on_connect(struct mosquitto *mosq, void *arg, int rc)
{
	struct bench *b = arg;

	(void)mosq;
	ck_assert_int_eq(rc, 0);
	b->got = -1;
}

static void
bench_on_subscribe(
    struct mosquitto *mosq, void *arg, int mid, int n, const int *qos)
{
	struct bench *b = arg;

	(void)mosq;
	(void)mid;
	(void)n;
	(void)qos;
	b->got = -2;
}

/* Let both clients read and write. */
static void
bench_poll(struct bench *b, int ms)
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

static void
bench_client_open(struct bench *b, struct mosquitto **m, int port)
{
	*m = mosquitto_new(NULL, true, b);
	mosquitto_int_option(*m, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
	mosquitto_int_option(*m, MOSQ_OPT_TCP_NODELAY, 1);
	mosquitto_max_inflight_messages_set(*m, 1000);
	mosquitto_connect_callback_set(*m, bench_on_connect);
	mosquitto_publish_callback_set(*m, bench_on_acked);
	mosquitto_message_callback_set(*m, bench_on_message);
	mosquitto_subscribe_callback_set(*m, bench_on_subscribe);
	b->got = 0;
	ck_assert_int_eq(mosquitto_connect_async(*m, "127.0.0.1", port, 60), 0);
	while (b->got != -1)
		bench_poll(b, 100);
}

static void
bench_client_close(struct mosquitto **m)
{
	mosquitto_disconnect(*m);
	mosquitto_destroy(*m);
	*m = NULL;
}

/* ---- processor time ---- */

enum { BROKER, BRIDGE, REDIS, NATS, PROCS };

static void
bench_cpu_us(const struct bench *b, double v[PROCS])
{
	v[BROKER] = tk_cpu_us(b->bridge.mqtt.proc.pid);
	v[BRIDGE] = tk_cpu_us(b->bridge.bridge[0].proc.pid);
	v[REDIS] = tk_cpu_us(b->bridge.redis.proc.pid);
	v[NATS] = tk_cpu_us(b->bridge.nats.proc.pid);
}

typedef void (*bench_fill_fn)(
    struct bench *b, int i, char topic[128], char payload[512]);

/* Publish as fast as the broker accepts, until done() returns true. */
static double
bench_run(struct bench *b, bench_fill_fn fill, bool (*done)(struct bench *b))
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
		bench_poll(b, 1);
		ck_assert_msg(
		    mono_diff_ms(clock_mono(), start) < WAIT_S * INT64_C(1000),
		    "%d acknowledged", b->acked);
	}
	return N / ((double)mono_diff_ns(clock_mono(), start) / 1e9);
}

static bool
bench_all_received(struct bench *b)
{
	return b->got == N;
}

/* ---- rounds ---- */

static void
bench_relay_bare(
    struct bench *b, bench_fill_fn fill, const char *filter, double *rate)
{
	bench_client_open(b, &b->from, b->bare.port);
	bench_client_open(b, &b->to, b->bare.port);
	mosquitto_subscribe(b->to, NULL, filter, 1);
	while (b->got != -2)
		bench_poll(b, 100);
	*rate = bench_run(b, fill, bench_all_received);
	bench_client_close(&b->to);
	bench_client_close(&b->from);
}

/* A path through the bridge, and its cost. */
struct bench_path {
	const char *name;
	double rate[ROUNDS], bare[ROUNDS];
	double cpu_us[PROCS]; /* of all rounds */
};

static void
bench_through_bridge(struct bench *b, bench_fill_fn fill,
    bool (*done)(struct bench *b), struct bench_path *w)
{
	double before[PROCS], after[PROCS];
	int i;

	bench_client_open(b, &b->from, b->bridge.mqtt.port);
	bench_cpu_us(b, before);
	w->rate[b->round] = bench_run(b, fill, done);
	bench_cpu_us(b, after);
	for (i = 0; i < PROCS; i++)
		w->cpu_us[i] += after[i] - before[i];
	bench_client_close(&b->from);
}

static void
bench_show(struct bench_path *w)
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

static void
bench_show_head(void)
{
	printf("messages per second, QoS 1, and processor time of each in us\n"
	       "%-36s %8s %8s %6s   %6s %6s %6s %6s\n",
	    "", "bridge", "bare", "ratio", "broker", "bridge", "redis", "nats");
}

/* Both brokers, and a bridge that leads. */
static struct bench *
bench_open(void)
{
	struct bench *b = mem_zalloc(sizeof(*b));

	bridge_fixture_start(&b->bridge);
	tk_server_start(&b->bare, TK_MOSQUITTO);
	mosquitto_lib_init();
	return b;
}

static void
bench_close(struct bench *b)
{
	mosquitto_lib_cleanup();
	bridge_fixture_stop(&b->bridge);
	free(b);
}

/* ---- to devices ---- */

#define BODIES  2000
#define INVOKES 2000
/* Unreceived updates. */
#define AHEAD 1000

static void
bench_update(struct bench *b, int i, char topic[128], char payload[512])
{
	(void)b;
	snprintf(topic, 128, "soul/terminal/f%d/emotion_update", i % BODIES);
	snprintf(payload, 512,
	    "{\"session_id\":\"system_decay_tick\",\"terminal_id\":\"f%d\","
	    "\"soul_id\":\"soul_x\",\"user_emotion\":{\"emotion\":\"neutral\","
	    "\"p\":0,\"a\":0,\"d\":0,\"intensity\":0},\"soul_emotion\":{\"p\":"
	    "-0.23,\"a\":0.08,\"d\":-0.05},\"exec_probability\":0.41,"
	    "\"exec_mode\":\"blocked\",\"ts\":\"2026-02-22T10:20:30Z\"}",
	    i % BODIES);
}

static void
bench_listen(
    struct bench *b, struct mosquitto **m, int port, const char *filter)
{
	bench_client_open(b, m, port);
	mosquitto_subscribe(*m, NULL, filter, 1);
	while (b->got != -2)
		bench_poll(b, 100);
	b->got = 0;
}

static void
bench_updates(struct bench *b, struct bench_path *w)
{
	char topic[128], payload[512], subject[128];
	double before[PROCS], after[PROCS];
	struct mono start;
	int i;

	bench_listen(
	    b, &b->from, b->bridge.mqtt.port, "soul/terminal/+/emotion_update");
	bench_cpu_us(b, before);
	start = clock_mono();
	for (b->sent = 0; b->got < N;) {
		while (b->sent < N && b->sent - b->got < AHEAD) {
			bench_update(b, b->sent, topic, payload);
			snprintf(subject, sizeof(subject),
			    "soul.body.main.f%d.emotion_update",
			    b->sent % BODIES);
			ck_assert_int_eq(natsConnection_PublishString(
					     b->bridge.nc, subject, payload),
			    NATS_OK);
			b->sent++;
		}
		bench_poll(b, 1);
		ck_assert_msg(
		    mono_diff_ms(clock_mono(), start) < WAIT_S * INT64_C(1000),
		    "%d came", b->got);
	}
	w->rate[b->round] =
	    N / ((double)mono_diff_ns(clock_mono(), start) / 1e9);
	bench_cpu_us(b, after);
	for (i = 0; i < PROCS; i++)
		w->cpu_us[i] += after[i] - before[i];
	bench_client_close(&b->from);
}

/* Sequentially; the device only receives. */
static void
bench_invokes(struct bench *b)
{
	static double us[INVOKES];
	struct terminal_writer writer = { .broker = STR("main"),
		.epoch = 1000,
		.ttl_ms = BRIDGE_TTL_S * 1000 };
	char payload[128];
	natsMsg *m = NULL;
	struct mono t;
	int i;

	ck_assert_int_eq(terminal_fixture_put_online(
			     b->bridge.db.s, &writer, STR("f1"), true, NULL),
	    RC_OK);
	bench_listen(
	    b, &b->from, b->bridge.mqtt.port, "soul/terminal/+/invoke/+");
	for (i = 0; i < INVOKES; i++) {
		snprintf(payload, sizeof(payload),
		    "{\"request_id\":\"i%d\",\"skill\":\"nod\","
		    "\"arguments\":{}}",
		    i);
		t = clock_mono();
		ck_assert_int_eq(natsConnection_RequestString(&m, b->bridge.nc,
				     "soul.body.main.f1.invoke", payload, 5000),
		    NATS_OK);
		us[i] = (double)mono_diff_ns(clock_mono(), t) / 1e3;
		ck_assert_ptr_nonnull(
		    strstr(natsMsg_GetData(m), "\"delivered\""));
		natsMsg_Destroy(m);
		bench_poll(b, 0);
	}
	bench_client_close(&b->from);
	tk_sort(us, INVOKES);
	printf("invoke, from request to \"delivered\": p50 %.0f us, p99 %.0f "
	       "us\n",
	    us[INVOKES / 2], us[INVOKES * 99 / 100]);
}

TEST_T(commands_to_devices, 600)
{
	static struct bench_path w = { .name =
					   "emotion updates, until the body" };
	struct bench *b = bench_open();

	for (b->round = 0; b->round < ROUNDS; b->round++) {
		bench_relay_bare(b, bench_update,
		    "soul/terminal/+/emotion_update", &w.bare[b->round]);
		bench_updates(b, &w);
	}
	bench_show_head();
	bench_show(&w);
	bench_invokes(b);
	bench_close(b);
}

/* ---- from devices ---- */

static void
bench_result(struct bench *b, int i, char topic[128], char payload[512])
{
	snprintf(topic, 128, "soul/terminal/f%d/result/r-%d-%d", i % BODIES,
	    b->round, i);
	snprintf(payload, 512,
	    "{\"request_id\":\"r-%d-%d\",\"ok\":true,\"output\":"
	    "\"control_light executed\"}",
	    b->round, i);
}

static void
bench_skills(struct bench *b, int i, char topic[128], char payload[512])
{
	/* Different terminals, and another version in each round. */
	snprintf(topic, 128, "soul/terminal/f%d/skills", i);
	snprintf(payload, 512,
	    "{\"terminal_id\":\"f%d\",\"skill_version\":%d,\"skills\":["
	    "{\"name\":\"control_light\",\"description\":\"控制灯\","
	    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"mode\":"
	    "{\"type\":\"string\",\"enum\":[\"on\",\"off\"]}}}}]}",
	    i, b->round + 1);
}

static bool
bench_all_on_bus(struct bench *b)
{
	return atomic_load(&b->results) >= N;
}

static long long
bench_metric(struct bench *b, const char *name)
{
	return tk_service_metric(&b->bridge.bridge[0], name);
}

/* Reports are written in order of arrival. */
static bool
bench_all_written(struct bench *b)
{
	char last[16];

	snprintf(last, sizeof(last), "f%d", N - 1);
	return b->acked == N &&
	    bridge_fixture_terminal(&b->bridge, last).skill_version ==
	    b->round + 1;
}

static void
bench_on_result(
    natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct bench *b = arg;

	(void)nc;
	(void)sub;
	atomic_fetch_add(&b->results, 1);
	natsMsg_Destroy(m);
}

/* As if each had been invoked. */
static void
bench_invoke_all(struct bench *b)
{
	char id[32], request[48];
	struct terminal_expect_result wait = { .broker = STR("main"),
		.ttl_ms = BRIDGE_TTL_S * 1000,
		.note = STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba90"
			    "2b7-01 1 control_light") };
	bool present;
	int i;

	for (i = 0; i < N; i++) {
		snprintf(id, sizeof(id), "f%d", i % BODIES);
		snprintf(request, sizeof(request), "r-%d-%d", b->round, i);
		wait.request_id = str_of(request);
		ck_assert_int_eq(terminal_expect_result(b->bridge.db.s,
				     str_of(id), &wait, &present),
		    RC_OK);
		ck_assert(present);
	}
}

TEST_T(reports_from_devices, 600)
{
	static struct bench_path
	    expected = { .name = "results, until on the bus" },
	    unexpected = { .name = "results without an invoke" },
	    reports = { .name = "skills, until in Redis" };
	natsSubscription *sub = NULL;
	struct bench *b = bench_open();
	int i;

	ck_assert_int_eq(natsConnection_Subscribe(&sub, b->bridge.nc,
			     "soul.result.>", bench_on_result, b),
	    NATS_OK);
	for (i = 0; i < ROUNDS; i++) {
		b->round = i;
		bench_relay_bare(b, bench_skills, "soul/terminal/+/skills",
		    &reports.bare[i]);
		bench_through_bridge(
		    b, bench_skills, bench_all_written, &reports);
		bench_relay_bare(b, bench_result, "soul/terminal/+/result/+",
		    &expected.bare[i]);
		unexpected.bare[i] = expected.bare[i];
		bench_through_bridge(
		    b, bench_result, bench_all_on_bus, &unexpected);
		bench_invoke_all(b);
		bench_through_bridge(
		    b, bench_result, bench_all_on_bus, &expected);
	}
	bench_show_head();
	bench_show(&expected);
	bench_show(&unexpected);
	bench_show(&reports);
	printf("events given up: %lld\n",
	    bench_metric(b, "svc_events_lost_total"));
	natsSubscription_Destroy(sub);
	bench_close(b);
}
