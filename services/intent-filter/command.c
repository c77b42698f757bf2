/*
 * Normalising a command: Unicode, white space, politeness.
 */
#include "command.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "wire/wire.h"
#include "zh/hanzi.h"

/* NFKC makes at most so many bytes of one. */
#define NFKC_GROWTH 11

/* Longest first among those that begin alike. */
static const struct str zh_prefixes[] = {
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
static const struct str en_prefixes[] = {
	STR_INIT("could you please "),
	STR_INIT("can you please "),
	STR_INIT("could you "),
	STR_INIT("can you "),
	STR_INIT("please "),
};

/* Text on its way, each byte with the bytes of raw it came from. */
struct draft {
	char *p;
	uint32_t *from, *to;
	size_t n, cap;
};

static bool
draft_new(struct draft *d, size_t cap, struct arena *a)
{
	d->p = arena_alloc(a, cap);
	d->from = arena_alloc(a, cap * sizeof(*d->from));
	d->to = arena_alloc(a, cap * sizeof(*d->to));
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

/* What NFKC leaves alone and nothing composes with: most of any command. */
static bool
is_inert(int32_t c)
{
	return c < 0x80 || (c >= 0x4e00 && c <= 0x9fff) ||
	    (c >= 0x3041 && c <= 0x3096) || (c >= 0x30a1 && c <= 0x30fa) ||
	    (c >= 0x3001 && c <= 0x3002) || (c >= 0x2018 && c <= 0x201d);
}

/* The full-width forms of ASCII: the other common case. */
static bool
is_wide_ascii(int32_t c)
{
	return c >= 0xff01 && c <= 0xff5e;
}

/* raw from start to end through the library, as one piece. */
static enum rc
put_composed(struct draft *d, struct str raw, size_t start, size_t end)
{
	utf8proc_uint8_t *dst = NULL;
	utf8proc_ssize_t n;
	bool fits;

	n = utf8proc_map((const utf8proc_uint8_t *)raw.p + start,
	    (utf8proc_ssize_t)(end - start), &dst,
	    UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
	if (n < 0)
		return RC_INVALID;
	fits = draft_put(d, (const char *)dst, (size_t)n, start, end);
	free(dst);
	return fits ? RC_OK : RC_TOOBIG;
}

/*
 * The end of the piece that begins at the character before pos: it goes on
 * while characters may act on each other.
 */
static size_t
piece_end(struct str raw, size_t pos)
{
	size_t next = pos;
	int32_t c;

	while ((c = str_utf8_next(raw, &next)) >= 0 && !is_inert(c) &&
	    !is_wide_ascii(c) && utf8proc_get_property(c)->combining_class == 0)
		pos = next;
	/* Marks belong to what they follow. */
	next = pos;
	while ((c = str_utf8_next(raw, &next)) >= 0 &&
	    utf8proc_get_property(c)->combining_class != 0)
		pos = next;
	return pos;
}

static bool
mark_follows(struct str raw, size_t pos)
{
	int32_t c = str_utf8_next(raw, &pos);

	return c >= 0x300 && utf8proc_get_property(c)->combining_class != 0;
}

static enum rc
nfkc(struct str raw, struct draft *d)
{
	size_t pos = 0, start, end;
	char ascii;
	int32_t c;
	enum rc rc;

	for (start = 0; (c = str_utf8_next(raw, &pos)) >= 0; start = pos) {
		if (is_inert(c) && !mark_follows(raw, pos)) {
			if (!draft_put(
				d, raw.p + start, pos - start, start, pos))
				return RC_TOOBIG;
		} else if (is_wide_ascii(c) && !mark_follows(raw, pos)) {
			ascii = (char)(c - 0xfee0);
			if (!draft_put(d, &ascii, 1, start, pos))
				return RC_TOOBIG;
		} else {
			end = piece_end(raw, pos);
			rc = put_composed(d, raw, start, end);
			if (rc != RC_OK)
				return rc;
			pos = end;
		}
	}
	return pos == raw.n ? RC_OK : RC_INVALID;
}

/* raw in NFKC. */
static enum rc
draft_read(struct draft *d, struct str raw, struct arena *a)
{
	if (!draft_new(d, raw.n * NFKC_GROWTH + 1, a))
		return RC_TOOBIG;
	return nfkc(raw, d);
}

static bool
is_blank(int32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 ||
	    c == 0x1680 || (c >= 0x2000 && c <= 0x200b) || c == 0x2028 ||
	    c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 ||
	    c == 0xfeff;
}

/*
 * An ideograph decides for Chinese however many Latin letters stand beside it
 * ("把LED灯打开"); kana and Hangul decide before it.
 */
static const char *
guess_locale(struct str s, const char *dflt)
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

/* Blanks part words in Latin text and mean nothing elsewhere. */
static void
squeeze(struct draft *d, bool keep_one)
{
	struct str s = { d->p, d->n };
	size_t pos = 0, start, n = 0, i;
	bool gap = false;
	int32_t c;

	for (start = 0; (c = str_utf8_next(s, &pos)) >= 0; start = pos) {
		if (is_blank(c)) {
			gap = n > 0;
			continue;
		}
		if (gap && keep_one) {
			d->from[n] = d->from[start - 1];
			d->to[n] = d->from[start];
			d->p[n++] = ' ';
		}
		gap = false;
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
fold(char *dst, struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32)
							: s.p[i];
	return hanzi_simplify(dst, s.n);
}

static size_t
prefix_len(struct str folded, const struct str *list, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (str_starts(folded, list[i]) && folded.n > list[i].n)
			return list[i].n;
	}
	return 0;
}

enum rc
command_read(struct str raw, const char *locale, const char *dflt,
    struct arena *a, struct command *out)
{
	struct draft d;
	bool latin, traditional;
	size_t cut;
	char *folded;
	enum rc rc;

	rc = draft_read(&d, raw, a);
	if (rc != RC_OK)
		return rc;
	out->locale = locale != NULL
	    ? locale
	    : guess_locale((struct str){ d.p, d.n }, dflt);
	latin = strncmp(out->locale, "en", 2) == 0;
	squeeze(&d, latin);
	folded = arena_alloc(a, d.n + 1);
	if (folded == NULL)
		return RC_TOOBIG;
	out->raw = raw;
	out->text = (struct str){ d.p, d.n };
	traditional = fold(folded, out->text);
	if (traditional && locale == NULL && strcmp(out->locale, "zh-CN") == 0)
		out->locale = "zh-TW";
	out->folded = (struct str){ folded, d.n };
	cut = latin ? prefix_len(out->folded, en_prefixes, NELEM(en_prefixes))
		    : prefix_len(out->folded, zh_prefixes, NELEM(zh_prefixes));
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
	/* A catalog keeps thousands of words, but not what each grew to. */
	struct arena *scratch = arena_new(WIRE_ARENA_MAX);
	struct draft d;
	struct str s;
	enum rc rc = draft_read(&d, raw, scratch);

	if (rc == RC_OK) {
		s = (struct str){ d.p, d.n };
		squeeze(&d, strcmp(guess_locale(s, "en-US"), "en-US") == 0);
		s.n = d.n;
		(void)fold(d.p, s);
		*out = arena_str(a, str_trim(s));
		rc = out->p != NULL ? RC_OK : RC_TOOBIG;
	}
	arena_free(scratch);
	return rc;
}
