/*
 * drive: what moves a soul beside its emotion: fear, survival, curiosity,
 * laziness, intimacy.
 *
 * Each returns to its baseline by itself, to 0.95 of its distance in a minute;
 * any number of steps gives the same result as one.  Pure; values stay within
 * [0, 1] for any input, including NaN.  Times as those of pad.
 */
#ifndef EMOTION_ENGINE_DYNAMICS_DRIVE_H
#define EMOTION_ENGINE_DYNAMICS_DRIVE_H

#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct pad_state;

enum drive {
	DRIVE_FEAR,
	DRIVE_SURVIVAL,
	DRIVE_CURIOSITY,
	DRIVE_LAZINESS,
	DRIVE_INTIMACY
};
#define DRIVE_N 5

struct drives {
	double value[DRIVE_N]; /* [0, 1] */
	double turns;          /* what turns have added on that day */
	int64_t day;           /* days since 1970-01-01, UTC */
	int64_t last_updated;  /* time of the values */
};

/* drives_new(d, now): Those of a soul that was created at now. */
void drives_new(struct drives *d, int64_t now);

/* drives_update(d, now): Let them return; an earlier time changes nothing. */
void drives_update(struct drives *d, int64_t now);

/* What moves a soul: its drives, and its emotion. */
struct drive_delta {
	double drive[DRIVE_N];
	double pad[3]; /* pleasure, arousal, dominance */
};

/* Most that one delta may move each. */
#define DRIVE_DELTA_MAX 0.3

/*
 * drive_delta_add(name, x, out):
 * Add x to what a name stands for: a drive, p, a, d (pleasure, arousal,
 * dominance), joy, sadness or anger.  RC_NOENT if there is no such name,
 * RC_INVALID if x is not within [-1, 1].
 */
enum rc drive_delta_add(
    struct str name, double x, struct drive_delta *out) RC_CHECK;

/*
 * drives_apply(d, s, delta):
 * Move drives and emotion: each drive in proportion to the soul's sensitivity
 * to it, each number of delta within DRIVE_DELTA_MAX.  *delta is then what has
 * changed.  Both are at their present time.
 */
void drives_apply(
    struct drives *d, struct pad_state *s, struct drive_delta *delta);

/*
 * drives_turn(d, now):
 * A turn of the user: updates them, and adds to intimacy, 0.2 a day at most.
 */
void drives_turn(struct drives *d, int64_t now);

#endif /* !EMOTION_ENGINE_DYNAMICS_DRIVE_H */
