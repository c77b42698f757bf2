/*
 * Normalization of a command: Unicode, white space, polite prefixes; and the
 * normalized text that keywords are matched in.
 */
#include "text/command_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "wire/wire.h"
#include "zh/hanzi.h"

/* Most bytes that NFKC makes of one. */
#define NFKC_GROWTH 11

/* Of those with a common prefix the longest first. */
static const struct str command_zh_prefixes[] = {
	STR_INIT("可以帮我"),
	STR_INIT("请帮我"),
	STR_INIT("麻烦你"),
	STR_INIT("能不能"),
	STR_INIT("请问"),
	STR_INIT("请你"),
	STR_INIT("帮我"),
	STR_INIT("麻烦"),
	STR_INIT("给我"),
	STR_INIT("帮忙"),
};
static const struct str command_en_prefixes[] = {
	STR_INIT("could you please "),
	STR_INIT("can you please "),
	STR_INIT("could you "),
	STR_INIT("can you "),
	STR_INIT("please "),
};

/* Text in progress, each byte with the bytes of raw that it came from. */
struct draft {
	char *p;
	uint32_t *from, *to;
	size_t n, cap;
};

static bool
draft_new(struct draft *d, size_t cap, struct arena *a)
{
	d->p = arena_bytes(a, cap);
	d->from = arena_bytes(a, cap * sizeof(*d->from));
	d->to = arena_bytes(a, cap * sizeof(*d->to));
	d->n = 0;
	d->cap = cap;
	return d->p != NULL && d->from != NULL && d->to != NULL;
}

static bool
draft_put(struct draft *d, const char *p, size_t n, size_t from, size_t to)
{
	size_t i;

	if (d->n + n > d->cap)
		return false;
	memcpy(d->p + d->n, p, n);
	for (i = d->n; i < d->n + n; i++) {
		d->from[i] = (uint32_t)from;
		d->to[i] = (uint32_t)to;
	}
	d->n += n;
	return true;
}

/* Fast path: characters that NFKC and composition leave unchanged. */
static bool
command_is_inert(int32_t c)
{
	return c < 0x80 || (c >= 0x4e00 && c <= 0x9fff) ||
	    (c >= 0x3041 && c <= 0x3096) || (c >= 0x30a1 && c <= 0x30fa) ||
	    (c >= 0x3001 && c <= 0x3002) || (c >= 0x2018 && c <= 0x201d);
}

/* Fast path: full-width forms of ASCII. */
static bool
command_is_wide_ascii(int32_t c)
{
	return c >= 0xff01 && c <= 0xff5e;
}

