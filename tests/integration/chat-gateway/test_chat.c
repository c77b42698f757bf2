/*
 * Chat requests: which are rejected, with which text and in which order, and
 * what of a valid one reaches the orchestrator.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/gateway_turn_fixture.h"

#define CHAT     "POST", "/v1/chat"
#define REQUIRED "session_id and terminal_id are required"
#define INPUTS   "inputs is required"
#define NO_TEXT                                                               \
	"currently only input.type=keyboard_text|speech_text with non-empty " \
	"text is supported"
#define NO_SOUL "soul selection is required before chat"

#define S1 "\"session_id\":\"s1\""
#define T1 "\"terminal_id\":\"t1\""

#define CHAT_BODY "\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"hi\"}]"

#define ORIGIN(input) "{" S1 "," T1 ",\"inputs\":[" input "]}"

static const struct {
	const char *body, *text;
} bad[] = {
	{ "", "invalid json" },
	{ "{", "invalid json" },
	{ "{" S1 "," T1 "," CHAT_BODY "}x", "invalid json" },
	{ "{" S1 "," S1 "," T1 "," CHAT_BODY "}", "invalid json" },
	{ "{" S1 "," T1 "," CHAT_BODY ",\"a\":\"\xff\"}", "invalid json" },
	{ "{" S1 "," T1 "," CHAT_BODY ",\"a\":\"\\u0000\"}", "invalid json" },
	{ "[{" S1 "," T1 "," CHAT_BODY "}]", "invalid json" },
	{ "\"hi\"", "invalid json" },
	{ "null", "invalid json" },
	/*
	 * In the order of the origin system, independent of the order in the
	 * text.
	 */
	{ "{}", REQUIRED },
	{ "{" T1 "," CHAT_BODY "}", REQUIRED },
	{ "{" S1 "," CHAT_BODY "}", REQUIRED },
	{ "{\"session_id\":\"\"," T1 "," CHAT_BODY "}", REQUIRED },
	{ "{" S1 ",\"terminal_id\":\"\"," CHAT_BODY "}", REQUIRED },
	{ "{\"inputs\":[]}", REQUIRED },
	{ "{\"inputs\":[],\"terminal_id\":\"\"," S1 "}", REQUIRED },
	{ "{\"inputs\":[{\"type\":\"x\"}]," S1 "}", REQUIRED },
	{ "{" S1 "," T1 "}", INPUTS },
	{ "{" S1 "," T1 ",\"inputs\":[]}", INPUTS },
	{ "{" S1 "," T1 ",\"inputs\":null}", "/inputs: must be an array" },
	{ ORIGIN("{\"type\":\"keyboard_text\"}"), NO_TEXT },
	{ ORIGIN("{\"type\":\"keyboard_text\",\"text\":\"\"}"), NO_TEXT },
	{ ORIGIN("{\"type\":\"keyboard_text\",\"text\":\" \\r\\n\\t\"}"),
	    NO_TEXT },
	{ ORIGIN("{\"type\":\"speech_text\",\"text\":\"\xe3\x80\x80\"}"),
	    NO_TEXT },
	{ ORIGIN("{\"type\":\"event_note\",\"text\":\"it rains\"}"), NO_TEXT },
	{ ORIGIN("{\"type\":\"audio\",\"text\":\"x\",\"media\":{}}"), NO_TEXT },
	{ ORIGIN("{\"type\":\"presence\",\"data\":true},"
		 "{\"type\":\"speech_text\",\"text\":\" \"}"),
	    NO_TEXT },
	/* Only then is the terminal checked. */
	{ "{" S1 "," T1 "," CHAT_BODY "}", NO_SOUL },
	/* Further rules of the schema. */
	{ "{\"session_id\":5," T1 "," CHAT_BODY "}",
	    "/session_id: must be a string" },
	{ "{" S1 ",\"terminal_id\":\"a/b\"," CHAT_BODY "}",
	    "/terminal_id: must not have control characters, /, + or #" },
	{ "{" S1 ",\"terminal_id\":\"+\"," CHAT_BODY "}",
	    "/terminal_id: must not have control characters, /, + or #" },
	{ "{\"session_id\":\"a\\u0007\"," T1 "," CHAT_BODY "}",
	    "/session_id: must not have control characters" },
	{ "{\"user_id\":\"\"," S1 "," T1 "," CHAT_BODY "}",
	    "/user_id: must not be empty" },
	{ ORIGIN("{\"text\":\"hi\"}"), "/inputs/0/type: is missing" },
	{ ORIGIN("{\"type\":\"keyboard_text\",\"text\":7}"),
	    "/inputs/0/text: must be a string" },
	{ ORIGIN("{\"type\":\"keyboard_text\",\"text\":\"hi\"},7"),
	    "/inputs/1: must be an object" },
	{ ORIGIN("{\"type\":\"keyboard_text\",\"text\":\"hi\","
		 "\"media\":{\"size_bytes\":-1}}"),
	    "/inputs/0/media/size_bytes: must be at least 0" },
};

