/* Faults: what is tried again, where, and when a call is given up. */
#include "integration/llm/lab.h"

TK_SHARE(lab_begin, NULL, lab_end)

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
		.base_url = kind == LLM_OPENAI ? lab.url : lab.root,
		.model = "m" };
}

/* A script, then answers; what is told, after so many attempts. */
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
	/* The provider's own word wins. */
	{ STATUS_OF("503", HEADER("x-should-retry: false")), RC_DOWN, 1, NULL },
	{ STATUS_OF("400", HEADER("x-should-retry: true")), RC_OK, 2, "" },
	/* Longer than anybody waits. */
	{ STATUS_OF("429", HEADER("Retry-After: 61")), RC_RETRY, 1, NULL },
	/* Longer than the caller waits. */
	{ STATUS_OF("429", HEADER("Retry-After: 30")), RC_RETRY, 1, NULL },
	{ STATUS_OF("429", HEADER("retry-after-ms: 50")), RC_OK, 2, "" },
	/* A connection that breaks, at once or in the head of an answer. */
	{ "{\"kind\":\"silence\"}", RC_OK, 2, "" },
	/* An error that is all of the stream. */
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
		lab_script(rows[i].script);
		talk_open(&p, 1);
		talk_run();
		ck_assert_msg(
		    talk.rc == rows[i].rc && talk.attempts == rows[i].attempts,
		    "row %zu: %s after %u: %s", i, rc_name(talk.rc),
		    talk.attempts, talk.error);
		ck_assert_msg(rows[i].error == NULL ||
			strcmp(talk.error, rows[i].error) == 0,
		    "row %zu: %s", i, talk.error);
		ck_assert_int_eq(
		    talk_metric("soul_llm_attempts_total", "a"), talk.attempts);
		ck_assert_int_eq(talk_metric("soul_llm_retries_total", "a"),
		    talk.attempts - 1);
		talk_close();
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

/* Of a stream that calls itself something else. */
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

	talk_open(&p, 1);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		lab_script(scripts[i]);
		talk_run();
		ck_assert_msg(talk.rc == RC_OK, "%s", talk.error);
		ck_assert_str_eq(talk.shown.p, "hi");
	}
	talk_close();
}

/* The client's patience, 1 s, is with bytes, whatever they say. */
TEST(comments_reset_the_idle_timeout)
{
	static const char *const scripts[] = {
		"{\"kind\":\"answer\",\"text\":\"Hi\",\"piece_ms\":600,"
		"\"quirks\":[\"comments\"]}",
		"{\"kind\":\"answer\",\"text\":\"Hi\",\"piece_ms\":600,"
		"\"quirks\":[\"whole\",\"blank_lines\"]}",
	};
	struct llm_provider p = sim(LLM_OPENAI, "a");

	talk_open(&p, 1);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		lab_script(scripts[i]);
		talk_run();
		ck_assert_msg(talk.rc == RC_OK, "%s", talk.error);
		ck_assert_str_eq(talk.text.p, "Hi");
		ck_assert_int_gt(talk_ms(), 1500);
		ck_assert_uint_eq(talk.attempts, 1);
	}
	lab_script("{\"kind\":\"answer\",\"text\":\"Hi\","
		   "\"piece_ms\":1500}");
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_uint_eq(talk.attempts, 2);
	talk_close();
}

TEST(retry_after_is_respected)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	lab_script(STATUS_OF("429", HEADER("retry-after-ms: 700")));
	talk_open(&p, 1);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_int_ge(talk_ms(), 700);
	ck_assert_int_lt(talk_ms(), 5000);
	talk_close();
}

TEST(delivered_text_prevents_a_retry)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");
	long long before = lab_requests();

	lab_script("{\"kind\":\"cut\"}," TEXT);
	talk_open(&p, 1);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_DOWN);
	ck_assert_uint_eq(talk.attempts, 1);
	ck_assert_uint_gt(talk.shown.n, 0);
	ck_assert(!talk.retry);
	ck_assert_int_eq(lab_requests(), before + 1);
	/* Nobody has seen it where nobody watches. */
	lab_script("{\"kind\":\"cut\"}," TEXT);
	talk.chat.on_text = NULL;
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_str_eq(talk.text.p, "Hello.");
	ck_assert_uint_eq(talk.attempts, 2);
	lab_script("{\"kind\":\"cut\"}," TEXT);
	talk.chat.stream = false;
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_uint_eq(talk.attempts, 2);
	talk_close();
}

