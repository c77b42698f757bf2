/*
 * Normalization and segmentation.
 */
#include "core/arena.h"
#include "core/mem.h"
#include "core/zone.h"
#include "testkit/testkit.h"
#include "text/command_text.h"
#include "text/utterance.h"

static const struct {
	const char *raw, *text, *locale;
} commands[] = {
	{ "开灯", "开灯", "zh-CN" },
	{ " 开 灯\n", "开灯", "zh-CN" },
	{ "帮我开灯", "开灯", "zh-CN" },
	{ "请帮我帮我开灯", "帮我开灯", "zh-CN" },
	{ "帮我", "帮我", "zh-CN" },
	{ "１０分钟", "10分钟", "zh-CN" },
	{ "把LED灯打开", "把LED灯打开", "zh-CN" },
	{ "Turn  ON\tthe light", "Turn ON the light", "en-US" },
	{ "Please turn on", "turn on", "en-US" },
	{ "침실 불 꺼줘", "침실불꺼줘", "ko-KR" },
	{ "寝室のライト", "寝室のライト", "ja-JP" },
	{ "123", "123", "zh-CN" },
	{ "ﬁne", "fine", "en-US" },
	{ "　开灯　", "开灯", "zh-CN" },
};

TEST(commands_are_normalized)
{
	struct arena *a = arena_new(65536);
	struct command c;
	size_t i;

	for (i = 0; i < NELEM(commands); i++) {
		ck_assert_int_eq(command_parse(str_of(commands[i].raw), NULL,
				     "zh-CN", a, &c),
		    RC_OK);
		ck_assert_msg(str_eq(c.text, str_of(commands[i].text)),
		    "%s: %.*s", commands[i].raw, STR_ARG(c.text));
		ck_assert_str_eq(c.locale, commands[i].locale);
		ck_assert_uint_eq(c.text.n, c.folded.n);
	}
	arena_free(a);
}

TEST(a_given_locale_is_used)
{
	struct arena *a = arena_new(65536);
	struct command c;

	ck_assert_int_eq(
	    command_parse(STR("a b"), "zh-TW", "zh-CN", a, &c), RC_OK);
	ck_assert_str_eq(c.locale, "zh-TW");
	ck_assert(str_eq(c.text, STR("ab")));
	arena_free(a);
}

TEST(bad_and_huge_commands_fail)
{
	struct arena *a = arena_new(4096);
	struct command c;
	char big[4096];

	memset(big, 'x', sizeof(big));
	ck_assert_int_eq(
	    command_parse(STR("\xff\xfe"), NULL, "zh-CN", a, &c), RC_INVALID);
	ck_assert_int_eq(command_parse((struct str){ big, sizeof(big) }, NULL,
			     "zh-CN", a, &c),
	    RC_TOOBIG);
	arena_free(a);
}

static const struct {
	const char *text, *parts; /* joined by | */
} splits[] = {
	{ "开灯", "开灯" },
	{ "开灯并且关窗", "开灯|关窗" },
	{ "开灯，关窗。点头！", "开灯|关窗|点头" },
	{ "开灯然后再关窗", "开灯|关窗" },
	{ "再见", "再见" },
	{ "开灯再见", "开灯再见" },
	{ "存1,000元", "存1,000元" },
	{ "1，开灯", "1|开灯" },
	{ "，，", "" },
	{ "turn on and then sit", "turn on|sit" },
	{ "brand new band", "brand new band" },
	{ "a, b; c", "a|b|c" },
};

static void
command_parse_at_noon(struct utterance *r, struct str text, const char *locale,
    const struct zone *zone, struct arena *a)
{
	struct datetime_now now = { .zone = zone };
	struct vocabulary *vocabulary = vocabulary_new();

	ck_assert_int_eq(
	    wall_parse(STR("2026-02-22T12:00:00+08:00"), &now.now), RC_OK);
	ck_assert_int_eq(
	    command_parse(text, locale, "zh-CN", a, &r->cmd), RC_OK);
	ck_assert_int_eq(utterance_parse(r, now, vocabulary, a), RC_OK);
	vocabulary_free(vocabulary);
}

TEST(commands_are_segmented)
{
	struct arena *a = arena_new(1 << 20);
	struct segment g[SEGMENT_MAX];
	struct utterance r = { 0 };
	struct zone *zone;
	size_t i, j, n;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	for (i = 0; i < NELEM(splits); i++) {
		struct str want = str_of(splits[i].parts);

		arena_reset(a);
		command_parse_at_noon(
		    &r, str_of(splits[i].text), NULL, zone, a);
		n = segment_split(&r, g);
		for (j = 0; j < n; j++) {
			struct str part = { r.cmd.text.p + g[j].start,
				g[j].end - g[j].start };

			ck_assert_msg(str_eq(str_split(&want, '|'), part),
			    "%s: part %zu is %.*s", splits[i].text, j,
			    STR_ARG(part));
		}
		ck_assert_msg(want.n == 0, "%s: misses %.*s", splits[i].text,
		    STR_ARG(want));
	}
	zone_free(zone);
	arena_free(a);
}

TEST(a_long_command_has_its_rest_in_the_last_segment)
{
	struct arena *a = arena_new(1 << 20);
	struct segment g[SEGMENT_MAX];
	struct utterance r = { 0 };
	struct zone *zone;
	char text[400];
	size_t i;

	ck_assert_int_eq(zone_load("Asia/Shanghai", &zone), RC_OK);
	for (i = 0; i < sizeof(text); i++)
		text[i] = i % 2 == 0 ? '1' : ';';
	command_parse_at_noon(
	    &r, (struct str){ text, sizeof(text) }, "zh-CN", zone, a);
	ck_assert_uint_eq(segment_split(&r, g), SEGMENT_MAX);
	ck_assert_uint_eq(g[SEGMENT_MAX - 1].end, r.cmd.text.n);
	zone_free(zone);
	arena_free(a);
}

/* A part of the command, and its source in the caller's text. */
static const struct {
	const char *raw, *part, *source;
} sources[] = {
	{ "帮我 开 灯", "开灯", "开 灯" },
	{ "１０分钟", "10", "１０" },
	{ "請幫我關燈", "關燈", "關燈" },
	{ "ﬁne  day", "fine d", "ﬁne  d" },
	{ "ab", "", "" },
};

TEST(parts_are_found_in_the_callers_text)
{
	struct arena *a = arena_new(1 << 20);
	struct command c;
	ptrdiff_t at;
	size_t i;

	for (i = 0; i < NELEM(sources); i++) {
		struct str part = str_of(sources[i].part);

		ck_assert_int_eq(
		    command_parse(str_of(sources[i].raw), NULL, "zh-CN", a, &c),
		    RC_OK);
		at = str_find(c.text, part);
		ck_assert_msg(
		    at >= 0, "%s: %.*s", sources[i].raw, STR_ARG(c.text));
		ck_assert_msg(
		    str_eq(command_source(&c, (size_t)at, (size_t)at + part.n),
			str_of(sources[i].source)),
		    "%s", sources[i].raw);
	}
	arena_free(a);
}
