/* The event stream parser: fields, line ends, chunks, limits. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "httpc/sse_reader.h"
#include "testkit/testkit.h"

/* Appends each event as "type/id/data;". */
static enum rc
record_event(void *arg, const struct sse_event *e)
{
	struct buf *out = arg;

	buf_put_str(out, e->type);
	buf_putc(out, '/');
	buf_put_str(out, e->id);
	buf_putc(out, '/');
	buf_put_str(out, e->data);
	buf_putc(out, ';');
	return RC_OK;
}

/* Parse in, fed in chunks of the given size (0: all). */
static void
parse(struct str in, size_t chunk_size, struct buf *out, int64_t *retry_ms)
{
	struct sse_reader p;

	buf_reset(out);
	sse_reader_init(&p, 1024);
	if (chunk_size == 0)
		chunk_size = in.n > 0 ? in.n : 1;
	for (size_t at = 0; at < in.n; at += chunk_size) {
		struct str s = { in.p + at,
			in.n - at < chunk_size ? in.n - at : chunk_size };
		ck_assert_int_eq(
		    sse_reader_feed(&p, s, record_event, out), RC_OK);
	}
	*retry_ms = p.retry_ms;
	sse_reader_free(&p);
}

#define ROW(in, out)              \
	{                         \
		STR_INIT(in), out \
	}

static const struct {
	struct str in;
	const char *out;
} rows[] = {
	ROW("", ""),
	ROW("data: a\n\n", "message//a;"),
	ROW("data: a\r\n\r\n", "message//a;"),
	ROW("data: a\r\r", "message//a;"),
	ROW("data: a\r\n\n", "message//a;"),
	ROW("data: a\n\r\n", "message//a;"),
	ROW("data: a\r\n\r", "message//a;"),
	ROW("data:a\n\n", "message//a;"),
	ROW("data:  a \n\n", "message// a ;"),
	ROW("data:\ta\n\n", "message//\ta;"),
	ROW("data: a\ndata: b\n\n", "message//a\nb;"),
	ROW("data: a\ndata:\ndata: b\n\n", "message//a\n\nb;"),
	ROW("data\n\n", "message//;"),
	ROW("data:\n\n", "message//;"),
	ROW("data\ndata\n\n", "message//\n;"),
	/* Without data there is no event; the type is reset. */
	ROW("event: x\n\ndata: a\n\n", "message//a;"),
	ROW("event: x\ndata: a\n\ndata: b\n\n", "x//a;message//b;"),
	ROW("event: x\nevent: y\ndata: a\n\n", "y//a;"),
	ROW("event: x\nevent:\ndata: a\n\n", "message//a;"),
	ROW("event\ndata: a\n\n", "message//a;"),
	/* The id persists, even from an event without data. */
	ROW("id: 1\ndata: a\n\ndata: b\n\n", "message/1/a;message/1/b;"),
	ROW("id: 1\n\ndata: b\n\n", "message/1/b;"),
	ROW("id: 1\ndata: a\n\nid\ndata: b\n\n", "message/1/a;message//b;"),
	ROW("id: 1\ndata: a\n\nid:\ndata: b\n\n", "message/1/a;message//b;"),
	ROW("id: 1\nid: 2\0003\ndata: a\n\n", "message/1/a;"),
	ROW("data: a\nid: 1\n\n", "message/1/a;"),
	/* Comments and unknown fields. */
	ROW(": ka\n\n:\n:data: x\ndata: a\n: in between\ndata: b\n\n",
	    "message//a\nb;"),
	ROW("Data: x\ndata : y\n data: z\nfoo: b\nfoo\ndata: a\n\n",
	    "message//a;"),
	ROW("data: a:b: c\n\n", "message//a:b: c;"),
	/* One BOM, and only at the start. */
	ROW("\xef\xbb\xbf"
	    "data: a\n\n",
	    "message//a;"),
	ROW("\xef\xbb\xbf\xef\xbb\xbf"
	    "data: a\n\ndata: b\n\n",
	    "message//b;"),
	ROW("data: a\n\n\xef\xbb\xbf"
	    "data: b\n\n",
	    "message//a;"),
	ROW("\n\xef\xbb\xbf"
	    "data: b\n\n",
	    ""),
	ROW("\xef\xbb\xbf\n\xef\xbb\xbf\n", ""),
	/* An incomplete event at the end. */
	ROW("data: a", ""),
	ROW("data: a\n", ""),
	ROW("data: a\n\ndata: b\n", "message//a;"),
	/* UTF-8, and bytes that are not. */
	ROW("data: \xe4\xbd\xa0\n\n", "message//\xe4\xbd\xa0;"),
	ROW("data: \xff\xfe\n\n", "message//\xff\xfe;"),
	ROW("\n\n\n\r\n\r\r", ""),
	ROW("data: {\"a\":1}\n\ndata: [DONE]\n\n",
	    "message//{\"a\":1};message//[DONE];"),
};

