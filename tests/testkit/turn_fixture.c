/*
 * The tables of the header.
 */
#include "testkit/turn_fixture.h"

#include <stdio.h>
#include <string.h>

#include "testkit/testkit.h"

const char *const turn_fixture_names[TURN_DO_N] = {
	[TURN_DO_LOAD] = "load",
	[TURN_DO_OBSERVE_EMOTION] = "emotion",
	[TURN_DO_CHECK_GATE] = "gate",
	[TURN_DO_SPEAK] = "speak",
	[TURN_DO_FILTER_INTENTS] = "filter",
	[TURN_DO_CHECK_MEMORY] = "memory",
	[TURN_DO_LIST_TOOLS] = "tools",
	[TURN_DO_SEND_INTENTS] = "intents",
	[TURN_DO_CALL_ALARM] = "alarm",
	[TURN_DO_CALL_MODEL] = "model",
	[TURN_DO_INVOKE] = "invoke",
	[TURN_DO_FORGET] = "forget",
	[TURN_DO_CALL_TOOL] = "call",
	[TURN_DO_READ_TOOL] = "read",
	[TURN_DO_FIND_TOOLS] = "find",
	[TURN_DO_REPORT_SEARCHING] = "searching",
	[TURN_DO_RECALL] = "recall",
	[TURN_DO_REPORT_FOUND] = "found",
	[TURN_DO_REPORT_FAILED] = "failed",
	[TURN_DO_COMMIT] = "commit",
	[TURN_DO_REPLY] = "reply",
	[TURN_DO_FAIL] = "fail",
	[TURN_DO_CANCELED] = "canceled",
};

/* "invoke 0 invoke 1", "model skills", "model all", "model none !call" */
static const char *
turn_fixture_actions_text(
    const struct turn_actions *out, char *dst, size_t size)
{
	static const char *const offers[] = { "none", "skills", "forget",
		"all" };
	size_t n = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < out->n; i++) {
		const struct turn_action *a = &out->list[i];
		n += (size_t)snprintf(dst + n, size - n, "%s%s",
		    i > 0 ? " " : "", turn_fixture_names[a->kind]);
		if (a->kind == TURN_DO_INVOKE || a->kind == TURN_DO_FORGET ||
		    a->kind == TURN_DO_RECALL || a->kind == TURN_DO_CALL_TOOL ||
		    a->kind == TURN_DO_READ_TOOL ||
		    a->kind == TURN_DO_FIND_TOOLS ||
		    a->kind == TURN_DO_CALL_ALARM)
			n += (size_t)snprintf(
			    dst + n, size - n, " %zu", a->call);
		if (a->kind == TURN_DO_CALL_MODEL)
			n += (size_t)snprintf(dst + n, size - n, " %s%s",
			    offers[a->offer], a->may_call ? "" : " !call");
		if (a->kind == TURN_DO_FAIL)
			n += (size_t)snprintf(
			    dst + n, size - n, " %d", a->error.status);
	}
	return dst;
}

void
turn_fixture_check(
    struct turn *t, struct turn_event e, const char *want, int line)
{
	struct turn_actions out;
	char text[256];

	turn_step(t, &e, &out);
	turn_fixture_actions_text(&out, text, sizeof(text));
	ck_assert_msg(strcmp(text, want) == 0, "line %d: \"%s\", not \"%s\"",
	    line, text, want);
}

/* ---- events ---- */

struct turn_event
turn_fixture_position(int64_t ahead)
{
	return EV(.kind = TURN_POSITION, .ahead = ahead);
}

struct turn_event
turn_fixture_loaded(bool filter)
{
	return EV(.kind = TURN_LOADED, .filter = filter);
}

struct turn_event
turn_fixture_emotion(enum wire_exec_mode mode)
{
	return EV(.kind = TURN_EMOTION_REPLY, .known = true, .mode = mode);
}

struct turn_event
turn_fixture_intents(const struct turn_route *r)
{
	return EV(.kind = TURN_INTENT_REPLY, .known = r != NULL, .route = r);
}

