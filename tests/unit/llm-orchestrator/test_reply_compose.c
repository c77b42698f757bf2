/*
 * The reply, executed and failed skills.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "reply/reply_compose.h"
#include "testkit/testkit.h"

#define CALL(k, o, r, s, l)                                          \
	{                                                            \
		.kind = TURN_##k, .outcome = TURN_##o, .round = (r), \
		.skill = STR_INIT(s), .label = STR_INIT(l)           \
	}

struct turn_set {
	struct turn_call calls[4];
	size_t n;
};

static struct turn
turn_of(const struct turn_call *calls, size_t n, const char *text)
{
	struct turn t;

	turn_init(&t, 4);
	t.phase = TURN_COMMITTING;
	for (size_t i = 0; i < n; i++)
		t.calls[t.n_calls++] = calls[i];
	t.has_text = text != NULL;
	t.text = str_of(text);
	return t;
}

static void
ck_reply(const struct turn *t, bool absent, const char *want)
{
	struct arena *a = arena_new(1024 * 1024);
	struct str s;

	ck_assert_int_eq(reply_compose(t, absent, a, &s), RC_OK);
	ck_assert_msg(
	    str_eq(s, str_of(want)), "\"%.*s\", not \"%s\"", STR_ARG(s), want);
	arena_free(a);
}

TEST(no_reply_marks_are_recognized)
{
	static const struct {
		const char *in, *out;
		bool silent;
	} rows[] = {
		{ "<NO_REPLY>", "", true },
		{ "NO_REPLY", "", true },
		{ "[NO_REPLY]", "", true },
		{ " `<no_reply>` \n", "", true },
		{ "```\nNO_REPLY\n```", "", true },
		{ "  好的  ", "好的", false },
		{ " \t\n", "", false },
		{ "", "", false },
		{ "<NO_REPLY> 不", "<NO_REPLY> 不", false },
		{ "`code`", "`code`", false },
	};
	bool silent;

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str s = reply_text(str_of(rows[i].in), &silent);
		ck_assert(str_eq(s, str_of(rows[i].out)));
		ck_assert(silent == rows[i].silent);
	}
}

TEST(the_models_text_is_the_reply)
{
	struct turn t = turn_of(NULL, 0, " 晴天。 ");

	ck_reply(&t, false, "晴天。");
	ck_reply(&t, true, "晴天。\n（我的身体现在不在线，做不了动作。）");
	t = turn_of(NULL, 0, "<NO_REPLY>");
	ck_reply(&t, false, "");
	ck_reply(&t, true, "");
	t = turn_of(NULL, 0, "");
	ck_reply(&t, false, "我没想好怎么回答，请再说一遍。");
	t = turn_of(NULL, 0, NULL);
	t.model_failed = true;
	ck_reply(&t, false, "我现在答不上来，请稍后再试。");
}

TEST(direct_actions_come_first)
{
	static const struct turn_call ok[] = {
		CALL(DIRECT, OK, 0, "control_light", "控制灯"),
		CALL(DIRECT, OK, 0, "create_alarm", "订闹钟"),
		CALL(DIRECT, OK, 0, "control_light", "控制灯"),
	};
	struct turn t = turn_of(ok, 3, NULL);

	ck_reply(&t, false, "好的，控制灯、订闹钟已执行。");
	/* The reply to the rest is on a line of its own. */
	t.route.rest = STR("天气");
	t.has_text = true;
	t.text = STR("今天是晴天。");
	ck_reply(&t, false, "好的，控制灯、订闹钟已执行。\n今天是晴天。");
	t.has_text = false;
	t.model_failed = true;
	ck_reply(&t, false,
	    "好的，控制灯、订闹钟已执行。其余的我现在答不上来，请稍后再试。");
}

