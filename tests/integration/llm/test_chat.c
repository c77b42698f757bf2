/*
 * Chats with a provider whose responses each test defines.
 */
#include "llm/llm.h"
#include "testkit/loop_thread.h"
#include "testkit/raw_server.h"

#define CALL_MS 10000

/* The bytes that the provider sends, and the fate of the connection. */
static const char *_Atomic answer;
static _Atomic bool holds;
static struct buf requests = BUF_INIT(1024 * 1024);
static pthread_mutex_t requests_lock = PTHREAD_MUTEX_INITIALIZER;

static void
provider(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(1024 * 1024);

	if (raw_server_read(fd, &in)) {
		pthread_mutex_lock(&requests_lock);
		buf_reset(&requests);
		buf_put_str(&requests, buf_str(&in));
		pthread_mutex_unlock(&requests_lock);
		if (raw_server_write(fd, answer) && holds)
			raw_server_hold(p, fd);
	}
	buf_free(&in);
}

/* A client, one chat, and its result. */
struct talk {
	struct tk_loop k;
	struct raw_server p;
	struct llm *llm;
	struct llm_chat chat;
	struct llm_call *call;
	enum rc started, rc;
	int times, chunks;
	struct buf text, chunks_text, calls;
	char error[600];
	enum llm_finish finish;
	bool incomplete, retry, cancel;
	int64_t retry_after_ms;
	_Atomic bool done;
};

static struct talk talk;
static const struct llm_message hello = { .role = LLM_USER,
	.text = STR_INIT("hello") };

static void
on_text(void *arg, struct str text)
{
	struct talk *me = arg;

	me->chunks++;
	buf_put_str(&me->chunks_text, text);
	if (me->cancel) {
		llm_cancel(me->call);
		me->done = true;
	}
}

static void
on_done(void *arg, const struct llm_result *r)
{
	struct talk *me = arg;

	me->times++;
	me->rc = r->rc;
	buf_put_str(&me->text, r->text);
	for (size_t i = 0; i < r->ncalls; i++)
		buf_printf(&me->calls, "%s%.*s %.*s %.*s;",
		    r->calls[i].valid ? "" : "!", STR_ARG(r->calls[i].id),
		    STR_ARG(r->calls[i].name), STR_ARG(r->calls[i].arguments));
	str_copy(r->error, me->error, sizeof(me->error));
	me->finish = r->finish;
	me->incomplete = r->incomplete;
	me->retry = r->retry;
	me->retry_after_ms = r->retry_after_ms;
	me->done = true;
}

static void
talk_open(void)
{
	char url[128];

	memset(&talk, 0, sizeof(talk));
	buf_init(&talk.text, 1024 * 1024);
	buf_init(&talk.chunks_text, 1024 * 1024);
	buf_init(&talk.calls, 1024 * 1024);
	holds = false;
	raw_server_open(&talk.p, provider);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1/", talk.p.port);
	tk_loop_new(&talk.k, 1024);
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = talk.k.l,
				     .base_url = url,
				     .api_key = "key",
				     .model = "m1",
				     .tries = 1,
				     .first_byte_ms = 2000,
				     .idle_ms = 500 },
			     &talk.llm),
	    RC_OK);
	talk.chat = (struct llm_chat){ .messages = &hello,
		.nmessages = 1,
		.temperature = -1,
		.turn = STR_INIT("t1"),
		.deadline = { clock_wall().ms + CALL_MS },
		.stream = true,
		.on_text = on_text,
		.on_done = on_done,
		.arg = &talk };
	tk_loop_start(&talk.k);
}

static void
do_free(void *arg)
{
	(void)arg;
	llm_free(talk.llm);
}

static void
talk_close(void)
{
	tk_loop_call(&talk.k, do_free, NULL);
	tk_loop_stop(&talk.k);
	loop_free(talk.k.l);
	raw_server_close(&talk.p);
	buf_free(&talk.text);
	buf_free(&talk.chunks_text);
	buf_free(&talk.calls);
}

