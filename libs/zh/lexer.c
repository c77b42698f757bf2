/*
 * The lexer: words of the lexicon, numerals, and literals of ASCII digits
 * (8:30, 2026-03-05) become tokens.
 */
#include "zh/lexer.h"

#include "core/mem.h"
#include "zh/first_char.h"
#include "zh/hanzi.h"

/* Folded bytes before the first token, for token_scan_before(). */
#define BEFORE_MAX 64

/* Parse up to max ASCII digits at *at; returns how many. */
static int
token_digits_at(struct str s, size_t *at, int max, int *value)
{
	int n = 0;

	for (*value = 0; n < max && numeral_is_digit(s, *at); n++)
		*value = *value * 10 + (s.p[(*at)++] - '0');
	return n;
}

/* H:MM, H:MM:SS. */
static bool
token_clock_literal(struct str s, size_t at, struct token *t)
{
	int h, m, sec = 0, n;
	size_t pos = at, end;

	n = token_digits_at(s, &pos, 2, &h);
	if (n == 0 || pos >= s.n || s.p[pos] != ':')
		return false;
	pos++;
	if (token_digits_at(s, &pos, 2, &m) != 2 || numeral_is_digit(s, pos) ||
	    h > 24 || m > 59)
		return false;
	t->x = 0;
	end = pos + 1;
	if (pos < s.n && s.p[pos] == ':' &&
	    token_digits_at(s, &end, 2, &sec) == 2 &&
	    !numeral_is_digit(s, end) && sec < 60) {
		t->x = 1;
		pos = end;
	} else {
		sec = 0;
	}
	t->type = TOK_CLOCK;
	t->v = h * 3600 + m * 60 + sec;
	t->w = h > 12 || h == 0 || (n == 2 && s.p[at] == '0');
	t->end = pos;
	return true;
}

/* A fraction of a second, and z, +08:00, -0530: of a clock time after a t. */
static void
token_clock_zone(struct str s, struct token *t)
{
	size_t pos = t->end;
	int h, m = 0, sign;

	if (t->x == 1 && pos + 1 < s.n && s.p[pos] == '.' &&
	    numeral_is_digit(s, pos + 1)) {
		for (pos++; numeral_is_digit(s, pos); pos++)
			continue;
		t->end = pos;
	}
	t->w = 1;
	if (pos < s.n && s.p[pos] == 'z' && !numeral_is_letter(s, pos + 1)) {
		t->is_zoned = true;
		t->num = 0;
		t->end = pos + 1;
		return;
	}
	if (pos >= s.n || (s.p[pos] != '+' && s.p[pos] != '-'))
		return;
	sign = s.p[pos++] == '-' ? -1 : 1;
	if (token_digits_at(s, &pos, 2, &h) != 2 || h > 14)
		return;
	pos += pos < s.n && s.p[pos] == ':';
	if (numeral_is_digit(s, pos) &&
	    (token_digits_at(s, &pos, 2, &m) != 2 || m > 59))
		return;
	t->is_zoned = true;
	t->num = sign * (h * 60 + m);
	t->end = pos;
}

static bool
token_date_is_valid(int y, int m, int d)
{
	return y >= 0 && m >= 1 && m <= 12 && d >= 1 && d <= 31;
}

static bool
token_set_date(struct token *t, int y, int m, int d, size_t end)
{
	if (!token_date_is_valid(y, m, d))
		return false;
	t->type = TOK_DATE;
	t->x = y;
	t->v = m;
	t->w = d;
	t->end = end;
	return true;
}

/* The word at at is 年, 个, a unit, 点: the digits before it count. */
static bool
token_is_counted(struct str s, size_t at)
{
	const struct word *w = at < s.n ? lexicon_find(s, at) : NULL;

	return numeral_is_letter(s, at) ||
	    (at < s.n && (s.p[at] == '%' || s.p[at] == ':')) ||
	    (w != NULL &&
		(w->type == TOK_UNIT || w->type == TOK_GE ||
		    w->type == TOK_OCLOCK || w->type == TOK_HAO ||
		    w->type == TOK_BELL));
}

