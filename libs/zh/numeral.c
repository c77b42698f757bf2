/*
 * Cardinals of digits and of Han characters.
 */
#include "zh/numeral.h"

#include "core/mem.h"

enum han_class { HAN_NONE, HAN_DIGIT, HAN_TENS, HAN_UNIT, HAN_BIG };

struct han {
	const char *chars; /* three bytes each */
	enum han_class class;
	double value;
};

static const struct han hans[] = {
	{ "零〇", HAN_DIGIT, 0 },
	{ "一壹", HAN_DIGIT, 1 },
	{ "二贰貳两兩", HAN_DIGIT, 2 },
	{ "三叁參叄", HAN_DIGIT, 3 },
	{ "四肆", HAN_DIGIT, 4 },
	{ "五伍", HAN_DIGIT, 5 },
	{ "六陆陸", HAN_DIGIT, 6 },
	{ "七柒", HAN_DIGIT, 7 },
	{ "八捌", HAN_DIGIT, 8 },
	{ "九玖", HAN_DIGIT, 9 },
	{ "十拾", HAN_UNIT, 10 },
	{ "廿", HAN_TENS, 20 },
	{ "卅", HAN_TENS, 30 },
	{ "卌", HAN_TENS, 40 },
	{ "百佰", HAN_UNIT, 100 },
	{ "千仟", HAN_UNIT, 1000 },
	{ "万萬", HAN_BIG, 1e4 },
	{ "亿億", HAN_BIG, 1e8 },
	{ "兆", HAN_BIG, 1e12 },
};

/* No unit was read yet: any fits below it. */
#define NO_UNIT 1e30

static bool
is_digit(struct str s, size_t at)
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

/* The numeral character at at; HAN_NONE if it is none. */
static struct han
han_at(struct str s, size_t at)
{
	struct han none = { NULL, HAN_NONE, 0 };
	size_t i;
	const char *p;

	/* All of them are three bytes long and begin with E3 to E9. */
	if (at + 3 > s.n || (unsigned char)s.p[at] < 0xe3 ||
	    (unsigned char)s.p[at] > 0xe9)
		return none;
	for (i = 0; i < NELEM(hans); i++) {
		for (p = hans[i].chars; *p != '\0'; p += 3) {
			if (memcmp(p, s.p + at, 3) == 0)
				return (struct han){ s.p + at, hans[i].class,
					hans[i].value };
		}
	}
	return none;
}

static bool
is_pair(struct str s, size_t at)
{
	return at + 3 <= s.n &&
	    (memcmp(s.p + at, "两", 3) == 0 || memcmp(s.p + at, "兩", 3) == 0);
}

/* ASCII digits, or a fraction without any before it. */
static bool
is_number(struct str s, size_t at)
{
	return is_digit(s, at) ||
	    (at < s.n && s.p[at] == '.' && is_digit(s, at + 1));
}

/* Three digits and no fourth. */
static bool
is_group(struct str s, size_t at)
{
	return is_digit(s, at) && is_digit(s, at + 1) && is_digit(s, at + 2) &&
	    !is_digit(s, at + 3);
}

