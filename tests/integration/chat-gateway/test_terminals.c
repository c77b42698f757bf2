/*
 * Terminals over HTTP: what is stored of them, for their user only.
 */
#include <stdio.h>

#include "core/buf.h"
#include "core/clock.h"
#include "testkit/gateway_turn_fixture.h"
#include "testkit/terminal_fixture.h"

#define MINE      "/v1/terminals/t1?user_id=ann"
#define NOT_FOUND "terminal not found"

#define SKILLS                                                       \
	"[{\"name\":\"control_light\",\"description\":\"灯\","      \
	"\"input_schema\":{\"type\":\"object\",\"properties\":{}}}," \
	"{\"name\":\"set_head_motion\"}]"
#define CATALOG                                       \
	"[{\"id\":\"intent_light\",\"name\":\"灯\"," \
	"\"match\":{\"keywords_any\":[\"灯\"]},"     \
	"\"slots\":[{\"name\":\"skill\",\"default\":\"control_light\"}]}]"

static void
put_catalog(struct gateway_fixture *b, const char *terminal, struct str json)
{
	struct terminal_snapshot snap = {
		.version = 12, .json = json, .hash = STR("h")
	};
	int64_t current;

	ck_assert_int_eq(terminal_fixture_put_catalog(b->db.s, &b->writer,
			     str_of(terminal), &snap, &current),
	    RC_OK);
}

/* The names in a list, each followed by a comma. */
static void
list_names(json_t *j, const char *member, const char *want)
{
	char have[256] = "";
	json_t *e;
	size_t i, n = 0;

	json_array_foreach (tk_at(j, member), i, e)
		n += (size_t)snprintf(
		    have + n, sizeof(have) - n, "%s,", json_string_value(e));
	ck_assert_str_eq(have, want);
}

static bool
has_terminal(json_t *j, const char *member)
{
	return json_object_get(j, member) != NULL;
}

TEST(a_terminal_is_returned_as_stored)
{
	char id[GW_SOUL_ID];
	struct wall seen;
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	/* Bound before it was ever online. */
	gw_bind_ok(&b, "ann", "t1", id);
	j = gw_json(&b, "GET", MINE, NULL);
	ck_assert_str_eq(tk_text(j, "terminal_id"), "t1");
	ck_assert_str_eq(tk_text(j, "user_id"), "ann");
	ck_assert_str_eq(tk_text(j, "soul_id"), id);
	ck_assert(json_is_false(tk_at(j, "online")));
	ck_assert_int_eq(tk_int(j, "skill_version"), 0);
	list_names(j, "skills", "");
	ck_assert(!has_terminal(j, "last_seen") && !has_terminal(j, "broker") &&
	    !has_terminal(j, "last_refused") && !has_terminal(j, "soul_hint"));
	json_decref(j);
	/* Online. */
	gw_online(&b, "t1", true);
	gw_report_skills(&b, "t1", SKILLS, "friendly");
	put_catalog(&b, "t1", STR(CATALOG));
	j = gw_json(&b, "GET", MINE, NULL);
	ck_assert(json_is_true(tk_at(j, "online")));
	ck_assert_str_eq(tk_text(j, "broker"), "main");
	ck_assert_int_eq(tk_int(j, "skill_version"), 1);
	ck_assert_int_eq(tk_int(j, "catalog_version"), 12);
	ck_assert_str_eq(tk_text(j, "soul_hint"), "friendly");
	list_names(j, "skills", "control_light,set_head_motion,");
	list_names(j, "intents", "intent_light,");
	ck_assert_int_eq(
	    wall_parse(str_of(tk_text(j, "last_seen")), &seen), RC_OK);
	ck_assert_int_lt(clock_wall().ms - seen.ms, 10000);
	json_decref(j);
	/* Offline: its capabilities are left out, its versions stay. */
	gw_online(&b, "t1", false);
	j = gw_json(&b, "GET", MINE, NULL);
	ck_assert(json_is_false(tk_at(j, "online")));
	list_names(j, "skills", "");
	list_names(j, "intents", "");
	ck_assert_int_eq(tk_int(j, "catalog_version"), 12);
	json_decref(j);
	gateway_fixture_stop(&b);
}

