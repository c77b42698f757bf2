/*
 * Turns in the form of OpenAI's Responses API.
 */
#include <string.h>

#include "chat/message_text.h"
#include "core/buf.h"
#include "core/mem.h"
#include "openai/responses_view.h"
#include "state/turn.h"
#include "testkit/json.h"
#include "testkit/testkit.h"
#include "wire/wire.h"

#define TEXT_MAX 65536

/* What was sent: numbers and types, and the last event. */
struct sent {
	struct buf list;
	char last[TEXT_MAX];
	struct arena *a;
	struct responses r;
};

static struct sent s;

static enum rc
sent_put(void *arg, struct str type, struct str json)
{
	struct sent *to = arg;
	json_t *j = json_loadb(json.p, json.n, 0, NULL);

	ck_assert_ptr_nonnull(j);
	ck_assert(str_eq(type, str_of(tk_text(j, "type"))));
	buf_printf(&to->list, "%lld %.*s\n",
	    (long long)tk_int(j, "sequence_number"), STR_ARG(type));
	str_copy(json, to->last, sizeof(to->last));
	json_decref(j);
	return RC_OK;
}

static void
sent_begin(int64_t after)
{
	s.list = (struct buf)BUF_INIT(TEXT_MAX);
	s.a = arena_new(WIRE_ARENA_MAX);
	s.r = (struct responses){ .head = { STR("turn_1"), STR("soul/x"), 7 },
		.session = STR("s1"),
		.lasting = s.a,
		.after = after,
		.send = sent_put,
		.arg = &s };
}

static void
sent_end(void)
{
	buf_free(&s.list);
	arena_free(s.a);
}

static void
sent_feed(enum wire_chat_event_type type, int64_t seq,
    struct wire_chat_event_data data)
{
	const struct wire_chat_event e = {
		.type = type, .seq = seq, .data = data
	};

	ck_assert_int_eq(responses_convert(&s.r, &e), RC_OK);
}

/* A start, two deltas of one message, its end and the turn's. */
static void
sent_feed_turn(void)
{
	const struct str m = STR("m1");

	sent_feed(WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED, 4,
	    (struct wire_chat_event_data){ 0 });
	sent_feed(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA, 5,
	    (struct wire_chat_event_data){
		.message_id = m, .text_delta = STR("a") });
	sent_feed(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA, 6,
	    (struct wire_chat_event_data){
		.message_id = m, .text_delta = STR("b") });
	sent_feed(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL, 7,
	    (struct wire_chat_event_data){ .message_id = m,
		.text = STR("abc"),
		.structured_payload = STR("{\"x\":1}") });
	sent_feed(WIRE_CHAT_EVENT_TYPE_CONVERSATION_COMPLETED, 8,
	    (struct wire_chat_event_data){ 0 });
}

TEST(numbers_are_those_of_the_events)
{
	sent_begin(-1);
	sent_feed_turn();
	ck_assert_str_eq(s.list.p,
	    "64 response.created\n"
	    "65 response.in_progress\n"
	    "80 response.output_item.added\n"
	    "81 response.content_part.added\n"
	    "82 response.output_text.delta\n"
	    "96 response.output_text.delta\n"
	    "112 response.output_text.delta\n"
	    "113 response.output_text.done\n"
	    "114 response.content_part.done\n"
	    "115 response.output_item.done\n"
	    "128 response.completed\n");
	ck_assert_ptr_nonnull(strstr(s.last, "\"text\":\"abc\""));
	ck_assert_ptr_nonnull(strstr(s.last, "\"soul\":{\"x\":1}"));
	sent_end();
}

TEST(a_position_skips_what_came_before)
{
	sent_begin(113);
	sent_feed_turn();
	ck_assert_str_eq(s.list.p,
	    "114 response.content_part.done\n"
	    "115 response.output_item.done\n"
	    "128 response.completed\n");
	sent_end();
}

