/*
 * Bytes of a WebSocket client: read in any parts, they give the same messages
 * and the same end.  The first two bytes say where the rest is divided.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "must.h"
#include "ws/frame_reader.h"

#define MESSAGE_MAX 1024

static struct buf *seen;

static void
seen_put(char kind, struct str data)
{
	buf_printf(seen, "%c%zu:", kind, data.n);
	buf_put_str(seen, data);
}

static bool
on_message(void *arg, struct str data, bool binary)
{
	(void)arg;
	must(data.n <= MESSAGE_MAX);
	must(binary || str_utf8_count(data) >= 0);
	seen_put(binary ? 'b' : 't', data);
	return true;
}

static bool
on_ping(void *arg, struct str data)
{
	(void)arg;
	must(data.n <= WS_CONTROL_MAX);
	seen_put('i', data);
	return true;
}

static bool
on_pong(void *arg, struct str data)
{
	(void)arg;
	must(data.n <= WS_CONTROL_MAX);
	seen_put('o', data);
	return true;
}

static void
on_close(void *arg, unsigned code, struct str reason)
{
	(void)arg;
	must(code >= 1000 && code < 5000 && code != 1006);
	must(str_utf8_count(reason) >= 0);
	buf_printf(seen, "c%u", code);
	seen_put('r', reason);
}

/* Read data in parts of at most n bytes, each in memory of its own. */
static void
read_parts(struct frame_reader_pool *pool, struct str data, size_t n)
{
	static const struct frame_reader_handler h = { on_message, on_ping,
		on_pong, on_close, NULL };
	struct frame_reader *r = frame_reader_new(pool, &h, MESSAGE_MAX);
	enum ws_close code = WS_CLOSE_NONE;
	const char *why = NULL;
	char *part;
	size_t k;

	for (; data.n > 0 && code == WS_CLOSE_NONE; data.p += k, data.n -= k) {
		k = data.n < n ? data.n : n;
		part = mem_alloc(k);
		memcpy(part, data.p, k);
		code = frame_reader_feed(r, part, k, &why);
		free(part);
	}
	must(code == WS_CLOSE_NONE || why != NULL);
	buf_printf(seen, "e%d", (int)code);
	/* The message's memory grows by halves, beside the reader's own. */
	must(frame_reader_memory(r) < 16UL * 1024);
	frame_reader_free(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct buf all = BUF_INIT(1 << 24), parts = BUF_INIT(1 << 24);
	struct frame_reader_pool *pool = frame_reader_pool_new();
	struct str data;

	if (n >= 2) {
		data = (struct str){ (const char *)bytes + 2, n - 2 };
		seen = &all;
		read_parts(pool, data, data.n + 1);
		seen = &parts;
		read_parts(
		    pool, data, 1U + (bytes[0] + 256U * bytes[1]) % 300U);
		must(str_eq(buf_str(&all), buf_str(&parts)));
	}
	frame_reader_pool_free(pool);
	buf_free(&all);
	buf_free(&parts);
	return 0;
}
