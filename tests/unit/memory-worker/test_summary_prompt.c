/* The summary's prompt, and the lines read from completions. */
#include <stdlib.h>

#include "core/mem.h"
#include "summary/summary_prompt.h"
#include "testkit/testkit.h"

static void
ck_str(struct str s, const char *want)
{
	ck_assert_msg(
	    s.p != NULL && str_eq(s, str_of(want)), "%.*s", STR_ARG(s));
}

TEST(the_prompt_has_all_parts)
{
	static const struct rank_memory known[] = {
		{ .id = STR_INIT("m1"), .text = STR_INIT("用户喜欢茶") },
		{ .id = STR_INIT("m2"), .text = STR_INIT("用户怕黑") },
	};
	struct summary_view v = { .language = SUMMARY_ZH };
	struct buf out = BUF_INIT(65536);

	summary_prompt_write(&v, &out);
	ck_assert_int_ge(str_find(buf_str(&out), STR("摘要")), 0);
	ck_assert_int_ge(str_find(buf_str(&out), STR("220")), 0);
	ck_assert_int_ge(str_find(buf_str(&out), STR("不要编号")), 0);
	ck_assert_int_lt(str_find(buf_str(&out), STR("此前的摘要")), 0);
	ck_assert_int_lt(str_find(buf_str(&out), STR("以下是已知记忆")), 0);
	ck_assert_int_lt(str_find(buf_str(&out), STR("\n已有资料：")), 0);
	buf_reset(&out);
	v.before = STR("喜欢茶");
	v.known = known;
	v.n_known = NELEM(known);
	v.profile = STR("{\"name\":\"小明\"}");
	/* 2026-11-23T02:00:00Z */
	v.date.ms = INT64_C(1795399200000);
	summary_prompt_write(&v, &out);
	ck_assert_int_ge(str_find(buf_str(&out), STR("此前的摘要")), 0);
	ck_assert_int_ge(
	    str_find(buf_str(&out), STR("\n1. 用户喜欢茶\n2. 用户怕黑\n")), 0);
	ck_assert_int_ge(str_find(buf_str(&out), STR("：2026-11-23\n")), 0);
	ck_assert_int_ge(
	    str_find(buf_str(&out), STR("\n已有资料：{\"name\":")), 0);
	ck_assert(str_ends(buf_str(&out), STR("喜欢茶")));
	buf_reset(&out);
	v.language = SUMMARY_EN;
	summary_prompt_write(&v, &out);
	ck_assert_int_ge(
	    str_find(buf_str(&out), STR("Known memories:\n1. ")), 0);
	ck_assert_int_ge(
	    str_find(buf_str(&out), STR("language that the user speaks")), 0);
	buf_free(&out);
}

TEST(the_language_is_the_users)
{
	static const struct {
		const char *user, *soul;
		enum summary_language want;
	} rows[] = {
		{ "我喜欢乌龙茶", "OK, I will remember that.", SUMMARY_ZH },
		{ "I like oolong tea", "好的，我记住了", SUMMARY_EN },
		{ "我用 Python 写 backend", "", SUMMARY_ZH },
		{ "My cat is called 小花 and she is three", "", SUMMARY_EN },
		{ "Ich trinke gern Tee", "", SUMMARY_EN },
		{ "", "hello", SUMMARY_ZH },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		const struct summary_message m[] = {
			{ .role = SUMMARY_USER, .text = str_of(rows[i].user) },
			{ .role = SUMMARY_SOUL, .text = str_of(rows[i].soul) },
		};

		ck_assert_msg(summary_language(m, NELEM(m)) == rows[i].want,
		    "%s", rows[i].user);
	}
}

