/* What engines print as events of the conversation, and how attempts end. */
#include <signal.h>
#include <stdio.h>

#include "attempt.h"
#include "core/mem.h"
#include "spool/replay.h"
#include "testkit/attempt_fixture.h"
#include "testkit/testkit.h"

#define STARTED      "conversation.started\n"
#define FINAL        "assistant.message.final\n"
#define DELTA        "assistant.message.delta\n"
#define REQUIRED     "user.input.required\n"
#define DONE         "conversation.completed:DONE_MARKER_FOUND\n"
#define WARNED(code) "diagnostic.warning:" code "\n"
#define FAILED(code) "conversation.failed:" code "\n"
#define NO_SESSION   WARNED("SESSION_ID_MISSING")

#define MARKER "{\\\"__SKILL_DONE__\\\": true}"

/* ---- rows ---- */

#define CODEX_THREAD                                               \
	"{\"type\":\"thread.started\",\"thread_id\":\"019c-1\"}\n" \
	"{\"type\":\"turn.started\"}\n"
#define CODEX_TEXT(id, text)                                  \
	"{\"type\":\"item.completed\",\"item\":{\"id\":\"" id \
	"\",\"type\":\"agent_message\",\"text\":\"" text "\"}}\n"
#define CODEX_UPDATED(id, text)                             \
	"{\"type\":\"item.updated\",\"item\":{\"id\":\"" id \
	"\",\"type\":\"agent_message\",\"text\":\"" text "\"}}\n"
#define CODEX_COMMAND(output, status)                                  \
	"{\"type\":\"item.completed\",\"item\":{\"id\":\"item_9\","    \
	"\"type\":\"command_execution\",\"command\":\"cat SKILL.md\"," \
	"\"aggregated_output\":\"" output "\",\"exit_code\":0,"        \
	"\"status\":\"" status "\"}}\n"
#define CODEX_END                                                     \
	"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":9," \
	"\"cached_input_tokens\":0,\"output_tokens\":4}}\n"
#define CODEX_FAILED(text) \
	"{\"type\":\"turn.failed\",\"error\":{\"message\":\"" text "\"}}\n"
#define CODEX_ERROR(text) "{\"type\":\"error\",\"message\":\"" text "\"}\n"

#define CODEX_QUESTION                                        \
	"{\"type\":\"request_user_input\",\"questions\":[{"   \
	"\"id\":\"q\",\"question\":\"Which?\",\"options\":[{" \
	"\"label\":\"A\"},{\"label\":\"B\"}]}]}\n"
#define CODEX_UNKNOWN                                          \
	"{\"type\":\"item.completed\",\"item\":{\"id\":\"i\"," \
	"\"type\":\"collab_tool_call\",\"n\":1}}\n"

#define OPENCODE(type, part)                                                   \
	"{\"type\":\"" type "\",\"timestamp\":1,\"sessionID\":\"ses_1\"," part \
	"}\n"
#define OPENCODE_STEP(id) \
	OPENCODE("step_start", "\"part\":{\"messageID\":\"" id "\"}")
#define OPENCODE_TEXT(text) \
	OPENCODE("text", "\"part\":{\"type\":\"text\",\"text\":\"" text "\"}")
#define OPENCODE_FINISH(reason)                        \
	OPENCODE("step_finish",                        \
	    "\"part\":{\"reason\":\"" reason           \
	    "\",\"cost\":0.5,\"tokens\":{\"input\":1," \
	    "\"output\":2,\"cache\":{\"read\":3}}}")
#define OPENCODE_ERROR(status, text)                      \
	OPENCODE("error",                                 \
	    "\"error\":{\"name\":\"APIError\",\"data\":{" \
	    "\"message\":\"" text "\",\"statusCode\":" status "}}")

#define GEMINI_INIT                                                    \
	"{\"type\":\"init\",\"session_id\":\"s-1\",\"model\":\"m\"}\n" \
	"{\"type\":\"message\",\"role\":\"user\",\"content\":\"Do it.\"}\n"
