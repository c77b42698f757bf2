/*
 * Reports with errors: each error is stored in the terminal's record and
 * published, with path and reason.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/bridge_fixture.h"

static const struct {
	const char *leaf, *payload, *outcome, *path, *reason;
} error_cases[] = {
	{ "skills", "{\"skills\":", "refused", "", "" },
	{ "skills", "", "refused", "", "" },
	{ "skills", "{}", "refused", "/skills", "is missing" },
	{ "skills", "{\"skills\":[{\"name\":\"\"}]}", "refused",
	    "/skills/0/name", "must not be empty" },
	{ "skills", "[{\"name\":7}]", "refused", "/0/name", "" },
	{ "skills", "{\"terminal_id\":\"t2\",\"skills\":[]}", "refused",
	    "/terminal_id", "is not the topic's" },
	{ "skills", "{\"skill_version\":-1,\"skills\":[]}", "refused",
	    "/skill_version", "" },
	{ "skills", "[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"a\"}]",
	    "noted", "/2/name", "first counts" },
	{ "skills",
	    "{\"skills\":[{\"name\":\"a\"},{\"name\":\"b\",\"input_schema\":"
	    "{\"properties\":{\"x\":{\"type\":\"text\"}}}}]}",
	    "refused", "/skills/1/input_schema/properties/x/type", "" },
	{ "intent_catalog",
	    "{\"intent_catalog\":[{\"id\":\"a\"},{\"id\":\"a\"}]}", "refused",
	    "/intent_catalog/1/id", "occurs twice" },
	{ "intent_catalog",
	    "{\"intent_catalog\":[{\"id\":\"a\"},{\"id\":\"b\",\"match\":"
	    "{\"regex_any\":[\"x\",\"(\"]}}]}",
	    "refused", "/intent_catalog/1/match/regex_any/1", "" },
	{ "intent_catalog",
	    "[{\"id\":\"a\",\"match\":{\"regex_all\":[\"[\"]}}]", "refused",
	    "/0/match/regex_all/0", "" },
	{ "intent_catalog",
	    "{\"intent_catalog\":[{\"id\":\"a\",\"slots\":[{\"name\":\"s\"},"
	    "{\"name\":\"r\",\"regex\":\"(?<n>\"}]}]}",
	    "refused", "/intent_catalog/0/slots/1/regex", "" },
	{ "intent_catalog",
	    "{\"intent_catalog\":[{\"id\":\"a\",\"slots\":[{\"name\":\"s\","
	    "\"regex\":\"((((((a{1,99}){1,99}){1,99}){1,99}){1,99}){1,99})\"}"
	    "]}]}",
	    "refused", "/intent_catalog/0/slots/0/regex", "too large" },
	{ "intent_catalog",
	    "[{\"id\":\"a\",\"slots\":[{\"name\":\"s\",\"values\":\"x\"}]}]",
	    "refused", "/0/slots/0/values", "must be an object" },
	{ "intent_catalog", "[{\"id\":\"b\"},{\"id\":\"b\"}]", "refused",
	    "/1/id", "occurs twice" },
	{ "intent_catalog", "{\"intent_catalog\":7}", "refused",
	    "/intent_catalog", "" },
	{ "online", "maybe", "refused", "", "must be one of" },
	{ "online", "\xff\xfe", "refused", "", "" },
	{ "heartbeat",
	    "0123456789012345678901234567890123456789012345678901234567890123"
	    "4",
	    "refused", "", "" },
	{ "result/r1", "{\"ok\":true}", "refused", "/request_id",
	    "is missing" },
	{ "result/r1", "{\"request_id\":\"r2\",\"ok\":true}", "refused",
	    "/request_id", "is not the topic's" },
	{ "result/r1", "{\"request_id\":\"r1\"}", "refused", "/ok",
	    "is missing" },
};

static void
error_check(struct bridge_fixture *b, natsSubscription *events, size_t i)
{
	struct terminal t;
	json_t *j = tk_nats_next(events, BRIDGE_WAIT_MS, NULL);
	const char *text;

	ck_assert_msg(j != NULL, "case %zu: no event", i);
	text = tk_find_text(j, "payload.refusal.outcome");
	ck_assert_msg(
	    strcmp(text, error_cases[i].outcome) == 0, "case %zu: %s", i, text);
	text = tk_find_text(j, "payload.refusal.path");
	ck_assert_msg(
	    strcmp(text, error_cases[i].path) == 0, "case %zu: %s", i, text);
	text = tk_find_text(j, "payload.refusal.reason");
	ck_assert_msg(
	    strstr(text, error_cases[i].reason) != NULL && text[0] != '\0',
	    "case %zu: %s", i, text);
	ck_assert_uint_eq(strlen(tk_find_text(j, "payload.refusal.kind")),
	    strcspn(error_cases[i].leaf, "/"));
	/* The record has the published error. */
	t = bridge_fixture_terminal(b, "t1");
	ck_assert(bridge_terminal_has_error(
	    &t, tk_find_text(j, "payload.refusal.at")));
	json_decref(j);
}

