/*
 * Souls as models, for clients of OpenAI's API.
 */
#include <stdio.h>
#include <string.h>

#include "testkit/gateway_turn_fixture.h"

#define PATH  "/v1/chat/completions"
#define MODEL "soul/friendly"
#define ASK(more)                                                          \
	"{\"model\":\"" MODEL "\",\"messages\":[{\"role\":\"system\","     \
	"\"content\":\"x\"},{\"role\":\"user\",\"content\":[{\"type\":"    \
	"\"text\",\"text\":\"hi\"}]},{\"role\":\"assistant\",\"content\":" \
	"null}],\"temperature\":1" more "}"
#define S1 ",\"metadata\":{\"session_id\":\"s1\"}"

static struct gw_conversation k;

static void
openai_begin(const char *body)
{
	k.s = (struct tk_sse){ 0 };
	tk_http_begin(&k.s.c, k.b.gateway.http, "POST", PATH, body);
	gw_turn_next(k.turns, &k.t);
}

/* The stream must come to have text. */
static void
openai_has(const char *text)
{
	ck_assert_msg(
	    tk_http_has(&k.s.c, text, GW_MS), "no %s in %s", text, k.s.c.in.p);
}

TEST(a_reply_has_the_form_of_a_completion)
{
	json_t *j;

	gw_conversation_open(&k);
	openai_begin(ASK(""));
	ck_assert_str_eq(tk_text(k.t.j, "chat.terminal_id"), "t1");
	ck_assert_str_eq(tk_text(k.t.j, "chat.inputs.0.text"), "hi");
	ck_assert_ptr_nonnull(
	    strstr(tk_text(k.t.j, "chat.session_id"), "openai-soul_"));
	gw_turn_complete(&k.b, &k.t);
	ck_assert(tk_http_read(&k.s.c, &k.a, GW_MS));
	j = gw_response_json(&k.a, 200);
	ck_assert_str_eq(tk_text(j, "object"), "chat.completion");
	ck_assert_str_eq(tk_text(j, "model"), MODEL);
	ck_assert_str_eq(tk_text(j, "id"), tk_text(k.t.j, "turn_id"));
	ck_assert_str_eq(tk_text(j, "choices.0.message.content"), "好的。");
	ck_assert_str_eq(tk_text(j, "choices.0.message.role"), "assistant");
	ck_assert_str_eq(tk_text(j, "choices.0.finish_reason"), "stop");
	ck_assert_str_eq(tk_text(j, "soul.executed_skills.0"), "control_light");
	json_decref(j);
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_stream_has_chunks_and_an_end)
{
	gw_conversation_open(&k);
	openai_begin(ASK(",\"stream\":true" S1));
	gw_conversation_enter(&k);
	gw_run_start(&k.r);
	openai_has("\"delta\":{\"role\":\"assistant\",\"content\":\"\"}");
	gw_run_delta(&k.r, "好");
	openai_has("\"delta\":{\"content\":\"好\"}");
	/* The final message has more than the deltas. */
	gw_run_end(&k.r);
	openai_has("\"delta\":{\"content\":\"的。\"}");
	openai_has("\"finish_reason\":\"stop\"");
	openai_has("\"executed_skills\":[\"control_light\"]");
	openai_has("data: [DONE]\n\n");
	ck_assert_ptr_null(strstr(k.s.c.in.p, "event:"));
	ck_assert_ptr_null(strstr(k.s.c.in.p, "error"));
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

TEST(a_turn_that_fails_in_a_stream_is_an_error_of_it)
{
	gw_conversation_open(&k);
	openai_begin(ASK(",\"stream\":true" S1));
	gw_conversation_enter(&k);
	gw_run_start(&k.r);
	openai_has("\"role\":\"assistant\"");
	gw_run_end_as(&k.r, GW_REPLY_FAILED, "[]");
	openai_has("data: {\"error\":{\"message\":\"X\","
		   "\"type\":\"server_error\",\"code\":\"X\"}}");
	ck_assert_ptr_null(strstr(k.s.c.in.p, "[DONE]"));
	tk_sse_close(&k.s);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}

/* The body of an error as a client of that API reads it. */
static void
openai_rejects(const char *body, int status, const char *type, const char *text)
{
	struct tk_response a = { 0 };
	json_t *j;

	ck_assert_int_eq(gw_request(&k.b, &a, "POST", PATH, body), status);
	j = gw_response_json(&a, status);
	ck_assert_str_eq(tk_text(j, "error.type"), type);
	ck_assert_msg(strstr(tk_text(j, "error.message"), text) != NULL, "%s",
	    tk_text(j, "error.message"));
	json_decref(j);
	tk_response_free(&a);
}

TEST(errors_have_their_form)
{
	static const struct {
		const char *body, *type, *text;
		int status;
	} rows[] = {
		{ "{", "invalid_request_error", "ends too early", 400 },
		{ "{\"model\":\"soul/x\",\"messages\":[]}",
		    "invalid_request_error", "/messages: ", 400 },
		{ "{\"model\":\"gpt\",\"messages\":[{\"role\":\"user\","
		  "\"content\":\"hi\"}]}",
		    "not_found_error", "model: no soul is named gpt", 404 },
		{ "{\"model\":\"" MODEL "\",\"messages\":[{\"role\":\"user\","
		  "\"content\":[{\"type\":\"image_url\"}]}]}",
		    "invalid_request_error", "/messages: the newest", 400 },
		{ "{\"model\":\"" MODEL "\",\"messages\":[{\"role\":\"user\","
		  "\"content\":\"hi\"}],\"metadata\":{\"terminal_id\":\"t2\"}}",
		    "conflict_error", "the soul has no body", 409 },
	};
	struct gw_turn t;

	gw_conversation_open(&k);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		openai_rejects(
		    rows[i].body, rows[i].status, rows[i].type, rows[i].text);
	/* The error of another service. */
	k.s = (struct tk_sse){ 0 };
	tk_http_begin(&k.s.c, k.b.gateway.http, "POST", PATH, ASK(""));
	gw_turn_next(k.turns, &t);
	gw_turn_reply(&k.b, &t, "failed",
	    ",\"status\":502,\"error\":{\"error\":\"the language model is "
	    "unavailable\",\"code\":\"llm_unavailable\"}");
	ck_assert(tk_http_read(&k.s.c, &k.a, GW_MS));
	ck_assert_int_eq(k.a.status, 502);
	ck_assert_msg(
	    strstr(k.a.body.p, "\"code\":\"llm_unavailable\"") != NULL, "%s",
	    k.a.body.p);
	tk_sse_close(&k.s);
	gw_turn_free(&t);
	gw_conversation_close(&k);
}

#define SYSTEM \
	"{\"role\":\"system\",\"content\":\"You are a helpful assistant.\"}"
#define USER "{\"role\":\"user\",\"content\":\"hi\"}"
#define TOOL                                                              \
	"{\"type\":\"function\",\"function\":{\"name\":\"HassTurnOn\","   \
	"\"description\":\"Turns on a device\",\"parameters\":{\"type\":" \
	"\"object\",\"properties\":{}}}}"

/* What applications send that have no client of their own in tests/doors. */
TEST(requests_of_known_applications_are_accepted)
{
	static const struct {
		const char *from, *path, *body;
	} rows[] = {
		{ "Open WebUI: a chat", PATH,
		    "{\"stream\":true,\"model\":\"" MODEL
		    "\",\"messages\":[" SYSTEM "," USER
		    "],\"stream_options\":{\"include_usage\":"
		    "true},\"temperature\":0.8,\"top_p\":0.9,\"max_tokens\":"
		    "128,\"seed\":42,\"stop\":[\"END\"],\"frequency_penalty\":"
		    "0,\"logit_bias\":{}}" },
		{ "Open WebUI: an image", PATH,
		    "{\"stream\":true,\"model\":\"" MODEL "\",\"messages\":["
		    "{\"role\":\"user\",\"content\":[{\"type\":\"text\","
		    "\"text\":\"hi\"},{\"type\":\"image_url\",\"image_url\":"
		    "{\"url\":\"data:image/png;base64,AAAA\"}}]}]}" },
		{ "Open WebUI: a title", PATH,
		    "{\"model\":\"" MODEL "\",\"messages\":[" USER "],"
		    "\"stream\":false,\"max_completion_tokens\":1000}" },
		{ "Open WebUI: tools", PATH,
		    "{\"model\":\"" MODEL "\",\"messages\":[" USER ",{\"role\":"
		    "\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":"
		    "\"c1\",\"type\":\"function\",\"function\":{\"name\":"
		    "\"f\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\","
		    "\"tool_call_id\":\"c1\",\"content\":\"1\"}," USER
		    "],\"tools\":[" TOOL "],\"params\":{}}" },
		{ "Home Assistant: a chat", PATH,
		    "{\"model\":\"" MODEL "\",\"messages\":[" SYSTEM "," USER
		    "],\"tools\":[" TOOL "],\"tool_choice\":\"auto\","
		    "\"user\":\"01JQ8Z6Y5K\",\"max_tokens\":150,\"top_p\":1,"
		    "\"temperature\":0.5,\"response_format\":{\"type\":"
		    "\"text\"}}" },
		{ "Home Assistant: a response", "/v1/responses",
		    "{\"model\":\"" MODEL "\",\"input\":[{\"type\":\"message\","
		    "\"role\":\"developer\",\"content\":\"x\"},{\"type\":"
		    "\"message\",\"role\":\"user\",\"content\":\"hi\"}],"
		    "\"max_output_tokens\":3000,\"user\":\"01JQ8Z6Y5K\","
		    "\"store\":false,\"stream\":true,\"tools\":[{\"type\":"
		    "\"function\",\"name\":\"HassTurnOn\",\"parameters\":{},"
		    "\"strict\":false}],\"include\":"
		    "[\"reasoning.encrypted_content\"],\"reasoning\":"
		    "{\"effort\":\"low\"},\"top_p\":1,\"temperature\":1}" },
	};

	gw_conversation_open(&k);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		k.s = (struct tk_sse){ 0 };
		tk_http_begin(&k.s.c, k.b.gateway.http, "POST", rows[i].path,
		    rows[i].body);
		gw_turn_next(k.turns, &k.t);
		ck_assert_msg(
		    strcmp(tk_text(k.t.j, "chat.inputs.0.text"), "hi") == 0,
		    "%s", rows[i].from);
		/* It is the user of the token, whatever the body says. */
		ck_assert_str_ne(tk_text(k.t.j, "user_id"), "01JQ8Z6Y5K");
		gw_turn_reply(&k.b, &k.t, "failed", ",\"status\":502");
		ck_assert(tk_http_read(&k.s.c, &k.a, GW_MS));
		ck_assert_int_eq(k.a.status, 502);
		tk_sse_close(&k.s);
		gw_turn_free(&k.t);
	}
	gw_conversation_close(&k);
}