TEST(an_error_after_text_ends_the_call)
{
	struct llm_provider p = sim(LLM_ANTHROPIC, "a");

	lab_script("{\"kind\":\"answer\",\"text\":\"Hel\",\"quirks\":"
		   "[\"event_error\"],\"body\":\"{\\\"type\\\":\\\"error\\\","
		   "\\\"error\\\":{\\\"type\\\":\\\"overloaded_error\\\","
		   "\\\"message\\\":\\\"Overloaded\\\"}}\"}," TEXT);
	talk_open(&p, 1);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_RETRY);
	ck_assert_str_eq(talk.error, "Overloaded");
	ck_assert_str_eq(talk.text.p, "Hel");
	ck_assert_uint_eq(talk.attempts, 1);
	talk_close();
}

/* ---- several providers -------------------------------------------------- */

TEST(the_next_provider_takes_over)
{
	char away[64];
	struct llm_provider list[2] = { sim(LLM_OPENAI, "away"),
		sim(LLM_ANTHROPIC, "spare") };

	snprintf(away, sizeof(away), "http://127.0.0.1:%d/v1", tk_port());
	list[0].base_url = away;
	lab_script("");
	talk_open(list, 2);
	for (int i = 0; i < 3; i++) {
		talk_run();
		ck_assert_int_eq(talk.rc, RC_OK);
		ck_assert_uint_eq(talk.attempts, 4);
		ck_assert_str_eq(talk.provider, "spare");
	}
	ck_assert_int_eq(talk_metric("soul_llm_fallbacks_total", "away"), 3);
	ck_assert_int_eq(talk_metric("soul_llm_failures_total", "away"), 9);
	/* Three calls failed there: it is not asked any more. */
	ck_assert_int_eq(talk_metric("soul_llm_breaker_open", "away"), 1);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_uint_eq(talk.attempts, 1);
	ck_assert_int_lt(talk_ms(), 400);
	talk_close();
}

TEST(lasting_failures_suspend_the_provider_immediately)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	lab_script("{\"kind\":\"quota\"}");
	talk_open(list, 2);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_str_eq(talk.provider, "b");
	ck_assert_uint_eq(talk.attempts, 2);
	ck_assert_int_eq(talk_metric("soul_llm_breaker_open", "a"), 1);
	talk_run();
	ck_assert_uint_eq(talk.attempts, 1);
	ck_assert_str_eq(talk.provider, "b");
	/* With nobody left, the call says so at once, and when to come back. */
	lab_script(STATUS("401"));
	talk_run();
	ck_assert_int_eq(talk.rc, RC_DENIED);
	talk_run();
	ck_assert_int_eq(talk.rc, RC_DENIED);
	ck_assert_uint_eq(talk.attempts, 0);
	ck_assert_int_gt(talk.retry_after_ms, 290000);
	talk_close();
}

TEST(an_invalid_request_is_not_sent_to_the_next)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };
	static const char *const scripts[] = { STATUS("400"), STATUS("413"),
		STATUS("422"), STATUS_OF("400", BODY(TOO_LONG)) };

	talk_open(list, 2);
	for (size_t i = 0; i < NELEM(scripts); i++) {
		lab_script(scripts[i]);
		talk_run();
		ck_assert_int_ne(talk.rc, RC_OK);
		ck_assert_uint_eq(talk.attempts, 1);
		ck_assert_str_eq(talk.provider, "a");
	}
	ck_assert_int_eq(talk_metric("soul_llm_breaker_open", "a"), 0);
	lab_script("");
	talk_run();
	ck_assert_str_eq(talk.provider, "a");
	talk_close();
}

TEST(a_timeout_leaves_time_for_the_next_provider)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	lab_script("{\"kind\":\"silence\",\"delay_ms\":4000}");
	talk_open(list, 2);
	talk_run_for(2000);
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_str_eq(talk.provider, "b");
	ck_assert_int_lt(talk_ms(), 2000);
	talk_close();
}

static bool
has_come(void *arg)
{
	return clock_mono().ns >= ((struct mono *)arg)->ns;
}

