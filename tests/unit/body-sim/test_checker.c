/* The checker: a body as its broker sees it, message by message. */
#include <stdio.h>
#include <string.h>

#include "checker.h"
#include "core/buf.h"
#include "core/mem.h"
#include "skills.h"
#include "testkit/testkit.h"

/* ---- cases ---- */

#define CASE_ID "t1"

struct checker_case {
	struct checker *checker;
	struct documents *docs;
	int64_t t;
	int64_t version;
	char text[CHECKER_TEXT_MAX];
};

static void
case_start(struct checker_case *c, bool invokes)
{
	*c = (struct checker_case){ .docs = documents_new(), .version = 3 };
	c->checker = checker_new(&(struct checker_opts){
	    .terminal = CASE_ID, .ttl_ms = 60000, .invokes = invokes });
}

static void
case_end(struct checker_case *c)
{
	checker_free(c->checker);
	documents_free(c->docs);
}

/* Advance the time, with a tick every 100 ms. */
static void
case_wait(struct checker_case *c, int64_t ms)
{
	int64_t until = c->t + ms;

	while (c->t < until) {
		c->t += until - c->t < 100 ? until - c->t : 100;
		checker_tick(c->checker, c->t);
	}
}

static void
case_message(struct checker_case *c, const char *leaf, struct str payload,
    int qos_is_checked, bool retained)
{
	struct checker_msg m = { str_of(leaf), payload, qos_is_checked,
		retained };

	checker_message(c->checker, c->t, &m, c->text);
}

static void
case_send(struct checker_case *c, const char *leaf, const char *payload)
{
	case_message(c, leaf, str_of(payload),
	    strcmp(leaf, "heartbeat") == 0 ? 0 : 1, false);
}

/* A report as body-sim sends it. */
static void
case_report(struct checker_case *c, const char *leaf, bool retained)
{
	struct buf b = BUF_INIT(WIRE_MESSAGE_MAX);

	if (strcmp(leaf, "skills") == 0)
		ck_assert_int_eq(documents_skills(c->docs, STR(CASE_ID),
				     STR(""), c->version, &b),
		    RC_OK);
	else
		ck_assert_int_eq(
		    documents_intents(c->docs, STR(CASE_ID), c->version, &b),
		    RC_OK);
	case_message(c, leaf, buf_str(&b), 1, retained);
	buf_free(&b);
}

/* The retained messages of the broker. */
static void
case_retained(struct checker_case *c, const char *online)
{
	case_message(c, "online", str_of(online), 1, true);
	case_report(c, "skills", true);
	case_report(c, "intent_catalog", true);
}

/* A correct announcement, and the retained messages after it. */
static void
case_announce(struct checker_case *c)
{
	case_send(c, "online", "online");
	case_report(c, "skills", false);
	case_report(c, "intent_catalog", false);
	case_send(c, "heartbeat", "1");
	ck_assert(checker_wants_retained(c->checker, c->t));
	ck_assert(!checker_wants_retained(c->checker, c->t));
	case_retained(c, "online");
}

static enum verdict
case_verdict(struct checker_case *c, enum line line)
{
	return checker_verdicts(c->checker)->lines[line].is;
}

#define PASSES(c, line) case_expect((c), (line), VERDICT_PASS, "", __LINE__)
#define UNSEEN(c, line) case_expect((c), (line), VERDICT_NOT_SEEN, "", __LINE__)
#define FAILS(c, line, why) \
	case_expect((c), (line), VERDICT_FAIL, (why), __LINE__)

static void
case_expect(struct checker_case *c, enum line line, enum verdict is,
    const char *why, int at)
{
	const char *have = checker_verdicts(c->checker)->lines[line].why;

	ck_assert_msg(case_verdict(c, line) == is && strstr(have, why) != NULL,
	    "line %d: %d is %d: %s", at, (int)line, (int)case_verdict(c, line),
	    have);
}

