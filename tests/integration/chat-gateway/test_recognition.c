/*
 * What a body reported, and what would be recognised in a text: the services
 * reply, and only for bodies of the caller.
 */
#include <stdio.h>

#include "testkit/gateway_fixture.h"
#include "testkit/terminal_fixture.h"

#define SKILLS "[{\"name\":\"control_light\",\"description\":\"灯\"}]"
#define CATALOG                                   \
	"[{\"id\":\"light\",\"name\":\"灯\","    \
	"\"match\":{\"keywords_any\":[\"灯\"]}," \
	"\"slots\":[{\"name\":\"skill\",\"default\":\"control_light\"}]}]"
#define REPORTS       "/v1/terminals/t1/reports"
#define INTENTS       "/v1/intents/filter"
#define COMMAND(rest) "{\"command\":\"开灯\"," rest "}"
#define REFERENCE(ref) \
	COMMAND("\"catalog_ref\":{\"terminal_id\":\"t1\"" ref "}")

static void
put_reports(struct gateway_fixture *b)
{
	struct terminal_snapshot snap = {
		.version = 12, .json = STR(CATALOG), .hash = STR("h1")
	};
	int64_t current;

	gw_online(b, "t1", true);
	gw_report_skills(b, "t1", SKILLS, NULL);
	ck_assert_int_eq(terminal_fixture_put_catalog(
			     b->db.s, &b->writer, STR("t1"), &snap, &current),
	    RC_OK);
}

TEST(reports_are_shown_in_full_and_also_offline)
{
	char soul[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", soul);
	gw_bind_ok(&b, "ann", "t1", soul);
	j = gw_json(&b, "GET", REPORTS "?user_id=ann", NULL);
	ck_assert_ptr_null(json_object_get(j, "skills"));
	ck_assert_ptr_null(json_object_get(j, "intent_catalog"));
	ck_assert_ptr_null(json_object_get(j, "catalog_hash"));
	json_decref(j);
	put_reports(&b);
	gw_online(&b, "t1", false);
	j = gw_json(&b, "GET", REPORTS "?user_id=ann", NULL);
	ck_assert(json_is_false(tk_at(j, "online")));
	ck_assert_str_eq(tk_text(j, "skills.0.name"), "control_light");
	ck_assert_str_eq(tk_text(j, "skills.0.description"), "灯");
	ck_assert_str_eq(tk_text(j, "intent_catalog.0.id"), "light");
	ck_assert_int_eq(tk_int(j, "catalog_version"), 12);
	ck_assert_str_eq(tk_text(j, "catalog_hash"), "h1");
	json_decref(j);
	gw_rejects(
	    &b, "GET", REPORTS "?user_id=bob", NULL, 404, "terminal not found");
	gateway_fixture_stop(&b);
}

/* The first intent of the response to body. */
static void
expect_light(struct gateway_fixture *b, const char *path, const char *body)
{
	json_t *j = gw_json(b, "POST", path, body);

	ck_assert_str_eq(tk_text(j, "intents.0.intent_id"), "light");
	json_decref(j);
}

TEST(a_text_is_tried_with_the_catalog_of_a_body_of_the_caller)
{
	char soul[GW_SOUL_ID];
	struct tk_service filter = { 0 };
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_rejects(&b, "POST", INTENTS, COMMAND("\"intent_catalog\":" CATALOG),
	    503, "no intent-filter is running: start one, then try again");
	gateway_fixture_spawn(&b, &filter, "intent-filter", NULL);
	expect_light(&b, INTENTS, COMMAND("\"intent_catalog\":" CATALOG));
	gw_soul(&b, "ann", "friendly", soul);
	gw_bind_ok(&b, "ann", "t1", soul);
	gw_rejects(&b, "POST", INTENTS "?user_id=ann", REFERENCE(""), 404,
	    "/catalog_ref/terminal_id: has no catalog");
	put_reports(&b);
	expect_light(&b, INTENTS "?user_id=ann", REFERENCE(""));
	expect_light(&b, INTENTS "?user_id=ann", REFERENCE(",\"hash\":\"h1\""));
	gw_rejects(&b, "POST", INTENTS "?user_id=ann",
	    REFERENCE(",\"hash\":\"h0\""), 409,
	    "/catalog_ref/hash: the catalog has changed; ask again with its "
	    "new hash");
	gw_rejects(&b, "POST", INTENTS "?user_id=bob", REFERENCE(""), 404,
	    "terminal not found");
	tk_service_end(&filter);
	gateway_fixture_stop(&b);
}

TEST(emotions_are_those_of_emotion_engine)
{
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	j = gw_json(&b, "POST", "/v1/emotion/analyze",
	    "{\"text\":\"气死我了！\",\"debug\":true}");
	ck_assert_str_eq(tk_text(j, "emotion"), "anger");
	ck_assert_uint_gt(json_array_size(tk_at(j, "evidence")), 0);
	json_decref(j);
	j = gw_json(&b, "POST", "/v1/emotion/convert",
	    "{\"emotion\":\"joy\",\"confidence\":1}");
	ck_assert_double_gt(tk_number(j, "p"), 0);
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/emotion/pad-table", NULL);
	ck_assert_double_lt(tk_number(j, "pad_table.anger.p"), 0);
	json_decref(j);
	gw_rejects(
	    &b, "POST", "/v1/emotion/analyze", "{}", 400, "/text: is missing");
	gateway_fixture_stop(&b);
}
