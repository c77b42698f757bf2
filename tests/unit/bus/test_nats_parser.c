/*
 * What a server sends: whole frames, parts of them, and nonsense.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus_internal.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static const struct frame_case {
	const char *in;
	enum rc rc;
	struct bus_frame f; /* of RC_OK */
	size_t rest;        /* bytes after it */
} cases[] = {
	{ "MSG a.b 7 2\r\nhi\r\n", RC_OK,
	    { .op = BUS_OP_MSG,
		.sid = 7,
		.subject = { "a.b", 3 },
		.data = { "hi", 2 } },
	    0 },
	{ "MSG a 7 _INBOX.x.1 0\r\n\r\nPING\r\n", RC_OK,
	    { .op = BUS_OP_MSG,
		.sid = 7,
		.subject = { "a", 1 },
		.reply = { "_INBOX.x.1", 10 },
		.data = { "", 0 } },
	    6 },
	{ "MSG  a  1099511627777   1\r\n\n\r\n", RC_OK,
	    { .op = BUS_OP_MSG,
		.sid = 1099511627777,
		.subject = { "a", 1 },
		.data = { "\n", 1 } },
	    0 },
	{ "HMSG a 1 r 18 20\r\nNATS/1.0\r\nk: v\r\n\r\nhi\r\n", RC_OK,
	    { .op = BUS_OP_MSG,
		.sid = 1,
		.subject = { "a", 1 },
		.reply = { "r", 1 },
		.data = { "hi", 2 },
		.headers = { "NATS/1.0\r\nk: v\r\n\r\n", 18 } },
	    0 },
	{ "HMSG a 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", RC_OK,
	    { .op = BUS_OP_MSG,
		.sid = 1,
		.subject = { "a", 1 },
		.data = { "", 0 },
		.headers = { "NATS/1.0 503\r\n\r\n", 16 } },
	    0 },
	{ "PING\r\n", RC_OK, { .op = BUS_OP_PING }, 0 },
	{ "PONG\r\nPONG\r\n", RC_OK, { .op = BUS_OP_PONG }, 6 },
	{ "+OK\r\n", RC_OK, { .op = BUS_OP_OK }, 0 },
	{ "-ERR 'Slow Consumer'\r\n", RC_OK,
	    { .op = BUS_OP_ERR, .text = { "'Slow Consumer'", 15 } }, 0 },
	{ "INFO {\"a\":1} \r\n", RC_OK,
	    { .op = BUS_OP_INFO, .text = { "{\"a\":1}", 7 } }, 0 },

	{ .in = "PING\n", .rc = RC_INVALID },
	{ .in = "\r\n", .rc = RC_INVALID },
	{ .in = "\n", .rc = RC_INVALID },
	{ .in = "ping\r\n", .rc = RC_INVALID },
	{ .in = "HTTP/1.1 400 Bad Request\r\n", .rc = RC_INVALID },
	{ .in = "MSG \r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1 b c 1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a x 1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 0 1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a -1 1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1 -1\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1 1x\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1 2\r\nhi!!", .rc = RC_INVALID },
	{ .in = "HMSG a 1 3\r\nabc\r\n", .rc = RC_INVALID },
	{ .in = "HMSG a 1 4 3\r\nabc\r\n", .rc = RC_INVALID },
	{ .in = "MSG a 1 67108865\r\n", .rc = RC_TOOBIG },
	{ .in = "MSG a 1 9223372036854775807\r\n", .rc = RC_TOOBIG },
	{ .in = "HMSG a 1 67108865 67108865\r\n", .rc = RC_TOOBIG },
};

