/*
 * Turns as responses, for clients of OpenAI's Responses API.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define PATH "/v1/responses"
#define ASK(more)                                        \
	"{\"model\":\"soul/friendly\",\"input\":\"hi\"," \
	"\"metadata\":{\"session_id\":\"s1\"}" more "}"
#define BACKGROUND ",\"background\":true"

static struct gw_conversation k;

static void
responses_begin(const char *body)
{
	k.s = (struct tk_sse){ 0 };
	tk_http_begin(&k.s.c, k.b.gateway.http, "POST", PATH, body);
	gw_turn_next(k.turns, &k.t);
}

/* The response of what was begun. */
static json_t *
responses_reply(void)
{
	json_t *j;

	ck_assert(tk_http_read(&k.s.c, &k.a, GW_MS));
	j = gw_response_json(&k.a, 200);
	tk_sse_close(&k.s);
	return j;
}

/* Its status must be this; more of the path follows its id. */
static void
responses_is(const char *method, const char *more, const char *status)
{
	char path[256];
	json_t *j;

	snprintf(
	    path, sizeof(path), PATH "/%s%s", tk_text(k.t.j, "turn_id"), more);
	j = gw_json(&k.b, method, path, NULL);
	ck_assert_str_eq(tk_text(j, "id"), tk_text(k.t.j, "turn_id"));
	ck_assert_str_eq(tk_text(j, "status"), status);
	json_decref(j);
}

/* The stream from a position on must come to have text, and not another. */
static void
responses_stream_has(const char *query, const char *text, const char * not )
{
	struct tk_sse s = { 0 };
	char path[256];

	snprintf(path, sizeof(path), PATH "/%s?stream=true%s",
	    tk_text(k.t.j, "turn_id"), query);
	tk_http_begin(&s.c, k.b.gateway.http, "GET", path, NULL);
	ck_assert_msg(
	    tk_http_has(&s.c, text, GW_MS), "no %s in %s", text, s.c.in.p);
	ck_assert_msg(not == NULL || strstr(s.c.in.p, not ) == NULL, "%s in %s",
	    not, s.c.in.p);
	tk_sse_close(&s);
}