/* YYYYMMDD; YYYYMM if it is all of the text. */
static bool
token_date_row(struct str s, size_t at, struct token *t)
{
	size_t pos = at;
	int y, m, d = 0, n = 4;

	if (at > 0 && (numeral_is_letter(s, at - 1) || s.p[at - 1] == '_'))
		return false;
	if (token_digits_at(s, &pos, 4, &y) != 4 || y < 1900 || y > 2199)
		return false;
	n += token_digits_at(s, &pos, 2, &m);
	n += token_digits_at(s, &pos, 2, &d);
	if ((n != 8 && (n != 6 || at != 0 || pos != s.n)) ||
	    numeral_is_digit(s, pos) || numeral_is_letter(s, pos) || m < 1 ||
	    m > 12 || (n == 8 && (d < 1 || d > 31)) || token_is_counted(s, pos))
		return false;
	t->type = TOK_DATE;
	t->x = y;
	t->v = m;
	t->w = d;
	t->end = pos;
	return true;
}

/* YYYY-MM, YYYY.M; MM-DD with a leading zero; M/D. */
static bool
token_date_pair(
    struct str s, size_t at, size_t sep, size_t end, struct token *t)
{
	size_t pos = at;
	int a, b, na = token_digits_at(s, &pos, 4, &a);
	char c = s.p[sep];

	pos = sep + 1;
	(void)token_digits_at(s, &pos, 2, &b);
	if (na == 4) {
		if (a < 1900 || a > 2199 || b < 1 || b > 12 ||
		    token_is_counted(s, end))
			return false;
		t->type = TOK_DATE;
		t->x = a;
		t->v = b;
		t->w = 0;
		t->end = end;
		return true;
	}
	if (na > 2)
		return false;
	if (c == '/')
		return token_set_date(t, 0, a, b, end);
	return c == '-' && (s.p[at] == '0' || s.p[sep + 1] == '0') && na == 2 &&
	    end == sep + 3 && !token_is_counted(s, end) &&
	    token_set_date(t, 0, a, b, end);
}

/* YYYY-MM-DD, YYYY/M/D, YYYY.M.D, M/D/YYYY, M/D/YY, and shorter ones. */
static bool
token_date_literal(struct str s, size_t at, struct token *t)
{
	int a, b, c, na, nc;
	size_t pos = at, end, first;
	char sep;

	if (token_date_row(s, at, t))
		return true;
	na = token_digits_at(s, &pos, 4, &a);
	sep = pos < s.n ? s.p[pos] : '\0';
	if (numeral_is_digit(s, pos) ||
	    (sep != '-' && sep != '/' && sep != '.'))
		return false;
	first = pos;
	pos++;
	if (token_digits_at(s, &pos, 2, &b) == 0 || numeral_is_digit(s, pos))
		return false;
	end = pos;
	if (pos + 1 < s.n && s.p[pos] == sep && numeral_is_digit(s, pos + 1)) {
		pos++;
		nc = token_digits_at(s, &pos, 4, &c);
		if (nc > 0 && !numeral_is_digit(s, pos)) {
			if (na == 4 && nc <= 2)
				return token_set_date(t, a, b, c, pos);
			if (na <= 2 && nc == 4 && sep != '.')
				return a > 12 ? token_set_date(t, c, b, a, pos)
					      : token_set_date(t, c, a, b, pos);
			if (na <= 2 && nc == 2 && sep == '/')
				return token_set_date(
				    t, c + (c < 70 ? 2000 : 1900), a, b, pos);
		}
		return false;
	}
	return token_date_pair(s, at, first, end, t);
}

/* 4.5, 11.20: what the decimal would be as month and day; else 0. */
static int
token_month_day(struct str s, size_t at, size_t end)
{
	size_t pos = at;
	int m, d;

	if (token_digits_at(s, &pos, 2, &m) == 0 || pos >= s.n ||
	    s.p[pos] != '.')
		return 0;
	pos++;
	if (token_digits_at(s, &pos, 2, &d) == 0 || pos != end ||
	    !token_date_is_valid(0, m, d))
		return 0;
	return m * 100 + d;
}

