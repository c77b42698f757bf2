/* Heartbeats, flags, reports, results, as they are judged. */
#include "core/mem.h"
#include "unit/body-sim/judge_case.h"

/* ---- heartbeats ---------------------------------------------------------- */

static void
beats(struct jcase *c, int n, int64_t apart_ms)
{
	while (n-- > 0) {
		case_wait(c, apart_ms);
		case_say(c, "heartbeat", "1");
	}
}

TEST(heartbeats)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	beats(&c, 1, 10000);
	UNSEEN(&c, LINE_HEARTBEAT);
	beats(&c, 1, 10000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(!case_advises(&c, "10 s is advised"));
	beats(&c, 1, 30000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(case_advises(&c, "up to 30.0 s apart; 10 s is advised"));
	beats(&c, 1, 59900);
	PASSES(&c, LINE_HEARTBEAT);
	case_wait(&c, 60000);
	PASSES(&c, LINE_HEARTBEAT);
	case_wait(&c, 100);
	FAILS(&c, LINE_HEARTBEAT, "none for 60 s");
	case_end(&c);
}

TEST(no_heartbeats_while_away_are_no_fault)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	beats(&c, 3, 10000);
	case_say(&c, "online", "offline");
	case_wait(&c, 600000);
	case_announce(&c);
	beats(&c, 3, 10000);
	PASSES(&c, LINE_HEARTBEAT);
	ck_assert(!case_advises(&c, "advised"));
	case_end(&c);
}

/* A body that was there before and never beats. */
TEST(silence_is_found_whenever_the_watch_begins)
{
	struct jcase c;

	case_start(&c, false);
	case_kept(&c, "online");
	case_wait(&c, 60000);
	UNSEEN(&c, LINE_HEARTBEAT);
	case_wait(&c, 100);
	FAILS(&c, LINE_HEARTBEAT, "");
	case_end(&c);
}

/* ---- flags --------------------------------------------------------------- */

TEST(what_is_not_retained_is_found)
{
	struct jcase c;

	case_start(&c, false);
	case_say(&c, "online", "online");
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_say(&c, "heartbeat", "1");
	ck_assert(judge_wants_kept(c.j, c.t));
	case_put(&c, "online", STR("online"), 1, true);
	case_report(&c, "intent_catalog", true);
	UNSEEN(&c, LINE_RETAIN);
	case_wait(&c, JUDGE_KEPT_MS + 200);
	FAILS(&c, LINE_RETAIN, "skills is not retained");
	case_end(&c);
}

TEST(what_is_retained_must_be_the_new_one)
{
	struct jcase c;

	case_start(&c, false);
	case_kept(&c, "offline");
	c.version = 4;
	case_say(&c, "online", "online");
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_say(&c, "heartbeat", "1");
	ck_assert(judge_wants_kept(c.j, c.t));
	case_put(&c, "online", STR("online"), 1, true);
	case_report(&c, "intent_catalog", true);
	c.version = 3;
	case_report(&c, "skills", true);
	case_wait(&c, JUDGE_KEPT_MS + 200);
	FAILS(&c, LINE_RETAIN, "the skills that is retained is not the one");
	/* The body did not go back: the broker has an old one. */
	PASSES(&c, LINE_VERSION);
	case_end(&c);
}

TEST(a_new_announcement_puts_the_question_off)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	case_say(&c, "online", "offline");
	case_wait(&c, 3000);
	case_say(&c, "online", "online");
	case_wait(&c, 3000);
	UNSEEN(&c, LINE_RETAIN);
	case_report(&c, "skills", false);
	case_report(&c, "intent_catalog", false);
	case_say(&c, "heartbeat", "1");
	ck_assert(judge_wants_kept(c.j, c.t));
	case_kept(&c, "online");
	case_wait(&c, 3000);
	PASSES(&c, LINE_RETAIN);
	case_end(&c);
}