#define GEMINI_NO_REASON                                          \
	"{\"type\":\"error\",\"severity\":\"error\",\"message\":" \
	"\"Model stream ended without a finish reason.\"}\n"      \
	"{\"type\":\"result\",\"status\":\"error\",\"stats\":{}}\n"
#define GEMINI_DELTA(text)                                                 \
	"{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"" text \
	"\",\"delta\":true}\n"
#define GEMINI_TOOL                                               \
	"{\"type\":\"tool_use\",\"tool_name\":\"ls\","            \
	"\"tool_id\":\"t\",\"parameters\":{\"a\":1}}\n"           \
	"{\"type\":\"tool_result\",\"tool_id\":\"t\",\"status\":" \
	"\"success\",\"output\":\"x\"}\n"
#define GEMINI_RESULT                                             \
	"{\"type\":\"result\",\"status\":\"success\",\"stats\":{" \
	"\"input_tokens\":11,\"output_tokens\":7}}\n"

#define IFLOW_INFO                                                \
	"<Execution Info>\n{\n  \"session-id\": \"session-1\",\n" \
	"  \"tokenUsage\": {\"input\": 3, \"output\": 4}\n}\n"    \
	"</Execution Info>\n"

/* ---- the table ---- */

struct attempt_case {
	const char *name, *engine;
	const char *out, *err;
	struct spool_exit exit;
	struct spool_meta meta;
	const char *events;
	size_t at;        /* an event that has the text */
	const char *text; /* NULL: not checked */
};

#define FIRST                \
	{                    \
		.attempt = 0 \
	} /* attempt 1 of an interactive run */
#define EXIT(c)             \
	{                   \
		.code = (c) \
	}
#define STOP(s)                                \
	{                                      \
		.signal = SIGTERM, .stop = (s) \
	}

