/*
 * The done marker: a message in any parts gives what it gives as a whole; what
 * is released is a beginning of the text, and no reader sees a marker that is
 * found.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "fcmp/done_marker.h"
#include "must.h"
#include "wire/tree.h"

#define MESSAGE_MAX 100000

/* The message in parts of 1 to 16 bytes, by the bits of seed. */
static void
marker_parts(
    struct done_marker *m, struct str text, uint32_t seed, struct buf *released)
{
	while (text.n > 0) {
		size_t n = (seed & 15) + 1;

		if (n > text.n)
			n = text.n;
		seed = seed * 1664525 + 1013904223;
		done_marker_put(m, (struct str){ text.p, n });
		text.p += n;
		text.n -= n;
		if ((seed & 0x10000) != 0)
			buf_put_str(released, done_marker_release(m));
	}
	buf_put_str(released, done_marker_release(m));
}

static void
marker_check(const struct done_result *r, struct str text)
{
	must(r->text.n <= text.n);
	must(r->markers > 0 || str_eq(r->text, text));
	must(r->payload.p == NULL || wire_is_object(r->payload));
	must(r->payload.p == NULL ||
	    memchr(r->payload.p, '\n', r->payload.n) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct done_marker *whole, *parts;
	struct buf released = BUF_INIT(2 * MESSAGE_MAX);
	struct done_result a, b;
	struct str text;
	uint32_t seed;

	if (n < 4 || n > MESSAGE_MAX)
		return 0;
	memcpy(&seed, data, 4);
	text = (struct str){ (const char *)data + 4, n - 4 };
	whole = done_marker_new(MESSAGE_MAX);
	parts = done_marker_new(MESSAGE_MAX);
	done_marker_put(whole, text);
	done_marker_finish(whole, &a);
	marker_parts(parts, text, seed, &released);
	done_marker_finish(parts, &b);
	must(str_eq(a.text, b.text) && str_eq(a.payload, b.payload));
	must(a.markers == b.markers && !a.truncated && !b.truncated);
	must(str_starts(b.text, buf_str(&released)));
	marker_check(&a, text);
	done_marker_free(whole);
	done_marker_free(parts);
	buf_free(&released);
	return 0;
}
