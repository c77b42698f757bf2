/*
 * What is built on cardinals: signs, decimals with 点, fractions, percentages,
 * ordinals, counts of pairs and dozens.
 */
#include "zh/number.h"

#include "core/mem.h"
#include "zh/numeral.h"

static bool
follows(struct str s, size_t at, const char *text)
{
	return at <= s.n &&
	    str_starts((struct str){ s.p + at, s.n - at }, str_of(text));
}

/* The length of the first of texts that stands at at; 0 if none does. */
static size_t
any_of(struct str s, size_t at, const char *const *texts)
{
	for (; *texts != NULL; texts++) {
		if (follows(s, at, *texts))
			return strlen(*texts);
	}
	return 0;
}

static const char *const points[] = { "点", "點", NULL };
static const char *const ges[] = { "个", "個", NULL };
static const char *const parts_of[] = { "分之", "份之", NULL };
static const char *const minus[] = { "负", "負", "零下", "minus ", "-", NULL };
static const char *const pairs[] = { "对", "對", "双", "雙", NULL };
static const char *const twos[] = { "俩", "倆", NULL };
static const char *const halves[] = { "半个", "半個", "半", NULL };
/* Words that 对 or 打 begin after a number: 一对一, 一打开. */
static const char *const not_pair[] = { "一", "二", "两", "三", "四", "五",
	"我", "你", "他", "她", "它", "这", "那", "于", "着", "方", "待", "比",
	"不", "外", "面", "应", "立", "手", NULL };
static const char *const not_dozen[] = { "开", "開", "电", "電", "招", "断",
	"斷", "工", "听", "聽", "扫", "掃", "架", "球", "字", "折", "针", "印",
	"扰", "擾", "赌", "包", "车", "車", "卡", "击", "擊", "人", "破", "错",
	NULL };