static bool
is_offline(void *arg)
{
	struct tk_response a = { 0 };
	bool is;

	gw_request(arg, &a, "GET", "/v1/terminals/t1", NULL);
	is = tk_response_has(&a, "\"online\":false") &&
	    tk_response_has(&a, "\"skills\":[]");
	tk_response_free(&a);
	return is;
}

TEST(a_terminal_without_heartbeat_is_offline)
{
	struct gateway_fixture b;

	gateway_fixture_start(&b, TK_ENV("SKILL_SNAPSHOT_TTL_SECONDS=1"));
	gw_online(&b, "t1", true);
	gw_report_skills(&b, "t1", SKILLS, NULL);
	ck_assert(!is_offline(&b));
	ck_assert(tk_until(is_offline, &b, GW_MS));
	gateway_fixture_stop(&b);
}

TEST(the_last_rejected_report_is_returned)
{
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	ck_assert_int_eq(
	    terminal_fixture_put_rejection(b.db.s, &b.writer, STR("t1"),
		&(struct terminal_rejection){ TERMINAL_REJECTED_SKILLS,
		    STR("{\"kind\":\"skills\",\"outcome\":\"refused\","
			"\"path\":\"/skills/0/name\","
			"\"reason\":\"is missing\","
			"\"at\":\"2026-02-22T10:20:30Z\"}") }),
	    RC_OK);
	j = gw_json(&b, "GET", "/v1/terminals/t1", NULL);
	ck_assert(json_is_false(tk_at(j, "online")));
	ck_assert_str_eq(tk_text(j, "last_refused.kind"), "skills");
	ck_assert_str_eq(tk_text(j, "last_refused.outcome"), "refused");
	ck_assert_str_eq(tk_text(j, "last_refused.path"), "/skills/0/name");
	ck_assert_str_eq(tk_text(j, "last_refused.reason"), "is missing");
	ck_assert_str_eq(tk_text(j, "last_refused.at"), "2026-02-22T10:20:30Z");
	json_decref(j);
	gateway_fixture_stop(&b);
}

TEST(a_bound_terminal_belongs_to_one_user)
{
	char ann[GW_SOUL_ID], bob[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "a", ann);
	gw_soul(&b, "bob", "b", bob);
	gw_online(&b, "free", true);
	gw_online(&b, "t1", true);
	gw_bind_ok(&b, "ann", "t2", ann);
	gw_bind_ok(&b, "ann", "t1", ann);
	gw_bind_ok(&b, "bob", "t0", bob);
	gw_bind_ok(&b, "ann", "灯", ann);
	/* An unbound terminal is visible to users who know its id. */
	gw_ok(&b, "GET", "/v1/terminals/free?user_id=ann", NULL);
	gw_ok(&b, "GET", "/v1/terminals/free?user_id=bob", NULL);
	gw_ok(&b, "GET", MINE, NULL);
	gw_rejects(
	    &b, "GET", "/v1/terminals/t1?user_id=bob", NULL, 404, NOT_FOUND);
	gw_rejects(&b, "GET", "/v1/terminals/t1", NULL, 404, NOT_FOUND);
	gw_rejects(
	    &b, "GET", "/v1/terminals/t0?user_id=ann", NULL, 404, NOT_FOUND);
	gw_rejects(
	    &b, "GET", "/v1/terminals/none?user_id=ann", NULL, 404, NOT_FOUND);
	j = gw_json(&b, "GET", "/v1/terminals?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 3);
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "terminal_id"), "t1");
	ck_assert(json_is_true(
	    tk_at(json_array_get(tk_at(j, "items"), 0), "online")));
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 1), "terminal_id"), "t2");
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 2), "terminal_id"), "灯");
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/terminals", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	gateway_fixture_stop(&b);
}

