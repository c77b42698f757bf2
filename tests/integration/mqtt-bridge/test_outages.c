/*
 * The broker, Redis or nats-server are killed and come back; the bridge
 * recovers without a restart.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/bridge_fixture.h"

#define INVOKE "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}"

static bool
outage_is_unready(void *arg)
{
	struct tk_response a = { 0 };
	bool is = tk_service_get(arg, &a, "/readyz") == 503;

	tk_response_free(&a);
	return is;
}

struct delivery_wait {
	struct bridge_fixture *b;
	const char *state;
};

static bool
outage_delivery_is(void *arg)
{
	struct delivery_wait *w = arg;

	return strcmp(bridge_fixture_deliver(
			  w->b, "soul.body.main.t1.invoke", INVOKE),
		   w->state) == 0;
}

static void
outage_expect_delivery(struct bridge_fixture *b, const char *state)
{
	struct delivery_wait w = { b, state };

	ck_assert_msg(tk_until(outage_delivery_is, &w, BRIDGE_WAIT_MS),
	    "never %s", state);
}

/* libmosquitto reconnects by itself, but the device must announce again. */
static void
outage_announce(struct mqtt_device *d, int version)
{
	int up = atomic_load(&d->up);
	char skills[128];

	mqtt_device_wait(&d->up, up);
	snprintf(skills, sizeof(skills),
	    "{\"skill_version\":%d,\"skills\":[{\"name\":\"skill_%d\"}]}",
	    version, version);
	mqtt_device_subscribe(d);
	mqtt_device_report(d, "online", "online");
	mqtt_device_report(d, "skills", skills);
}

