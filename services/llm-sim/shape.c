/*
 * shape: framing of events and chunks.
 */
#include "shape.h"

void
shape_out_init(struct shape_out *o)
{
	o->n = 0;
	o->begun = false;
	buf_init(&o->b, SHAPE_MAX);
}

void
shape_out_free(struct shape_out *o)
{
	buf_free(&o->b);
}

bool
shape_is_stream(const struct shape *s)
{
	return s->stream && !SHAPE_HAS(s, WHOLE);
}

void
shape_end_chunk(struct shape_out *o)
{
	if (o->n > 0 && o->ends[o->n - 1] == o->b.n)
		return;
	/* At the limit the last chunk grows. */
	if (o->n == SHAPE_CHUNKS_MAX)
		o->n--;
	o->ends[o->n++] = o->b.n;
}

void
shape_event(const struct shape *s, struct shape_out *o, const char *type,
    struct str json)
{
	const char *end = SHAPE_HAS(s, CRLF) ? "\r\n" : "\n";
	const char *space = SHAPE_HAS(s, NO_SPACE) ? "" : " ";

	if (!o->begun && SHAPE_HAS(s, BOM))
		buf_puts(&o->b, "\xef\xbb\xbf");
	o->begun = true;
	if (SHAPE_HAS(s, COMMENTS)) {
		buf_printf(&o->b, ": keep-alive%s%s", end, end);
		shape_end_chunk(o);
	}
	if (type != NULL)
		buf_printf(&o->b, "event:%s%s%s", space, type, end);
	buf_printf(&o->b, "data:%s%.*s%s%s", space, STR_ARG(json), end, end);
	shape_end_chunk(o);
}

struct str
shape_chunk(struct str text, size_t *at, int n)
{
	struct str rest = { text.p + *at, text.n - *at };
	size_t pos = 0;

	for (int i = 0; i < n && str_utf8_next(rest, &pos) >= 0; i++)
		continue;
	*at += pos;
	return (struct str){ rest.p, pos };
}

bool
shape_error(const struct shape *s, struct shape_out *o)
{
	if (!SHAPE_HAS(s, EVENT_ERROR) && !SHAPE_HAS(s, ERROR_CHUNK))
		return false;
	shape_event(s, o, SHAPE_HAS(s, EVENT_ERROR) ? "error" : NULL, s->error);
	return true;
}

void
shape_text(struct wire_out *o, const char *key, struct str text)
{
	wire_out_key(o, str_of(key));
	wire_out_str(o, text);
}