/* Normalize [start, end) of raw with the library. */
static enum rc
draft_put_composed(struct draft *d, struct str raw, size_t start, size_t end)
{
	utf8proc_uint8_t *dst = NULL;
	utf8proc_ssize_t n;
	bool has_room;

	n = utf8proc_map((const utf8proc_uint8_t *)raw.p + start,
	    (utf8proc_ssize_t)(end - start), &dst,
	    UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
	if (n < 0)
		return RC_INVALID;
	has_room = draft_put(d, (const char *)dst, (size_t)n, start, end);
	free(dst);
	return has_room ? RC_OK : RC_TOOBIG;
}

/*
 * The end of the run that begins with the character before pos and must be
 * normalized as a whole, because its characters may compose.
 */
static size_t
draft_composed_end(struct str raw, size_t pos)
{
	size_t next = pos;
	int32_t c;

	while ((c = str_utf8_next(raw, &next)) >= 0 && !command_is_inert(c) &&
	    !command_is_wide_ascii(c) &&
	    utf8proc_get_property(c)->combining_class == 0)
		pos = next;
	/* Combining marks belong to the character before them. */
	next = pos;
	while ((c = str_utf8_next(raw, &next)) >= 0 &&
	    utf8proc_get_property(c)->combining_class != 0)
		pos = next;
	return pos;
}

static bool
draft_has_mark(struct str raw, size_t pos)
{
	int32_t c = str_utf8_next(raw, &pos);

	return c >= 0x300 && utf8proc_get_property(c)->combining_class != 0;
}

static enum rc
draft_put_nfkc(struct str raw, struct draft *d)
{
	size_t pos = 0, start, end;
	char ascii;
	int32_t c;
	enum rc rc;

	for (start = 0; (c = str_utf8_next(raw, &pos)) >= 0; start = pos) {
		if (command_is_inert(c) && !draft_has_mark(raw, pos)) {
			if (!draft_put(
				d, raw.p + start, pos - start, start, pos))
				return RC_TOOBIG;
		} else if (command_is_wide_ascii(c) &&
		    !draft_has_mark(raw, pos)) {
			ascii = (char)(c - 0xfee0);
			if (!draft_put(d, &ascii, 1, start, pos))
				return RC_TOOBIG;
		} else {
			end = draft_composed_end(raw, pos);
			rc = draft_put_composed(d, raw, start, end);
			if (rc != RC_OK)
				return rc;
			pos = end;
		}
	}
	return pos == raw.n ? RC_OK : RC_INVALID;
}

/*
 * A draft of raw, if all of it is in NFKC by the fast path: most commands are.
 * False: it is not, or is not valid.
 */
static bool
draft_put_inert(struct draft *d, struct str raw)
{
	size_t pos = 0, start;
	int32_t c;

	for (start = 0; pos < raw.n; start = pos) {
		c = str_utf8_next(raw, &pos);
		/* Combining marks are not inert. */
		if (c < 0 || !command_is_inert(c))
			return false;
		for (size_t i = start; i < pos; i++) {
			d->from[i] = (uint32_t)start;
			d->to[i] = (uint32_t)pos;
		}
	}
	if (raw.n > 0)
		memcpy(d->p, raw.p, raw.n);
	d->n = raw.n;
	return true;
}

/* A draft of raw in NFKC. */
static enum rc
draft_init(struct draft *d, struct str raw, struct arena *a)
{
	struct arena_mark mark = arena_mark(a);

	if (!draft_new(d, raw.n + 1, a))
		return RC_TOOBIG;
	if (draft_put_inert(d, raw))
		return RC_OK;
	arena_rewind(a, mark);
	if (!draft_new(d, raw.n * NFKC_GROWTH + 1, a))
		return RC_TOOBIG;
	return draft_put_nfkc(raw, d);
}

static bool
command_is_blank(int32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 ||
	    c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 ||
	    c == 0xfeff;
}

/*
 * Hangul means Korean, else kana Japanese, else an ideograph Chinese, whatever
 * the number of Latin letters ("把LED灯打开").
 */
static const char *
command_guess_locale(struct str s, const char *dflt)
{
	bool han = false, kana = false, latin = false;
	size_t pos = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &pos)) >= 0) {
		if ((c >= 0xac00 && c <= 0xd7a3) ||
		    (c >= 0x1100 && c <= 0x11ff))
			return "ko-KR";
		if (c >= 0x3041 && c <= 0x30ff)
			kana = true;
		else if ((c >= 0x3400 && c <= 0x9fff) || c >= 0x20000)
			han = true;
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			latin = true;
	}
	if (kana)
		return "ja-JP";
	if (han)
		return "zh-CN";
	return latin ? "en-US" : dflt;
}

/* Whether it may have one: all others than ASCII begin with these bytes. */
static bool
draft_has_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char b = (unsigned char)s.p[i];

		if (b <= ' ' || b == 0xc2 || (b >= 0xe1 && b <= 0xe3) ||
		    b == 0xef)
			return true;
	}
	return false;
}

static bool
command_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reduce blanks: they separate words in Latin text only, but digits everywhere:
 * "2026-06-18 09:30".
 */
