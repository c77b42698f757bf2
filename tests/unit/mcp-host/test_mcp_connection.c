/*
 * What a connection does with whatever a server sends: as the protocol has it,
 * and nothing that would harm.
 */
#include "mcp_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue.h"
#include "core/buf.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "rpc.h"
#include "testkit/loop.h"
#include "testkit/testkit.h"

/* ---- a transport that has no server ---- */

static struct transport line;
static struct buf sent;   /* messages, each with a line feed */
static int64_t last_id;   /* of the last request */
static bool line_closing; /* transport_close() was called */

static enum rc
line_send(struct transport *t, const struct transport_message *m)
{
	(void)t;
	buf_put_str(&sent, m->json);
	buf_putc(&sent, '\n');
	if (m->id != 0)
		last_id = m->id;
	return RC_OK;
}

static void
line_close(struct transport *t)
{
	(void)t;
	line_closing = true;
}

static void
line_free(struct transport *t)
{
	(void)t;
}

static const struct transport_ops line_ops = {
	.send = line_send, .close = line_close, .free = line_free
};

static struct transport *
line_open(void *arg, const struct transport_handler *h)
{
	(void)arg;
	line = (struct transport){ &line_ops, *h };
	return &line;
}

/* ---- the connection ---- */

static struct loop *loop;
static struct metric_set *metrics;
static struct mcp_counts counts;
static struct rpc_reader *reader;
static struct mcp_connection *c;
static size_t n_tools, n_progress, n_ends;
static enum mcp_call_end how;
static int64_t code;
static char result[256], closed[256];

static void
on_tools(void *arg, struct catalogue *tools)
{
	(void)arg;
	n_tools = catalogue_n(tools);
}

static void
on_closed(void *arg, const struct transport_end *e, const char *why)
{
	(void)arg;
	(void)e;
	str_copy(str_of(why), closed, sizeof(closed));
}

static void
on_progress(void *arg, const struct rpc_message *m)
{
	(void)arg;
	(void)m;
	n_progress++;
}

static void
on_end(void *arg, enum mcp_call_end end, int64_t number, struct str json)
{
	(void)arg;
	how = end;
	code = number;
	n_ends++;
	str_copy(json, result, sizeof(result));
}

/* A message of the server; "%ID%" is the id of the last request. */
static void
receive(const char *json)
{
	struct buf text = BUF_INIT(1024 * 1024);
	const char *at = strstr(json, "%ID%");

	if (at != NULL)
		buf_printf(&text, "%.*s%lld%s", (int)(at - json), json,
		    (long long)last_id, at + 4);
	else
		buf_puts(&text, json);
	line.h.on_message(line.h.arg, buf_str(&text));
	buf_free(&text);
}

static const char *
sent_text(void)
{
	return sent.p != NULL ? sent.p : "";
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{}}"

/* Up to the request of its tools. */
static void
begin_list(const char *version)
{
	char text[512];
	const struct mcp_connection_opts o = { .loop = loop = loop_new(16),
		.reader = reader = rpc_reader_new(),
		.counts = &counts,
		.session = { .era = MCP_ERA_LEGACY, .client = "1" },
		.open = line_open,
		.handler = { on_tools, on_closed, NULL } };

	metrics = metric_set_new();
	counts = (struct mcp_counts){
		.noise = metric_counter(metrics, "noise", "x", NULL),
		.unwanted = metric_counter(metrics, "unwanted", "x", NULL),
		.requests = metric_counter(metrics, "requests", "x", NULL),
	};
	buf_init(&sent, 4 * 1024 * 1024);
	line_closing = false;
	n_tools = n_progress = n_ends = 0;
	c = mcp_connection_new(&o);
	line.h.on_open(line.h.arg);
	snprintf(text, sizeof(text),
	    "{\"jsonrpc\":\"2.0\",\"id\":%%ID%%,\"result\":{"
	    "\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},"
	    "\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}",
	    version);
	receive(text);
	ck_assert_ptr_nonnull(strstr(sent_text(), "\"tools/list\""));
	buf_reset(&sent);
}

