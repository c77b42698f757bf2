/*
 * event_log: reading the stream SOUL_EVENTS from a position on, a batch at a
 * time.
 *
 * All readers of the process share it: one batch is read at a time, so that
 * nobody needs more memory than a batch, and the stream is not asked for more
 * than it can give.
 */
#ifndef CHAT_GATEWAY_LIVE_EVENT_LOG_H
#define CHAT_GATEWAY_LIVE_EVENT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "live/event_view.h"

struct event_log;
struct state;
struct svc;

/* The largest position; JSON carries it safely. */
#define EVENT_POSITION_MAX 9007199254740991

/* Events of a batch, and their bytes. */
#define EVENT_BATCH_MAX   32
#define EVENT_ARENA_MAX   ((size_t)1024 * 1024) /* of one */
#define EVENT_BATCH_BYTES (EVENT_BATCH_MAX * EVENT_ARENA_MAX)

struct event_batch {
	struct arena *a; /* of the events */
	struct event_view e[EVENT_BATCH_MAX];
	size_t n;
	bool expired;   /* events after the requested position are gone */
	int64_t after;  /* the position before the batch */
	int64_t cursor; /* the position after it */
	int64_t newest; /* of the stream */
};

/* event_log_new(s, state), event_log_free(l): NULL is allowed. */
struct event_log *event_log_new(struct svc *s, struct state *state);
void event_log_free(struct event_log *l);

/*
 * event_log_newest(l, seq):
 * The newest event; 0: there is none yet.  In a fiber, as all of this.
 *
 * event_log_read(l, after, b):
 * Fill b, whose arena is set, with the next events after a position.  Those
 * that cannot be read as events are left out.  A position after the newest
 * event is one of an earlier stream: all is gone.  RC_DOWN or RC_TIMEOUT if the
 * stream does not reply.
 *
 * event_log_find(l, seq, b):
 * The event with that number becomes b->e[0]; b's arena, of EVENT_ARENA_MAX, is
 * not reset.  RC_NOENT if there is none, or no more.
 *
 * event_log_owner(l, e, a, out):
 * Whose the body of e is; texts from a.
 */
enum rc event_log_newest(struct event_log *l, int64_t *seq) RC_CHECK;
enum rc event_log_read(
    struct event_log *l, int64_t after, struct event_batch *b) RC_CHECK;
enum rc event_log_find(
    struct event_log *l, int64_t seq, struct event_batch *b) RC_CHECK;
enum rc event_log_owner(struct event_log *l, const struct event_view *e,
    struct arena *a, struct event_owner *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_LIVE_EVENT_LOG_H */
