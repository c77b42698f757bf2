/* Transports over HTTP: what is sent, what comes back, and how it ends. */
#include <stdio.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "http_transport.h"
#include "httpc/httpc.h"
#include "testkit/loop.h"
#include "testkit/scripted_http.h"
#include "testkit/testkit.h"

#define WAIT_MS 20000

/* What the handler has got. */
struct seen {
	bool open, closed;
	struct transport_end end; /* of all */
	struct buf messages;      /* each with a line feed */
	struct buf failures;      /* "<id> <why> <may have run>\n" */
	char text[256];
	bool free_in_message, close_in_message;
};

static struct loop *loop;
static struct httpc *client;
static struct transport *channel;
static struct seen seen;

static void
on_open(void *arg)
{
	(void)arg;
	seen.open = true;
}

static void
on_message(void *arg, struct str json)
{
	(void)arg;
	buf_put_str(&seen.messages, json);
	buf_putc(&seen.messages, '\n');
	if (seen.close_in_message)
		transport_close(channel);
	if (seen.free_in_message) {
		transport_free(channel);
		channel = NULL;
	}
}

static void
on_failed(void *arg, int64_t id, const struct transport_end *e)
{
	(void)arg;
	buf_printf(&seen.failures, "%d %d %d\n", (int)id, (int)e->why,
	    e->may_have_run);
	str_copy(e->text, seen.text, sizeof(seen.text));
}

static void
on_closed(void *arg, const struct transport_end *e)
{
	(void)arg;
	seen.closed = true;
	seen.end = *e;
	str_copy(e->text, seen.text, sizeof(seen.text));
	channel = NULL;
}

static bool
is_open(void *arg)
{
	(void)arg;
	return seen.open || seen.closed;
}

static bool
is_closed(void *arg)
{
	(void)arg;
	return seen.closed;
}

static bool
has_message(void *text)
{
	return seen.messages.p != NULL && strstr(seen.messages.p, text) != NULL;
}

static bool
has_failure(void *text)
{
	return seen.failures.p != NULL && strstr(seen.failures.p, text) != NULL;
}

/* Run the loop until fn(arg). */
#define UNTIL(fn, arg) \
	ck_assert(tk_loop_until(loop, fn, (void *)(uintptr_t)(arg), WAIT_MS))
#define COUNT(text, number)                                      \
	UNTIL(scripted_http_count_is,                            \
	    (&(struct scripted_http_want){ (text), (number) })); \
	ck_assert_uint_eq(scripted_http_count(text), (number))

static void
open_transport(enum mcp_kind kind, int port, bool push)
{
	static const struct mcp_pair headers[] = { { "Authorization",
	    "Bearer t" } };
	char url[64];
	const struct transport_handler h = { on_open, on_message, on_failed,
		on_closed, NULL };
	struct http_transport_opts o = { .url = url,
		.headers = headers,
		.n_headers = 1,
		.kind = kind,
		.request_ms = WAIT_MS,
		.push = push };

	memset(&seen, 0, sizeof(seen));
	buf_init(&seen.messages, 1024 * 1024);
	buf_init(&seen.failures, 1024 * 1024);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp", port);
	loop = loop_new(64);
	client = httpc_new(&(struct httpc_opts){ .loop = loop });
	o.loop = loop;
	o.client = client;
	channel = http_transport_new(&o, &h);
	UNTIL(is_open, NULL);
}

#define OPEN(kind, rules) \
	open_transport((kind), scripted_http_open((rules), NELEM(rules)), false)

static void
close_all(void)
{
	transport_free(channel);
	httpc_free(client);
	loop_free(loop);
	buf_free(&seen.messages);
	buf_free(&seen.failures);
	scripted_http_close();
}

static enum rc
send_message(int64_t id, const char *method)
{
	char json[256];
	struct transport_message m = { .id = id, .method = str_of(method) };

	if (id != 0)
		snprintf(json, sizeof(json),
		    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}",
		    (int)id, method);
	else
		snprintf(json, sizeof(json),
		    "{\"jsonrpc\":\"2.0\",\"method\":\"%s\"}", method);
	m.json = str_of(json);
	return transport_send(channel, &m);
}

#define SEND(id, method) ck_assert_int_eq(send_message(id, method), RC_OK)

#define RESULT_1 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
#define RESULT_2 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"

