/*
 * Cardinals of digits, of Han characters and of English words.
 */
#include "core/mem.h"
#include "zh/first_char.h"
#include "zh/lexer.h"

enum numeral_class { HAN_NONE, HAN_DIGIT, HAN_TENS, HAN_UNIT, HAN_BIG };

/* A Han numeral. */
struct numeral_char {
	enum numeral_class class;
	double value;
};

/* No unit yet: any is smaller. */
#define NO_UNIT 1e30

bool
numeral_is_digit(struct str s, size_t at)
{
	return at < s.n && s.p[at] >= '0' && s.p[at] <= '9';
}

bool
numeral_is_letter(struct str s, size_t at)
{
	return at < s.n &&
	    ((s.p[at] >= 'a' && s.p[at] <= 'z') ||
		(s.p[at] >= 'A' && s.p[at] <= 'Z'));
}

/* Of a first_char_key(), else HAN_NONE. */
static struct numeral_char
numeral_char_of(uint32_t key)
{
	switch (key) {
	case 0xe99bb6: /* 零 */
	case 0xe38087: /* 〇 */
		return (struct numeral_char){ HAN_DIGIT, 0 };
	case 0xe4b880: /* 一 */
	case 0xe5a3b9: /* 壹 */
		return (struct numeral_char){ HAN_DIGIT, 1 };
	case 0xe4ba8c: /* 二 */
	case 0xe8b4b0: /* 贰 */
	case 0xe8b2b3: /* 貳 */
	case 0xe4b8a4: /* 两 */
	case 0xe585a9: /* 兩 */
		return (struct numeral_char){ HAN_DIGIT, 2 };
	case 0xe4b889: /* 三 */
	case 0xe58f81: /* 叁 */
	case 0xe58f83: /* 參 */
	case 0xe58f84: /* 叄 */
		return (struct numeral_char){ HAN_DIGIT, 3 };
	case 0xe59b9b: /* 四 */
	case 0xe88286: /* 肆 */
		return (struct numeral_char){ HAN_DIGIT, 4 };
	case 0xe4ba94: /* 五 */
	case 0xe4bc8d: /* 伍 */
		return (struct numeral_char){ HAN_DIGIT, 5 };
	case 0xe585ad: /* 六 */
	case 0xe99986: /* 陆 */
	case 0xe999b8: /* 陸 */
		return (struct numeral_char){ HAN_DIGIT, 6 };
	case 0xe4b883: /* 七 */
	case 0xe69f92: /* 柒 */
		return (struct numeral_char){ HAN_DIGIT, 7 };
	case 0xe585ab: /* 八 */
	case 0xe68d8c: /* 捌 */
		return (struct numeral_char){ HAN_DIGIT, 8 };
	case 0xe4b99d: /* 九 */
	case 0xe78e96: /* 玖 */
		return (struct numeral_char){ HAN_DIGIT, 9 };
	case 0xe58d81: /* 十 */
	case 0xe68bbe: /* 拾 */
		return (struct numeral_char){ HAN_UNIT, 10 };
	case 0xe5bbbf: /* 廿 */
		return (struct numeral_char){ HAN_TENS, 20 };
	case 0xe58d85: /* 卅 */
		return (struct numeral_char){ HAN_TENS, 30 };
	case 0xe58d8c: /* 卌 */
		return (struct numeral_char){ HAN_TENS, 40 };
	case 0xe799be: /* 百 */
	case 0xe4bdb0: /* 佰 */
		return (struct numeral_char){ HAN_UNIT, 100 };
	case 0xe58d83: /* 千 */
	case 0xe4bb9f: /* 仟 */
		return (struct numeral_char){ HAN_UNIT, 1000 };
	case 0xe4b887: /* 万 */
	case 0xe890ac: /* 萬 */
		return (struct numeral_char){ HAN_BIG, 1e4 };
	case 0xe4babf: /* 亿 */
	case 0xe58484: /* 億 */
		return (struct numeral_char){ HAN_BIG, 1e8 };
	case 0xe58586: /* 兆 */
		return (struct numeral_char){ HAN_BIG, 1e12 };
	default:
		return (struct numeral_char){ HAN_NONE, 0 };
	}
}

/* The numeral character at at, else HAN_NONE. */
static struct numeral_char
numeral_char_at(struct str s, size_t at)
{
	return numeral_char_of(first_char_key(s, at));
}

bool
numeral_may_begin(struct str s, size_t at)
{
	return numeral_char_at(s, at).class != HAN_NONE;
}

int
numeral_digit(struct str s, size_t at)
{
	struct numeral_char h = numeral_char_at(s, at);

	return h.class == HAN_DIGIT ? (int)h.value : -1;
}

