/* Reports: presence, snapshots and their versions, in both forms. */
#include "testkit/bridge_fixture.h"

TEST(an_announcement_is_stored_and_published)
{
	struct terminal t;
	natsSubscription *events;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.*.t1");
	mqtt_device_open_online(&d, &b, "t1");
	j = bridge_fixture_event(events, "type", "terminal_online");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	ck_assert_str_eq(tk_find_text(j, "payload.cause"), "report");
	ck_assert_str_eq(tk_find_text(j, "payload.broker"), "main");
	ck_assert_str_eq(tk_find_text(j, "source"), "mqtt-bridge");
	json_decref(j);

	bridge_ck_skills(&b, &d, SKILLS_V(3), "skill_3");
	j = bridge_fixture_event(events, "type", "terminal_skills");
	ck_assert_int_eq(
	    json_integer_value(tk_at(j, "payload.skill_version")), 3);
	ck_assert_uint_eq(json_array_size(tk_at(j, "payload.skills")), 2);
	ck_assert_str_eq(tk_find_text(j, "payload.soul_hint"), "friendly");
	json_decref(j);

	bridge_ck_catalog(&b, &d, CATALOG_V(12), "intent_12");
	j = bridge_fixture_event(events, "type", "terminal_intents");
	ck_assert_int_eq(
	    json_integer_value(tk_at(j, "payload.catalog_version")), 12);
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert_uint_eq(t.catalog_hash.n, 64);
	ck_assert_str_eq(
	    tk_find_text(j, "payload.catalog_hash"), t.catalog_hash.p);
	json_decref(j);

	ck_assert_int_eq(t.skill_version, 3);
	ck_assert_int_eq(t.catalog_version, 12);
	ck_assert_str_eq(t.broker.p, "main");
	ck_assert_str_eq(t.soul_hint.p, "friendly");
	ck_assert_ptr_null(bridge_terminal_error(&t, TERMINAL_REJECTED_N).p);
	ck_assert(t.present);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(every_spelling_of_online_is_read)
{
	static const char *const on[] = { "online", "true", "1", "ONLINE",
		" True\n" };
	static const char *const off[] = { "offline", "false", "0", "Offline",
		"FALSE " };
	struct bridge_fixture b;
	struct mqtt_device d;
	size_t i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	for (i = 0; i < 5; i++) {
		mqtt_device_report(&d, "online", on[i]);
		bridge_ck_present(&b, "t1");
		mqtt_device_report(&d, "online", off[i]);
		bridge_fixture_wait(&b, "t1", bridge_terminal_present, "gone");
	}
	mqtt_device_report(&d, "online", "perhaps");
	bridge_fixture_wait(
	    &b, "t1", bridge_terminal_has_error, "\"kind\":\"online\"");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

TEST(a_will_and_a_return_change_presence)
{
	natsSubscription *events;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.terminal_online.t1");
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_report(&d, "online", "1");
	bridge_ck_present(&b, "t1");
	mqtt_device_crash(&d);
	bridge_fixture_wait(&b, "t1", bridge_terminal_present, "gone");
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_heartbeat(&d);
	bridge_ck_present(&b, "t1");
	j = bridge_fixture_event(events, "payload.cause", "report");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	j = bridge_fixture_event(events, "payload.cause", "");
	ck_assert(json_is_false(tk_at(j, "payload.online")));
	json_decref(j);
	j = bridge_fixture_event(events, "payload.cause", "heartbeat");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Arrays without an object around them have no id and no version. */
TEST(bare_arrays_are_accepted)
{
	struct terminal t;
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_report(&d, "skills", "[{\"name\":\"nod\"}]");
	mqtt_device_report(&d, "intent_catalog", "[{\"id\":\"i1\"}]");
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "nod");
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_catalog, "i1");
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert_str_eq(t.skills.p, "[{\"name\":\"nod\"}]");
	ck_assert_int_eq(t.skill_version, 0);
	ck_assert_int_eq(t.catalog_version, 0);
	/* Any report shows that the terminal is present. */
	ck_assert(t.present);
	/* Empty arrays are valid. */
	mqtt_device_report(&d, "skills", "[]");
	mqtt_device_report(&d, "intent_catalog", "{\"intent_catalog\":[]}");
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "[]");
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_catalog, "[]");
	/* After a version, a report without one is ignored. */
	bridge_ck_skills(&b, &d, SKILLS_V(2), "skill_2");
	mqtt_device_report(&d, "skills", "[{\"name\":\"nod\"}]");
	bridge_fixture_wait(
	    &b, "t1", bridge_terminal_has_error, "version 2 is known");
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert(bridge_terminal_has_error(
	    &t, "\"outcome\":\"ignored\",\"path\":\"\""));
	ck_assert(bridge_text_has(t.skills, "skill_2"));
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* A lower version, the same one, a higher one. */
TEST(older_versions_are_ignored)
{
	natsSubscription *events;
	struct terminal t;
	struct bridge_fixture b;
	struct mqtt_device d;
	json_t *j;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.t1");
	mqtt_device_open(&d, &b, "t1");
	bridge_ck_skills(&b, &d, SKILLS_V(5), "skill_5");
	mqtt_device_report(&d, "skills", SKILLS_V(4));
	j = bridge_fixture_event(events, "type", "report_refused");
	ck_assert_str_eq(tk_find_text(j, "payload.refusal.kind"), "skills");
	ck_assert_str_eq(tk_find_text(j, "payload.refusal.outcome"), "ignored");
	ck_assert_str_eq(
	    tk_find_text(j, "payload.refusal.path"), "/skill_version");
	json_decref(j);
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert_int_eq(t.skill_version, 5);
	ck_assert(bridge_text_has(t.skills, "skill_5"));
	ck_assert(bridge_terminal_has_error(&t, "\"path\":\"/skill_version\""));
	bridge_ck_skills(&b, &d,
	    "{\"skill_version\":5,\"skills\":[{\"name\":\"other\"}]}", "other");
	bridge_ck_skills(&b, &d, SKILLS_V(6), "skill_6");

	bridge_ck_catalog(&b, &d, CATALOG_V(9), "intent_9");
	mqtt_device_report(&d, "intent_catalog", CATALOG_V(8));
	j = bridge_fixture_event(
	    events, "payload.refusal.kind", "intent_catalog");
	ck_assert_str_eq(
	    tk_find_text(j, "payload.refusal.path"), "/catalog_version");
	json_decref(j);
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert_int_eq(t.catalog_version, 9);
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The broker retained it; the terminal disconnected long ago. */
TEST(a_retained_online_is_not_presence)
{
	struct terminal t;
	struct bridge_fixture b;
	struct mqtt_device d;

	bridge_fixture_servers(&b, TK_MOSQUITTO);
	mqtt_device_init(&d, TOPIC_PREFIX, "t1");
	mqtt_device_connect(&d, &b);
	mqtt_device_report(&d, "online", "online");
	mqtt_device_report(&d, "skills", SKILLS_V(3));
	mqtt_device_close(&d);
	bridge_fixture_start_replica(&b, 0);
	bridge_fixture_wait(&b, "t1", bridge_terminal_has_skills, "skill_3");
	ck_assert(
	    tk_until(bridge_fixture_is_leader, &b.bridge[0], BRIDGE_WAIT_MS));
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert(t.known);
	ck_assert(!t.present);
	ck_assert_int_eq(t.seen.ms, 0);
	/* The next heartbeat does show presence. */
	mqtt_device_open(&d, &b, "t1");
	mqtt_device_heartbeat(&d);
	bridge_ck_present(&b, "t1");
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

static bool
reports_heartbeats_written(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_heartbeats_total") >= 1;
}

/* Many heartbeats of one terminal are one write. */
TEST(heartbeats_are_batched)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	long long n;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	for (i = 0; i < 1000; i++)
		mqtt_device_heartbeat(&d);
	bridge_ck_present(&b, "t1");
	ck_assert(
	    tk_until(reports_heartbeats_written, &b.bridge[0], BRIDGE_WAIT_MS));
	n = tk_service_metric(&b.bridge[0], "soul_bridge_heartbeats_total");
	ck_assert_int_lt(n, 500);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