TEST(a_withdrawn_message_is_incomplete)
{
	sent_begin(65);
	sent_feed(WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED, 4,
	    (struct wire_chat_event_data){ 0 });
	sent_feed(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_DELTA, 5,
	    (struct wire_chat_event_data){
		.message_id = STR("m1"), .text_delta = STR("a") });
	sent_feed(WIRE_CHAT_EVENT_TYPE_ASSISTANT_MESSAGE_FINAL, 6,
	    (struct wire_chat_event_data){
		.message_id = STR("m2"), .text = STR("b") });
	ck_assert_ptr_nonnull(strstr(s.list.p,
	    "96 response.output_item.done\n"
	    "97 response.output_item.added\n"));
	ck_assert_ptr_nonnull(strstr(s.last, "\"output_index\":1"));
	sent_end();
}

TEST(a_question_is_the_reply)
{
	sent_begin(-1);
	sent_feed(WIRE_CHAT_EVENT_TYPE_USER_INPUT_REQUIRED, 5,
	    (struct wire_chat_event_data){
		.interaction_id = STR("q1"), .prompt = STR("which?") });
	ck_assert_ptr_nonnull(strstr(s.last, "\"response.completed\""));
	ck_assert_ptr_nonnull(strstr(s.last, "\"text\":\"which?\""));
	sent_end();
}

TEST(errors_end_a_stream_in_order)
{
	static const struct {
		const char *code, *status;
	} rows[] = { { "CANCELED", "cancelled" }, { "turn_lost", "failed" } };

	for (size_t i = 0; i < NELEM(rows); i++) {
		const struct wire_error e = { .error = STR("no"),
			.code = str_of(rows[i].code) };
		sent_begin(-1);
		sent_feed(WIRE_CHAT_EVENT_TYPE_CONVERSATION_STARTED, 1,
		    (struct wire_chat_event_data){ 0 });
		ck_assert_int_eq(responses_convert_error(&s.r, &e), RC_OK);
		ck_assert_ptr_nonnull(strstr(s.list.p, "18 response.failed\n"));
		ck_assert_ptr_nonnull(strstr(s.last, rows[i].status));
		sent_end();
	}
}

TEST(a_record_is_a_response)
{
	static const struct {
		enum turn_state state;
		const char *reply, *status;
		enum rc rc;
	} rows[] = {
		{ TURN_STATE_OPEN, NULL, "in_progress", RC_OK },
		{ TURN_STATE_LOST, NULL, "failed", RC_OK },
		{ TURN_STATE_ENDED,
		    "{\"turn_id\":\"t\",\"state\":\"canceled\","
		    "\"instance\":\"i\"}",
		    "cancelled", RC_OK },
		{ TURN_STATE_ENDED,
		    "{\"turn_id\":\"t\",\"state\":\"running\","
		    "\"instance\":\"i\"}",
		    NULL, RC_INVALID },
		{ TURN_STATE_ENDED, "x", NULL, RC_INVALID },
	};
	const struct openai_head h = { STR("t"), STR("soul/x"), 7 };

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct arena *a = arena_new(WIRE_ARENA_MAX);
		const struct turn_record rec = { .known = true,
			.state = rows[i].state,
			.session_id = STR("s1"),
			.reply = str_of(rows[i].reply) };
		struct wire_openai_response out;
		struct responses_parts parts;

		ck_assert_int_eq(
		    responses_put_record(&h, &rec, a, &parts, &out),
		    rows[i].rc);
		if (rows[i].rc == RC_OK)
			ck_assert(str_eq(out.status, str_of(rows[i].status)));
		arena_free(a);
	}
}

TEST(the_newest_text_of_an_input_counts)
{
	static const struct {
		const char *input, *text;
	} rows[] = {
		{ "\"a\"", "a" },
		{ "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":"
		  "\"assistant\",\"content\":\"b\"}]",
		    "a" },
		{ "[{\"role\":\"user\",\"content\":[{\"type\":\"input_text\","
		  "\"text\":\"a\"},{\"type\":\"input_image\"}]}]",
		    "a" },
		{ "[]", "" },
		{ "{}", "" },
		{ "[1]", "" },
		{ "null", "" },
	};

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct arena *a = arena_new(WIRE_ARENA_MAX);
		struct str text;

		ck_assert_int_eq(
		    message_input_text(str_of(rows[i].input), a, &text), RC_OK);
		ck_assert(str_eq(text, str_of(rows[i].text)));
		arena_free(a);
	}
}
