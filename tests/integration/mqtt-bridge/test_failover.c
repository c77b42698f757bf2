/*
 * Replicas that are killed, paused or stopped: another one reads the reports,
 * nothing is lost, and nothing stale is delivered.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "testkit/bridge_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FLEET 400
#else
#define FLEET 5000
#endif
/* The limit in the architecture document. */
#define TAKEOVER_MS 5000

static bool
failover_has_one_leader(void *arg)
{
	struct bridge_fixture *b = arg;
	int i, n = 0;

	for (i = 0; i < BRIDGE_REPLICAS; i++)
		if (b->bridge[i].proc.pid != 0 &&
		    tk_service_metric(&b->bridge[i], "soul_bridge_leads") == 1)
			n++;
	return n == 1;
}

static int
failover_leader(struct bridge_fixture *b)
{
	int i;

	ck_assert(tk_until(failover_has_one_leader, b, BRIDGE_WAIT_MS));
	for (i = 0; i < BRIDGE_REPLICAS; i++)
		if (b->bridge[i].proc.pid != 0 &&
		    tk_service_metric(&b->bridge[i], "soul_bridge_leads") == 1)
			return i;
	ck_abort_msg("no replica leads");
	return -1;
}

static void
failover_start_two(struct bridge_fixture *b)
{
	bridge_fixture_servers(b, TK_MOSQUITTO);
	bridge_fixture_start_replica(b, 0);
	bridge_fixture_start_replica(b, 1);
	(void)failover_leader(b);
}

static bool
failover_took_over(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_leads") == 1;
}

/* The leader is killed in the middle of the announcements. */
TEST_T(a_killed_leader_loses_nothing, 120)
{
	struct mqtt_fleet f;
	struct bridge_fixture b;
	int i, first;

	failover_start_two(&b);
	first = failover_leader(&b);
	mqtt_fleet_open(&f, &b, FLEET);
	for (i = 0; i < FLEET; i++) {
		mqtt_fleet_announce(&f, i, 1);
		if (i == FLEET / 2)
			tk_service_kill(&b.bridge[first]);
	}
	ck_assert(
	    tk_until(failover_took_over, &b.bridge[1 - first], TAKEOVER_MS));
	mqtt_fleet_wait_acked(&f, 1);
	mqtt_fleet_expect(&f, 1, BRIDGE_WAIT_MS);
	/* And back, while all of them change. */
	bridge_fixture_start_replica(&b, first);
	for (i = 0; i < FLEET; i++) {
		mqtt_fleet_announce(&f, i, 2);
		if (i == FLEET / 2)
			tk_service_kill(&b.bridge[1 - first]);
	}
	ck_assert(tk_until(failover_took_over, &b.bridge[first], TAKEOVER_MS));
	mqtt_fleet_wait_acked(&f, 2);
	mqtt_fleet_expect(&f, 2, BRIDGE_WAIT_MS);
	mqtt_fleet_close(&f);
	bridge_fixture_stop(&b);
}

TEST(a_leader_releases_the_lease_on_sigterm)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	int first;

	failover_start_two(&b);
	first = failover_leader(&b);
	mqtt_device_open(&d, &b, "t1");
	bridge_ck_skills(&b, &d, SKILLS_V(1), "skill_1");
	tk_service_end(&b.bridge[first]);
	ck_assert(tk_until(
	    bridge_fixture_is_leader, &b.bridge[1 - first], TAKEOVER_MS));
	bridge_ck_skills(&b, &d, SKILLS_V(2), "skill_2");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

static bool
failover_is_follower(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_leads") == 0;
}

