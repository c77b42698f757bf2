/*
 * bucket_poll: poll the timers of the buckets that are this replica's, when
 * they are due (timer_share.h).
 *
 * All functions run on the loop thread.
 */
#ifndef STATE_BUCKET_POLL_H
#define STATE_BUCKET_POLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "state/state.h"

struct bucket_poll;

struct bucket_poll_opts {
	struct loop *loop;
	struct state *state;
	const char *role; /* as of timer_share_opts */
	int64_t sweep_ms;
	/*
	 * Whether to poll now: what cannot be done is left to other replicas.
	 */
	bool (*ready)(void *arg);
	/*
	 * Poll a bucket, in a fiber of its own: *in_ms is until its next timer,
	 * negative: it has none.  After an error it is polled again at once.
	 */
	enum rc (*poll)(void *arg, unsigned bucket, int64_t *in_ms);
	void *arg;
};

/*
 * bucket_poll_in_ms(now, next):
 * For poll: how long until the next timer of a claim; next {0}: there is none.
 */
static inline int64_t
bucket_poll_in_ms(struct wall now, struct wall next)
{
	if (next.ms == 0)
		return -1;
	return next.ms > now.ms ? next.ms - now.ms : 0;
}

/* bucket_poll_new(o): Begin, from the loop. */
struct bucket_poll *bucket_poll_new(const struct bucket_poll_opts *o);

/* bucket_poll_stop(p): Begin nothing more. */
void bucket_poll_stop(struct bucket_poll *p);

/* bucket_poll_leave(p): Leave the buckets to other replicas; a call. */
enum rc bucket_poll_leave(struct bucket_poll *p) RC_CHECK;

/* bucket_poll_free(p): After state_stop(); NULL is allowed. */
void bucket_poll_free(struct bucket_poll *p);

/* bucket_poll_hint(p, bucket): It has a timer that is sooner than its others.
 */
void bucket_poll_hint(struct bucket_poll *p, unsigned bucket);

/* bucket_poll_owned(p): How many buckets are its own. */
size_t bucket_poll_owned(const struct bucket_poll *p);

#endif /* !STATE_BUCKET_POLL_H */
