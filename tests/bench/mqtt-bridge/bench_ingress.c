/*
 * Messages per second from bodies through the bridge, beside what the same kind
 * of broker relays to a bare subscriber in the same run: QoS 1 everywhere.
 *
 * Results are timed until a NATS subscriber has them, reports until they are in
 * Redis.
 */
#include "bench/mqtt-bridge/ways.h"

#define BODIES 2000

/* ---- what is published --------------------------------------------------- */

static void
result(struct bench *b, int i, char topic[128], char payload[512])
{
	snprintf(topic, 128, "soul/terminal/f%d/result/r-%d-%d", i % BODIES,
	    b->round, i);
	snprintf(payload, 512,
	    "{\"request_id\":\"r-%d-%d\",\"ok\":true,\"output\":"
	    "\"control_light executed\"}",
	    b->round, i);
}

static void
skills(struct bench *b, int i, char topic[128], char payload[512])
{
	/* All of different bodies, and other than the round before. */
	snprintf(topic, 128, "soul/terminal/f%d/skills", i);
	snprintf(payload, 512,
	    "{\"terminal_id\":\"f%d\",\"skill_version\":%d,\"skills\":["
	    "{\"name\":\"control_light\",\"description\":\"控制灯\","
	    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"mode\":"
	    "{\"type\":\"string\",\"enum\":[\"on\",\"off\"]}}}}]}",
	    i, b->round + 1);
}

/* ---- when it is done ----------------------------------------------------- */

static bool
all_on_bus(struct bench *b)
{
	return atomic_load(&b->results) >= N;
}

static long long
metric(struct bench *b, const char *name)
{
	return tk_service_metric(&b->bed.bridge[0], name);
}

/* They are written in the order in which they came. */
static bool
all_written(struct bench *b)
{
	char last[16];

	snprintf(last, sizeof(last), "f%d", N - 1);
	return b->acked == N &&
	    bed_terminal(&b->bed, last).skill_version == b->round + 1;
}

static void
on_result(natsConnection *nc, natsSubscription *sub, natsMsg *m, void *arg)
{
	struct bench *b = arg;

	(void)nc;
	(void)sub;
	atomic_fetch_add(&b->results, 1);
	natsMsg_Destroy(m);
}

/* As if each had been invoked. */
static void
ask_all(struct bench *b)
{
	char id[32], request[48];
	struct terminal_expect_result ask = { .broker = STR("main"),
		.ttl_ms = BED_TTL_S * 1000,
		.note = STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba90"
			    "2b7-01 1 control_light") };
	bool here;
	int i;

	for (i = 0; i < N; i++) {
		snprintf(id, sizeof(id), "f%d", i % BODIES);
		snprintf(request, sizeof(request), "r-%d-%d", b->round, i);
		ask.request_id = str_of(request);
		ck_assert_int_eq(
		    terminal_expect_result(b->bed.db.s, str_of(id), &ask, &here), RC_OK);
		ck_assert(here);
	}
}

TEST_T(ingress, 600)
{
	static struct way asked = { .name = "results, until on the bus" },
			  unasked = { .name = "results nobody asked for" },
			  reports = { .name = "skills, until in Redis" };
	natsSubscription *sub = NULL;
	struct bench *b = bench_open();
	int i;

	ck_assert_int_eq(natsConnection_Subscribe(
			     &sub, b->bed.nc, "soul.result.>", on_result, b),
	    NATS_OK);
	for (i = 0; i < ROUNDS; i++) {
		b->round = i;
		relay_bare(
		    b, skills, "soul/terminal/+/skills", &reports.bare[i]);
		through_bridge(b, skills, all_written, &reports);
		relay_bare(
		    b, result, "soul/terminal/+/result/+", &asked.bare[i]);
		unasked.bare[i] = asked.bare[i];
		through_bridge(b, result, all_on_bus, &unasked);
		ask_all(b);
		through_bridge(b, result, all_on_bus, &asked);
	}
	show_head();
	show(&asked);
	show(&unasked);
	show(&reports);
	printf("events given up: %lld\n", metric(b, "svc_events_lost_total"));
	natsSubscription_Destroy(sub);
	bench_close(b);
}