static void
draft_squeeze(struct draft *d, bool one_blank)
{
	struct str s = { d->p, d->n };
	size_t pos = 0, start, n = 0, i;
	bool blank = false;
	int32_t c;

	if (!draft_has_blank(s))
		return;
	for (start = 0; (c = str_utf8_next(s, &pos)) >= 0; start = pos) {
		if (command_is_blank(c)) {
			blank = n > 0;
			continue;
		}
		if (blank &&
		    (one_blank ||
			(command_is_digit(d->p[n - 1]) &&
			    command_is_digit(s.p[start])))) {
			d->from[n] = d->from[start - 1];
			d->to[n] = d->from[start];
			d->p[n++] = ' ';
		}
		blank = false;
		for (i = start; i < pos; i++, n++) {
			d->p[n] = d->p[i];
			d->from[n] = d->from[i];
			d->to[n] = d->to[i];
		}
	}
	d->n = n;
}

/* Returns whether there were traditional characters. */
static bool
command_fold_ascii(char *dst, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32)
							: s.p[i];
	return hanzi_simplify(dst, s.n);
}

static size_t
command_prefix_len(struct str folded, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_starts(folded, list[i]) && folded.n > list[i].n)
			return list[i].n;
	}
	return 0;
}

enum rc
command_parse(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out)
{
	struct draft d;
	bool latin, traditional;
	size_t cut;
	char *folded;
	enum rc rc;

	rc = draft_init(&d, raw, a);
	if (rc != RC_OK)
		return rc;
	out->locale = locale != NULL
	    ? locale
	    : command_guess_locale((struct str){ d.p, d.n }, dflt);
	latin = strncmp(out->locale, "en", 2) == 0;
	draft_squeeze(&d, latin);
	folded = arena_bytes(a, d.n + 1);
	if (folded == NULL)
		return RC_TOOBIG;
	out->raw = raw;
	out->text = (struct str){ d.p, d.n };
	traditional = command_fold_ascii(folded, out->text);
	if (traditional && locale == NULL && strcmp(out->locale, "zh-CN") == 0)
		out->locale = "zh-TW";
	out->folded = (struct str){ folded, d.n };
	cut = latin ? command_prefix_len(out->folded, command_en_prefixes,
			  NELEM(command_en_prefixes))
		    : command_prefix_len(out->folded, command_zh_prefixes,
			  NELEM(command_zh_prefixes));
	out->polite = cut > 0 && !str_starts(out->folded, STR("请问"));
	out->text.p += cut;
	out->text.n -= cut;
	out->folded.p += cut;
	out->folded.n -= cut;
	out->from = d.from + cut;
	out->to = d.to + cut;
	return RC_OK;
}

struct str
command_source(const struct command *c, size_t start, size_t end)
{
	if (start >= end)
		return (struct str){ c->raw.p, 0 };
	return (struct str){ c->raw.p + c->from[start],
		c->to[end - 1] - c->from[start] };
}