static bool
case_advises(struct checker_case *c, const char *text)
{
	const struct verdicts *v = checker_verdicts(c->checker);
	size_t i;

	for (i = 0; i < v->n_notes; i++) {
		if (strstr(v->notes[i], text) != NULL)
			return true;
	}
	return false;
}

/* ---- correct bodies ---- */

TEST(a_correct_body_passes)
{
	struct buf out = BUF_INIT(64 * 1024);
	struct checker_case c;
	int i;

	case_start(&c, false);
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	UNSEEN(&c, LINE_RECONNECT);
	case_wait(&c, CHECKER_RETAINED_MS + 200);
	PASSES(&c, LINE_RETAIN);
	for (i = 0; i < 3; i++) {
		case_wait(&c, 10000);
		case_send(&c, "heartbeat", "1");
	}
	PASSES(&c, LINE_HEARTBEAT);
	UNSEEN(&c, LINE_WILL);
	ck_assert(!checker_done(c.checker));

	case_wait(&c, 2000);
	case_send(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	case_wait(&c, 300000);
	case_announce(&c);
	PASSES(&c, LINE_RECONNECT);
	PASSES(&c, LINE_REPORTS_RECONNECT);
	ck_assert(!checker_done(c.checker));
	case_wait(&c, CHECKER_RETAINED_MS + 200);
	ck_assert(checker_done(c.checker));
	checker_finish(c.checker, c.t);
	ck_assert_uint_eq(
	    verdict_count(checker_verdicts(c.checker), VERDICT_FAIL), 0);
	ck_assert_uint_eq(
	    verdict_count(checker_verdicts(c.checker), VERDICT_PASS), 14);
	ck_assert_uint_eq(checker_verdicts(c.checker)->n_notes, 0);
	verdicts_write(checker_verdicts(c.checker), &out);
	ck_assert_ptr_nonnull(strstr(out.p, "14 pass, 0 fail, 7 not seen\n"));
	ck_assert_ptr_nonnull(strstr(out.p, "pass      6.1 "));
	buf_free(&out);
	case_end(&c);
}

/* They show the contents of reports, not their order. */
TEST(retained_messages_count_where_possible)
{
	struct checker_case c;

	case_start(&c, false);
	case_retained(&c, "online");
	PASSES(&c, LINE_SKILLS);
	PASSES(&c, LINE_CATALOG);
	PASSES(&c, LINE_ONLINE);
	PASSES(&c, LINE_TERMINAL_ID);
	PASSES(&c, LINE_OWN_INTENTS);
	PASSES(&c, LINE_MAPPING);
	UNSEEN(&c, LINE_ORDER);
	UNSEEN(&c, LINE_VERSION);
	ck_assert(!checker_idle(c.checker, c.t));
	case_wait(&c, CHECKER_RETAINED_MS + 200);
	ck_assert(checker_idle(c.checker, c.t));
	PASSES(&c, LINE_RETAIN);
	PASSES(&c, LINE_QOS);
	/* The first live announcement then counts as a reconnect. */
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_RECONNECT);
	PASSES(&c, LINE_VERSION);
	UNSEEN(&c, LINE_WILL);
	ck_assert(case_advises(&c, "without an offline in between"));
	case_end(&c);
}

TEST(no_message_is_a_failure)
{
	struct checker_case c;

	case_start(&c, false);
	case_wait(&c, 5000);
	UNSEEN(&c, LINE_ONLINE);
	checker_finish(c.checker, c.t);
	FAILS(&c, LINE_ONLINE, "no message from t1");
	case_end(&c);
}

/* ---- order ---- */

static void
case_announce_in_order(struct checker_case *c, const char *const *leaves)
{
	for (; *leaves != NULL; leaves++) {
		c->t += 10;
		if (strcmp(*leaves, "online") == 0)
			case_send(c, "online", "1");
		else if (strcmp(*leaves, "heartbeat") == 0)
			case_send(c, "heartbeat", "1");
		else
			case_report(c, *leaves, false);
	}
}

