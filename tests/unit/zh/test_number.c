/*
 * Numbers: value, kind and position.
 */
#include <math.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/number.h"

static const struct {
	const char *text, *numeral;
	double value;
	enum number_kind kind;
} cases[] = {
	{ "三千四百五十六", "三千四百五十六", 3456, NUMBER_CARDINAL },
	{ "3万5", "3万5", 35000, NUMBER_CARDINAL },
	{ "1.2亿", "1.2亿", 1.2e+08, NUMBER_CARDINAL },
	{ "三万五", "三万五", 35000, NUMBER_CARDINAL },
	{ "一百二", "一百二", 120, NUMBER_CARDINAL },
	{ "两千零五", "两千零五", 2005, NUMBER_CARDINAL },
	{ "半", "半", 0.5, NUMBER_FRACTION },
	{ "俩", "俩", 2, NUMBER_CARDINAL },
	{ "仨", "仨", 3, NUMBER_CARDINAL },
	{ "廿三", "廿三", 23, NUMBER_CARDINAL },
	{ "卅一", "卅一", 31, NUMBER_CARDINAL },
	{ "第七", "第七", 7, NUMBER_ORDINAL },
	{ "第12", "第12", 12, NUMBER_ORDINAL },
	{ "百分之五十", "百分之五十", 50, NUMBER_PERCENT },
	{ "50%", "50%", 50, NUMBER_PERCENT },
	{ "三分之一", "三分之一", 1. / 3, NUMBER_FRACTION },
	{ "三又二分之一", "三又二分之一", 3.5, NUMBER_CARDINAL },
	{ "一打鸡蛋", "一打", 12, NUMBER_CARDINAL },
	{ "三双袜子", "三双", 6, NUMBER_CARDINAL },
	{ "两个半", "两个半", 2.5, NUMBER_CARDINAL },
	{ "12.5", "12.5", 12.5, NUMBER_CARDINAL },
	{ "1,234,567", "1,234,567", 1234567, NUMBER_CARDINAL },
	{ "零下五度", "零下五", -5, NUMBER_CARDINAL },
	{ "负三", "负三", -3, NUMBER_CARDINAL },
	{ "-8", "-8", -8, NUMBER_CARDINAL },
	{ "3点14", "3点14", 3.14, NUMBER_CARDINAL },
	{ "三点一四", "三点一四", 3.14, NUMBER_CARDINAL },
	{ "五点五", "五点五", 5.5, NUMBER_CARDINAL },
	{ "打七五折", "七五折", 75, NUMBER_PERCENT },
	{ "三成五", "三成五", 35, NUMBER_PERCENT },
	{ "百分百", "百分百", 100, NUMBER_PERCENT },
	{ "千分之五", "千分之五", .005, NUMBER_FRACTION },
	{ "五又四分之三", "五又四分之三", 5.75, NUMBER_CARDINAL },
	{ "负三分之一", "负三分之一", -1. / 3, NUMBER_FRACTION },
	{ "百分之三十五点六", "百分之三十五点六", 35.6, NUMBER_PERCENT },
	{ "1亿2千万", "1亿2千万", 1.2e8, NUMBER_CARDINAL },
	{ "四万万", "四万万", 4e8, NUMBER_CARDINAL },
	{ "1.2万亿", "1.2万亿", 1.2e12, NUMBER_CARDINAL },
	{ "三成功", "三", 3, NUMBER_CARDINAL },
	{ "十万八千", "十万八千", 108000, NUMBER_CARDINAL },
	{ "一亿零五百", "一亿零五百", 100000500, NUMBER_CARDINAL },
	{ "三百六十五", "三百六十五", 365, NUMBER_CARDINAL },
	{ "二〇二六", "二〇二六", 2026, NUMBER_CARDINAL },
	{ "两百五", "两百五", 250, NUMBER_CARDINAL },
	{ "五千六", "五千六", 5600, NUMBER_CARDINAL },
	{ "100k", "100k", 100000, NUMBER_CARDINAL },
	{ "壹仟贰佰叁拾", "壹仟贰佰叁拾", 1230, NUMBER_CARDINAL },
	{ "兩萬三千", "兩萬三千", 23000, NUMBER_CARDINAL },
	{ "买3个苹果", "3", 3, NUMBER_CARDINAL },
	{ "twenty five", "twenty five", 25, NUMBER_CARDINAL },
	{ "one hundred and twenty", "one hundred and twenty", 120,
	    NUMBER_CARDINAL },
	{ "3rd", "3rd", 3, NUMBER_ORDINAL },
	{ "seventh", "seventh", 7, NUMBER_ORDINAL },
	{ "1/4", "1/4", 0.25, NUMBER_FRACTION },
	{ "一百一十一", "一百一十一", 111, NUMBER_CARDINAL },
	{ "一万亿", "一万亿", 1e+12, NUMBER_CARDINAL },
	{ "三兆", "三兆", 3e+12, NUMBER_CARDINAL },
};

