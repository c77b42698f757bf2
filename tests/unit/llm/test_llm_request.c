/*
 * Requests: what is written, left out, rejected.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "llm/llm_internal.h"
#include "testkit/testkit.h"

static struct buf out = BUF_INIT(LLM_REQUEST_MAX);

static enum rc
write_chat(const struct llm_chat *chat)
{
	const struct llm_provider o = { .base_url = "http://a", .model = "m1" };
	const char *why;
	struct provider p;

	enum rc rc = llm_request_check(chat, &why);
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

TEST(a_minimal_request)
{
	struct llm_chat chat = {
		.messages = &hello, .nmessages = 1, .temperature = -1
	};

	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\","
	    "\"content\":\"hello\"}]}");
}

TEST(a_full_request)
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
	/* Without tools there is no tool_choice. */
	chat.ntools = 0;
	ck_assert_int_eq(write_chat(&chat), RC_OK);
	ck_assert_ptr_null(strstr(out.p, "tool_choice"));
	ck_assert_ptr_null(strstr(out.p, "\"tools\""));
}

/* Reasoning and members go back to their provider, as its options say. */
TEST(reasoning_is_sent_back)
{
	static const struct llm_tool_call own = { .id = STR_INIT("c"),
		.name = STR_INIT("f"),
		.arguments = STR_INIT("{}"),
		.extra = STR_INIT("{\"by\":\"llm/m1\",\"call\":{\"x\":1},"
				  "\"name\":\"reasoning\",\"reasoning\":"
				  "\"hm\"}") };
	static const struct llm_tool_call others = { .id = STR_INIT("c"),
		.name = STR_INIT("f"),
		.arguments = STR_INIT("{}"),
		.extra = STR_INIT("{\"by\":\"b/m1\",\"call\":{\"x\":1},"
				  "\"name\":\"reasoning\",\"reasoning\":"
				  "\"hm\"}") };
	static const struct {
		enum llm_echo echo;
		const char *own, *others, *plain;
	} rows[] = {
		{ LLM_ECHO_OWN, ",\"reasoning\":\"hm\"}", "]}", "hi\"}" },
		{ LLM_ECHO_WITH_TOOL_CALLS, ",\"reasoning\":\"hm\"}",
		    "],\"reasoning_content\":\"\"}", "hi\"}" },
		{ LLM_ECHO_ALWAYS, ",\"reasoning\":\"hm\"}",
		    "],\"reasoning_content\":\"\"}",
		    "hi\",\"reasoning_content\":\"\"}" },
		{ LLM_ECHO_NEVER, "]}", "]}", "hi\"}" },
	};
	const struct llm_message messages[] = {
		{ .role = LLM_ASSISTANT, .calls = &own, .ncalls = 1 },
		{ .role = LLM_ASSISTANT, .calls = &others, .ncalls = 1 },
		{ .role = LLM_ASSISTANT, .text = STR_INIT("hi") },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		const char *ends[] = { rows[i].own, rows[i].others,
			rows[i].plain };
		for (size_t k = 0; k < NELEM(messages); k++) {
			struct llm_chat chat = { .messages = &messages[k],
				.nmessages = 1,
				.temperature = -1 };
			struct llm_provider o = { .base_url = "http://a",
				.model = "m1",
				.echo = rows[i].echo };
			struct provider p;
			char want[200];
			ck_assert_int_eq(provider_init(&p, &o, NULL), RC_OK);
			buf_reset(&out);
			ck_assert_int_eq(
			    openai_dialect.write(&p, &chat, &out), RC_OK);
			snprintf(want, sizeof(want), "%s]}", ends[k]);
			ck_assert_msg(str_ends(buf_str(&out), str_of(want)),
			    "row %zu: %s", i, out.p);
			ck_assert_int_eq(
			    strstr(out.p, "\"x\":1") != NULL, k == 0);
			provider_free(&p);
		}
	}
}

TEST(provider_options_replace_ours)
{
	struct llm_chat chat = { .messages = &hello,
		.nmessages = 1,
		.temperature = 0.5,
		.stream = true };
	struct llm_provider o = { .base_url = "http://a",
		.model = "m1",
		.max_tokens = 9,
		.max_tokens_member = "max_completion_tokens",
		.body = STR("{\"stream_options\":null,\"temperature\":1,"
			    "\"thinking\":{\"type\":\"disabled\"}}") };
	struct provider p;

	ck_assert_int_eq(provider_init(&p, &o, NULL), RC_OK);
	buf_reset(&out);
	ck_assert_int_eq(openai_dialect.write(&p, &chat, &out), RC_OK);
	ck_assert_str_eq(out.p,
	    "{\"model\":\"m1\",\"messages\":[{\"role\":\"user\","
	    "\"content\":\"hello\"}],\"stream\":true,"
	    "\"max_completion_tokens\":9,\"temperature\":1,"
	    "\"thinking\":{\"type\":\"disabled\"}}");
	provider_free(&p);
}

TEST(invalid_requests_are_rejected)
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

/* An image of a result, for models that can see. */
TEST(images_are_for_providers_with_vision)
{
	static const struct llm_tool_call call = { .id = STR_INIT("c1"),
		.name = STR_INIT("shoot"),
		.arguments = STR_INIT("{}") };
	static const struct llm_message messages[] = {
		{ .role = LLM_USER, .text = STR_INIT("look") },
		{ .role = LLM_ASSISTANT, .calls = &call, .ncalls = 1 },
		{ .role = LLM_TOOL,
		    .text = STR_INIT("{\"ok\":true}"),
		    .tool_call_id = STR_INIT("c1"),
		    .image = STR_INIT("YQ=="),
		    .image_type = STR_INIT("image/png") },
	};
	static const struct llm_chat chat = { .messages = messages,
		.nmessages = NELEM(messages),
		.temperature = -1 };
	const char *const parts[] = {
		"{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"[images of the tool results]\"},{\"type\":\"image_url\","
		"\"image_url\":{\"url\":\"data:image/png;base64,YQ==\"}}]}",
		"\"content\":[{\"type\":\"text\",\"text\":\"{\\\"ok\\\":"
		"true}\"},{\"type\":\"image\",\"source\":{\"type\":"
		"\"base64\",\"media_type\":\"image/png\",\"data\":"
		"\"YQ==\"}}]",
	};
	const struct dialect *const dialects[] = { &openai_dialect,
		&anthropic_dialect };

	for (int vision = 0; vision < 2; vision++) {
		for (size_t i = 0; i < NELEM(dialects); i++) {
			struct llm_provider o = { .base_url = "http://a",
				.model = "m1",
				.kind = i == 0 ? LLM_OPENAI : LLM_ANTHROPIC,
				.vision = vision == 1 };
			struct provider p;
			ck_assert_int_eq(provider_init(&p, &o, NULL), RC_OK);
			buf_reset(&out);
			ck_assert_int_eq(
			    dialects[i]->write(&p, &chat, &out), RC_OK);
			ck_assert_msg(
			    (strstr(out.p, parts[i]) != NULL) == (vision == 1),
			    "%s", out.p);
			ck_assert(
			    (strstr(out.p, "YQ==") != NULL) == (vision == 1));
			provider_free(&p);
		}
	}
}