TEST(invalid_requests_are_rejected_with_a_reason)
{
	gw_conversation_open(&k);
	/* A pipeline of Open WebUI gets its user as an object. */
	openai_rejects("{\"model\":\"" MODEL "\",\"messages\":[" USER
		       "],\"user\":{\"name\":\"Ann\",\"id\":\"1\"}}",
	    400, "invalid_request_error", "/user: ");
	openai_rejects("{\"model\":\"" MODEL "\",\"messages\":[" USER
		       "],\"stream\":\"yes\"}",
	    400, "invalid_request_error", "/stream: ");
	openai_rejects("{\"messages\":[" USER "]}", 400,
	    "invalid_request_error", "/model: ");
	gw_conversation_close(&k);
}

TEST(models_are_the_souls_of_the_user)
{
	json_t *j;

	gw_conversation_open(&k);
	j = gw_json(&k.b, "GET", "/v1/models", NULL);
	ck_assert_str_eq(tk_text(j, "object"), "list");
	ck_assert_uint_eq(json_array_size(tk_at(j, "data")), 1);
	ck_assert_str_eq(tk_text(j, "data.0.object"), "model");
	ck_assert_str_eq(tk_text(j, "data.0.name"), "friendly");
	ck_assert_int_eq(strncmp(tk_text(j, "data.0.id"), "soul/soul_", 10), 0);
	json_decref(j);
	gw_conversation_close(&k);
}

/* A client that disconnects cancels the turn. */
TEST(a_disconnect_cancels)
{
	natsSubscription *cancels;
	char subject[256];
	json_t *j;

	gw_conversation_open(&k);
	cancels = tk_nats_listen(k.b.nc, "soul.rpc.turn.cancel.>");
	openai_begin(ASK(",\"stream\":true" S1));
	gw_conversation_enter(&k);
	gw_run_start(&k.r);
	openai_has("\"role\":\"assistant\"");
	tk_sse_close(&k.s);
	j = tk_nats_next(cancels, GW_MS, subject);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_text(j, "turn_id"), tk_text(k.t.j, "turn_id"));
	json_decref(j);
	natsSubscription_Destroy(cancels);
	gw_turn_free(&k.t);
	gw_conversation_close(&k);
}
