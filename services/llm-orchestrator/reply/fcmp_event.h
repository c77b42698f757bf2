/*
 * fcmp_event: the events of a turn in FCMP/1.0 (chat_event).
 *
 * Pure.  Each function appends one event as JSON without its seq, which the
 * session's log assigns.  Overflow is reported by buf_rc().
 */
#ifndef LLM_ORCHESTRATOR_FCMP_EVENT_H
#define LLM_ORCHESTRATOR_FCMP_EVENT_H

#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* What the events of a turn have in common. */
struct fcmp_head {
	struct str turn_id, session_id;
	struct str now; /* RFC 3339 */
};

/* fcmp_started(h, b): The turn begins. */
void fcmp_started(const struct fcmp_head *h, struct buf *b);

/*
 * fcmp_delta(h, message_id, text, b): More text of a message.
 * fcmp_final(h, message_id, text, payload, b): The whole message; payload is
 * JSON (the chat_response); absent: null.
 */
void fcmp_delta(const struct fcmp_head *h, struct str message_id,
    struct str text, struct buf *b);
void fcmp_final(const struct fcmp_head *h, struct str message_id,
    struct str text, struct str payload, struct buf *b);

/*
 * fcmp_completed(h, b): The turn ended well.
 * fcmp_input_required(h, interaction_id, prompt, b): It ended with a question.
 */
void fcmp_completed(const struct fcmp_head *h, struct buf *b);
void fcmp_input_required(const struct fcmp_head *h, struct str interaction_id,
    struct str prompt, struct buf *b);

struct fcmp_error {
	const char *category; /* engine: the model; runtime: all else */
	const char *code;     /* as in HTTP errors; written in upper case */
	const char *message;
};

/* fcmp_failed(h, e, b): The turn failed. */
void fcmp_failed(
    const struct fcmp_head *h, const struct fcmp_error *e, struct buf *b);

struct fcmp_warning {
	const char *code;
	const char *message;
	char message_id[40]; /* of the message it is about; empty: none */
};

/* fcmp_warning(h, w, b): A diagnostic; the turn goes on. */
void fcmp_warning(
    const struct fcmp_head *h, const struct fcmp_warning *w, struct buf *b);

/* fcmp_numbered(event, seq, b): An event with its seq, for publishing. */
void fcmp_numbered(struct str event, int64_t seq, struct buf *b);

#endif /* !LLM_ORCHESTRATOR_FCMP_EVENT_H */