static const struct attempt_case ends[] = {
	{ "done", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "Done.\\n" MARKER) CODEX_END, "",
	    EXIT(0), FIRST, STARTED FINAL DONE, 1,
	    "\"text\":\"Done.\",\"structured_payload\":null" },
	{ "a question", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "Which one?") CODEX_END, "", EXIT(0),
	    FIRST, STARTED FINAL REQUIRED, 2,
	    "\"kind\":\"free_text\",\"prompt\":\"Which one?\"" },
	{ "a marker in the output of a tool is none", "codex",
	    CODEX_THREAD CODEX_COMMAND(MARKER, "completed")
		CODEX_TEXT("a", "And now?") CODEX_END,
	    "", EXIT(0), FIRST, STARTED FINAL REQUIRED, 0, NULL },
	{ "a marker, then a failed process", "codex",
	    CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_END, "", EXIT(9), FIRST,
	    STARTED FINAL WARNED("DONE_MARKER_PROCESS_FAILURE_CONFLICT")
		FAILED("ENGINE_FAILED"),
	    3, "exit code 9" },
	{ "two markers", "codex",
	    CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_TEXT("b", MARKER)
		CODEX_END,
	    "", EXIT(0), FIRST,
	    STARTED FINAL FINAL WARNED("MULTIPLE_DONE_MARKERS_IGNORED") DONE, 0,
	    NULL },
	{ "updates of a message are deltas", "codex",
	    CODEX_THREAD CODEX_UPDATED("a", "Hel") CODEX_UPDATED("a", "Hello")
		CODEX_TEXT("a", "Hello.\\n" MARKER) CODEX_END,
	    "", EXIT(0), FIRST, STARTED DELTA DELTA DELTA FINAL DONE, 2,
	    "\"message_id\":\"m_1_1\",\"text_delta\":\"lo\"" },
	{ "the turn failed", "codex",
	    CODEX_THREAD CODEX_ERROR("Reconnecting... 1/5 (x)")
		CODEX_ERROR("gone") CODEX_FAILED("exceeded retry limit, last "
						 "status: 429"),
	    "", EXIT(1), FIRST,
	    STARTED WARNED("ENGINE_RETRYING") WARNED("ENGINE_ERROR_ROW")
		FAILED("RESOURCE_EXHAUSTED"),
	    3, "\"category\":\"engine\"" },
	{ "an item of type error is a warning", "codex",
	    CODEX_THREAD
	    "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":"
	    "\"error\",\"message\":\"w\"}}\n" CODEX_TEXT("a", "?") CODEX_END,
	    "", EXIT(0), FIRST,
	    STARTED WARNED("ENGINE_ERROR_ITEM") FINAL REQUIRED, 0, NULL },
	{ "codex' own question", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "I need to know.")
		CODEX_QUESTION CODEX_END,
	    "", EXIT(0), FIRST, STARTED FINAL REQUIRED, 2,
	    "\"kind\":\"single_choice\",\"prompt\":\"Which?\",\"options\":"
	    "[{\"value\":\"A\",\"label\":\"A\"}" },
	{ "a question block", "codex",
	    CODEX_THREAD CODEX_TEXT("a",
		"Well.\\n```ask_user\\n{\\\"kind\\\":\\\"multi_choice\\\","
		"\\\"prompt\\\":\\\"P?\\\",\\\"options\\\":[\\\"x\\\"]}\\n```")
		CODEX_END,
	    "", EXIT(0), FIRST, STARTED FINAL REQUIRED, 2,
	    "\"kind\":\"multi_choice\",\"prompt\":\"P?\"" },
	{ "no end signal", "codex", CODEX_THREAD CODEX_TEXT("a", "Hm."), "",
	    EXIT(0), FIRST,
	    STARTED FINAL WARNED("INCOMPLETE_STATE_CLASSIFICATION")
		FAILED("END_SIGNAL_MISSING"),
	    3, "\"category\":\"parser\"" },
	{ "a crash", "codex", CODEX_THREAD, "", { .signal = SIGSEGV }, FIRST,
	    STARTED FAILED("ENGINE_CRASHED"), 1, "signal 11" },
	{ "not there", "codex", "", "", { .not_started = true }, FIRST,
	    STARTED NO_SESSION FAILED("ENGINE_NOT_FOUND"), 0, NULL },
	{ "rows that are none", "codex",
	    CODEX_THREAD
	    "37\n\"hello\"\nnull\n{\"type\":\"new\"}\n\n[1]\n{\n" CODEX_TEXT(
		"a", "?") CODEX_END,
	    "a log line\n", EXIT(0), FIRST,
	    STARTED WARNED("UNPARSED_OUTPUT") FINAL REQUIRED, 1,
	    "\"count\":6" },
	{ "canceled", "codex", CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_END,
	    "", STOP(SPOOL_STOP_CANCELED), FIRST,
	    STARTED FINAL FAILED("CANCELED"), 2, "\"category\":\"runtime\"" },
	{ "too long", "codex", CODEX_THREAD, "", STOP(SPOOL_STOP_DEADLINE),
	    FIRST, STARTED FAILED("DEADLINE_EXCEEDED"), 0, NULL },
	{ "stalled", "codex", CODEX_THREAD, "", STOP(SPOOL_STOP_STALLED), FIRST,
	    STARTED FAILED("ENGINE_STALLED"), 1, "\"retryable\":true" },
	{ "too much output", "codex", CODEX_THREAD, "", STOP(SPOOL_STOP_OUTPUT),
	    FIRST, STARTED FAILED("OUTPUT_LIMIT"), 0, NULL },
	{ "too large a workspace", "codex", CODEX_THREAD, "",
	    STOP(SPOOL_STOP_WORKSPACE), FIRST,
	    STARTED WARNED("WORKSPACE_LIMIT") FAILED("OUTPUT_LIMIT"), 0, NULL },
	{ "too many tokens", "codex", CODEX_THREAD, "", STOP(SPOOL_STOP_BUDGET),
	    FIRST, STARTED FAILED("BUDGET_EXCEEDED"), 0, NULL },
	{ "the runner is shut down", "codex", CODEX_THREAD, "",
	    STOP(SPOOL_STOP_RUNNER), FIRST, STARTED FAILED("RUNNER_STOPPED"), 1,
	    "\"retryable\":true" },
	{ "stopped behind its end", "codex",
	    CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_END, "",
	    STOP(SPOOL_STOP_LINGERED), FIRST,
	    STARTED FINAL WARNED("ENGINE_LINGERED") DONE, 0, NULL },
	{ "orphans", "codex", CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_END,
	    "", { .orphans = 2 }, FIRST,
	    STARTED FINAL WARNED("ORPHANS_KILLED") DONE, 2, "\"count\":2" },
	{ "auto, and a question", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "Which?") CODEX_END, "", EXIT(0),
	    { .attempt = 1, .mode = STR_INIT("auto") },
	    STARTED FINAL WARNED("SCENARIO_STATE_CONSTRAINT_VIOLATION")
		REQUIRED,
	    3, "\"confidence\":0.75" },
	{ "no more attempts", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "Which?") CODEX_END, "", EXIT(0),
	    { .attempt = 1, .attempts_max = 1 },
	    STARTED FINAL FAILED("ATTEMPTS_EXHAUSTED"), 0, NULL },
	{ "a result of the schema", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "{\\\"n\\\":1}") CODEX_END, "",
	    EXIT(0),
	    { .attempt = 1,
		.output_schema = STR_INIT("{\"required\":[\"n\"]}") },
	    STARTED FINAL
	    "conversation.completed:FINAL_STRUCTURED_OUTPUT_SELECTED\n",
	    1, "\"structured_payload\":{\"n\":1}" },
	{ "a result of another", "codex",
	    CODEX_THREAD CODEX_TEXT("a", "{\\\"m\\\":1}") CODEX_END, "",
	    EXIT(0),
	    { .attempt = 1,
		.output_schema = STR_INIT("{\"required\":[\"n\"]}") },
	    STARTED FINAL REQUIRED, 0, NULL },
	{ "a second attempt", "codex",
	    CODEX_THREAD CODEX_TEXT("a", MARKER) CODEX_END, "", EXIT(0),
	    { .attempt = 2,
		.rasp_seq = 7,
		.fcmp_seq = 4,
		.interaction_id = STR_INIT("ix_1"),
		.reply = STR_INIT("the\nfirst") },
	    "user.input.replied\n" FINAL DONE, 0,
	    "\"interaction_id\":\"ix_1\",\"content\":\"the\\nfirst\"" },

	{ "opencode: done", "opencode",
	    OPENCODE_STEP("m1") OPENCODE_FINISH("tool-calls") OPENCODE_STEP(
		"m2") OPENCODE_TEXT("ok\\n" MARKER) OPENCODE_FINISH("stop"),
	    "", EXIT(0), FIRST, STARTED FINAL DONE, 0, NULL },
	{ "opencode: skill text in a tool is no marker", "opencode",
	    OPENCODE_STEP("m1") OPENCODE("tool_use",
		"\"part\":{\"callID\":\"c\",\"tool\":\"skill\",\"state\":{"
		"\"status\":\"completed\",\"input\":{\"name\":\"x\"},"
		"\"output\":\"<skill_content>" MARKER "</skill_content>\"}}")
		OPENCODE_TEXT("Which?") OPENCODE_FINISH("stop"),
	    "", EXIT(0), FIRST, STARTED FINAL REQUIRED, 0, NULL },
	{ "opencode: stop in a text is no end", "opencode",
	    OPENCODE_STEP("m1") OPENCODE_FINISH("tool-calls")
		OPENCODE_TEXT("\\\"reason\\\":\\\"stop\\\""),
	    "", EXIT(0), FIRST,
	    STARTED FINAL WARNED("INCOMPLETE_STATE_CLASSIFICATION")
		FAILED("END_SIGNAL_MISSING"),
	    0, NULL },
	{ "opencode: an error with exit code 0", "opencode",
	    OPENCODE_ERROR("401", "Invalid API key."), "", EXIT(0), FIRST,
	    STARTED FAILED("AUTH_REQUIRED"), 1, "Invalid API key." },
	{ "opencode: an error it recovers from", "opencode",
	    OPENCODE_STEP("m1") OPENCODE_ERROR("500", "oops")
		OPENCODE_STEP("m2") OPENCODE_TEXT("hi") OPENCODE_FINISH("stop"),
	    "", EXIT(0), FIRST,
	    STARTED FINAL WARNED("ENGINE_ERROR_ROW") REQUIRED, 0, NULL },
	{ "opencode: repeated steps", "opencode",
	    OPENCODE_STEP("m1") OPENCODE_STEP("m1") OPENCODE_STEP("m1")
		OPENCODE_ERROR("500", "read ECONNRESET"),
	    "", EXIT(1), FIRST,
	    STARTED WARNED("ENGINE_RETRYING") WARNED("ENGINE_RETRYING")
		FAILED("NETWORK"),
	    2, "\"count\":2" },
	{ "opencode: lines for people", "opencode",
	    "! permission requested\n" OPENCODE_STEP("m1") OPENCODE_TEXT("hi")
		OPENCODE_FINISH("stop"),
	    "", EXIT(0), FIRST,
	    STARTED WARNED("UNPARSED_OUTPUT") FINAL REQUIRED, 0, NULL },

	{ "gemini: deltas", "gemini",
	    GEMINI_INIT GEMINI_DELTA("Hel") GEMINI_DELTA("lo\\n" MARKER)
		GEMINI_RESULT,
	    "", EXIT(0), FIRST, STARTED DELTA DELTA FINAL DONE, 3,
	    "\"text\":\"Hello\"" },
	{ "gemini: a tool ends a message", "gemini",
	    GEMINI_INIT GEMINI_DELTA("one") GEMINI_TOOL GEMINI_DELTA("two")
		GEMINI_RESULT,
	    "", EXIT(0), FIRST, STARTED DELTA FINAL DELTA FINAL REQUIRED, 3,
	    "\"message_id\":\"m_1_2\"" },
	{ "gemini: the result is an error", "gemini",
	    GEMINI_INIT
	    "{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":"
	    "\"unknown\",\"message\":\"[API Error: {\\\"code\\\":401}]\"}}\n",
	    "", EXIT(145), FIRST, STARTED FAILED("AUTH_REQUIRED"), 0, NULL },
	{ "gemini: the error is in a row before the result", "gemini",
	    GEMINI_INIT GEMINI_DELTA("Hi") GEMINI_DELTA("Hi") GEMINI_NO_REASON,
	    "Ripgrep is not available.\n", EXIT(0), FIRST,
	    STARTED DELTA DELTA FINAL WARNED("ENGINE_ERROR_ROW")
		FAILED("NETWORK"),
	    5, "without a finish reason" },
	{ "the proxy has rejected a call for the budget", "gemini",
	    GEMINI_INIT
	    "{\"type\":\"result\",\"status\":\"error\",\"error\":{"
	    "\"message\":\"[API Error: BUDGET_EXCEEDED: the run's tokens "
	    "are used up]\"}}\n",
	    "", EXIT(147), FIRST, STARTED FAILED("BUDGET_EXCEEDED"), 1,
	    "\"category\":\"runtime\"" },
	{ "gemini: an exit code is a status mod 256", "gemini", GEMINI_INIT, "",
	    EXIT(173), FIRST, STARTED FAILED("RESOURCE_EXHAUSTED"), 0, NULL },
	{ "gemini: retries in silence, then it is stopped", "gemini",
	    GEMINI_INIT,
	    "Attempt 1 failed with status 429. Retrying with backoff...\n",
	    STOP(SPOOL_STOP_STALLED), FIRST,
	    STARTED WARNED("ENGINE_RETRYING") FAILED("ENGINE_STALLED"), 0,
	    NULL },
	{ "gemini: the stream is cut", "gemini",
	    GEMINI_INIT GEMINI_DELTA("half of"), "", EXIT(1), FIRST,
	    STARTED DELTA FINAL FAILED("ENGINE_FAILED"), 2, "half of" },
	{ "gemini: a document on stderr", "gemini", "YOLO mode is enabled.\n",
	    "{\n  \"session_id\": \"s-1\",\n  \"response\": \"ok?\",\n"
	    "  \"stats\": {\"models\": {\"m\": {\"tokens\": {\"prompt\": 5}}}"
	    "}\n}\n",
	    EXIT(0), FIRST, STARTED WARNED("UNPARSED_OUTPUT") FINAL REQUIRED, 2,
	    "\"confidence\":0.9" },
	{ "gemini: a document that fails", "gemini",
	    "noise\n{\n  \"session_id\": \"s\",\n  \"error\": {\n    "
	    "\"message\": \"Please set an Auth method\",\n    \"code\": 41\n"
	    "  }\n}",
	    "", EXIT(41), FIRST,
	    STARTED WARNED("UNPARSED_OUTPUT") FAILED("AUTH_REQUIRED"), 0,
	    NULL },
	{ "gemini: an object that is no document", "gemini",
	    "{\n  \"a\": 1\n}\n{\n  \"never\": \n", "", EXIT(0), FIRST,
	    STARTED WARNED("UNPARSED_OUTPUT") NO_SESSION WARNED(
		"INCOMPLETE_STATE_CLASSIFICATION") FAILED("END_SIGNAL_MISSING"),
	    1, "\"count\":5" },

	{ "iflow: done", "iflow",
	    "I will.Result:\n\n```json\n{\"n\": 1, \"__skill_done__\": "
	    "true}\n```\n\n  indented\n",
	    IFLOW_INFO, EXIT(0), FIRST, STARTED FINAL DONE, 1,
	    "\"text\":\"I will.Result:\\n\\n\\n\\n  indented\","
	    "\"structured_payload\":{\"n\":1}" },
	{ "iflow: the marker behind narration", "iflow",
	    "Writing the files{\"p\":\"a\",\"__SKILL_DONE__\":true}\n",
	    IFLOW_INFO, EXIT(0), FIRST, STARTED FINAL DONE, 1,
	    "\"confidence\":0.8" },
	{ "iflow: the streams are exchanged", "iflow",
	    "Resuming session x\n" IFLOW_INFO, "Which?\n", EXIT(0), FIRST,
	    STARTED WARNED("IFLOW_CHANNEL_DRIFT_CORRECTED")
		FINAL WARNED("LOW_CONFIDENCE_PARSE") REQUIRED,
	    2, "\"confidence\":0.6" },
	{ "iflow: a stack trace is no message", "iflow",
	    "Error: SERVER_OAUTH2_REQUIRED: token\n    at f (x.js:1:2)\n", "",
	    EXIT(1), FIRST, STARTED NO_SESSION FAILED("AUTH_REQUIRED"), 2,
	    "Error: SERVER_OAUTH2_REQUIRED: token" },
	{ "iflow: two rounds", "iflow", "one\ntwo\n", IFLOW_INFO IFLOW_INFO,
	    EXIT(0), FIRST, STARTED FINAL REQUIRED, 1, "one\\ntwo" },
};

