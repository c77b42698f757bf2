#include "clean_text.h"

#include <stdbool.h>
#include <stdint.h>

#include "core/mem.h"

/* Longest line in place of a middle. */
#define MIDDLE_NOTE_MAX 64

static const struct {
	int32_t first, last;
} clean_removed[] = {
	{ 0x00, 0x08 }, { 0x0b, 0x1f }, { 0x7f, 0x9f },
	{ 0x200b, 0x200b }, /* a blank without width */
	{ 0x200e, 0x200f }, /* marks of direction */
	{ 0x2028, 0x202e }, /* separators, embeddings of direction */
	{ 0x2060, 0x206f }, /* invisible operators, isolates */
	{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, /* interlinear annotations */
	{ 0xe0000, 0xe0fff },                   /* tags, variation selectors */
};

static bool
clean_is_removed(int32_t c)
{
	size_t i;

	for (i = 0; i < NELEM(clean_removed); i++)
		if (c >= clean_removed[i].first && c <= clean_removed[i].last)
			return true;
	return false;
}

/*
 * The next run of s that stays, from *pos on, and then the position after it;
 * empty at the end.
 */
static struct str
clean_next(struct str s, size_t *pos)
{
	size_t from, end;
	int32_t c;

	for (; *pos < s.n; ++*pos) {
		from = end = *pos;
		while (end < s.n) {
			size_t at = end;

			c = str_utf8_next(s, &at);
			if (c < 0 || clean_is_removed(c))
				break;
			end = at;
		}
		if (end > from) {
			*pos = end;
			return (struct str){ s.p + from, end - from };
		}
		/* Pass over one character that is left out, or a bad byte. */
		if (str_utf8_next(s, &from) >= 0)
			*pos = from - 1;
	}
	return STR("");
}

void
clean_text_put(struct str s, struct buf *out)
{
	struct str run;
	size_t pos = 0;

	while ((run = clean_next(s, &pos)).n > 0)
		buf_put_str(out, run);
}

static bool
clean_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

void
clean_text_line(struct str s, size_t max, struct buf *out)
{
	struct buf line = BUF_INIT(s.n + 1);
	struct str run, all;
	size_t i, pos = 0;
	bool blank = false;

	while ((run = clean_next(s, &pos)).n > 0)
		for (i = 0; i < run.n; i++) {
			if (clean_is_blank(run.p[i])) {
				blank = line.n > 0;
				continue;
			}
			if (blank)
				buf_putc(&line, ' ');
			blank = false;
			buf_putc(&line, run.p[i]);
		}
	all = buf_str(&line);
	if (all.n > max) {
		all = str_clip(all, max - sizeof("…") + 1);
		buf_put_str(out, all);
		buf_puts(out, "…");
	} else {
		buf_put_str(out, all);
	}
	buf_free(&line);
}

void
clean_text_middle(struct str s, size_t max, struct buf *out)
{
	size_t half = (max - MIDDLE_NOTE_MAX) / 2, head, tail;

	if (s.n <= max) {
		buf_put_str(out, s);
		return;
	}
	head = str_clip(s, half).n;
	tail = s.n - half;
	while (tail < s.n && ((unsigned char)s.p[tail] & 0xc0) == 0x80)
		tail++;
	buf_put(out, s.p, head);
	buf_printf(out, "\n[%zu bytes left out here]\n", tail - head);
	buf_put(out, s.p + tail, s.n - tail);
}
