/* What hubs write to each other is what they read, and nothing else is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/link_record.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define TO    STR_INIT("one/a/demo_world/agent_001")
#define FROM  STR_INIT("one/e//demo_world")
#define BYTES STR_INIT("{\"a\":\"\t\n\"}\n")

/* Every kind, with all its fields. */
static const struct record_row {
	struct link_record r;
	const char *line;
} rows[] = {
	{ { .kind = LINK_HUB, .text = STR_INIT("hub-1") }, "H\thub-1\n" },
	{ { .kind = LINK_MESSAGE,
	      .n = 7,
	      .gen = 5,
	      .to = TO,
	      .from = FROM,
	      .prefix = 9,
	      .bytes = BYTES },
	    "M\t7\t5\tone/a/demo_world/agent_001\tone/e//demo_world\t9\t11\n" },
	{ { .kind = LINK_ROOM,
	      .n = 7,
	      .audience = 2,
	      .to = TO,
	      .from = FROM,
	      .gen = 5,
	      .seq = 3,
	      .prefix = 9,
	      .bytes = BYTES },
	    "B\t7\t2\tone/a/demo_world/agent_001\tone/e//demo_world\t5\t3\t9\t"
	    "11\n" },
	{ { .kind = LINK_ALL,
	      .n = 7,
	      .audience = 3,
	      .to = STR_INIT("one"),
	      .from = FROM,
	      .bytes = BYTES },
	    "G\t7\t3\tone\tone/e//demo_world\t0\t11\n" },
	{ { .kind = LINK_PART, .bytes = BYTES }, "P\t11\n" },
	{ { .kind = LINK_DONE, .n = INT64_MAX }, "A\t9223372036854775807\n" },
	{ { .kind = LINK_REJECTED,
	      .n = 7,
	      .text = STR_INIT("moved"),
	      .bytes = BYTES },
	    "R\t7\tmoved\t11\n" },
	{ { .kind = LINK_LOST, .n = 7, .seq = 9 }, "X\t7\t9\n" },
	{ { .kind = LINK_KICK, .to = TO, .text = STR_INIT("why not") },
	    "K\tone/a/demo_world/agent_001\twhy not\n" },
	{ { .kind = LINK_JOINED, .gen = 5, .to = TO, .seq = 3 },
	    "J\t5\tone/a/demo_world/agent_001\t3\n" },
	{ { .kind = LINK_CURSOR, .gen = 5, .to = TO, .from = FROM, .seq = 3 },
	    "C\t5\tone/a/demo_world/agent_001\tone/e//demo_world\t3\n" },
	{ { .kind = LINK_LEFT, .gen = 5, .to = TO, .text = STR_INIT("closed") },
	    "L\t5\tone/a/demo_world/agent_001\tclosed\n" },
	{ { .kind = LINK_ENTERED, .gen = 5, .to = TO, .from = FROM, .seq = 3 },
	    "I\t5\tone/a/demo_world/agent_001\tone/e//demo_world\t3\n" },
	{ { .kind = LINK_EXITED,
	      .gen = 5,
	      .to = TO,
	      .from = FROM,
	      .text = STR_INIT("closed") },
	    "O\t5\tone/a/demo_world/agent_001\tone/e//demo_world\tclosed\n" },
	{ { .kind = LINK_DETACHED, .gen = 5, .to = TO, .from = FROM },
	    "D\t5\tone/a/demo_world/agent_001\tone/e//demo_world\n" },
	{ { .kind = LINK_RESUMED, .gen = 5, .to = TO, .from = FROM },
	    "U\t5\tone/a/demo_world/agent_001\tone/e//demo_world\n" },
	{ { .kind = LINK_SYNC }, "S\n" },
	{ { .kind = LINK_QUERY, .to = STR_INIT("one") }, "Q\tone\n" },
	{ { .kind = LINK_ENVIRONMENT, .n = 2, .audience = 1, .to = FROM },
	    "E\t2\t1\tone/e//demo_world\n" },
	{ { .kind = LINK_CLIENTS, .n = 2, .seq = 1, .audience = 4 },
	    "N\t2\t1\t4\n" },
	{ { .kind = LINK_TAKEOVER,
	      .gen = 5,
	      .to = TO,
	      .n = 12,
	      .text = STR_INIT("0123456789abcdef") },
	    "T\t5\tone/a/demo_world/agent_001\t12\t0123456789abcdef\n" },
	{ { .kind = LINK_SESSION, .n = 12, .text = STR_INIT("resumed") },
	    "V\t12\tresumed\n" },
	{ { .kind = LINK_FRAME, .seq = 3, .n = 99, .bytes = BYTES },
	    "F\t3\t99\t11\n" },
	{ { .kind = LINK_MONITOR,
	      .to = FROM,
	      .from = TO,
	      .text = STR_INIT("human bob"),
	      .n = 11,
	      .bytes = BYTES },
	    "Y\tone/e//demo_world\tone/a/demo_world/agent_001\thuman bob"
	    "\t11\t11\n" },
};

