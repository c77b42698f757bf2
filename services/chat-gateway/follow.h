/*
 * follow: a session's events from a cursor on, each once and in order.
 *
 * The log in Redis is the truth; what is published on NATS only makes it quick.
 * All who follow a session share one subscription and one look at the log every
 * two seconds, which finds what NATS has lost.  A reader that is not ready is
 * waited for and then served from the log: it holds up nobody.
 */
#ifndef CHAT_GATEWAY_FOLLOW_H
#define CHAT_GATEWAY_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "event.h"
#include "state/session.h"

struct follow;
struct follows;
struct svc;

/* follows_new(s, state): All of this process; before the first request. */
struct follows *follows_new(struct svc *s, struct state *state);

/*
 * follows_hurry(fs): No more comes over NATS: look at the logs all the time.
 * follows_free(fs): None is open any more.  NULL is allowed.
 */
void follows_hurry(struct follows *fs);
void follows_free(struct follows *fs);

struct follow_opts {
	struct session_key key; /* copied, as run_id is */
	int64_t after;          /* events above it */
	struct str run_id;      /* of this run only; absent: of all */
	/*
	 * Called for each event; false: f is closed by that, and is no more.
	 * Events that are not kept any more are told as one diagnostic.warning
	 * EVENTS_GONE; of a run, only after its begin.
	 */
	bool (*fn)(void *arg, const struct event *e);
	bool (*ready)(void *arg); /* whether fn can take another one */
	void *arg;
};

/*
 * follow_open(fs, o, f):
 * fn is not called before follow_begin() or follow_read().  RC_DOWN while
 * draining, RC_INVALID if an id is none.
 */
enum rc follow_open(struct follows *fs, const struct follow_opts *o,
    struct follow **f) RC_CHECK;

/*
 * follow_begin(f):
 * Have the log read, page by page, in turn with others that read.
 *
 * follow_read(f):
 * Read the log now.  RC_OK: fn has had all that is there; RC_NOENT: fn has
 * closed f; RC_RETRY: fn was not ready, and gets the rest later; else why it
 * could not be read, which is tried again.
 */
void follow_begin(struct follow *f);
enum rc follow_read(struct follow *f) RC_CHECK;

/* follow_last(f): The newest event of the session that is known here. */
int64_t follow_last(const struct follow *f);

/* follow_close(f): Not from f's own fn.  NULL is allowed. */
void follow_close(struct follow *f);

#endif /* !CHAT_GATEWAY_FOLLOW_H */