TEST(the_order_of_reports_is_checked)
{
	static const struct {
		const char *leaves[6];
		int64_t wait_ms;
		const char *why; /* NULL: correct */
	} cases[] = {
		{ { "online", "skills", "intent_catalog", "heartbeat" }, 0,
		    NULL },
		{ { "online", "skills", "skills", "intent_catalog",
		      "heartbeat" },
		    0, NULL },
		{ { "online", "intent_catalog", "skills", "heartbeat" }, 0,
		    "was online -> intent_catalog -> skills -> heartbeat" },
		{ { "online", "heartbeat", "skills", "intent_catalog" }, 0,
		    "the order was online -> heartbeat -> skills" },
		{ { "skills", "online", "intent_catalog", "heartbeat" }, 0,
		    "the order was skills -> online" },
		{ { "skills", "intent_catalog", "online", "heartbeat" }, 0,
		    "the order was skills -> intent_catalog -> online" },
		{ { "online", "skills", "heartbeat" }, 6000,
		    "the order was online -> skills -> heartbeat" },
		{ { "online", "skills" }, 6000,
		    "no intent_catalog within 5 s" },
		{ { "online" }, 6000, "no skills within 5 s" },
		{ { "online", "skills", "intent_catalog" }, 16000,
		    "no heartbeat within 15 s" },
	};
	struct checker_case c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, false);
		case_wait(&c, 3000);
		case_announce_in_order(&c, cases[i].leaves);
		case_wait(&c, cases[i].wait_ms);
		if (cases[i].why == NULL)
			PASSES(&c, LINE_ORDER);
		else
			FAILS(&c, LINE_ORDER, cases[i].why);
		UNSEEN(&c, LINE_RECONNECT);
		case_end(&c);
	}
}

TEST(a_heartbeat_may_follow_later)
{
	static const char *const leaves[] = { "online", "skills",
		"intent_catalog", NULL };
	struct checker_case c;

	case_start(&c, false);
	case_announce_in_order(&c, leaves);
	case_wait(&c, 10000);
	UNSEEN(&c, LINE_ORDER);
	case_send(&c, "heartbeat", "1");
	PASSES(&c, LINE_ORDER);
	case_end(&c);
}

TEST(a_reconnect_must_announce)
{
	static const char *const leaves[] = { "online", "heartbeat", NULL };
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	case_send(&c, "online", "offline");
	case_wait(&c, 3000);
	case_announce_in_order(&c, leaves);
	UNSEEN(&c, LINE_RECONNECT);
	case_wait(&c, 6000);
	FAILS(&c, LINE_RECONNECT, "the order was online -> heartbeat");
	FAILS(&c, LINE_REPORTS_RECONNECT, "no skills was sent");
	FAILS(&c, LINE_ORDER, "");
	case_end(&c);
}

TEST(an_interrupted_announcement_gets_no_verdict)
{
	static const char *const half[] = { "online", "skills", NULL };
	struct checker_case c;

	case_start(&c, false);
	case_announce_in_order(&c, half);
	case_wait(&c, 3000);
	case_send(&c, "online", "offline");
	case_wait(&c, 20000);
	UNSEEN(&c, LINE_ORDER);
	case_announce(&c);
	case_wait(&c, 20000);
	PASSES(&c, LINE_ORDER);
	case_end(&c);
}

/* The check may begin in the middle of an announcement. */
TEST(reports_before_the_check_are_not_early)
{
	struct checker_case c;
	int kick;

	for (kick = 0; kick < 2; kick++) {
		case_start(&c, false);
		case_message(&c, "online", STR("online"), 1, true);
		case_report(&c, "skills", true);
		case_report(&c, "intent_catalog", false);
		case_send(&c, "heartbeat", "1");
		case_wait(&c, 1600);
		if (kick)
			checker_kicked(c.checker, c.t);
		else
			case_send(&c, "online", "offline");
		case_announce(&c);
		PASSES(&c, LINE_ORDER);
		PASSES(&c, LINE_RECONNECT);
		case_end(&c);
	}
}