TEST(session_and_version_are_repeated)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"initialize\"", SCRIPTED_JSON(36, RESULT_1), false },
		{ "initialized", SCRIPTED_STATUS("202 Accepted"), false },
		{ "tools/list", SCRIPTED_JSON(36, RESULT_2), false },
		{ "DELETE", SCRIPTED_STATUS("200 OK"), false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "initialize");
	UNTIL(has_message, RESULT_1);
	ck_assert_uint_eq(scripted_http_count("Mcp-Session-Id"), 0);
	ck_assert_uint_eq(scripted_http_count("MCP-Protocol-Version"), 0);
	transport_set_version(channel, "2025-11-25");
	SEND(0, "notifications/initialized");
	SEND(2, "tools/list");
	UNTIL(has_message, RESULT_2);
	ck_assert_uint_eq(scripted_http_count("Mcp-Session-Id: s-1"), 2);
	ck_assert_uint_eq(
	    scripted_http_count("MCP-Protocol-Version: 2025-11-25"), 2);
	ck_assert_uint_eq(scripted_http_count("Authorization: Bearer t"), 3);
	ck_assert_uint_eq(
	    scripted_http_count("Accept: application/json, text/event-stream"),
	    3);
	transport_close(channel);
	UNTIL(is_closed, NULL);
	ck_assert_int_eq(seen.end.why, TRANSPORT_CLOSED);
	ck_assert_uint_eq(scripted_http_count("DELETE /mcp"), 1);
	ck_assert_uint_eq(scripted_http_count("Mcp-Session-Id: s-1"), 3);
	ck_assert_uint_eq(seen.failures.n, 0);
	close_all();
}

TEST(an_old_version_has_no_header)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST", SCRIPTED_JSON(36, RESULT_1), false },
	};

	OPEN(MCP_HTTP, rules);
	transport_set_version(channel, "2025-03-26");
	SEND(1, "tools/list");
	UNTIL(has_message, RESULT_1);
	ck_assert_uint_eq(scripted_http_count("MCP-Protocol-Version"), 0);
	close_all();
}

/* What else has such a header may be another's session. */
TEST(a_session_begins_with_initialize_alone)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"id\":1", SCRIPTED_JSON(36, RESULT_1), false },
		{ "\"id\":2", SCRIPTED_JSON(36, RESULT_2), false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "server/discover");
	UNTIL(has_message, RESULT_1);
	SEND(2, "tools/list");
	UNTIL(has_message, RESULT_2);
	ck_assert_uint_eq(scripted_http_count("Mcp-Session-Id"), 0);
	close_all();
}

TEST(a_response_is_known_by_its_id_however_it_is_written)
{
	static const struct {
		const char *json;
		bool is;
	} rows[] = {
		{ "{\"id\":\"1\",\"result\":{}}", true },
		{ "{\"result\":{\"n\":18446744073709551616},\"id\":1}", true },
		{ " [{\"id\":1,\"result\":{}}]", true },
		{ "{\"id\":1,\"method\":\"ping\"}", false },
		{ "{\"id\":10,\"result\":{}}", false },
		{ "{\"id\":null,\"result\":{}}", false },
		{ "<html>id 1</html>", false },
	};
	char text[256];
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		const struct scripted_http_rule rule = { "POST", text, false };

		snprintf(text, sizeof(text),
		    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		    "Content-Length: %zu\r\nConnection: close\r\n\r\n%s",
		    strlen(rows[i].json), rows[i].json);
		open_transport(MCP_HTTP, scripted_http_open(&rule, 1), false);
		SEND(1, "tools/call");
		UNTIL(has_message, rows[i].json);
		ck_assert_msg((seen.failures.n == 0) == rows[i].is, "%s: %s",
		    rows[i].json, seen.failures.p);
		close_all();
	}
}

TEST(a_response_may_be_a_stream_that_begins_with_an_empty_event)
{
	static const struct scripted_http_rule rules[] = { { "POST",
	    SCRIPTED_EVENTS("id: 1\ndata: \n\n"
			    "event: message\nid: 2\n"
			    "data: {\"method\":\"notifications/progress\"}\n\n"
			    "id: 3\ndata: " RESULT_1 "\n\n"),
	    true } };

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/call");
	UNTIL(has_message, RESULT_1);
	ck_assert_str_eq(seen.messages.p,
	    "{\"method\":\"notifications/progress\"}\n" RESULT_1 "\n");
	ck_assert_uint_eq(seen.failures.n, 0);
	close_all();
}

TEST(a_stream_that_ends_without_a_result_is_not_confirmed)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST",
		    SCRIPTED_EVENTS("data: {\"id\":1,\"method\":\"ping\"}\n\n"
				    "data: {\"id\":2,\"result\":{}}\n\n"),
		    false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/call");
	UNTIL(has_failure, "1 1 1\n");
	ck_assert_uint_eq(scripted_http_count("POST"), 1);
	close_all();
}

