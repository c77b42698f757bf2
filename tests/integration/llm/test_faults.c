/*
 * Failures: retries, other providers, the end of a call.
 */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/llm_fixture.h"

TK_SHARE(llm_fixture_begin, NULL, llm_fixture_end)

#define STATUS(n)          "{\"kind\":\"status\",\"status\":" n "}"
#define STATUS_OF(n, more) "{\"kind\":\"status\",\"status\":" n "," more "}"
#define HEADER(h)          "\"headers\":[\"" h "\"]"
#define BODY(b)            "\"body\":\"" b "\""
#define BROKEN             "{\"kind\":\"error\"}"
#define TEXT               "{\"kind\":\"answer\",\"text\":\"Hello.\"}"

#define HTML "<html><body>bad gateway</body></html>"
#define ARRAY_BODY \
	"[{\\\"error\\\":{\\\"code\\\":400,\\\"message\\\":\\\"odd\\\"}}]"
#define DETAIL "{\\\"detail\\\":\\\"odd\\\"}"
#define TOO_LONG                                                     \
	"{\\\"error\\\":{\\\"message\\\":\\\"long\\\",\\\"code\\\":" \
	"\\\"context_length_exceeded\\\"}}"
#define WORN "{\\\"error\\\":{\\\"message\\\":\\\"worn\\\",\\\"code\\\":503}}"

static struct llm_provider
sim(enum llm_kind kind, const char *name)
{
	return (struct llm_provider){ .kind = kind,
		.name = name,
		.base_url = kind == LLM_OPENAI ? sim_fx.url : sim_fx.root,
		.model = "m" };
}

/* A script of the simulated model; the result and the number of attempts. */
static const struct {
	const char *script;
	enum rc rc;
	unsigned attempts;
	const char *error; /* NULL: any */
} rows[] = {
	{ STATUS("503"), RC_OK, 2, "" },
	{ STATUS("500") "," STATUS("502"), RC_OK, 3, "" },
	{ BROKEN "," BROKEN "," BROKEN, RC_DOWN, 3, "it broke" },
	{ STATUS("408"), RC_OK, 2, "" },
	{ STATUS("409"), RC_OK, 2, "" },
	{ STATUS("529"), RC_OK, 2, "" },
	{ "{\"kind\":\"rate_limit\",\"retry_after_s\":1}", RC_OK, 2, "" },
	{ "{\"kind\":\"quota\"}", RC_DENIED, 1, "the quota is spent" },
	{ STATUS("401"), RC_DENIED, 1, NULL },
	{ STATUS("402"), RC_DENIED, 1, NULL },
	{ STATUS("404"), RC_NOENT, 1, NULL },
	{ STATUS("413"), RC_TOOBIG, 1, NULL },
	{ STATUS("422"), RC_INVALID, 1, NULL },
	{ STATUS_OF("400", BODY(TOO_LONG)), RC_TOOBIG, 1, "long" },
	{ STATUS_OF("400", BODY(ARRAY_BODY)), RC_INVALID, 1, "odd" },
	{ STATUS_OF("400", BODY(DETAIL)), RC_INVALID, 1, "odd" },
	{ STATUS_OF("403", BODY(HTML)), RC_DENIED, 1, HTML },
	/* The provider's hint wins. */
	{ STATUS_OF("503", HEADER("x-should-retry: false")), RC_DOWN, 1, NULL },
	{ STATUS_OF("400", HEADER("x-should-retry: true")), RC_OK, 2, "" },
	/* Longer than any wait. */
	{ STATUS_OF("429", HEADER("Retry-After: 61")), RC_RETRY, 1, NULL },
	/* Longer than the caller waits. */
	{ STATUS_OF("429", HEADER("Retry-After: 30")), RC_RETRY, 1, NULL },
	{ STATUS_OF("429", HEADER("retry-after-ms: 50")), RC_OK, 2, "" },
	/* A connection that breaks, at once or in the head of a response. */
	{ "{\"kind\":\"silence\"}", RC_OK, 2, "" },
	/* A stream that is only an error. */
	{ "{\"kind\":\"answer\",\"quirks\":[\"error_chunk\"]," BODY(WORN) "}",
	    RC_OK, 2, "" },
	{ "{\"kind\":\"answer\",\"quirks\":[\"event_error\"]," BODY(WORN) "}",
	    RC_OK, 2, "" },
};

