/* Envelopes: what is read, what is wrong, what is forwarded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "core/trace.h"
#include "envelope.h"
#include "testkit/testkit.h"

#define MAX (1024UL * 1024)
#define A   "{\"id\":\"abc\",\"type\":\"agent\"}"
#define E   "{\"id\":\"env\",\"type\":\"environment\"}"
#define OK                                                        \
	"{\"type\":\"message\",\"sender\":" A ",\"recipient\":" E \
	",\"payload\":1}"

static struct arena *arena;

static enum rc
read_text(const char *text, struct envelope *e, struct envelope_errors *errors)
{
	if (arena == NULL)
		arena = arena_new(65536);
	return envelope_read(str_of(text), MAX, arena, e, errors);
}

TEST(what_is_wrong_has_a_path)
{
	static const char *const rows[][2] = {
		{ OK, "" },
		{ " \n" OK "\t", "" },
		{ "", "/: is not valid JSON|" },
		{ "{not json", "/: is not valid JSON|" },
		{ OK "x", "/: is not valid JSON|" },
		{ OK OK, "/: is not valid JSON|" },
		{ "1", "/: is not valid JSON|" },
		{ "[]", "/: must be an object|" },
		{ "{\"type\":\"message\"}",
		    "/sender: is missing|/recipient: is missing|"
		    "/payload: is missing|" },
		{ "{}",
		    "/type: is missing|/sender: is missing|"
		    "/recipient: is missing|/payload: is missing|" },
		{ "{\"type\":\"bogus\",\"sender\":" A ",\"recipient\":" E
		  ",\"payload\":1}",
		    "/type: must be message, heartbeat, error or "
		    "authenticate|" },
		{ "{\"type\":1,\"sender\":" A ",\"recipient\":" E
		  ",\"payload\":1}",
		    "/type: must be message, heartbeat, error or "
		    "authenticate|" },
		{ "{\"type\":\"heartbeat\",\"sender\":" A ",\"recipient\":" E
		  "}",
		    "" },
		{ "{\"type\":\"error\",\"sender\":" A ",\"recipient\":" E
		  ",\"payload\":null}",
		    "" },
		{ "{\"type\":\"message\",\"sender\":\"abc\",\"recipient\":[],"
		  "\"payload\":1}",
		    "/sender: must be an object|"
		    "/recipient: must be an object|" },
		{ "{\"type\":\"message\",\"sender\":{},\"recipient\":{},"
		  "\"payload\":1}",
		    "/sender/id: is missing|/sender/type: is missing|"
		    "/recipient/id: is missing|/recipient/type: is missing|" },
		{ "{\"type\":\"message\",\"sender\":{\"id\":1,\"type\":"
		  "\"agent\"},\"recipient\":{\"id\":\"\",\"type\":7,\"env\":1},"
		  "\"payload\":1}",
		    "/sender/id: must be a string that is not empty|"
		    "/recipient/id: must be a string that is not empty|"
		    "/recipient/env: must be a string|"
		    "/recipient/type: must be agent, environment, human or "
		    "hub|" },
		{ "{\"type\":\"message\",\"sender\":{\"id\":\"abc\",\"type\":"
		  "\"agent\"},\"recipient\":{\"id\":\"*\"},\"payload\":1}",
		    "" },
		/* One member, by another spelling, is there two times. */
		{ "{\"type\":\"message\",\"sender\":" A ",\"sen\\u0064er\":" A
		  ",\"recipient\":" E ",\"payload\":1}",
		    "/: is not valid JSON|" },
		{ "{\"type\":\"message\",\"sen\\u0064er\":" A
		  ",\"recipient\":" E ",\"payload\":1}",
		    "/sender: is missing|" },
		{ "{\"type\":\"message\",\"sender\":" A ",\"recipient\":" E
		  ",\"payload\":1e400}",
		    "/: is not valid JSON|" },
	};
	struct envelope_errors errors;
	struct envelope e;
	size_t i, k;

	for (i = 0; i < NELEM(rows); i++) {
		struct buf b = BUF_INIT(4096);
		enum rc rc = read_text(rows[i][0], &e, &errors);

		for (k = 0; k < errors.n; k++)
			buf_printf(&b, "%s|", errors.text[k]);
		ck_assert_msg(str_eq(buf_str(&b), str_of(rows[i][1])), "%s: %s",
		    rows[i][0], b.n > 0 ? b.p : "");
		ck_assert_int_eq(rc, errors.n == 0 ? RC_OK : RC_INVALID);
		buf_free(&b);
	}
}

TEST(an_unknown_class_is_an_error_of_its_own)
{
	struct envelope_errors errors;
	struct envelope e;

	ck_assert_int_eq(read_text("{\"type\":\"message\",\"sender\":" A
				   ",\"recipient\":{\"id\":\"abc\",\"type\":"
				   "\"alien\"},\"payload\":1}",
			     &e, &errors),
	    RC_INVALID);
	ck_assert(errors.unknown_class);
	ck_assert_int_eq(read_text("{}", &e, &errors), RC_INVALID);
	ck_assert(!errors.unknown_class);
}

TEST(a_traceparent_is_a_trace_if_it_is_valid)
{
#define T "0af7651916cd43dd8448eb211c80319c"
	static const struct {
		const char *value;
		bool valid;
	} rows[] = {
		{ "\"00-" T "-b7ad6b7169203331-01\"", true },
		{ "\"00-" T "-b7ad6b7169203331\"", false },
		{ "\"\"", false },
		{ "7", false },
		{ "{}", false },
		{ "null", false },
	};
	struct envelope_errors errors;
	struct envelope e;
	struct trace t;
	char text[512];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		snprintf(text, sizeof(text), "{\"traceparent\":%s,%s",
		    rows[i].value, &OK[1]);
		ck_assert_int_eq(read_text(text, &e, &errors), RC_OK);
		ck_assert_int_eq(envelope_trace(&e, &t), rows[i].valid);
		if (rows[i].valid)
			ck_assert_str_eq(t.trace_id, T);
	}
	ck_assert_int_eq(read_text(OK, &e, &errors), RC_OK);
	ck_assert(!envelope_trace(&e, &t));