static void
do_start(void *arg)
{
	(void)arg;
	talk.started = llm_chat(talk.llm, &talk.chat, &talk.call);
}

static bool
is_done(void *arg)
{
	(void)arg;
	return talk.done;
}

static void
talk_run(const char *sent)
{
	answer = sent;
	talk.done = false;
	talk.times = 0;
	talk.chunks = 0;
	buf_reset(&talk.text);
	buf_reset(&talk.chunks_text);
	buf_reset(&talk.calls);
	tk_loop_call(&talk.k, do_start, NULL);
	ck_assert_int_eq(talk.started, RC_OK);
	ck_assert(tk_until(is_done, NULL, CALL_MS + 2000));
	tk_loop_call(&talk.k, NULL, NULL);
}

static void
check(enum rc rc, const char *text, const char *calls)
{
	ck_assert_msg(talk.rc == rc, "%s: %s", rc_name(talk.rc), talk.error);
	ck_assert_int_eq(talk.times, 1);
	ck_assert_msg(
	    str_eq(buf_str(&talk.text), str_of(text)), "%s", talk.text.p);
	ck_assert_msg(
	    str_eq(buf_str(&talk.calls), str_of(calls)), "%s", talk.calls.p);
}

#define STREAM   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define JSON     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
#define CHUNK(d) "data: {\"choices\":[{\"index\":0,\"delta\":{" d "}}]}\n\n"
#define FINISH(f)                                                              \
	"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" f \
	"\"}]}\n\n"
#define DONE "data: [DONE]\n\n"

TEST(a_stream_is_read)
{
	talk_open();
	talk_run(STREAM ": keep-alive\n\n" CHUNK("\"role\":\"assistant\"")
		CHUNK("\"content\":\"Hel\"") CHUNK("\"content\":\"lo\"")
		    FINISH("stop") DONE);
	check(RC_OK, "Hello", "");
	ck_assert_int_eq(talk.chunks, 2);
	ck_assert(str_eq(buf_str(&talk.chunks_text), STR("Hello")));
	ck_assert_int_eq(talk.finish, LLM_FINISH_STOP);
	ck_assert(!talk.incomplete);
	ck_assert_str_eq(talk.error, "");
	ck_assert(str_starts(
	    buf_str(&requests), STR("POST /v1/chat/completions HTTP/1.1\r\n")));
	ck_assert_ptr_nonnull(
	    strstr(requests.p, "\r\nAuthorization: Bearer key\r\n"));
	ck_assert_ptr_nonnull(
	    strstr(requests.p, "\r\nAccept: text/event-stream\r\n"));
	ck_assert_ptr_nonnull(strstr(requests.p, "\"stream\":true"));
	talk_close();
}

TEST(calls_in_a_stream_with_odd_line_ends)
{
	talk_open();
	talk_run("HTTP/1.1 200 OK\r\n"
		 "Content-Type: Text/Event-Stream; charset=utf-8\r\n\r\n"
		 "data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\","
		 "\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}}]}}]}"
		 "\r\n\r\ndata:{\"choices\":[{\"delta\":{},"
		 "\"finish_reason\":\"stop\"}]}\r\rdata:[DONE]\r\n\r\n"
		 "data: what comes behind is not read\n\n");
	check(RC_OK, "", "a f {\"x\":1};");
	ck_assert_int_eq(talk.finish, LLM_FINISH_TOOL_CALLS);
	talk_close();
}

TEST(a_whole_response_requested_or_not)
{
	static const char sent[] = JSON
	    "\n\n\n{\"choices\":[{\"message\":{\"content\":\"hi\"},"
	    "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":1}}";

	talk_open();
	talk.chat.stream = false;
	talk_run(sent);
	check(RC_OK, "hi", "");
	ck_assert_int_eq(talk.chunks, 0);
	ck_assert_ptr_null(strstr(requests.p, "\"stream\""));
	talk.chat.stream = true;
	talk_run(sent);
	check(RC_OK, "hi", "");
	/* And a stream that was not requested. */
	talk.chat.stream = false;
	talk_run(STREAM CHUNK("\"content\":\"hi\"") FINISH("stop") DONE);
	check(RC_OK, "hi", "");
	talk_close();
}