/* It continues with what it had queued. */
TEST_T(a_paused_leader_writes_nothing_stale, 120)
{
	struct terminal t;
	struct mqtt_fleet f;
	struct bridge_fixture b;
	int i, first;
	char id[16];

	failover_start_two(&b);
	first = failover_leader(&b);
	mqtt_fleet_open(&f, &b, FLEET / 4);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 1);
	mqtt_fleet_wait_acked(&f, 1);
	mqtt_fleet_expect(&f, 1, BRIDGE_WAIT_MS);
	tk_signal(&b.bridge[first].proc, SIGSTOP);
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 2);
	ck_assert(tk_until(
	    bridge_fixture_is_leader, &b.bridge[1 - first], TAKEOVER_MS));
	for (i = 0; i < f.n; i++)
		mqtt_fleet_announce(&f, i, 3);
	mqtt_fleet_wait_acked(&f, 3);
	mqtt_fleet_expect(&f, 3, BRIDGE_WAIT_MS);
	tk_signal(&b.bridge[first].proc, SIGCONT);
	ck_assert(
	    tk_until(failover_is_follower, &b.bridge[first], BRIDGE_WAIT_MS));
	mqtt_fleet_expect(&f, 3, BRIDGE_WAIT_MS);
	/* It did not reject what only it considered old. */
	for (i = 0; i < f.n; i++) {
		snprintf(id, sizeof(id), "f%d", i);
		t = bridge_fixture_terminal(&b, id);
		ck_assert_ptr_null(
		    bridge_terminal_error(&t, TERMINAL_REJECTED_N).p);
	}
	ck_assert_int_eq(failover_leader(&b), 1 - first);
	mqtt_fleet_close(&f);
	bridge_fixture_stop(&b);
}

/* ---- commands ---- */

/* Largest delay of a command after its own deadline. */
static _Atomic int64_t failover_worst_ms = INT64_MIN;
static _Atomic int failover_invokes;

static void
failover_on_invoke(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	json_t *j = json_loadb(m->payload, (size_t)m->payloadlen, 0, NULL);
	int64_t ms = clock_wall().ms -
	    json_integer_value(json_object_get(j, "deadline_ms"));

	(void)mosq;
	(void)arg;
	if (ms > atomic_load(&failover_worst_ms))
		atomic_store(&failover_worst_ms, ms);
	atomic_fetch_add(&failover_invokes, 1);
	json_decref(j);
}

static int
failover_send_command(struct bridge_fixture *b, int i)
{
	char payload[256];
	int64_t deadline = clock_wall().ms + 1000;
	struct bridge_reply a;
	int delivered;

	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"r%d\",\"skill\":\"nod\",\"arguments\":{},"
	    "\"deadline_ms\":%lld}",
	    i, (long long)deadline);
	a = bridge_fixture_request_at(
	    b, "soul.body.main.t1.invoke", payload, -1000);
	delivered = strcmp(tk_find_text(a.body, "state"), "delivered") == 0;
	json_decref(a.body);
	return delivered;
}

/* Either replica is killed in turn. */
TEST_T(no_command_arrives_after_its_deadline, 120)
{
	int i, replica, delivered = 0;
	struct bridge_fixture b;
	struct mqtt_device d;

	failover_start_two(&b);
	mqtt_device_open(&d, &b, "t1");
	mosquitto_message_callback_set(d.mosq, failover_on_invoke);
	mqtt_device_report(&d, "online", "online");
	bridge_ck_present(&b, "t1");
	for (i = 0; i < 400; i++) {
		if (i % 100 == 50) {
			replica = i / 100 % 2;
			tk_service_kill(&b.bridge[replica]);
			bridge_fixture_spawn(&b, replica);
		}
		delivered += failover_send_command(&b, i);
	}
	/* Each kill may take one pending command with it. */
	ck_assert_int_ge(delivered, 380);
	mqtt_device_wait(&failover_invokes, delivered);
	ck_assert_int_lt(atomic_load(&failover_worst_ms), 250);
	mqtt_device_close(&d);
	for (i = 0; i < 2; i++)
		tk_service_wait(&b.bridge[i]);
	bridge_fixture_stop(&b);
}
