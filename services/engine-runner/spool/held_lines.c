/*
 * Their texts are in one buffer.
 */
#include "spool/held_lines.h"

#include <stdlib.h>

#include "core/mem.h"

void
held_lines_init(struct held_lines *h)
{
	*h = (struct held_lines){ 0 };
	buf_init(&h->text, HELD_BYTES_MAX);
}

void
held_lines_free(struct held_lines *h)
{
	buf_free(&h->text);
	free(h->v);
}

bool
held_lines_put(struct held_lines *h, const struct line *l)
{
	if (l->too_long || h->n == HELD_LINES_MAX ||
	    h->text.n + l->text.n + 1 > HELD_BYTES_MAX)
		return false;
	if (h->n == h->cap) {
		h->cap = h->cap > 0 ? 2 * h->cap : 64;
		h->v = mem_realloc(h->v, h->cap * sizeof(*h->v));
	}
	h->v[h->n++] = (struct held_line){ l->stream, l->from, l->to, l->ns,
		h->text.n, l->text.n };
	buf_put_str(&h->text, l->text);
	buf_putc(&h->text, '\n');
	return true;
}

void
held_lines_reset(struct held_lines *h)
{
	h->n = 0;
	buf_reset(&h->text);
}

struct line
held_lines_at(const struct held_lines *h, size_t i)
{
	const struct held_line *v = &h->v[i];

	return (struct line){ .stream = v->stream,
		.text = { h->text.p + v->at, v->n },
		.from = v->from,
		.to = v->to,
		.ns = v->ns };
}

void
held_lines_raw(struct held_lines *h, const struct fact_sink *to, bool unparsed)
{
	for (size_t i = 0; i < h->n; i++) {
		struct line l = held_lines_at(h, i);

		fact_raw(to, &l, unparsed);
	}
	held_lines_reset(h);
}