/* Bytes of the UTF-8 character at at; 1 if it is invalid. */
static size_t
token_char_bytes(struct str s, size_t at)
{
	size_t pos = at;

	return str_utf8_next(s, &pos) < 0 ? 1 : pos - at;
}

static void
token_set_numeral(
    struct token *t, const struct numeral *n, enum token_type type)
{
	t->type = type;
	t->num = n->value;
	t->digits = n->digits;
	t->is_ascii = n->is_ascii;
	t->is_pair = n->is_pair;
	t->is_decimal = n->is_decimal;
	t->has_zero = n->has_zero;
	t->end = n->end;
}

static inline bool
token_text_at(struct str s, size_t at, const char *text)
{
	return at < s.n &&
	    str_starts((struct str){ s.p + at, s.n - at }, str_of(text));
}

/* 三分之一; and 3rd, 5th. */
static void
token_numeral_suffix(struct str s, struct token *t)
{
	static const char *const ends[] = { "st", "nd", "rd", "th" };
	struct numeral n;
	size_t i;

	if (token_text_at(s, t->end, "分之") && t->num >= 1 &&
	    numeral_parse(s, t->end + 6, &n)) {
		n.value /= t->num;
		n.is_decimal = true;
		token_set_numeral(t, &n, TOK_NUM);
		return;
	}
	for (i = 0; t->is_ascii && i < NELEM(ends); i++) {
		if (token_text_at(s, t->end, ends[i]) &&
		    !numeral_is_letter(s, t->end + 2)) {
			t->type = TOK_ORDINAL;
			t->end += 2;
			return;
		}
	}
}

/* The weekday at at, 1 to 7, which ends at *end; 0 if there is none. */
static int
token_weekday_at(struct str s, size_t at, size_t *end)
{
	static const char *const names[] = { "一", "二", "三", "四", "五", "六",
		"日", "天" };
	size_t i;

	for (i = 0; i < NELEM(names); i++) {
		if (token_text_at(s, at, names[i])) {
			*end = at + 3;
			return i < 7 ? (int)i + 1 : 7;
		}
	}
	if (at < s.n && s.p[at] >= '1' && s.p[at] <= '7' &&
	    !numeral_is_digit(s, at + 1)) {
		*end = at + 1;
		return s.p[at] - '0';
	}
	return 0;
}

/* Whether the numeral before at has a unit of its own: 周三|三点. */
static bool
token_is_counter(struct str s, size_t at)
{
	static const char *const units[] = { "点", "时", "分", "刻", "十", "百",
		"个", "月", "号", "日", "天", "年", "小时", "点钟", "秒", "次",
		":", "节" };
	size_t i;

	for (i = 0; i < NELEM(units); i++) {
		if (token_text_at(s, at, units[i]))
			return true;
	}
	return false;
}

static size_t
token_skip_blanks(struct str s, size_t at)
{
	while (at < s.n && s.p[at] == ' ')
		at++;
	return at;
}

/*
 * Whether the 一 at at is not a weekday but begins a word (下周 一起) or is a
 * separate number (下周 三点).
 */
static bool
token_is_apart(struct str s, size_t at, size_t end)
{
	const struct word *w = lexicon_find(s, at);

	return token_is_counter(s, end) || (w != NULL && strlen(w->text) > 3);
}

/* 周三; 周一三五: while the days ascend and have no unit. */
static void
token_set_weekday(struct str s, const struct token *before, struct token *t)
{
	size_t at = token_skip_blanks(s, t->end), end = at, next;
	int day = token_weekday_at(s, at, &end), more;

	if (day == 0 || before->type == TOK_NUM || before->type == TOK_HALF)
		return;
	/* 三个周 counts weeks, but 一个周五早上的闹钟 has a Friday. */
	if (before->type == TOK_GE && before->v == 1 &&
	    !token_is_int(before - 1, 1, 1))
		return;
	if (at > t->end && token_is_apart(s, at, end))
		return;
	/* 每周一次 */
	if (token_text_at(s, end, "次") && !token_text_at(s, end, "次日"))
		return;
	/* 周3点: the digit belongs to the clock. */
	if (end == at + 1 && token_is_counter(s, end))
		return;
	t->type = TOK_WDAY;
	t->v = 1 << (day - 1);
	t->w = 0;
	for (; end < s.n; end = next) {
		at = token_skip_blanks(s, end);
		more = token_weekday_at(s, at, &next);
		if (more <= day || next != at + 3 ||
		    token_is_counter(s, next) || token_text_at(s, at, "天") ||
		    (at > end && token_is_apart(s, at, next)))
			break;
		day = more;
		t->v |= 1 << (day - 1);
		t->w = 1;
	}
	t->end = end;
}