TEST(invalid_chats_are_rejected_in_protocol_order)
{
	struct gw_peer p;
	struct gateway_fixture b;
	size_t i;

	gateway_fixture_start(&b, NULL);
	gw_peer_start(&b, &p);
	for (i = 0; i < NELEM(bad); i++)
		gw_rejects(&b, CHAT, bad[i].body, 400, bad[i].text);
	gw_rejects(&b, CHAT, ORIGIN("{\"type\":\"shout\",\"text\":\"hi\"}"),
	    400,
	    "/inputs/0/type: must be one of keyboard_text, speech_text, "
	    "event_note, presence, sensor_state, audio, image, video");
	ck_assert_int_eq(atomic_load(&p.turns), 0);
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}

/* A request with every member of the protocol. */
static const char full[] =
    "{\"user_id\":\"ann\",\"session_id\":\"会话 1\",\"terminal_id\":\"t1\","
    "\"soul_hint\":\"friendly\",\"unknown\":[1,{}],\"inputs\":["
    "{\"type\":\"presence\",\"data\":{\"near\":true}},"
    "{\"type\":\"image\",\"media\":{\"provider\":\"oss\",\"url\":\"https://x\","
    "\"size_bytes\":9007199254740991}},"
    "{\"input_id\":\"in-1\",\"type\":\"speech_text\",\"source\":\"mic\","
    "\"ts\":\"2026-02-20T12:00:01Z\",\"text\":\" 今天上海天气如何？\\n\"}]}";

static void
check_start(json_t *start)
{
	json_t *want = json_loads(full, 0, NULL),
	       *gw_chat = tk_at(start, "chat");

	json_object_del(want, "unknown");
	/* Defaults are passed on. */
	json_object_set_new(want, "stream", json_false());
	json_object_set_new(want, "cancel_on_disconnect", json_false());
	ck_assert_msg(json_equal(want, gw_chat), "%s", json_dumps(gw_chat, 0));
	json_decref(want);
	ck_assert_str_eq(tk_text(start, "user_id"), "ann");
	ck_assert_int_eq(strncmp(tk_text(start, "turn_id"), "turn_", 5), 0);
	ck_assert_uint_eq(strlen(tk_text(start, "turn_id")), 5 + 32);
	ck_assert_uint_eq(
	    strspn(tk_text(start, "turn_id") + 5, "0123456789abcdef"), 32);
	ck_assert_ptr_nonnull(strchr(tk_text(start, "received_at"), 'T'));
}

static void
check_headers(const struct gw_turn *t, const char *trace, int64_t before)
{
	const char *deadline, *parent;

	ck_assert_int_eq(
	    natsMsgHeader_Get(t->m, "traceparent", &parent), NATS_OK);
	ck_assert_int_eq(strncmp(parent + 3, trace, 32), 0);
	/* The turn's span is a child of the caller's. */
	ck_assert_int_eq(strncmp(parent + 36, "b7ad6b7169203331", 16), 0);
	ck_assert_int_eq(
	    natsMsgHeader_Get(t->m, "Soul-Deadline", &deadline), NATS_OK);
	ck_assert_int_ge(strtoll(deadline, NULL, 10), before + 120000);
	ck_assert_int_le(strtoll(deadline, NULL, 10), clock_wall().ms + 120000);
}