TEST(a_transcript_has_a_line_per_message)
{
	static const struct summary_message m[] = {
		{ SUMMARY_USER, { NULL, 0 }, STR_INIT("开灯 ") },
		{ SUMMARY_SOUL, { NULL, 0 }, STR_INIT("") },
		{ SUMMARY_SKILL, STR_INIT("control_light"), STR_INIT("ok") },
		{ SUMMARY_SKILL, { NULL, 0 }, STR_INIT("ok") },
		{ SUMMARY_OBSERVATION, { NULL, 0 }, STR_INIT("有人来了") },
		{ SUMMARY_SOUL, { NULL, 0 }, STR_INIT("开了") },
	};
	struct buf out = BUF_INIT(65536);

	ck_assert_uint_eq(summary_transcript_write(
			      m, NELEM(m), SUMMARY_PART_MAX, SUMMARY_ZH, &out),
	    NELEM(m));
	ck_str(buf_str(&out),
	    "用户：开灯\n技能control_light：ok\n技能：ok\n观察：有人来了\n"
	    "灵魂：开了\n");
	buf_reset(&out);
	(void)summary_transcript_write(
	    m, 3, SUMMARY_PART_MAX, SUMMARY_EN, &out);
	ck_str(buf_str(&out), "User: 开灯\nSkill control_light: ok\n");
	buf_reset(&out);
	ck_assert_uint_eq(
	    summary_transcript_write(m, 0, 100, SUMMARY_ZH, &out), 0);
	ck_str(buf_str(&out), "");
	buf_free(&out);
}

TEST(a_transcript_is_limited)
{
	struct summary_message m[10];
	struct buf out = BUF_INIT(65536);
	static char text[3 * SUMMARY_MESSAGE_MAX];
	size_t i, n;

	for (i = 0; i < NELEM(m); i++)
		m[i] = (struct summary_message){ .role = SUMMARY_USER,
			.text = STR("一二三四五六") };
	/* Each costs its text and the start of its line. */
	ck_assert_uint_eq(
	    summary_transcript_write(m, NELEM(m), 30, SUMMARY_ZH, &out), 3);
	buf_reset(&out);
	ck_assert_uint_eq(
	    summary_transcript_write(m, NELEM(m), 29, SUMMARY_ZH, &out), 2);
	/* At least one, and a long one without its middle. */
	for (i = 0; i + 3 <= sizeof(text); i += 3)
		memcpy(text + i, i < sizeof(text) / 2 ? "前" : "后", 3);
	m[0].text = (struct str){ text, sizeof(text) };
	buf_reset(&out);
	n = summary_transcript_write(m, NELEM(m), 1, SUMMARY_ZH, &out);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(out.n, sizeof(text) + sizeof("用户：\n") - 1);
	buf_free(&out);

	buf_init(&out, 1UL << 20);
	m[0].role = SUMMARY_SOUL;
	m[0].text.p = mem_zalloc(6UL * SUMMARY_MESSAGE_MAX);
	memset((char *)(uintptr_t)m[0].text.p, 'x', 6UL * SUMMARY_MESSAGE_MAX);
	m[0].text.n = 6UL * SUMMARY_MESSAGE_MAX;
	(void)summary_transcript_write(m, 1, 1, SUMMARY_ZH, &out);
	ck_assert_int_eq(
	    str_utf8_count(buf_str(&out)), SUMMARY_MESSAGE_MAX + 3 + 2 + 1);
	free((void *)(uintptr_t)m[0].text.p);
	buf_free(&out);
}