/* Each failure has a sentence with the label. */
TEST(failures_are_named)
{
	static const struct {
		enum turn_outcome outcome;
		const char *why, *want, *error;
	} rows[] = {
		{ TURN_ERROR, "invalid color", "点头没有成功：invalid color。",
		    "invalid color" },
		{ TURN_ERROR, NULL, "点头没有成功。", "failed" },
		{ TURN_ERROR, "two\nlines", "点头没有成功。", "two\nlines" },
		{ TURN_NOT_CONFIRMED, NULL, "点头已经发出，但没有得到确认。",
		    "not confirmed" },
		{ TURN_OFFLINE, NULL, "我的身体现在不在线，点头没有执行。",
		    "offline" },
		{ TURN_NO_SUBSCRIBER, NULL,
		    "我的身体现在没有响应，点头没有执行。", "no subscriber" },
		{ TURN_NO_TIME, NULL, "点头没有来得及执行。", "late" },
		{ TURN_BLOCKED, NULL, "我现在心情还没平复，点头这次先不做。",
		    "blocked" },
		{ TURN_GATE_UNKNOWN, NULL,
		    "我现在没法判断能不能做，点头这次先不做。",
		    "gate unknown" },
		{ TURN_INVALID, "/x: is required",
		    "点头的要求我没弄明白，没有执行。",
		    "invalid arguments: /x: is required" },
		{ TURN_UNKNOWN, NULL, "我不会点头。", "unknown skill" },
		{ TURN_REJECTED, NULL, "点头现在不能做。", "rejected" },
		{ TURN_DEFERRED, NULL, "点头还没有做。", "not carried out" },
		{ TURN_SKIPPED, NULL,
		    "前一次没有得到确认，后面的点头没有再做。", "not sent" },
		{ TURN_CANCELED, NULL, "点头还没有做。", "canceled" },
		{ TURN_UNAPPROVED, NULL, "点头要得到同意才能做。",
		    "approval required" },
		{ TURN_DENIED, NULL, "好的，点头没有做。", "not approved" },
	};
	struct arena *a = arena_new(1024 * 1024);
	struct reply_skills s;

	ck_assert_uint_ge(NELEM(rows), TURN_OUTCOMES - TURN_ERROR);
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct turn_call d = CALL(INVOKE, OK, 1, "nod", "点头");
		d.outcome = rows[i].outcome;
		d.why = str_of(rows[i].why);
		struct turn t = turn_of(&d, 1, NULL);
		ck_reply(&t, false, rows[i].want);
		/* The model's text does not replace it. */
		char *both = mem_alloc(1024);
		snprintf(both, 1024, "点好了\n%s", rows[i].want);
		t = turn_of(&d, 1, "点好了");
		ck_reply(&t, false, both);
		free(both);
		ck_assert_int_eq(reply_skills(&t, a, &s), RC_OK);
		ck_assert_uint_eq(s.n_executed, 0);
		ck_assert_uint_eq(s.n_failed, 1);
		ck_assert(str_eq(s.failed[0].skill, STR("nod")));
		ck_assert_msg(str_eq(s.failed[0].error, str_of(rows[i].error)),
		    "\"%.*s\"", STR_ARG(s.failed[0].error));
	}
	arena_free(a);
}

/* The body's error is quoted only if it is short. */
TEST(long_errors_are_not_quoted)
{
	struct turn_call d = CALL(INVOKE, ERROR, 1, "nod", "点头");
	char why[400];

	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	d.why = str_of(why);
	struct turn t = turn_of(&d, 1, NULL);
	ck_reply(&t, false, "点头没有成功。");
	d.why = STR("\xff");
	t = turn_of(&d, 1, NULL);
	ck_reply(&t, false, "点头没有成功。");
}

TEST(calls_without_text_are_reported)
{
	static const struct turn_call calls[] = {
		CALL(INVOKE, OK, 1, "nod", "点头"),
		CALL(INVOKE, OK, 2, "nod", "点头"),
		CALL(RECALL, OK, 1, "recall_memory", "回忆"),
	};
	struct turn t = turn_of(calls, 3, NULL);

	t.model_failed = true;
	ck_reply(&t, false, "好的，点头已执行。");
	t = turn_of(calls, 3, "");
	ck_reply(&t, false, "好的，点头已执行。");
	t = turn_of(calls, 3, "NO_REPLY");
	ck_reply(&t, false, "");
}

/* What was forgotten and what was not, whatever the model's text. */
TEST(forgotten_memories_are_reported)
{
	static const struct {
		enum turn_outcome outcome;
		const char *want, *error;
	} rows[] = {
		{ TURN_NO_MATCH, "没有找到和要忘掉的事相符的记忆。",
		    "nothing fits" },
		{ TURN_NOT_CONFIRMED,
		    "要忘掉的事没有得到确认，可能忘掉了，也可能没有。",
		    "not confirmed" },
		{ TURN_ERROR, "要忘掉的事我这次没能忘掉。", "failed" },
		{ TURN_UNKNOWN, "要忘掉的事我这次没能忘掉。", "unknown skill" },
		{ TURN_INVALID, "忘掉记忆的要求我没弄明白，没有执行。",
		    "invalid arguments" },
		{ TURN_NO_TIME, "忘掉记忆没有来得及执行。", "late" },
	};
	struct turn_call d[] = {
		CALL(FORGET, OK, 1, "forget_memory", "忘掉记忆"),
		CALL(FORGET, OK, 1, "forget_memory", "忘掉记忆"),
		CALL(INVOKE, OK, 1, "nod", "点头"),
	};
	struct arena *a = arena_new(1024 * 1024);
	struct reply_skills s;

	d[0].output = STR("{\"query\":\"茶\",\"forgotten\":[\"喜欢茶\"]}");
	d[1].output = STR("{\"query\":\"猫\",\"forgotten\":[\"有猫\",\"a\"]}");
	struct turn t = turn_of(d, 3, NULL);
	ck_reply(&t, false,
	    "好的，点头已执行。已经忘掉：「喜欢茶」、「有猫」、「a」。");
	t = turn_of(d, 3, "都忘了。");
	ck_reply(&t, false, "都忘了。");
	d[0].output = STR("{\"query\":\"茶\",\"forgotten\":[]}");
	for (size_t i = 0; i < NELEM(rows); i++) {
		/* The second adds no sentence. */
		d[0].outcome = d[1].outcome = rows[i].outcome;
		char *both = mem_alloc(1024);
		t = turn_of(d, 2, NULL);
		ck_reply(&t, false, rows[i].want);
		snprintf(both, 1024, "已经忘掉了\n%s", rows[i].want);
		t = turn_of(d, 2, "已经忘掉了");
		ck_reply(&t, false, both);
		free(both);
		ck_assert_int_eq(reply_skills(&t, a, &s), RC_OK);
		ck_assert_uint_eq(s.n_executed, 0);
		ck_assert_uint_eq(s.n_failed, 1);
		ck_assert(str_eq(s.failed[0].error, str_of(rows[i].error)));
	}
	arena_free(a);
}