TEST(a_call_whose_connection_breaks_is_never_resent)
{
	static const struct scripted_http_rule rules[] = {
		{ "tools/list", SCRIPTED_JSON(36, RESULT_1), false },
		{ "tools/call", NULL, false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/list");
	UNTIL(has_message, RESULT_1);
	SEND(2, "tools/call");
	UNTIL(has_failure, "2 1 1\n");
	ck_assert_uint_eq(scripted_http_count("tools/call"), 1);
	close_all();
}

TEST(a_server_that_does_not_run_has_executed_nothing)
{
	static const struct scripted_http_rule rules[] = { { "x", NULL,
	    false } };
	int port = tk_port();

	(void)scripted_http_open(rules, NELEM(rules));
	open_transport(MCP_HTTP, port, false);
	SEND(1, "initialize");
	UNTIL(has_failure, "1 0 0\n");
	ck_assert(!seen.closed);
	close_all();
}

TEST(a_lost_session_ends_the_transport_and_nothing_is_repeated)
{
	static const struct scripted_http_rule rules[] = {
		{ "tools/list", SCRIPTED_JSON(36, RESULT_1), false },
		{ "tools/call",
		    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
		    "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32000,"
		    "\"message\":\"x\"},\"id\":null}",
		    false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/list");
	UNTIL(has_message, RESULT_1);
	SEND(2, "tools/call");
	UNTIL(is_closed, NULL);
	ck_assert_int_eq(seen.end.why, TRANSPORT_SESSION_LOST);
	ck_assert_str_eq(seen.failures.p, "2 2 0\n");
	ck_assert_uint_eq(scripted_http_count("tools/call"), 1);
	close_all();
}

TEST(a_status_400_with_the_response_is_a_response)
{
	static const struct scripted_http_rule rules[] = {
		{ "tools/list", SCRIPTED_JSON(36, RESULT_1), false },
		{ "tools/call",
		    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
		    "{\"id\":2,\"error\":{\"code\":-32602,\"message\":"
		    "\"bad arguments\"}  }",
		    false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/list");
	UNTIL(has_message, RESULT_1);
	SEND(2, "tools/call");
	UNTIL(has_message, "bad arguments");
	ck_assert(!seen.closed);
	ck_assert_uint_eq(seen.failures.n, 0);
	close_all();
}

TEST(other_statuses_reject_a_request)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"id\":1", SCRIPTED_STATUS("401 Unauthorized"), false },
		{ "\"id\":2", SCRIPTED_STATUS("404 Not Found"), false },
		{ "\"id\":3", SCRIPTED_STATUS("429 Too Many Requests"), false },
		{ "\"id\":4", SCRIPTED_STATUS("502 Bad Gateway"), false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "a");
	UNTIL(has_failure, "1 3 0\n");
	SEND(2, "a");
	UNTIL(has_failure, "2 4 0\n");
	SEND(3, "a");
	UNTIL(has_failure, "3 4 0\n");
	SEND(4, "a");
	UNTIL(has_failure, "4 4 1\n");
	ck_assert_str_eq(seen.text, "HTTP status 502");
	ck_assert(!seen.closed);
	close_all();
}

TEST(the_stateless_protocol_names_method_tool_and_arguments)
{
	static const struct scripted_http_rule rules[] = {
		{ "server/discover", SCRIPTED_JSON(36, RESULT_1), false },
		{ "tools/call", SCRIPTED_JSON(36, RESULT_2), false },
	};
	struct transport_message m = {
		.json = STR("{\"id\":2,\"method\":\"tools/call\"}"),
		.id = 2,
		.method = STR("tools/call"),
		.name = STR("家"),
		.arguments = STR("{\"r\":\"eu\"}"),
		.schema = STR("{\"properties\":{\"r\":{\"x-mcp-header\":"
			      "\"Region\"}}}"),
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "server/discover");
	UNTIL(has_message, RESULT_1);
	COUNT("MCP-Protocol-Version: 2026-07-28", 1);
	COUNT("Mcp-Method: server/discover", 1);
	transport_set_version(channel, "2026-07-28");
	ck_assert_int_eq(transport_send(channel, &m), RC_OK);
	UNTIL(has_message, RESULT_2);
	COUNT("MCP-Protocol-Version: 2026-07-28", 2);
	COUNT("Mcp-Method: tools/call", 1);
	COUNT("Mcp-Name: =?base64?5a62?=", 1);
	COUNT("Mcp-Param-Region: eu", 1);
	SEND(0, "notifications/cancelled");
	transport_close(channel);
	UNTIL(is_closed, NULL);
	COUNT("cancelled", 0);
	close_all();
}

TEST(a_cancelled_request_has_no_end)
{
	static const struct scripted_http_rule rules[] = {
		{ "tools/call", SCRIPTED_EVENTS("id: 1\ndata: \n\n"), true },
		{ "tools/list", SCRIPTED_JSON(36, RESULT_2), false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/call");
	COUNT("tools/call", 1);
	transport_cancel(channel, 1);
	SEND(2, "tools/list");
	UNTIL(has_message, RESULT_2);
	ck_assert_uint_eq(seen.failures.n, 0);
	close_all();
}

TEST(a_stream_that_breaks_is_resumed_after_its_last_event)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST",
		    SCRIPTED_EVENTS("retry: 5\nid: e1\ndata: \n\n"
				    "id: e2\ndata: {\"method\":\"x\"}\n\n"),
		    false },
		{ "Last-Event-ID: e2",
		    SCRIPTED_EVENTS("id: e3\ndata: " RESULT_1 "\n\n"), false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "tools/call");
	UNTIL(has_message, RESULT_1);
	ck_assert_uint_eq(scripted_http_count("POST"), 1);
	ck_assert_uint_eq(scripted_http_count("GET"), 1);
	ck_assert_uint_eq(seen.failures.n, 0);
	close_all();
}

TEST(one_redirect_at_the_same_origin_is_followed)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST /mcp ",
		    "HTTP/1.1 307 x\r\nLocation: /mcp/\r\n"
		    "Content-Length: 0\r\n\r\n",
		    false },
		{ "\"id\":1", SCRIPTED_JSON(36, RESULT_1), false },
		{ "\"id\":2",
		    "HTTP/1.1 307 x\r\nLocation: /again\r\n"
		    "Content-Length: 0\r\n\r\n",
		    false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "a");
	UNTIL(has_message, RESULT_1);
	SEND(2, "a");
	UNTIL(has_failure, "2 4 0\n");
	ck_assert_uint_eq(scripted_http_count("POST /mcp/"), 2);
	ck_assert_uint_eq(scripted_http_count("POST /again"), 1);
	close_all();
}

TEST(a_redirect_to_another_origin_is_not_followed)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"id\":1",
		    "HTTP/1.1 307 x\r\nLocation: http://localhost:1/mcp\r\n"
		    "Content-Length: 0\r\n\r\n",
		    false },
		{ "\"id\":2",
		    "HTTP/1.1 302 x\r\nLocation: /mcp/\r\n"
		    "Content-Length: 0\r\n\r\n",
		    false },
	};

	OPEN(MCP_HTTP, rules);
	SEND(1, "a");
	UNTIL(has_failure, "1 4 0\n");
	SEND(2, "a");
	UNTIL(has_failure, "2 4 0\n");
	ck_assert_uint_eq(scripted_http_count("POST"), 2);
	close_all();
}