static void
check_rows(enum llm_kind kind)
{
	struct llm_provider p = sim(kind, "a");

	for (size_t i = 0; i < NELEM(rows); i++) {
		llm_fixture_script(rows[i].script);
		llm_chat_open(&p, 1);
		llm_chat_run();
		ck_assert_msg(chat_fx.rc == rows[i].rc &&
			chat_fx.attempts == rows[i].attempts,
		    "row %zu: %s after %u: %s", i, rc_name(chat_fx.rc),
		    chat_fx.attempts, chat_fx.error);
		ck_assert_msg(rows[i].error == NULL ||
			strcmp(chat_fx.error, rows[i].error) == 0,
		    "row %zu: %s", i, chat_fx.error);
		ck_assert_int_eq(
		    llm_chat_metric("soul_llm_attempts_total", "a"),
		    chat_fx.attempts);
		ck_assert_int_eq(llm_chat_metric("soul_llm_retries_total", "a"),
		    chat_fx.attempts - 1);
		llm_chat_close();
	}
}

TEST(openai_failures)
{
	check_rows(LLM_OPENAI);
}

TEST(anthropic_failures)
{
	check_rows(LLM_ANTHROPIC);
}

/* The same with another Content-Type. */
#define PLAIN_STREAM                                               \
	"data: {\\\"choices\\\":[{\\\"delta\\\":{\\\"content\\\":" \
	"\\\"hi\\\"},\\\"finish_reason\\\":\\\"stop\\\"}]}\\n\\n"

TEST(a_stream_with_another_content_type)
{
	static const char *const scripts[] = {
		STATUS_OF("200", BODY(PLAIN_STREAM)),
		STATUS_OF("200",
		    HEADER("Content-Type: text/plain") "," BODY(PLAIN_STREAM))
	};
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_chat_open(&p, 1);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		llm_fixture_script(scripts[i]);
		llm_chat_run();
		ck_assert_msg(chat_fx.rc == RC_OK, "%s", chat_fx.error);
		ck_assert_str_eq(chat_fx.shown.p, "hi");
	}
	llm_chat_close();
}

/* The idle timeout of 1 s counts bytes of any kind. */
TEST(comments_reset_the_idle_timeout)
{
	static const char *const scripts[] = {
		"{\"kind\":\"answer\",\"text\":\"Hi\",\"piece_ms\":600,"
		"\"quirks\":[\"comments\"]}",
		"{\"kind\":\"answer\",\"text\":\"Hi\",\"piece_ms\":600,"
		"\"quirks\":[\"whole\",\"blank_lines\"]}",
	};
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_chat_open(&p, 1);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		llm_fixture_script(scripts[i]);
		llm_chat_run();
		ck_assert_msg(chat_fx.rc == RC_OK, "%s", chat_fx.error);
		ck_assert_str_eq(chat_fx.text.p, "Hi");
		ck_assert_int_gt(llm_chat_ms(), 1500);
		ck_assert_uint_eq(chat_fx.attempts, 1);
	}
	llm_fixture_script("{\"kind\":\"answer\",\"text\":\"Hi\","
			   "\"piece_ms\":1500}");
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_uint_eq(chat_fx.attempts, 2);
	llm_chat_close();
}

TEST(retry_after_is_respected)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_fixture_script(STATUS_OF("429", HEADER("retry-after-ms: 700")));
	llm_chat_open(&p, 1);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_int_ge(llm_chat_ms(), 700);
	ck_assert_int_lt(llm_chat_ms(), 5000);
	llm_chat_close();
}

TEST(delivered_text_prevents_a_retry)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");
	long long before = llm_fixture_requests();

	llm_fixture_script("{\"kind\":\"cut\"}," TEXT);
	llm_chat_open(&p, 1);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_DOWN);
	ck_assert_uint_eq(chat_fx.attempts, 1);
	ck_assert_uint_gt(chat_fx.shown.n, 0);
	ck_assert(!chat_fx.retry);
	ck_assert_int_eq(llm_fixture_requests(), before + 1);
	/*
	 * Without on_text, text in the failed attempt does not prevent a
	 * retry.
	 */
	llm_fixture_script("{\"kind\":\"cut\"}," TEXT);
	chat_fx.chat.on_text = NULL;
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_str_eq(chat_fx.text.p, "Hello.");
	ck_assert_uint_eq(chat_fx.attempts, 2);
	llm_fixture_script("{\"kind\":\"cut\"}," TEXT);
	chat_fx.chat.stream = false;
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_uint_eq(chat_fx.attempts, 2);
	llm_chat_close();
}

