/*
 * Messages that are wrong, and batches: errors with what is wrong and where,
 * and the connection stays.
 */
#include <string.h>

#include "core/mem.h"
#include "testkit/star_fixture.h"

#define AGENT "{\"id\":\"agent_001\",\"type\":\"agent\"}"
#define WORLD "{\"id\":\"demo_world\",\"type\":\"environment\"}"
#define TO_WORLD(rest) \
	"{\"type\":\"message\",\"sender\":" AGENT ",\"recipient\":" WORLD rest

static void
error_check(
    struct tk_ws *c, const char *text, const char *code, const char *details)
{
	const char *msg;

	tk_ws_send(c, text);
	msg = star_expect_error(c, code, "validation_error");
	ck_assert_msg(strstr(msg, details) != NULL, "%s: %s", text, msg);
}

TEST(errors_name_what_is_wrong)
{
	static const char *const rows[][3] = {
		{ "{not json", "VALIDATION_ERROR",
		    "\"details\":{\"seq\":1,\"validation_errors\":[\"/: is "
		    "not valid JSON\"],\"suggested_action\":\"" },
		{ "", "VALIDATION_ERROR",
		    "\"seq\":2,\"validation_errors\":["
		    "\"/: is not valid JSON\"]" },
		{ "{\"type\":\"message\"}", "VALIDATION_ERROR",
		    "[\"/sender: is missing\",\"/recipient: is missing\","
		    "\"/payload: is missing\"]" },
		{ "{\"type\":\"bogus\",\"sender\":" AGENT
		  ",\"recipient\":" WORLD ",\"payload\":{}}",
		    "VALIDATION_ERROR",
		    "[\"/type: must be message, heartbeat, error or "
		    "authenticate\"]" },
		{ "{\"type\":\"message\",\"sender\":" AGENT
		  ",\"recipient\":{\"id\":\"demo_world\",\"type\":\"alien\"}"
		  ",\"payload\":{}}",
		    "INVALID_CLIENT_TYPE", "\"/recipient/type: must be " },
		{ TO_WORLD(",\"id\":\"m1\"}"), "VALIDATION_ERROR",
		    "\"original_message_id\":\"m1\",\"seq\":6," },
		{ TO_WORLD(",\"id\":\"m1\",\"message_id\":9}"),
		    "VALIDATION_ERROR", "\"original_message_id\":9," },
		{ "[]", "VALIDATION_ERROR", "[\"/: has no message\"]" },
		{ "[1,", "VALIDATION_ERROR", "[\"/: is not valid JSON\"]" },
		{ "{\"type\":\"auth_result\",\"sender\":" AGENT
		  ",\"recipient\":" WORLD ",\"payload\":{}}",
		    "VALIDATION_ERROR", "[\"/type: must be message, " },
	};
	struct star_fixture f = { 0 };
	struct tk_ws c;
	size_t i;

	star_start(&f, STAR_QUIET);
	star_open(&f, &c, "/env/demo_world/agent/agent_001");
	for (i = 0; i < NELEM(rows); i++)
		error_check(&c, rows[i][0], rows[i][1], rows[i][2]);
	star_idle(&c, "agent:agent_001");
	tk_ws_close(&c);
	star_stop(&f);
}

TEST(an_error_gets_no_error)
{
	struct star_fixture f = { 0 };
	struct tk_ws c;

	star_start(&f, STAR_QUIET);
	star_open(&f, &c, "/env/demo_world/agent/agent_001");
	tk_ws_send(&c,
	    "{\"type\":\"error\",\"sender\":" AGENT ",\"recipient\":" WORLD
	    ",\"payload\":{}}");
	tk_ws_send(&c,
	    "{\"type\":\"error\",\"sender\":" AGENT
	    ",\"recipient\":{\"id\":\"hub\",\"type\":\"hub\"},\"payload\":1}");
	tk_ws_send(&c, "{\"type\":\"error\",\"sender\":" AGENT "}");
	star_idle(&c, "agent:agent_001");
	tk_ws_close(&c);
	star_stop(&f);
}

