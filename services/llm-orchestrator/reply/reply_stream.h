/*
 * reply_stream: a turn's events to subscribers of its session, while it runs.
 *
 * Events are collected for at most 25 ms (the first chunk of a message is not
 * delayed), appended to the session's log in one pipeline for all turns, then
 * published to NATS as a hint.  While Redis is down they wait; what is left is
 * appended with the end of the turn.  Loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_REPLY_STREAM_H
#define LLM_ORCHESTRATOR_REPLY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/str.h"
#include "fcmp/fcmp_write.h"
#include "reply/claim_filter.h"
#include "reply/spoken_text.h"
#include "state/turn.h"

struct bus;
struct orch;
struct turn_run;

/* Warnings of one turn that wait; more are dropped. */
#define REPLY_STREAM_WARNINGS_MAX 8
/* Turns in one pipeline. */
#define REPLY_STREAM_BATCH 256
/* Size of a generated id, including the NUL. */
#define REPLY_STREAM_ID_MAX 40
/* Events of reply_stream_finish(). */
#define REPLY_STREAM_FINAL_MAX (REPLY_STREAM_WARNINGS_MAX + 2)

struct reply_stream_warning {
	const char *code; /* a constant; NULL: message replies to a question */
	struct str message;
	char message_id[REPLY_STREAM_ID_MAX]; /* or of the question; or empty */
};

struct reply_stream {
	TAILQ_ENTRY(reply_stream) link;
	struct turn_run *run;
	bool queued;                          /* it has events to append */
	bool uncertain;                       /* an append timed out */
	char message_id[REPLY_STREAM_ID_MAX]; /* empty: no message yet */
	struct buf text;                      /* of the message so far */
	size_t base;               /* bytes before the model's text */
	size_t ready;              /* bytes that may be published */
	size_t sent;               /* bytes that were appended */
	struct spoken_text spoken; /* of the completion */
	struct claim_filter filter;
	struct reply_stream_warning warnings[REPLY_STREAM_WARNINGS_MAX];
	size_t n_warnings;
};

/* reply_stream_new(r), reply_stream_free(r): Sets and frees r->stream. */
void reply_stream_new(struct turn_run *r);
void reply_stream_free(struct turn_run *r);

/*
 * reply_stream_restart(r, calls):
 * The model is called; calls may follow its text.  Text of its previous
 * completion, if it was published, is withdrawn.
 */
void reply_stream_restart(struct turn_run *r, bool calls);

/* reply_stream_append(r, chunk): The model produced more text. */
void reply_stream_append(struct turn_run *r, struct str chunk);

/* reply_stream_warn(r, code, message): A warning; both are constants. */
void reply_stream_warn(
    struct turn_run *r, const char *code, const char *message);

/*
 * reply_stream_report(r, code, message):
 * The same with a text that is copied, if the turn is streamed; it replaces one
 * with this code that still waits.
 * reply_stream_replied(r, question, content): user.input.replied.
 */
void reply_stream_report(
    struct turn_run *r, const char *code, struct str message);
void reply_stream_replied(
    struct turn_run *r, struct str question, struct str content);

/*
 * reply_stream_finish(r, final, out):
 * The events left at the end, from the turn's arena: warnings and, of a
 * streamed turn with a reply, the missing text.  Returns how many;
 * r->stream->message_id is the final message's.  final absent: no reply.
 */
size_t reply_stream_finish(struct turn_run *r, struct str final,
    struct str out[REPLY_STREAM_FINAL_MAX]);

/* reply_stream_head(r, now): What the turn's events have in common. */
struct fcmp_head reply_stream_head(
    const struct turn_run *r, char now[WALL_FORMAT_MAX]);

/*
 * reply_stream_publish(o, p, events): Publish events that were appended to the
 *                      log of p's session.
 * reply_stream_notify(o, p, events): Publish the last of them, which is enough
 *                      for readers of the log.
 */
void reply_stream_publish(struct orch *o, const struct turn_slot *p,
    const struct turn_events *events);
void reply_stream_notify(struct orch *o, const struct turn_slot *p,
    const struct turn_events *events);

/*
 * reply_stream_started(r, events): The turn's start was appended.  Published at
 *                      once if the turn is streamed, else when it takes longer:
 * reply_stream_start(r): Publish the start, unless that was done or nobody
 * reads it.
 */
void reply_stream_started(struct turn_run *r, const struct turn_events *events);
void reply_stream_start(struct turn_run *r);

#endif /* !LLM_ORCHESTRATOR_REPLY_STREAM_H */