/* 初三, 大年初一; otherwise the beginning of a month or year. */
static void
token_set_first(struct str s, struct token *t)
{
	struct numeral n;

	if (!numeral_parse(s, t->end, &n) || n.is_ascii || n.value < 1 ||
	    n.value > 10) {
		if (t->type == TOK_FIRST)
			t->type = TOK_OTHER;
		return;
	}
	/* 大年初一 names the month as well. */
	t->v = t->type == TOK_FIRST;
	t->type = TOK_FIRST;
	t->num = n.value;
	t->end = n.end;
}

static void
token_set_word(struct str s, const struct word *w, const struct token *before,
    struct token *t)
{
	t->type = w->type;
	t->v = w->v;
	t->w = w->w;
	t->end += strlen(w->text);
	t->is_latin = w->text[0] >= 'a' && w->text[0] <= 'z';
	if (w->type == TOK_NUM || w->type == TOK_ORDINAL)
		t->num = w->v;
	t->is_pair = w->type == TOK_NUM && !t->is_latin;
	if (w->type == TOK_UNIT && w->v == UNIT_WEEK && !t->is_latin)
		token_set_weekday(s, before, t);
	if (w->type == TOK_FIRST ||
	    (w->type == TOK_EDGE && w->w < 0 && w->v == EDGE_START))
		token_set_first(s, t);
	/* Whether 个 is a counter: 两个星期三天, not 每个星期三. */
	if (w->type == TOK_GE)
		t->v = before->type == TOK_NUM || before->type == TOK_HALF;
	if (before->type != TOK_GE || before->v != 1)
		return;
	/* 两个工作日 is a number of days; 一个晚上 is no specific one. */
	if (w->type == TOK_WORKDAY) {
		t->type = TOK_UNIT;
		t->v = UNIT_DAY;
		t->w = 0;
		t->x = 1;
	} else if (w->type == TOK_DAY_PART) {
		t->type = TOK_OTHER;
	}
}

/* The end of an unknown Latin word, digits in it included. */
static size_t
token_latin_end(struct str s, size_t at)
{
	while (numeral_is_letter(s, at) || numeral_is_digit(s, at) ||
	    (at < s.n && (s.p[at] == '_' || s.p[at] == '\'')))
		at++;
	return at;
}

/* 1.2.3 is not a number. */
static bool
token_is_version(struct str s, size_t at, size_t *end)
{
	size_t pos = at;
	int dots = 0;

	for (; numeral_is_digit(s, pos) ||
	     (pos > at && pos < s.n && s.p[pos] == '.' &&
		 numeral_is_digit(s, pos + 1));
	     pos++)
		dots += s.p[pos] == '.';
	if (dots < 2)
		return false;
	*end = pos;
	return true;
}

/* 国庆|节目, not 国庆节|目. */
static bool
token_is_programme(struct str s, size_t at, const struct word *w)
{
	size_t n = strlen(w->text);

	return w->type == TOK_HOLIDAY && str_ends(str_of(w->text), STR("节")) &&
	    (token_text_at(s, at + n, "目") || token_text_at(s, at + n, "奏"));
}

