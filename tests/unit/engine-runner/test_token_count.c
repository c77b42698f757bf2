/* Tokens, counted in the responses of each API. */
#include <stdio.h>

#include "proxy/token_count.h"
#include "testkit/testkit.h"

#define USAGE_CHAT                                                         \
	"\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":9,"         \
	"\"total_tokens\":49,\"prompt_tokens_details\":{\"cached_tokens\"" \
	":30},\"completion_tokens_details\":{\"reasoning_tokens\":4}}"

static struct tokens
count_of(const char *text, bool sse)
{
	struct token_count t;
	struct tokens all, one;
	size_t i;

	token_count_init(&t, sse);
	token_count_feed(&t, str_of(text));
	token_count_end(&t, 400, &all);
	/* However the bytes arrive. */
	token_count_init(&t, sse);
	for (i = 0; text[i] != '\0'; i++)
		token_count_feed(&t, (struct str){ text + i, 1 });
	token_count_end(&t, 400, &one);
	ck_assert_mem_eq(&all, &one, sizeof(all));
	return all;
}

static void
count_expect(const char *text, bool sse, int64_t in, int64_t out,
    int64_t cached, int64_t reasoning)
{
	struct tokens t = count_of(text, sse);

	ck_assert(!t.estimated);
	ck_assert_int_eq(t.input, in);
	ck_assert_int_eq(t.output, out);
	ck_assert_int_eq(t.cached, cached);
	ck_assert_int_eq(t.reasoning, reasoning);
}

TEST(a_chat_completion)
{
	count_expect("\n\n{\"id\":\"x\",\"choices\":[{\"message\":{\"content\":"
		     "\"a \\\"usage\\\" {\"}}]," USAGE_CHAT "}",
	    false, 40, 9, 30, 4);
}

TEST(a_stream_of_chat_completions)
{
	count_expect(": keep-alive\n\n"
		     "data: {\"choices\":[{\"delta\":{\"content\":\"h\"}}],"
		     "\"usage\":null}\n\n"
		     "data: {\"choices\":[]," USAGE_CHAT "}\n\n"
		     "data: [DONE]\n\n",
	    true, 40, 9, 30, 4);
}

TEST(usage_in_each_chunk_counts_one_time)
{
	count_expect("data:{\"usage\":{\"prompt_tokens\":40,"
		     "\"completion_tokens\":1}}\r\n\r\n"
		     "data:{\"usage\":{\"prompt_tokens\":40,"
		     "\"completion_tokens\":2}}\r\n\r\n",
	    true, 40, 2, 0, 0);
}

TEST(events_of_responses)
{
	count_expect(
	    "event: response.created\n"
	    "data: {\"type\":\"response.created\",\"response\":{\"usage\":null"
	    "}}\n\n"
	    "event: response.completed\n"
	    "data: {\"type\":\"response.completed\",\"response\":{\"output\":["
	    "{\"usage\":{\"input_tokens\":999}}],\"usage\":{\"input_tokens\":"
	    "100,\"input_tokens_details\":{\"cached_tokens\":40},"
	    "\"output_tokens\":20,\"output_tokens_details\":{"
	    "\"reasoning_tokens\":5},\"total_tokens\":120}}}\n\n",
	    true, 100, 20, 40, 5);
}

TEST(gemini_counts_thoughts_and_tools_beside)
{
	static const char one[] =
	    "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{"
	    "\"args\":{\"usageMetadata\":{\"promptTokenCount\":7777}}}}]}}],"
	    "\"usageMetadata\":{\"promptTokenCount\":100,"
	    "\"cachedContentTokenCount\":40,\"candidatesTokenCount\":15,"
	    "\"thoughtsTokenCount\":5,\"toolUsePromptTokenCount\":3,"
	    "\"promptTokensDetails\":[{\"modality\":\"TEXT\",\"tokenCount\":"
	    "100}],\"totalTokenCount\":123}}";
	char list[2048];

	count_expect(one, false, 103, 20, 40, 5);
	/* As a stream without events. */
	snprintf(list, sizeof(list), "[%s\n,\r\n%s]", one, one);
	count_expect(list, false, 103, 20, 40, 5);
}

TEST(anthropic_counts_the_cache_beside)
{
	count_expect(
	    "event: message_start\n"
	    "data: {\"type\":\"message_start\",\"message\":{\"usage\":{"
	    "\"input_tokens\":10,\"cache_creation_input_tokens\":20,"
	    "\"cache_read_input_tokens\":30,\"output_tokens\":1}}}\n\n"
	    "event: message_delta\n"
	    "data: {\"type\":\"message_delta\",\"delta\":{},\"usage\":{"
	    "\"output_tokens\":8}}\n\n",
	    true, 60, 8, 30, 0);
}

TEST(texts_that_resemble_a_usage_do_not_count)
{
	struct tokens t = count_of(
	    "{\"choices\":[{\"message\":{\"usage\":{\"prompt_tokens\":5}}}],"
	    "\"x\":{\"usage\":{\"prompt_tokens\":5}},\"usage\":\"none\","
	    "\"text\":\"{\\\"usage\\\":{\\\"prompt_tokens\\\":5}}\"}",
	    false);

	ck_assert(t.estimated);
}

TEST(numbers_are_limited)
{
	count_expect("{\"usage\":{\"prompt_tokens\":999999999999999999999,"
		     "\"completion_tokens\":-5}}",
	    false, TOKEN_COUNT_MAX, 0, 0, 0);
	count_expect("{\"usage\":{\"prompt_tokens\":12.9,"
		     "\"completion_tokens\":3e9 }}",
	    false, 12, 3, 0, 0);
}

TEST(a_response_that_breaks_off_is_estimated)
{
	struct tokens t = count_of("data: {\"choices\":[]}\n\n"
				   ": comment\n\n"
				   "data: {\"choi",
	    true);

	ck_assert(t.estimated);
	ck_assert_int_eq(t.input, 101);
	ck_assert_int_eq(t.output, 2);
	t = count_of("{\"choices\":[{\"me", false);
	ck_assert(t.estimated);
	ck_assert_int_eq(t.output, 4);
	/* Nothing has come. */
	t = count_of("", true);
	ck_assert_int_eq(t.input, 101);
	ck_assert_int_eq(t.output, 0);
}

TEST(the_event_behind_one_that_breaks_off_counts)
{
	count_expect("data: {\"usage\":{\"x\":\"\n"
		     "data: {" USAGE_CHAT "}\n\n",
	    true, 40, 9, 30, 4);
}