enum rc
command_fold(struct str raw, struct arena *a, struct str *out)
{
	/* Only the result goes into a: the drafts are much larger. */
	struct arena *scratch = arena_new(WIRE_ARENA_MAX);
	struct draft d;
	struct str s;
	enum rc rc = draft_init(&d, raw, scratch);

	if (rc == RC_OK) {
		s = (struct str){ d.p, d.n };
		draft_squeeze(
		    &d, strcmp(command_guess_locale(s, "en-US"), "en-US") == 0);
		s.n = d.n;
		(void)command_fold_ascii(d.p, s);
		*out = arena_str(a, str_trim(s));
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	arena_free(scratch);
	return rc;
}

/* ---- normalized text ---- */

/* The normalized text in progress. */
struct normalized_draft {
	struct str s;
	struct normalized_text *out;
	char *dst;
	size_t n; /* bytes written */
	bool changed;
};

static size_t
normalized_next(struct str s, size_t i)
{
	size_t pos = i;

	return str_utf8_next(s, &pos) < 0 ? i : pos;
}

/* Characters of which one may separate a verb from its object. */
static bool
normalized_is_counter(int32_t c)
{
	switch (c) {
	case 0x4e2a: /* 个 */
	case 0x4e0b: /* 下 */
	case 0x6b21: /* 次 */
	case 0x5f20: /* 张 */
	case 0x9996: /* 首 */
	case 0x652f: /* 支 */
	case 0x6bb5: /* 段 */
	case 0x676f: /* 杯 */
	case 0x4efd: /* 份 */
	case 0x76cf: /* 盏 */
	case 0x53f0: /* 台 */
	case 0x53ea: /* 只 */
	case 0x6761: /* 条 */
	case 0x904d: /* 遍 */
	case 0x8d9f: /* 趟 */
	case 0x58f0: /* 声 */
	case 0x5708: /* 圈 */
	case 0x5c40: /* 局 */
	case 0x70b9: /* 点 */
	case 0x4e9b: /* 些 */
	case 0x4f1a: /* 会 */
	case 0x66f2: /* 曲 */
	case 0x7bc7: /* 篇 */
	case 0x5219: /* 则 */
	case 0x90e8: /* 部 */
	case 0x96c6: /* 集 */
	case 0x573a: /* 场 */
	case 0x8d77: /* 起 */
	case 0x4e86: /* 了 */
	case 0x54c8: /* 哈 */
		return true;
	default:
		return false;
	}
}

static bool
normalized_is_numeral(int32_t c)
{
	switch (c) {
	case 0x4e00: /* 一 */
	case 0x4e8c: /* 二 */
	case 0x4e24: /* 两 */
	case 0x4e09: /* 三 */
	case 0x56db: /* 四 */
	case 0x4e94: /* 五 */
	case 0x516d: /* 六 */
	case 0x4e03: /* 七 */
	case 0x516b: /* 八 */
	case 0x4e5d: /* 九 */
	case 0x5341: /* 十 */
	case 0x51e0: /* 几 */
	case 0x534a: /* 半 */
		return true;
	default:
		return c >= '0' && c <= '9';
	}
}

static bool
normalized_is_han(struct str s, size_t i)
{
	int32_t c = str_utf8_next(s, &i);

	return c >= 0x4e00 && c <= 0x9fff;
}

static bool
normalized_is_same(struct str s, size_t a, size_t b, size_t n)
{
	return b + n <= s.n && memcmp(s.p + a, s.p + b, n) == 0;
}

static void
normalized_put(struct normalized_draft *d, size_t start, size_t end)
{
	char *dst = d->dst + d->n;
	uint32_t *from = d->out->from + d->n, *to = d->out->to + d->n;
	size_t i, n = end - start;

	for (i = 0; i < n; i++) {
		dst[i] = d->s.p[start + i];
		from[i] = (uint32_t)start;
		to[i] = (uint32_t)end;
	}
	d->n += n;
}

/* The end of "一下", "三次", "个", "一点儿" at i, or i. */
static size_t
normalized_skip_count(struct str s, size_t i)
{
	size_t at, pos = i;
	int32_t c;

	do
		c = str_utf8_next(s, &pos);
	while (normalized_is_numeral(c));
	if (!normalized_is_counter(c))
		return i;
	at = pos;
	if (str_starts((struct str){ s.p + at, s.n - at }, STR("儿")))
		at += STR("儿").n;
	return at;
}

/* The end of the adverb at i of "声音再大一点", "空调稍微低点"; or i. */
static size_t
normalized_skip_degree(struct str s, size_t i)
{
	static const struct str adverbs[] = { STR_INIT("再稍微"),
		STR_INIT("稍微"), STR_INIT("再"), STR_INIT("稍"),
		STR_INIT("更") };
	static const struct str qualities[] = { STR_INIT("大"), STR_INIT("小"),
		STR_INIT("高"), STR_INIT("低"), STR_INIT("亮"), STR_INIT("暗"),
		STR_INIT("快"), STR_INIT("慢"), STR_INIT("冷"), STR_INIT("热"),
		STR_INIT("暖"), STR_INIT("轻") };
	struct str rest = { s.p + i, s.n - i };
	size_t k, q;

	for (k = 0; k < NELEM(adverbs) && !str_starts(rest, adverbs[k]); k++)
		;
	if (k == NELEM(adverbs))
		return i;
	rest.p += adverbs[k].n;
	rest.n -= adverbs[k].n;
	for (q = 0; q < NELEM(qualities); q++) {
		struct str after = { rest.p + qualities[q].n,
			rest.n - qualities[q].n };

		if (str_starts(rest, qualities[q]) &&
		    (str_starts(after, STR("一")) ||
			str_starts(after, STR("点")) ||
			str_starts(after, STR("些"))))
			return i + adverbs[k].n;
	}
	return i;
}

/* The end of what is dropped after the verb [start, i): "一下", "一V", "V". */
static size_t
normalized_skip_inside(struct str s, size_t start, size_t i)
{
	size_t n = i - start, one = i + STR("一").n,
	       next = normalized_next(s, i);

	if (normalized_is_same(s, start, i, n))
		return i + n;
	if (str_starts((struct str){ s.p + i, s.n - i }, STR("一")) &&
	    normalized_is_same(s, start, one, n))
		return one + n;
	/* In 就点个头 点 is the verb. */
	if (str_starts((struct str){ s.p + i, s.n - i }, STR("点")) &&
	    normalized_skip_count(s, next) > next)
		return i;
	return normalized_skip_count(s, i);
}

/* "把头低下来" becomes 低头下来. */
static size_t
normalized_put_moved(struct normalized_draft *d, size_t i)
{
	size_t object = i + STR("把").n, verb, end;

	if (!str_starts((struct str){ d->s.p + i, d->s.n - i }, STR("把")))
		return i;
	verb = normalized_next(d->s, object);
	end = normalized_next(d->s, verb);
	if (!normalized_is_han(d->s, object) ||
	    !normalized_is_han(d->s, verb) || end == verb)
		return i;
	normalized_put(d, verb, end);
	normalized_put(d, object, verb);
	d->changed = true;
	return end;
}

void
normalized_text_make(
    struct str folded, struct arena *a, struct normalized_text *out)
{
	struct normalized_draft d = { .s = folded, .out = out };
	size_t i = 0, end, rest;

	d.dst = arena_bytes(a, folded.n + 1);
	out->from = arena_bytes(a, folded.n * sizeof(*out->from) + 1);
	out->to = arena_bytes(a, folded.n * sizeof(*out->to) + 1);
	out->text = (struct str){ 0 };
	if (d.dst == NULL || out->from == NULL || out->to == NULL)
		return;
	while (i < folded.n) {
		end = normalized_skip_degree(folded, i);
		if (end > i && d.n > 0) {
			d.changed = true;
			i = end;
			continue;
		}
		end = normalized_put_moved(&d, i);
		if (end > i) {
			i = end;
			continue;
		}
		end = normalized_next(folded, i);
		if (end == i)
			break;
		normalized_put(&d, i, end);
		rest = normalized_is_han(folded, i)
		    ? normalized_skip_inside(folded, i, end)
		    : end;
		if (rest > end && rest < folded.n &&
		    normalized_is_han(folded, rest)) {
			d.changed = true;
			end = rest;
		}
		i = end;
	}
	if (d.changed)
		out->text = (struct str){ d.dst, d.n };
}

bool
normalized_text_source(const struct normalized_text *p, size_t start,
    size_t end, size_t *src_start, size_t *src_end)
{
	size_t i;

	*src_start = p->from[start];
	*src_end = p->to[start];
	for (i = start; i < end; i++) {
		if (p->from[i] < *src_start)
			*src_start = p->from[i];
		if (p->to[i] > *src_end)
			*src_end = p->to[i];
	}
	return *src_end - *src_start != end - start ||
	    p->from[end - 1] < p->from[start];
}

struct str
normalized_text_part(const struct normalized_text *p, size_t start, size_t end)
{
	size_t i = 0, n;

	while (i < p->text.n && p->from[i] < start)
		i++;
	for (n = 0; i + n < p->text.n && p->to[i + n] <= end; n++)
		;
	return (struct str){ p->text.p + i, n };
}