TEST_T(every_error_is_stored_and_published, 60)
{
	natsSubscription *events;
	struct bridge_fixture b;
	struct mqtt_device d;
	size_t i;

	bridge_fixture_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.t1");
	mqtt_device_open(&d, &b, "t1");
	for (i = 0; i < NELEM(error_cases); i++) {
		mqtt_device_send(
		    &d, error_cases[i].leaf, error_cases[i].payload, MQTT_QOS1);
		error_check(&b, events, i);
	}
	ck_assert(!bridge_fixture_terminal(&b, "t1").catalog.p);
	/* A noted report counts otherwise. */
	ck_assert_str_eq(bridge_fixture_terminal(&b, "t1").skills.p,
	    "[{\"name\":\"a\"},{\"name\":\"b\"}]");
	natsSubscription_Destroy(events);
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* In the order of the kinds in the record. */
static const struct {
	const char *leaf, *bad, *good;
} error_kinds[TERMINAL_REJECTED_N] = {
	{ "online", "maybe", "online" },
	{ "heartbeat",
	    "01234567890123456789012345678901234567890123456789012345678901234",
	    "1" },
	{ "skills", "{}", SKILLS_V(1) },
	{ "intent_catalog", "{}", CATALOG_V(1) },
	{ "result/r1", "{}", "{\"request_id\":\"r1\",\"ok\":true}" },
};

struct error_set {
	struct bridge_fixture *b;
	unsigned kinds; /* one bit for each kind */
};

static bool
error_set_matches(void *arg)
{
	struct error_set *s = arg;
	struct terminal t = bridge_fixture_terminal(s->b, "t1");
	unsigned kinds = 0, i;

	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (t.rejected[i].p != NULL)
			kinds |= 1U << i;
	return kinds == s->kinds;
}

TEST_T(a_valid_report_clears_the_error_of_its_kind, 60)
{
	struct error_set s = { .kinds = 0 };
	const struct mqtt_flags flags = { 1, false };
	struct bridge_fixture b;
	struct mqtt_device d;
	unsigned i;

	bridge_fixture_start(&b);
	s.b = &b;
	mqtt_device_open_online(&d, &b, "t1");
	bridge_ck_delivery(&b, "t1.invoke",
	    "{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}",
	    "delivered");
	for (i = 0; i < TERMINAL_REJECTED_N; i++) {
		mqtt_device_send(
		    &d, error_kinds[i].leaf, error_kinds[i].bad, flags);
		s.kinds |= 1U << i;
		ck_assert_msg(
		    tk_until(error_set_matches, &s, BRIDGE_WAIT_MS), "+ %u", i);
	}
	for (i = 0; i < TERMINAL_REJECTED_N; i++) {
		mqtt_device_send(
		    &d, error_kinds[i].leaf, error_kinds[i].good, flags);
		s.kinds &= ~(1U << i);
		ck_assert_msg(
		    tk_until(error_set_matches, &s, BRIDGE_WAIT_MS), "- %u", i);
	}
	/* A noted report leaves an error until the next one. */
	mqtt_device_send(&d, "skills",
	    "{\"skill_version\":2,\"skills\":[{\"name\":\"a\"},{\"name\":"
	    "\"a\"}]}",
	    flags);
	s.kinds = 1U << TERMINAL_REJECTED_SKILLS;
	ck_assert(tk_until(error_set_matches, &s, BRIDGE_WAIT_MS));
	mqtt_device_send(&d, "skills", SKILLS_V(3), flags);
	s.kinds = 0;
	ck_assert(tk_until(error_set_matches, &s, BRIDGE_WAIT_MS));
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* The invalid catalog is sent several times; the valid one is known by then. */
TEST(an_invalid_catalog_does_not_replace_a_valid_one)
{
	struct bridge_fixture b;
	struct mqtt_device d;
	int i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	for (i = 0; i < 3; i++) {
		bridge_ck_catalog(&b, &d, CATALOG_V(3), "intent_3");
		mqtt_device_report(&d, "intent_catalog",
		    "{\"catalog_version\":4,\"intent_catalog\":[{\"id\":\"x\","
		    "\"match\":{\"regex_any\":[\"(\"]}}]}");
		bridge_fixture_wait(
		    &b, "t1", bridge_terminal_has_error, "regex_any/0");
		ck_assert_int_eq(
		    bridge_fixture_terminal(&b, "t1").catalog_version, 3);
	}
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/*
 * Not a terminal's topics, or invalid ids.  The broker itself rejects control
 * characters.
 */
TEST(unknown_topics_are_ignored)
{
	static const char *const topics[] = {
		"soul/terminal//skills",
		"soul/terminal/"
		"0123456789012345678901234567890123456789012345678901234567890"
		"1234567890123456789012345678901234567890123456789012345678901"
		"1234567/online",
		"soul/terminal/t1/skills/more",
		"soul/terminal/t1/unknown",
		"soul/elsewhere/t1/skills",
	};
	struct terminal t;
	struct bridge_fixture b;
	struct mqtt_device d;
	size_t i;

	bridge_fixture_start(&b);
	mqtt_device_open(&d, &b, "t1");
	for (i = 0; i < NELEM(topics); i++)
		mqtt_device_publish(&d, topics[i], STR("[]"), MQTT_QOS1);
	bridge_ck_skills(&b, &d, SKILLS_V(1), "skill_1");
	t = bridge_fixture_terminal(&b, "t1");
	ck_assert_ptr_null(bridge_terminal_error(&t, TERMINAL_REJECTED_N).p);
	ck_assert(tk_log_has(&b.bridge[0].proc, "ev=bridge.topic"));
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}

/* Any id works in topics, subjects and Redis keys. */
TEST(every_valid_id_works)
{
	static const char *const ids[] = { "灯", "a b", "a.b*c>d", "~x", "$x" };
	char payload[256], topic[512];
	struct bridge_fixture b;
	struct mqtt_device d;
	size_t i;

	bridge_fixture_start(&b);
	mqtt_device_init(&d, TOPIC_PREFIX, "t1");
	mqtt_device_connect(&d, &b);
	for (i = 0; i < NELEM(ids); i++) {
		snprintf(
		    topic, sizeof(topic), "soul/terminal/%s/skills", ids[i]);
		snprintf(payload, sizeof(payload),
		    "{\"terminal_id\":\"%s\",\"skills\":[{\"name\":\"s%zu\"}]}",
		    ids[i], i);
		mqtt_device_publish(&d, topic, str_of(payload), MQTT_RETAINED);
		snprintf(payload, sizeof(payload), "s%zu", i);
		bridge_fixture_wait(
		    &b, ids[i], bridge_terminal_has_skills, payload);
	}
	mqtt_device_close(&d);
	bridge_fixture_stop(&b);
}
