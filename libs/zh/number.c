/*
 * Numbers made of cardinals: signs, decimals with 点, fractions, percentages,
 * ordinals, pairs and dozens.
 */
#include "zh/number.h"

#include "core/mem.h"
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
static const char *const number_half_words[] = { "半个", "半個", "半", NULL };
/* 对 and 打 before these are not counters: 一对一, 一打开. */
static const char *const number_not_pair[] = { "一", "二", "两", "三", "四",
	"五", "我", "你", "他", "她", "它", "这", "那", "于", "着", "方", "待",
	"比", "不", "外", "面", "应", "立", "手", NULL };
static const char *const number_not_dozen[] = { "开", "開", "电", "電", "招",
	"断", "斷", "工", "听", "聽", "扫", "掃", "架", "球", "字", "折", "针",
	"印", "扰", "擾", "赌", "包", "车", "車", "卡", "击", "擊", "人", "破",
	"错", NULL };

/* A cardinal with decimals after 点: 三点一四, 3点5万. */
static bool
number_parse_decimal(struct str s, size_t at, struct numeral *n)
{
	size_t point, end;
	double fraction, scale;

	if (!numeral_parse(s, at, n))
		return false;
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
		if (numeral_parse(s, out->end, &m) && m.value < 10 &&
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
	} else if (n->is_ascii) {
		number_parse_letter(s, out);
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
			number_set(out, NUMBER_ORDINAL, number_ordinals[i].value, at, end);
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
	if (!number_parse_fraction(s, &n, out) &&
	    !number_parse_tenths(s, &n, out)) {
		number_set(out, NUMBER_CARDINAL, n.value, at, n.end);
		number_parse_tail(s, &n, out);
	}
	return true;
}

bool
number_at(struct str s, size_t at, struct number *out)
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

/* Words that begin with a numeral and do not count, longest first. */
static const char *const number_idioms[] = { "一点儿", "一点点", "一点也",
	"一点都", "一会儿", "一会", "一下子", "一下", "一起", "一样", "一樣",
	"一定", "一直", "一切", "一些", "一般", "一旦", "一向", "一边", "一邊",
	"一致", "一律", "一共", "一路", "一生", "一同", "一再", "一时", "一度",
	"一味", "一带", "一流", "一点", "一點", "一天到晚", "万一", "萬一",
	"万岁", "万能", "千万别", "千萬別", "千万不", "千万要", "千万记",
	"三明治", "三心二意", "三角", "四季", "四川", "四处", "四周", "五官",
	"五金", "六神", "七夕", "八卦", "八成", "九州", "十分高", "十分感",
	"十分重", "十分满", "十分开", "十分喜", "十分好", "十足", "百货",
	"百科", "百般", "百姓", "千方百计", "乱七八糟", "半天", "半夜", "半路",
	"星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "周一",
	"周二", "周三", "周四", "周五", "周六", "礼拜一", "礼拜二", "礼拜三",
	"礼拜四", "礼拜五", "礼拜六", "陆地", "大陆", "陆军", "陆续", "伍",
	"放肆", "收拾", "参", NULL };

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
	size_t n = 0;

	if ((unsigned char)s.p[at] >= 0x80)
		n = number_any_at(s, at, number_idioms);
	if (n > 0)
		return n;
	if (number_is_inside_word(s, at))
		return 1;
	/* A hyphen between two numbers is not a sign. */
	if (s.p[at] == '-' && at > 0 && s.p[at - 1] != ' ')
		return 1;
	return 0;
}

size_t
number_find(struct str s, struct number *dst, size_t max)
{
	size_t at = 0, n = 0, skip;

	while (at < s.n && n < max) {
		skip = number_skip(s, at);
		if (skip == 0 && number_at(s, at, &dst[n])) {
			at = dst[n++].end;
			continue;
		}
		at += skip > 0 ? skip : 1;
		while (at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
			at++;
	}
	return n;
}
