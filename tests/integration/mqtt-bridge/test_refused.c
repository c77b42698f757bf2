/*
 * Reports that do not count: each is kept in its terminal's record and told,
 * with what is wrong and where.
 */
#include "body.h"

static const struct {
	const char *leaf, *payload, *outcome, *path, *reason;
} cases[] = {
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
	    "/intent_catalog/1/id", "stands twice" },
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
	    "/1/id", "stands twice" },
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
check(struct bed *b, natsSubscription *events, size_t i)
{
	struct terminal t;
	json_t *j = tk_nats_next(events, BED_MS, NULL);
	const char *text;

	ck_assert_msg(j != NULL, "case %zu: no event", i);
	text = tk_find_text(j, "payload.refusal.outcome");
	ck_assert_msg(
	    strcmp(text, cases[i].outcome) == 0, "case %zu: %s", i, text);
	text = tk_find_text(j, "payload.refusal.path");
	ck_assert_msg(
	    strcmp(text, cases[i].path) == 0, "case %zu: %s", i, text);
	text = tk_find_text(j, "payload.refusal.reason");
	ck_assert_msg(strstr(text, cases[i].reason) != NULL && text[0] != '\0',
	    "case %zu: %s", i, text);
	ck_assert_uint_eq(strlen(tk_find_text(j, "payload.refusal.kind")),
	    strcspn(cases[i].leaf, "/"));
	/* What is kept is what was told. */
	t = bed_terminal(b, "t1");
	ck_assert(was_refused(&t, tk_find_text(j, "payload.refusal.at")));
	json_decref(j);
}

TEST_T(each_kind_of_fault, 60)
{
	natsSubscription *events;
	struct bed b;
	struct body d;
	size_t i;

	bed_start(&b);
	events = tk_nats_listen(b.nc, "soul.event.report_refused.t1");
	body_open(&d, &b, "t1");
	for (i = 0; i < NELEM(cases); i++) {
		body_say(&d, cases[i].leaf, cases[i].payload,
		    (struct say){ 1, false });
		check(&b, events, i);
	}
	ck_assert(!bed_terminal(&b, "t1").catalog.p);
	/* The skills of the noted report count. */
	ck_assert_str_eq(bed_terminal(&b, "t1").skills.p,
	    "[{\"name\":\"a\"},{\"name\":\"b\"}]");
	natsSubscription_Destroy(events);
	body_leave(&d);
	bed_stop(&b);
}

/* In the order of enum terminal_rejection_kind. */
static const struct {
	const char *leaf, *bad, *good;
} kinds[TERMINAL_REJECTED_N] = {
	{ "online", "maybe", "online" },
	{ "heartbeat",
	    "01234567890123456789012345678901234567890123456789012345678901234",
	    "1" },
	{ "skills", "{}", SKILLS_V(1) },
	{ "intent_catalog", "{}", CATALOG_V(1) },
	{ "result/r1", "{}", "{\"request_id\":\"r1\",\"ok\":true}" },
};

struct standing {
	struct bed *b;
	unsigned said; /* a bit for each */
};

static bool
stand(void *arg)
{
	struct standing *s = arg;
	struct terminal t = bed_terminal(s->b, "t1");
	unsigned said = 0, i;

	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (t.refused[i].p != NULL)
			said |= 1U << i;
	return said == s->said;
}

