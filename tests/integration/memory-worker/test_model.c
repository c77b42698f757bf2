/*
 * What the language model is asked, and what its stranger answers do: with a
 * model that says what each test wants.
 */
#include "model.h"

/* ---- prompts ----------------------------------------------------------------
 */

static void
numbered(int fd, int n, struct str body)
{
	char text[64];

	(void)body;
	snprintf(text, sizeof(text), "第%d号：我喜欢茶茶，我的猫。", n);
	say_text(fd, text);
}

TEST_T(only_what_is_new_is_asked_about, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct session s;
	struct bed b;
	char *text;

	model_start(&b, numbered);
	bed_message(&b, k, "observation", "有人走近");
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_assert(asked_with(0, 0, "220"));
	ck_assert(!asked_with(0, 0, "此前的摘要"));
	text = asked_text(0, 1);
	ck_assert_str_eq(text,
	    "观察：有人走近\n用户：我喜欢乌龙茶\n灵魂：好的，我记住了。\n");
	free(text);

	bed_say(&b, "chat", "我的猫叫小花", 0);
	bed_wait(&b, 2);
	bed_quiet(&b);
	ck_assert(asked_with(1, 0, "此前的摘要"));
	ck_assert(asked_with(1, 0, "第0号"));
	ck_assert(asked_with(1, 1, "我的猫叫小花"));
	ck_assert(!asked_with(1, 1, "乌龙茶"));
	s = bed_session(&b, "chat");
	ck_assert(str_eq(s.summary,
	    STR("第0号：我喜欢茶茶，我的猫。\n第1号：我喜欢茶茶，我的猫。")));
	ck_assert_int_eq(s.summarised, 5);
	ck_assert_int_eq(asked(), 2);
	model_stop(&b);
}

TEST_T(a_long_conversation_is_told_in_parts, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct memory_list l;
	char *text;
	struct bed b;
	int i, n;

	model_start(&b, numbered);
	/* 40 messages of 1,000 characters: four parts of at most 12,000. */
	text = mem_zalloc(3 * 1000 + 1);
	for (i = 0; i < 1000; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 39; i++)
		bed_message(&b, k, i % 2 == 0 ? "user" : "assistant", text);
	bed_message(&b, k, "user", "最后一句");
	free(text);
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	l = bed_wait(&b, 4);
	ck_assert_uint_eq(bed_with(&l, "第3号"), 1);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 4);
	ck_assert_int_eq(bed_session(&b, "chat").summarised, 40);
	for (n = 0, i = 0; i < 4; i++)
		n += asked_with(i, 1, "最后一句");
	ck_assert_int_eq(n, 1);
	model_stop(&b);
}

/* ---- answers ----------------------------------------------------------------
 */

static void
nothing(int fd, int n, struct str body)
{
	(void)n;
	(void)body;
	say_text(fd, "“无”。");
}

TEST_T(small_talk_is_no_memory, 60)
{
	struct session s;
	struct bed b;

	model_start(&b, nothing);
	bed_say(&b, "chat", "你好呀", 0);
	bed_quiet(&b);
	s = bed_session(&b, "chat");
	ck_assert_int_eq(s.summarised, 2);
	ck_assert_uint_eq(s.summary.n, 0);
	ck_assert_ptr_null(s.job.p);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 0);
	ck_assert_int_eq(asked(), 1);
	model_stop(&b);
}

static void
refuse_then_answer(int fd, int n, struct str body)
{
	(void)body;
	if (n == 0)
		say_text(fd, " \n");
	else if (n < 3)
		say(fd, 400, "{\"error\":{\"message\":\"no\"}}");
	else
		say_text(fd, "用户喜欢乌龙茶和猫。");
}

TEST_T(what_is_refused_is_part_of_the_next, 60)
{
	struct bed b;

	model_start(&b, refuse_then_answer);
	bed_say(&b, "chat", "我喜欢乌龙茶", 0);
	bed_quiet(&b);
	/* Three times, and no more until something new is said. */
	ck_assert_int_eq(asked(), 3);
	ck_assert_uint_eq(bed_memories(&b).n, 0);
	ck_assert_int_eq(tk_service_metric(&b.worker[0],
			     "soul_memory_summaries_refused_total"),
	    1);
	bed_say(&b, "chat", "我也喜欢猫", 0);
	bed_wait(&b, 1);
	ck_assert_int_eq(asked(), 4);
	ck_assert(asked_with(3, 1, "我喜欢乌龙茶"));
	ck_assert(asked_with(3, 1, "我也喜欢猫"));
	model_stop(&b);
}

static void
short_memory(int fd, int n, struct str body)
{
	char text[64];

	if (body.n > 10000)
		say(fd, 400,
		    "{\"error\":{\"message\":\"too long\","
		    "\"code\":\"context_length_exceeded\"}}");
	else {
		snprintf(text, sizeof(text), "第%d部分：茶茶。", n);
		say_text(fd, text);
	}
}

TEST_T(a_model_with_a_short_memory, 60)
{
	struct session_key k = { STR("u1"), STR("chat") };
	struct bed b;
	char *text;
	int i;

	model_start(&b, short_memory);
	text = mem_zalloc(3 * 500 + 1);
	for (i = 0; i < 500; i++)
		memcpy(text + 3 * i, "茶", 3);
	for (i = 0; i < 16; i++)
		bed_message(&b, k, "user", text);
	free(text);
	ck_assert_int_eq(
	    session_user_input(b.db.s, &k, STR("s1"), STR("t1"), 0), RC_OK);
	bed_quiet(&b);
	ck_assert_int_eq(bed_session(&b, "chat").summarised, 16);
	ck_assert_uint_ge(bed_memories(&b).n, 3);
	model_stop(&b);
}

/* ---- what is not asked about
 * ------------------------------------------------- */

TEST_T(what_need_not_be_asked, 60)
{
	static const struct str broken = STR_INIT("{\"role\":\"ghost\"}");
	struct session_key none = { STR("u1"), STR("none") };
	struct session_key silent = { STR("u1"), STR("silent") };
	struct session_key odd = { STR("u1"), STR("odd") };
	struct session_key theirs = { STR("u2"), STR("chat") };
	struct bed b;
	int i;

	model_start(&b, numbered);
	bed_soul(&b, "s2", "u2");
	/* A session without messages, and one without words of the user. */
	ck_assert_int_eq(
	    session_user_input(b.db.s, &none, STR("s1"), STR("t1"), 0), RC_OK);
	bed_message(&b, silent, "assistant", "早上好");
	ck_assert_int_eq(
	    session_user_input(b.db.s, &silent, STR("s1"), STR("t1"), 0),
	    RC_OK);
	/* A soul that is gone, or another user's. */
	bed_say_to(&b, theirs, "s1", "这是我的秘密", 0);
	bed_say_to(&b, (struct session_key){ STR("u1"), STR("gone") }, "nobody",
	    "这是我的秘密", 0);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 0);
	ck_assert_int_eq(bed_stream(&b, "SOUL_JOBS"), 0);
	/* A message that cannot be read does not hide the others. */
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(
		    session_append(b.db.s, &odd, &broken, 1, NULL), RC_OK);
	bed_say_to(&b, odd, "s1", "我喜欢乌龙茶", 0);
	bed_wait(&b, 1);
	bed_quiet(&b);
	ck_assert_int_eq(asked(), 1);
	ck_assert(asked_with(0, 1, "乌龙茶"));
	ck_assert_uint_eq(bed_memories_of(&b, "u2", "s1").n, 0);
	ck_assert_uint_eq(bed_memories_of(&b, "u2", "s2").n, 0);
	model_stop(&b);
}