TEST_T(a_breaker_opens_and_closes, 60)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	talk_open(&p, 1);
	/* Not to be retried: each call fails with its first attempt. */
	lab_script(
	    STATUS_OF("503", HEADER("x-should-retry: false")) "," STATUS_OF(
		"503", HEADER("x-should-retry: false")) "," STATUS_OF("503",
		HEADER("x-should-retry: false")));
	for (int i = 0; i < 3; i++) {
		talk_run();
		ck_assert_int_eq(talk.rc, RC_DOWN);
		ck_assert_uint_eq(talk.attempts, 1);
	}
	talk_run();
	ck_assert_int_eq(talk.rc, RC_DOWN);
	ck_assert_uint_eq(talk.attempts, 0);
	ck_assert(talk.retry);
	int64_t wait = talk.retry_after_ms;
	/* Nobody stands in for it, so it is not left alone for long. */
	ck_assert_int_gt(wait, 0);
	ck_assert_int_le(wait, 1000);
	/* The next call after that is the probe; the provider works again. */
	struct mono due = mono_add_ms(clock_mono(), wait + 100);
	ck_assert(tk_until(has_come, &due, LAB_MS));
	talk_run();
	ck_assert_int_eq(talk.rc, RC_OK);
	ck_assert_int_eq(talk_metric("soul_llm_breaker_open", "a"), 0);
	talk_close();
}

/* ---- deadlines and cancelling ------------------------------------------- */

TEST(no_wait_exceeds_the_deadline)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	talk_open(&p, 1);
	/* The pause would end behind it. */
	lab_script(STATUS_OF("429", HEADER("Retry-After: 2")));
	talk_run_for(1000);
	ck_assert_int_eq(talk.rc, RC_RETRY);
	ck_assert_int_lt(talk_ms(), 900);
	ck_assert_int_eq(talk.retry_after_ms, 2000);
	/* The second attempt meets it. */
	lab_script(BROKEN ",{\"kind\":\"slow\",\"delay_ms\":3000}");
	talk_run_for(1200);
	ck_assert_int_eq(talk.rc, RC_TIMEOUT);
	ck_assert_uint_eq(talk.attempts, 2);
	ck_assert_int_lt(talk_ms(), 1600);
	talk_close();
}

/* Whether a call waits for its next attempt. */
static bool
pauses(void *arg)
{
	(void)arg;
	return talk_metric("soul_llm_retries_total", "a") > 0;
}

/* Leaks are the sanitizer's to find. */
TEST(cancel_in_every_state)
{
	struct llm_provider list[2] = { sim(LLM_OPENAI, "a"),
		sim(LLM_OPENAI, "b") };

	talk_open(list, 2);
	talk.chat.deadline.ms = clock_wall().ms + 10000;
	/* Before an answer. */
	lab_script("{\"kind\":\"silence\",\"delay_ms\":300}");
	talk_start();
	tk_loop_call(&talk.k, talk_do_cancel, NULL);
	/* In a pause. */
	lab_script(STATUS_OF("429", HEADER("Retry-After: 1")));
	talk_start();
	ck_assert(tk_until(pauses, NULL, LAB_MS));
	tk_loop_call(&talk.k, talk_do_cancel, NULL);
	/* With text. */
	lab_script(TEXT);
	talk.cancel = true;
	talk_start();
	ck_assert(tk_until(talk_is_done, NULL, LAB_MS));
	ck_assert_int_eq(talk.chunks, 1);
	talk.cancel = false;
	/* With text that was held back to the end. */
	talk_close();
	ck_assert_int_eq(talk.times, 0);
	list[0].strip_think = true;
	lab_script("{\"kind\":\"answer\",\"text\":\"<th\"}");
	talk_open(list, 1);
	talk.chat.deadline.ms = clock_wall().ms + 10000;
	talk.cancel = true;
	talk_start();
	ck_assert(tk_until(talk_is_done, NULL, LAB_MS));
	ck_assert_str_eq(talk.shown.p, "<th");
	talk_close();
	ck_assert_int_eq(talk.times, 0);
}

TEST(freeing_the_client_ends_waiting_calls)
{
	struct llm_provider p = sim(LLM_OPENAI, "a");

	lab_script(STATUS_OF("429", HEADER("Retry-After: 5")));
	talk_open(&p, 1);
	talk.chat.deadline.ms = clock_wall().ms + 10000;
	talk_start();
	ck_assert(tk_until(pauses, NULL, LAB_MS));
	talk_close();
	ck_assert_int_eq(talk.times, 1);
	ck_assert_int_eq(talk.rc, RC_DOWN);
}

/* The first text is shown while the rest has not been sent. */
TEST(text_is_delivered_as_it_arrives)
{
	for (int kind = LLM_OPENAI; kind <= LLM_ANTHROPIC; kind++) {
		struct llm_provider p = sim((enum llm_kind)kind, "a");
		lab_script("{\"kind\":\"answer\",\"text\":\"Hello, world.\","
			   "\"piece_ms\":100}");
		talk_open(&p, 1);
		talk_run();
		ck_assert_int_eq(talk.rc, RC_OK);
		ck_assert_int_ge(mono_diff_ms(talk.end, talk.first), 300);
		talk_close();
	}
}