static bool
same(struct str a, struct str b)
{
	return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

TEST(frames_are_parsed)
{
	const struct frame_case *c;
	struct bus_frame f;
	size_t i, n;

	for (i = 0; i < NELEM(cases); i++) {
		c = &cases[i];
		n = 0;
		ck_assert_msg(bus_frame_parse(str_of(c->in), &f, &n) == c->rc,
		    "%s", c->in);
		if (c->rc != RC_OK)
			continue;
		ck_assert_msg(
		    n == strlen(c->in) - c->rest, "%s: %zu", c->in, n);
		ck_assert_int_eq(f.op, c->f.op);
		ck_assert_uint_eq(f.sid, c->f.sid);
		ck_assert_msg(same(f.subject, c->f.subject) &&
			same(f.reply, c->f.reply) && same(f.data, c->f.data) &&
			same(f.headers, c->f.headers) &&
			str_eq(f.text, c->f.text),
		    "%s", c->in);
	}
}

TEST(a_part_of_a_frame_waits_for_the_rest)
{
	struct bus_frame f;
	size_t i, n, k;

	for (i = 0; i < NELEM(cases); i++) {
		if (cases[i].rc != RC_OK)
			continue;
		n = strlen(cases[i].in) - cases[i].rest;
		for (k = 0; k < n; k++)
			ck_assert_msg(
			    bus_frame_parse((struct str){ cases[i].in, k }, &f,
				&n) == RC_RETRY,
			    "%.*s", (int)k, cases[i].in);
	}
}

TEST(a_line_has_a_limit)
{
	char *line = mem_alloc(BUS_LINE_MAX);
	struct bus_frame f;
	size_t n;

	memset(line, 'x', BUS_LINE_MAX);
	ck_assert_int_eq(
	    bus_frame_parse((struct str){ line, BUS_LINE_MAX - 1 }, &f, &n),
	    RC_RETRY);
	ck_assert_int_eq(
	    bus_frame_parse((struct str){ line, BUS_LINE_MAX }, &f, &n),
	    RC_TOOBIG);
	free(line);
}

TEST(headers_are_found)
{
	const struct str h = STR("NATS/1.0 408 Timeout\r\nNats-Msg-Id:  7 \r\n"
				 "a:b:c\r\nempty:\r\nnats-msg-id: 8\r\n"
				 "a: second\r\nno colon\r\n\r\n");

	ck_assert(same(bus_headers_find(h, "Nats-Msg-Id"), STR("7")));
	ck_assert(same(bus_headers_find(h, "nats-msg-id"), STR("8")));
	ck_assert(same(bus_headers_find(h, "a"), STR("b:c")));
	ck_assert(same(bus_headers_find(h, "empty"), STR("")));
	ck_assert_ptr_null(bus_headers_find(h, "no colon").p);
	ck_assert_ptr_null(bus_headers_find(h, "NATS/1.0 408 Timeout").p);
	ck_assert_ptr_null(bus_headers_find((struct str){ NULL, 0 }, "a").p);
	ck_assert_int_eq(bus_headers_status(h), 408);
	ck_assert_int_eq(bus_headers_status(STR("NATS/1.0 503\r\n\r\n")), 503);
	ck_assert_int_eq(bus_headers_status(STR("NATS/1.0\r\n\r\n")), 0);
	ck_assert_int_eq(bus_headers_status(STR("NATS/1.0 50\r\n\r\n")), 0);
	ck_assert_int_eq(bus_headers_status(STR("HTTP/1.0 503\r\n\r\n")), 0);
	ck_assert_int_eq(bus_headers_status((struct str){ NULL, 0 }), 0);
}

TEST(a_message_is_a_copy_with_ends)
{
	char in[] = "HMSG a.b 1 r.s 18 20\r\nNATS/1.0\r\nk: v\r\n\r\nhi\r\n";
	struct bus_frame f;
	struct bus_msg *m;
	size_t n;

	ck_assert_int_eq(
	    bus_frame_parse((struct str){ in, strlen(in) }, &f, &n), RC_OK);
	m = bus_msg_new(NULL, &f);
	memset(in, 'x', sizeof(in) - 1);
	ck_assert_str_eq(m->subject.p, "a.b");
	ck_assert_str_eq(m->reply.p, "r.s");
	ck_assert_str_eq(m->data.p, "hi");
	ck_assert_str_eq(bus_headers_find(m->headers, "k").p, "v");
	ck_assert(!bus_msg_is_unserved(m));
	bus_msg_free(m);
}