/* Digits, groups of thousands, a fraction. */
static bool
ascii_read(struct str s, size_t at, struct numeral *out)
{
	size_t pos = at, last = at + NUMERAL_CHARS_MAX;
	bool grouped = false;
	double scale = 1;

	*out = (struct numeral){ .is_ascii = true };
	for (; is_digit(s, pos) && pos < last; pos++) {
		out->value = out->value * 10 + (s.p[pos] - '0');
		out->digits++;
		if (out->digits <= 3 && pos + 1 < s.n && s.p[pos + 1] == ',' &&
		    is_group(s, pos + 2))
			grouped = true;
		if (grouped && pos + 1 < s.n && s.p[pos + 1] == ',' &&
		    is_group(s, pos + 2))
			pos++;
	}
	out->has_zero = out->digits > 1 && s.p[at] == '0';
	if (pos < s.n && s.p[pos] == '.' && is_digit(s, pos + 1)) {
		out->is_decimal = true;
		for (pos++; is_digit(s, pos) && pos < last; pos++) {
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
row_read(struct str s, size_t at, struct numeral *out)
{
	struct han h = han_at(s, at);
	size_t pos = at;

	*out = (struct numeral){ .has_zero = h.value < 1 };
	for (; h.class == HAN_DIGIT && !is_pair(s, pos) &&
	     out->digits < NUMERAL_CHARS_MAX;
	     h = han_at(s, pos)) {
		out->value = out->value * 10 + h.value;
		out->digits++;
		pos += 3;
	}
	out->end = pos;
	return out->digits > 1 &&
	    (h.class == HAN_NONE || h.class == HAN_DIGIT ||
		out->digits == NUMERAL_CHARS_MAX);
}

/* What has been read of digits and units. */
struct sum {
	double total;   /* of closed sections: …万, …亿 */
	double section; /* below 万 */
	double digit;   /* waits for its unit; < 0: none */
	double unit;    /* last one of the section */
	double big;     /* last big one */
	double over;    /* the unit just before, or 0: 三万五, 一百二 */
	bool plain;     /* the digit is of several places: 3万500 */
};

static double
sum_tail(const struct sum *m)
{
	if (m->digit < 0)
		return 0;
	return m->over >= 100 && !m->plain ? m->digit * m->over / 10 : m->digit;
}

/* Without a digit before it 十 is ten; 百, 千, 万 only lead: 百二, 千万. */
static bool
may_lead(struct str s, size_t at, size_t start, double unit)
{
	struct han next;

	if (unit <= 10)
		return true;
	if (at != start)
		return false;
	next = han_at(s, at + 3);
	return (next.class == HAN_DIGIT && next.value > 0) ||
	    next.class == HAN_BIG;
}

static bool
sum_unit(struct sum *m, struct han h)
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
sum_big(struct sum *m, struct han h)
{
	double n = m->section + sum_tail(m);

	if (h.value >= m->big) {
		/* 三万亿: of all that was read. */
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

/* A digit, or digits, at pos; false if none may stand there. */
static bool
sum_digit(struct sum *m, struct str s, size_t *pos, struct numeral *out)
{
	struct han h = han_at(s, *pos), next;
	struct numeral n;

	if (h.class == HAN_NONE && is_number(s, *pos)) {
		if (m->digit >= 0 || !ascii_read(s, *pos, &n))
			return false;
		m->digit = n.value;
		m->plain = n.digits != 1;
		*pos = n.end;
		return true;
	}
	if (h.value < 1) {
		next = han_at(s, *pos + 3);
		if (m->digit > 0 || next.class == HAN_NONE ||
		    next.class == HAN_BIG)
			return false;
		m->over = 0;
		m->digit = -1;
		*pos += 3;
		return true;
	}
	if (m->digit >= 0)
		return false;
	m->digit = h.value;
	out->is_pair = out->is_pair || is_pair(s, *pos);
	*pos += 3;
	return true;
}

/* Digits with units: 三百六十五, 3万5, 1.2亿. */
static bool
sum_read(struct str s, size_t at, struct numeral *out)
{
	struct sum m = { .digit = -1, .unit = NO_UNIT, .big = NO_UNIT };
	size_t pos = at, chars;

	*out = (struct numeral){ .is_ascii = is_number(s, at) };
	for (chars = 0; chars < NUMERAL_CHARS_MAX; chars++) {
		struct han h = han_at(s, pos);
		bool ok;

		if (h.class == HAN_NONE || h.class == HAN_DIGIT) {
			ok = (h.class == HAN_DIGIT || is_number(s, pos)) &&
			    sum_digit(&m, s, &pos, out);
			if (!ok)
				break;
			continue;
		}
		if (m.digit < 0 && m.section < 1 && m.total < 1 &&
		    h.class != HAN_TENS && !may_lead(s, pos, at, h.value))
			break;
		ok = h.class == HAN_BIG ? sum_big(&m, h) : sum_unit(&m, h);
		if (!ok)
			break;
		pos += 3;
	}
	out->value = m.total + m.section + sum_tail(&m);
	out->digits = pos == at + 3 && m.digit >= 0;
	out->end = pos;
	return pos > at;
}

bool
numeral_read(struct str s, size_t at, struct numeral *out)
{
	struct numeral n;
	struct han h;

	if (at >= s.n)
		return false;
	if (is_number(s, at)) {
		if (!ascii_read(s, at, &n))
			return false;
		h = han_at(s, n.end);
		if (h.class == HAN_UNIT || h.class == HAN_BIG)
			(void)sum_read(s, at, &n);
		*out = n;
		return true;
	}
	h = han_at(s, at);
	if (h.class == HAN_NONE)
		return numeral_is_letter(s, at) && numeral_word(s, at, out);
	if (h.class == HAN_DIGIT && row_read(s, at, out))
		return true;
	if (sum_read(s, at, out))
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
	struct han h = { NULL, HAN_NONE, 0 };

	for (; chars < NUMERAL_CHARS_MAX; chars++) {
		double digit;

		h = han_at(s, pos);
		if (h.class == HAN_DIGIT && !is_pair(s, pos))
			digit = h.value;
		else if (is_digit(s, pos))
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
	struct han h = han_at(s, at);

	if (h.class != HAN_BIG && (h.class != HAN_UNIT || h.value < 100))
		return 0;
	*end = at + 3;
	return h.value;
}
