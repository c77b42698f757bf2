#include "reply/quote_filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* From CJK radicals on a character is a word or a part of one. */
#define WIDE_MIN    0x2E80
#define WIDE_WEIGHT 3
/* The weight of a quote, and that of the shortest secret. */
#define QUOTE_WEIGHT (12 * WIDE_WEIGHT)
#define LEAST_WEIGHT (6 * WIDE_WEIGHT)

/* ---- letters ---- */

static bool
quote_is_sign(int32_t c)
{
	static const struct {
		int32_t first, last;
	} signs[] = {
		{ 0x0, 0x2F },      /* controls, space, punctuation */
		{ 0x3A, 0x40 },     /* punctuation */
		{ 0x5B, 0x60 },     /* punctuation */
		{ 0x7B, 0xBF },     /* punctuation */
		{ 0x2000, 0x2BFF }, /* spaces, signs */
		{ 0x3000, 0x3004 }, /* CJK punctuation */
		{ 0x3008, 0x3020 }, { 0xFE00, 0xFE6F },
		{ 0xFEFF, 0xFF0F }, /* full width */
		{ 0xFF1A, 0xFF20 }, { 0xFF3B, 0xFF40 }, { 0xFF5B, 0xFF65 },
		{ 0xFFF0, 0xFFFF }, { 0x1F000, 0x1FAFF }, /* pictures */
		{ 0xE0000, 0xE0FFF },                     /* tags, selectors */
	};

	for (size_t i = 0; i < NELEM(signs); i++)
		if (c >= signs[i].first && c <= signs[i].last)
			return true;
	return false;
}

/* 0: it is not compared. */
static int32_t
quote_fold(int32_t c)
{
	if (c >= 0xFF10 && c <= 0xFF5A)
		c -= 0xFF10 - '0';
	if (quote_is_sign(c))
		return 0;
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static unsigned
quote_weight(int32_t c)
{
	return c >= WIDE_MIN ? WIDE_WEIGHT : 1;
}

/* At most max letters of s. */
static size_t
quote_letters(struct str s, int32_t *out, size_t max)
{
	size_t pos = 0, n = 0;

	while (pos < s.n && n < max) {
		int32_t c = str_utf8_next(s, &pos);
		if (c < 0)
			pos++;
		else if (quote_fold(c) != 0)
			out[n++] = quote_fold(c);
	}
	return n;
}

/* ---- secrets ---- */

void
quote_filter_init(struct quote_filter *f)
{
	*f = (struct quote_filter){ .held = SIZE_MAX };
}

void
quote_filter_free(struct quote_filter *f)
{
	free(f->cells);
	free(f->known);
	quote_filter_init(f);
}

void
quote_filter_add(struct quote_filter *f, struct str secret)
{
	int32_t c[QUOTE_SECRET_MAX];
	size_t n = quote_letters(secret, c, NELEM(c));
	unsigned least = 0;

	for (size_t i = 0; i < n; i++)
		least += quote_weight(c[i]);
	/* Whatever is shorter is in what is no quote, too. */
	if (least < LEAST_WEIGHT)
		return;
	if (least > QUOTE_WEIGHT)
		least = QUOTE_WEIGHT;
	f->cells = mem_realloc(
	    f->cells, (f->n_cells + 2 * (n + 1)) * sizeof(*f->cells));
	for (int back = 0; back < 2; back++) {
		for (size_t i = 0; i < n; i++)
			f->cells[f->n_cells++] =
			    (struct quote_cell){ .c = c[back ? n - 1 - i : i],
				    .least = least };
		f->cells[f->n_cells++] = (struct quote_cell){ .c = 0 };
	}
}

void
quote_filter_allow(struct quote_filter *f, struct str known)
{
	if (f->cells == NULL || f->n_known >= QUOTE_KNOWN_MAX)
		return;
	if (f->known == NULL)
		f->known = mem_alloc(QUOTE_KNOWN_MAX * sizeof(*f->known));
	f->n_known += quote_letters(
	    known, f->known + f->n_known, QUOTE_KNOWN_MAX - 1 - f->n_known);
	f->known[f->n_known++] = 0;
}

/* ---- the text ---- */

/* Whether the run that ends with cell i stands in what is known. */
static bool
quote_is_known(const struct quote_filter *f, size_t i)
{
	size_t n = f->cells[i].n;
	const struct quote_cell *run = &f->cells[i + 1 - n];

	for (size_t at = 0; at + n <= f->n_known; at++) {
		size_t k = 0;
		while (k < n && f->known[at + k] == run[k].c)
			k++;
		if (k == n)
			return true;
	}
	return false;
}

/* Extend the runs by letter c, whose first byte is text[at]. */
static void
quote_take(struct quote_filter *f, int32_t c, size_t at)
{
	size_t start = SIZE_MAX;

	/* From the end: each takes the run before it. */
	for (size_t i = f->n_cells; i-- > 0;) {
		struct quote_cell *x = &f->cells[i];
		const struct quote_cell *before = i > 0 ? x - 1 : NULL;
		if (x->c != c) {
			x->n = x->weight = 0;
			continue;
		}
		bool longer = before != NULL && before->n > 0;
		x->start = longer ? before->start : at;
		x->n = (longer ? before->n : 0) + 1;
		x->weight = (longer ? before->weight : 0) + quote_weight(c);
		if (x->weight >= x->least && quote_is_known(f, i))
			x->n = x->weight = 0;
		else if (x->weight >= x->least)
			f->blocked = true;
		if (x->n > 0 && x->start < start)
			start = x->start;
	}
	f->held = start;
}

size_t
quote_filter_released(struct quote_filter *f, struct str text, bool end)
{
	if (f->cells == NULL)
		return text.n;
	while (!f->blocked && f->checked < text.n) {
		size_t pos = f->checked;
		int32_t c = str_utf8_next(text, &pos);
		/* Perhaps the rest of the character has not arrived. */
		if (c < 0 && !end && text.n - pos < 4)
			break;
		if (c < 0)
			pos++;
		else if (quote_fold(c) != 0)
			quote_take(f, quote_fold(c), f->checked);
		f->checked = pos;
	}
	/* Cells that match nothing hold nothing back. */
	size_t n = end && !f->blocked ? text.n : f->checked;
	return f->held < n && (f->blocked || !end) ? f->held : n;
}
