/*
 * One body says all it can, as fast as it can: its neighbour's answers come
 * within a second, and what is over the limits is not even read.
 */
#include "attack.h"
#include "state/terminal.h"

#define EACH     15000
#define ROUND_MS 1000
/* Rounds of each kind, and those that a busy machine may make longer when the
 * bridge has to read all of it. */
#define ROUNDS 20
#define LONGER 5

/* Of what kind; each is published EACH times. */
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
say_all(struct body *t1, const struct flood_case *c)
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
		body_topic(t1, leaf, topic);
		ck_assert_int_eq(mosquitto_publish(t1->mosq, NULL, topic,
				     (int)c->bytes, text, c->qos, c->retain),
		    0);
	}
}

static long long
dropped(struct scene *s)
{
	return tk_service_metric(&s->b.bridge[0], "soul_bridge_flood_total");
}

static void
flood(struct scene *s, int most_longer)
{
	double worst = 0, took;
	char request[32];
	struct mono at;
	struct body t1;
	size_t i;
	int k, longer;

	enter(&t1, s, "t1", s->k.bodies);
	mosquitto_max_inflight_messages_set(t1.mosq, 1000);
	for (i = 0; i < NELEM(cases); i++) {
		int before = atomic_load(&t1.acked);

		longer = 0;
		say_all(&t1, &cases[i]);
		for (k = 0;
		     k < ROUNDS || atomic_load(&t1.acked) < before + EACH;
		     k++) {
			snprintf(request, sizeof(request), "r%zu-%d", i, k);
			at = clock_mono();
			ck_t2_works(s, request);
			took = (double)mono_diff_ms(clock_mono(), at);
			worst = took > worst ? took : worst;
			longer += took > ROUND_MS;
		}
		ck_assert_msg(longer <= most_longer, "%s: %d rounds, %.0f ms",
		    cases[i].leaf, longer, worst);
	}
	printf("# worst round of the neighbour: %.0f ms\n", worst);
	ck_assert(bed_terminal(&s->b, "t2").present);
	body_leave(&t1);
}

TEST_T(its_neighbour_does_not_notice, 200)
{
	struct scene s;

	open_scene(&s);
	flood(&s, 0);
	ck_assert_int_lt((int)dropped(&s), EACH);
	ck_assert(
	    tk_log_has(&s.k.proc, "body t1: PUBLISH over its rate is refused"));
	ck_assert(
	    tk_log_has(&s.b.bridge[0].proc, "ev=bridge.flood terminal=t1"));
	close_scene(&s);
}

/* A broker that hands all of it on. */
TEST_T(the_bridge_alone, 200)
{
	struct scene s;

	open_scene_of(&s, BROKER_ANY_RATE);
	flood(&s, LONGER);
	ck_assert_int_gt((int)dropped(&s), EACH * (int)NELEM(cases) / 2);
	ck_assert(
	    tk_log_has(&s.b.bridge[0].proc, "ev=bridge.flood terminal=t1"));
	close_scene(&s);
}

/* Large ones cost more of what a body may say. */
TEST_T(large_ones_cost_more, 60)
{
	static char text[1000000];
	natsSubscription *events;
	struct scene s;
	struct body t1;
	int i;

	open_scene(&s);
	events = tk_nats_listen(s.b.nc, "soul.event.report_refused.t1");
	enter(&t1, &s, "t1", s.k.bodies);
	memset(text, ' ', sizeof(text));
	memcpy(text, "[]", 2);
	for (i = 0; i < 20; i++)
		body_publish(&t1, "soul/terminal/t1/skills",
		    (struct str){ text, sizeof(text) }, (struct say){ 1, 0 });
	ck_t2_works(&s, "r1");
	ck_assert_int_ge((int)dropped(&s), 10);
	/* In the record it stands until one that is read counts. */
	json_decref(bed_event(events, "payload.refusal.reason",
	    "too many messages: at most 20 a second are read"));
	natsSubscription_Destroy(events);
	body_leave(&t1);
	close_scene(&s);
}

static bool
counts_revoked(void *arg)
{
	struct scene *s = arg;

	return tk_service_metric(
		   &s->b.bridge[0], "soul_bridge_reports_revoked_total") > 0;
}

/* Also one that is still connected, as by its certificate. */
TEST_T(a_revoked_body_does_not_count, 60)
{
	const struct credential c = { .terminal_id = STR("t1"),
		.created = { 1 } };
	natsSubscription *told;
	struct scene s;
	struct body t1;

	open_scene(&s);
	told = tk_nats_listen(s.b.nc, "soul.event.audit.t1");
	ck_assert_int_eq(credential_mint(s.b.db.s, &c, NULL, NULL), RC_OK);
	enter(&t1, &s, "t1", s.k.bodies);
	body_subscribe(&t1);
	body_report(&t1, "online", "online");
	bed_wait(&s.b, "t1", is_present, "present");
	ck_assert_int_eq(
	    credential_revoke(s.b.db.s, STR("t1"), NULL, NULL), RC_OK);
	ck_assert(!bed_terminal(&s.b, "t1").present);
	body_report(&t1, "online", "online");
	body_beat(&t1);
	body_report(&t1, "skills", SKILLS_V(1));
	ck_assert(tk_until(counts_revoked, &s, BED_MS));
	ck_denied(&s.b, told, "t1", "its identity was revoked");
	ck_t2_works(&s, "r1");
	ck_assert(!bed_terminal(&s.b, "t1").present);
	ck_assert_ptr_null(bed_terminal(&s.b, "t1").skills.p);
	ck_assert_str_eq(
	    bed_deliver(&s.b, "soul.body.main.t1.invoke",
		"{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}"),
	    "offline");
	/* Once in a while, however often it tries. */
	ck_assert_ptr_null(tk_nats_next(told, 1, NULL));
	natsSubscription_Destroy(told);
	/* Minted anew it is a body again. */
	ck_assert_int_eq(credential_mint(s.b.db.s, &c, NULL, NULL), RC_OK);
	body_report(&t1, "skills", SKILLS_V(1));
	bed_wait(&s.b, "t1", has_skills, "skill_1");
	body_leave(&t1);
	close_scene(&s);
}
