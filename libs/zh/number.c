/*
 * Numbers made of cardinals: signs, decimals with 点, fractions, percentages,
 * ordinals, pairs and dozens.
 */
#include "zh/number.h"

#include <stdint.h>

#include "core/mem.h"
#include "zh/first_char.h"
#include "zh/lexer.h"

static void
number_set(struct number *out, enum number_kind kind, double value,
    size_t start, size_t end)
{
	*out = (struct number){
		.kind = kind, .value = value, .start = start, .end = end
	};
}

static bool
number_text_at(struct str s, size_t at, const char *text)
{
	return at <= s.n &&
	    str_starts((struct str){ s.p + at, s.n - at }, str_of(text));
}

/* The length of the first of texts that matches at at; 0 if none does. */
static size_t
number_any_at(struct str s, size_t at, const char *const *texts)
{
	for (; *texts != NULL; texts++) {
		if (number_text_at(s, at, *texts))
			return strlen(*texts);
	}
	return 0;
}

static const char *const number_points[] = { "点", "點", NULL };
static const char *const number_ge[] = { "个", "個", NULL };
static const char *const number_parts_of[] = { "分之", "份之", NULL };
static const char *const number_signs[] = { "负", "負", "零下", "minus ", "-",
	NULL };
static const char *const number_pair_words[] = { "对", "對", "双", "雙", NULL };
static const char *const number_two_words[] = { "俩", "倆", NULL };
static const char *const number_written_scales[] = { "拾", "佰", "仟", NULL };
static const char *const number_half_words[] = { "半个", "半個", "半", NULL };
/* 对 and 打 before these are not counters: 一对一, 一打开. */
static const char *const number_not_pair[] = { "一", "二", "两", "三", "四",
	"五", "我", "你", "他", "她", "它", "这", "那", "于", "着", "方", "待",
	"比", "不", "外", "面", "应", "立", "手", NULL };
static const char *const number_not_dozen[] = { "开", "開", "电", "電", "招",
	"断", "斷", "工", "听", "聽", "扫", "掃", "架", "球", "字", "折", "针",
	"印", "扰", "擾", "赌", "包", "车", "車", "卡", "击", "擊", "人", "破",
	"错", NULL };

/* ---- approximate amounts ---- */

/* 十, 百, 千, 万, 亿 at *at, as one factor; 1 if there is none. */
static double
number_parse_scales(struct str s, size_t *at)
{
	double all = 1, scale;

	if (number_text_at(s, *at, "十")) {
		all = 10;
		*at += 3;
	}
	while ((scale = numeral_scale(s, *at, at)) > 0)
		all *= scale;
	return all;
}

/* 几百, 好几千, 数十万: 几 stands for three. */
static bool
number_parse_several(struct str s, size_t at, struct numeral *n)
{
	static const char *const several[] = { "好几", "几", "数", NULL };
	size_t skip = number_any_at(s, at, several), end = at + skip;
	double scale;

	if (skip == 0)
		return false;
	scale = number_parse_scales(s, &end);
	if (scale <= 1)
		return false;
	*n = (struct numeral){ .value = 3 * scale, .end = end };
	return true;
}

/* 七八, 二三十, 十七八万: the lower one of two neighbours. */
static bool
number_parse_neighbours(struct str s, size_t at, struct numeral *n)
{
	int a = numeral_digit(s, at), b;
	size_t end;

	if (a < 0 && !number_text_at(s, at, "十"))
		return false;
	if (!numeral_parse(s, at, n) || n->is_ascii || n->is_decimal)
		return false;
	if (n->digits == 2 && a >= 1) {
		b = (int)n->value % 10;
		if (b != a + 1 && (a != 3 || b != 5))
			return false;
		n->value = a;
		n->digits = 1;
		return true;
	}
	if (n->value >= 100 || (int)n->value % 10 == 0)
		return false;
	a = (int)n->value % 10;
	b = numeral_digit(s, n->end);
	if (b != a + 1 && (a != 3 || b != 5 || n->value > 9))
		return false;
	end = n->end + 3;
	/* 三四五: a row of digits; 十七八十 */
	if (numeral_digit(s, end) >= 0 ||
	    (n->value > 9 && number_text_at(s, end, "十")))
		return false;
	n->value *= number_parse_scales(s, &end);
	n->end = end;
	n->digits = 0;
	return true;
}

