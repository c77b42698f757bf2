/*
 * Messages per second to bodies through the bridge, beside what a bare client
 * gets through the same kind of broker in the same run, and how long it takes
 * to learn that an invoke was delivered.
 */
#include "bench/mqtt-bridge/ways.h"

#define BODIES  2000
#define INVOKES 2000
/* Updates on their way. */
#define AHEAD 1000

static void
update(struct bench *b, int i, char topic[128], char payload[512])
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
listen_to(struct bench *b, struct mosquitto **m, int port, const char *filter)
{
	client_open(b, m, port);
	mosquitto_subscribe(*m, NULL, filter, 1);
	while (b->got != -2)
		turn(b, 100);
	b->got = 0;
}

static void
updates(struct bench *b, struct way *w)
{
	char topic[128], payload[512], subject[128];
	double before[PROCS], after[PROCS];
	struct mono start;
	int i;

	listen_to(
	    b, &b->from, b->bed.mqtt.port, "soul/terminal/+/emotion_update");
	all_cpu_us(b, before);
	start = clock_mono();
	for (b->sent = 0; b->got < N;) {
		while (b->sent < N && b->sent - b->got < AHEAD) {
			update(b, b->sent, topic, payload);
			snprintf(subject, sizeof(subject),
			    "soul.body.main.f%d.emotion_update",
			    b->sent % BODIES);
			ck_assert_int_eq(natsConnection_PublishString(
					     b->bed.nc, subject, payload),
			    NATS_OK);
			b->sent++;
		}
		turn(b, 1);
		ck_assert_msg(
		    mono_diff_ms(clock_mono(), start) < WAIT_S * INT64_C(1000),
		    "%d came", b->got);
	}
	w->rate[b->round] =
	    N / ((double)mono_diff_ns(clock_mono(), start) / 1e9);
	all_cpu_us(b, after);
	for (i = 0; i < PROCS; i++)
		w->cpu_us[i] += after[i] - before[i];
	client_close(&b->from);
}

/* One after the other; the body only listens. */
static void
invokes(struct bench *b)
{
	static double us[INVOKES];
	struct terminal_writer writer = {
		.broker = STR("main"), .epoch = 1000, .ttl_ms = BED_TTL_S * 1000
	};
	char payload[128];
	natsMsg *m = NULL;
	struct mono t;
	int i;

	ck_assert_int_eq(
	    terminal_fixture_put_online(b->bed.db.s, &writer, STR("f1"), true, NULL),
	    RC_OK);
	listen_to(b, &b->from, b->bed.mqtt.port, "soul/terminal/+/invoke/+");
	for (i = 0; i < INVOKES; i++) {
		snprintf(payload, sizeof(payload),
		    "{\"request_id\":\"i%d\",\"skill\":\"nod\","
		    "\"arguments\":{}}",
		    i);
		t = clock_mono();
		ck_assert_int_eq(natsConnection_RequestString(&m, b->bed.nc,
				     "soul.body.main.f1.invoke", payload, 5000),
		    NATS_OK);
		us[i] = (double)mono_diff_ns(clock_mono(), t) / 1e3;
		ck_assert_ptr_nonnull(
		    strstr(natsMsg_GetData(m), "\"delivered\""));
		natsMsg_Destroy(m);
		turn(b, 0);
	}
	client_close(&b->from);
	tk_sort(us, INVOKES);
	printf("invoke, from request to \"delivered\": p50 %.0f us, p99 %.0f "
	       "us\n",
	    us[INVOKES / 2], us[INVOKES * 99 / 100]);
}

TEST_T(commands, 600)
{
	static struct way w = { .name = "emotion updates, until the body" };
	struct bench *b = bench_open();

	for (b->round = 0; b->round < ROUNDS; b->round++) {
		relay_bare(b, update, "soul/terminal/+/emotion_update",
		    &w.bare[b->round]);
		updates(b, &w);
	}
	show_head();
	show(&w);
	invokes(b);
	bench_close(b);
}