static void
record_expect(const struct link_record *is, const struct link_record *r)
{
	ck_assert_int_eq(is->kind, r->kind);
	ck_assert_int_eq(is->n, r->n);
	ck_assert_int_eq(is->gen, r->gen);
	ck_assert_int_eq(is->seq, r->seq);
	ck_assert_int_eq(is->audience, r->audience);
	ck_assert_int_eq(is->prefix, r->prefix);
	ck_assert(str_eq(is->to, r->to));
	ck_assert(str_eq(is->from, r->from));
	ck_assert(str_eq(is->text, r->text));
	ck_assert(str_eq(is->bytes, r->bytes));
}

TEST(every_kind_is_read_as_it_was_written)
{
	struct buf all = BUF_INIT(65536), one = BUF_INIT(65536);
	struct link_record r;
	struct str in;
	size_t i, n;

	for (i = 0; i < NELEM(rows); i++) {
		buf_reset(&one);
		link_record_write(&rows[i].r, &one);
		n = strlen(rows[i].line);
		ck_assert_msg(one.n == n + rows[i].r.bytes.n &&
			memcmp(one.p, rows[i].line, n) == 0,
		    "%.*s", STR_ARG(buf_str(&one)));
		buf_put_str(&all, buf_str(&one));
	}
	in = buf_str(&all);
	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(link_record_next(&in, &r), RC_OK);
		record_expect(&r, &rows[i].r);
	}
	ck_assert_int_eq(link_record_next(&in, &r), RC_NOENT);
	buf_free(&one);
	buf_free(&all);
}

/* A copy of its own size, so that a sanitizer sees reads beyond it. */
static enum rc
read_copy(struct str text)
{
	char *copy = mem_alloc(text.n > 0 ? text.n : 1);
	struct str in = { copy, text.n };
	struct link_record r;
	enum rc rc;

	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	rc = link_record_next(&in, &r);
	free(copy);
	return rc;
}

TEST(a_truncated_record_is_none)
{
	struct buf b = BUF_INIT(65536);
	size_t i, n;

	for (i = 0; i < NELEM(rows); i++) {
		buf_reset(&b);
		link_record_write(&rows[i].r, &b);
		ck_assert_int_eq(read_copy(buf_str(&b)), RC_OK);
		for (n = 1; n < b.n; n++)
			ck_assert_msg(
			    read_copy((struct str){ b.p, n }) == RC_INVALID,
			    "%c of %zu bytes", rows[i].line[0], n);
	}
	ck_assert_int_eq(read_copy((struct str){ b.p, 0 }), RC_NOENT);
	buf_free(&b);
}

TEST(what_is_no_record_is_rejected)
{
	static const char *const wrong[] = { /* Kinds. */
		"\n", "\t\n", "Z\t1\n", "a\t1\n", "AA\t1\n", " A\t1\n",
		/* Fields: too few, too many, empty numbers. */
		"A\n", "A\t\n", "A\t1\t\n", "A\t1\t2\n", "S\t\n", "Q\n",
		"X\t1\n", "J\t1\n", "J\tone\n", "E\t1\t1\n",
		/* Numbers. */
		"A\t-1\n", "A\t+1\n", "A\t 1\n", "A\t1 \n", "A\t0x1\n",
		"A\t1.0\n", "A\t9223372036854775808\n",
		"A\t99999999999999999999\n", "X\t1\tone\n",
		/* Bytes beyond the end. */
		"P\t1\n", "P\t4\nabc", "P\t9223372036854775807\nabc",
		"P\t-1\nabc", "P\t\nabc", "F\t1\t2\na",
		"R\t1\tmoved\t18446744073709551615\nabc",
		/* Not whole. */
		"A\t1", "A", "H\tname"
	};
	size_t i;

	for (i = 0; i < NELEM(wrong); i++)
		ck_assert_msg(
		    read_copy(str_of(wrong[i])) == RC_INVALID, "%s", wrong[i]);
}

TEST(a_line_has_a_limit)
{
	static const size_t sizes[] = { 1, LINK_RECORD_MAX - 1, LINK_RECORD_MAX,
		LINK_RECORD_MAX + 1, 1 << 20 };
	struct buf b = BUF_INIT(2UL << 20);
	size_t i;

	/* Its length with the end of the line. */
	for (i = 1; i < NELEM(sizes); i++) {
		buf_reset(&b);
		buf_puts(&b, "H\t");
		while (b.n < sizes[i] - 1)
			buf_putc(&b, 'x');
		buf_putc(&b, '\n');
		ck_assert_int_eq(read_copy(buf_str(&b)),
		    sizes[i] <= LINK_RECORD_MAX ? RC_OK : RC_INVALID);
	}
	buf_free(&b);
}

TEST(text_cannot_end_a_field_or_a_line)
{
	static const struct link_record left = { .kind = LINK_LEFT,
		.gen = 1,
		.to = STR_INIT("a\tb\nc"),
		.text = STR_INIT("x\r\177\001y") };
	struct buf b = BUF_INIT(4096);
	struct link_record r;
	struct str in;

	link_record_write(&left, &b);
	in = buf_str(&b);
	ck_assert_int_eq(link_record_next(&in, &r), RC_OK);
	ck_assert_uint_eq(in.n, 0);
	ck_assert(str_eq(r.to, STR("a b c")));
	ck_assert(str_eq(r.text, STR("x   y")));
	buf_free(&b);
}