static void
begin(const char *version)
{
	begin_list(version);
	receive("{\"jsonrpc\":\"2.0\",\"id\":%ID%,\"result\":{\"tools\":[" TOOL(
	    "a") "]}}");
	ck_assert_uint_eq(n_tools, 1);
}

static void
end(void)
{
	mcp_connection_free(c);
	rpc_reader_free(reader);
	metric_set_free(metrics);
	loop_free(loop);
	buf_free(&sent);
}

static struct mcp_call *
call(void)
{
	const struct mcp_call_opts o = { .name = STR("a"),
		.arguments = STR("{}"),
		.timeout_ms = 60000,
		.max_ms = 60000,
		.handler = { on_progress, on_end, NULL } };
	struct mcp_call *out;

	ck_assert_int_eq(mcp_connection_call(c, &o, &out), RC_OK);
	buf_reset(&sent);
	return out;
}

/* ---- what is not a response to a call ---- */

#define UNKNOWN(id)                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32601,\"mess" \
	"age\":\"this client does not support it\"}}\n"
#define EMPTY(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}\n"
#define Q(id, method) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\"}"
#define N(method, params) \
	"{\"jsonrpc\":\"2.0\",\"method\":\"" method "\",\"params\":" params "}"

static const struct {
	const char *in, *out;
	int noise, unwanted, requests;
} rows[] = {
	/* Requests of the server: each has a response, under its own id. */
	{ Q("7", "ping"), EMPTY("7"), 0, 0, 0 },
	{ Q("0", "ping"), EMPTY("0"), 0, 0, 0 },
	{ Q("-3", "ping"), EMPTY("-3"), 0, 0, 0 },
	{ Q("9223372036854775807", "ping"), EMPTY("9223372036854775807"), 0, 0,
	    0 },
	{ Q("12345678901234567890123", "ping"),
	    EMPTY("12345678901234567890123.0"), 0, 0, 0 },
	{ Q("\"\"", "ping"), EMPTY("\"\""), 0, 0, 0 },
	{ Q("\"a\\\"\\n\\u4f60\"", "ping"), EMPTY("\"a\\\"\\n\\u4f60\""), 0, 0,
	    0 },
	{ Q("1", "pi\\u006eg"), EMPTY("1"), 0, 0, 0 },
	{ "{\"id\":8,\"method\":\"ping\",\"params\":null}", EMPTY("8"), 0, 0,
	    0 },
	{ Q("1", "roots/list"), UNKNOWN("1"), 0, 0, 1 },
	{ Q("1", "sampling/createMessage"), UNKNOWN("1"), 0, 0, 1 },
	{ Q("\"e\"", "elicitation/create"), UNKNOWN("\"e\""), 0, 0, 1 },
	{ Q("1", "tasks/get"), UNKNOWN("1"), 0, 0, 1 },
	{ Q("1", "tools/list"), UNKNOWN("1"), 0, 0, 1 },
	{ Q("1", "initialize"), UNKNOWN("1"), 0, 0, 1 },
	{ Q("1", ""), UNKNOWN("1"), 0, 0, 1 },
	{ "{\"id\":1,\"method\":\"ping\",\"params\":[1,2]}", EMPTY("1"), 0, 0,
	    0 },
	/* Both a request and a response: it wants one. */
	{ "{\"id\":1,\"method\":\"x\",\"result\":{}}", UNKNOWN("1"), 0, 0, 1 },
	/* An id that is none is not repeated. */
	{ Q("{\"a\":1}", "ping"), "", 1, 0, 0 },
	{ Q("[1]", "ping"), "", 1, 0, 0 },
	{ Q("true", "ping"), "", 1, 0, 0 },
	{ Q("null", "ping"), "", 0, 0, 0 },
	{ "{\"id\":1,\"method\":\"ping\",\"params\":3}", "", 1, 0, 0 },
	{ "{\"id\":1,\"method\":3}", "", 1, 0, 0 },
	/* Notifications never have a response. */
	{ N("notifications/unknown", "{}"), "", 0, 0, 0 },
	{ N("notifications/message", "{\"level\":\"error\",\"data\":1}"), "", 0,
	    0, 0 },
	{ N("notifications/cancelled", "{\"requestId\":99}"), "", 0, 0, 0 },
	{ N("notifications/cancelled", "{\"requestId\":{}}"), "", 0, 0, 0 },
	{ N("notifications/resources/updated", "{\"uri\":\"x:y\"}"), "", 0, 0,
	    0 },
	{ N("ping", "{}"), "", 0, 0, 0 },
	/* Progress of what this client does not wait for. */
	{ N("notifications/progress", "{\"progressToken\":99,\"progress\":1}"),
	    "", 0, 0, 0 },
	{ N("notifications/progress", "{\"progressToken\":\"x\"}"), "", 0, 0,
	    0 },
	{ N("notifications/progress", "{\"progressToken\":[1]}"), "", 0, 0, 0 },
	{ N("notifications/progress", "{\"progressToken\":-1}"), "", 0, 0, 0 },
	{ N("notifications/progress", "{}"), "", 0, 0, 0 },
	/* Responses to nothing. */
	{ "{\"id\":99,\"result\":{}}", "", 0, 1, 0 },
	{ "{\"id\":\"x\",\"result\":{}}", "", 0, 1, 0 },
	{ "{\"id\":0,\"result\":{}}", "", 0, 1, 0 },
	{ "{\"id\":-1,\"error\":{\"code\":1,\"message\":\"x\"}}", "", 0, 1, 0 },
	{ "{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}", "", 0,
	    1, 0 },
	{ "{\"error\":\"x\"}", "", 0, 1, 0 },
	/* No messages. */
	{ "", "", 1, 0, 0 },
	{ "{}", "", 1, 0, 0 },
	{ "{\"id\":1}", "", 1, 0, 0 },
	{ "3", "", 1, 0, 0 },
	{ "null", "", 1, 0, 0 },
	{ "\"ping\"", "", 1, 0, 0 },
	{ "{\"id\":1,\"method\":\"ping\"", "", 1, 0, 0 },
	{ "{\"id\":1,\"method\":\"ping\"}{}", "", 1, 0, 0 },
	{ "Listening on stdio", "", 1, 0, 0 },
	/* A batch is of one version alone. */
	{ "[" Q("1", "ping") "]", "", 1, 0, 0 },
	{ "[]", "", 1, 0, 0 },
};