TEST(what_must_not_be_retained_is_found)
{
	struct jcase c;

	case_start(&c, false);
	case_put(&c, "heartbeat", STR("1"), 0, true);
	FAILS(&c, LINE_RETAIN, "a heartbeat is retained");
	case_end(&c);
	case_start(&c, false);
	case_put(&c, "result/r1", STR("{\"request_id\":\"r1\",\"ok\":true}"), 1,
	    true);
	FAILS(&c, LINE_RETAIN, "a result is retained");
	UNSEEN(&c, LINE_RESULT);
	case_end(&c);
	/* That one would be the server's fault. */
	case_start(&c, true);
	case_put(&c, "invoke/r1", STR("{}"), 1, true);
	case_wait(&c, 9000);
	UNSEEN(&c, LINE_RESULT);
	case_end(&c);
}

TEST(qos)
{
	struct jcase c;

	case_start(&c, false);
	case_announce(&c);
	PASSES(&c, LINE_QOS);
	case_put(&c, "skills", STR("[]"), 0, false);
	FAILS(&c, LINE_QOS, "skills has QoS 0");
	case_end(&c);
	case_start(&c, false);
	case_put(&c, "heartbeat", STR("1"), 1, false);
	FAILS(&c, LINE_QOS, "heartbeat has QoS 1");
	case_end(&c);
	case_start(&c, false);
	case_put(&c, "result/r1", STR("{\"request_id\":\"r1\",\"ok\":true}"), 0,
	    false);
	FAILS(&c, LINE_QOS, "result has QoS 0");
	case_end(&c);
}

/* ---- reports ------------------------------------------------------------- */

TEST(skills_are_judged)
{
	static const struct {
		const char *report;
		const char *fails; /* of LINE_SKILLS; NULL: passes */
		const char *advice;
	} cases[] = {
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
	struct jcase c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, false);
		case_say(&c, "skills", cases[i].report);
		if (cases[i].fails != NULL)
			FAILS(&c, LINE_SKILLS, cases[i].fails);
		else
			PASSES(&c, LINE_SKILLS);
		if (cases[i].advice != NULL)
			ck_assert_msg(case_advises(&c, cases[i].advice), "%s",
			    cases[i].report);
		case_end(&c);
	}
	case_start(&c, false);
	case_say(&c, "skills", "{\"terminal_id\":\"t2\",\"skills\":[]}");
	FAILS(&c, LINE_TERMINAL_ID, "it is t2");
	case_end(&c);
	case_start(&c, false);
	case_say(&c, "skills", "{\"terminal_id\":\"\",\"skills\":[]}");
	UNSEEN(&c, LINE_TERMINAL_ID);
	case_end(&c);
}

TEST(catalogs_are_judged)
{
	static const struct {
		const char *report;
		const char *fails; /* of LINE_CATALOG; NULL: passes */
		const char *advice;
	} cases[] = {
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
	struct jcase c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, false);
		case_say(&c, "intent_catalog", cases[i].report);
		if (cases[i].fails != NULL)
			FAILS(&c, LINE_CATALOG, cases[i].fails);
		else
			PASSES(&c, LINE_CATALOG);
		if (cases[i].advice != NULL)
			ck_assert_msg(case_advises(&c, cases[i].advice), "%s",
			    cases[i].report);
		case_end(&c);
	}
}

TEST(versions_must_not_go_back)
{
	struct jcase c;

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
	case_say(&c, "intent_catalog", "[]");
	FAILS(&c, LINE_VERSION, "catalog_version went from 3 to 0");
	case_end(&c);
}

TEST(intents_must_be_of_its_skills)
{
	struct jcase c;

	case_start(&c, false);
	case_report(&c, "intent_catalog", false);
	UNSEEN(&c, LINE_OWN_INTENTS);
	case_say(&c, "skills", "[{\"name\":\"control_light\"}]");
	FAILS(&c, LINE_OWN_INTENTS, "which is not in skills");
	FAILS(&c, LINE_MAPPING, "stands for no reported skill");
	case_end(&c);
	case_start(&c, false);
	case_say(&c, "skills", "[]");
	case_say(&c, "intent_catalog", "[{\"id\":\"a\"}]");
	UNSEEN(&c, LINE_OWN_INTENTS);
	UNSEEN(&c, LINE_MAPPING);
	case_end(&c);
}

