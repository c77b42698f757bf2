/*
 * stream: what a turn tells whoever watches its session, as it goes.
 *
 * Events wait for at most 25 ms (the first piece of a message for nothing), and
 * go to the session's log in one pipeline for all turns, then to NATS, which is
 * a hint only.  While Redis is away they wait; the end of a turn tells what is
 * left.
 */
#ifndef LLM_ORCHESTRATOR_STREAM_H
#define LLM_ORCHESTRATOR_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "hold.h"
#include "say.h"
#include "state/turn.h"

struct bus;
struct orch;
struct run;

/* Warnings of one turn that wait; more are left out. */
#define STREAM_WARNINGS_MAX 8
/* Turns that tell something in one pipeline. */
#define STREAM_BATCH 256
/* Room for an id made here, NUL included. */
#define STREAM_ID_MAX 40

/* Of a run; zero-initialised, begun with stream_init(). */
struct stream {
	TAILQ_ENTRY(run) link;
	bool queued;                    /* it has something to tell */
	bool doubt;                     /* nobody knows what of it was told */
	char message_id[STREAM_ID_MAX]; /* empty: none has begun */
	struct buf text;                /* of the message so far */
	size_t base;                    /* up to there it is not the model's */
	size_t ready;                   /* up to there it may be told */
	size_t told;
	struct hold hold;
	struct say_warning warnings[STREAM_WARNINGS_MAX];
	size_t n_warnings;
};

/* stream_init(r), stream_free(r): Begin, and forget what was not told. */
void stream_init(struct run *r);
void stream_free(struct run *r);

/*
 * stream_think(r, calls):
 * The model is asked; calls may follow its text.  What it said before, if that
 * was told, is withdrawn.
 */
void stream_think(struct run *r, bool calls);

/* stream_text(r, piece): As llm_text_fn: it has said that much more. */
void stream_text(void *r, struct str piece);

/* stream_warn(r, code, message): Tell a warning; both are constants. */
void stream_warn(struct run *r, const char *code, const char *message);

/*
 * stream_last(r, final, out):
 * What is still to be told at the end, at most STREAM_LAST_MAX events, from the
 * turn's arena: warnings and, of a streamed turn that says final, the text that
 * is missing.  Returns how many; r->stream.message_id is the final's.  final
 * absent: the turn says nothing.
 */
#define STREAM_LAST_MAX (STREAM_WARNINGS_MAX + 2)
size_t stream_last(
    struct run *r, struct str final, struct str out[STREAM_LAST_MAX]);

/* stream_say(r, now): What its events have in common. */
struct say stream_say(const struct run *r, char now[WALL_FORMAT_MAX]);

/*
 * stream_publish(o, via, p, told):
 * Publish what has been told in the log of p's session: o->bus, or where nobody
 * waits for each piece o->bulk.
 */
void stream_publish(struct orch *o, struct bus *via, const struct turn_slot *p,
    const struct turn_events *told);

#endif /* !LLM_ORCHESTRATOR_STREAM_H */
