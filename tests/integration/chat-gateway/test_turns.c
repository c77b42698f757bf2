/*
 * Turns over HTTP: their records, and canceling them.
 */
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define PATH    "/v1/turns/turn_1"
#define CANCEL  PATH "/cancel"
#define MISSING "turn not found"
#define TIMELINE                                                            \
	"[{\"stage\":\"queue\",\"start_ms\":0,\"ms\":1.5},{\"stage\":"      \
	"\"think\",\"what\":\"1\",\"start_ms\":2,\"ms\":40,\"first_ms\":9," \
	"\"outcome\":\"ok\"},{\"stage\":\"store\",\"start_ms\":42}]"

static struct gateway_fixture b;
static struct gw_run r;

static json_t *
record(const char *state)
{
	json_t *j = gw_json(&b, "GET", PATH, NULL);

	ck_assert_str_eq(tk_text(j, "turn_id"), "turn_1");
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	ck_assert_str_eq(tk_text(j, "session_id"), "s1");
	ck_assert_str_eq(tk_text(j, "state"), state);
	ck_assert_ptr_nonnull(strchr(tk_text(j, "started_at"), 'T'));
	ck_assert_str_eq(
	    tk_text(j, "trace_id"), "0123456789abcdef0123456789abcdef");
	ck_assert_str_eq(tk_text(j, "instance"), "o_turn_1");
	return j;
}

TEST(the_process_of_a_running_turn_is_queried)
{
	natsSubscription *sub;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	natsMsg *m;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	/* Without a subscriber the record is enough. */
	j = record("running");
	ck_assert(tk_number(j, "total_ms") >= 0);
	ck_assert_ptr_null(tk_find(j, "timeline"));
	json_decref(j);
	sub = tk_nats_listen(b.nc, "soul.rpc.turn.show.o_turn_1");
	gw_send(&b, &c, "GET", PATH, NULL);
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
	tk_nats_send(b.nc, natsMsg_GetReply(m),
	    "{\"turn_id\":\"turn_1\",\"user_id\":\"demo-user\","
	    "\"session_id\":\"s1\",\"state\":\"running\",\"stage\":"
	    "\"thinking\",\"started_at\":\"2026-02-22T10:20:30Z\","
	    "\"total_ms\":7,\"timeline\":" TIMELINE "}");
	natsMsg_Destroy(m);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	tk_http_close(&c);
	j = gw_response_json(&a, 200);
	ck_assert_str_eq(tk_text(j, "stage"), "thinking");
	ck_assert_uint_eq(json_array_size(tk_at(j, "timeline")), 3);
	json_decref(j);
	/* A missing or invalid reply costs one second. */
	gw_send(&b, &c, "GET", PATH, NULL);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	tk_http_close(&c);
	j = gw_response_json(&a, 200);
	ck_assert_str_eq(tk_text(j, "state"), "running");
	json_decref(j);
	natsSubscription_Destroy(sub);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

TEST(a_completed_turn_has_a_timeline)
{
	json_t *j, *want = json_loads(TIMELINE, 0, NULL);

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_end_as(&r, GW_REPLY_COMPLETED, TIMELINE);
	j = record("completed");
	ck_assert(json_equal(tk_at(j, "timeline"), want));
	ck_assert(tk_number(j, "total_ms") == 42);
	json_decref(j);
	json_decref(want);
	gateway_fixture_stop(&b);
}

TEST(other_outcomes_are_returned)
{
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_end_as(&r, GW_REPLY_FAILED, "[]");
	j = record("failed");
	ck_assert_str_eq(tk_text(j, "code"), "llm_unavailable");
	json_decref(j);
	gateway_fixture_stop(&b);

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_end_as(&r, GW_REPLY_CANCELED, NULL);
	json_decref(record("canceled"));
	gateway_fixture_stop(&b);

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_run_kill(&r);
	json_decref(record("lost"));
	gateway_fixture_stop(&b);
}

TEST(turns_of_other_users_are_not_found)
{
	gateway_fixture_start_alone(&b, NULL);
	gw_rejects(&b, "GET", PATH, NULL, 404, MISSING);
	gw_rejects(&b, "POST", CANCEL, "{}", 404, MISSING);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_rejects(&b, "GET", PATH "?user_id=eve", NULL, 404, MISSING);
	gw_rejects(&b, "POST", CANCEL, "{\"user_id\":\"eve\"}", 404, MISSING);
	gw_rejects(&b, "GET", "/v1/turns/%07", NULL, 400,
	    "turn_id: must be 1 to 128 bytes without control characters");
	gw_run_end(&r);
	gw_rejects(&b, "GET", PATH "?user_id=eve", NULL, 404, MISSING);
	gw_rejects(&b, "POST", CANCEL, "{\"user_id\":\"eve\"}", 404, MISSING);
	gw_rejects(&b, "POST", CANCEL, "{\"user_id\":7}", 400,
	    "/user_id: must be a string");
	gateway_fixture_stop(&b);
}

static void
check_cancel(bool canceled)
{
	json_t *j = gw_json(&b, "POST", CANCEL, "{}");

	ck_assert_str_eq(tk_text(j, "turn_id"), "turn_1");
	ck_assert_int_eq(json_is_true(tk_at(j, "canceled")), canceled);
	json_decref(j);
}

TEST(a_running_turn_is_canceled)
{
	natsSubscription *sub;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	natsMsg *m;
	json_t *j;

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_send(&b, &c, "POST", CANCEL, "{\"reason\":\"enough\"}");
	/* The process may subscribe a moment later. */
	ck_assert(!tk_http_fill(&c, 400));
	sub = tk_nats_listen(b.nc, "soul.rpc.turn.cancel.o_turn_1");
	ck_assert_int_eq(natsSubscription_NextMsg(&m, sub, GW_MS), NATS_OK);
	j = tk_nats_json(m);
	ck_assert_str_eq(tk_text(j, "reason"), "enough");
	ck_assert_str_eq(tk_text(j, "user_id"), "demo-user");
	json_decref(j);
	tk_nats_send(b.nc, natsMsg_GetReply(m),
	    "{\"turn_id\":\"turn_1\",\"canceled\":true}");
	natsMsg_Destroy(m);
	natsSubscription_Destroy(sub);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_str_eq(
	    a.body.p, "{\"turn_id\":\"turn_1\",\"canceled\":true}");
	tk_http_close(&c);
	gw_run_end_as(&r, GW_REPLY_CANCELED, NULL);
	check_cancel(false);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}

TEST(a_turn_without_a_process_is_not_canceled)
{
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_send(&b, &c, "POST", CANCEL, "{}");
	ck_assert(!tk_http_fill(&c, 400));
	/* The turn ends during the query. */
	gw_run_end(&r);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_str_eq(
	    a.body.p, "{\"turn_id\":\"turn_1\",\"canceled\":false}");
	tk_http_close(&c);
	gateway_fixture_stop(&b);

	gateway_fixture_start_alone(&b, NULL);
	gw_run_begin(&r, &b, "s1", "turn_1");
	gw_rejects(&b, "POST", CANCEL, "{}", 504,
	    "the turn's process does not answer");
	gw_run_kill(&r);
	check_cancel(false);
	tk_response_free(&a);
	gateway_fixture_stop(&b);
}