static bool
numeral_is_liang(struct str s, size_t at)
{
	return at + 3 <= s.n &&
	    (memcmp(s.p + at, "两", 3) == 0 || memcmp(s.p + at, "兩", 3) == 0);
}

/* ASCII digits, or a fraction without an integer part. */
static bool
numeral_is_ascii(struct str s, size_t at)
{
	return numeral_is_digit(s, at) ||
	    (at < s.n && s.p[at] == '.' && numeral_is_digit(s, at + 1));
}

/* Exactly three digits. */
static bool
numeral_is_thousands(struct str s, size_t at)
{
	return numeral_is_digit(s, at) && numeral_is_digit(s, at + 1) &&
	    numeral_is_digit(s, at + 2) && !numeral_is_digit(s, at + 3);
}

/* Digits, thousands separators, a fraction. */
static bool
numeral_parse_ascii(struct str s, size_t at, struct numeral *out)
{
	size_t pos = at, last = at + NUMERAL_CHARS_MAX;
	bool grouped = false;
	double scale = 1;

	*out = (struct numeral){ .is_ascii = true };
	for (; numeral_is_digit(s, pos) && pos < last; pos++) {
		out->value = out->value * 10 + (s.p[pos] - '0');
		out->digits++;
		if (out->digits <= 3 && pos + 1 < s.n && s.p[pos + 1] == ',' &&
		    numeral_is_thousands(s, pos + 2))
			grouped = true;
		if (grouped && pos + 1 < s.n && s.p[pos + 1] == ',' &&
		    numeral_is_thousands(s, pos + 2))
			pos++;
	}
	out->has_zero = out->digits > 1 && s.p[at] == '0';
	if (pos < s.n && s.p[pos] == '.' && numeral_is_digit(s, pos + 1)) {
		out->is_decimal = true;
		for (pos++; numeral_is_digit(s, pos) && pos < last; pos++) {
			scale /= 10;
			out->value += scale * (s.p[pos] - '0');
		}
	}
	if (grouped || out->is_decimal)
		out->digits = 0;
	out->end = pos;
	return out->value > 0 || pos > at;
}

/* Two Han digits or more with no unit after them: 二〇二六, 零五. */
static bool
numeral_parse_row(struct str s, size_t at, struct numeral *out)
{
	struct numeral_char h = numeral_char_at(s, at);
	size_t pos = at;

	*out = (struct numeral){ .has_zero = h.value < 1 };
	for (; h.class == HAN_DIGIT && !numeral_is_liang(s, pos) &&
	     out->digits < NUMERAL_CHARS_MAX;
	     h = numeral_char_at(s, pos)) {
		out->value = out->value * 10 + h.value;
		out->digits++;
		pos += 3;
	}
	out->end = pos;
	return out->digits > 1 &&
	    (h.class == HAN_NONE || h.class == HAN_DIGIT ||
		out->digits == NUMERAL_CHARS_MAX);
}

/* The running sum of digits and units. */
struct numeral_sum {
	double total;   /* of closed sections: …万, …亿 */
	double section; /* below 万 */
	double digit;   /* without its unit yet; < 0: none */
	double unit;    /* the last one of the section */
	double big;     /* the last big one */
	double over;    /* the unit just before, or 0: 三万五, 一百二 */
	bool plain;     /* the digit has several places: 3万500 */
};

static double
numeral_sum_tail(const struct numeral_sum *m)
{
	if (m->digit < 0)
		return 0;
	return m->over >= 100 && !m->plain ? m->digit * m->over / 10 : m->digit;
}

/* Without a digit before it: 十 is ten; 百, 千, 万 as in 百二, 千万. */
static bool
numeral_may_start(struct str s, size_t at, size_t start, double unit)
{
	struct numeral_char next;

	if (unit <= 10)
		return true;
	if (at != start)
		return false;
	next = numeral_char_at(s, at + 3);
	return (next.class == HAN_DIGIT && next.value > 0) ||
	    next.class == HAN_BIG;
}

static bool
numeral_sum_unit(struct numeral_sum *m, struct numeral_char h)
{
	double n = m->digit < 0 ? 1 : m->digit;

	if (h.value >= m->unit)
		return false;
	if (h.class == HAN_TENS) {
		if (m->digit >= 0 || m->unit <= 10)
			return false;
		m->section += h.value;
		m->unit = m->over = 10;
		return true;
	}
	m->section += n * h.value;
	m->digit = -1;
	m->unit = m->over = h.value;
	m->plain = false;
	return true;
}