TEST(a_background_response_can_be_read_and_followed)
{
	json_t *j;

	gw_conversation_open(&k);
	responses_begin(ASK(BACKGROUND));
	gw_conversation_enter(&k);
	j = responses_reply();
	ck_assert_str_eq(tk_text(j, "object"), "response");
	ck_assert_str_eq(tk_text(j, "id"), tk_text(k.t.j, "turn_id"));
	ck_assert_str_eq(tk_text(j, "status"), "in_progress");
	ck_assert_uint_eq(json_array_size(tk_at(j, "output")), 0);
	json_decref(j);
	responses_is("GET", "", "in_progress");
	gw_run_start(&k.r);
	gw_run_delta(&k.r, "好");
	responses_stream_has("", "\"delta\":\"好\"", NULL);
	gw_run_end(&k.r);
	responses_is("GET", "", "completed");
	responses_is("POST", "/cancel", "completed");
	responses_stream_has("", "event: response.completed\n", NULL);
	/* The first event of the session has become 16 and 17. */
	responses_stream_has("&starting_after=16",
	    "\"type\":\"response.completed\"", "response.created");
	responses_stream_has(
	    "&starting_after=16", "\"sequence_number\":17", NULL);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_repeated_background_response_is_the_first)
{
	json_t *j;

	gw_conversation_open(&k);
	responses_begin(ASK(BACKGROUND));
	gw_turn_reply(&k.b, &k.t, "repeated", ",\"first\":\"turn_first\"");
	j = responses_reply();
	ck_assert_str_eq(tk_text(j, "id"), "turn_first");
	ck_assert_str_eq(tk_text(j, "status"), "in_progress");
	json_decref(j);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(what_ended_otherwise_has_the_cause)
{
	static const struct {
		const char *reply, *status, *error;
	} rows[] = {
		{ GW_REPLY_FAILED, "failed", "\"code\":\"X\"" },
		{ GW_REPLY_CANCELED, "cancelled", "event: response.failed" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		gw_conversation_open(&k);
		responses_begin(ASK(BACKGROUND));
		gw_conversation_enter(&k);
		json_decref(responses_reply());
		gw_run_start(&k.r);
		gw_run_end_as(&k.r, rows[i].reply, "[]");
		responses_is("GET", "", rows[i].status);
		responses_stream_has("", rows[i].error, NULL);
		gw_turn_free(&k.t);
		gw_conversation_close(&k);
	}
}

/* A process that has died leaves no end in the log; its reader makes one. */
TEST(a_lost_response_has_failed)
{
	gw_conversation_open(&k);
	responses_begin(ASK(BACKGROUND));
	gw_conversation_enter(&k);
	json_decref(responses_reply());
	gw_run_start(&k.r);
	gw_run_kill(&k.r);
	gw_run_begin(&k.r, &k.b, "s1", "turn_next");
	responses_is("GET", "", "failed");
	responses_stream_has("", "event: response.failed", NULL);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_disconnect_cancels_unless_in_the_background)
{
	static const struct {
		const char *body;
		bool cancels;
	} rows[] = { { ASK(BACKGROUND ",\"stream\":true"), false },
		{ ASK(",\"stream\":true"), true } };
	natsSubscription *cancels;
	char subject[256];
	json_t *j;

	gw_conversation_open(&k);
	cancels = tk_nats_listen(k.b.nc, "soul.rpc.turn.cancel.>");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		responses_begin(rows[i].body);
		gw_conversation_enter(&k);
		gw_run_start(&k.r);
		ck_assert(tk_http_has(&k.s.c, "response.created", GW_MS));
		tk_sse_close(&k.s);
		if (rows[i].cancels) {
			/* That of the first one would be before it. */
			j = tk_nats_next(cancels, GW_MS, subject);
			ck_assert_ptr_nonnull(j);
			ck_assert_str_eq(
			    tk_text(j, "turn_id"), tk_text(k.t.j, "turn_id"));
			json_decref(j);
		}
		gw_run_end(&k.r);
		gw_turn_free(&k.t);
	}
	natsSubscription_Destroy(cancels);
	gw_conversation_close(&k);
}

TEST(requests_are_rejected_in_their_form)
{
	static const struct {
		const char *method, *path, *body, *text;
		int status;
	} rows[] = {
		{ "POST", PATH, "{\"model\":\"soul/x\",\"input\":\"hi\"}",
		    "model: no soul is named x", 404 },
		{ "POST", PATH, "{\"model\":\"soul/friendly\",\"input\":7}",
		    "/input: must be a text", 400 },
		{ "POST", PATH, ASK(",\"stream\":1"), "/stream: ", 400 },
		{ "POST", PATH,
		    "{\"model\":\"soul/friendly\",\"input\":\"hi\","
		    "\"previous_response_id\":\"turn_x\"}",
		    "previous_response_id: no response of the last hour", 404 },
		{ "GET", PATH "/turn_x", NULL, "no response of the", 404 },
		{ "GET", PATH "/turn_x?stream=yes", NULL,
		    "stream: must be true or false", 400 },
		{ "POST", PATH "/turn_x/cancel", NULL, "no response of the",
		    404 },
	};

	gw_conversation_open(&k);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tk_response a = { 0 };
		json_t *j;

		ck_assert_int_eq(gw_request(&k.b, &a, rows[i].method,
				     rows[i].path, rows[i].body),
		    rows[i].status);
		j = gw_response_json(&a, rows[i].status);
		ck_assert_msg(
		    strstr(tk_text(j, "error.message"), rows[i].text) != NULL,
		    "%s", tk_text(j, "error.message"));
		json_decref(j);
		tk_response_free(&a);
	}
	gw_conversation_close(&k);
}