struct turn_event
turn_fixture_memory(bool known)
{
	return EV(.kind = TURN_MEMORY_REPLY, .known = known);
}

struct turn_event
turn_fixture_completion(
    const char *text, const struct turn_call *calls, size_t n)
{
	return EV(.kind = TURN_COMPLETION, .text = str_of(text), .calls = calls,
	    .n_calls = n);
}

struct turn_event
turn_fixture_result(size_t call, enum turn_outcome outcome)
{
	return EV(.kind = TURN_CALL_RESULT, .call = call, .outcome = outcome);
}

struct turn_event
turn_fixture_error(enum turn_event_kind kind, int status)
{
	return EV(.kind = kind, .error = { status, "code", "text" });
}

/* ---- calls and routes ---- */

const struct turn_call call_nod[] = { CALL("nod") };
const struct turn_call call_two[] = { CALL("nod"), CALL("light") };
const struct turn_call call_same[] = { CALL("nod"), CALL("nod"),
	CALL("light") };
const struct turn_call call_recall[] = { RECALL };
const struct turn_call call_mixed[] = { RECALL, CALL("nod") };
const struct turn_call call_forget[] = { FORGET };
const struct turn_call call_forget_too[] = { FORGET, CALL("nod") };
const struct turn_call call_recall_forget[] = { RECALL, FORGET };
const struct turn_call call_invalid[] = { BAD_CALL("nod", TURN_INVALID) };
const struct turn_call call_unknown[] = { BAD_CALL("fly", TURN_UNKNOWN) };
const struct turn_call call_read[] = { READ("read") };
const struct turn_call call_write[] = { WRITE("write") };
const struct turn_call call_guarded[] = { GUARDED("send") };
const struct turn_call call_read_guarded[] = { READ("read"), GUARDED("send") };
const struct turn_call call_two_guarded[] = { GUARDED("send"),
	GUARDED("post") };
const struct turn_call call_more[] = { MORE };
const struct turn_call call_safe[] = { SAFE(INVOKE, "stop") };
const struct turn_call call_safe_too[] = { CALL("nod"), SAFE(INVOKE, "stop") };
const struct turn_call intents_safe[] = { INTENT("light"),
	SAFE(DIRECT, "stop") };
const struct turn_call intents[] = { INTENT("light"), INTENT("alarm") };

const struct turn_route route_fallback = {
	.action = WIRE_DECISION_ACTION_FALLBACK_REASONING
};
const struct turn_route route_silent = { .action =
					     WIRE_DECISION_ACTION_NO_ACTION };
const struct turn_route route_direct = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents,
	.n_calls = 2
};
const struct turn_route route_rest = { .action =
					   WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents,
	.n_calls = 1,
	.rest = STR_INIT("今天天气怎么样") };
const struct turn_route route_safe = { .action =
					   WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents_safe,
	.n_calls = 2 };
static const struct turn_call intents_alarm[] = {
	{ .kind = TURN_ALARM,
	    .skill = STR_INIT("sys.set_alarm"),
	    .label = STR_INIT("设置提醒") },
	{ .kind = TURN_DIRECT,
	    .skill = STR_INIT("light"),
	    .label = STR_INIT("light") },
};
const struct turn_route route_alarm = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents_alarm,
	.n_calls = 2
};
const struct turn_question questions[] = { { .label = STR_INIT("alarm"),
    .missing = STR_INIT("时间") } };
const struct turn_route route_question = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.questions = questions,
	.n_questions = 1
};

void
turn_fixture_perceive(struct turn *t, size_t rounds)
{
	turn_init(t, rounds);
	turn_ck_actions(t, turn_fixture_position(0), "load");
	turn_ck_actions(t, turn_fixture_loaded(true), "emotion filter memory");
}

void
turn_fixture_call_model(struct turn *t, size_t rounds)
{
	turn_fixture_perceive(t, rounds);
	turn_ck_actions(t, turn_fixture_memory(true), "");
	turn_ck_actions(t, OPEN, "");
	turn_ck_actions(t, turn_fixture_intents(&route_fallback), "model all");
}