static bool
numeral_sum_big(struct numeral_sum *m, struct numeral_char h)
{
	double n = m->section + numeral_sum_tail(m);

	if (h.value > m->big && n > 0) {
		/* 一万五千亿 */
		m->total = (m->total + n) * h.value;
		m->section = 0;
		m->digit = -1;
		m->unit = NO_UNIT;
		m->big = m->over = h.value;
		m->plain = false;
		return true;
	}
	if (h.value >= m->big) {
		/* 三万亿: multiplies the whole sum. */
		if (n > 0 || m->digit >= 0 || m->over != m->big)
			return false;
		m->total *= h.value;
		m->big = m->over = m->big * h.value;
		return true;
	}
	m->total += (n > 0 ? n : 1) * h.value;
	m->section = 0;
	m->digit = -1;
	m->unit = NO_UNIT;
	m->big = m->over = h.value;
	m->plain = false;
	return true;
}

/* Add the digit or digits at pos; false if none may follow. */
static bool
numeral_sum_digit(
    struct numeral_sum *m, struct str s, size_t *pos, struct numeral *out)
{
	struct numeral_char h = numeral_char_at(s, *pos), next;
	struct numeral n;

	if (h.class == HAN_NONE && numeral_is_ascii(s, *pos)) {
		if (m->digit >= 0 || !numeral_parse_ascii(s, *pos, &n))
			return false;
		m->digit = n.value;
		m->plain = n.digits != 1;
		*pos = n.end;
		return true;
	}
	if (h.value < 1) {
		next = numeral_char_at(s, *pos + 3);
		if (m->digit > 0 || next.class == HAN_BIG ||
		    (next.class == HAN_NONE && !numeral_is_digit(s, *pos + 3)))
			return false;
		m->over = 0;
		m->digit = -1;
		*pos += 3;
		return true;
	}
	if (m->digit >= 0)
		return false;
	m->digit = h.value;
	out->is_pair = out->is_pair || numeral_is_liang(s, *pos);
	*pos += 3;
	return true;
}

/* Digits with units: 三百六十五, 3万5, 1.2亿. */
static bool
numeral_parse_sum(struct str s, size_t at, struct numeral *out)
{
	struct numeral_sum m = { .digit = -1, .unit = NO_UNIT, .big = NO_UNIT };
	size_t pos = at, chars;

	*out = (struct numeral){ .is_ascii = numeral_is_ascii(s, at) };
	for (chars = 0; chars < NUMERAL_CHARS_MAX; chars++) {
		struct numeral_char h = numeral_char_at(s, pos);
		bool ok;

		if (h.class == HAN_NONE || h.class == HAN_DIGIT) {
			ok = (h.class == HAN_DIGIT ||
				 numeral_is_ascii(s, pos)) &&
			    numeral_sum_digit(&m, s, &pos, out);
			if (!ok)
				break;
			continue;
		}
		if (m.digit < 0 && m.section < 1 && m.total < 1 &&
		    h.class != HAN_TENS &&
		    !numeral_may_start(s, pos, at, h.value))
			break;
		ok = h.class == HAN_BIG ? numeral_sum_big(&m, h)
					: numeral_sum_unit(&m, h);
		if (!ok)
			break;
		pos += 3;
	}
	out->value = m.total + m.section + numeral_sum_tail(&m);
	out->digits = pos == at + 3 && m.digit >= 0;
	out->end = pos;
	return pos > at;
}

/* Enough for nine hundred and ninety-nine thousand and ninety-nine. */
#define WORDS_MAX 12

struct numeral_word_row {
	struct str text;
	int value;
};

static const struct numeral_word_row numeral_words[] = {
	{ STR_INIT("zero"), 0 },
	{ STR_INIT("one"), 1 },
	{ STR_INIT("two"), 2 },
	{ STR_INIT("three"), 3 },
	{ STR_INIT("four"), 4 },
	{ STR_INIT("five"), 5 },
	{ STR_INIT("six"), 6 },
	{ STR_INIT("seven"), 7 },
	{ STR_INIT("eight"), 8 },
	{ STR_INIT("nine"), 9 },
	{ STR_INIT("ten"), 10 },
	{ STR_INIT("eleven"), 11 },
	{ STR_INIT("twelve"), 12 },
	{ STR_INIT("thirteen"), 13 },
	{ STR_INIT("fourteen"), 14 },
	{ STR_INIT("fifteen"), 15 },
	{ STR_INIT("sixteen"), 16 },
	{ STR_INIT("seventeen"), 17 },
	{ STR_INIT("eighteen"), 18 },
	{ STR_INIT("nineteen"), 19 },
	{ STR_INIT("twenty"), 20 },
	{ STR_INIT("thirty"), 30 },
	{ STR_INIT("forty"), 40 },
	{ STR_INIT("fifty"), 50 },
	{ STR_INIT("sixty"), 60 },
	{ STR_INIT("seventy"), 70 },
	{ STR_INIT("eighty"), 80 },
	{ STR_INIT("ninety"), 90 },
	{ STR_INIT("hundred"), 100 },
	{ STR_INIT("thousand"), 1000 },
	{ STR_INIT("million"), 1000000 },
};

