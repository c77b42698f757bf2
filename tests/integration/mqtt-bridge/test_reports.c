/*
 * Reports of bodies: presence, snapshots, their versions, both forms.
 */
#include "body.h"

/* The whole of a body's first minute. */
TEST(a_body_announces_itself)
{
	struct terminal t;
	natsSubscription *events;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.*.t1");
	body_open(&d, &b, "t1");
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	j = bed_event(events, "type", "terminal_online");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	ck_assert_str_eq(tk_find_text(j, "payload.cause"), "report");
	ck_assert_str_eq(tk_find_text(j, "payload.broker"), "main");
	ck_assert_str_eq(tk_find_text(j, "source"), "mqtt-bridge");
	json_decref(j);

	body_report(&d, "skills", SKILLS_V(3));
	bed_wait(&b, "t1", has_skills, "skill_3");
	j = bed_event(events, "type", "terminal_skills");
	ck_assert_int_eq(
	    json_integer_value(tk_at(j, "payload.skill_version")), 3);
	ck_assert_uint_eq(json_array_size(tk_at(j, "payload.skills")), 2);
	ck_assert_str_eq(tk_find_text(j, "payload.soul_hint"), "friendly");
	json_decref(j);

	body_report(&d, "intent_catalog", CATALOG_V(12));
	bed_wait(&b, "t1", has_catalog, "intent_12");
	j = bed_event(events, "type", "terminal_intents");
	ck_assert_int_eq(
	    json_integer_value(tk_at(j, "payload.catalog_version")), 12);
	t = bed_terminal(&b, "t1");
	ck_assert_uint_eq(t.catalog_hash.n, 64);
	ck_assert_str_eq(
	    tk_find_text(j, "payload.catalog_hash"), t.catalog_hash.p);
	json_decref(j);

	ck_assert_int_eq(t.skill_version, 3);
	ck_assert_int_eq(t.catalog_version, 12);
	ck_assert_str_eq(t.broker.p, "main");
	ck_assert_str_eq(t.soul_hint.p, "friendly");
	ck_assert_ptr_null(bed_refused(&t, TERMINAL_REJECTED_N).p);
	ck_assert(t.present);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* Every spelling of coming and going. */
TEST(all_spellings_of_online)
{
	static const char *const on[] = { "online", "true", "1", "ONLINE",
		" True\n" };
	static const char *const off[] = { "offline", "false", "0", "Offline",
		"FALSE " };
	struct bed b;
	struct body d;
	size_t i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	for (i = 0; i < 5; i++) {
		body_report(&d, "online", on[i]);
		bed_wait(&b, "t1", is_present, "present");
		body_report(&d, "online", off[i]);
		bed_wait(&b, "t1", is_present, "gone");
	}
	body_report(&d, "online", "perhaps");
	bed_wait(&b, "t1", was_refused, "\"kind\":\"online\"");
	body_leave(&d);
	bed_stop(&b);
}

/* The will of a body that dies, and its return. */
TEST(a_will_and_a_return)
{
	natsSubscription *events;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.terminal_online.t1");
	body_open(&d, &b, "t1");
	body_report(&d, "online", "1");
	bed_wait(&b, "t1", is_present, "present");
	body_crash(&d);
	bed_wait(&b, "t1", is_present, "gone");
	body_open(&d, &b, "t1");
	body_beat(&d);
	bed_wait(&b, "t1", is_present, "present");
	j = bed_event(events, "payload.cause", "report");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	j = bed_event(events, "payload.cause", "");
	ck_assert(json_is_false(tk_at(j, "payload.online")));
	json_decref(j);
	j = bed_event(events, "payload.cause", "heartbeat");
	ck_assert(json_is_true(tk_at(j, "payload.online")));
	json_decref(j);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* Arrays without an object around them, and no ids and versions in it. */
TEST(the_bare_form)
{
	struct terminal t;
	struct bed b;
	struct body d;

	bed_start(&b);
	body_open(&d, &b, "t1");
	body_report(&d, "skills", "[{\"name\":\"nod\"}]");
	body_report(&d, "intent_catalog", "[{\"id\":\"i1\"}]");
	bed_wait(&b, "t1", has_skills, "nod");
	bed_wait(&b, "t1", has_catalog, "i1");
	t = bed_terminal(&b, "t1");
	ck_assert_str_eq(t.skills.p, "[{\"name\":\"nod\"}]");
	ck_assert_int_eq(t.skill_version, 0);
	ck_assert_int_eq(t.catalog_version, 0);
	/* A body's first report is a sign of life like any other. */
	ck_assert(t.present);
	/* Both may be empty. */
	body_report(&d, "skills", "[]");
	body_report(&d, "intent_catalog", "{\"intent_catalog\":[]}");
	bed_wait(&b, "t1", has_skills, "[]");
	bed_wait(&b, "t1", has_catalog, "[]");
	/* With a version once, a body must not go back to none. */
	body_report(&d, "skills", SKILLS_V(2));
	bed_wait(&b, "t1", has_skills, "skill_2");
	body_report(&d, "skills", "[{\"name\":\"nod\"}]");
	bed_wait(&b, "t1", was_refused, "version 2 is known");
	t = bed_terminal(&b, "t1");
	ck_assert(was_refused(&t, "\"outcome\":\"ignored\",\"path\":\"\""));
	ck_assert(has(t.skills, "skill_2"));
	body_leave(&d);
	bed_stop(&b);
}

/* No roll-back; the same version again; a higher one. */
TEST(versions)
{
	natsSubscription *events;
	struct terminal t;
	struct bed b;
	struct body d;
	json_t *j;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.t1");
	body_open(&d, &b, "t1");
	body_report(&d, "skills", SKILLS_V(5));
	bed_wait(&b, "t1", has_skills, "skill_5");
	body_report(&d, "skills", SKILLS_V(4));
	j = bed_event(events, "type", "report_refused");
	ck_assert_str_eq(tk_find_text(j, "payload.refusal.kind"), "skills");
	ck_assert_str_eq(tk_find_text(j, "payload.refusal.outcome"), "ignored");
	ck_assert_str_eq(
	    tk_find_text(j, "payload.refusal.path"), "/skill_version");
	json_decref(j);
	t = bed_terminal(&b, "t1");
	ck_assert_int_eq(t.skill_version, 5);
	ck_assert(has(t.skills, "skill_5"));
	ck_assert(was_refused(&t, "\"path\":\"/skill_version\""));
	body_report(&d, "skills",
	    "{\"skill_version\":5,\"skills\":[{\"name\":\"other\"}]}");
	bed_wait(&b, "t1", has_skills, "other");
	body_report(&d, "skills", SKILLS_V(6));
	bed_wait(&b, "t1", has_skills, "skill_6");

	body_report(&d, "intent_catalog", CATALOG_V(9));
	bed_wait(&b, "t1", has_catalog, "intent_9");
	body_report(&d, "intent_catalog", CATALOG_V(8));
	j = bed_event(events, "payload.refusal.kind", "intent_catalog");
	ck_assert_str_eq(
	    tk_find_text(j, "payload.refusal.path"), "/catalog_version");
	json_decref(j);
	t = bed_terminal(&b, "t1");
	ck_assert_int_eq(t.catalog_version, 9);
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* What the broker has kept of a body that is long gone. */
TEST(a_stale_online_does_not_lie)
{
	struct terminal t;
	struct bed b;
	struct body d;

	bed_servers(&b, TK_MOSQUITTO);
	body_init(&d, PREFIX, "t1");
	body_connect(&d, &b);
	body_report(&d, "online", "online");
	body_report(&d, "skills", SKILLS_V(3));
	body_leave(&d);
	bridge_start_one(&b, 0);
	bed_wait(&b, "t1", has_skills, "skill_3");
	ck_assert(tk_until(bridge_leads, &b.bridge[0], BED_MS));
	t = bed_terminal(&b, "t1");
	ck_assert(t.known);
	ck_assert(!t.present);
	ck_assert_int_eq(t.seen.ms, 0);
	/* It does live: the next sign of life says so. */
	body_open(&d, &b, "t1");
	body_beat(&d);
	bed_wait(&b, "t1", is_present, "present");
	body_leave(&d);
	bed_stop(&b);
}

static bool
beats_written(void *arg)
{
	return tk_service_metric(arg, "soul_bridge_heartbeats_total") >= 1;
}

/* Many heartbeats of one body are one write. */
TEST(heartbeats_together)
{
	struct bed b;
	struct body d;
	long long n;
	int i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	for (i = 0; i < 1000; i++)
		body_beat(&d);
	bed_wait(&b, "t1", is_present, "present");
	ck_assert(tk_until(beats_written, &b.bridge[0], BED_MS));
	n = tk_service_metric(&b.bridge[0], "soul_bridge_heartbeats_total");
	ck_assert_int_lt(n, 500);
	body_leave(&d);
	bed_stop(&b);
}