TEST(streams_are_parsed_in_chunks_of_any_size)
{
	struct buf out = BUF_INIT(4096);
	int64_t retry;

	for (size_t i = 0; i < NELEM(rows); i++)
		for (size_t chunk_size = 0; chunk_size <= rows[i].in.n;
		     chunk_size++) {
			parse(rows[i].in, chunk_size, &out, &retry);
			ck_assert_msg(
			    str_eq(buf_str(&out), str_of(rows[i].out)),
			    "row %zu in pieces of %zu: %s", i, chunk_size,
			    out.p);
			ck_assert_int_eq(retry, -1);
		}
	buf_free(&out);
}

TEST(streams_are_parsed_when_split_anywhere)
{
	struct buf out = BUF_INIT(4096);

	for (size_t i = 0; i < NELEM(rows); i++)
		for (size_t cut = 0; cut <= rows[i].in.n; cut++) {
			struct str in = rows[i].in;
			struct str a = { in.p, cut };
			struct str b = { in.p + cut, in.n - cut };
			struct sse_reader p;
			buf_reset(&out);
			sse_reader_init(&p, 1024);
			ck_assert_int_eq(
			    sse_reader_feed(&p, a, record_event, &out), RC_OK);
			ck_assert_int_eq(
			    sse_reader_feed(&p, b, record_event, &out), RC_OK);
			ck_assert(str_eq(buf_str(&out), str_of(rows[i].out)));
			sse_reader_free(&p);
		}
	buf_free(&out);
}

TEST(retry_fields_are_parsed)
{
	static const struct {
		struct str in;
		int64_t ms;
	} retries[] = {
		{ STR_INIT("retry: 2000\n\n"), 2000 },
		{ STR_INIT("retry:0\n"), 0 },
		{ STR_INIT("retry: 007\n"), 7 },
		{ STR_INIT("retry: 1\nretry: 2\n"), 2 },
		{ STR_INIT("retry: 1\nretry: x\n"), 1 },
		{ STR_INIT("retry: 1 \n"), -1 },
		{ STR_INIT("retry: -1\n"), -1 },
		{ STR_INIT("retry: +1\n"), -1 },
		{ STR_INIT("retry: 1.5\n"), -1 },
		{ STR_INIT("retry:\n"), -1 },
		{ STR_INIT("retry: 99999999999999999999\n"), -1 },
	};
	struct buf out = BUF_INIT(64);
	int64_t ms;

	for (size_t i = 0; i < NELEM(retries); i++) {
		parse(retries[i].in, 1, &out, &ms);
		ck_assert_int_eq(ms, retries[i].ms);
		ck_assert_uint_eq(out.n, 0);
	}
	buf_free(&out);
}

TEST(lines_and_data_are_limited)
{
	struct buf out = BUF_INIT(4096);
	char text[128];
	struct sse_reader p;

	/* "data: " and 10 bytes fit in 16; one more does not. */
	sse_reader_init(&p, 16);
	ck_assert_int_eq(sse_reader_feed(&p, STR("data: 0123456789\n\n"),
			     record_event, &out),
	    RC_OK);
	ck_assert(str_eq(buf_str(&out), STR("message//0123456789;")));
	ck_assert_int_eq(
	    sse_reader_feed(&p, STR("data: 0123456789a"), record_event, &out),
	    RC_TOOBIG);
	sse_reader_free(&p);

	/* A line that never ends, byte by byte. */
	sse_reader_init(&p, 16);
	for (int i = 0; i < 16; i++)
		ck_assert_int_eq(
		    sse_reader_feed(&p, STR(":"), record_event, &out), RC_OK);
	ck_assert_int_eq(
	    sse_reader_feed(&p, STR(":"), record_event, &out), RC_TOOBIG);
	sse_reader_free(&p);

	/* Data of many short lines. */
	sse_reader_init(&p, 16);
	memset(text, 0, sizeof(text));
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(
		    sse_reader_feed(&p, STR("data:x\n"), record_event, &out),
		    RC_OK);
	ck_assert_int_eq(
	    sse_reader_feed(&p, STR("data:x\n"), record_event, &out),
	    RC_TOOBIG);
	sse_reader_free(&p);
	buf_free(&out);
}

/* Stops at the second event. */
static enum rc
stop_at_two(void *arg, const struct sse_event *e)
{
	int *n = arg;

	(void)e;
	return ++*n == 2 ? RC_CONFLICT : RC_OK;
}

TEST(a_callback_may_stop_the_parser)
{
	struct sse_reader p;
	int n = 0;

	sse_reader_init(&p, 64);
	ck_assert_int_eq(
	    sse_reader_feed(
		&p, STR("data:1\n\ndata:2\n\ndata:3\n\n"), stop_at_two, &n),
	    RC_CONFLICT);
	ck_assert_int_eq(n, 2);
	sse_reader_free(&p);
}
