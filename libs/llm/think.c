/*
 * Byte by byte; only what could be the beginning of a mark is held back.
 */
#include "llm/think.h"

#include <string.h>

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Add c to what is held if the mark goes on so; whole: it is complete. */
static bool
goes_on(struct think *t, const char *mark, char c, bool *whole)
{
	if (mark[t->nheld] != c)
		return false;
	t->held[t->nheld++] = c;
	*whole = mark[t->nheld] == '\0';
	return true;
}

static void
give(struct think *t, struct buf *to)
{
	buf_put(to, t->held, t->nheld);
	t->nheld = 0;
}

static void
at_start(struct think *t, char c, struct buf *text)
{
	bool whole = false;

	if (t->nheld == 0 && is_space(c))
		return;
	if (goes_on(t, "<think>", c, &whole)) {
		if (whole) {
			t->nheld = 0;
			t->state = THINK_INSIDE;
		}
		return;
	}
	t->state = THINK_TEXT;
	give(t, text);
	buf_putc(text, c);
}

static void
inside(struct think *t, char c, struct buf *thoughts)
{
	bool whole = false;

	if (!goes_on(t, "</think>", c, &whole)) {
		give(t, thoughts);
		if (c == '<')
			t->held[t->nheld++] = c;
		else
			buf_putc(thoughts, c);
	} else if (whole) {
		t->nheld = 0;
		t->state = THINK_AFTER;
	}
}

void
think_feed(
    struct think *t, struct str piece, struct buf *text, struct buf *thoughts)
{
	for (size_t i = 0; i < piece.n; i++) {
		char c = piece.p[i];
		if (t->state == THINK_AFTER && !is_space(c))
			t->state = THINK_TEXT;
		switch (t->state) {
		case THINK_START:
			at_start(t, c, text);
			break;
		case THINK_INSIDE:
			inside(t, c, thoughts);
			break;
		case THINK_AFTER:
			break;
		case THINK_TEXT:
			buf_put(text, piece.p + i, piece.n - i);
			return;
		}
	}
}

void
think_end(struct think *t, struct buf *text, struct buf *thoughts)
{
	give(t, t->state == THINK_INSIDE ? thoughts : text);
}
