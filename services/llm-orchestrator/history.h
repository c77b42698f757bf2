/*
 * history: messages as a session keeps them, and as a language model reads
 * them.
 *
 * Pure.  An assistant's tool calls are kept with their results, and are shown
 * only if all results are there, so that the strictest provider takes them.
 *
 * A result is {"ok", "error", "advice", "output"}; that of a forgetting, which
 * others read: {"query", "forgotten": [text, …]}, empty if nothing fitted, or
 * {"query", "ok": false, "error", "advice"}.
 */
#ifndef LLM_ORCHESTRATOR_HISTORY_H
#define LLM_ORCHESTRATOR_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "llm/llm.h"
#include "turn.h"
#include "wire/msgs.h"

/* Longest text of one message that is stored, in bytes. */
#define HISTORY_TEXT_MAX ((size_t)64 * 1024)
/* Longest output of a skill that a model is shown, in bytes. */
#define HISTORY_OUTPUT_MAX ((size_t)8 * 1024)
/* Inputs of one turn that are stored. */
#define HISTORY_INPUTS_MAX 65

struct history_list {
	struct llm_message *list;
	size_t n;
};

/* Stored messages: each one JSON text. */
struct history_stored {
	struct str *list;
	size_t n;
	int64_t chars; /* code points of their contents */
};

/* What a turn's messages have in common. */
struct history_mark {
	struct str turn_id;
	struct str now; /* RFC 3339 */
};

/*
 * history_read(in, turn_id, a, out):
 * Stored messages, oldest first, as the model reads them, without those of the
 * turn turn_id.  What is not a message, or a tool's without its call, is left
 * out.  RC_TOOBIG if a is too small.
 */
enum rc history_read(const struct history_stored *in, struct str turn_id,
    struct arena *a, struct history_list *out) RC_CHECK;

/*
 * history_turn(t, a, out):
 * What a turn has done so far, as calls and results; after the direct deeds the
 * part of what the user said that is still to be answered, if it is a part.
 */
enum rc history_turn(
    const struct turn *t, struct arena *a, struct history_list *out) RC_CHECK;

/* history_is_said(in): Whether an input is what the user said. */
bool history_is_said(const struct wire_chat_request_inputs *in);

/*
 * history_user_text(chat, a):
 * What the user said: all texts, joined by line breaks; empty if nothing.
 * Absent if a is full.
 */
struct str history_user_text(
    const struct wire_chat_request *chat, struct arena *a);

/*
 * history_input(chat, mark, a, out):
 * The messages to be stored for a turn's input: a line for each thing the body
 * noticed, and what the user said.
 */
enum rc history_input(const struct wire_chat_request *chat,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out) RC_CHECK;

/*
 * history_observed(in, a):
 * One line for an input that is not what the user said.  Absent if a is full.
 */
struct str history_observed(
    const struct wire_chat_request_inputs *in, struct arena *a);

/*
 * history_outcome(t, reply, mark, a, out):
 * The messages to be stored for what a turn did and said; reply absent: it did
 * not come to say anything.
 */
enum rc history_outcome(const struct turn *t, struct str reply,
    const struct history_mark *mark, struct arena *a,
    struct history_stored *out) RC_CHECK;

#endif /* !LLM_ORCHESTRATOR_HISTORY_H */