TEST(one_number_is_found)
{
	size_t i;

	for (i = 0; i < NELEM(cases); i++) {
		struct str s = str_of(cases[i].text);
		struct number n[2], at;
		ptrdiff_t start = str_find(s, str_of(cases[i].numeral));

		ck_assert_msg(number_find(s, n, 2) == 1, "%s", cases[i].text);
		ck_assert_msg(n[0].start == (size_t)start &&
			n[0].end == (size_t)start + strlen(cases[i].numeral),
		    "%s: [%zu, %zu)", cases[i].text, n[0].start, n[0].end);
		ck_assert_msg(fabs(n[0].value - cases[i].value) <=
			1e-12 * fabs(cases[i].value),
		    "%s: %.17g", cases[i].text, n[0].value);
		ck_assert_msg(n[0].kind == cases[i].kind, "%s", cases[i].text);
		ck_assert(number_at(s, (size_t)start, &at));
		ck_assert_uint_eq(at.end, n[0].end);
	}
}

static const char *const lookalikes[] = {
	"mp3",
	"一起走",
	"千万别忘",
	"十分高兴",
	"收拾房间",
	"周三",
	"万一",
	"一样",
	"",
	"大陆",
	"参加",
	"一点儿",
	"十足",
	"_5a",
	"abc12",
	"半夜",
	"万岁",
};

TEST(lookalikes_are_not_numbers)
{
	struct number n[2];
	size_t i;

	for (i = 0; i < NELEM(lookalikes); i++)
		ck_assert_msg(number_find(str_of(lookalikes[i]), n, 2) == 0,
		    "%s: %g", lookalikes[i], n[0].value);
}

TEST(several_numbers_are_found)
{
	struct str s = STR("从3到五个, 再加一百二十, 第二次");
	struct number n[8];

	ck_assert_uint_eq(number_find(s, n, 8), 4);
	ck_assert_double_eq(n[0].value, 3);
	ck_assert_double_eq(n[1].value, 5);
	ck_assert_double_eq(n[2].value, 120);
	ck_assert_double_eq(n[3].value, 2);
	ck_assert_int_eq(n[3].kind, NUMBER_ORDINAL);
	ck_assert_uint_eq(number_find(s, n, 2), 2);
	ck_assert_uint_eq(number_find(s, n, 0), 0);
}

TEST(number_at_parses_only_its_position)
{
	struct str s = STR("abc一百");
	struct number n = { .value = -1 };

	ck_assert(!number_at(s, 0, &n));
	ck_assert(!number_at(s, s.n, &n));
	ck_assert(!number_at(s, s.n + 5, &n));
	ck_assert_double_eq(n.value, -1);
	ck_assert(number_at(s, 3, &n));
	ck_assert_double_eq(n.value, 100);
	/* Not inside a character. */
	ck_assert(!number_at(s, 4, &n));
}
