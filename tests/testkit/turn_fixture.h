/*
 * turn_fixture: events of a turn's state machine, calls and routes for tests,
 * and its actions as a line of text.
 */
#ifndef TESTKIT_TURN_FIXTURE_H
#define TESTKIT_TURN_FIXTURE_H

#include <stddef.h>

#include "turn/turn_fsm.h"

/* Names of actions: turn_fixture_names[TURN_DO_LOAD]. */
extern const char *const turn_fixture_names[TURN_DO_N];

/*
 * turn_ck_actions(t, e, want): Step with e; want has the resulting actions:
 *     "invoke 0 invoke 1", "model skills", "model all", "model none !call".
 */
void turn_fixture_check(
    struct turn *t, struct turn_event e, const char *want, int line);
#define turn_ck_actions(t, e, want) \
	turn_fixture_check((t), (e), (want), __LINE__)

/*
 * turn_fixture_perceive(t, rounds):   A turn that has requested perception.
 * turn_fixture_call_model(t, rounds): One that calls the model with all tools.
 */
void turn_fixture_perceive(struct turn *t, size_t rounds);
void turn_fixture_call_model(struct turn *t, size_t rounds);

/* ---- events ---- */

#define EV(...) ((struct turn_event){ __VA_ARGS__ })

struct turn_event turn_fixture_position(int64_t ahead);
struct turn_event turn_fixture_loaded(bool filter);
struct turn_event turn_fixture_emotion(enum wire_exec_mode mode);
struct turn_event turn_fixture_intents(const struct turn_route *r);
struct turn_event turn_fixture_memory(bool known);
struct turn_event turn_fixture_completion(
    const char *text, const struct turn_call *calls, size_t n);
struct turn_event turn_fixture_result(size_t call, enum turn_outcome outcome);
struct turn_event turn_fixture_error(enum turn_event_kind kind, int status);

#define OPEN     turn_fixture_emotion(WIRE_EXEC_MODE_AUTO_EXECUTE)
#define BLOCKED  turn_fixture_emotion(WIRE_EXEC_MODE_BLOCKED)
#define STORED   EV(.kind = TURN_COMMITTED)
#define CANCEL   EV(.kind = TURN_CANCEL)
#define EXPIRED  EV(.kind = TURN_EXPIRED)
#define LOST     EV(.kind = TURN_LOST)
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

/* Tools of providers: that only read, that act, that need an approval. */
#define PROVIDED(name, ...)                                                   \
	{                                                                     \
		.kind = TURN_PROVIDED, .skill = STR_INIT(name),               \
		.tool = STR_INIT(name), .label = STR_INIT(name),              \
		.call_id = STR_INIT("p"), .args = STR_INIT("{}"), __VA_ARGS__ \
	}
#define READ(name)    PROVIDED(name, .safety = true)
#define WRITE(name)   PROVIDED(name, .safety = false)
#define GUARDED(name) PROVIDED(name, .needs_approval = true)
#define MORE                                                               \
	{                                                                  \
		.kind = TURN_MORE, .skill = STR_INIT("more_tools"),        \
		.tool = STR_INIT("more_tools"), .label = STR_INIT("工具"), \
		.call_id = STR_INIT("m"), .args = STR_INIT("{}")           \
	}

/* ---- calls and routes ---- */

extern const struct turn_call call_nod[];
extern const struct turn_call call_two[];
extern const struct turn_call call_same[];
extern const struct turn_call call_recall[];
extern const struct turn_call call_mixed[];
extern const struct turn_call call_forget[];
extern const struct turn_call call_forget_too[];
extern const struct turn_call call_recall_forget[];
extern const struct turn_call call_invalid[];
extern const struct turn_call call_unknown[];
extern const struct turn_call call_read[];
extern const struct turn_call call_write[];
extern const struct turn_call call_guarded[];
extern const struct turn_call call_read_guarded[];
extern const struct turn_call call_two_guarded[];
extern const struct turn_call call_more[];
extern const struct turn_call call_safe[];
extern const struct turn_call call_safe_too[];
extern const struct turn_call intents_safe[];
extern const struct turn_call intents[];
extern const struct turn_route route_fallback;
extern const struct turn_route route_silent;
extern const struct turn_route route_direct;
extern const struct turn_route route_rest;
extern const struct turn_route route_safe;
/* A call of alarm-clock, then a direct one. */
extern const struct turn_route route_alarm;
extern const struct turn_question questions[];
extern const struct turn_route route_question;

#endif /* !TESTKIT_TURN_FIXTURE_H */