/* A cardinal with its decimals behind 点: 三点一四, 3点5万. */
static bool
decimal_read(struct str s, size_t at, struct numeral *n)
{
	size_t point, end;
	double fraction, scale;

	if (!numeral_read(s, at, n))
		return false;
	point = any_of(s, n->end, points);
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

/* k, and M and G, which are no small letters of other words. */
static void
read_letter(struct str s, struct number *out)
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
read_part(struct str s, const struct numeral *n, struct number *out)
{
	size_t skip = any_of(s, n->end, parts_of);
	struct numeral m;

	if (skip == 0 && n->digits > 0 && n->is_ascii &&
	    follows(s, n->end, "/"))
		skip = 1;
	if (skip > 0 && n->value >= 1 && decimal_read(s, n->end + skip, &m) &&
	    (skip > 1 || (m.digits > 0 && !follows(s, m.end, "/")))) {
		out->end = m.end;
		out->kind = NUMBER_FRACTION;
		if (skip == 1)
			out->value = m.value > 0 ? n->value / m.value : 0;
		else
			out->value = m.value / n->value;
		return skip > 1 || m.value > 0;
	}
	skip = any_of(s, n->end,
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
read_tenths(struct str s, const struct numeral *n, struct number *out)
{
	/* What 成 and 折 begin: 三成为…, 五折叠. */
	static const char *const others[] = { "为", "了", "功", "员", "立",
		"本", "果", "长", "绩", "熟", "就", "分", "年", "人", "语",
		"品", "叠", "腾", "磨", "返", "断", "射", "纸", NULL };
	struct numeral m;

	if (n->value <= 0 || n->value >= 100 ||
	    any_of(s, n->end + 3, others) > 0)
		return false;
	if (follows(s, n->end, "折")) {
		out->value = n->value < 10 ? n->value * 10 : n->value;
		out->end = n->end + 3;
	} else if (follows(s, n->end, "成") && n->value <= 10) {
		out->value = n->value * 10;
		out->end = n->end + 3;
		if (numeral_read(s, out->end, &m) && m.value < 10 &&
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

/* 百分之N, which is no fraction but a percentage. */
static bool
read_percent(struct str s, size_t at, struct number *out)
{
	static const char *const percent[] = { "百分之", "百份之", NULL };
	size_t skip = any_of(s, at, percent);
	struct numeral n = { .end = at };

	if (follows(s, at, "百分百")) {
		*out = (struct number){ NUMBER_PERCENT, 100, at, at + 9 };
		return true;
	}
	if (follows(s, at, "千分之") || follows(s, at, "万分之")) {
		if (!decimal_read(s, at + 9, &n))
			return false;
		n.value /= follows(s, at, "千") ? 1e3 : 1e4;
		*out = (struct number){ NUMBER_FRACTION, n.value, at, n.end };
		return true;
	}
	if (skip == 0)
		return false;
	if (follows(s, at + skip, "百")) {
		n.value = 100;
		n.end = at + skip + 3;
	} else if (!decimal_read(s, at + skip, &n)) {
		return false;
	}
	*out = (struct number){ NUMBER_PERCENT, n.value, at, n.end };
	return true;
}

/* 一半, 半; 两个半 and 一又三分之一 are in read_tail(). */
static bool
read_half(struct str s, size_t at, struct number *out)
{
	size_t end = at, n;

	if (follows(s, at, "一半"))
		end = at + 3;
	else if (follows(s, at, "1半"))
		end = at + 1;
	n = any_of(s, end, halves);
	if (n == 0)
		return false;
	n = 3;
	if (follows(s, end + n, "半"))
		n += 3;
	*out = (struct number){ NUMBER_FRACTION, .5, at, end + n };
	return true;
}

/* What may stand behind a cardinal and changes its value. */
static void
read_tail(struct str s, const struct numeral *n, struct number *out)
{
	size_t ge = any_of(s, n->end, ges);
	struct numeral m;
	struct number part;

	if (ge > 0 && follows(s, n->end + ge, "半")) {
		out->value += .5;
		out->end += ge + 3;
		return;
	}
	if (follows(s, n->end, "又") && numeral_read(s, n->end + 3, &m) &&
	    read_part(s, &m, &part) && part.kind == NUMBER_FRACTION) {
		out->value += part.value;
		out->end = part.end;
		return;
	}
	ge = any_of(s, n->end, pairs);
	if (ge > 0 && !n->is_ascii && any_of(s, n->end + ge, not_pair) == 0) {
		out->value *= 2;
		out->end += ge;
	} else if (follows(s, n->end, "打") && !n->is_ascii &&
	    any_of(s, n->end + 3, not_dozen) == 0) {
		out->value *= 12;
		out->end += 3;
	} else if (n->is_ascii) {
		read_letter(s, out);
	}
}

static const struct {
	struct str text;
	int value;
} ordinals[] = {
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
read_ordinal(struct str s, size_t at, struct number *out)
{
	static const char *const ends[] = { "st", "nd", "rd", "th", NULL };
	struct numeral n;
	size_t i;

	if (follows(s, at, "第")) {
		i = at + 3 + (follows(s, at + 3, " ") ? 1 : 0);
		if (!numeral_read(s, i, &n))
			return false;
		*out = (struct number){ NUMBER_ORDINAL, n.value, at, n.end };
		return true;
	}
	for (i = 0; numeral_is_letter(s, at) && i < NELEM(ordinals); i++) {
		size_t end = at + ordinals[i].text.n;

		if (end <= s.n && !numeral_is_letter(s, end) &&
		    str_eq_nocase(
			(struct str){ s.p + at, end - at }, ordinals[i].text)) {
			*out = (struct number){ NUMBER_ORDINAL,
				ordinals[i].value, at, end };
			return true;
		}
	}
	if (!numeral_read(s, at, &n) || n.digits == 0 || !n.is_ascii ||
	    any_of(s, n.end, ends) == 0 || numeral_is_letter(s, n.end + 2))
		return false;
	*out = (struct number){ NUMBER_ORDINAL, n.value, at, n.end + 2 };
	return true;
}

/* Without a sign. */
static bool
unsigned_at(struct str s, size_t at, struct number *out)
{
	struct numeral n;
	size_t skip;

	if (at >= s.n)
		return false;
	if (read_percent(s, at, out) || read_half(s, at, out) ||
	    read_ordinal(s, at, out))
		return true;
	skip = any_of(s, at, twos);
	if (skip > 0 || follows(s, at, "仨")) {
		*out = (struct number){ NUMBER_CARDINAL, skip > 0 ? 2 : 3, at,
			at + 3 };
		return true;
	}
	if (!decimal_read(s, at, &n))
		return false;
	*out = (struct number){ NUMBER_CARDINAL, n.value, at, n.end };
	if (!read_part(s, &n, out) && !read_tenths(s, &n, out)) {
		*out = (struct number){ NUMBER_CARDINAL, n.value, at, n.end };
		read_tail(s, &n, out);
	}
	return true;
}

bool
number_at(struct str s, size_t at, struct number *out)
{
	size_t sign = any_of(s, at, minus), pos = at + sign;
	struct number n;

	if (sign > 0) {
		pos += follows(s, pos, " ") ? 1 : 0;
		if (unsigned_at(s, pos, &n) && n.kind != NUMBER_ORDINAL) {
			n.value = -n.value;
			n.start = at;
			*out = n;
			return true;
		}
	}
	return unsigned_at(s, at, out);
}

/* Words that begin like a numeral and are none, longest first. */
static const char *const idioms[] = { "一点儿", "一点点", "一点也", "一点都",
	"一会儿", "一会", "一下子", "一下", "一起", "一样", "一樣", "一定",
	"一直", "一切", "一些", "一般", "一旦", "一向", "一边", "一邊", "一致",
	"一律", "一共", "一路", "一生", "一同", "一再", "一时", "一度", "一味",
	"一带", "一流", "一点", "一點", "一天到晚", "万一", "萬一", "万岁",
	"万能", "千万别", "千萬別", "千万不", "千万要", "千万记", "三明治",
	"三心二意", "三角", "四季", "四川", "四处", "四周", "五官", "五金",
	"六神", "七夕", "八卦", "八成", "九州", "十分高", "十分感", "十分重",
	"十分满", "十分开", "十分喜", "十分好", "十足", "百货", "百科", "百般",
	"百姓", "千方百计", "乱七八糟", "半天", "半夜", "半路", "星期一",
	"星期二", "星期三", "星期四", "星期五", "星期六", "周一", "周二",
	"周三", "周四", "周五", "周六", "礼拜一", "礼拜二", "礼拜三", "礼拜四",
	"礼拜五", "礼拜六", "陆地", "大陆", "陆军", "陆续", "伍", "放肆",
	"收拾", "参", NULL };

/* Whether the byte before at ends a number or a Latin word. */
static bool
is_inside(struct str s, size_t at)
{
	return at > 0 &&
	    (numeral_is_letter(s, at - 1) ||
		(s.p[at - 1] >= '0' && s.p[at - 1] <= '9') ||
		s.p[at - 1] == '_');
}

/* What stands at at and holds no numeral; its length. */
static size_t
passed_over(struct str s, size_t at)
{
	size_t n = 0;

	if ((unsigned char)s.p[at] >= 0x80)
		n = any_of(s, at, idioms);
	if (n > 0)
		return n;
	if (is_inside(s, at))
		return 1;
	/* A hyphen between two numbers is no sign. */
	if (s.p[at] == '-' && at > 0 && s.p[at - 1] != ' ')
		return 1;
	return 0;
}

size_t
number_find(struct str s, struct number *dst, size_t max)
{
	size_t at = 0, n = 0, skip;

	while (at < s.n && n < max) {
		skip = passed_over(s, at);
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