/* 十几万, 五十多, 三百余, 百来: more than a round number. */
static void
number_parse_more(struct str s, struct numeral *n)
{
	static const char *const more[] = { "多", "余", NULL };
	static const char *const others[] = { "少", "么", "久", "亏", "谢",
		"长", "大", "远", "高", "了", "自", "到", "看", "说", "源",
		"临", "额", "下", NULL };
	size_t end = n->end;
	bool is_tens;

	if (n->value < 10 || n->value > 1e15 || (int64_t)n->value % 10 != 0 ||
	    n->is_decimal || n->digits > 3)
		return;
	is_tens = (int64_t)n->value % 100 != 0;
	if (number_text_at(s, end, "几十") && !is_tens) {
		n->value += 50;
		end += 3;
	} else if (number_text_at(s, end, "几") && is_tens)
		n->value += 5;
	else if (!number_text_at(s, end, "来") &&
	    number_any_at(s, end, more) == 0)
		return;
	end += 3;
	if (number_any_at(s, end, others) > 0)
		return;
	n->value *= number_parse_scales(s, &end);
	n->end = end;
	n->is_approximate = true;
}

/* 百来, 千把: about one of the unit. */
static bool
number_parse_about_unit(struct str s, size_t at, struct numeral *n)
{
	static const char *const about[] = { "来", "把", "十来", "余", NULL };
	size_t end = at, skip;
	double unit = numeral_scale(s, at, &end);

	if (unit <= 0)
		return false;
	skip = number_any_at(s, end, about);
	if (skip == 0)
		return false;
	*n = (struct numeral){ .value = unit, .end = end + skip };
	return true;
}

/* A cardinal with decimals after 点: 三点一四, 3点5万. */
static bool
number_parse_decimal(struct str s, size_t at, struct numeral *n)
{
	size_t point, end;
	double fraction, scale;

	if (number_parse_several(s, at, n) ||
	    number_parse_neighbours(s, at, n) ||
	    number_parse_about_unit(s, at, n)) {
		n->is_approximate = true;
		return true;
	}
	if (!numeral_parse(s, at, n))
		return false;
	number_parse_more(s, n);
	point = number_any_at(s, n->end, number_points);
	if (point == 0 || n->is_decimal ||
	    !numeral_fraction(s, n->end + point, &fraction, &end))
		return true;
	n->value += fraction;
	n->is_decimal = true;
	n->end = end;
	scale = numeral_scale(s, end, &end);
	while (scale > 0) {
		n->value *= scale;
		n->end = end;
		scale = numeral_scale(s, end, &end);
	}
	return true;
}

/* The suffixes k, K, M and G; m and g are units. */
static void
number_parse_letter(struct str s, struct number *out)
{
	double scale;

	if (out->end >= s.n || numeral_is_letter(s, out->end + 1))
		return;
	switch (s.p[out->end]) {
	case 'k':
	case 'K':
		scale = 1e3;
		break;
	case 'M':
		scale = 1e6;
		break;
	case 'G':
		scale = 1e9;
		break;
	default:
		return;
	}
	out->value *= scale;
	out->end++;
}

/* 2e3, 1.5e-3. */
static bool
number_parse_exponent(struct str s, struct number *out)
{
	size_t pos = out->end + 1;
	int exponent = 0, sign = 1, digits = 0;

	if (out->end >= s.n || (s.p[out->end] != 'e' && s.p[out->end] != 'E'))
		return false;
	if (pos < s.n && (s.p[pos] == '-' || s.p[pos] == '+'))
		sign = s.p[pos++] == '-' ? -1 : 1;
	for (; numeral_is_digit(s, pos) && digits < 3; digits++)
		exponent = exponent * 10 + (s.p[pos++] - '0');
	if (digits == 0 || digits > 2 || numeral_is_letter(s, pos) ||
	    numeral_is_digit(s, pos))
		return false;
	for (; exponent > 0; exponent--)
		out->value = sign > 0 ? out->value * 10 : out->value / 10;
	out->end = pos;
	return true;
}

