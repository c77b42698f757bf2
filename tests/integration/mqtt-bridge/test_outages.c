/*
 * The broker, Redis or nats-server go away and come back; nobody restarts a
 * bridge for that.
 */
#include "fleet.h"

#define INVOKE "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}"

static bool
is_unready(void *arg)
{
	struct tk_answer a = { 0 };
	bool is = tk_service_get(arg, &a, "/readyz") == 503;

	tk_answer_free(&a);
	return is;
}

struct delivery_wish {
	struct bed *b;
	const char *state;
};

static bool
is_delivered(void *arg)
{
	struct delivery_wish *w = arg;

	return strcmp(bed_deliver(w->b, "soul.body.main.t1.invoke", INVOKE),
		   w->state) == 0;
}

static void
expect_delivery(struct bed *b, const char *state)
{
	struct delivery_wish w = { b, state };

	ck_assert_msg(tk_until(is_delivered, &w, BED_MS), "never %s", state);
}

/* libmosquitto connects again by itself; it must say all again. */
static void
again(struct body *d, int version)
{
	int up = atomic_load(&d->up);
	char skills[128];

	body_wait(&d->up, up);
	snprintf(skills, sizeof(skills),
	    "{\"skill_version\":%d,\"skills\":[{\"name\":\"skill_%d\"}]}",
	    version, version);
	body_subscribe(d);
	body_report(d, "online", "online");
	body_report(d, "skills", skills);
}

TEST_T(the_broker_is_killed, 90)
{
	struct bed b;
	struct body d;
	int i;
	char skill[32];

	bed_servers(&b, TK_MOSQUITTO_KEEP);
	bridge_start_one(&b, 0);
	body_open(&d, &b, "t1");
	again(&d, 1);
	bed_wait(&b, "t1", has_skills, "skill_1");
	expect_delivery(&b, "delivered");
	for (i = 2; i < 4; i++) {
		int up = atomic_load(&d.up);

		tk_server_stop(&b.mqtt, SIGKILL);
		ck_assert(tk_until(is_unready, &b.bridge[0], BED_MS));
		ck_assert_str_eq(
		    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE),
		    "unavailable");
		tk_server_restart(&b.mqtt);
		tk_service_wait(&b.bridge[0]);
		body_wait(&d.up, up + 1);
		again(&d, i);
		snprintf(skill, sizeof(skill), "skill_%d", i);
		bed_wait(&b, "t1", has_skills, skill);
		expect_delivery(&b, "delivered");
	}
	body_leave(&d);
	bed_stop(&b);
}

TEST_T(redis_is_killed, 90)
{
	struct fleet f;
	struct bed b;
	struct body d;
	int i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	again(&d, 1);
	bed_wait(&b, "t1", has_skills, "skill_1");
	fleet_open(&f, &b, 200);
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 1);
	fleet_settle(&f, 1);
	fleet_expect(&f, 1, BED_MS);

	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(is_unready, &b.bridge[0], BED_MS));
	/* Whether it is there cannot be known, so nothing is sent. */
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE), "unavailable");
	for (i = 0; i < f.n; i++)
		fleet_announce(&f, i, 2);
	fleet_settle(&f, 2);
	tk_server_restart(&b.redis);
	tk_service_wait(&b.bridge[0]);
	fleet_expect(&f, 2, BED_MS);
	body_beat(&d);
	expect_delivery(&b, "delivered");
	fleet_free(&f);
	body_leave(&d);
	bed_stop(&b);
}

TEST_T(nats_is_killed, 90)
{
	natsSubscription *results;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	body_open(&d, &b, "t1");
	again(&d, 1);
	bed_wait(&b, "t1", has_skills, "skill_1");
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_until(is_unready, &b.bridge[0], BED_MS));
	/* Bodies are listened to all the same. */
	body_report(&d, "skills", SKILLS_V(2));
	bed_wait(&b, "t1", has_skills, "skill_2");
	tk_server_restart(&b.nats);
	tk_service_wait(&b.bridge[0]);
	natsConnection_Destroy(b.nc);
	b.nc = tk_nats_connect(b.nats.url);
	results = tk_nats_listen(b.nc, "soul.result.t1.*");
	expect_delivery(&b, "delivered");
	body_answer(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	j = tk_nats_next(results, BED_MS, NULL);
	ck_assert_ptr_nonnull(j);
	json_decref(j);
	natsSubscription_Destroy(results);
	body_leave(&d);
	bed_stop(&b);
}

/* In whatever order they come up. */
TEST_T(it_starts_before_its_servers, 90)
{
	struct bed b;
	struct body d;

	bed_servers(&b, TK_MOSQUITTO);
	tk_server_stop(&b.mqtt, SIGKILL);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_stop(&b.nats, SIGKILL);
	bridge_spawn(&b, 0);
	ck_assert(tk_until(is_unready, &b.bridge[0], BED_MS));
	tk_server_restart(&b.redis);
	tk_server_restart(&b.mqtt);
	tk_server_restart(&b.nats);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	tk_service_wait(&b.bridge[0]);
	body_open(&d, &b, "t1");
	again(&d, 1);
	bed_wait(&b, "t1", has_skills, "skill_1");
	body_leave(&d);
	bed_stop(&b);
}

TEST_T(it_ends_without_its_servers, 90)
{
	struct bed b;

	bed_start(&b);
	tk_server_stop(&b.mqtt, SIGKILL);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_until(is_unready, &b.bridge[0], BED_MS));
	bed_stop(&b);
}

/* A body whose heartbeats stop, without a will. */
TEST(a_body_falls_silent)
{
	natsSubscription *events;
	struct bed b;
	struct body d;
	json_t *j;

	bed_servers(&b, TK_MOSQUITTO);
	b.more = "SKILL_SNAPSHOT_TTL_SECONDS=1";
	bridge_start_one(&b, 0);
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	events = tk_nats_listen(b.nc, "soul.event.terminal_online.t1");
	body_init(&d, PREFIX, "t1");
	body_connect(&d, &b);
	body_report(&d, "online", "online");
	j = bed_event(events, "payload.cause", "timeout");
	ck_assert(json_is_false(tk_at(j, "payload.online")));
	json_decref(j);
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke", INVOKE), "offline");
	/* It is there again with the next one. */
	body_beat(&d);
	j = bed_event(events, "payload.cause", "heartbeat");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

TEST(wrong_configuration)
{
	static const char *const wrong[] = { "MQTT_TOPIC_PREFIX=a/#",
		"MQTT_TOPIC_PREFIX=a/", "MQTT_TOPIC_PREFIX=$share/x",
		"MQTT_BROKER_URL=http://x", "REDIS_URL=x", "BROKER_ID=a\x01" };
	struct bed b = { 0 };
	size_t i;

	snprintf(b.nats.url, sizeof(b.nats.url), "nats://127.0.0.1:1");
	snprintf(b.redis.url, sizeof(b.redis.url), "redis://127.0.0.1:1");
	snprintf(b.mqtt.url, sizeof(b.mqtt.url), "mqtt://127.0.0.1:1");
	for (i = 0; i < NELEM(wrong); i++) {
		b.more = wrong[i];
		bridge_spawn(&b, 0);
		ck_assert_msg(
		    tk_wait(&b.bridge[0].proc, BED_MS) == 78, "%s", wrong[i]);
	}
}