TEST(each_message_of_a_server_is_treated_by_the_protocol)
{
	int64_t noise = 0, unwanted = 0, requests = 0;

	begin("2025-11-25");
	for (size_t i = 0; i < NELEM(rows); i++) {
		buf_reset(&sent);
		receive(rows[i].in);
		ck_assert_msg(strcmp(sent_text(), rows[i].out) == 0,
		    "%s: sent %s", rows[i].in, sent_text());
		noise += rows[i].noise;
		unwanted += rows[i].unwanted;
		requests += rows[i].requests;
		ck_assert_msg(metric_value(counts.noise) == noise &&
			metric_value(counts.unwanted) == unwanted &&
			metric_value(counts.requests) == requests,
		    "%s: counted %lld, %lld, %lld", rows[i].in,
		    (long long)metric_value(counts.noise),
		    (long long)metric_value(counts.unwanted),
		    (long long)metric_value(counts.requests));
		ck_assert(!line_closing);
	}
	end();
}

TEST(a_batch_has_a_response_to_each_of_its_requests)
{
	begin("2025-03-26");
	receive("[" Q("1", "ping") "," N("notifications/x", "{}") ",3,[]," Q(
	    "\"b\"", "sampling/createMessage") ",{\"id\":77,\"result\":{}}]");
	ck_assert_str_eq(sent_text(), EMPTY("1") UNKNOWN("\"b\""));
	ck_assert_int_eq(metric_value(counts.unwanted), 1);
	receive("[]");
	receive("[1,2");
	ck_assert_int_eq(metric_value(counts.noise), 1);
	end();
}

