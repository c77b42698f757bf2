/*
 * Normalising, segmenting, durations.
 */
#include "command.h"
#include "core/arena.h"
#include "core/mem.h"
#include "duration.h"
#include "kit/kit.h"
#include "segment.h"

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

KIT_TEST(commands_are_normalised)
{
	struct arena *a = arena_new(65536);
	struct command c;
	size_t i;

	for (i = 0; i < NELEM(commands); i++) {
		ck_assert_int_eq(
		    command_read(str_of(commands[i].raw), NULL, "zh-CN", a, &c),
		    RC_OK);
		ck_assert_msg(str_eq(c.text, str_of(commands[i].text)),
		    "%s: %.*s", commands[i].raw, STR_ARG(c.text));
		ck_assert_str_eq(c.locale, commands[i].locale);
		ck_assert_uint_eq(c.text.n, c.folded.n);
	}
	arena_free(a);
}

KIT_TEST(a_given_locale_is_kept)
{
	struct arena *a = arena_new(65536);
	struct command c;

	ck_assert_int_eq(
	    command_read(STR("a b"), "zh-TW", "zh-CN", a, &c), RC_OK);
	ck_assert_str_eq(c.locale, "zh-TW");
	ck_assert(str_eq(c.text, STR("ab")));
	arena_free(a);
}

KIT_TEST(bad_and_huge_commands_fail)
{
	struct arena *a = arena_new(64);
	struct command c;
	char big[4096];

	memset(big, 'x', sizeof(big));
	ck_assert_int_eq(
	    command_read(STR("\xff\xfe"), NULL, "zh-CN", a, &c), RC_INVALID);
	ck_assert_int_eq(command_read((struct str){ big, sizeof(big) }, NULL,
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

KIT_TEST(commands_are_segmented)
{
	struct arena *a = arena_new(65536);
	struct segment g[SEGMENT_MAX];
	struct command c;
	size_t i, j, n;

	for (i = 0; i < NELEM(splits); i++) {
		struct str want = str_of(splits[i].parts);

		ck_assert_int_eq(
		    command_read(str_of(splits[i].text), NULL, "zh-CN", a, &c),
		    RC_OK);
		n = segment_split(&c, g);
		for (j = 0; j < n; j++) {
			struct str part = { c.text.p + g[j].start,
				g[j].end - g[j].start };

			ck_assert_msg(str_eq(str_cut(&want, '|'), part),
			    "%s: part %zu is %.*s", splits[i].text, j,
			    STR_ARG(part));
		}
		ck_assert_msg(want.n == 0, "%s: misses %.*s", splits[i].text,
		    STR_ARG(want));
	}
	arena_free(a);
}

KIT_TEST(a_long_command_keeps_its_rest)
{
	struct arena *a = arena_new(65536);
	struct segment g[SEGMENT_MAX];
	struct command c;
	char text[400];
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = i % 2 == 0 ? '1' : ';';
	ck_assert_int_eq(command_read((struct str){ text, sizeof(text) },
			     "zh-CN", "zh-CN", a, &c),
	    RC_OK);
	ck_assert_uint_eq(segment_split(&c, g), SEGMENT_MAX);
	ck_assert_uint_eq(g[SEGMENT_MAX - 1].end, c.text.n);
	arena_free(a);
}

static const struct {
	const char *text;
	size_t count;
	double first;
} durations[] = {
	{ "10分钟后", 1, 600 },
	{ "1.5小时", 1, 5400 },
	{ "2 hours and 30 min", 2, 7200 },
	{ "3天", 1, 259200 },
	{ "7 days", 1, 604800 },
	{ "10", 0, 0 },
	{ "10米", 0, 0 },
	{ "1.2.3秒", 1, 3 },
	{ "99999999999999999999秒", 0, 0 },
	{ "", 0, 0 },
};

KIT_TEST(durations_are_found)
{
	struct duration d;
	size_t i;

	for (i = 0; i < NELEM(durations); i++) {
		struct str s = str_of(durations[i].text);

		ck_assert_msg(duration_count(s) == durations[i].count,
		    "%s: %zu", durations[i].text, duration_count(s));
		if (duration_find(s, 0, &d))
			ck_assert_double_eq(d.seconds, durations[i].first);
	}
}