TEST(truncated_streams)
{
	talk_open();
	/* No end marker, but a finish reason. */
	talk_run(STREAM CHUNK("\"content\":\"a\"") FINISH("stop"));
	check(RC_OK, "a", "");
	ck_assert(!talk.incomplete);
	/* Neither. */
	talk_run(STREAM CHUNK("\"content\":\"a\""));
	check(RC_OK, "a", "");
	ck_assert(talk.incomplete);
	/* In the middle of an event, which is lost. */
	talk_run(STREAM CHUNK("\"content\":\"a\"") "data: {\"choices\":");
	check(RC_OK, "a", "");
	ck_assert(talk.incomplete);
	/* Before any event. */
	talk_run(STREAM ": hello\n\n");
	check(RC_DOWN, "", "");
	ck_assert(talk.retry);
	/* The connection breaks: the text so far is in the result. */
	talk_run("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		 "Content-Length: 10000\r\n\r\n" CHUNK("\"content\":\"a\""));
	check(RC_DOWN, "a", "");
	ck_assert(talk.incomplete);
	/* After delivered text there is no retry. */
	ck_assert(!talk.retry);
	/* It stops sending. */
	holds = true;
	talk_run(STREAM CHUNK("\"content\":\"a\""));
	check(RC_TIMEOUT, "a", "");
	ck_assert_str_eq(talk.error, "the response stalled");
	talk_close();
}

#define WORN_OUT "data: {\"error\":{\"message\":\"worn out\",\"code\":503}}\n\n"

/* A fresh client, with closed breakers. */
static void
talk_repeat(void)
{
	talk_close();
	talk_open();
}

TEST(errors_in_a_stream_end_the_call)
{
	talk_open();
	talk_run(STREAM CHUNK("\"content\":\"a\"")
		WORN_OUT CHUNK("\"content\":\"b\""));
	check(RC_DOWN, "a", "");
	ck_assert_str_eq(talk.error, "worn out");
	ck_assert(!talk.retry);
	talk_run(STREAM "event: error\ndata: {\"message\":\"worn out\"}\n\n");
	check(RC_DOWN, "", "");
	ck_assert_str_eq(talk.error, "worn out");
	ck_assert(talk.retry);
	talk_repeat();
	talk_run(STREAM "data: {nonsense\n\n");
	check(RC_INVALID, "", "");
	talk_run(STREAM "data: {\"choices\":1}\n\n");
	check(RC_INVALID, "", "");
	ck_assert_str_eq(
	    talk.error, "an event is not a chunk of a chat completion");
	talk_close();
}