/* ---- responses to a call ---- */

static const struct {
	const char *in;
	int how; /* -1: it is none */
	int64_t code;
	const char *text;
} responses[] = {
	{ "{\"id\":%ID%,\"result\":{\"content\":[]}}", MCP_CALL_RESULT, 0,
	    "{\"content\":[]}" },
	{ "{\"id\":\"%ID%\",\"result\":{}}", MCP_CALL_RESULT, 0, "{}" },
	{ "{\"id\":%ID%,\"result\":{\"n\":18446744073709551615,\"s\":"
	  "\"\\\"18446744073709551615\",\"r\":[1844674407370955161500.5,"
	  "-18446744073709551615]}}",
	    MCP_CALL_RESULT, 0,
	    "{\"n\":18446744073709551615.0,\"s\":"
	    "\"\\\"18446744073709551615\",\"r\":[1844674407370955161500.5,"
	    "-18446744073709551615.0]}" },
	{ "{\"id\":%ID%,\"result\":null}", MCP_CALL_RESULT, 0, "null" },
	{ "{\"id\":%ID%,\"result\":{},\"error\":null}", MCP_CALL_RESULT, 0,
	    "{}" },
	{ "{\"id\":%ID%,\"error\":{\"code\":-32602,\"message\":\"m\"}}",
	    MCP_CALL_ERROR, -32602, "m" },
	{ "{\"id\":%ID%,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}",
	    MCP_CALL_ERROR, 1, "" },
	{ "{\"id\":%ID%,\"error\":{}}", MCP_CALL_ERROR, RPC_INTERNAL, "" },
	{ "{\"id\":%ID%,\"error\":{\"code\":\"x\",\"message\":3}}",
	    MCP_CALL_ERROR, RPC_INTERNAL, "" },
	{ "{\"id\":%ID%,\"error\":\"boom\"}", MCP_CALL_ERROR, RPC_INTERNAL,
	    "boom" },
	{ "{\"id\":%ID%,\"error\":5}", MCP_CALL_ERROR, RPC_INTERNAL, "" },
	{ "{\"id\":%ID%}", -1, 0, "" },
	{ "{\"id\":%ID%.5,\"result\":{}}", -1, 0, "" },
	{ "{\"id\":%ID%0,\"result\":{}}", -1, 0, "" },
	{ "{\"id\":%ID%,\"method\":\"x\",\"result\":{}}", -1, 0, "" },
	{ "[{\"id\":%ID%,\"result\":{}}]", -1, 0, "" },
};

TEST(a_call_ends_with_its_response_and_with_nothing_else)
{
	begin("2025-11-25");
	for (size_t i = 0; i < NELEM(responses); i++) {
		struct mcp_call *open = call();

		n_ends = 0;
		receive(responses[i].in);
		ck_assert_msg(
		    n_ends == (responses[i].how != -1), "%s", responses[i].in);
		if (n_ends == 0) {
			mcp_call_cancel(open);
			tk_loop_step(loop);
			ck_assert_int_eq(how, MCP_CALL_CANCELED);
			continue;
		}
		ck_assert_msg((int)how == responses[i].how &&
			code == responses[i].code &&
			strcmp(result, responses[i].text) == 0,
		    "%s: %d %lld %s", responses[i].in, (int)how,
		    (long long)code, result);
		/* A second response is to nothing. */
		receive(responses[i].in);
		ck_assert_uint_eq(n_ends, 1);
	}
	ck_assert_uint_eq(mcp_connection_calls(c), 0);
	ck_assert(!line_closing);
	end();
}