/* The value of the number word at at, which ends at *end; else -1. */
static int
numeral_word_at(struct str s, size_t at, size_t *end)
{
	size_t n = 0, i;

	while (n < 16 && numeral_is_letter(s, at + n))
		n++;
	if (n < 3)
		return -1;
	for (i = 0; i < NELEM(numeral_words); i++) {
		if (str_eq_nocase(
			(struct str){ s.p + at, n }, numeral_words[i].text)) {
			*end = at + n;
			return numeral_words[i].value;
		}
	}
	return -1;
}

/* Where the next word may begin: after a blank or a hyphen, and "and ". */
static size_t
numeral_next_word(struct str s, size_t at, bool with_and)
{
	struct str rest;

	if (at >= s.n || (s.p[at] != ' ' && s.p[at] != '-'))
		return s.n;
	at++;
	rest = (struct str){ s.p + at, s.n - at };
	if (with_and && str_starts(rest, STR("and ")))
		at += 4;
	return at;
}

/*
 * English number words: twenty five, a hundred and two.  They begin and end at
 * word boundaries.
 */
static bool
numeral_parse_words(struct str s, size_t at, struct numeral *out)
{
	double total = 0, part = 0;
	size_t pos = at, end = at;
	int last = 0, i;

	if (at > 0 && numeral_is_letter(s, at - 1))
		return false;
	for (i = 0; i < WORDS_MAX; i++) {
		int v = numeral_word_at(s, pos, &end);

		/* After twenty only one to nine; no number after a number. */
		if (v < 0 || (i == 0 && v >= 100) ||
		    (i > 0 && v < 100 && last < 100 &&
			(last < 20 || v == 0 || v > 9)))
			break;
		if (v >= 1000) {
			total += part * v;
			part = 0;
		} else {
			part = v == 100 ? part * 100 : part + v;
		}
		*out = (struct numeral){ .value = total + part, .end = end };
		last = v;
		pos = numeral_next_word(s, end, v >= 100);
	}
	return i > 0;
}

bool
numeral_parse(struct str s, size_t at, struct numeral *out)
{
	struct numeral n;
	struct numeral_char h;

	if (at >= s.n)
		return false;
	if (numeral_is_ascii(s, at)) {
		if (!numeral_parse_ascii(s, at, &n))
			return false;
		h = numeral_char_at(s, n.end);
		if (h.class == HAN_UNIT || h.class == HAN_BIG)
			(void)numeral_parse_sum(s, at, &n);
		*out = n;
		return true;
	}
	h = numeral_char_at(s, at);
	if (h.class == HAN_NONE)
		return numeral_is_letter(s, at) &&
		    numeral_parse_words(s, at, out);
	if (h.class == HAN_DIGIT && numeral_parse_row(s, at, out))
		return true;
	if (numeral_parse_sum(s, at, out))
		return true;
	if (h.class != HAN_DIGIT)
		return false;
	*out = (struct numeral){ .value = h.value, .end = at + 3, .digits = 1 };
	return true;
}

bool
numeral_fraction(struct str s, size_t at, double *dst, size_t *end)
{
	double value = 0, scale = 1;
	size_t pos = at, chars = 0;
	struct numeral_char h = { HAN_NONE, 0 };

	for (; chars < NUMERAL_CHARS_MAX; chars++) {
		double digit;

		h = numeral_char_at(s, pos);
		if (h.class == HAN_DIGIT && !numeral_is_liang(s, pos))
			digit = h.value;
		else if (numeral_is_digit(s, pos))
			digit = s.p[pos] - '0';
		else
			break;
		scale /= 10;
		value += digit * scale;
		pos += h.class == HAN_DIGIT ? 3 : 1;
	}
	if (chars == 0 || (h.class == HAN_UNIT && h.value < 100) ||
	    h.class == HAN_TENS)
		return false;
	*dst = value;
	*end = pos;
	return true;
}

double
numeral_scale(struct str s, size_t at, size_t *end)
{
	struct numeral_char h = numeral_char_at(s, at);

	if (h.class != HAN_BIG && (h.class != HAN_UNIT || h.value < 100))
		return 0;
	*end = at + 3;
	return h.value;
}