/* New skills may be sent at any time. */
TEST(an_update_is_not_an_announcement)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	c.version++;
	case_report(&c, "skills", false);
	case_wait(&c, 30000);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_VERSION);
	/* It was sent long before the next online, so it is not early. */
	case_send(&c, "online", "offline");
	case_announce(&c);
	PASSES(&c, LINE_ORDER);
	PASSES(&c, LINE_RECONNECT);
	case_end(&c);
}

/* ---- will ---- */

TEST(an_old_will_fails)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 1000);
	case_send(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	/* A single one may have been in transit. */
	case_send(&c, "heartbeat", "1");
	PASSES(&c, LINE_WILL);
	case_wait(&c, 10000);
	case_send(&c, "heartbeat", "1");
	FAILS(&c, LINE_WILL, "heartbeats after an offline");
	case_end(&c);
}

TEST(a_missing_will_fails)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	checker_kicked(c.checker, c.t);
	case_wait(&c, 1000);
	case_announce(&c);
	FAILS(&c, LINE_WILL, "no offline after its connection was broken");
	PASSES(&c, LINE_RECONNECT);
	case_end(&c);
}

TEST(a_body_that_does_not_reconnect_fails)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	checker_kicked(c.checker, c.t);
	case_send(&c, "online", "offline");
	PASSES(&c, LINE_WILL);
	case_wait(&c, CHECKER_RECONNECT_MS);
	UNSEEN(&c, LINE_RECONNECT);
	ck_assert(!checker_done(c.checker));
	case_wait(&c, 200);
	FAILS(&c, LINE_RECONNECT, "did not come back within 30 s");
	case_end(&c);
}

TEST(a_failed_kick_gives_no_verdict)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_wait(&c, 3000);
	checker_kicked(c.checker, c.t);
	checker_kicked(c.checker, -1);
	case_wait(&c, 2 * CHECKER_RECONNECT_MS);
	UNSEEN(&c, LINE_RECONNECT);
	UNSEEN(&c, LINE_WILL);
	case_end(&c);
}

TEST(every_spelling_of_online_passes)
{
	static const char *const right[] = { "online", "ONLINE", "true", "1",
		" 1\n" };
	struct checker_case c;
	size_t i;

	for (i = 0; i < NELEM(right); i++) {
		case_start(&c, false);
		case_send(&c, "online", right[i]);
		PASSES(&c, LINE_ONLINE);
		ck_assert_str_eq(c.text, "online");
		case_end(&c);
	}
	case_start(&c, false);
	case_send(&c, "online", "yes");
	FAILS(&c, LINE_ONLINE, "one of online, offline");
	case_end(&c);
	case_start(&c, false);
	case_send(&c, "online", "false");
	PASSES(&c, LINE_ONLINE);
	PASSES(&c, LINE_WILL);
	case_end(&c);
}

/* ---- heartbeats ---- */

static void
case_heartbeats(struct checker_case *c, int n, int64_t apart_ms)
{
	while (n-- > 0) {
		case_wait(c, apart_ms);
		case_send(c, "heartbeat", "1");
	}
}