TEST(an_error_after_text_ends_the_call)
{
	struct llm_provider p = sim(LLM_ANTHROPIC, "a");

	llm_fixture_script(
	    "{\"kind\":\"answer\",\"text\":\"Hel\",\"quirks\":"
	    "[\"event_error\"],\"body\":\"{\\\"type\\\":\\\"error\\\","
	    "\\\"error\\\":{\\\"type\\\":\\\"overloaded_error\\\","
	    "\\\"message\\\":\\\"Overloaded\\\"}}\"}," TEXT);
	llm_chat_open(&p, 1);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_RETRY);
	ck_assert_str_eq(chat_fx.error, "Overloaded");
	ck_assert_str_eq(chat_fx.text.p, "Hel");
	ck_assert_uint_eq(chat_fx.attempts, 1);
	llm_chat_close();
}

/* ---- several providers ---- */

TEST(the_next_provider_takes_over)
{
	char away[64];
	struct llm_provider list[2] = { sim(LLM_OPENAI, "away"),
		sim(LLM_ANTHROPIC, "spare") };

	snprintf(away, sizeof(away), "http://127.0.0.1:%d/v1", tk_port());
	list[0].base_url = away;
	llm_fixture_script("");
	llm_chat_open(list, 2);
	for (int i = 0; i < 3; i++) {
		llm_chat_run();
		ck_assert_int_eq(chat_fx.rc, RC_OK);
		ck_assert_uint_eq(chat_fx.attempts, 4);
		ck_assert_str_eq(chat_fx.provider, "spare");
	}
	ck_assert_int_eq(
	    llm_chat_metric("soul_llm_fallbacks_total", "away"), 3);
	ck_assert_int_eq(llm_chat_metric("soul_llm_failures_total", "away"), 9);
	/* After three failed calls it is suspended. */
	ck_assert_int_eq(llm_chat_metric("soul_llm_breaker_open", "away"), 1);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_uint_eq(chat_fx.attempts, 1);
	ck_assert_int_lt(llm_chat_ms(), 400);
	llm_chat_close();
}

TEST(lasting_failures_suspend_the_provider_immediately)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	llm_fixture_script("{\"kind\":\"quota\"}");
	llm_chat_open(list, 2);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_str_eq(chat_fx.provider, "b");
	ck_assert_uint_eq(chat_fx.attempts, 2);
	ck_assert_int_eq(llm_chat_metric("soul_llm_breaker_open", "a"), 1);
	llm_chat_run();
	ck_assert_uint_eq(chat_fx.attempts, 1);
	ck_assert_str_eq(chat_fx.provider, "b");
	/* Without any provider the call fails at once, with a time to retry. */
	llm_fixture_script(STATUS("401"));
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_DENIED);
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_DENIED);
	ck_assert_uint_eq(chat_fx.attempts, 0);
	ck_assert_int_gt(chat_fx.retry_after_ms, 290000);
	llm_chat_close();
}

TEST(an_invalid_request_is_not_sent_to_the_next)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };
	static const char *const scripts[] = { STATUS("400"), STATUS("413"),
		STATUS("422"), STATUS_OF("400", BODY(TOO_LONG)) };

	llm_chat_open(list, 2);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		llm_fixture_script(scripts[i]);
		llm_chat_run();
		ck_assert_int_ne(chat_fx.rc, RC_OK);
		ck_assert_uint_eq(chat_fx.attempts, 1);
		ck_assert_str_eq(chat_fx.provider, "a");
	}
	ck_assert_int_eq(llm_chat_metric("soul_llm_breaker_open", "a"), 0);
	llm_fixture_script("");
	llm_chat_run();
	ck_assert_str_eq(chat_fx.provider, "a");
	llm_chat_close();
}

TEST(a_timeout_leaves_time_for_the_next_provider)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	llm_fixture_script("{\"kind\":\"silence\",\"delay_ms\":4000}");
	llm_chat_open(list, 2);
	llm_chat_run_for(2000);
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_str_eq(chat_fx.provider, "b");
	ck_assert_int_lt(llm_chat_ms(), 2000);
	llm_chat_close();
}

static bool
has_come(void *arg)
{
	return clock_mono().ns >= ((struct mono *)arg)->ns;
}

TEST_T(a_breaker_opens_and_closes, 60)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_chat_open(&p, 1);
	/* Not retryable: each call fails with its first attempt. */
	llm_fixture_script(
	    STATUS_OF("503", HEADER("x-should-retry: false")) "," STATUS_OF(
		"503", HEADER("x-should-retry: false")) "," STATUS_OF("503",
		HEADER("x-should-retry: false")));
	for (int i = 0; i < 3; i++) {
		llm_chat_run();
		ck_assert_int_eq(chat_fx.rc, RC_DOWN);
		ck_assert_uint_eq(chat_fx.attempts, 1);
	}
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_DOWN);
	ck_assert_uint_eq(chat_fx.attempts, 0);
	ck_assert(chat_fx.retry);
	int64_t wait = chat_fx.retry_after_ms;
	/* The only provider is suspended only briefly. */
	ck_assert_int_gt(wait, 0);
	ck_assert_int_le(wait, 1000);
	/* The next call after that is the probe; the provider works again. */
	struct mono due = mono_add_ms(clock_mono(), wait + 100);
	ck_assert(tk_until(has_come, &due, LLM_WAIT_MS));
	llm_chat_run();
	ck_assert_int_eq(chat_fx.rc, RC_OK);
	ck_assert_int_eq(llm_chat_metric("soul_llm_breaker_open", "a"), 0);
	llm_chat_close();
}