#define FIRST  TO_WORLD(",\"payload\":1}")
#define SECOND TO_WORLD(",\"payload\":{ \"x\": [ ] }}")

TEST(a_batch_is_handled_in_order)
{
	struct star_fixture f = { 0 };
	struct tk_ws c, env;
	const char *msg;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &c, "/env/demo_world/agent/agent_001");
	tk_ws_send(
	    &c, " [ " FIRST " , " TO_WORLD("}") ", 7, []," SECOND " ]\n");
	star_expect(&env, FIRST);
	star_expect(&env, SECOND);
	msg = star_expect_error(&c, "VALIDATION_ERROR", "validation_error");
	ck_assert_ptr_nonnull(strstr(msg, "\"seq\":2,"));
	ck_assert_ptr_nonnull(strstr(msg, "[\"/payload: is missing\"]"));
	msg = star_expect_error(&c, "VALIDATION_ERROR", "validation_error");
	ck_assert_ptr_nonnull(strstr(msg, "\"seq\":3,"));
	msg = star_expect_error(&c, "VALIDATION_ERROR", "validation_error");
	ck_assert_ptr_nonnull(strstr(msg, "\"seq\":4,"));
	star_idle(&c, "agent:agent_001");
	tk_ws_close(&c);
	tk_ws_close(&env);
	star_stop(&f);
}

TEST(a_batch_has_at_most_256_messages)
{
	struct star_fixture f = { 0 };
	struct buf b = BUF_INIT(1 << 20);
	struct tk_ws c, env;
	int i, n;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &c, "/env/demo_world/agent/agent_001");
	for (n = 256; n <= 257; n++) {
		buf_reset(&b);
		for (i = 0; i < n; i++)
			buf_printf(&b, "%s" TO_WORLD(",\"payload\":%d}"),
			    i > 0 ? "," : "[", i);
		buf_putc(&b, ']');
		tk_ws_send(&c, b.p);
	}
	for (i = 0; i < 256; i++) {
		buf_reset(&b);
		buf_printf(&b, TO_WORLD(",\"payload\":%d}"), i);
		star_expect(&env, b.p);
	}
	error_check(&c, "{", "VALIDATION_ERROR",
	    "\"seq\":257,\"validation_errors\":[\"/: has more than 256 "
	    "messages\"]");
	star_expect_has(&c, "\"seq\":258,");
	star_idle(&env, "environment:demo_world");
	buf_free(&b);
	tk_ws_close(&c);
	tk_ws_close(&env);
	star_stop(&f);
}

/* A message to the environment of n bytes. */
static void
message_of_size(struct buf *b, size_t n)
{
	size_t rest;

	buf_reset(b);
	buf_puts(b, TO_WORLD(",\"payload\":\""));
	rest = n - b->n - 2;
	while (rest-- > 0)
		buf_putc(b, 'x');
	buf_puts(b, "\"}");
	ck_assert_uint_eq(b->n, n);
}

TEST(a_message_has_at_most_a_mebibyte)
{
	static const size_t sizes[] = { 65536, 1048536, 1048576 };
	struct buf b = BUF_INIT(1 << 21);
	struct star_fixture f = { 0 };
	struct tk_ws c, env;
	size_t i;

	star_start(&f, STAR_QUIET);
	star_open(&f, &env, "/env/demo_world");
	star_open(&f, &c, "/env/demo_world/agent/agent_001");
	for (i = 0; i < NELEM(sizes); i++) {
		message_of_size(&b, sizes[i]);
		tk_ws_send(&c, b.p);
		star_expect(&env, b.p);
		/* Clients, too, may read no larger ones. */
		ck_assert_uint_le(env.msg.n - 1, 1048576);
	}
	message_of_size(&b, 1048577);
	tk_ws_send(&c, b.p);
	ck_assert_uint_eq(tk_ws_end(&c), 1009);
	buf_free(&b);
	tk_ws_close(&c);
	tk_ws_close(&env);
	star_stop(&f);
}
