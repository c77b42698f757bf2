/*
 * Sessions over HTTP: their stored messages, for their user only.
 */
#include "core/buf.h"
#include "core/mem.h"
#include "state/session.h"
#include "testkit/gateway_fixture.h"

#define MESSAGES  "/v1/sessions/s1/messages"
#define NOT_FOUND "session not found"

static struct session_key
session_key_of(const char *user, const char *session)
{
	return (struct session_key){ str_of(user), str_of(session) };
}

static void
append(struct gateway_fixture *b, const char *user, const char *session,
    struct str json)
{
	struct session_key k = session_key_of(user, session);

	ck_assert_int_eq(session_append(b->db.s, &k, &json, 1, NULL), RC_OK);
}

#define MESSAGE(role, more)               \
	STR("{\"role\":\"" role "\"" more \
	    ",\"created_at\":\"2026-02-22T10:20:30Z\"}")

static void
stored_messages(
    struct gateway_fixture *b, const char *user, const char *session)
{
	append(b, user, session,
	    MESSAGE("user",
		",\"content\":\"把灯变成绿色\","
		"\"turn_id\":\"turn_1\""));
	append(b, user, session,
	    MESSAGE("observation", ",\"content\":\"presence: true\""));
	append(b, user, session,
	    MESSAGE("assistant",
		",\"content\":\"\",\"tool_calls\":[{\"id\":\"c1\","
		"\"type\":\"function\",\"function\":{\"name\":\"x\"}}]"));
	append(b, user, session,
	    MESSAGE("tool",
		",\"content\":\"done\",\"name\":\"x\","
		"\"tool_call_id\":\"c1\",\"unknown\":1"));
}

static void
message_is(json_t *j, size_t i, const char *id, const char *role)
{
	json_t *m = json_array_get(tk_at(j, "items"), i);

	ck_assert_str_eq(tk_text(m, "id"), id);
	ck_assert_str_eq(tk_text(m, "role"), role);
	ck_assert_str_eq(tk_text(m, "created_at"), "2026-02-22T10:20:30Z");
}

TEST(a_session_is_returned_as_stored)
{
	struct session_key k = session_key_of("demo-user", "s1");
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	gw_rejects(&b, "GET", MESSAGES, NULL, 404, NOT_FOUND);
	stored_messages(&b, "demo-user", "s1");
	j = gw_json(&b, "GET", MESSAGES, NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	ck_assert_str_eq(tk_text(j, "session_id"), "s1");
	ck_assert_ptr_null(json_object_get(j, "summary"));
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 4);
	message_is(j, 0, "1", "user");
	message_is(j, 1, "2", "observation");
	message_is(j, 2, "3", "assistant");
	message_is(j, 3, "4", "tool");
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "content"),
	    "把灯变成绿色");
	ck_assert_str_eq(
	    tk_text(json_array_get(tk_at(j, "items"), 0), "turn_id"), "turn_1");
	ck_assert_uint_eq(
	    json_array_size(
		tk_at(json_array_get(tk_at(j, "items"), 2), "tool_calls")),
	    1);
	json_decref(j);
	ck_assert_int_eq(
	    session_summarise(b.db.s, &k,
		&(struct session_summary){ .text = STR("绿灯"), .number = 2 }),
	    RC_OK);
	j = gw_json(&b, "GET", MESSAGES, NULL);
	ck_assert_str_eq(tk_text(j, "summary"), "绿灯");
	json_decref(j);
	gateway_fixture_stop(&b);
}