/* ---- results ------------------------------------------------------------- */

static void
asked(struct jcase *c, const char *id)
{
	char leaf[64];

	snprintf(leaf, sizeof(leaf), "invoke/%s", id);
	case_say(c, leaf, "{}");
}

static void
answers(struct jcase *c, const char *id, const char *payload)
{
	char leaf[64];

	snprintf(leaf, sizeof(leaf), "result/%s", id);
	case_say(c, leaf, payload);
}

TEST(results_in_time)
{
	struct jcase c;

	case_start(&c, true);
	asked(&c, "r1");
	case_wait(&c, 5000);
	answers(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	ck_assert_str_eq(c.said, "ok=true ");
	PASSES(&c, LINE_RESULT);
	PASSES(&c, LINE_IN_TIME);
	PASSES(&c, LINE_COMPLETE);
	asked(&c, "r2");
	case_wait(&c, 5001);
	answers(
	    &c, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	ck_assert_str_eq(c.said, "ok=false no");
	PASSES(&c, LINE_RESULT);
	FAILS(&c, LINE_IN_TIME, "one took 5.0 s");
	PASSES(&c, LINE_COMPLETE);
	answers(
	    &c, "r2", "{\"request_id\":\"r2\",\"ok\":false,\"error\":\"no\"}");
	ck_assert(case_advises(&c, "a result came twice"));
	case_end(&c);
}

TEST(results_that_do_not_come)
{
	struct jcase c;

	case_start(&c, true);
	asked(&c, "r1");
	case_wait(&c, 8000);
	UNSEEN(&c, LINE_RESULT);
	case_wait(&c, 100);
	FAILS(&c, LINE_RESULT, "invoke/r1 had none within 8 s");
	FAILS(&c, LINE_IN_TIME, "");
	answers(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	FAILS(&c, LINE_RESULT, "");
	case_end(&c);
}

TEST(results_that_are_broken)
{
	static const struct {
		const char *payload;
		bool refused;
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
	struct jcase c;
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		case_start(&c, true);
		asked(&c, "r1");
		answers(&c, "r1", cases[i].payload);
		FAILS(&c, LINE_COMPLETE, cases[i].why);
		if (cases[i].refused)
			FAILS(&c, LINE_RESULT, cases[i].why);
		else
			PASSES(&c, LINE_RESULT);
		PASSES(&c, LINE_IN_TIME);
		case_end(&c);
	}
}

TEST(results_that_nobody_asked_for)
{
	struct jcase c;

	/* Before the watch began somebody may have. */
	case_start(&c, true);
	case_wait(&c, 1000);
	answers(&c, "r1", "{\"request_id\":\"r1\",\"ok\":true}");
	UNSEEN(&c, LINE_RESULT);
	case_wait(&c, 8000);
	answers(&c, "r2", "{\"request_id\":\"r2\",\"ok\":true}");
	FAILS(&c, LINE_RESULT, "result/r2 answers no invoke");
	case_end(&c);
}

TEST(the_oldest_invokes_are_forgotten)
{
	struct jcase c;
	char id[16], text[64];
	int i;

	case_start(&c, true);
	asked(&c, "first");
	for (i = 0; i < 64; i++) {
		snprintf(id, sizeof(id), "r%d", i);
		snprintf(text, sizeof(text),
		    "{\"request_id\":\"%s\",\"ok\":true}", id);
		asked(&c, id);
		asked(&c, id);
		answers(&c, id, text);
	}
	case_wait(&c, 9000);
	PASSES(&c, LINE_RESULT);
	case_end(&c);
}

TEST(probes)
{
	struct jcase c;

	case_start(&c, false);
	judge_probed(c.j, LINE_EMOTION_UPDATE, true);
	judge_probed(c.j, LINE_INTENT_ACTION, false);
	PASSES(&c, LINE_EMOTION_UPDATE);
	FAILS(&c, LINE_INTENT_ACTION, "nobody is");
	case_end(&c);
}
