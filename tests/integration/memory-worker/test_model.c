/* The model's prompts, and its unusual completions. */
#include "testkit/fake_model.h"

/* ---- prompts ---- */

static void
respond_number(int fd, int n, struct str body)
{
	char text[64];

	(void)body;
	snprintf(text, sizeof(text), "第%d号：我喜欢茶茶，我的猫。", n);
	fake_model_respond_text(fd, text);
}

TEST_T(only_new_messages_are_summarised, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct session s;
	struct memory_fixture fx;
	char *text;

	fake_model_start(&fx, respond_number);
	memory_fixture_message(&fx, k, "observation", "有人走近");
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert(fake_model_prompt_has(0, 0, "220"));
	ck_assert(!fake_model_prompt_has(0, 0, "此前的摘要"));
	text = fake_model_prompt(0, 1);
	ck_assert_str_eq(text,
	    "观察：有人走近\n用户：我喜欢乌龙茶\n灵魂：好的，我记住了。\n");
	free(text);

	memory_fixture_converse(&fx, "chat", "我的猫叫小花", 0);
	memory_fixture_wait_memories(&fx, 2);
	memory_fixture_wait_summaries(&fx);
	ck_assert(fake_model_prompt_has(1, 0, "此前的摘要"));
	ck_assert(fake_model_prompt_has(1, 0, "第0号"));
	ck_assert(fake_model_prompt_has(1, 1, "我的猫叫小花"));
	ck_assert(!fake_model_prompt_has(1, 1, "乌龙茶"));
	s = memory_fixture_session(&fx, "chat");
	ck_assert(str_eq(s.summary,
	    STR("第0号：我喜欢茶茶，我的猫。\n第1号：我喜欢茶茶，我的猫。")));
	ck_assert_int_eq(s.summarised, 5);
	ck_assert_int_eq(fake_model_calls(), 2);
	fake_model_stop(&fx);
}

TEST_T(a_long_conversation_is_summarised_in_parts, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct memory_list l;
	char *text;
	struct memory_fixture fx;
	int i, n;

	fake_model_start(&fx, respond_number);
	/* 40 messages of 1,000 characters: four parts of at most 12,000. */
	text = mem_zalloc(3 * 1000 + 1);
	for (i = 0; i < 1000; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 39; i++)
		memory_fixture_message(
		    &fx, k, i % 2 == 0 ? "user" : "assistant", text);
	memory_fixture_message(&fx, k, "user", "最后一句");
	free(text);
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	l = memory_fixture_wait_memories(&fx, 4);
	ck_assert_uint_eq(memory_fixture_count_text(&l, "第3号"), 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 4);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat").summarised, 40);
	for (n = 0, i = 0; i < 4; i++)
		n += fake_model_prompt_has(i, 1, "最后一句");
	ck_assert_int_eq(n, 1);
	fake_model_stop(&fx);
}

/* ---- completions ---- */

static void
respond_none(int fd, int n, struct str body)
{
	(void)n;
	(void)body;
	fake_model_respond_text(fd, "“无”。");
}

TEST_T(small_talk_is_no_memory, 60)
{
	struct session s;
	struct memory_fixture fx;

	fake_model_start(&fx, respond_none);
	memory_fixture_converse(&fx, "chat", "你好呀", 0);
	memory_fixture_wait_summaries(&fx);
	s = memory_fixture_session(&fx, "chat");
	ck_assert_int_eq(s.summarised, 2);
	ck_assert_uint_eq(s.summary.n, 0);
	ck_assert_ptr_null(s.job.p);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 0);
	ck_assert_int_eq(fake_model_calls(), 1);
	fake_model_stop(&fx);
}

static void
reject_then_respond(int fd, int n, struct str body)
{
	(void)body;
	if (n == 0)
		fake_model_respond_text(fd, " \n");
	else if (n < 3)
		fake_model_respond(fd, 400, "{\"error\":{\"message\":\"no\"}}");
	else
		fake_model_respond_text(fd, "用户喜欢乌龙茶和猫。");
}