TEST(progress_is_of_the_call_whose_token_it_has)
{
	begin("2025-11-25");
	(void)call();
	receive("{\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":%ID%,\"progress\":1}}");
	receive("{\"method\":\"notifications\\/progress\",\"params\":{"
		"\"progressToken\":\"%ID%\",\"progress\":2}}");
	ck_assert_uint_eq(n_progress, 2);
	receive("{\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":%ID%7,\"progress\":3}}");
	ck_assert_uint_eq(n_progress, 2);
	receive("{\"id\":%ID%,\"result\":{}}");
	/* Its call has ended. */
	receive("{\"method\":\"notifications/progress\",\"params\":{"
		"\"progressToken\":%ID%,\"progress\":4}}");
	ck_assert_uint_eq(n_progress, 2);
	ck_assert_uint_eq(n_ends, 1);
	end();
}

/* What comes after a cancel is to nothing: its end is known. */
TEST(a_canceled_call_ends_one_time)
{
	char want[256];

	begin("2025-11-25");
	mcp_call_cancel(call());
	tk_loop_step(loop);
	snprintf(want, sizeof(want),
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":%lld,\"reason\":\"not wanted any "
	    "more\"}}\n",
	    (long long)last_id);
	ck_assert_str_eq(sent_text(), want);
	ck_assert_int_eq(how, MCP_CALL_CANCELED);
	receive("{\"id\":%ID%,\"result\":{}}");
	ck_assert_uint_eq(n_ends, 1);
	ck_assert_int_eq(metric_value(counts.unwanted), 1);
	end();
}

/* ---- lists ---- */

static const struct {
	const char *cursor;
	bool more; /* another page is requested */
} cursors[] = {
	{ "\"\"", true },
	{ "\"p2\"", true },
	{ "\"a\\\"\\u4f60\"", true },
	{ "null", false },
	{ "3", false },
	{ "{}", false },
	{ "[\"x\"]", false },
	{ "true", false },
};

#define PAGE                                                               \
	"{\"jsonrpc\":\"2.0\",\"id\":%%ID%%,\"result\":{\"tools\":[" TOOL( \
	    "a") "],\"nextCursor\":%s}}"

TEST(a_list_goes_on_with_the_cursor_of_the_server)
{
	char page[512], want[128];

	for (size_t i = 0; i < NELEM(cursors); i++) {
		begin_list("2025-11-25");
		snprintf(page, sizeof(page), PAGE, cursors[i].cursor);
		receive(page);
		ck_assert_msg(n_tools == !cursors[i].more, "%s", page);
		snprintf(want, sizeof(want), "\"params\":{\"cursor\":%s}}\n",
		    cursors[i].cursor);
		ck_assert_msg(
		    (strstr(sent_text(), want) != NULL) == cursors[i].more,
		    "%s: %s", page, sent_text());
		/* The same cursor once more would have no end. */
		receive(page);
		ck_assert_uint_eq(n_tools, 1);
		end();
	}
}

TEST(a_cursor_without_measure_ends_the_list)
{
	const size_t n = MCP_CURSOR_MAX;
	char *cursor = mem_alloc(n + 3), *page = mem_alloc(n + 600);

	begin_list("2025-11-25");
	memset(cursor, 'x', n + 2);
	cursor[0] = cursor[n + 1] = '"';
	cursor[n + 2] = '\0';
	snprintf(page, n + 600, PAGE, cursor);
	receive(page);
	ck_assert_uint_eq(n_tools, 1);
	ck_assert_str_eq(sent_text(), "");
	free(cursor);
	free(page);
	end();
}

/* What the transport says reaches the operator. */
TEST(a_request_that_fails_ends_the_session_with_its_cause)
{
	const struct transport_end e = { .why = TRANSPORT_UNAUTHORIZED,
		.status = 401,
		.text = STR("HTTP status 401") };

	begin_list("2025-11-25");
	line.h.on_failed(line.h.arg, last_id, &e);
	ck_assert(line_closing);
	line.h.on_closed(line.h.arg,
	    &(struct transport_end){
		.why = TRANSPORT_CLOSED, .text = STR("closed") });
	ck_assert_str_eq(closed, "it does not list its tools: HTTP status 401");
	c = NULL;
	end();
}