/* N分之M, N/M, M%. */
static bool
number_parse_fraction(struct str s, const struct numeral *n, struct number *out)
{
	size_t skip = number_any_at(s, n->end, number_parts_of);
	struct numeral m;

	if (skip == 0 && n->digits > 0 && n->is_ascii &&
	    number_text_at(s, n->end, "/"))
		skip = 1;
	if (skip > 0 && n->value >= 1 &&
	    number_parse_decimal(s, n->end + skip, &m) &&
	    (skip > 1 || (m.digits > 0 && !number_text_at(s, m.end, "/")))) {
		out->end = m.end;
		out->kind = NUMBER_FRACTION;
		if (skip == 1)
			out->value = m.value > 0 ? n->value / m.value : 0;
		else
			out->value = m.value / n->value;
		return skip > 1 || m.value > 0;
	}
	skip = number_any_at(s, n->end,
	    (const char *const[]){ "%", " %", "个百分点", "％", NULL });
	if (skip == 0)
		return false;
	out->kind = NUMBER_PERCENT;
	out->value = n->value;
	out->end = n->end + skip;
	return true;
}

/* 三成, 三成五; 八折, 七五折: what is left of the price. */
static bool
number_parse_tenths(struct str s, const struct numeral *n, struct number *out)
{
	/* 成 and 折 before these begin a word: 三成为…, 五折叠. */
	static const char *const others[] = { "为", "了", "功", "员", "立",
		"本", "果", "长", "绩", "熟", "就", "分", "年", "人", "语",
		"品", "叠", "腾", "磨", "返", "断", "射", "纸", NULL };
	struct numeral m;

	if (n->value <= 0 || n->value >= 100 ||
	    number_any_at(s, n->end + 3, others) > 0)
		return false;
	if (number_text_at(s, n->end, "折")) {
		out->value = n->value < 10 ? n->value * 10 : n->value;
		out->end = n->end + 3;
	} else if (number_text_at(s, n->end, "成") && n->value <= 10) {
		out->value = n->value * 10;
		out->end = n->end + 3;
		if (number_text_at(s, out->end, "半")) {
			out->value += 5;
			out->end += 3;
		} else if (numeral_parse(s, out->end, &m) && m.value < 10 &&
		    m.digits == 1) {
			out->value += m.value;
			out->end = m.end;
		}
	} else {
		return false;
	}
	out->kind = NUMBER_PERCENT;
	return true;
}

/* 百分之N, a percentage; 千分之N, a fraction. */
static bool
number_parse_percent(struct str s, size_t at, struct number *out)
{
	static const char *const percent[] = { "百分之", "百份之", NULL };
	size_t skip = number_any_at(s, at, percent);
	struct numeral n = { .end = at };

	if (number_text_at(s, at, "百分百")) {
		number_set(out, NUMBER_PERCENT, 100, at, at + 9);
		return true;
	}
	if (number_text_at(s, at, "千分之") ||
	    number_text_at(s, at, "万分之")) {
		if (!number_parse_decimal(s, at + 9, &n))
			return false;
		n.value /= number_text_at(s, at, "千") ? 1e3 : 1e4;
		number_set(out, NUMBER_FRACTION, n.value, at, n.end);
		return true;
	}
	if (skip == 0)
		return false;
	if (number_text_at(s, at + skip, "百")) {
		n.value = 100;
		n.end = at + skip + 3;
	} else if (!number_parse_decimal(s, at + skip, &n)) {
		return false;
	}
	number_set(out, NUMBER_PERCENT, n.value, at, n.end);
	return true;
}

