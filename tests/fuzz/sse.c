/*
 * The event stream parser, fed at once and in pieces whose sizes the input
 * chooses: both must see the same events, within the ceiling.
 */
#include <stdlib.h>

#include "httpc/sse_reader.h"
#include "must.h"

#define MAX 256

struct seen {
	struct buf events;
	size_t n;
};

static enum rc
on_event(void *arg, const struct sse_event *e)
{
	struct seen *s = arg;

	if (e->data.n > MAX || e->id.n > MAX || e->type.n > MAX ||
	    e->type.n == 0)
		abort();
	if (e->id.n > 0 && memchr(e->id.p, '\0', e->id.n) != NULL)
		abort();
	if (memchr(e->type.p, '\n', e->type.n) != NULL ||
	    (e->data.n > 0 && memchr(e->data.p, '\r', e->data.n) != NULL))
		abort();
	buf_printf(&s->events, "%zu %zu %zu:", e->type.n, e->id.n, e->data.n);
	buf_put_str(&s->events, e->type);
	buf_put_str(&s->events, e->id);
	buf_put_str(&s->events, e->data);
	s->n++;
	return RC_OK;
}

/* Parse s in pieces of step bytes; RC_TOOBIG ends it. */
static enum rc
parse(struct str s, size_t step, struct seen *seen)
{
	enum rc rc = RC_OK;
	struct sse_reader p;

	buf_init(&seen->events, SIZE_MAX / 2);
	seen->n = 0;
	sse_reader_init(&p, MAX);
	while (s.n > 0 && rc == RC_OK) {
		size_t n = s.n < step ? s.n : step;
		rc =
		    sse_reader_feed(&p, (struct str){ s.p, n }, on_event, seen);
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
	struct seen whole, chunks;

	if (n == 0)
		return 0;
	struct str s = { (const char *)data + 1, n - 1 };
	enum rc a = parse(s, s.n, &whole);
	enum rc b = parse(s, (size_t)data[0] + 1, &chunks);
	if (a != b || whole.n != chunks.n ||
	    !str_eq(buf_str(&whole.events), buf_str(&chunks.events)))
		abort();
	buf_free(&whole.events);
	buf_free(&chunks.events);
	return 0;
}