TEST(heartbeat_intervals_are_checked)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_heartbeats(&c, 1, 10000);
	UNSEEN(&c, LINE_HEARTBEAT);
	case_heartbeats(&c, 1, 10000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(!case_advises(&c, "10 s is advised"));
	case_heartbeats(&c, 1, 30000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(case_advises(&c, "up to 30.0 s apart; 10 s is advised"));
	case_heartbeats(&c, 1, 59900);
	PASSES(&c, LINE_HEARTBEAT);
	case_wait(&c, 60000);
	PASSES(&c, LINE_HEARTBEAT);
	case_wait(&c, 100);
	FAILS(&c, LINE_HEARTBEAT, "none for 60 s");
	case_end(&c);
}

TEST(heartbeats_are_not_expected_offline)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_heartbeats(&c, 3, 10000);
	case_send(&c, "online", "offline");
	case_wait(&c, 600000);
	case_announce(&c);
	case_heartbeats(&c, 3, 10000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(!case_advises(&c, "advised"));
	case_end(&c);
}

/* A body that was online before the check and sends no heartbeats. */
TEST(silence_fails_for_a_known_body)
{
	struct checker_case c;

	case_start(&c, false);
	case_retained(&c, "online");
	case_wait(&c, 60000);
	UNSEEN(&c, LINE_HEARTBEAT);
	case_wait(&c, 100);
	FAILS(&c, LINE_HEARTBEAT, "");
	case_end(&c);
}

/* ---- QoS and retained messages ---- */

TEST(a_report_that_is_not_retained_fails)
{
	struct checker_case c;

	case_start(&c, false);
	case_send(&c, "online", "online");
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_send(&c, "heartbeat", "1");
	ck_assert(checker_wants_retained(c.checker, c.t));
	case_message(&c, "online", STR("online"), 1, true);
	case_report(&c, "intent_catalog", true);
	UNSEEN(&c, LINE_RETAIN);
	case_wait(&c, CHECKER_RETAINED_MS + 200);
	FAILS(&c, LINE_RETAIN, "skills is not retained");
	case_end(&c);
}

TEST(an_outdated_retained_report_fails)
{
	struct checker_case c;

	case_start(&c, false);
	case_retained(&c, "offline");
	c.version = 4;
	case_send(&c, "online", "online");
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_send(&c, "heartbeat", "1");
	ck_assert(checker_wants_retained(c.checker, c.t));
	case_message(&c, "online", STR("online"), 1, true);
	case_report(&c, "intent_catalog", true);
	c.version = 3;
	case_report(&c, "skills", true);
	case_wait(&c, CHECKER_RETAINED_MS + 200);
	FAILS(&c, LINE_RETAIN,
	    "the retained skills differs from the announced one");
	/* The body's version did not decrease; the broker has an old report. */
	PASSES(&c, LINE_VERSION);
	case_end(&c);
}

TEST(an_interrupted_announcement_delays_the_comparison)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	case_send(&c, "online", "offline");
	case_wait(&c, 3000);
	case_send(&c, "online", "online");
	case_wait(&c, 3000);
	UNSEEN(&c, LINE_RETAIN);
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_send(&c, "heartbeat", "1");
	ck_assert(checker_wants_retained(c.checker, c.t));
	case_retained(&c, "online");
	case_wait(&c, 3000);
	PASSES(&c, LINE_RETAIN);
	case_end(&c);
}

TEST(unwanted_retained_messages_fail)
{
	struct checker_case c;

	case_start(&c, false);
	case_message(&c, "heartbeat", STR("1"), 0, true);
	FAILS(&c, LINE_RETAIN, "a heartbeat is retained");
	case_end(&c);
	case_start(&c, false);
	case_message(&c, "result/r1",
	    STR("{\"request_id\":\"r1\",\"ok\":true}"), 1, true);
	FAILS(&c, LINE_RETAIN, "a result is retained");
	UNSEEN(&c, LINE_RESULT);
	case_end(&c);
	/* A retained invoke is an error of the server. */
	case_start(&c, true);
	case_message(&c, "invoke/r1", STR("{}"), 1, true);
	case_wait(&c, 9000);
	UNSEEN(&c, LINE_RESULT);
	case_end(&c);
}