TEST(failed_search_questions_and_overflow)
{
	static const struct turn_call calls[] = { CALL(
	    RECALL, ERROR, 1, "recall_memory", "回忆") };
	static const struct turn_question q[] = {
		{ .label = STR_INIT("订闹钟"), .missing = STR_INIT("时间") },
		{ .label = STR_INIT("控制灯"), .missing = STR_INIT("") },
	};
	struct turn t = turn_of(calls, 1, "不知道");

	ck_reply(&t, false, "不知道\n以前的事我没能查到。");
	t = turn_of(NULL, 0, NULL);
	t.route.questions = q;
	t.route.n_questions = 2;
	ck_reply(
	    &t, false, "要订闹钟，请告诉我时间。要控制灯，请再说清楚一点。");
	t = turn_of(NULL, 0, "好");
	t.overflow = true;
	ck_reply(&t, false, "好\n一次要做的事太多，有些没有做。");
}

/* A successful retry is a success; different outcomes are both reported. */
TEST(a_skill_is_reported_a_single_time)
{
	static const struct turn_call calls[] = {
		CALL(INVOKE, INVALID, 1, "light", "灯"),
		CALL(INVOKE, OK, 1, "nod", "点头"),
		CALL(INVOKE, NOT_CONFIRMED, 1, "nod", "点头"),
		CALL(INVOKE, NOT_CONFIRMED, 1, "nod", "点头"),
		CALL(INVOKE, OK, 2, "light", "灯"),
		CALL(INVOKE, OK, 2, "light", "灯"),
	};
	struct turn t = turn_of(calls, NELEM(calls), "好");
	struct arena *a = arena_new(1024 * 1024);
	struct reply_skills s;

	ck_assert_int_eq(reply_skills(&t, a, &s), RC_OK);
	ck_assert_uint_eq(s.n_executed, 2);
	ck_assert(str_eq(s.executed[0], STR("nod")));
	ck_assert(str_eq(s.executed[1], STR("light")));
	ck_assert_uint_eq(s.n_failed, 1);
	ck_assert(str_eq(s.failed[0].skill, STR("nod")));
	ck_reply(&t, false, "好\n点头已经发出，但没有得到确认。");
	arena_free(a);
	a = arena_new(16);
	ck_assert_int_eq(reply_skills(&t, a, &s), RC_TOOBIG);
	arena_free(a);
}

/* A long text of the model does not displace the rest. */
TEST(long_replies_are_truncated)
{
	struct arena *a = arena_new(1024 * 1024);
	size_t n = 2 * REPLY_MAX;
	char *text = mem_alloc(n + 1);
	struct str s;

	for (size_t i = 0; i + 3 <= n; i += 3)
		memcpy(text + i, "灯", 3);
	text[n / 3 * 3] = '\0';
	struct turn t = turn_of(NULL, 0, text);
	ck_assert_int_eq(reply_compose(&t, false, a, &s), RC_OK);
	ck_assert_uint_le(s.n, REPLY_MAX);
	ck_assert_uint_gt(s.n, REPLY_MAX - 4);
	ck_assert_int_gt(str_utf8_count(s), 0);
	free(text);
	arena_free(a);
}

TEST(control_characters_become_spaces)
{
	struct arena *a = arena_new(64);
	struct str s = reply_clean(STR("a\x01\x02z\n\tb\x7f"), 64, a);

	ck_assert(str_eq(s, STR("a  z\n\tb ")));
	ck_assert(str_eq(reply_clean(STR("灯灯"), 5, a), STR("灯")));
	ck_assert_ptr_null(reply_clean(STR("0123456789012345678901234567890"
					   "1234567890123456789012345678901"),
	    64, a)
			       .p);
	arena_free(a);
}