#undef T
}

TEST(the_message_id_is_found_in_what_is_wrong_too)
{
	static const char *const rows[][2] = {
		{ "{\"id\":\"a\"}", "\"a\"" },
		{ "{\"message_id\":7,\"id\":\"a\"}", "7" },
		{ "{\"id\":{\"x\":[1, 2]}}", "{\"x\":[1, 2]}" },
		{ "{}", NULL },
		{ "{\"id\":1", NULL },
	};
	char longer[ENVELOPE_MESSAGE_ID_MAX + 32];
	struct envelope_errors errors;
	struct envelope e;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		ck_assert_int_eq(
		    read_text(rows[i][0], &e, &errors), RC_INVALID);
		ck_assert(str_eq(e.message_id, str_of(rows[i][1])));
		ck_assert_int_eq(e.message_id.p == NULL, rows[i][1] == NULL);
	}
	(void)snprintf(longer, sizeof(longer), "{\"id\":\"%0*d\"}",
	    ENVELOPE_MESSAGE_ID_MAX - 1, 1);
	ck_assert_int_eq(read_text(longer, &e, &errors), RC_INVALID);
	ck_assert_ptr_null(e.message_id.p);
}

TEST(a_message_is_forwarded_byte_for_byte)
{
	static const struct {
		const char *in;
		/* NULL: absent */
		const char *sender, *timestamp, *cursor;
		const char *out;
	} rows[] = {
		{ OK, NULL, NULL, NULL, OK },
		{ " " OK "\n", NULL, NULL, NULL, OK },
		{ OK, NULL, "now", NULL,
		    "{\"type\":\"message\",\"sender\":" A ",\"recipient\":" E
		    ",\"payload\":1,\"timestamp\":\"now\"}" },
		{ OK, "X", NULL, NULL,
		    "{\"type\":\"message\",\"sender\":X,\"recipient\":" E
		    ",\"payload\":1}" },
		{ OK, NULL, "now", "1-2",
		    "{\"type\":\"message\",\"sender\":" A ",\"recipient\":" E
		    ",\"payload\":1"
		    ",\"timestamp\":\"now\",\"cursor\":\"1-2\"}" },
		{ "{ \"payload\" : {\"a\":\t[1 , 2.50]} , \"timestamp\":null,"
		  "\"recipient\" : " E ",\"type\":\"message\", \"sender\" : "
		  "{ \"id\":\"x\", \"type\":\"hub\" }  }",
		    "X", "now", NULL,
		    "{ \"payload\" : {\"a\":\t[1 , 2.50]} , "
		    "\"timestamp\":null,\"recipient\" : " E
		    ",\"type\":\"message\", \"sender\" : X  }" },
	};
	struct envelope_errors errors;
	struct envelope e;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		struct buf b = BUF_INIT(4096);

		ck_assert_int_eq(read_text(rows[i].in, &e, &errors), RC_OK);
		envelope_write(&e, str_of(rows[i].sender),
		    str_of(rows[i].timestamp), str_of(rows[i].cursor), &b);
		ck_assert_str_eq(b.p, rows[i].out);
		buf_free(&b);
	}
}

TEST(depth_and_size_have_limits)
{
	struct envelope_errors errors;
	struct envelope e;
	int depth, i;

	for (depth = 63; depth <= 64; depth++) {
		struct buf b = BUF_INIT(4096);

		buf_puts(&b,
		    "{\"type\":\"message\",\"sender\":" A ",\"recipient\":" E
		    ",\"payload\":");
		for (i = 0; i < depth; i++)
			buf_putc(&b, '[');
		for (i = 0; i < depth; i++)
			buf_putc(&b, ']');
		buf_putc(&b, '}');
		ck_assert_int_eq(read_text(b.p, &e, &errors),
		    depth == 63 ? RC_OK : RC_INVALID);
		buf_free(&b);
	}
	ck_assert_int_eq(
	    envelope_read(STR(OK), sizeof(OK) - 1, arena, &e, &errors), RC_OK);
	ck_assert_int_eq(
	    envelope_read(STR(OK), sizeof(OK) - 2, arena, &e, &errors),
	    RC_INVALID);
}

TEST(a_sender_is_compared_with_its_connection)
{
	static const struct identity me = { .class = CLASS_AGENT,
		.env = STR_INIT("env"),
		.id = STR_INIT("abc") };
	static const struct {
		const char *sender;
		bool is;
	} rows[] = {
		{ A, true },
		{ "{\"type\":\"agent\",\"id\":\"\\u0061bc\"}", true },
		{ "{\"id\":\"abc\",\"type\":\"agent\",\"env\":\"env\"}", true },
		{ "{\"id\":\"abc\",\"type\":\"agent\",\"env\":\"x\"}", false },
		{ "{\"id\":\"abcd\",\"type\":\"agent\"}", false },
		{ "{\"id\":\"abc\",\"type\":\"human\"}", false },
	};
	struct envelope_errors errors;
	struct envelope e;
	char text[512];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		(void)snprintf(text, sizeof(text),
		    "{\"type\":\"message\",\"sender\":%s,\"recipient\":%s,"
		    "\"payload\":1}",
		    rows[i].sender, E);
		ck_assert_int_eq(read_text(text, &e, &errors), RC_OK);
		ck_assert_int_eq(envelope_is_from(&e, &me), rows[i].is);
	}
}
