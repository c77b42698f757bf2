/*
 * What of a completion is the reply, however it is split.
 */
#include <string.h>

#include "core/mem.h"
#include "reply/spoken_text.h"
#include "testkit/testkit.h"

#define PRIVATE "这是我心里想的，就不说出来了。"
#define ADVICE  "先安慰主人，少讲道理，多听他说。"

struct row {
	const char *text;
	const char *reply, *voice, *emotion;
};

static const struct row rows[] = {
	/* Without an inner voice. */
	{ "", "", "", "" },
	{ "你好。", "你好。", "", "" },
	{ "a < b, a <in b, ``, `{x}`", "a < b, a <in b, ``, `{x}`", "", "" },
	{ "{\"a\": 1}", "{\"a\": 1}", "", "" },
	{ "{ 你好 }", "{ 你好 }", "", "" },
	{ "集合 {1, 2} 和 {it's}", "集合 {1, 2} 和 {it's}", "", "" },
	{ "```c\nint x;\n```", "```c\nint x;\n```", "", "" },
	{ "```json\n{\"a\":[{}]}\n```", "```json\n{\"a\":[{}]}\n```", "", "" },
	{ "{\"emotion\":\"joy\"}", "{\"emotion\":\"joy\"}", "", "" },
	/* In tags. */
	{ "<inner>他累了</inner>早点睡。", "早点睡。", "他累了", "" },
	{ "<INNER>a</Inner>b", "b", "a", "" },
	{ "b<inner>a", "b", "a", "" },
	{ "<inner>a</inn", "", "a</inn", "" },
	{ "<inner>a<b></inner>c<inner>d</inner>", "c", "a<b>d", "" },
	{ "<inne", "<inne", "", "" },
	/* An envelope. */
	{ "{\"reply\":\"你好呀\",\"inner_voice\":\"他来了\","
	  "\"emotion\":\"joy\"}",
	    "你好呀", "他来了", "joy" },
	{ "\n{ \"inner_voice\" : \"x\" , \"reply\" : \"y\" }\n", "\ny\n", "x",
	    "" },
	{ "{\"emotion\":\"calm\",\"reply\":\"y\"}", "y", "", "calm" },
	{ "{\"mood\":{\"a\":[1,\"}\"]},\"n\":-1.5e3,\"t\":true,"
	  "\"reply\":\"y\"}",
	    "y", "", "" },
	{ "```json\n{\"reply\":\"y\",\"inner_voice\":\"x\"}\n```", "y", "x",
	    "" },
	{ "```\n{\"reply\":\"y\"}", "y", "", "" },
	{ "好的：{\"reply\":\"y\",\"inner_voice\":\"x\"} 再见", "好的：y 再见",
	    "x", "" },
	{ "{{\"reply\":\"y\",\"inner_voice\":\"x\"}}", "{y}", "x", "" },
	{ "{\"data\":{\"reply\":\"y\",\"inner_voice\":\"x\"}}", "{\"data\":y}",
	    "x", "" },
	{ "[{\"reply\":\"y\",\"inner_voice\":\"x\"}]", "[y]", "x", "" },
	/* As models write it. */
	{ "{'reply':'y','inner_voice':'x'}", "y", "x", "" },
	{ "{reply: \"y\", inner_voice: \"x\", emotion: sad}", "y", "x", "" },
	{ "{\"reply\":\"a\nb\",\"inner_voice\":null}", "a\nb", "", "" },
	{ "{\"reply\":\"y\",}", "y", "", "" },
	{ "{\"reply\":\"y\",\"reply\":\"z\"}", "y", "", "" },
	{ "{\"reply\":{\"a\":\"b\"},\"inner_voice\":{\"c\":\"d\"}}", "", "",
	    "" },
	/* Escapes. */
	{ "{\"reply\":\"\\u4f60\\n\\\"\\\\\\/\\ud83d\\ude00.\"}", "你\n\"\\/😀.",
	    "", "" },
	{ "{\"reply\":\"\\ud83d.\\ude00\\u12\"}",
	    "\xef\xbf\xbd.\xef\xbf\xbd"
	    "\xef\xbf\xbd",
	    "", "" },
	/* In part: what was read. */
	{ "{\"reply\":\"今天", "今天", "", "" },
	{ "{\"inner_voice\":\"秘密", "", "秘密", "" },
	{ "{\"reply\":\"y\",\"inner_vo", "y", "", "" },
	{ "{\"repl", "{\"repl", "", "" },
	{ "```json\n{\"repl", "```json\n{\"repl", "", "" },
	/* What follows an error may be the inner voice. */
	{ "{\"reply\":\"他说\"好\"吧\",\"inner_voice\":\"x\"}", "他说", "",
	    "" },
	{ "{\"reply\":\"y\" \"inner_voice\":\"x\"}", "y", "", "" },
	{ "{\"reply\":\"y\",inner-voice:\"x\"} z", "y", "", "" },
};

static void
ck_str(const struct row *row, struct str got, const char *want)
{
	ck_assert_msg(str_eq(got, str_of(want)), "%s: %.*s, not %s", row->text,
	    STR_ARG(got), want);
}

static void
ck_whole(const struct row *row, const struct spoken_rule *rule)
{
	struct arena *a = arena_new(1 << 20);
	struct spoken got;

	spoken_text_read(str_of(row->text), rule, a, &got);
	ck_str(row, got.text, row->reply);
	ck_str(row, got.inner_voice, row->voice);
	ck_str(row, got.emotion, row->emotion);
	arena_free(a);
}

