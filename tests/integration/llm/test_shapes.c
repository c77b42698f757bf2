/*
 * Every quirk of the simulated model, decoded to the same result.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/llm_fixture.h"

TK_SHARE(llm_fixture_begin, NULL, llm_fixture_end)

enum { OPENAI = 1, ANTHROPIC = 2, BOTH = 3, PLAIN = 4 };
enum { CUMULATIVE = 1, THINK = 2, INCOMPLETE = 4 };

#define RESPONDS "\"text\":\"Hello, 世界。\""
#define THINKS   "\"reasoning\":\"Let me see…\""
#define QUIRK(q) ",\"quirks\":[" q "]"
#define CALL1    "{\"name\":\"lamp\",\"arguments\":{\"on\":true}}"
#define CALL2    "{\"name\":\"head\",\"arguments\":{\"angle\":15}}"
#define CALLS    "\"calls\":[" CALL1 "," CALL2 "]"
#define NOARG    "\"calls\":[{\"name\":\"f\"},{\"name\":\"g\"}]"

#define HELLO  "Hello, 世界。"
#define SEEN   "Let me see…"
#define CALLED "lamp {\"on\":true};head {\"angle\":15};"

/* The response and its quirks; the expected result. */
static const struct {
	int where; /* PLAIN: not as a stream, too */
	const char *answer;
	int flags;
	const char *text, *reasoning, *calls;
} rows[] = {
	{ BOTH | PLAIN, RESPONDS, 0, HELLO, "", "" },
	{ BOTH | PLAIN, CALLS, 0, "", "", CALLED },
	{ BOTH | PLAIN, RESPONDS "," CALLS, 0, HELLO, "", CALLED },
	{ BOTH | PLAIN, NOARG, 0, "", "", "f {};g {};" },
	/* Framing. */
	{ BOTH, RESPONDS "," CALLS QUIRK("\"crlf\""), 0, HELLO, "", CALLED },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"no_space\""), 0, HELLO, "",
	    CALLED },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"comments\""), 0, HELLO, "",
	    CALLED },
	{ BOTH, RESPONDS QUIRK("\"bom\""), 0, HELLO, "", "" },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"bytewise\",\"crlf\""), 0, HELLO, "",
	    CALLED },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"whole\""), 0, HELLO, "", CALLED },
	{ OPENAI | PLAIN, RESPONDS QUIRK("\"whole\",\"blank_lines\""), 0, HELLO,
	    "", "" },
	/* The end. */
	{ BOTH, RESPONDS "," CALLS QUIRK("\"no_done\""), 0, HELLO, "", CALLED },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"no_finish\""), 0, HELLO, "",
	    CALLED },
	{ BOTH, RESPONDS "," CALLS QUIRK("\"no_finish\",\"no_done\""),
	    INCOMPLETE, HELLO, "", CALLED },
	{ BOTH, RESPONDS QUIRK("\"cut_short\""), INCOMPLETE, HELLO, "", "" },
	{ OPENAI | PLAIN, CALLS QUIRK("\"finish_stop\""), 0, "", "", CALLED },
	{ OPENAI | PLAIN, RESPONDS QUIRK("\"finish_calls\""), 0, HELLO, "",
	    "" },
	/* Text. */
	{ OPENAI, RESPONDS QUIRK("\"usage_each\""), 0, HELLO, "", "" },
	{ OPENAI, RESPONDS QUIRK("\"empty_choices\""), 0, HELLO, "", "" },
	{ OPENAI | PLAIN, RESPONDS QUIRK("\"two_choices\""), 0, HELLO, "", "" },
	{ OPENAI | PLAIN, RESPONDS QUIRK("\"content_parts\""), 0, HELLO, "",
	    "" },
	{ OPENAI, RESPONDS "," CALLS QUIRK("\"cumulative\""), CUMULATIVE, HELLO,
	    "", CALLED },
	/* Reasoning. */
	{ BOTH | PLAIN, RESPONDS "," THINKS, 0, HELLO, SEEN, "" },
	{ OPENAI | PLAIN, RESPONDS "," THINKS ",\"reasoning_as\":\"reasoning\"",
	    0, HELLO, SEEN, "" },
	{ OPENAI | PLAIN,
	    RESPONDS "," THINKS ",\"reasoning_as\":\"reasoning_details\"", 0,
	    HELLO, SEEN, "" },
	{ OPENAI | PLAIN, RESPONDS "," THINKS ",\"reasoning_as\":\"think\"",
	    THINK, HELLO, "\n" SEEN "\n", "" },
	{ OPENAI,
	    RESPONDS "," THINKS
		     ",\"reasoning_as\":\"think\"" QUIRK("\"cumulative\""),
	    THINK | CUMULATIVE, HELLO, "\n" SEEN "\n", "" },
	{ OPENAI, RESPONDS, THINK, HELLO, "", "" },
	/* Calls. */
	{ OPENAI, CALLS QUIRK("\"no_index\",\"id_each\""), 0, "", "", CALLED },
	{ OPENAI, CALLS QUIRK("\"no_index\""), 0, "", "", CALLED },
	{ OPENAI | PLAIN, CALLS QUIRK("\"no_id\""), 0, "", "", CALLED },
	{ OPENAI, CALLS QUIRK("\"no_index\",\"no_id\""), 0, "", "", CALLED },
	{ OPENAI, CALLS QUIRK("\"index_zero\""), 0, "", "", CALLED },
	{ OPENAI, CALLS QUIRK("\"id_each\""), 0, "", "", CALLED },
	{ OPENAI, CALLS QUIRK("\"id_empty_later\""), 0, "", "", CALLED },
	{ OPENAI | PLAIN, CALLS QUIRK("\"id_repeated\""), 0, "", "", CALLED },
	{ OPENAI | PLAIN, CALLS QUIRK("\"args_object\""), 0, "", "", CALLED },
	{ OPENAI | PLAIN, NOARG QUIRK("\"args_null\""), 0, "", "",
	    "f {};g {};" },
};