TEST_T(a_rejected_summary_is_part_of_the_next, 60)
{
	struct memory_fixture fx;

	fake_model_start(&fx, reject_then_respond);
	memory_fixture_converse(&fx, "chat", "我喜欢乌龙茶", 0);
	memory_fixture_wait_summaries(&fx);
	/* Three attempts, then none until there is a new message. */
	ck_assert_int_eq(fake_model_calls(), 3);
	ck_assert_uint_eq(memory_fixture_memories(&fx).n, 0);
	ck_assert_int_eq(tk_service_metric(&fx.worker[0],
			     "soul_memory_summaries_refused_total"),
	    1);
	memory_fixture_converse(&fx, "chat", "我也喜欢猫", 0);
	memory_fixture_wait_memories(&fx, 1);
	ck_assert_int_eq(fake_model_calls(), 4);
	ck_assert(fake_model_prompt_has(3, 1, "我喜欢乌龙茶"));
	ck_assert(fake_model_prompt_has(3, 1, "我也喜欢猫"));
	fake_model_stop(&fx);
}

static void
respond_if_short(int fd, int n, struct str body)
{
	char text[64];

	if (body.n > 10000)
		fake_model_respond(fd, 400,
		    "{\"error\":{\"message\":\"too long\","
		    "\"code\":\"context_length_exceeded\"}}");
	else {
		snprintf(text, sizeof(text), "第%d部分：茶茶。", n);
		fake_model_respond_text(fd, text);
	}
}

TEST_T(a_context_overflow_halves_the_part, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct memory_fixture fx;
	char *text;
	int i;

	fake_model_start(&fx, respond_if_short);
	text = mem_zalloc(3 * 500 + 1);
	for (i = 0; i < 500; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 16; i++)
		memory_fixture_message(&fx, k, "user", text);
	free(text);
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(memory_fixture_session(&fx, "chat").summarised, 16);
	ck_assert_uint_ge(memory_fixture_memories(&fx).n, 3);
	fake_model_stop(&fx);
}

/* ---- sessions without a summary ---- */

TEST_T(sessions_without_a_user_are_skipped, 60)
{
	static const struct str broken = STR_INIT("{\"role\":\"ghost\"}");
	struct session_key none = { STR("u1"), STR("none") };
	struct session_key silent = { STR("u1"), STR("silent") };
	struct session_key odd = { STR("u1"), STR("odd") };
	struct session_key theirs = { STR("u2"), STR("chat") };
	struct memory_fixture fx;
	int i;

	fake_model_start(&fx, respond_number);
	memory_fixture_soul(&fx, "s2", "u2");
	/* A session without messages, and one without a user's message. */
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &none, STR("s1"), STR("t1"), 0), RC_OK);
	memory_fixture_message(&fx, silent, "assistant", "早上好");
	ck_assert_int_eq(
	    session_user_input(fx.db.s, &silent, STR("s1"), STR("t1"), 0),
	    RC_OK);
	/* A deleted soul, or another user's. */
	memory_fixture_converse_as(&fx, theirs, "s1", "这是我的秘密", 0);
	memory_fixture_converse_as(&fx,
	    (struct session_key){ STR("u1"), STR("gone") }, "unknown",
	    "这是我的秘密", 0);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 0);
	ck_assert_int_eq(memory_fixture_stream_len(&fx, "SOUL_JOBS"), 0);
	/* A malformed message does not affect the others. */
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(
		    session_append(fx.db.s, &odd, &broken, 1, NULL), RC_OK);
	memory_fixture_converse_as(&fx, odd, "s1", "我喜欢乌龙茶", 0);
	memory_fixture_wait_memories(&fx, 1);
	memory_fixture_wait_summaries(&fx);
	ck_assert_int_eq(fake_model_calls(), 1);
	ck_assert(fake_model_prompt_has(0, 1, "乌龙茶"));
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u2", "s1").n, 0);
	ck_assert_uint_eq(memory_fixture_memories_of(&fx, "u2", "s2").n, 0);
	fake_model_stop(&fx);
}
