/*
 * The event stream parser, fed at once and in chunks of a size that the input
 * chooses: both must produce the same events, within the limit.
 */
#include <stdlib.h>

#include "httpc/sse_reader.h"
#include "must.h"

#define MAX 256

struct recorded_events {
	struct buf buf;
	size_t n;
};

static enum rc
sse_record_event(void *arg, const struct sse_event *e)
{
	struct recorded_events *s = arg;

	if (e->data.n > MAX || e->id.n > MAX || e->type.n > MAX ||
	    e->type.n == 0)
		abort();
	if (e->id.n > 0 && memchr(e->id.p, '\0', e->id.n) != NULL)
		abort();
	if (memchr(e->type.p, '\n', e->type.n) != NULL ||
	    (e->data.n > 0 && memchr(e->data.p, '\r', e->data.n) != NULL))
		abort();
	buf_printf(&s->buf, "%zu %zu %zu:", e->type.n, e->id.n, e->data.n);
	buf_put_str(&s->buf, e->type);
	buf_put_str(&s->buf, e->id);
	buf_put_str(&s->buf, e->data);
	s->n++;
	return RC_OK;
}

/* Parse s in chunks of step bytes; RC_TOOBIG ends it. */
static enum rc
sse_parse_chunks(struct str s, size_t step, struct recorded_events *events)
{
	enum rc rc = RC_OK;
	struct sse_reader p;

	buf_init(&events->buf, SIZE_MAX / 2);
	events->n = 0;
	sse_reader_init(&p, MAX);
	while (s.n > 0 && rc == RC_OK) {
		size_t n = s.n < step ? s.n : step;
		rc = sse_reader_feed(
		    &p, (struct str){ s.p, n }, sse_record_event, events);
		s.p += n;
		s.n -= n;
	}
	if (rc != RC_OK && rc != RC_TOOBIG)
		abort();
	sse_reader_free(&p);
	return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct recorded_events whole, chunks;

	if (n == 0)
		return 0;
	struct str s = { (const char *)data + 1, n - 1 };
	enum rc a = sse_parse_chunks(s, s.n, &whole);
	enum rc b = sse_parse_chunks(s, (size_t)data[0] + 1, &chunks);
	if (a != b || whole.n != chunks.n ||
	    !str_eq(buf_str(&whole.buf), buf_str(&chunks.buf)))
		abort();
	buf_free(&whole.buf);
	buf_free(&chunks.buf);
	return 0;
}
