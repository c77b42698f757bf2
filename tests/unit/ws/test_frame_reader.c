/*
 * Frames of clients, by the rules of RFC 6455.  Each row is fed at once, byte
 * by byte, and in all pairs of two parts, with the same result.
 */
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/ws_frames.h"
#include "ws/frame_reader.h"

static struct frame_reader_pool *pool;
static struct buf seen = BUF_INIT(1 << 20);

/* ---- what a reader reports, as text ---- */

static bool
on_message(void *arg, struct str data, bool binary)
{
	(void)arg;
	ws_frames_put_seen(&seen, binary ? "binary=" : "text=", data);
	return true;
}

static bool
on_ping(void *arg, struct str data)
{
	(void)arg;
	ws_frames_put_seen(&seen, "ping=", data);
	return true;
}

static bool
on_pong(void *arg, struct str data)
{
	(void)arg;
	ws_frames_put_seen(&seen, "pong=", data);
	return true;
}

static void
on_close(void *arg, unsigned code, struct str reason)
{
	(void)arg;
	buf_printf(&seen, "close=%u/%.*s ", code, STR_ARG(reason));
}

static struct frame_reader *
reader_new(void)
{
	static const struct frame_reader_handler h = { on_message, on_ping,
		on_pong, on_close, NULL };

	return frame_reader_new(pool, &h, WS_FRAMES_MESSAGE_MAX);
}

static bool
reader_feed(struct frame_reader *r, const char *p, size_t n)
{
	/* A separate copy, so that a sanitizer sees a read past its end. */
	char *copy = mem_alloc(n > 0 ? n : 1);
	const char *why = NULL;

	memcpy(copy, p, n);
	enum ws_close code = frame_reader_feed(r, copy, n, &why);
	if (code != WS_CLOSE_NONE) {
		ck_assert_ptr_nonnull(why);
		buf_printf(&seen, "error=%d ", (int)code);
	}
	free(copy);
	return code == WS_CLOSE_NONE;
}

static void
row_check(const struct ws_frames_row *row, struct str bytes, size_t a, size_t b)
{
	struct frame_reader *r = reader_new();
	size_t i = 0, n;
	bool more = true;

	/* Parts of a bytes, then of b bytes, then the rest. */
	buf_reset(&seen);
	while (more && i < bytes.n) {
		n = i == 0 ? a : b;
		n = i + n < bytes.n ? n : bytes.n - i;
		more = reader_feed(r, bytes.p + i, n);
		i += n;
	}
	ck_assert_msg(str_eq(buf_str(&seen), str_of(row->expected)),
	    "%s in parts of %zu and %zu: %s, expected %s", row->frames, a, b,
	    seen.n > 0 ? seen.p : "", row->expected);
	frame_reader_free(r);
}

TEST_T(frames_are_read_as_rfc_6455_has_them, 60)
{
	struct buf b = BUF_INIT(1 << 20);
	size_t i, at;

	pool = frame_reader_pool_new();
	ck_assert_uint_ge(ws_frames_n, 101);
	for (i = 0; i < ws_frames_n; i++) {
		buf_reset(&b);
		ws_frames_put(&b, ws_frames_rows[i].frames);
		row_check(&ws_frames_rows[i], buf_str(&b), b.n, b.n);
		row_check(&ws_frames_rows[i], buf_str(&b), 1, 1);
		for (at = 1; at < b.n && at < 200; at++)
			row_check(&ws_frames_rows[i], buf_str(&b), at, b.n);
	}
	buf_free(&b);
	frame_reader_pool_free(pool);
}

TEST(a_reader_between_frames_takes_little_memory)
{
	struct buf b = BUF_INIT(1 << 20);
	struct frame_reader *r;
	size_t least;

	pool = frame_reader_pool_new();
	r = reader_new();
	least = frame_reader_memory(r);
	ck_assert_uint_le(least, 512);
	ws_frames_put(&b, "81*1000 | 81 a");
	ck_assert(reader_feed(r, b.p, b.n));
	ck_assert_uint_eq(frame_reader_memory(r), least);
	frame_reader_free(r);
	buf_free(&b);
	frame_reader_pool_free(pool);
}