/* The last refusal of each kind stands until a report of that kind counts. */
TEST_T(a_good_report_ends_the_refusal_of_its_kind, 60)
{
	struct standing s = { .said = 0 };
	const struct say once = { 1, false };
	struct bed b;
	struct body d;
	unsigned i;

	bed_start(&b);
	s.b = &b;
	body_open(&d, &b, "t1");
	body_report(&d, "online", "online");
	bed_wait(&b, "t1", is_present, "present");
	ck_assert_str_eq(
	    bed_deliver(&b, "soul.body.main.t1.invoke",
		"{\"request_id\":\"r1\",\"skill\":\"nod\",\"arguments\":{}}"),
	    "delivered");
	for (i = 0; i < TERMINAL_REJECTED_N; i++) {
		body_say(&d, kinds[i].leaf, kinds[i].bad, once);
		s.said |= 1U << i;
		ck_assert_msg(tk_until(stand, &s, BED_MS), "+ %u", i);
	}
	for (i = 0; i < TERMINAL_REJECTED_N; i++) {
		body_say(&d, kinds[i].leaf, kinds[i].good, once);
		s.said &= ~(1U << i);
		ck_assert_msg(tk_until(stand, &s, BED_MS), "- %u", i);
	}
	/* One that counts but for a part is told until the next. */
	body_say(&d, "skills",
	    "{\"skill_version\":2,\"skills\":[{\"name\":\"a\"},{\"name\":"
	    "\"a\"}]}",
	    once);
	s.said = 1U << TERMINAL_REJECTED_SKILLS;
	ck_assert(tk_until(stand, &s, BED_MS));
	body_say(&d, "skills", SKILLS_V(3), once);
	s.said = 0;
	ck_assert(tk_until(stand, &s, BED_MS));
	body_leave(&d);
	bed_stop(&b);
}

/* A good catalog stays when a bad one comes, and is not checked twice. */
TEST(a_bad_catalog_does_not_replace_a_good_one)
{
	struct bed b;
	struct body d;
	int i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	for (i = 0; i < 3; i++) {
		body_report(&d, "intent_catalog", CATALOG_V(3));
		bed_wait(&b, "t1", has_catalog, "intent_3");
		body_report(&d, "intent_catalog",
		    "{\"catalog_version\":4,\"intent_catalog\":[{\"id\":\"x\","
		    "\"match\":{\"regex_any\":[\"(\"]}}]}");
		bed_wait(&b, "t1", was_refused, "regex_any/0");
		ck_assert_int_eq(bed_terminal(&b, "t1").catalog_version, 3);
	}
	body_leave(&d);
	bed_stop(&b);
}

/* Topics that are none of a body's, and names that are no ids.  The broker
 * itself refuses control characters. */
TEST(wrong_topics)
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
	struct bed b;
	struct body d;
	size_t i;

	bed_start(&b);
	body_open(&d, &b, "t1");
	for (i = 0; i < NELEM(topics); i++)
		body_publish(
		    &d, topics[i], STR("[]"), (struct say){ 1, false });
	body_report(&d, "skills", SKILLS_V(1));
	bed_wait(&b, "t1", has_skills, "skill_1");
	t = bed_terminal(&b, "t1");
	ck_assert_ptr_null(bed_refused(&t, TERMINAL_REJECTED_N).p);
	ck_assert(tk_log_has(&b.bridge[0].proc, "ev=bridge.topic"));
	body_leave(&d);
	bed_stop(&b);
}

/* Ids of all kinds are levels of topics, tokens of subjects, parts of keys. */
TEST(ids_of_all_kinds)
{
	static const char *const ids[] = { "灯", "a b", "a.b*c>d", "~x", "$x" };
	char payload[256], topic[512];
	struct bed b;
	struct body d;
	size_t i;

	bed_start(&b);
	body_init(&d, PREFIX, "t1");
	body_connect(&d, &b);
	for (i = 0; i < NELEM(ids); i++) {
		snprintf(
		    topic, sizeof(topic), "soul/terminal/%s/skills", ids[i]);
		snprintf(payload, sizeof(payload),
		    "{\"terminal_id\":\"%s\",\"skills\":[{\"name\":\"s%zu\"}]}",
		    ids[i], i);
		body_publish(
		    &d, topic, str_of(payload), (struct say){ 1, true });
		snprintf(payload, sizeof(payload), "s%zu", i);
		bed_wait(&b, ids[i], has_skills, payload);
	}
	body_leave(&d);
	bed_stop(&b);
}