static void
attempt_case_run(const struct attempt_case *c)
{
	const struct replay r = {
		.out = str_of(c->out), .err = str_of(c->err), .exit = c->exit
	};
	struct tk_events ev;

	printf("%s\n", c->name);
	(void)fflush(stdout);
	tk_attempt(c->engine, c->meta.attempt > 0 ? &c->meta : NULL, &r, &ev);
	tk_events_are(&ev, c->events);
	if (c->text != NULL)
		tk_event_has(&ev, c->at, c->text);
	tk_events_free(&ev);
}

TEST(attempts_end_as_their_output_and_exit_decide)
{
	for (size_t i = 0; i < NELEM(ends); i++)
		attempt_case_run(&ends[i]);
}

TEST(an_event_of_rasp_for_each_tool)
{
	const struct replay r = {
		.out = STR_INIT(CODEX_THREAD CODEX_COMMAND("x\\n", "failed")
			CODEX_UNKNOWN CODEX_END),
	};
	struct tk_events ev;

	tk_attempt("codex", NULL, &r, &ev);
	ck_assert_int_ge(str_find(buf_str(&ev.rasp),
			     STR("\"type\":\"tool.call.failed\",\"level\":"
				 "\"warning\"},\"data\":{\"name\":"
				 "\"command_execution\",\"arguments\":{"
				 "\"command\":\"cat SKILL.md\"},\"output\":"
				 "\"x\\n\",\"exit_code\":0}")),
	    0);
	/* An item that is not known is a tool of that name. */
	ck_assert_int_ge(str_find(buf_str(&ev.rasp),
			     STR("\"data\":{\"name\":\"collab_tool_call\"")),
	    0);
	tk_events_free(&ev);
}

