/*
 * Latency of observe over NATS (three round trips to Redis, one of them synced
 * to disk), beside the gate (one), with one client.
 */
#include "core/mem.h"
#include "testkit/emotion_fixture.h"
#include "testkit/figures.h"

#define REQUESTS 3000

static void
measure(struct emotion_fixture *b, const char *subject, const char *body)
{
	double us[REQUESTS];
	struct mono from;
	natsMsg *m;
	int i;

	for (i = 0; i < REQUESTS; i++) {
		from = clock_mono();
		ck_assert_int_eq(natsConnection_RequestString(&m, b->nc,
				     subject, body, EMOTION_FIXTURE_MS),
		    NATS_OK);
		us[i] = (double)mono_diff_ns(clock_mono(), from) / 1e3;
		natsMsg_Destroy(m);
	}
	tk_sort(us, REQUESTS);
	printf("%-28s p50 %6.0f us, p99 %6.0f us\n", subject, us[REQUESTS / 2],
	    us[REQUESTS * 99 / 100]);
	(void)fflush(stdout);
}

TEST_T(latency_of_observe_and_gate, 120)
{
	struct emotion_fixture b;

	emotion_fixture_start(&b, 1, NULL);
	emotion_fixture_soul(&b, "soul_a", "INFP");
	emotion_fixture_body(&b, "t-1", "soul_a", true);
	measure(&b, "soul.rpc.emotion.gate", "{\"soul_id\":\"soul_a\"}");
	measure(&b, "soul.rpc.emotion.observe",
	    "{\"soul_id\":\"soul_a\",\"session_id\":\"s1\","
	    "\"terminal_id\":\"t-1\",\"text\":\"我今天很开心\"}");
	emotion_fixture_stop(&b);
}
