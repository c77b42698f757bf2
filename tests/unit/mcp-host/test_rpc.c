/* JSON-RPC in and out. */
#include "rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/testkit.h"

static struct rpc_message got[8];
static size_t n_got;

static void
on_message(void *arg, const struct rpc_message *m)
{
	(void)arg;
	if (n_got < NELEM(got))
		got[n_got] = *m;
	n_got++;
}

static enum rc
parse(const char *json, bool batches)
{
	static struct rpc_reader *r;

	if (r == NULL)
		r = rpc_reader_new();
	n_got = 0;
	return rpc_read(r, str_of(json), batches, on_message, NULL);
}

TEST(messages_are_distinguished_by_their_members)
{
	ck_assert_int_eq(
	    parse("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}", false),
	    RC_OK);
	ck_assert_int_eq(got[0].kind, RPC_RESULT);
	ck_assert_int_eq(got[0].id, 7);
	ck_assert_int_eq(parse("{\"id\":\"8\",\"error\":{\"code\":-32602,"
			       "\"message\":\"no \\\"x\\\"\",\"data\":[1]}}",
			     false),
	    RC_OK);
	ck_assert_int_eq(got[0].kind, RPC_ERROR);
	ck_assert_int_eq(got[0].id, 8);
	ck_assert_int_eq(got[0].code, RPC_INVALID_PARAMS);
	ck_assert(str_eq(got[0].error, STR("no \\\"x\\\"")));
	ck_assert(str_eq(got[0].data, STR("[1]")));
	ck_assert_int_eq(
	    parse("{\"id\":\"a b\",\"method\":\"ping\"}", false), RC_OK);
	ck_assert_int_eq(got[0].kind, RPC_REQUEST);
	ck_assert(str_eq(got[0].id_json, STR("\"a b\"")));
	ck_assert_int_eq(
	    parse("{\"method\":\"notifications/progress\",\"params\":{"
		  "\"progressToken\":3,\"progress\":1.5,\"total\":\"x\","
		  "\"message\":\"m\"}}",
		false),
	    RC_OK);
	ck_assert_int_eq(got[0].kind, RPC_NOTIFICATION);
	ck_assert_int_eq(got[0].progress_token, 3);
	ck_assert(str_eq(got[0].progress, STR("1.5")));
	ck_assert(got[0].total.p == NULL);
	ck_assert(str_eq(got[0].progress_text, STR("m")));
}

TEST(what_is_no_message_is_rejected)
{
	static const char *const texts[] = { "", "x", "{", "[]", "1", "null",
		"{}", "{\"id\":1}", "{\"method\":1,\"id\":2}",
		"{\"method\":\"m\",\"params\":3}", "{\"id\":1,\"result\":1}x",
		"Starting server ..." };

	for (size_t i = 0; i < NELEM(texts); i++) {
		ck_assert_msg(
		    parse(texts[i], false) == RC_INVALID, "%s", texts[i]);
		ck_assert_uint_eq(n_got, 0);
	}
}

TEST(ids_that_are_none_of_ours_are_0)
{
	static const char *const ids[] = { "0", "-1", "1.5", "\"x\"", "true",
		"[1]" };
	char text[128];

	for (size_t i = 0; i < NELEM(ids); i++) {
		snprintf(
		    text, sizeof(text), "{\"id\":%s,\"result\":1}", ids[i]);
		ck_assert_int_eq(parse(text, false), RC_OK);
		ck_assert_msg(got[0].id == 0, "%s", ids[i]);
	}
}

TEST(batches_are_read_where_they_are_allowed)
{
	static const char batch[] = "[{\"id\":1,\"result\":1},7,"
				    "{\"id\":2,\"result\":2},{\"x\":1}]";

	ck_assert_int_eq(parse(batch, false), RC_INVALID);
	ck_assert_int_eq(parse(batch, true), RC_OK);
	ck_assert_uint_eq(n_got, 2);
	ck_assert_int_eq(got[1].id, 2);
	ck_assert_int_eq(parse("[{\"id\":1,\"result\":1}", true), RC_INVALID);
	ck_assert_uint_eq(n_got, 0);
}

TEST(a_batch_over_the_limit_is_truncated)
{
	struct buf b = BUF_INIT(1024 * 1024);

	buf_putc(&b, '[');
	for (size_t i = 0; i <= RPC_BATCH_MAX; i++)
		buf_printf(
		    &b, "%s{\"id\":%zu,\"result\":1}", i > 0 ? "," : "", i + 1);
	buf_putc(&b, ']');
	ck_assert_int_eq(parse(b.p, true), RC_TOOBIG);
	ck_assert_uint_eq(n_got, RPC_BATCH_MAX);
	buf_free(&b);
}

TEST(messages_are_on_one_line)
{
	struct buf b = BUF_INIT(4096);

	rpc_write_request(&b, 5, "tools/call", STR("{\n \"a\":\r\n\"x\\n\"}"));
	ck_assert_str_eq(b.p,
	    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
	    "\"params\":{ \"a\":\"x\\n\"}}");
	buf_reset(&b);
	rpc_write_error(&b, STR("\"q\""), RPC_UNKNOWN_METHOD, "a \"b\"\n");
	ck_assert_str_eq(b.p,
	    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"error\":{\"code\":-32601,"
	    "\"message\":\"a \\\"b\\\"\\n\"}}");
	buf_free(&b);
}
