/*
 * Conversations for clients of AG-UI.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define PATH "/v1/agui?soul=friendly"
#define ASK                                                          \
	"{\"threadId\":\"s1\",\"runId\":\"run-1\",\"state\":{},"     \
	"\"messages\":[{\"id\":\"1\",\"role\":\"user\",\"content\":" \
	"\"hi\"}],\"tools\":[],\"context\":[]}"
#define REPLY(status, payload)                                       \
	"{\"threadId\":\"s1\",\"runId\":\"run-2\",\"messages\":[],"  \
	"\"resume\":[{\"interruptId\":\"ix_1\",\"status\":\"" status \
	"\"" payload "}]}"

static struct gw_conversation k;

static void
agui_begin(const char *body)
{
	k.s = (struct tk_sse){ 0 };
	tk_http_begin(&k.s.c, k.b.gateway.http, "POST", PATH, body);
	gw_turn_next(k.turns, &k.t);
}

static void
agui_has(const char *text)
{
	ck_assert_msg(
	    tk_http_has(&k.s.c, text, GW_MS), "no %s in %s", text, k.s.c.in.p);
}

TEST(a_turn_is_a_run)
{
	gw_conversation_open(&k);
	agui_begin(ASK);
	ck_assert_str_eq(tk_text(k.t.j, "chat.inputs.0.text"), "hi");
	ck_assert_str_eq(tk_text(k.t.j, "chat.inputs.0.input_id"), "run-1");
	gw_conversation_enter(&k);
	gw_run_start(&k.r);
	agui_has("\"type\":\"RUN_STARTED\",\"threadId\":\"s1\","
		 "\"runId\":\"run-1\"");
	gw_run_delta(&k.r, "好");
	agui_has("\"type\":\"TEXT_MESSAGE_CONTENT\"");
	gw_run_end(&k.r);
	agui_has("\"delta\":\"的。\"");
	agui_has("\"name\":\"soul.reply\"");
	agui_has("\"outcome\":{\"type\":\"success\"}");
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_resumed_run_replies_to_the_question)
{
	gw_conversation_open(&k);
	agui_begin(REPLY("resolved", ",\"payload\":\"once\""));
	ck_assert_str_eq(tk_text(k.t.j, "interaction.interaction_id"), "ix_1");
	ck_assert_str_eq(tk_text(k.t.j, "interaction.content"), "once");
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	agui_begin(REPLY("cancelled", ""));
	ck_assert_str_eq(tk_text(k.t.j, "interaction.content"), "no");
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(requests_that_cannot_run_are_rejected)
{
	gw_conversation_open(&k);
	gw_rejects_as(&k.b, NULL, "POST", "/v1/agui?soul=x", ASK,
	    "404 soul: no soul is named x");
	gw_rejects_as(
	    &k.b, NULL, "POST", "/v1/agui", ASK, "404 soul: no soul is");
	gw_rejects_as(&k.b, NULL, "POST", PATH "&terminal_id=t2", ASK,
	    "409 the soul has no body");
	gw_rejects_as(&k.b, NULL, "POST", PATH,
	    "{\"threadId\":\"s1\",\"runId\":\"r\",\"messages\":[]}",
	    "400 /messages: the newest message of the user has no text");
	gw_rejects_as(&k.b, NULL, "POST", PATH, REPLY("resolved", ""),
	    "400 /resume/0/payload: must be a text");
	gw_rejects_as(&k.b, NULL, "GET",
	    "/v1/sessions/s1/events?cursor=0&format=x", NULL,
	    "400 format: must be agui");
	gw_conversation_close(&k);
}

/* The id of a stream is on the last event of those that one became. */
TEST(a_session_is_followed_and_resumed)
{
	struct tk_http c = { 0 };

	gw_conversation_open(&k);
	tk_http_begin(&c, k.b.gateway.http, "GET",
	    "/v1/sessions/s1/events?cursor=0&format=agui", NULL);
	gw_run_begin(&k.r, &k.b, "s1", "turn_1");
	gw_run_delta(&k.r, "你好");
	ck_assert(tk_http_has(&c, "\"delta\":\"你好\"", GW_MS));
	ck_assert_ptr_nonnull(strstr(c.in.p,
	    "id: 2\ndata: {\"type\":"
	    "\"TEXT_MESSAGE_CONTENT\""));
	tk_http_close(&c);
	gw_run_end(&k.r);
	tk_http_begin(&c, k.b.gateway.http, "GET",
	    "/v1/sessions/s1/events?cursor=2&format=agui", NULL);
	ck_assert(tk_http_has(&c, "\"type\":\"RUN_FINISHED\"", GW_MS));
	ck_assert_ptr_nonnull(strstr(c.in.p, "\"type\":\"RUN_STARTED\""));
	tk_http_close(&c);
	gw_conversation_close(&k);
}