/* The complete request, the caller's trace, and a deadline in two minutes. */
TEST(a_chat_reaches_the_orchestrator_complete)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	natsSubscription *turns;
	char head[512], id[GW_SOUL_ID];
	int64_t before;
	struct gw_turn t;
	struct gateway_fixture b;

	gateway_fixture_start(&b, NULL);
	gw_soul(&b, "ann", "friendly", id);
	turns = gw_turns_subscribe(&b);
	before = clock_wall().ms;
	snprintf(head, sizeof(head),
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	    "traceparent: 00-%s-b7ad6b7169203331-01\r\n"
	    "Content-Type: application/json; charset=utf-8\r\n"
	    "Content-Length: %zu\r\n\r\n",
	    trace, sizeof(full) - 1);
	tk_http_open(&c, b.gateway.http);
	ck_assert(tk_http_puts(&c, head) && tk_http_puts(&c, full));
	gw_turn_next(turns, &t);
	check_start(t.j);
	check_headers(&t, trace, before);
	gw_turn_complete(&b, &t);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_str_eq(a.body.p, GW_RESPONSE);
	gw_turn_free(&t);
	tk_http_close(&c);
	tk_response_free(&a);
	natsSubscription_Destroy(turns);
	gateway_fixture_stop(&b);
}

/* A request without user_id. */
TEST(a_missing_user_id_is_the_default_user)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };
	natsSubscription *turns;
	char id[GW_SOUL_ID];
	struct gw_turn t;
	struct gateway_fixture b;
	json_t *j;

	gateway_fixture_start(&b, TK_ENV("USER_ID=the owner"));
	gw_soul(&b, NULL, "friendly", id);
	j = gw_json(&b, "GET", "/v1/souls", NULL);
	ck_assert_str_eq(tk_text(j, "user_id"), "the owner");
	json_decref(j);
	gw_bind_ok(&b, "the owner", "t1", id);
	turns = gw_turns_subscribe(&b);
	gw_send(&b, &c, CHAT, "{" S1 "," T1 "," CHAT_BODY ",\"user_id\":null}");
	gw_turn_next(turns, &t);
	ck_assert_str_eq(tk_text(t.j, "user_id"), "the owner");
	gw_turn_complete(&b, &t);
	ck_assert(tk_http_read(&c, &a, GW_MS));
	ck_assert_int_eq(a.status, 200);
	gw_turn_free(&t);
	tk_http_close(&c);
	tk_response_free(&a);
	natsSubscription_Destroy(turns);
	gateway_fixture_stop(&b);
}

#define INPUT "{\"type\":\"keyboard_text\",\"text\":\""

/*
 * A chat of exactly n bytes: this many inputs with texts of equal length,
 * padded with spaces.
 */
static char *
long_chat(size_t n, size_t inputs, size_t text)
{
	static const char head[] = "{" S1 "," T1 ",\"inputs\":[";
	char *body = mem_alloc(n + 1), *p = body;
	size_t i;

	memset(body, ' ', n);
	body[n] = '\0';
	p = mempcpy(p, head, sizeof(head) - 1);
	for (i = 0; i < inputs; i++) {
		if (i > 0)
			*p++ = ',';
		p = mempcpy(p, INPUT, sizeof(INPUT) - 1);
		memset(p, 'x', text);
		p = mempcpy(p + text, "\"}", 2);
	}
	ck_assert(p <= body + n - 2);
	memcpy(body + n - 2, "]}", 2);
	return body;
}

static void
check_size(
    struct gateway_fixture *b, size_t n, size_t inputs, size_t text, int status)
{
	char *body = long_chat(n, inputs, text);
	struct tk_response a = { 0 };

	gw_request(b, &a, CHAT, body);
	if (status == 200)
		json_decref(gw_response_json(&a, 200));
	else
		gw_check_error(&a, status, "the body is too large");
	tk_response_free(&a);
	free(body);
}

TEST(a_request_of_one_mebibyte_is_accepted)
{
	const size_t mib = 1024 * 1024;
	char id[GW_SOUL_ID];
	struct gw_peer p;
	struct gateway_fixture b;

	gw_chat_start(&b, &p, id);
	check_size(&b, mib, 1, 2, 200);
	check_size(&b, mib, 63, 16384, 200);
	check_size(&b, mib + 1, 1, 2, 413);
	check_size(&b, 3 * mib, 1, 2, 413);
	ck_assert_int_eq(atomic_load(&p.turns), 2);
	/* Requests that leave no room for the message's envelope. */
	check_size(&b, mib, 64, 16300, 200);
	check_size(&b, mib, 64, 16348, 413);
	gw_chat_ok(&b, "t1", "");
	gw_peer_stop(&p);
	gateway_fixture_stop(&b);
}