TEST(unbinding_frees_a_terminal)
{
	char id[GW_SOUL_ID];
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "a", id);
	gw_online(&b, "t1", true);
	gw_bind_ok(&b, "ann", "t1", id);
	gw_rejects(&b, "DELETE", "/v1/terminals/none/soul?user_id=ann", NULL,
	    404, NOT_FOUND);
	gw_rejects(&b, "DELETE", "/v1/terminals/t1/soul?user_id=bob", NULL, 409,
	    "terminal t1 is bound by another user");
	j = gw_json(&b, "DELETE", "/v1/terminals/t1/soul?user_id=ann", NULL);
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	/* Already unbound: success. */
	gw_ok(&b, "DELETE", "/v1/terminals/t1/soul?user_id=ann", NULL);
	j = gw_json(&b, "GET", MINE, NULL);
	ck_assert(!has_terminal(j, "soul_id") && !has_terminal(j, "user_id"));
	ck_assert(json_is_true(tk_at(j, "online")));
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/terminals?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	gateway_fixture_stop(&b);
}

/* A snapshot of another version does not hide the rest. */
TEST(an_unreadable_snapshot_is_left_out)
{
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_online(&b, "t1", true);
	gw_report_skills(&b, "t1", "[{\"name\":7}]", NULL);
	put_catalog(&b, "t1", STR(CATALOG));
	ck_assert_int_eq(
	    terminal_fixture_put_rejection(b.db.s, &b.writer, STR("t1"),
		&(struct terminal_rejection){
		    TERMINAL_REJECTED_SKILLS, STR("{}") }),
	    RC_OK);
	j = gw_json(&b, "GET", "/v1/terminals/t1", NULL);
	list_names(j, "skills", "");
	list_names(j, "intents", "intent_light,");
	ck_assert(!has_terminal(j, "last_refused"));
	json_decref(j);
	ck_assert(tk_log_has(&b.gateway.proc, "gateway.stored"));
	gateway_fixture_stop(&b);
}

/* An array of n intents with many words each. */
static void
put_large(struct buf *json, int n, int words)
{
	int i, k;

	for (i = 0; i < n; i++) {
		buf_printf(json,
		    "%c{\"id\":\"intent_%d\",\"name\":\"x\",\"slots\":[],"
		    "\"match\":{\"keywords_any\":[\"a\"",
		    i == 0 ? '[' : ',', i);
		for (k = 0; k < words; k++)
			buf_printf(json, ",\"word number %d\"", k);
		buf_puts(json, "]}}");
	}
	buf_putc(json, ']');
}

#define BODIES 400

/*
 * More snapshots than fit into the memory of one call, while another client is
 * served.
 */
TEST_T(many_terminals_with_large_catalogs_are_listed, 60)
{
	struct buf json = BUF_INIT(1024 * 1024);
	char id[GW_SOUL_ID], name[32];
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	struct gateway_fixture b;
	json_t *j;
	int i;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "a", id);
	put_large(&json, 40, 50);
	for (i = 0; i < BODIES; i++) {
		snprintf(name, sizeof(name), "t%03d", i);
		gw_online(&b, name, true);
		put_catalog(&b, name, buf_str(&json));
		ck_assert_int_eq(terminal_fixture_bind(b.db.s, str_of(name),
				     STR("ann"), str_of(id)),
		    RC_OK);
	}
	gw_send(&b, &c, "GET", "/v1/terminals?user_id=ann", NULL);
	gw_ok(&b, "GET", "/v1/terminals/t007?user_id=ann", NULL);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	j = gw_response_json(&a, 200);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), BODIES);
	ck_assert_uint_eq(
	    json_array_size(tk_at(
		json_array_get(tk_at(j, "items"), BODIES - 1), "intents")),
	    40);
	json_decref(j);
	/* And one of the maximum size. */
	buf_reset(&json);
	put_large(&json, 1100, 50);
	ck_assert_uint_gt(json.n, 900 * 1024);
	put_catalog(&b, "t000", buf_str(&json));
	j = gw_json(&b, "GET", "/v1/terminals/t000?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "intents")), 1100);
	json_decref(j);
	tk_http_close(&c);
	tk_response_free(&a);
	buf_free(&json);
	gateway_fixture_stop(&b);
}