/* The longest word, except 年|中秋, 月|中午, not 年中|秋. */
static const struct word *
token_word_at(struct str s, size_t at)
{
	const struct word *w = lexicon_find(s, at), *next;

	if (w != NULL && token_is_programme(s, at, w))
		return lexicon_find(
		    (struct str){ s.p, at + strlen(w->text) - 3 }, at);
	/* 每个月|月底, 99年|年底 */
	if (w != NULL && w->type == TOK_DAILY && strlen(w->text) == 6 &&
	    memcmp(w->text, w->text + 3, 3) == 0) {
		next = lexicon_find(s, at + 3);
		if (next != NULL && next->type == TOK_EDGE)
			return lexicon_find((struct str){ s.p, at + 3 }, at);
	}
	if (w == NULL || w->type != TOK_EDGE || w->w < 0 ||
	    strlen(w->text) != 6 || at + 6 >= s.n)
		return w;
	next = lexicon_find(s, at + 3);
	if (next == NULL || strlen(next->text) <= 3)
		return w;
	return lexicon_find((struct str){ s.p, at + 3 }, at);
}

/* As most characters that are not ASCII. */
static bool
token_begins_nothing(struct str s, size_t at)
{
	uint32_t key = first_char_key(s, at);

	return (unsigned char)s.p[at] >= 0x80 &&
	    !first_char_may_begin(first_char_of_words, key) &&
	    !first_char_may_begin(first_char_of_holidays, key) &&
	    !numeral_may_begin(s, at);
}

/* Q3, 倒数第二, 百来 before 天. */
static bool
token_read_rare(struct str s, size_t at, struct token *t)
{
	struct numeral n;
	size_t end;
	double scale;

	if (s.p[at] == 'q' && at + 1 < s.n && s.p[at + 1] >= '1' &&
	    s.p[at + 1] <= '4' && !numeral_is_digit(s, at + 2) &&
	    !numeral_is_letter(s, at + 2)) {
		t->type = TOK_QUARTER;
		t->v = s.p[at + 1] - '0';
		t->end = at + 2;
		return true;
	}
	if (token_text_at(s, at, "倒数第") && numeral_parse(s, at + 9, &n)) {
		token_set_numeral(t, &n, TOK_ORDINAL);
		t->num = -t->num;
		return true;
	}
	scale = numeral_scale(s, at, &end);
	if (scale > 0 && token_text_at(s, end, "来")) {
		t->type = TOK_NUM;
		t->num = scale;
		t->end = end;
		return true;
	}
	return false;
}

/* The token at t->start of folded text. */
static void
token_read(struct str s, const struct token *before, struct token *t)
{
	const struct word *w;
	struct numeral n;
	size_t at = t->start;
	bool ordinal = token_text_at(s, at, "第");

	t->end = at;
	if (!ordinal && !token_text_at(s, at, "倒数第") &&
	    token_begins_nothing(s, at)) {
		t->type = TOK_OTHER;
		t->end = at + token_char_bytes(s, at);
		return;
	}
	if (numeral_is_digit(s, at) && token_clock_literal(s, at, t)) {
		if (before->type == TOK_AT && at > 0 && s.p[at - 1] == 't')
			token_clock_zone(s, t);
		return;
	}
	if (numeral_is_digit(s, at) && token_date_literal(s, at, t)) {
		/* 1/2小时 */
		w = t->x == 0 && t->end < s.n ? lexicon_find(s, t->end) : NULL;
		if (w != NULL && w->type == TOK_UNIT && w->w == 0) {
			t->type = TOK_NUM;
			t->num = (double)t->v / t->w;
			t->is_decimal = t->is_ascii = true;
		}
		return;
	}
	if (s.p[at] == 't' && before->type == TOK_DATE && at > 0 &&
	    numeral_is_digit(s, at - 1) && numeral_is_digit(s, at + 1)) {
		/* 2026-03-05T08:30 */
		t->type = TOK_AT;
		t->v = 2;
		t->end = at + 1;
		return;
	}
	if (token_is_version(s, at, &t->end)) {
		t->type = TOK_OTHER;
		return;
	}
	w = token_word_at(s, at);
	/* 十来年 */
	if (w != NULL && before->type == TOK_NUM &&
	    token_text_at(s, at, "来") && strlen(w->text) > 3 &&
	    before->num >= 10)
		w = lexicon_find((struct str){ s.p, at + 3 }, at);
	if (token_read_rare(s, at, t))
		return;
	if (ordinal && numeral_parse(s, at + 3, &n)) {
		token_set_numeral(t, &n, TOK_ORDINAL);
		return;
	}
	if (numeral_parse(s, at, &n) &&
	    (w == NULL || n.end > at + strlen(w->text) ||
		(w->type == TOK_AND && n.end > at))) {
		token_set_numeral(t, &n, TOK_NUM);
		t->is_latin = numeral_is_letter(s, at);
		if (n.is_decimal && n.is_ascii)
			t->x = token_month_day(s, at, n.end);
		if (!token_text_at(s, at, "零") || n.value > 0 || w == NULL ||
		    n.digits > 1 || token_text_at(s, n.end, "点") ||
		    token_text_at(s, n.end, "时")) {
			token_numeral_suffix(s, t);
			return;
		}
	}
	t->end = at;
	if (w != NULL) {
		token_set_word(s, w, before, t);
		return;
	}
	t->type = TOK_OTHER;
	if (numeral_is_letter(s, at))
		t->end = token_latin_end(s, at);
	else
		t->end = at + token_char_bytes(s, at);
}

