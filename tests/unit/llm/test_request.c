/* Requests: what is written, what is left out, what is refused. */
#include <string.h>

#include "core/mem.h"
#include "kit/kit.h"
#include "llm/provider.h"
#include "llm/request.h"

static struct buf out = BUF_INIT(LLM_REQUEST_MAX);

static enum rc
write_chat(const struct llm_chat *chat)
{
	const struct llm_provider o = { .base_url = "http://a", .model = "m1" };
	const char *why;
	struct provider p;

	enum rc rc = request_check(chat, &why);
	if (rc != RC_OK)
		return rc;
	ck_assert_int_eq(provider_init(&p, &o, NULL), RC_OK);
	buf_reset(&out);
	rc = openai_dialect.write(&p, chat, &out);
	provider_free(&p);
	return rc;
}

static const struct llm_message hello = { .role = LLM_USER,
	.text = STR_INIT("hello") };

KIT_TEST(the_least)
{
	struct llm_chat chat = {
		.messages = &hello, .nmessages = 1, .temperature = -1
	};

	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\","
	    "\"content\":\"hello\"}]}");
}

KIT_TEST(everything)
{
	static const struct llm_tool_call calls[] = {
		{ .id = STR_INIT("c1"),
		    .name = STR_INIT("lamp"),
		    .arguments = STR_INIT("{\"on\":true}") },
		{ .id = STR_INIT("c2"),
		    .name = STR_INIT("f"),
		    .arguments = STR_INIT("{}"),
		    .extra = STR_INIT("{\"by\":\"llm/m1\",\"call\":"
				      "{\"extra_content\":{\"s\":1}}}") },
	};
	static const struct llm_message messages[] = {
		{ .role = LLM_SYSTEM, .text = STR_INIT("You are a lamp.") },
		{ .role = LLM_USER, .text = STR_INIT("on \"please\"") },
		{ .role = LLM_ASSISTANT, .calls = calls, .ncalls = 2 },
		{ .role = LLM_TOOL,
		    .text = STR_INIT("{\"ok\":true}"),
		    .tool_call_id = STR_INIT("c1") },
		{ .role = LLM_TOOL, .tool_call_id = STR_INIT("c2") },
		{ .role = LLM_ASSISTANT },
	};
	static const struct llm_tool tools[] = {
		{ .name = STR_INIT("lamp"),
		    .description = STR_INIT("switch it"),
		    .parameters = STR_INIT("{\"type\":\"object\"}") },
		{ .name = STR_INIT("f") },
	};
	struct llm_chat chat = { .messages = messages,
		.nmessages = NELEM(messages),
		.tools = tools,
		.ntools = NELEM(tools),
		.choice = LLM_CHOICE_REQUIRED,
		.temperature = 0.5,
		.max_tokens = 256,
		.stream = true };

	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"model\":\"m1\",\"messages\":["
	    "{\"role\":\"system\",\"content\":\"You are a lamp.\"},"
	    "{\"role\":\"user\",\"content\":\"on \\\"please\\\"\"},"
	    "{\"role\":\"assistant\",\"tool_calls\":["
	    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{"
	    "\"name\":\"lamp\",\"arguments\":\"{\\\"on\\\":true}\"}},"
	    "{\"id\":\"c2\",\"type\":\"function\",\"function\":{"
	    "\"name\":\"f\",\"arguments\":\"{}\"},"
	    "\"extra_content\":{\"s\":1}}]},"
	    "{\"role\":\"tool\",\"content\":\"{\\\"ok\\\":true}\","
	    "\"tool_call_id\":\"c1\"},"
	    "{\"role\":\"tool\",\"content\":\"\",\"tool_call_id\":\"c2\"},"
	    "{\"role\":\"assistant\",\"content\":\"\"}],"
	    "\"tools\":[{\"type\":\"function\",\"function\":{"
	    "\"name\":\"lamp\",\"description\":\"switch it\","
	    "\"parameters\":{\"type\":\"object\"}}},"
	    "{\"type\":\"function\",\"function\":{\"name\":\"f\","
	    "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}],"
	    "\"tool_choice\":\"required\",\"stream\":true,"
	    "\"stream_options\":{\"include_usage\":true},"
	    "\"temperature\":0.5,\"max_tokens\":256}");
	chat.choice = LLM_CHOICE_NONE;
	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_ptr_nonnull(strstr(out.p, "\"tool_choice\":\"none\""));
	/* Without tools there is nothing to choose. */
	chat.ntools = 0;
	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_ptr_null(strstr(out.p, "tool_choice"));
	ck_assert_ptr_null(strstr(out.p, "\"tools\""));
}

KIT_TEST(what_breaks_the_interface)
{
	static const struct llm_tool bad_name = { .name = STR_INIT("a b") };
	static const struct llm_tool bad_parameters = { .name = STR_INIT("a"),
		.parameters = STR_INIT("[]") };
	static const struct llm_message bad_text = { .role = LLM_USER,
		.text = STR_INIT("a\xff") };
	struct llm_chat chat = { .messages = &hello, .nmessages = 1 };

	chat.tools = &bad_name;
	chat.ntools = 1;
	ck_assert_int_eq(write_chat(&chat), RC_INVALID);
	chat.tools = &bad_parameters;
	ck_assert_int_eq(write_chat(&chat), RC_INVALID);
	chat.ntools = 0;
	chat.messages = &bad_text;
	ck_assert_int_eq(write_chat(&chat), RC_INVALID);
	chat.messages = &hello;
	chat.nmessages = 0;
	ck_assert_int_eq(write_chat(&chat), RC_INVALID);
	chat.nmessages = 1;
	chat.temperature = 3;
	ck_assert_int_eq(write_chat(&chat), RC_INVALID);
}