/* "s1" of one user is not "s1" of another. */
TEST(a_session_belongs_to_one_user)
{
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	stored_messages(&b, "ann", "s1");
	gw_rejects(&b, "GET", MESSAGES, NULL, 404, NOT_FOUND);
	gw_rejects(&b, "GET", MESSAGES "?user_id=bob", NULL, 404, NOT_FOUND);
	gw_rejects(
	    &b, "DELETE", "/v1/sessions/s1?user_id=bob", NULL, 404, NOT_FOUND);
	append(&b, "bob", "s1", MESSAGE("user", ",\"content\":\"bob's\""));
	j = gw_json(&b, "GET", MESSAGES "?user_id=bob", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	json_decref(j);
	j = gw_json(&b, "DELETE", "/v1/sessions/s1?user_id=bob", NULL);
	ck_assert(json_is_true(tk_at(j, "ok")));
	json_decref(j);
	gw_rejects(&b, "GET", MESSAGES "?user_id=bob", NULL, 404, NOT_FOUND);
	gw_rejects(
	    &b, "DELETE", "/v1/sessions/s1?user_id=bob", NULL, 404, NOT_FOUND);
	j = gw_json(&b, "GET", MESSAGES "?user_id=ann", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 4);
	json_decref(j);
	gateway_fixture_stop(&b);
}

/* Ids of any kind work in path and query. */
TEST(ids_are_percent_decoded)
{
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	stored_messages(&b, "a b&c", "会/话+1");
	gw_ok(&b, "GET",
	    "/v1/sessions/%E4%BC%9A%2F%E8%AF%9D+1/messages"
	    "?user_id=a+b%26c",
	    NULL);
	gw_rejects(&b, "GET",
	    "/v1/sessions/%E4%BC%9A%2F%E8%AF%9D%201/messages"
	    "?user_id=a+b%26c",
	    NULL, 404, NOT_FOUND);
	gateway_fixture_stop(&b);
}

TEST(an_unreadable_message_is_left_out)
{
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	append(&b, "demo-user", "s1", STR("no JSON"));
	append(&b, "demo-user", "s1", STR("{\"role\":\"missing\"}"));
	append(&b, "demo-user", "s1", MESSAGE("user", ",\"content\":\"hi\""));
	j = gw_json(&b, "GET", MESSAGES, NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	message_is(j, 0, "3", "user");
	json_decref(j);
	ck_assert(tk_log_has(&b.gateway.proc, "gateway.stored_message"));
	gateway_fixture_stop(&b);
}

/* A message with a text of n bytes. */
static void
format_message(struct buf *json, size_t n)
{
	size_t i;

	buf_reset(json);
	buf_puts(json, "{\"role\":\"user\",\"content\":\"");
	for (i = 0; i < n; i++)
		buf_putc(json, 'x');
	buf_puts(json, "\",\"created_at\":\"2026-02-22T10:20:30Z\"}");
}

static void
append_many(struct gateway_fixture *b, struct str json, size_t times)
{
	struct session_key k = session_key_of("demo-user", "s1");
	struct str all[SESSION_APPEND_MAX];
	size_t i, n;

	for (i = 0; i < NELEM(all); i++)
		all[i] = json;
	while (times > 0) {
		n = times < NELEM(all) ? times : NELEM(all);
		ck_assert_int_eq(
		    session_append(b->db.s, &k, all, n, NULL), RC_OK);
		times -= n;
	}
}

/* All stored messages; of very large ones the newest. */
TEST_T(a_long_session_is_returned_completely, 60)
{
	struct buf json = BUF_INIT(128 * 1024);
	struct tk_response a = { 0 };
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, NULL);
	format_message(&json, 1000);
	append_many(&b, buf_str(&json), SESSION_MESSAGES_MAX + 5);
	ck_assert_int_eq(gw_request(&b, &a, "GET", MESSAGES, NULL), 200);
	ck_assert_uint_gt(a.body.n, 2000 * 1000);
	j = gw_response_json(&a, 200);
	ck_assert_uint_eq(
	    json_array_size(tk_at(j, "items")), SESSION_MESSAGES_MAX);
	message_is(j, 0, "6", "user");
	message_is(j, SESSION_MESSAGES_MAX - 1, "2005", "user");
	json_decref(j);
	format_message(&json, 60000);
	append_many(&b, buf_str(&json), 100);
	j = gw_json(&b, "GET", MESSAGES, NULL);
	ck_assert_uint_eq(
	    json_array_size(tk_at(j, "items")), SESSION_PAGE_BYTES / json.n);
	message_is(j, SESSION_PAGE_BYTES / json.n - 1, "2105", "user");
	json_decref(j);
	tk_response_free(&a);
	buf_free(&json);
	gateway_fixture_stop(&b);
}

TEST(sessions_are_listed_by_their_user)
{
	struct gateway_fixture b;
	struct session_key k = session_key_of("demo-user", "s1");
	json_t *j, *e;

	gateway_fixture_start_alone(&b, NULL);
	j = gw_json(&b, "GET", "/v1/sessions", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("soul_1"), STR("lamp"), 100000),
	    RC_OK);
	append(&b, "demo-user", "s1",
	    MESSAGE("user", ",\"content\":\"把灯变成绿色\""));
	k = session_key_of("demo-user", "s2");
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("soul_1"), STR("lamp"), 100000),
	    RC_OK);
	j = gw_json(&b, "GET", "/v1/sessions?limit=1", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 1);
	ck_assert_ptr_nonnull(tk_find(j, "next"));
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/sessions", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 2);
	ck_assert_ptr_null(tk_find(j, "next"));
	e = json_array_get(tk_at(j, "items"), 0);
	if (strcmp(tk_text(e, "session_id"), "s1") != 0)
		e = json_array_get(tk_at(j, "items"), 1);
	ck_assert_str_eq(tk_text(e, "session_id"), "s1");
	ck_assert_str_eq(tk_text(e, "soul_id"), "soul_1");
	ck_assert_str_eq(tk_text(e, "terminal_id"), "lamp");
	ck_assert_str_eq(tk_text(e, "last_text"), "把灯变成绿色");
	ck_assert_int_eq(tk_int(e, "messages"), 1);
	json_decref(j);
	j = gw_json(&b, "GET", "/v1/sessions?user_id=bob", NULL);
	ck_assert_uint_eq(json_array_size(tk_at(j, "items")), 0);
	json_decref(j);
	gw_rejects(&b, "GET", "/v1/sessions?limit=51", NULL, 400,
	    "limit: must be 1 to 50");
	gw_rejects(&b, "GET", "/v1/sessions?cursor=x", NULL, 400,
	    "cursor: must be the next of the page before");
	gateway_fixture_stop(&b);
}