/* What is streamed is the beginning of the reply; the rest is held back. */
static void
ck_stream(const struct row *row, const struct spoken_rule *rule, size_t step)
{
	struct str s = str_of(row->text);
	struct buf reply = BUF_INIT(1 << 20);
	struct spoken_text t;

	spoken_text_init(&t, rule);
	for (size_t at = 0; at < s.n; at += step) {
		size_t n = s.n - at < step ? s.n - at : step;
		buf_put_str(
		    &reply, spoken_text_feed(&t, (struct str){ s.p + at, n }));
		ck_assert_msg(str_starts(str_of(row->reply), buf_str(&reply)),
		    "%s: %.*s", row->text, STR_ARG(buf_str(&reply)));
	}
	spoken_text_free(&t);
	buf_free(&reply);
}

static void
ck_row(const struct row *row, const struct spoken_rule *rule)
{
	ck_whole(row, rule);
	for (size_t step = 1; step <= strlen(row->text); step++)
		ck_stream(row, rule, step);
}

TEST(an_inner_voice_is_not_spoken)
{
	const struct spoken_rule none = { .n_known = 0 };

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_row(&rows[i], &none);
}

/* The parts before and after one split at each byte are the same. */
TEST(the_split_does_not_matter)
{
	struct buf reply = BUF_INIT(1 << 20);

	for (size_t i = 0; i < NELEM(rows); i++) {
		struct str s = str_of(rows[i].text);
		for (size_t at = 0; at <= s.n; at++) {
			struct inner_voice v;
			inner_voice_init(&v);
			buf_reset(&reply);
			inner_voice_feed(&v, (struct str){ s.p, at }, &reply);
			inner_voice_feed(
			    &v, (struct str){ s.p + at, s.n - at }, &reply);
			inner_voice_end(&v, &reply);
			ck_str(&rows[i], buf_str(&reply), rows[i].reply);
			inner_voice_free(&v);
		}
	}
	buf_free(&reply);
}

TEST(a_reply_in_an_envelope_is_streamed)
{
	const struct spoken_rule none = { .n_known = 0 };
	struct spoken_text t;

	spoken_text_init(&t, &none);
	ck_assert_uint_eq(
	    spoken_text_feed(&t, STR("{\"emotion\":\"joy\",\"re")).n, 0);
	ck_assert(
	    str_eq(spoken_text_feed(&t, STR("ply\":\"你好")), STR("你好")));
	ck_assert(str_eq(spoken_text_feed(&t, STR("呀\",\"in")), STR("呀")));
	ck_assert_uint_eq(spoken_text_feed(&t, STR("ner_voice\":\"秘密")).n, 0);
	spoken_text_free(&t);
}

TEST(a_long_object_is_text_in_bounded_time)
{
	const struct spoken_rule none = { .n_known = 0 };
	struct arena *a = arena_new(1 << 22);
	struct buf b = BUF_INIT(1 << 20);
	struct spoken got;

	while (b.n < 3 * INNER_HELD_MAX)
		buf_puts(&b, "{\"a\":[{\"b\":");
	spoken_text_read(buf_str(&b), &none, a, &got);
	ck_assert(str_eq(got.text, buf_str(&b)));
	buf_reset(&b);
	buf_puts(&b, "<inner>");
	while (b.n < 2 * INNER_VOICE_MAX)
		buf_puts(&b, "心");
	spoken_text_read(buf_str(&b), &none, a, &got);
	ck_assert_uint_eq(got.text.n, 0);
	ck_assert_int_gt(str_utf8_count(got.inner_voice), 1000);
	buf_free(&b);
	arena_free(a);
}

/* ---- quotes ---- */

static const struct row quotes[] = {
	{ "我在听。", "我在听。", "", "" },
	{ "先安慰主人", "先安慰主人", "", "" },
	{ ADVICE, PRIVATE, "", "" },
	{ "我的建议是：「" ADVICE "」", "我的建议是：「" PRIVATE, "", "" },
	{ "先 安\n慰-主*人 少 讲 道 理 多 听 他 说", PRIVATE, "", "" },
	{ "说他听多，理道讲少，人主慰安先", PRIVATE, "", "" },
	{ "{\"reply\":\"" ADVICE "\"}", PRIVATE, "", "" },
	{ "```\n" ADVICE "\n```", "```\n" PRIVATE, "", "" },
	{ "a\xef\xbc\xa1 LET HER talk, and\tdo not JUDGE (or) advise",
	    "a\xef\xbc\xa1 " PRIVATE, "", "" },
	/* All of a short one. */
	{ "好好，多陪陪她们吧", "好" PRIVATE, "", "" },
};

TEST(what_must_not_be_quoted_is_held_back)
{
	static const char *const secrets[] = { ADVICE,
		"Let her talk, and do not judge or advise.", "好，多陪陪她们" };

	for (size_t i = 0; i < NELEM(quotes); i++) {
		size_t s = i < 8 ? 0 : i - 7;
		const struct spoken_rule rule = {
			.secret = { [1] = str_of(secrets[s]) }
		};
		ck_row(&quotes[i], &rule);
	}
}

TEST(what_the_user_has_written_may_be_quoted)
{
	static const struct row row = {
		"你说过今天被老板骂了一顿很难过，对吗？",
		"你说过今天被老板骂了一顿很难过，对吗？", "", ""
	};
	struct spoken_rule rule = {
		.secret = { STR("主人今天被老板骂了一顿很难过，先安慰他") },
		.known = { STR("我今天，被老板骂了一顿！很难过") },
		.n_known = 1
	};
	struct row without = row;

	ck_row(&row, &rule);
	rule.n_known = 0;
	without.reply = "你说过" PRIVATE;
	ck_row(&without, &rule);
}

TEST(two_characters_are_no_secret)
{
	static const struct row row = { "少说，多听", "少说，多听", "", "" };
	const struct spoken_rule rule = { .secret = { STR("少说，多听") } };

	ck_row(&row, &rule);
}