/* 一半, 半; 两个半 and 一又三分之一 are in number_parse_tail(). */
static bool
number_parse_half(struct str s, size_t at, struct number *out)
{
	size_t end = at, n;

	if (number_text_at(s, at, "一半"))
		end = at + 3;
	else if (number_text_at(s, at, "1半"))
		end = at + 1;
	n = number_any_at(s, end, number_half_words);
	if (n == 0)
		return false;
	n = 3;
	if (number_text_at(s, end + n, "半"))
		n += 3;
	number_set(out, NUMBER_FRACTION, .5, at, end + n);
	return true;
}

/* 三斤半, 五块半: the half of the measure belongs to the number. */
static void
number_parse_measured_half(struct str s, struct number *out)
{
	static const char *const measures[] = { "公斤", "千克", "公里", "厘米",
		"毫升", "斤", "克", "吨", "米", "里", "尺", "寸", "度", "块",
		"元", "毛", "倍", "碗", "杯", "瓶", "勺", "圈", "亩", "升",
		"页", "成", "级", NULL };
	static const char *const others[] = { "个", "天", "年", "月", "小",
		"分", "秒", "价", "点", "夜", "路", "空", "数", "径", NULL };
	size_t skip = number_any_at(s, out->end, measures), end;

	if (skip == 0 || !number_text_at(s, out->end + skip, "半"))
		return;
	end = out->end + skip + 3;
	if (number_any_at(s, end, others) > 0)
		return;
	out->value += .5;
	out->end = end;
}

/* Suffixes that change the value of a cardinal. */
static void
number_parse_tail(struct str s, const struct numeral *n, struct number *out)
{
	size_t ge = number_any_at(s, n->end, number_ge);
	struct numeral m;
	struct number part;

	if (ge > 0 && number_text_at(s, n->end + ge, "半")) {
		out->value += .5;
		out->end += ge + 3;
		return;
	}
	if (number_text_at(s, n->end, "又") &&
	    numeral_parse(s, n->end + 3, &m) &&
	    number_parse_fraction(s, &m, &part) &&
	    part.kind == NUMBER_FRACTION) {
		out->value += part.value;
		out->end = part.end;
		return;
	}
	ge = number_any_at(s, n->end, number_pair_words);
	if (ge > 0 && !n->is_ascii &&
	    number_any_at(s, n->end + ge, number_not_pair) == 0) {
		out->value *= 2;
		out->end += ge;
	} else if (number_text_at(s, n->end, "打") && !n->is_ascii &&
	    number_any_at(s, n->end + 3, number_not_dozen) == 0) {
		out->value *= 12;
		out->end += 3;
	} else if (n->is_ascii && !number_parse_exponent(s, out)) {
		number_parse_letter(s, out);
	} else {
		number_parse_measured_half(s, out);
	}
}

static const struct {
	struct str text;
	int value;
} number_ordinals[] = {
	{ STR_INIT("first"), 1 },
	{ STR_INIT("second"), 2 },
	{ STR_INIT("third"), 3 },
	{ STR_INIT("fourth"), 4 },
	{ STR_INIT("fifth"), 5 },
	{ STR_INIT("sixth"), 6 },
	{ STR_INIT("seventh"), 7 },
	{ STR_INIT("eighth"), 8 },
	{ STR_INIT("ninth"), 9 },
	{ STR_INIT("tenth"), 10 },
};

static bool
number_parse_ordinal(struct str s, size_t at, struct number *out)
{
	static const char *const ends[] = { "st", "nd", "rd", "th", NULL };
	struct numeral n;
	size_t i;

	if (number_text_at(s, at, "第")) {
		i = at + 3 + (number_text_at(s, at + 3, " ") ? 1 : 0);
		if (!numeral_parse(s, i, &n))
			return false;
		number_set(out, NUMBER_ORDINAL, n.value, at, n.end);
		return true;
	}
	for (i = 0; numeral_is_letter(s, at) && i < NELEM(number_ordinals);
	     i++) {
		size_t end = at + number_ordinals[i].text.n;

		if (end <= s.n && !numeral_is_letter(s, end) &&
		    str_eq_nocase((struct str){ s.p + at, end - at },
			number_ordinals[i].text)) {
			number_set(out, NUMBER_ORDINAL,
			    number_ordinals[i].value, at, end);
			return true;
		}
	}
	if (!numeral_parse(s, at, &n) || n.digits == 0 || !n.is_ascii ||
	    number_any_at(s, n.end, ends) == 0 ||
	    numeral_is_letter(s, n.end + 2))
		return false;
	number_set(out, NUMBER_ORDINAL, n.value, at, n.end + 2);
	return true;
}

