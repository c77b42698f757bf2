/*
 * aim: the one moment that is meant where a stretch of time was said and one
 * moment is wanted: 早上 is 08:00.
 */
#ifndef ZH_AIM_H
#define ZH_AIM_H

#include <stdint.h>

#include "zh/moment.h"

/*
 * aim_part(part):
 * The hour that stands for an enum token_part, in seconds from its day's start;
 * of PART_NONE the one that stands for a whole day.
 */
int aim_part(int part);

/*
 * aim_day(from, to, now):
 * The first moment of [from, to) not before now that stands for a day, in local
 * seconds; REACH_OPEN if there is none.  to may be REACH_OPEN.
 */
int64_t aim_day(int64_t from, int64_t to, int64_t now);

/*
 * aim_moment(m, h, r):
 * r->at of a moment without a clock time that reaches over r.
 */
int64_t aim_moment(
    const struct moment *m, struct here h, const struct reach *r);

/* aim_set(w, r, now): w->at from local seconds. */
void aim_set(struct when *w, const struct reach *r, struct when_now now);

#endif /* !ZH_AIM_H */
