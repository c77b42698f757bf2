/*
 * One pass, a few characters ahead.
 */
#include "plain.h"

#include <wchar.h>

#include "core/mem.h"

#define HAN_FIRST 0x4e00
#define COUNTERS  L"个下次张首支段杯份盏台只条遍趟声圈局点些会曲篇则部集场起了哈"
#define NUMERALS  L"一二两三四五六七八九十几半"

/* The text, character by character. */
struct draft {
	struct str s;
	struct plain *out;
	char *dst;
	size_t n; /* bytes written */
	bool changed;
};

static size_t
next_of(struct str s, size_t i)
{
	size_t pos = i;

	return str_utf8_next(s, &pos) < 0 ? i : pos;
}

/* What may stand between a verb and its object, once. */
static bool
is_counter(int32_t c)
{
	return c >= HAN_FIRST && wcschr(COUNTERS, (wchar_t)c) != NULL;
}

static bool
is_numeral(int32_t c)
{
	return (c >= '0' && c <= '9') ||
	    (c >= HAN_FIRST && wcschr(NUMERALS, (wchar_t)c) != NULL);
}

static bool
is_han(struct str s, size_t i)
{
	int32_t c = str_utf8_next(s, &i);

	return c >= 0x4e00 && c <= 0x9fff;
}

static bool
is_same(struct str s, size_t a, size_t b, size_t n)
{
	return b + n <= s.n && memcmp(s.p + a, s.p + b, n) == 0;
}

static void
put(struct draft *d, size_t start, size_t end)
{
	size_t i;

	for (i = start; i < end; i++, d->n++) {
		d->dst[d->n] = d->s.p[i];
		d->out->from[d->n] = (uint32_t)start;
		d->out->to[d->n] = (uint32_t)end;
	}
}

/* The end of "一下", "三次", "个", "一点儿" at i, or i. */
static size_t
skip_count(struct str s, size_t i)
{
	size_t at, pos = i;
	int32_t c;

	do
		c = str_utf8_next(s, &pos);
	while (is_numeral(c));
	if (!is_counter(c))
		return i;
	at = pos;
	if (str_starts((struct str){ s.p + at, s.n - at }, STR("儿")))
		at += STR("儿").n;
	return at;
}

/* What may be left out after the verb [start, i): "一下", "点", "一V", "V". */
static size_t
skip_inside(struct str s, size_t start, size_t i)
{
	size_t n = i - start, one = i + STR("一").n, next = next_of(s, i);

	if (is_same(s, start, i, n))
		return i + n;
	if (str_starts((struct str){ s.p + i, s.n - i }, STR("一")) &&
	    is_same(s, start, one, n))
		return one + n;
	/* In 就点个头 点 is the verb. */
	if (str_starts((struct str){ s.p + i, s.n - i }, STR("点")) &&
	    skip_count(s, next) > next)
		return i;
	return skip_count(s, i);
}

/* "把头低下来" is 低头下来. */
static size_t
put_moved(struct draft *d, size_t i)
{
	size_t object = i + STR("把").n, verb, end;

	if (!str_starts((struct str){ d->s.p + i, d->s.n - i }, STR("把")))
		return i;
	verb = next_of(d->s, object);
	end = next_of(d->s, verb);
	if (!is_han(d->s, object) || !is_han(d->s, verb) || end == verb)
		return i;
	put(d, verb, end);
	put(d, object, verb);
	d->changed = true;
	return end;
}

void
plain_make(struct str folded, struct arena *a, struct plain *out)
{
	struct draft d = { .s = folded, .out = out };
	size_t i = 0, end, rest;

	d.dst = arena_alloc(a, folded.n + 1);
	out->from = arena_alloc(a, folded.n * sizeof(*out->from) + 1);
	out->to = arena_alloc(a, folded.n * sizeof(*out->to) + 1);
	out->text = (struct str){ 0 };
	if (d.dst == NULL || out->from == NULL || out->to == NULL)
		return;
	while (i < folded.n) {
		end = put_moved(&d, i);
		if (end > i) {
			i = end;
			continue;
		}
		end = next_of(folded, i);
		if (end == i)
			break;
		put(&d, i, end);
		rest = is_han(folded, i) ? skip_inside(folded, i, end) : end;
		if (rest > end && rest < folded.n && is_han(folded, rest)) {
			d.changed = true;
			end = rest;
		}
		i = end;
	}
	if (d.changed)
		out->text = (struct str){ d.dst, d.n };
}

bool
plain_source(const struct plain *p, size_t start, size_t end, size_t *src_start,
    size_t *src_end)
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
plain_part(const struct plain *p, size_t start, size_t end)
{
	size_t i = 0, n;

	while (i < p->text.n && p->from[i] < start)
		i++;
	for (n = 0; i + n < p->text.n && p->to[i + n] <= end; n++)
		;
	return (struct str){ p->text.p + i, n };
}