TEST_T(the_bridge_survives_a_killed_broker, 90)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	int i;
	char skill[32];

	bridge_fixture_servers(&b, TK_MOSQUITTO_PERSISTENT);
	bridge_fixture_start_replica(&b, 0);
	mqtt_device_open(&d, &b, "t1");
	outage_announce(&d, 1);
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_1");
	outage_expect_delivery(&b, "delivered");
	for (i = 2; i < 4; i++) {
		int up = atomic_load(&d.up);

		tk_server_stop(&b.mqtt, SIGKILL);
		ck_assert(
		    tk_until(outage_is_unready, &b.bridge[0], BRIDGE_WAIT_MS));
		bridge_ck_delivery(&b, "t1.invoke", INVOKE, "unavailable");
		tk_server_restart(&b.mqtt);
		tk_service_wait(&b.bridge[0]);
		mqtt_device_wait(&d.up, up + 1);
		outage_announce(&d, i);
		snprintf(skill, sizeof(skill), "skill_%d", i);
		bridge_fixture_wait(
		    &b, "t1", bridge_terminal_has_skills, skill);
		outage_expect_delivery(&b, "delivered");
	}
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The leader has heard who is present: an action needs no Redis. */
TEST_T(presence_is_known_without_redis, 60)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	long long calls;

	bridge_fixture_start(&b);
	mqtt_device_open_online(&d, &b, "t1");
	calls = tk_service_metric(&b.bridge[0], "state_failures_total");
	tk_signal(&b.redis.proc, SIGSTOP);
	bridge_ck_delivery(&b, "t1.intent_action", ACTION, "delivered");
	tk_signal(&b.redis.proc, SIGCONT);
	ck_assert_int_eq(
	    tk_service_metric(&b.bridge[0], "state_failures_total"), calls);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST_T(the_bridge_survives_a_killed_redis, 90)
{
	struct mqtt_fleet f;
	struct bridge_fixture b;
	struct mqtt_device d;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	outage_announce(&d, 1);
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_1");
	mqtt_fleet_open(&f, &b, 200);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 1);
	mqtt_fleet_wait_acked(&f, 1);
	mqtt_fleet_expect(&f, 1, BRIDGE_WAIT_MS);

	tk_server_stop(&b.redis, SIGKILL);
	ck_assert(tk_until(outage_is_unready, &b.bridge[0], BRIDGE_WAIT_MS));
	/* Presence is unknown, so nothing is sent. */
	bridge_ck_delivery(&b, "t1.invoke", INVOKE, "unavailable");
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 2);
	mqtt_fleet_wait_acked(&f, 2);
	tk_server_restart(&b.redis);
	tk_service_wait(&b.bridge[0]);
	mqtt_fleet_expect(&f, 2, BRIDGE_WAIT_MS);
	mqtt_device_heartbeat(&d);
	outage_expect_delivery(&b, "delivered");
	mqtt_fleet_close(&f);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST_T(the_bridge_survives_a_killed_nats, 90)
{
	natsSubscription *results;
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	outage_announce(&d, 1);
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_1");
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_until(outage_is_unready, &b.bridge[0], BRIDGE_WAIT_MS));
	/* Reports are still processed. */
	bridge_ck_skills(&b, &d, SKILLS_V(2), "skill_2");
	tk_server_restart(&b.nats);
	tk_service_wait(&b.bridge[0]);
	natsConnection_Destroy(b.nc);
	b.nc = tk_nats_connect(b.nats.url);
	results = tk_nats_listen(b.nc, "soul.result.t1.*");
	outage_expect_delivery(&b, "delivered");
	mqtt_device_result(&d, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	bridge_ck_message(results);
	natsSubscription_Destroy(results);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* In any order. */
TEST_T(the_bridge_starts_before_its_servers, 90)
{
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_servers(&b, TK_MOSQUITTO);
	tk_server_stop(&b.mqtt, SIGKILL);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_stop(&b.nats, SIGKILL);
	bridge_fixture_spawn(&b, 0);
	ck_assert(tk_until(outage_is_unready, &b.bridge[0], BRIDGE_WAIT_MS));
	tk_server_restart(&b.redis);
	tk_server_restart(&b.mqtt);
	tk_server_restart(&b.nats);
	ck_assert(
	    tk_until(bridge_fixture_is_leader, &b.bridge[0], BRIDGE_WAIT_MS));
	tk_service_wait(&b.bridge[0]);
	mqtt_device_open(&d, &b, "t1");
	outage_announce(&d, 1);
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_1");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST_T(the_bridge_stops_without_its_servers, 90)
{
	struct bridge_fixture b;

	bridge_fixture_start(&b);
	tk_server_stop(&b.mqtt, SIGKILL);
	tk_server_stop(&b.redis, SIGKILL);
	tk_server_stop(&b.nats, SIGKILL);
	ck_assert(tk_until(outage_is_unready, &b.bridge[0], BRIDGE_WAIT_MS));
	bridge_fixture_stop(&b);
}

/* Its heartbeats stop without a will. */
TEST(a_silent_terminal_times_out)
{
	natsSubscription *events;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_servers(&b, TK_MOSQUITTO);
	b.more = "SKILL_SNAPSHOT_TTL_SECONDS=1";
	bridge_fixture_start_leader(&b, 0);
	events = tk_nats_listen(b.nc, "soul.event.terminal_online.t1");
	mqtt_device_init(&d, TOPIC_PREFIX, "t1");
	mqtt_device_connect(&d, &b);
	mqtt_device_report(&d, "online", "online");
	j = bridge_fixture_event(events, "payload.cause", "timeout");
	ck_assert(json_is_false(tk_at(j, "payload.online")));
	json_decref(j);
	bridge_ck_delivery(&b, "t1.invoke", INVOKE, "offline");
	/* The next heartbeat makes it present again. */
	mqtt_device_heartbeat(&d);
	j = bridge_fixture_event(events, "payload.cause", "heartbeat");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(wrong_configuration_exits_78)
{
	static const char *const wrong[] = { "MQTT_TOPIC_PREFIX=a/#",
		"MQTT_TOPIC_PREFIX=a/", "MQTT_TOPIC_PREFIX=$share/x",
		"MQTT_BROKER_URL=http://x", "REDIS_URL=x", "BROKER_ID=a\x01",
		"BROKER_ID=star" };
	struct bridge_fixture b = { 0 };
	size_t i;

	snprintf(b.nats.url, sizeof(b.nats.url), "nats://127.0.0.1:1");
	snprintf(b.redis.url, sizeof(b.redis.url), "redis://127.0.0.1:1");
	snprintf(b.mqtt.url, sizeof(b.mqtt.url), "mqtt://127.0.0.1:1");
	for (i = 0; i < NELEM(wrong); i++) {
		b.more = wrong[i];
		bridge_fixture_spawn(&b, 0);
		ck_assert_msg(tk_wait(&b.bridge[0].proc, BRIDGE_WAIT_MS) == 78,
		    "%s", wrong[i]);
	}
}