TEST(errors_map_by_status)
{
	static const struct {
		const char *sent;
		enum rc rc;
		const char *error;
		bool retry;
		int64_t retry_after_ms;
	} rows[] = {
		{ "HTTP/1.1 401 No\r\n\r\n{\"error\":{\"message\":\"key\"}}",
		    RC_DENIED, "key", false, -1 },
		{ "HTTP/1.1 429 No\r\nRetry-After: 2\r\n\r\n"
		  "{\"error\":{\"message\":\"slow\","
		  "\"code\":\"rate_limit_exceeded\"}}",
		    RC_RETRY, "slow", true, 2000 },
		{ "HTTP/1.1 429 No\r\nretry-after-ms: 250\r\n\r\n"
		  "{\"error\":{\"message\":\"money\","
		  "\"type\":\"insufficient_quota\"}}",
		    RC_DENIED, "money", false, 250 },
		{ "HTTP/1.1 503 No\r\n\r\n<html>busy</html>", RC_DOWN,
		    "<html>busy</html>", true, -1 },
		{ "HTTP/1.1 503 No\r\nx-should-retry: false\r\n\r\n", RC_DOWN,
		    "status 503 without an error text", false, -1 },
		{ "HTTP/1.1 400 No\r\nx-should-retry: true\r\n\r\n"
		  "{\"detail\":\"odd\"}",
		    RC_INVALID, "odd", true, -1 },
		{ "HTTP/1.1 404 No\r\nContent-Type: text/event-stream\r\n\r\n"
		  "{\"error\":\"no such model\"}",
		    RC_NOENT, "no such model", false, -1 },
		{ JSON "{\"error\":{\"message\":\"in spite of 200\"}}", RC_DOWN,
		    "in spite of 200", true, -1 },
		{ JSON "{\"choices\":[{}]}", RC_INVALID,
		    "the response is not a chat completion", false, -1 },
		{ JSON "", RC_INVALID, NULL, false, -1 },
		{ "HTTP/1.1 204 Nothing\r\n\r\n", RC_INVALID, NULL, false, -1 },
	};

	talk_open();
	for (size_t i = 0; i < NELEM(rows); i++) {
		talk_repeat();
		talk_run(rows[i].sent);
		check(rows[i].rc, "", "");
		if (rows[i].error != NULL)
			ck_assert_str_eq(talk.error, rows[i].error);
		ck_assert_str_ne(talk.error, "");
		ck_assert_msg(talk.retry == rows[i].retry, "row %zu", i);
		ck_assert_int_eq(talk.retry_after_ms, rows[i].retry_after_ms);
	}
	talk_close();
}

TEST(an_unreachable_provider)
{
	talk_open();
	/* The peer closes without a response. */
	talk_run("");
	check(RC_DOWN, "", "");
	ck_assert(talk.retry);
	talk_close();
}

TEST(cancel_while_text_arrives)
{
	talk_open();
	talk.cancel = true;
	holds = true;
	talk_run(STREAM CHUNK("\"content\":\"a\"") CHUNK("\"content\":\"b\""));
	ck_assert_int_eq(talk.times, 0);
	ck_assert_int_eq(talk.chunks, 1);
	talk_close();
	ck_assert_int_eq(talk.times, 0);
}

static void
do_cancel(void *arg)
{
	(void)arg;
	llm_cancel(talk.call);
}

TEST(cancel_before_a_response)
{
	talk_open();
	answer = "";
	holds = true;
	tk_loop_call(&talk.k, do_start, NULL);
	ck_assert_int_eq(talk.started, RC_OK);
	tk_loop_call(&talk.k, do_cancel, NULL);
	talk_close();
	ck_assert_int_eq(talk.times, 0);
}

TEST(freeing_the_client_ends_calls)
{
	talk_open();
	answer = "";
	holds = true;
	tk_loop_call(&talk.k, do_start, NULL);
	talk_close();
	ck_assert_int_eq(talk.times, 1);
	ck_assert_int_eq(talk.rc, RC_DOWN);
}

TEST(invalid_options_are_rejected)
{
	static const char *const urls[] = { NULL, "", "x", "ftp://a", "/v1" };
	struct loop *l = loop_new(16);
	struct llm *llm;

	for (size_t i = 0; i < NELEM(urls); i++)
		ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = l,
					     .base_url = urls[i],
					     .model = "m" },
				     &llm),
		    RC_INVALID);
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = l,
				     .base_url = "http://a",
				     .model = "" },
			     &llm),
	    RC_INVALID);
	/* A key that would break the header. */
	ck_assert_int_eq(llm_new(&(struct llm_opts){ .loop = l,
				     .base_url = "http://127.0.0.1:1",
				     .api_key = "a\r\nX: y",
				     .model = "m" },
			     &llm),
	    RC_OK);
	struct llm_chat chat = { .messages = &hello,
		.nmessages = 1,
		.deadline = { clock_wall().ms + 1000 },
		.on_done = on_done };
	ck_assert_int_eq(llm_chat(llm, &chat, NULL), RC_INVALID);
	llm_free(llm);
	loop_free(l);
}
