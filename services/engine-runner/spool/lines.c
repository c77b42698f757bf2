/*
 * Lines are given from the bytes that came, unless they came in parts.
 */
#include "spool/lines.h"

#include <string.h>

#include "core/mem.h"

void
lines_init(
    struct lines *l, void (*line)(void *arg, const struct line *l), void *arg)
{
	*l = (struct lines){ .line = line, .arg = arg };
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		buf_init(&l->streams[i].part, LINE_MAX_BYTES);
}

void
lines_free(struct lines *l)
{
	for (size_t i = 0; i < SPOOL_STREAMS_N; i++)
		buf_free(&l->streams[i].part);
}

static void
lines_give(
    struct lines *l, enum spool_stream stream, struct str text, uint64_t to)
{
	struct lines_stream *s = &l->streams[stream];
	struct line line = { .stream = stream,
		.text = text,
		.from = s->from,
		.to = to,
		.ns = s->ns,
		.too_long = s->too_long };

	if (line.text.n > LINE_MAX_BYTES) {
		line.text.n = LINE_MAX_BYTES;
		line.too_long = true;
	} else if (!line.too_long && line.text.n > 0 &&
	    line.text.p[line.text.n - 1] == '\r') {
		line.text.n--;
	}
	s->from = to;
	s->too_long = false;
	l->line(l->arg, &line);
	buf_reset(&s->part);
}

/* Bytes of a line whose end has not come. */
static void
lines_collect(struct lines_stream *s, struct str bytes)
{
	size_t room = LINE_MAX_BYTES - s->part.n;

	if (bytes.n > room) {
		bytes.n = room;
		s->too_long = true;
	}
	buf_put_str(&s->part, bytes);
}

void
lines_put(
    struct lines *l, enum spool_stream stream, struct str bytes, int64_t ns)
{
	struct lines_stream *s = &l->streams[stream];

	s->ns = ns;
	while (bytes.n > 0) {
		const char *end = memchr(bytes.p, '\n', bytes.n);
		struct str text = bytes;

		if (end == NULL) {
			lines_collect(s, bytes);
			s->at += bytes.n;
			return;
		}
		text.n = (size_t)(end - bytes.p);
		bytes.p += text.n + 1;
		bytes.n -= text.n + 1;
		s->at += text.n + 1;
		if (s->at - s->from > text.n + 1) {
			lines_collect(s, text);
			text = buf_str(&s->part);
		}
		lines_give(l, stream, text, s->at);
	}
}

void
lines_end(struct lines *l)
{
	for (unsigned i = 0; i < SPOOL_STREAMS_N; i++) {
		struct lines_stream *s = &l->streams[i];

		if (s->at > s->from)
			lines_give(
			    l, (enum spool_stream)i, buf_str(&s->part), s->at);
	}
}