/* Without a sign. */
static bool
number_parse_unsigned(struct str s, size_t at, struct number *out)
{
	struct numeral n;
	size_t skip;

	if (at >= s.n)
		return false;
	if (number_parse_percent(s, at, out) || number_parse_half(s, at, out) ||
	    number_parse_ordinal(s, at, out))
		return true;
	skip = number_any_at(s, at, number_two_words);
	if (skip > 0 || number_text_at(s, at, "仨")) {
		number_set(out, NUMBER_CARDINAL, skip > 0 ? 2 : 3, at, at + 3);
		return true;
	}
	if (!number_parse_decimal(s, at, &n))
		return false;
	number_set(out, NUMBER_CARDINAL, n.value, at, n.end);
	out->is_approximate = n.is_approximate;
	if (!number_parse_fraction(s, &n, out) &&
	    !number_parse_tenths(s, &n, out)) {
		number_set(out, NUMBER_CARDINAL, n.value, at, n.end);
		number_parse_tail(s, &n, out);
		out->is_approximate = n.is_approximate;
	}
	return true;
}

/* With a sign. */
static bool
number_parse_signed(struct str s, size_t at, struct number *out)
{
	size_t sign = number_any_at(s, at, number_signs), pos = at + sign;
	struct number n;

	if (sign > 0) {
		pos += number_text_at(s, pos, " ") ? 1 : 0;
		if (number_parse_unsigned(s, pos, &n) &&
		    n.kind != NUMBER_ORDINAL) {
			n.value = -n.value;
			n.start = at;
			*out = n;
			return true;
		}
	}
	return number_parse_unsigned(s, at, out);
}

static bool
number_ends_with_any(struct str s, size_t at, const char *const *texts)
{
	for (; *texts != NULL; texts++) {
		if (str_ends((struct str){ s.p, at }, str_of(*texts)))
			return true;
	}
	return false;
}

/* The length of 大约, 近 before a number; 0 if there is none. */
static size_t
number_about(struct str s, size_t at)
{
	static const char *const words[] = { "大约", "大概", "约莫", "差不多",
		"将近", "接近", "近", "约", "上", "about ", "around ",
		"nearly ", "almost ", "roughly ", "approximately ", NULL };
	static const char *const inside[] = { "最", "附", "远", "靠", "大",
		"预", "节", "条", "合", "违", "签", "邀", "晚", "早", "马",
		"以", "加", "网", "路", "桌", "床", "手", "身", "线", NULL };
	size_t skip = number_any_at(s, at, words), end = at + skip;

	if (skip == 0)
		return 0;
	if (numeral_is_letter(s, at))
		return at > 0 && numeral_is_letter(s, at - 1) ? 0 : skip;
	if (skip > 3)
		return skip + (number_text_at(s, end, "有") ? 3 : 0);
	/* 上百, but 上三 is not a number. */
	if (number_text_at(s, at, "上") && numeral_scale(s, end, &end) <= 0)
		return 0;
	return number_ends_with_any(s, at, inside) ? 0 : skip;
}

/* 上百, 上千万: at least one of the unit. */
static bool
number_parse_up_to(struct str s, size_t at, size_t end, struct number *out)
{
	double scale = number_parse_scales(s, &end);

	if (!number_text_at(s, at, "上") || scale < 100)
		return false;
	number_set(out, NUMBER_CARDINAL, scale, at, end);
	return true;
}

