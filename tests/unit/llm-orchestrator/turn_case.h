/*
 * turn_case: events of a turn, and its actions as a line of text.
 */
#ifndef TURN_CASE_H
#define TURN_CASE_H

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "turn/turn_fsm.h"

static const char *const turn_action_names[] = {
	[TURN_DO_LOAD] = "load",
	[TURN_DO_OBSERVE_EMOTION] = "feel",
	[TURN_DO_FILTER_INTENTS] = "filter",
	[TURN_DO_CHECK_MEMORY] = "memory",
	[TURN_DO_SEND_INTENTS] = "act",
	[TURN_DO_CALL_MODEL] = "think",
	[TURN_DO_INVOKE] = "invoke",
	[TURN_DO_FORGET] = "forget",
	[TURN_DO_REPORT_SEARCHING] = "searching",
	[TURN_DO_RECALL] = "recall",
	[TURN_DO_REPORT_FOUND] = "searched",
	[TURN_DO_REPORT_FAILED] = "not-found",
	[TURN_DO_COMMIT] = "store",
	[TURN_DO_REPLY] = "reply",
	[TURN_DO_FAIL] = "fail",
	[TURN_DO_CANCELED] = "canceled",
};

/* "invoke 0 invoke 1", "think skills", "think all", "think none !call" */
static inline const char *
turn_actions_text(const struct turn_actions *out, char *dst, size_t size)
{
	static const char *const offers[] = { "none", "skills", "forget",
		"all" };
	size_t n = 0;

	dst[0] = '\0';
	for (size_t i = 0; i < out->n; i++) {
		const struct turn_action *a = &out->list[i];
		n += (size_t)snprintf(dst + n, size - n, "%s%s",
		    i > 0 ? " " : "", turn_action_names[a->kind]);
		if (a->kind == TURN_DO_INVOKE || a->kind == TURN_DO_FORGET ||
		    a->kind == TURN_DO_RECALL)
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

/* Step with e, and what must come of it. */
static inline void
turn_want_at(struct turn *t, struct turn_event e, const char *want, int line)
{
	struct turn_actions out;
	char text[256];

	turn_step(t, &e, &out);
	turn_actions_text(&out, text, sizeof(text));
	ck_assert_msg(strcmp(text, want) == 0, "line %d: \"%s\", not \"%s\"",
	    line, text, want);
}
#define turn_want(t, e, want) turn_want_at((t), (e), (want), __LINE__)

#define EV(...) ((struct turn_event){ __VA_ARGS__ })

static inline struct turn_event
placed(int64_t ahead)
{
	return EV(.kind = TURN_POSITION, .ahead = ahead);
}

static inline struct turn_event
loaded(bool filter)
{
	return EV(.kind = TURN_LOADED, .filter = filter);
}

static inline struct turn_event
emotion_known(enum wire_exec_mode mode)
{
	return EV(.kind = TURN_EMOTION_REPLY, .known = true, .mode = mode);
}

static inline struct turn_event
filtered(const struct turn_route *r)
{
	return EV(.kind = TURN_INTENT_REPLY, .known = r != NULL, .route = r);
}

static inline struct turn_event
remembers(bool known)
{
	return EV(.kind = TURN_MEMORY_REPLY, .known = known);
}

static inline struct turn_event
answered(const char *text, const struct turn_call *calls, size_t n)
{
	return EV(.kind = TURN_COMPLETION, .text = str_of(text), .calls = calls,
	    .n_calls = n);
}

static inline struct turn_event
result(size_t call, enum turn_outcome outcome)
{
	return EV(.kind = TURN_CALL_RESULT, .call = call, .outcome = outcome);
}

static inline struct turn_event
faulty(enum turn_event_kind kind, int status)
{
	return EV(.kind = kind, .error = { status, "code", "text" });
}

#define OPEN     emotion_known(WIRE_EXEC_MODE_AUTO_EXECUTE)
#define BLOCKED  emotion_known(WIRE_EXEC_MODE_BLOCKED)
#define STORED   EV(.kind = TURN_COMMITTED)
#define CANCEL   EV(.kind = TURN_CANCEL)
#define EXPIRED  EV(.kind = TURN_EXPIRED)
#define GONE     EV(.kind = TURN_LOST)
#define ACTED(o) EV(.kind = TURN_INTENT_RESULT, .outcome = (o))
#define UNFELT   EV(.kind = TURN_EMOTION_REPLY)

#define CALL(name)                                               \
	{                                                        \
		.kind = TURN_INVOKE, .skill = STR_INIT(name),    \
		.tool = STR_INIT(name), .label = STR_INIT(name), \
		.call_id = STR_INIT("c"), .args = STR_INIT("{}") \
	}
#define BAD_CALL(name, what)                                              \
	{                                                                 \
		.kind = TURN_INVOKE, .outcome = (what),                   \
		.skill = STR_INIT(name), .tool = STR_INIT(name),          \
		.label = STR_INIT(name), .call_id = STR_INIT("c"),        \
		.args = STR_INIT("{}"), .why = STR_INIT("/x: is missing") \
	}
#define RECALL                                                                \
	{                                                                     \
		.kind = TURN_RECALL, .skill = STR_INIT("recall_memory"),      \
		.tool = STR_INIT("recall_memory"), .label = STR_INIT("回忆"), \
		.call_id = STR_INIT("r"), .args = STR_INIT("{}")              \
	}
#define FORGET                                                           \
	{                                                                \
		.kind = TURN_FORGET, .skill = STR_INIT("forget_memory"), \
		.tool = STR_INIT("forget_memory"),                       \
		.label = STR_INIT("忘掉记忆"), .call_id = STR_INIT("f"), \
		.args = STR_INIT("{\"query\":\"茶\"}")                   \
	}
#define INTENT(name)                                             \
	{                                                        \
		.kind = TURN_DIRECT, .skill = STR_INIT(name),    \
		.tool = STR_INIT(name), .label = STR_INIT(name), \
		.call_id = STR_INIT("d"), .args = STR_INIT("{}") \
	}

#define SAFE(k, name)                                                      \
	{                                                                  \
		.kind = TURN_##k, .safety = true, .skill = STR_INIT(name), \
		.tool = STR_INIT(name), .label = STR_INIT(name),           \
		.call_id = STR_INIT("s"), .args = STR_INIT("{}")           \
	}

static const struct turn_call call_nod[] = { CALL("nod") };
static const struct turn_call call_two[] = { CALL("nod"), CALL("light") };
static const struct turn_call call_same[] = { CALL("nod"), CALL("nod"),
	CALL("light") };
static const struct turn_call call_recall[] = { RECALL };
static const struct turn_call call_mixed[] = { RECALL, CALL("nod") };
static const struct turn_call call_forget[] = { FORGET };
static const struct turn_call call_forget_too[] = { FORGET, CALL("nod") };
static const struct turn_call call_recall_forget[] = { RECALL, FORGET };
static const struct turn_call call_invalid[] = { BAD_CALL(
    "nod", TURN_INVALID) };
static const struct turn_call call_unknown[] = { BAD_CALL(
    "fly", TURN_UNKNOWN) };
static const struct turn_call call_safe[] = { SAFE(INVOKE, "stop") };
static const struct turn_call call_safe_too[] = { CALL("nod"),
	SAFE(INVOKE, "stop") };
static const struct turn_call intents_safe[] = { INTENT("light"),
	SAFE(DIRECT, "stop") };
static const struct turn_call intents[] = { INTENT("light"), INTENT("alarm") };

static const struct turn_route route_fallback = {
	.action = WIRE_DECISION_ACTION_FALLBACK_REASONING
};
static const struct turn_route route_silent = {
	.action = WIRE_DECISION_ACTION_NO_ACTION
};
static const struct turn_route route_direct = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents,
	.n_calls = 2
};
static const struct turn_route route_rest = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents,
	.n_calls = 1,
	.rest = STR_INIT("今天天气怎么样")
};
static const struct turn_route route_safe = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.calls = intents_safe,
	.n_calls = 2
};
static const struct turn_question questions[] = { { STR_INIT("alarm"),
    STR_INIT("时间") } };
static const struct turn_route route_ask = {
	.action = WIRE_DECISION_ACTION_EXECUTE_INTENTS,
	.questions = questions,
	.n_questions = 1
};

/* A turn that has sensed what is given and is about to route. */
static inline void
turn_sensed(struct turn *t, size_t rounds)
{
	turn_init(t, rounds);
	turn_want(t, placed(0), "load");
	turn_want(t, loaded(true), "feel filter memory");
}

/* One that thinks with all tools. */
static inline void
turn_thinks(struct turn *t, size_t rounds)
{
	turn_sensed(t, rounds);
	turn_want(t, remembers(true), "");
	turn_want(t, OPEN, "");
	turn_want(t, filtered(&route_fallback), "think all");
}

#endif /* !TURN_CASE_H */