TEST(what_was_cached_is_input_and_reasoning_is_output)
{
	static const struct {
		const char *engine;
		struct str out;
	} cases[] = {
		{ "codex",
		    STR_INIT(CODEX_THREAD
			"{\"type\":\"turn.completed\",\"usage\":{"
			"\"input_tokens\":100,\"cached_input_tokens\":40,"
			"\"output_tokens\":20,"
			"\"reasoning_output_tokens\":5}}\n") },
		{ "gemini",
		    STR_INIT(GEMINI_INIT
			"{\"type\":\"result\",\"status\":\"success\","
			"\"stats\":{\"total_tokens\":120,\"input_tokens\":100,"
			"\"output_tokens\":15,\"cached\":40}}\n") },
		{ "opencode",
		    STR_INIT(OPENCODE("step_finish",
			"\"part\":{\"reason\":\"stop\",\"tokens\":{"
			"\"input\":50,\"output\":15,\"reasoning\":5,"
			"\"cache\":{\"read\":40,\"write\":10}}}")) },
	};

	for (size_t i = 0; i < NELEM(cases); i++) {
		const struct replay r = { .out = cases[i].out };
		struct tk_events ev;

		tk_attempt(cases[i].engine, NULL, &r, &ev);
		ck_assert_int_ge(str_find(buf_str(&ev.rasp),
				     STR("\"input\":100,\"output\":20,"
					 "\"cached\":40")),
		    0);
		tk_events_free(&ev);
	}
}

static void
attempt_count_event(void *arg, const struct rasp_event *e)
{
	enum rasp_type *types = arg;

	types[e->seq - 11] = e->type;
}

TEST(a_run_can_end_without_an_engine)
{
	const struct spool_meta meta = {
		.attempt = 2, .rasp_seq = 10, .fcmp_seq = 5
	};
	const struct attempt_abort why = { .code = "REPLY_TIMEOUT",
		.message = "m",
		.timeout_id = STR_INIT("ix_1") };
	enum rasp_type types[2] = { 0 };
	const struct attempt_opts o = { .engine = engine_find(STR("codex")),
		.meta = &meta,
		.event = attempt_count_event,
		.arg = types };
	struct attempt *a = attempt_new(&o);

	attempt_abort(a, &why, 1);
	ck_assert_int_eq(types[0], RASP_INPUT_TIMEOUT);
	ck_assert_int_eq(types[1], RASP_RUN_FAILED);
	ck_assert_int_eq(attempt_result(a)->end, ATTEMPT_FAILED);
	attempt_free(a);
}