/* ---- deadlines and cancelling ---- */

TEST(no_wait_exceeds_the_deadline)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_chat_open(&p, 1);
	/* The wait would exceed the deadline. */
	llm_fixture_script(STATUS_OF("429", HEADER("Retry-After: 2")));
	llm_chat_run_for(1000);
	ck_assert_int_eq(chat_fx.rc, RC_RETRY);
	ck_assert_int_lt(llm_chat_ms(), 900);
	ck_assert_int_eq(chat_fx.retry_after_ms, 2000);
	/* The second attempt reaches it. */
	llm_fixture_script(BROKEN ",{\"kind\":\"slow\",\"delay_ms\":3000}");
	llm_chat_run_for(1200);
	ck_assert_int_eq(chat_fx.rc, RC_TIMEOUT);
	ck_assert_uint_eq(chat_fx.attempts, 2);
	ck_assert_int_lt(llm_chat_ms(), 1600);
	llm_chat_close();
}

/* Whether a call waits for its next attempt. */
static bool
pauses(void *arg)
{
	(void)arg;
	return llm_chat_metric("soul_llm_retries_total", "a") > 0;
}

/* The sanitizer finds leaks. */
TEST(cancel_in_every_state)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	llm_chat_open(list, 2);
	chat_fx.chat.deadline.ms = clock_wall().ms + 10000;
	/* Before a response. */
	llm_fixture_script("{\"kind\":\"silence\",\"delay_ms\":300}");
	llm_chat_start();
	tk_loop_call(&chat_fx.k, llm_chat_do_cancel, NULL);
	/* During a wait. */
	llm_fixture_script(STATUS_OF("429", HEADER("Retry-After: 1")));
	llm_chat_start();
	ck_assert(tk_until(pauses, NULL, LLM_WAIT_MS));
	tk_loop_call(&chat_fx.k, llm_chat_do_cancel, NULL);
	/* With text. */
	llm_fixture_script(TEXT);
	chat_fx.cancel = true;
	llm_chat_start();
	ck_assert(tk_until(llm_chat_is_done, NULL, LLM_WAIT_MS));
	ck_assert_int_eq(chat_fx.chunks, 1);
	chat_fx.cancel = false;
	/* With text that was held back until the end. */
	llm_chat_close();
	ck_assert_int_eq(chat_fx.times, 0);
	list[0].strip_think = true;
	llm_fixture_script("{\"kind\":\"answer\",\"text\":\"<th\"}");
	llm_chat_open(list, 1);
	chat_fx.chat.deadline.ms = clock_wall().ms + 10000;
	chat_fx.cancel = true;
	llm_chat_start();
	ck_assert(tk_until(llm_chat_is_done, NULL, LLM_WAIT_MS));
	ck_assert_str_eq(chat_fx.shown.p, "<th");
	llm_chat_close();
	ck_assert_int_eq(chat_fx.times, 0);
}

TEST(freeing_the_client_ends_waiting_calls)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	llm_fixture_script(STATUS_OF("429", HEADER("Retry-After: 5")));
	llm_chat_open(&p, 1);
	chat_fx.chat.deadline.ms = clock_wall().ms + 10000;
	llm_chat_start();
	ck_assert(tk_until(pauses, NULL, LLM_WAIT_MS));
	llm_chat_close();
	ck_assert_int_eq(chat_fx.times, 1);
	ck_assert_int_eq(chat_fx.rc, RC_DOWN);
}

/* The first text is delivered before the rest was sent. */
TEST(text_is_delivered_as_it_arrives)
{
	for (int kind = LLM_OPENAI; kind <= LLM_ANTHROPIC; kind++) {
		struct llm_provider p = sim((enum llm_kind)kind, "a");
		llm_fixture_script(
		    "{\"kind\":\"answer\",\"text\":\"Hello, world.\","
		    "\"piece_ms\":100}");
		llm_chat_open(&p, 1);
		llm_chat_run();
		ck_assert_int_eq(chat_fx.rc, RC_OK);
		ck_assert_int_ge(mono_diff_ms(chat_fx.end, chat_fx.first), 300);
		llm_chat_close();
	}
}