static void
check_row(size_t i, enum llm_kind kind, bool stream)
{
	struct llm_provider p = { .kind = kind,
		.base_url = kind == LLM_OPENAI ? sim_fx.url : sim_fx.root,
		.model = "m",
		.cumulative = (rows[i].flags & CUMULATIVE) != 0,
		.strip_think = (rows[i].flags & THINK) != 0 };
	char provider_error[2048];

	snprintf(provider_error, sizeof(provider_error),
	    "{\"kind\":\"answer\",%s}", rows[i].answer);
	llm_fixture_script(provider_error);
	llm_chat_open(&p, 1);
	chat_fx.chat.stream = stream;
	llm_chat_run();
	ck_assert_msg(chat_fx.rc == RC_OK && chat_fx.times == 1 &&
		str_eq(buf_str(&chat_fx.text), str_of(rows[i].text)) &&
		str_eq(
		    buf_str(&chat_fx.reasoning), str_of(rows[i].reasoning)) &&
		str_eq(buf_str(&chat_fx.calls), str_of(rows[i].calls)),
	    "row %zu of kind %d, %s: %s %s: \"%s\" \"%s\" \"%s\"", i, kind,
	    stream ? "stream" : "plain", rc_name(chat_fx.rc), chat_fx.error,
	    chat_fx.text.p, chat_fx.reasoning.p, chat_fx.calls.p);
	ck_assert_msg(!stream || strstr(rows[i].answer, "whole") != NULL ||
		str_eq(buf_str(&chat_fx.shown), buf_str(&chat_fx.text)),
	    "row %zu showed %s", i, chat_fx.shown.p);
	ck_assert_msg(
	    chat_fx.incomplete == (stream && (rows[i].flags & INCOMPLETE) != 0),
	    "row %zu", i);
	ck_assert_uint_eq(chat_fx.attempts, 1);
	if (!chat_fx.incomplete)
		ck_assert_msg(chat_fx.finish ==
			(rows[i].calls[0] != '\0' ? LLM_FINISH_TOOL_CALLS
						  : LLM_FINISH_STOP),
		    "row %zu", i);
	llm_chat_close();
}

static void
check_rows(enum llm_kind kind, int bit)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		if ((rows[i].where & bit) == 0)
			continue;
		check_row(i, kind, true);
		if ((rows[i].where & PLAIN) != 0)
			check_row(i, kind, false);
	}
}

TEST(openai_quirks_are_read)
{
	check_rows(LLM_OPENAI, OPENAI);
}

TEST(anthropic_quirks_are_read)
{
	check_rows(LLM_ANTHROPIC, ANTHROPIC);
}