bool
number_at(struct str s, size_t at, struct number *out)
{
	static const char *const after[] = { "左右", "上下", "出头", NULL };
	size_t about = number_about(s, at);
	struct number n;

	if (about > 0 &&
	    (number_parse_up_to(s, at, at + about, &n) ||
		number_parse_signed(s, at + about, &n))) {
		n.start = at;
		n.is_approximate = true;
	} else if (!number_parse_signed(s, at, &n)) {
		return false;
	}
	if (number_any_at(s, n.end, after) > 0) {
		n.end += 6;
		n.is_approximate = true;
	}
	*out = n;
	return true;
}

/* Whether the byte before at ends a number or a Latin word. */
static bool
number_is_inside_word(struct str s, size_t at)
{
	return at > 0 &&
	    (numeral_is_letter(s, at - 1) ||
		(s.p[at - 1] >= '0' && s.p[at - 1] <= '9') ||
		s.p[at - 1] == '_');
}

/* The length of the text at at that contains no numeral. */
static size_t
number_skip(struct str s, size_t at)
{
	const struct word *w = NULL;
	struct numeral n;
	size_t end;
	double fraction;

	if ((unsigned char)s.p[at] >= 0x80 &&
	    first_char_may_begin(first_char_of_idioms, first_char_key(s, at)))
		w = lexicon_longest(&lexicon_idioms, s, at);
	/* 一点五亿 is a number, 一点 is a little. */
	if (w != NULL && number_any_at(s, at + 3, number_parts_of) > 0)
		w = NULL; /* 万分之一 */
	if (w != NULL && number_any_at(s, at + 3, number_points) > 0 &&
	    numeral_parse(s, at, &n) &&
	    numeral_fraction(s, n.end + 3, &fraction, &end))
		w = NULL;
	/* 伍 is a name, 伍佰 five hundred. */
	if (w != NULL && number_any_at(s, at + 3, number_written_scales) > 0 &&
	    strcmp(w->text, "伍") == 0)
		w = NULL;
	if (w != NULL)
		return strlen(w->text);
	if (number_is_inside_word(s, at))
		return 1;
	/* A hyphen between two numbers is not a sign. */
	if (s.p[at] == '-' && at > 0 && s.p[at - 1] != ' ')
		return 1;
	return 0;
}

/* Whether a number may begin at at; most characters begin none. */
static bool
number_may_begin(struct str s, size_t at)
{
	if ((unsigned char)s.p[at] < 0x80)
		return numeral_is_digit(s, at) || s.p[at] == '.' ||
		    s.p[at] == '-' ||
		    (numeral_is_letter(s, at) &&
			(at == 0 || !numeral_is_letter(s, at - 1)));
	switch (first_char_key(s, at)) {
	case 0xe7acac: /* 第 */
	case 0xe8b49f: /* 负 */
	case 0xe8b2a0: /* 負 */
	case 0xe58d8a: /* 半 */
	case 0xe4bfa9: /* 俩 */
	case 0xe58086: /* 倆 */
	case 0xe4bba8: /* 仨 */
	case 0xe587a0: /* 几 */
	case 0xe695b0: /* 数 */
	case 0xe5a5bd: /* 好 */
	case 0xe5a4a7: /* 大 */
	case 0xe7baa6: /* 约 */
	case 0xe8bf91: /* 近 */
	case 0xe5b086: /* 将 */
	case 0xe68ea5: /* 接 */
	case 0xe5b7ae: /* 差 */
	case 0xe4b88a: /* 上 */
		return true;
	default:
		return numeral_may_begin(s, at);
	}
}

size_t
number_find(struct str s, struct number *dst, size_t max)
{
	size_t at = 0, n = 0, skip;

	while (at < s.n && n < max) {
		skip = number_skip(s, at);
		if (skip == 0 && number_may_begin(s, at) &&
		    number_at(s, at, &dst[n])) {
			at = dst[n++].end;
			continue;
		}
		at += skip > 0 ? skip : 1;
		while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
			at++;
	}
	return n;
}
