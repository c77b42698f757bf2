/*
 * One terminal publishes as fast as it can: an invoke of another one is
 * answered within a second, and messages over the limits are not decoded.
 */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "state/terminal.h"
#include "testkit/broker_fixture.h"

#define EACH     15000
#define ROUND_MS 1000
/*
 * Rounds of each kind, and how many may exceed ROUND_MS on a busy machine when
 * the bridge has to receive everything.
 */
#define ROUNDS 20
#define LONGER 5

/* Each is published EACH times. */
static const struct flood_case {
	const char *leaf;
	size_t bytes;
	int qos;
	bool retain;
} cases[] = {
	{ "online", 6, 1, true },
	{ "heartbeat", 1, 0, false },
	{ "skills", 1000, 1, true },
	{ "intent_catalog", 1000, 1, true },
	{ "result/r", 100, 1, false },
	{ "result/%d", 100, 1, false },
	{ "result/%d", 100, 1, true },
};

static void
flood_publish_all(struct mqtt_device *t1, const struct flood_case *c)
{
	static char text[1001];
	char leaf[32], topic[512];
	int i;

	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "online", 6);
	for (i = 0; i < EACH; i++) {
		snprintf(leaf, sizeof(leaf), "%s", c->leaf);
		if (strcmp(c->leaf, "result/%d") == 0)
			snprintf(leaf, sizeof(leaf), "result/%d", i);
		mqtt_device_topic(t1, leaf, topic);
		mqtt_device_queue(t1, topic, (struct str){ text, c->bytes },
		    (struct mqtt_flags){ c->qos, c->retain });
	}
}

static long long
flood_dropped(struct attack_fixture *s)
{
	return tk_service_metric(&s->b.bridge[0], "soul_bridge_flood_total");
}

static void
flood_run(struct attack_fixture *s, int most_longer)
{
	double worst = 0, took;
	char request[32];
	struct mono at;
	struct mqtt_device t1;
	size_t i;
	int k, longer;

	attack_connect(&t1, s, "t1", s->k.bodies);
	mosquitto_max_inflight_messages_set(t1.mosq, 1000);
	for (i = 0; i < NELEM(cases); i++) {
		int before = atomic_load(&t1.acked);

		longer = 0;
		flood_publish_all(&t1, &cases[i]);
		for (k = 0;
		     k < ROUNDS || atomic_load(&t1.acked) < before + EACH;
		     k++) {
			snprintf(request, sizeof(request), "r%zu-%d", i, k);
			at = clock_mono();
			attack_ck_other_works(s, request);
			took = (double)mono_diff_ms(clock_mono(), at);
			worst = took > worst ? took : worst;
			longer += took > ROUND_MS;
		}
		ck_assert_msg(longer <= most_longer, "%s: %d rounds, %.0f ms",
		    cases[i].leaf, longer, worst);
	}
	printf("# worst round of the neighbour: %.0f ms\n", worst);
	ck_assert(bridge_fixture_terminal(&s->b, "t2").present);
	mqtt_device_close(&t1);
}

TEST_T(the_gate_shields_other_terminals, 200)
{
	struct attack_fixture s;

	attack_start(&s);
	flood_run(&s, 0);
	ck_assert_int_lt((int)flood_dropped(&s), EACH);
	ck_assert(
	    tk_log_has(&s.k.proc, "body t1: PUBLISH over its rate denied"));
	ck_assert(
	    tk_log_has(&s.b.bridge[0].proc, "ev=bridge.flood terminal=t1"));
	attack_stop(&s);
}

/* The plugin has no rate limit. */
TEST_T(the_bridge_alone_shields_other_terminals, 200)
{
	struct attack_fixture s;

	attack_start_with(&s, BROKER_ANY_RATE);
	flood_run(&s, LONGER);
	ck_assert_int_gt((int)flood_dropped(&s), EACH * (int)NELEM(cases) / 2);
	ck_assert(
	    tk_log_has(&s.b.bridge[0].proc, "ev=bridge.flood terminal=t1"));
	attack_stop(&s);
}

TEST_T(large_reports_cost_more, 60)
{
	static char text[1000000];
	natsSubscription *events;
	struct attack_fixture s;
	struct mqtt_device t1;
	int i;

	attack_start(&s);
	events = tk_nats_listen(s.b.nc, "soul.event.report_refused.t1");
	attack_connect(&t1, &s, "t1", s.k.bodies);
	memset(text, ' ', sizeof(text));
	memcpy(text, "[]", 2);
	for (i = 0; i < 20; i++)
		mqtt_device_publish(&t1, "soul/terminal/t1/skills",
		    (struct str){ text, sizeof(text) }, MQTT_QOS1);
	attack_ck_other_works(&s, "r1");
	ck_assert_int_ge((int)flood_dropped(&s), 10);
	/* The record keeps it only until a valid report. */
	json_decref(bridge_fixture_event(events, "payload.refusal.reason",
	    "too many messages: at most 20 a second are read"));
	natsSubscription_Destroy(events);
	mqtt_device_close(&t1);
	attack_stop(&s);
}

static bool
flood_counts_revoked(void *arg)
{
	struct attack_fixture *s = arg;

	return tk_service_metric(
		   &s->b.bridge[0], "soul_bridge_reports_revoked_total") > 0;
}

/* Its session is still connected, as one by certificate is. */
TEST_T(reports_of_a_revoked_terminal_are_rejected, 60)
{
	const struct credential c = { .terminal_id = STR("t1"),
		.created = { 1 } };
	natsSubscription *audit;
	struct attack_fixture s;
	struct mqtt_device t1;

	attack_start(&s);
	audit = tk_nats_listen(s.b.nc, "soul.event.audit.t1");
	ck_assert_int_eq(credential_mint(s.b.db.s, &c, NULL, NULL), RC_OK);
	attack_connect(&t1, &s, "t1", s.k.bodies);
	mqtt_device_subscribe(&t1);
	mqtt_device_report(&t1, "online", "online");
	bridge_ck_present(&s.b, "t1");
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	ck_assert(!bridge_fixture_terminal(&s.b, "t1").present);
	mqtt_device_report(&t1, "online", "online");
	mqtt_device_heartbeat(&t1);
	mqtt_device_report(&t1, "skills", SKILLS_V(1));
	ck_assert(tk_until(flood_counts_revoked, &s, BRIDGE_WAIT_MS));
	bridge_ck_denied(&s.b, audit, "t1", "its identity was revoked");
	attack_ck_other_works(&s, "r1");
	ck_assert(!bridge_fixture_terminal(&s.b, "t1").present);
	ck_assert_ptr_null(bridge_fixture_terminal(&s.b, "t1").skills.p);
	bridge_ck_delivery(&s.b, "t1.invoke",
	    "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}",
	    "offline");
	/* At most one per window. */
	ck_assert_ptr_null(tk_nats_next(audit, 1, NULL));
	natsSubscription_Destroy(audit);
	/* After minting it again, its reports count. */
	ck_assert_int_eq(credential_mint(s.b.db.s, &c, NULL, NULL), RC_OK);
	bridge_ck_skills(&s.b, &t1, SKILLS_V(1), "skill_1");
	mqtt_device_close(&t1);
	attack_stop(&s);
}