#define EVENTS_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

TEST(with_sse_messages_go_to_the_endpoint)
{
	static const struct scripted_http_rule rules[] = {
		{ "GET /mcp",
		    EVENTS_HEAD "event: endpoint\ndata: /post?s=1\n\n"
				"data: " RESULT_1 "\n\n",
		    true },
		{ "POST /post?s=1", SCRIPTED_STATUS("202 Accepted"), false },
	};

	OPEN(MCP_SSE, rules);
	ck_assert(!seen.closed);
	UNTIL(has_message, RESULT_1);
	SEND(2, "tools/list");
	COUNT("POST /post?s=1", 1);
	COUNT("Authorization: Bearer t", 2);
	ck_assert_uint_eq(seen.failures.n, 0);
	transport_close(channel);
	UNTIL(is_closed, NULL);
	ck_assert_uint_eq(scripted_http_count("DELETE"), 0);
	close_all();
}

TEST(the_end_of_the_sse_stream_is_the_end_of_all)
{
	static const struct scripted_http_rule ends[] = {
		{ "GET /mcp",
		    SCRIPTED_EVENTS("event: endpoint\ndata: /post\n\n"),
		    false },
	};

	OPEN(MCP_SSE, ends);
	UNTIL(is_closed, NULL);
	ck_assert_int_eq(seen.end.why, TRANSPORT_EXITED);
	ck_assert(seen.end.may_have_run);
	close_all();
}

TEST(an_endpoint_at_another_origin_is_not_used)
{
	static const struct scripted_http_rule rules[] = {
		{ "GET /mcp",
		    EVENTS_HEAD
		    "event: endpoint\ndata: http://localhost:1/x\n\n",
		    true },
	};

	OPEN(MCP_SSE, rules);
	UNTIL(is_closed, NULL);
	ck_assert(!seen.open);
	ck_assert_int_eq(seen.end.why, TRANSPORT_BROKEN);
	close_all();
}

