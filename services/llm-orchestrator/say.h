/*
 * say: the events of a turn as FCMP/1.0 has them (chat_event).
 *
 * Pure.  Each function appends one event as JSON, without its seq: that is the
 * log's to give (state/events.h).  What does not fit is told by buf_rc().
 */
#ifndef LLM_ORCHESTRATOR_SAY_H
#define LLM_ORCHESTRATOR_SAY_H

#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

/* What the events of a turn have in common. */
struct say {
	struct str turn_id, session_id;
	struct str now; /* RFC 3339 */
};

/* say_started(s, b): The turn begins. */
void say_started(const struct say *s, struct buf *b);

/* say_delta(s, message_id, text, b): More text of a message. */
void say_delta(
    const struct say *s, struct str message_id, struct str text, struct buf *b);

/*
 * say_final(s, message_id, text, payload, b):
 * The whole message; payload is JSON (the chat_response); absent: null.
 */
void say_final(const struct say *s, struct str message_id, struct str text,
    struct str payload, struct buf *b);

/* say_completed(s, b): The turn ended well. */
void say_completed(const struct say *s, struct buf *b);

/* say_asks(s, interaction_id, prompt, b): It ended with a question. */
void say_asks(const struct say *s, struct str interaction_id, struct str prompt,
    struct buf *b);

/* What went wrong. */
struct say_fault {
	const char *category; /* engine: the model; runtime: all else */
	const char *code;     /* as HTTP has it; written in upper case */
	const char *message;
};

/* say_failed(s, f, b): The turn came to nothing. */
void say_failed(const struct say *s, const struct say_fault *f, struct buf *b);

struct say_warning {
	const char *code;
	const char *message;
	char message_id[40]; /* whose text it is about; empty: none's */
};

/* say_warning(s, w, b): Something to know, while the turn goes on. */
void say_warning(
    const struct say *s, const struct say_warning *w, struct buf *b);

/* say_numbered(event, seq, b): An event with its seq, as it is published. */
void say_numbered(struct str event, int64_t seq, struct buf *b);

#endif /* !LLM_ORCHESTRATOR_SAY_H */