void
token_scan_from(struct token_scan *c, struct str text, size_t at)
{
	struct str s;
	size_t pos, i;
	static const struct token nothing = { .type = TOK_END };

	c->text = text;
	c->tok = c->all + 1;
	c->all[0] = nothing;
	c->base = at > BEFORE_MAX ? at - BEFORE_MAX : 0;
	c->n = text.n - c->base < TOKEN_SCAN_BYTES ? text.n - c->base
						   : TOKEN_SCAN_BYTES;
	memcpy(c->bytes, text.p + c->base, c->n);
	/* at is a character boundary, base may not be. */
	(void)hanzi_simplify(c->bytes + (at - c->base), c->n - (at - c->base));
	s = (struct str){ c->bytes, c->n };
	c->ntok = 0;
	pos = at - c->base;
	while (pos < s.n && c->ntok < TOKEN_SCAN_MAX) {
		struct token *t = &c->tok[c->ntok];

		if (s.p[pos] == ' ') {
			pos++;
			continue;
		}
		*t = nothing;
		t->start = pos;
		token_read(s, t - 1, t);
		pos = t->end;
		t->start += c->base;
		t->end += c->base;
		c->ntok++;
	}
	for (i = 0; i < TOKEN_SCAN_PAD; i++) {
		c->tok[c->ntok + i] = nothing;
		c->tok[c->ntok + i].start = c->tok[c->ntok + i].end =
		    pos + c->base;
	}
	c->is_last = c->base + pos >= text.n;
}

struct str
token_scan_before(const struct token_scan *c, const struct token *t)
{
	size_t at = t->start - c->base;
	size_t n = at < BEFORE_MAX ? at : BEFORE_MAX;

	return (struct str){ c->bytes + at - n, n };
}

bool
token_scan_is_suffix(const struct token_scan *c, const struct token *t)
{
	static const char *const others[] = { "我", "你", "他", "她", "它",
		"们", "了", "的", "。", "、" };
	struct str s = token_scan_before(c, t);
	size_t i;

	if (s.n == 0 || (unsigned char)s.p[s.n - 1] < 0x80)
		return false;
	for (i = 0; i < NELEM(others); i++) {
		if (str_ends(s, str_of(others[i])))
			return false;
	}
	return true;
}

struct str
token_scan_after(const struct token_scan *c, const struct token *t)
{
	size_t at = t->end - c->base;

	return (struct str){ c->bytes + at, c->n - at };
}

bool
token_is_int(const struct token *t, int lo, int hi)
{
	return t->type == TOK_NUM && !t->is_decimal && t->num >= lo &&
	    t->num <= hi;
}

bool
token_is_unit(const struct token *t, int unit)
{
	return t->type == TOK_UNIT && t->v == unit;
}

bool
token_touches(const struct token *a, const struct token *b)
{
	return a->end == b->start;
}

bool
token_is_pair_row(const struct token *t)
{
	return token_is_int(t, 12, 89) && !t->is_ascii && t->digits == 2 &&
	    (int)t->num % 10 == (int)t->num / 10 + 1;
}