static const struct {
	const char *answer, *line; /* NULL: absent */
} completions[] = {
	{ "用户喜欢茶。", "用户喜欢茶。" },
	{ "  用户喜欢茶。\n", "用户喜欢茶。" },
	{ "用户喜欢茶。\n\n也喜欢猫。", "用户喜欢茶。 也喜欢猫。" },
	{ "1. 喜欢茶\n2. 喜欢猫", "喜欢茶 喜欢猫" },
	{ "1、喜欢茶\n2）喜欢猫\n3) 狗", "喜欢茶 喜欢猫 狗" },
	{ "- 喜欢茶\n* 喜欢猫\n• 狗\n# 鸟", "喜欢茶 喜欢猫 狗 鸟" },
	{ "- 1. 喜欢茶", "喜欢茶" },
	{ "10点开会", "10点开会" },
	{ "2.5 公里", "2.5 公里" },
	{ "2026-02-22", "2026-02-22" },
	{ "a\tb\x01"
	  "c",
	    "a bc" },
	{ "坏\xff的", "坏的" },
	{ "a\r\nb", "a b" },
	{ "", NULL },
	{ " \n\t\n", NULL },
	{ "无", "" },
	{ "“无”。", "" },
	{ "无。\n", "" },
	{ "NONE", "" },
	{ "<NO_REPLY>", "" },
	{ "`no_reply`", "" },
	{ "无糖的茶", "无糖的茶" },
	{ "没有", "" },
};

TEST(completions_become_lines)
{
	struct arena *a = arena_new(65536);
	struct str line;
	size_t i;

	for (i = 0; i < NELEM(completions); i++) {
		line = summary_line(str_of(completions[i].answer), a);
		if (completions[i].line == NULL)
			ck_assert_msg(
			    line.p == NULL, "%s", completions[i].answer);
		else
			ck_str(line, completions[i].line);
	}
	ck_assert_ptr_null(summary_line((struct str){ NULL, 0 }, a).p);
	arena_free(a);
	a = arena_new(4);
	ck_assert_ptr_null(summary_line(STR("长长的摘要"), a).p);
	arena_free(a);
}

TEST(long_lines_are_truncated)
{
	struct arena *a = arena_new(1UL << 20);
	struct buf b = BUF_INIT(1UL << 20);
	struct str line;
	int i;

	for (i = 0; i < 30; i++)
		buf_puts(&b, "用户喜欢喝茶看书听歌。");
	line = summary_line(buf_str(&b), a);
	ck_assert_int_eq(str_utf8_count(line), SUMMARY_LINE_MAX);
	ck_assert(str_ends(line, STR("。")));
	/* With one more at the front the sentence ends earlier. */
	buf_reset(&b);
	buf_puts(&b, "啊");
	for (i = 0; i < 30; i++)
		buf_puts(&b, "用户喜欢喝茶看书听歌。");
	line = summary_line(buf_str(&b), a);
	ck_assert_int_eq(str_utf8_count(line), SUMMARY_LINE_MAX - 10);
	ck_assert(str_ends(line, STR("。")));
	/* There is no sentence end. */
	buf_reset(&b);
	for (i = 0; i < 300; i++)
		buf_puts(&b, "茶");
	line = summary_line(buf_str(&b), a);
	ck_assert_int_eq(str_utf8_count(line), SUMMARY_LINE_MAX);
	buf_free(&b);
	arena_free(a);
}

TEST(summaries_are_joined)
{
	struct arena *a = arena_new(1UL << 20);
	char line[SUMMARY_LINE_MAX + 1];
	struct str s = { NULL, 0 };
	int i;

	ck_str(summary_join(s, STR("一"), a), "一");
	ck_str(summary_join(STR("一"), STR("二"), a), "一\n二");
	ck_str(summary_join(STR("一"), STR(""), a), "一");
	ck_str(summary_join(s, STR(""), a), "");
	for (i = 0; i < 20; i++) {
		memset(line, 'a' + i, SUMMARY_LINE_MAX);
		line[SUMMARY_LINE_MAX] = '\0';
		s = summary_join(s, str_of(line), a);
		ck_assert_int_le(str_utf8_count(s), SUMMARY_WHOLE_MAX);
		ck_assert(str_ends(s, str_of(line)));
	}
	/* Whole lines were dropped. */
	ck_assert_int_eq(s.p[0], 'a' + 20 - 8);
	ck_assert_int_eq(str_utf8_count(s), 8 * SUMMARY_LINE_MAX + 7);
	arena_free(a);
	a = arena_new(2);
	ck_assert_ptr_null(summary_join(STR("一"), STR("二"), a).p);
	arena_free(a);
}