TEST(a_server_with_sse_alone_is_found_out)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST /mcp", SCRIPTED_STATUS("405 Method Not Allowed"),
		    false },
		{ "GET /mcp", EVENTS_HEAD "event: endpoint\ndata: /post\n\n",
		    true },
		{ "POST /post", SCRIPTED_STATUS("202 Accepted"), false },
	};

	OPEN(MCP_HTTP_OR_SSE, rules);
	SEND(1, "server/discover");
	UNTIL(has_failure, "1 4 0\n");
	SEND(2, "initialize");
	COUNT("POST /post", 1);
	ck_assert_str_eq(seen.failures.p, "1 4 0\n");
	close_all();
}

TEST(what_the_server_sends_by_itself_comes_on_a_get)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"initialize\"", SCRIPTED_JSON(36, RESULT_1), false },
		{ "initialized", SCRIPTED_STATUS("202 Accepted"), false },
		{ "GET", EVENTS_HEAD "data: {\"method\":\"changed\"}\n\n",
		    true },
	};
	int port = scripted_http_open(rules, NELEM(rules));

	open_transport(MCP_HTTP, port, true);
	SEND(1, "initialize");
	UNTIL(has_message, RESULT_1);
	SEND(0, "notifications/initialized");
	UNTIL(has_message, "changed");
	ck_assert_uint_eq(scripted_http_count("GET"), 1);
	close_all();
}

TEST(a_stream_that_breaks_is_opened_anew_after_its_last_event)
{
	static const struct scripted_http_rule rules[] = {
		{ "initialized", SCRIPTED_STATUS("202 Accepted"), false },
		{ "Last-Event-ID: e7",
		    EVENTS_HEAD "data: {\"method\":\"second\"}\n\n", true },
		{ "GET",
		    SCRIPTED_EVENTS("retry: 5\nid: e7\n"
				    "data: {\"method\":\"first\"}\n\n"),
		    false },
	};
	int port = scripted_http_open(rules, NELEM(rules));

	open_transport(MCP_HTTP, port, true);
	SEND(0, "notifications/initialized");
	UNTIL(has_message, "second");
	ck_assert_str_eq(seen.messages.p,
	    "{\"method\":\"first\"}\n{\"method\":\"second\"}\n");
	ck_assert_uint_eq(scripted_http_count("GET"), 2);
	ck_assert(!seen.closed);
	close_all();
}

TEST(a_server_without_such_a_stream_gets_one_request)
{
	static const struct scripted_http_rule rules[] = {
		{ "GET", SCRIPTED_STATUS("405 Method Not Allowed"), false },
		{ "initialized", SCRIPTED_STATUS("202 Accepted"), false },
		{ "POST", SCRIPTED_JSON(36, RESULT_1), false },
	};
	int port = scripted_http_open(rules, NELEM(rules));

	open_transport(MCP_HTTP, port, true);
	SEND(0, "notifications/initialized");
	COUNT("GET", 1);
	SEND(0, "notifications/initialized");
	SEND(1, "tools/list");
	UNTIL(has_message, RESULT_1);
	ck_assert_uint_eq(scripted_http_count("GET"), 1);
	ck_assert(!seen.closed);
	close_all();
}

TEST(a_transport_may_be_freed_or_closed_by_its_handler)
{
	static const struct scripted_http_rule rules[] = {
		{ "\"id\":1", SCRIPTED_JSON(36, RESULT_1), false },
		{ "\"id\":2",
		    SCRIPTED_EVENTS("data: " RESULT_2 "\n\ndata: 3\n\n"),
		    true },
	};
	int i;

	for (i = 1; i <= 4; i++) {
		OPEN(MCP_HTTP, rules);
		seen.free_in_message = i <= 2;
		seen.close_in_message = i > 2;
		SEND(i % 2 + 1, "a");
		SEND(9, "b");
		UNTIL(has_message, "result");
		if (i > 2)
			UNTIL(is_closed, NULL);
		ck_assert_ptr_null(channel);
		close_all();
	}
}

TEST(too_many_requests_wait_nowhere)
{
	static const struct scripted_http_rule rules[] = {
		{ "POST", EVENTS_HEAD, true },
	};
	int i;

	OPEN(MCP_HTTP, rules);
	for (i = 1; i <= HTTP_REQUESTS_MAX; i++)
		SEND(i, "tools/call");
	ck_assert_int_eq(send_message(i, "tools/call"), RC_RETRY);
	transport_cancel(channel, 1);
	SEND(i, "tools/call");
	close_all();
}