TEST(qos_is_checked)
{
	struct checker_case c;

	case_start(&c, false);
	case_announce(&c);
	PASSES(&c, LINE_QOS);
	case_message(&c, "skills", STR("[]"), 0, false);
	FAILS(&c, LINE_QOS, "skills has QoS 0");
	case_end(&c);
	case_start(&c, false);
	case_message(&c, "heartbeat", STR("1"), 1, false);
	FAILS(&c, LINE_QOS, "heartbeat has QoS 1");
	case_end(&c);
	case_start(&c, false);
	case_message(&c, "result/r1",
	    STR("{\"request_id\":\"r1\",\"ok\":true}"), 0, false);
	FAILS(&c, LINE_QOS, "result has QoS 0");
	case_end(&c);
}

/* ---- reports ---- */

/* A report, and what must be found: fails is NULL if the line passes. */
struct report_case {
	const char *report, *fails, *advice;
};

static void
case_check_reports(
    const char *leaf, enum line line, const struct report_case *cases, size_t n)
{
	struct checker_case c;
	size_t i;

	for (i = 0; i < n; i++) {
		case_start(&c, false);
		case_send(&c, leaf, cases[i].report);
		if (cases[i].fails != NULL)
			FAILS(&c, line, cases[i].fails);
		else
			PASSES(&c, line);
		if (cases[i].advice != NULL)
			ck_assert_msg(case_advises(&c, cases[i].advice), "%s",
			    cases[i].report);
		case_end(&c);
	}
}

TEST(skills_are_checked)
{
	static const struct report_case cases[] = {
		{ "{\"skills\":[]}", NULL, "skills has no terminal_id" },
		{ "{\"skills\":[]}", NULL, "skill_version is missing or 0" },
		{ "[]", NULL, "is a bare list" },
		{ "{\"terminal_id\":\"t1\",\"skill_version\":1,\"skills\":["
		  "{\"name\":\"Light On\"}]}",
		    NULL, "Light On is not snake_case" },
		{ "{\"skills\":[{\"name\":\"a\"}]}", NULL,
		    "a has no description" },
		{ "{\"skills\":[{\"name\":\"a\"}]}", NULL,
		    "a has no input_schema" },
		{ "{\"skills\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", NULL,
		    "/skills/1/name: is the same as in item 0" },
		{ "{\"skills\":[{\"name\":\"a\",\"input_schema\":"
		  "{\"type\":\"thing\"}}]}",
		    "/skills/0/input_schema is no JSON Schema", NULL },
		{ "{\"skills\":{}}", "/skills: must be an array", NULL },
		{ "{}", "/skills: is missing", NULL },
		{ "{\"skills\":[}", "", NULL },
		{ "{\"terminal_id\":\"t2\",\"skills\":[]}",
		    "/terminal_id: is not the topic's", NULL },
	};
	struct checker_case c;

	case_check_reports("skills", LINE_SKILLS, cases, NELEM(cases));
	case_start(&c, false);
	case_send(&c, "skills", "{\"terminal_id\":\"t2\",\"skills\":[]}");
	FAILS(&c, LINE_TERMINAL_ID, "it is t2");
	case_end(&c);
	case_start(&c, false);
	case_send(&c, "skills", "{\"terminal_id\":\"\",\"skills\":[]}");
	UNSEEN(&c, LINE_TERMINAL_ID);
	case_end(&c);
}

