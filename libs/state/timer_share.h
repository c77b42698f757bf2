/*
 * timer_share: which of the replicas polls the timers of which buckets, and
 * when.
 *
 * The timers of a role ("ticks", "idle") are one sorted set per bucket.  Every
 * replica is a member of the role while it renews that, and a bucket belongs to
 * the member whose hash with it is highest, so that a change of the members
 * moves as few buckets as possible.  For a moment two replicas may each think
 * that a bucket is theirs, or none does: claims must be atomic, and timers may
 * be late.
 *
 * A replica remembers of each of its buckets when it is due next, which a claim
 * tells.  One that has no timer is polled once per sweep, at its own moment of
 * it, or when a hint comes that it has one now.
 *
 * All functions run on the loop thread; timer_share_renew() of one t in one
 * fiber at a time.  Several buckets may be polled at a time.
 */
#ifndef STATE_TIMER_SHARE_H
#define STATE_TIMER_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "state/state.h"

/* A membership is renewed this often, and ends so long after the last time. */
#define TIMER_RENEW_MS  1000
#define TIMER_MEMBER_MS 3000
/* Buckets of another replica are polled for the first time within this. */
#define TIMER_TAKEOVER_MS 500

struct timer_share;

struct timer_share_opts {
	struct state *state;
	const char *role; /* an id; its replicas share the buckets */
	int64_t sweep_ms; /* a bucket is polled at least this often */
};

/* timer_share_new(o): A replica that is not a member yet. */
struct timer_share *timer_share_new(const struct timer_share_opts *o);

/* timer_share_free(t): NULL is allowed.  Its membership expires. */
void timer_share_free(struct timer_share *t);

/* timer_share_leave(t): End its membership at once; a call. */
enum rc timer_share_leave(struct timer_share *t) RC_CHECK;

/*
 * timer_share_renew(t, now):
 * Renew the membership and learn of the others, if it is time to: a call.  If
 * that fails, the buckets stay as they were; it is tried again a quarter of
 * TIMER_RENEW_MS later.
 */
enum rc timer_share_renew(struct timer_share *t, struct mono now) RC_CHECK;

/*
 * timer_share_due(t, now, buckets, max):
 * At most max buckets of t to be polled now.  Each must be passed to
 * timer_share_polled() before it is due again.
 */
size_t timer_share_due(
    struct timer_share *t, struct mono now, unsigned *buckets, size_t max);

/*
 * timer_share_polled(t, bucket, now, in_ms):
 * It was polled, and has its next timer in in_ms milliseconds; negative: it has
 * none.  0 also if the poll has failed.
 */
void timer_share_polled(
    struct timer_share *t, unsigned bucket, struct mono now, int64_t in_ms);

/*
 * timer_share_hint(t, bucket, now):
 * There is a timer in a bucket that had none.  False: another member polls it.
 */
bool timer_share_hint(struct timer_share *t, unsigned bucket, struct mono now);

/* timer_share_next(t): When there is something to do; never later than that. */
struct mono timer_share_next(const struct timer_share *t);

/* timer_share_owned(t): How many buckets are its own. */
size_t timer_share_owned(const struct timer_share *t);

#endif /* !STATE_TIMER_SHARE_H */
