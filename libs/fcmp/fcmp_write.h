/*
 * fcmp_write: events of FCMP/1.0 (chat_event) as JSON.
 *
 * Pure.  Each function of an event appends it to b; overflow is reported by
 * buf_rc().  If its ids are valid (core/id.h) and its texts within the bounds
 * below, the event satisfies its schema and, without a payload, options and
 * fields, takes at most FCMP_EVENT_MAX bytes.  Bytes that are not UTF-8, and
 * NUL, are written as U+FFFD.
 */
#ifndef FCMP_FCMP_WRITE_H
#define FCMP_FCMP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Largest event, in bytes. */
#define FCMP_EVENT_MAX (256UL * 1024)
/* Characters of a title. */
#define FCMP_TITLE_CHARS 80
/* Bytes of texts as JSON strings, without their quotes: see fcmp_truncate(). */
#define FCMP_DELTA_MAX   65536
#define FCMP_TEXT_MAX    196608
#define FCMP_PROMPT_MAX  16384
#define FCMP_CONTENT_MAX 65536
#define FCMP_MESSAGE_MAX 4096
/* Bytes of a code. */
#define FCMP_CODE_MAX 64
/* The seq of an event that its log numbers. */
#define FCMP_UNNUMBERED (-1)

/* Bytes of the engine's output, half-open. */
struct fcmp_raw_ref {
	int64_t stdout_from, stdout_to, stderr_from, stderr_to;
};

/* What the events of a run have in common. */
struct fcmp_head {
	struct str run_id;
	struct str engine;
	struct str session_id; /* absent: not known yet */
	struct str ts;         /* RFC 3339 */
	int64_t seq;           /* or FCMP_UNNUMBERED: it is left out */
	double confidence;     /* 0 to 1 */
	int64_t attempt;       /* from 1 */
	struct fcmp_raw_ref raw;
};

/*
 * fcmp_chat_head(turn_id, session_id, ts):
 * Of an event of a chat turn, not numbered: engine soul, confidence 1, attempt
 * 1, no output.
 */
struct fcmp_head fcmp_chat_head(
    struct str turn_id, struct str session_id, struct str ts);

/*
 * fcmp_started(h, title, mode, b):
 * conversation.started.  Of title, a name or a prompt, its first line that is
 * not blank is written, at most FCMP_TITLE_CHARS characters of it.
 */
void fcmp_started(const struct fcmp_head *h, struct str title,
    enum wire_chat_event_data_mode mode, struct buf *b);

/*
 * fcmp_delta(h, message_id, text, b):
 * assistant.message.delta: more text of a message, up to FCMP_DELTA_MAX.
 * fcmp_final(h, message_id, text, payload, b):
 * assistant.message.final: the whole message, up to FCMP_TEXT_MAX; payload is
 * JSON; absent: null.
 */
void fcmp_delta(const struct fcmp_head *h, struct str message_id,
    struct str text, struct buf *b);
void fcmp_final(const struct fcmp_head *h, struct str message_id,
    struct str text, struct str payload, struct buf *b);

/* A question.  Options and fields are within their schema's bounds. */
struct fcmp_question {
	struct str interaction_id;
	enum wire_question_kind kind;
	struct str prompt; /* truncated to FCMP_PROMPT_MAX */
	const struct wire_question_option *options;
	size_t n_options;
	const struct wire_question_field *fields; /* of a form */
	size_t n_fields;
};

/*
 * fcmp_input_required(h, q, b): user.input.required.
 * fcmp_input_replied(h, interaction_id, content, b):
 * user.input.replied; content is truncated to FCMP_CONTENT_MAX.
 */
void fcmp_input_required(
    const struct fcmp_head *h, const struct fcmp_question *q, struct buf *b);
void fcmp_input_replied(const struct fcmp_head *h, struct str interaction_id,
    struct str content, struct buf *b);

/* Reason codes of conversation.completed. */
#define FCMP_DONE_MARKER "DONE_MARKER_FOUND"
#define FCMP_STRUCTURED  "FINAL_STRUCTURED_OUTPUT_SELECTED"

/* fcmp_completed(h, reason_code, b): conversation.completed; skill_done true.
 */
void fcmp_completed(
    const struct fcmp_head *h, const char *reason_code, struct buf *b);

struct fcmp_error {
	enum wire_chat_event_data_error_category category;
	struct str code; /* truncated to FCMP_CODE_MAX, written in upper case */
	struct str message; /* truncated to FCMP_MESSAGE_MAX */
	bool retryable;
};

/* fcmp_failed(h, e, b): conversation.failed. */
void fcmp_failed(
    const struct fcmp_head *h, const struct fcmp_error *e, struct buf *b);

struct fcmp_warning {
	struct str code; /* truncated to FCMP_CODE_MAX, written in upper case */
	struct str message;    /* truncated to FCMP_MESSAGE_MAX */
	struct str message_id; /* of the message it is about; empty: none */
	int64_t count;         /* 0: none */
};

/* fcmp_warning(h, w, b): diagnostic.warning; the run goes on. */
void fcmp_warning(
    const struct fcmp_head *h, const struct fcmp_warning *w, struct buf *b);

/* fcmp_number(event, seq, b): An event that was not numbered with its seq. */
void fcmp_number(struct str event, int64_t seq, struct buf *b);

/*
 * fcmp_truncate(text, max):
 * The longest beginning of text that ends between characters and takes at most
 * max bytes as a JSON string, without the quotes.
 */
struct str fcmp_truncate(struct str text, size_t max);

#endif /* !FCMP_FCMP_WRITE_H */