TEST(catalogs_are_checked)
{
	static const struct report_case cases[] = {
		{ "{\"intent_catalog\":[]}", NULL,
		    "catalog_version is missing or 0" },
		{ "[]", NULL, "intent_catalog is a bare list" },
		{ "[{\"id\":\"a\"}]", NULL, "a has no rule" },
		{ "[{\"id\":\"a\"},{\"id\":\"a\"}]", NULL,
		    "/1/id: is the same as in item 0" },
		{ "[{\"id\":\"a\",\"match\":{\"regex_any\":[\"(\"]}}]",
		    "a: bad regex", NULL },
		{ "[{\"id\":\"a\",\"match\":{\"regex_all\":[\"[\"]}}]",
		    "a: bad regex", NULL },
		{ "[{\"id\":\"a\",\"slots\":[{\"name\":\"s\","
		  "\"regex\":\"(\"}]}]",
		    "a: bad regex", NULL },
		{ "[{\"id\":\"a\",\"slots\":[{\"name\":\"s\","
		  "\"regex\":\"x\"}]}]",
		    NULL, "has no group 1" },
		{ "[{}]", "/0/id: is missing", NULL },
		{ "{\"terminal_id\":\"t2\",\"intent_catalog\":[]}",
		    "/terminal_id: is not the topic's", NULL },
	};

	case_check_reports("intent_catalog", LINE_CATALOG, cases, NELEM(cases));
}

TEST(versions_must_not_decrease)
{
	struct checker_case c;

	case_start(&c, false);
	case_report(&c, "skills", true);
	UNSEEN(&c, LINE_VERSION);
	case_report(&c, "skills", false);
	PASSES(&c, LINE_VERSION);
	c.version = 5;
	case_report(&c, "skills", false);
	PASSES(&c, LINE_VERSION);
	c.version = 4;
	case_report(&c, "skills", false);
	FAILS(&c, LINE_VERSION, "skill_version went from 5 to 4");
	case_end(&c);
	case_start(&c, false);
	case_report(&c, "intent_catalog", false);
	case_send(&c, "intent_catalog", "[]");
	FAILS(&c, LINE_VERSION, "catalog_version went from 3 to 0");
	case_end(&c);
}

TEST(intents_must_have_reported_skills)
{
	struct checker_case c;

	case_start(&c, false);
	case_report(&c, "intent_catalog", false);
	UNSEEN(&c, LINE_OWN_INTENTS);
	case_send(&c, "skills", "[{\"name\":\"control_light\"}]");
	FAILS(&c, LINE_OWN_INTENTS, "which is not in skills");
	FAILS(&c, LINE_MAPPING, "is not a reported skill");
	case_end(&c);
	case_start(&c, false);
	case_send(&c, "skills", "[]");
	case_send(&c, "intent_catalog", "[{\"id\":\"a\"}]");
	UNSEEN(&c, LINE_OWN_INTENTS);
	UNSEEN(&c, LINE_MAPPING);
	case_end(&c);
}

/* ---- results ---- */

static void
case_invoke(struct checker_case *c, const char *id)
{
	char leaf[64];

	snprintf(leaf, sizeof(leaf), "invoke/%s", id);
	case_send(c, leaf, "{}");
}

static void
case_result(struct checker_case *c, const char *id, const char *payload)
{
	char leaf[64];

	snprintf(leaf, sizeof(leaf), "result/%s", id);
	case_send(c, leaf, payload);
}

/* What a body sends for another invoke with the id of one that it executed. */
TEST(a_request_id_is_executed_one_time)
{
	static const char first[] = "{\"request_id\":\"r1\",\"ok\":true}";
	static const char other[] =
	    "{\"request_id\":\"r1\",\"ok\":false,\"error\":\"no skill\"}";
	const char *results[] = { first, other, NULL };
	struct checker_case c;

	for (size_t i = 0; i < NELEM(results); i++) {
		case_start(&c, true);
		case_invoke(&c, "r1");
		case_result(&c, "r1", first);
		UNSEEN(&c, LINE_REPEATED);
		checker_repeated(c.checker, c.t, STR("r1"));
		case_invoke(&c, "r1");
		if (results[i] != NULL)
			case_result(&c, "r1", results[i]);
		else
			case_wait(&c, 8002);
		if (results[i] == other)
			FAILS(&c, LINE_REPEATED, "was executed");
		else
			PASSES(&c, LINE_REPEATED);
		ck_assert(!case_advises(&c, "a result was sent twice"));
		case_end(&c);
	}
}

