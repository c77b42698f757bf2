/*
 * tool_result: what a provider's reply to a call means for the turn.
 *
 * Pure.
 */
#ifndef LLM_ORCHESTRATOR_TOOL_RESULT_H
#define LLM_ORCHESTRATOR_TOOL_RESULT_H

#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "turn/turn_fsm.h"
#include "wire/msgs.h"

/* Longest text of a result that the model is shown, in bytes. */
#define TOOL_RESULT_MAX ((size_t)16 * 1024)

/* Strings are taken from the arena. */
struct tool_result {
	enum turn_outcome outcome;
	struct str output; /* the tool's words, a JSON string; absent: none */
	struct str why;    /* of a failure; absent: the outcome says it all */
	/* In base64, and its media type; absent: none that models take. */
	struct str image, image_type;
	bool changed; /* its definition is not the one that was listed */
};

/*
 * tool_result_read(m, a, out):
 * An ended call.  Only ok is TURN_OK; what may have been executed, and a code
 * that is not known, is TURN_NOT_CONFIRMED.  RC_TOOBIG if a is full.
 */
enum rc tool_result_read(const struct wire_tool_call_reply *m, struct arena *a,
    struct tool_result *out) RC_CHECK;

/*
 * tool_result_error(rc, body, out):
 * A call that ended without such a reply: an error of the bus, with the body of
 * an error reply or without one.
 */
void tool_result_error(enum rc rc, struct str body, struct tool_result *out);

/*
 * tool_result_shorten(s, max, a):
 * s, or its beginning and end with a mark between them that says how much is
 * missing, max bytes at most, whole code points.  Absent if a is full.
 */
struct str tool_result_shorten(struct str s, size_t max, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_TOOL_RESULT_H */