TEST(usage_is_read)
{
	static const char *const scripts[] = { "{\"kind\":\"answer\"," RESPONDS
					       "}",
		"{\"kind\":\"answer\"," RESPONDS QUIRK("\"usage_each\"") "}" };

	for (int kind = LLM_OPENAI; kind <= LLM_ANTHROPIC; kind++)
		for (size_t i = 0; i < NELEM(scripts); i++) {
			struct llm_provider p = { .kind = (enum llm_kind)kind,
				.base_url = kind == LLM_OPENAI ? sim_fx.url
							       : sim_fx.root,
				.model = "m" };
			llm_fixture_script(scripts[i]);
			llm_chat_open(&p, 1);
			llm_chat_run();
			ck_assert_int_eq(chat_fx.prompt_tokens, 40);
			ck_assert_int_eq(chat_fx.completion_tokens, 9);
			llm_chat_close();
		}
}

/* Provider-specific members go back to that provider only. */
TEST(provider_specific_members_travel_with_calls)
{
	struct llm_provider p = {
		.name = "a", .base_url = sim_fx.url, .model = "m"
	};

	llm_fixture_script(
	    "{\"kind\":\"answer\"," THINKS
	    ",\"calls\":[{\"name\":\"f\",\"members\":{\"extra_content\":"
	    "{\"google\":{\"thought_signature\":\"s\"}}}}]}");
	llm_chat_open(&p, 1);
	llm_chat_run();
	ck_assert_str_eq(chat_fx.extra.p,
	    "{\"by\":\"a/m\",\"call\":{\"extra_content\":{\"google\":"
	    "{\"thought_signature\":\"s\"}}},\"name\":\"reasoning_content\","
	    "\"reasoning\":\"" SEEN "\"};");
	llm_chat_close();
	p.kind = LLM_ANTHROPIC;
	p.base_url = sim_fx.root;
	llm_fixture_script("{\"kind\":\"answer\"," THINKS "," CALLS "}");
	llm_chat_open(&p, 1);
	llm_chat_run();
	ck_assert_str_eq(chat_fx.extra.p,
	    "{\"by\":\"a/m\",\"blocks\":[{\"type\":\"thinking\",\"thinking\":"
	    "\"" SEEN "\",\"signature\":\"c2lnbmVk\"}]};;");
	llm_chat_close();
}

/* A call with its result, which the model checks as Anthropic does. */
TEST(calls_and_results_round_trip)
{
	static const struct llm_tool_call calls[] = {
		{ .id = STR_INIT("call_1:x"),
		    .name = STR_INIT("f"),
		    .arguments = STR_INIT("{}"),
		    .extra = STR_INIT(
			"{\"by\":\"llm/m\",\"blocks\":[{\"type\":\"thinking\","
			"\"thinking\":\"t\",\"signature\":\"s\"}]}") },
		{ .id = STR_INIT("call_2"),
		    .name = STR_INIT("g"),
		    .arguments = STR_INIT("{\"x\":1}") },
	};
	static const struct llm_message messages[] = {
		{ .role = LLM_SYSTEM, .text = STR_INIT("You are a lamp.") },
		{ .role = LLM_ASSISTANT, .text = STR_INIT("Hi.") },
		{ .role = LLM_USER, .text = STR_INIT("[it is dark]") },
		{ .role = LLM_USER, .text = STR_INIT("on") },
		{ .role = LLM_ASSISTANT, .calls = calls, .ncalls = 2 },
		{ .role = LLM_TOOL,
		    .text = STR_INIT("ok"),
		    .tool_call_id = STR_INIT("call_1:x") },
		{ .role = LLM_TOOL,
		    .text = STR_INIT("done"),
		    .tool_call_id = STR_INIT("call_2") },
	};

	for (int kind = LLM_OPENAI; kind <= LLM_ANTHROPIC; kind++) {
		struct llm_provider p = { .kind = (enum llm_kind)kind,
			.base_url =
			    kind == LLM_OPENAI ? sim_fx.url : sim_fx.root,
			.model = "m" };
		llm_fixture_script("");
		llm_chat_open(&p, 1);
		chat_fx.chat.messages = messages;
		chat_fx.chat.nmessages = NELEM(messages);
		llm_chat_run();
		ck_assert_msg(chat_fx.rc == RC_OK, "%s", chat_fx.error);
		ck_assert_str_eq(chat_fx.text.p, "结果：ok；done");
		llm_chat_close();
	}
}
