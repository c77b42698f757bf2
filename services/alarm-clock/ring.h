/*
 * ring: the state machine of an alarm's occurrences, and of pushes.  Pure:
 * times are arguments, what is to be done is the result.
 *
 *   set, snoozed ──ring_begin──▶ due ──ring_confirm──▶ rung ─┐ next occurrence
 *                     │           │                          ├──▶ set
 *                     └───────────┴──ring_miss──▶ missed ────┘
 *
 * While it is due, it is tried on one body at 0, 5, 15 and 60 s with one
 * request_id, then on the others, then in further rounds until its end.  The
 * record is stored between two steps, each of which may be repeated by another
 * process after it.
 */
#ifndef ALARM_CLOCK_RING_H
#define ALARM_CLOCK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "wire/msgs.h"

/* For how long an occurrence is tried. */
#define RING_ALARM_MS    INT64_C(600000)
#define RING_REMINDER_MS INT64_C(86400000)
/*
 * One whose time has passed unnoticed, as in an outage or when the clock was
 * set, is tried as long from then on, if it is no later than this.
 */
#define RING_OUTAGE_MS INT64_C(7200000)
/* An action is not carried out at another time than was promised. */
#define RING_ACTION_MS INT64_C(60000)
/* Between two rounds over all bodies: in the first 10 minutes, and after. */
#define RING_ROUND_MS      INT64_C(15000)
#define RING_ROUND_SLOW_MS INT64_C(60000)
/* When there is no service that could ring. */
#define RING_SERVICE_MS INT64_C(1000)
/* Attempts on one body in a round. */
#define RING_ATTEMPTS 4
/* Bodies of a user that are tried. */
#define RING_BODIES_MAX 32
/* Room for an occurrence and a request_id, NUL included. */
#define RING_ID_MAX 96

enum ring_outcome {
	RING_SPOKEN,        /* confirmed, or its action was carried out */
	RING_NOT_CONFIRMED, /* it may have been heard */
	RING_NO_SKILL,
	RING_NO_BODY,
	RING_BLOCKED,   /* the execution gate holds it back */
	RING_FAILED,    /* any other reason */
	RING_NO_SERVICE /* nothing was tried */
};

struct ring_bodies {
	const struct str *id; /* in the order in which they are tried */
	size_t n;
};

/* ring_has_ended(r): It will not ring any more. */
bool ring_has_ended(const struct wire_alarm_record *r);

/* ring_is_ringing(r): Its occurrence has begun and not ended. */
bool ring_is_ringing(const struct wire_alarm_record *r);

/*
 * ring_schedule(r, at_ms): It rings at at_ms, by its rule; 0: never again, its
 * state stays.
 */
void ring_schedule(struct wire_alarm_record *r, int64_t at_ms);

/* ring_begin(r, now_ms): Its time has come, or passed. */
void ring_begin(struct wire_alarm_record *r, int64_t now_ms);

/*
 * ring_set_clock(r, step_ms): So much passed, or was taken back, at once, as
 * when the clock is set or nobody is there: what remains of the occurrence
 * takes as long as it would have.
 */
void ring_set_clock(struct wire_alarm_record *r, int64_t step_ms);

/* ring_is_over(r, now_ms): It is due, and its end has passed. */
bool ring_is_over(const struct wire_alarm_record *r, int64_t now_ms);

/*
 * ring_wait(r, until_ms, reason): Nothing is tried until then, because of
 * reason, a constant.
 */
void ring_wait(
    struct wire_alarm_record *r, int64_t until_ms, const char *reason);

/*
 * ring_pick(r, bodies, now_ms, a):
 * Begin an attempt on r->body.  False: there is no body, or all were tried in
 * this round; it waits for the next.  Memory from a, whose end is a failed
 * pick.
 */
bool ring_pick(struct wire_alarm_record *r, const struct ring_bodies *bodies,
    int64_t now_ms, struct arena *a);

/*
 * ring_outcome(r, o, now_ms, a):
 * An attempt on r->body has ended.  True: so has the occurrence: o was
 * RING_SPOKEN, or can be nothing else any more, and ring_end() follows.
 */
bool ring_outcome(struct wire_alarm_record *r, enum ring_outcome o,
    int64_t now_ms, struct arena *a);

/*
 * ring_end(r, rung, now_ms, next_ms):
 * The occurrence has ended; next_ms: when the next one is, 0: never.
 */
void ring_end(
    struct wire_alarm_record *r, bool rung, int64_t now_ms, int64_t next_ms);

/* ring_cancel(r, now_ms), ring_snooze(r, now_ms, at_ms): The user has. */
void ring_cancel(struct wire_alarm_record *r, int64_t now_ms);
void ring_snooze(struct wire_alarm_record *r, int64_t now_ms, int64_t at_ms);

/*
 * ring_occurrence(r, dst): The id of the occurrence at r->at_ms; of a push, its
 * own.
 * ring_request(r, dst): The request_id of all attempts on r->body.
 */
void ring_occurrence(const struct wire_alarm_record *r, char dst[RING_ID_MAX]);
void ring_request(const struct wire_alarm_record *r, char dst[RING_ID_MAX]);

#endif /* !ALARM_CLOCK_RING_H */
