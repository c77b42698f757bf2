/* The turns of a user with filters, and one with its details. */
#include <stdio.h>

#include "state/turn_detail.h"
#include "testkit/gateway_fixture.h"

static struct gateway_fixture b;

static void
put(const char *turn, const char *state, int ms, int64_t at)
{
	char summary[512], detail[512];

	snprintf(summary, sizeof(summary),
	    "{\"turn_id\":\"%s\",\"session_id\":\"s1\",\"terminal_id\":"
	    "\"lamp\",\"state\":\"%s\",\"started_at\":"
	    "\"2026-01-02T03:04:05Z\",\"total_ms\":%d,\"user_text\":\"hi\","
	    "\"confirmed\":0,\"unconfirmed\":0}",
	    turn, state, ms);
	snprintf(detail, sizeof(detail),
	    "{\"turn_id\":\"%s\",\"user_id\":\"demo-user\",\"session_id\":"
	    "\"s1\",\"state\":\"%s\",\"started_at\":"
	    "\"2026-01-02T03:04:05Z\",\"timeline\":[{\"stage\":\"think\","
	    "\"start_ms\":0,\"in\":\"what\",\"out\":\"that\"}]}",
	    turn, state);
	ck_assert_int_eq(
	    turn_detail_put(b.db.s,
		&(struct turn_detail){ STR("demo-user"), str_of(turn), { at },
		    3600 * 1000, str_of(summary), str_of(detail) }),
	    RC_OK);
}

/* The ids of a page, each with a comma; cursor: as "&cursor=…", or "". */
static void
list_is(const char *query, const char *want, char cursor[160])
{
	char path[512], have[256] = "";
	json_t *j, *e;
	size_t i, n = 0;

	snprintf(path, sizeof(path), "/v1/turns?%s%s", query, cursor);
	j = gw_json(&b, "GET", path, NULL);
	json_array_foreach (tk_at(j, "items"), i, e)
		n += (size_t)snprintf(
		    have + n, sizeof(have) - n, "%s,", tk_text(e, "turn_id"));
	ck_assert_str_eq(have, want);
	cursor[0] = '\0';
	if (json_object_get(j, "next") != NULL)
		snprintf(cursor, 160, "&cursor=%s", tk_text(j, "next"));
	json_decref(j);
}

TEST(turns_are_listed_by_page_and_filter)
{
	char cursor[160] = "";

	gateway_fixture_start_alone(&b, NULL);
	list_is("limit=5", "", cursor);
	put("t1", "completed", 10, 1000);
	put("t2", "failed", 20, 2000);
	put("t3", "completed", 30, 3000);
	list_is("limit=2", "t3,t2,", cursor);
	list_is("limit=2", "t1,", cursor);
	ck_assert_str_eq(cursor, "");
	list_is("limit=2&state=completed", "t3,t1,", cursor);
	cursor[0] = '\0';
	list_is("slower_ms=20", "t3,t2,", cursor);
	list_is("session_id=s2", "", cursor);
	list_is("terminal_id=lamp&state=failed", "t2,", cursor);
	list_is("user_id=ann", "", cursor);
	gw_rejects(&b, "GET", "/v1/turns?limit=0", NULL, 400,
	    "limit: must be 1 to 100");
	gw_rejects(&b, "GET", "/v1/turns?slower_ms=x", NULL, 400,
	    "slower_ms: must be 0 to 86400000");
	gw_rejects(&b, "GET", "/v1/turns?cursor=x", NULL, 400,
	    "cursor: must be the next of the page before");
	gateway_fixture_stop(&b);
}

TEST(details_are_shown_to_their_user_and_deleted_with_the_data)
{
	char cursor[160] = "";
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	put("t1", "completed", 10, 1000);
	j = gw_json(&b, "GET", "/v1/turns/t1?detail=1", NULL);
	ck_assert_str_eq(tk_text(j, "timeline.0.in"), "what");
	ck_assert_str_eq(tk_text(j, "timeline.0.out"), "that");
	json_decref(j);
	gw_rejects(&b, "GET", "/v1/turns/t1?detail=1&user_id=ann", NULL, 404,
	    "turn not found");
	gw_rejects(
	    &b, "GET", "/v1/turns/t2?detail=1", NULL, 404, "turn not found");
	gw_ok(&b, "DELETE", "/v1/users/demo-user/data", NULL);
	list_is("limit=5", "", cursor);
	gw_rejects(
	    &b, "GET", "/v1/turns/t1?detail=1", NULL, 404, "turn not found");
	gateway_fixture_stop(&b);
}