TEST(results_must_arrive_in_time)
{
	struct checker_case c;

	case_start(&c, true);
	case_invoke(&c, "r1");
	case_wait(&c, 5000);
	case_result(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	ck_assert_str_eq(c.text, "ok=true ");
	PASSES(&c, LINE_RESULT);
	PASSES(&c, LINE_IN_TIME);
	PASSES(&c, LINE_COMPLETE);
	case_invoke(&c, "r2");
	case_wait(&c, 5001);
	case_result(
	    &c, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	ck_assert_str_eq(c.text, "ok=false no");
	PASSES(&c, LINE_RESULT);
	FAILS(&c, LINE_IN_TIME, "one took 5.0 s");
	PASSES(&c, LINE_COMPLETE);
	case_result(
	    &c, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	ck_assert(case_advises(&c, "a result was sent twice"));
	case_end(&c);
}

TEST(missing_results_fail)
{
	struct checker_case c;

	case_start(&c, true);
	case_invoke(&c, "r1");
	case_wait(&c, 8000);
	UNSEEN(&c, LINE_RESULT);
	case_wait(&c, 100);
	FAILS(&c, LINE_RESULT, "no result of invoke/r1 within 8 s");
	FAILS(&c, LINE_IN_TIME, "");
	case_result(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	FAILS(&c, LINE_RESULT, "");
	case_end(&c);
}

TEST(malformed_results_fail)
{
	static const struct {
		const char *payload;
		bool rejected;
		const char *why;
	} cases[] = {
		{ "{\"request_id\":\"other\",\"ok\":true}", true,
		    "/request_id: is not the topic's" },
		{ "{\"ok\":true}", true, "/request_id: is missing" },
		{ "{\"request_id\":\"r1\"}", true, "/ok: is missing" },
		{ "done", true, "" },
		{ "{\"request_id\":\"r1\",\"ok\":false}", false,
		    "ok is false and error is missing" },
		{ "{\"request_id\":\"r1\",\"ok\":false,\"error\":\"\"}", false,
		    "ok is false and error is missing" },
	};
	struct checker_case c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, true);
		case_invoke(&c, "r1");
		case_result(&c, "r1", cases[i].payload);
		FAILS(&c, LINE_COMPLETE, cases[i].why);
		if (cases[i].rejected)
			FAILS(&c, LINE_RESULT, cases[i].why);
		else
			PASSES(&c, LINE_RESULT);
		PASSES(&c, LINE_IN_TIME);
		case_end(&c);
	}
}

TEST(unexpected_results_fail)
{
	struct checker_case c;

	/* The invoke may have been sent before the check began. */
	case_start(&c, true);
	case_wait(&c, 1000);
	case_result(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	UNSEEN(&c, LINE_RESULT);
	case_wait(&c, 8000);
	case_result(&c, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	FAILS(&c, LINE_RESULT, "result/r2 belongs to no invoke");
	case_end(&c);
}

TEST(the_oldest_invokes_are_dropped)
{
	struct checker_case c;
	char id[16], text[64];
	int i;

	case_start(&c, true);
	case_invoke(&c, "first");
	for (i = 0; i < 64; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		snprintf(text, sizeof(text),
		    "{\"request_id\":\"%s\",\"ok\":true}", id);
		case_invoke(&c, id);
		case_invoke(&c, id);
		case_result(&c, id, text);
	}
	case_wait(&c, 9000);
	PASSES(&c, LINE_RESULT);
	case_end(&c);
}

TEST(probes_give_verdicts)
{
	struct checker_case c;

	case_start(&c, false);
	checker_probed(c.checker, LINE_EMOTION_UPDATE, true);
	checker_probed(c.checker, LINE_INTENT_ACTION, false);
	PASSES(&c, LINE_EMOTION_UPDATE);
	FAILS(&c, LINE_INTENT_ACTION, "there is no subscriber");
	case_end(&c);
}
