/*
 * intent_route: what intent-filter's reply means for a turn with this body.
 *
 * Pure.  Ready intents of skills that the body has become direct calls; intents
 * with missing parameters become questions; unmatched text, and ready intents
 * whose arguments do not satisfy the skill's schema, are left for the model.
 * Rejected intents are reported as not done; if that would drop a time
 * expression, the whole intent's text is left for the model.  The system
 * intents of alarms become calls of alarm-clock, or the questions they have.
 */
#ifndef LLM_ORCHESTRATOR_INTENT_ROUTE_H
#define LLM_ORCHESTRATOR_INTENT_ROUTE_H

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "tools/tool_catalog.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

/* Direct calls and questions of one turn; more are left for the model. */
#define INTENT_ROUTE_CALLS_MAX     16
#define INTENT_ROUTE_QUESTIONS_MAX 8

/* Strings must live as long as the turn. */
struct intent_route_input {
	const struct wire_intent_filter_response *response;
	struct tool_catalog *tools;
	struct str command; /* the user's text */
	struct str turn_id;
};

/* intent_route_read(in, a, out): RC_TOOBIG if a is full. */
enum rc intent_route_read(const struct intent_route_input *in, struct arena *a,
    struct turn_route *out) RC_CHECK;

/*
 * intent_route_split(normalized, a, skill, args):
 * Skill and arguments of a body's command; absent if it has none, or a is full.
 */
void intent_route_split(struct str normalized, struct arena *a,
    struct str *skill, struct str *args);

/*
 * intent_route_normalized(call, out):
 * Append the body's command for a direct call: skill and arguments in one
 * object.
 */
void intent_route_normalized(const struct turn_call *call, struct buf *out);

#endif /* !LLM_ORCHESTRATOR_INTENT_ROUTE_H */
