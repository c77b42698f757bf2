/*
 * body: what a simulated body shows and remembers, and how it takes what its
 * server tells it.  Pure: time is an argument, nothing is sent.
 */
#ifndef BODY_SIM_BODY_H
#define BODY_SIM_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "alarms.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "face.h"
#include "skills.h"
#include "wire/msgs.h"

/* Sessions remembered, lines of the diary, bytes of a line. */
#define BODY_SESSIONS_MAX 8
#define BODY_LINES_MAX    16
#define BODY_LINE_MAX     256

/* The session_id of the updates by which a soul evolves without its user. */
#define BODY_TICK "system_decay_tick"

struct body {
	enum wire_body_state_color color;
	enum face_expression expression;
	enum face_motion motion;
	double motion_seconds;
	struct wall motion_until;

	struct {
		double p, a, d;
	} pad;
	enum wire_exec_mode mode;
	double probability;
	char *soul_id; /* NULL: none yet */
	int64_t soul_version;

	char *sessions[BODY_SESSIONS_MAX]; /* the last one first */
	int64_t turns;
	char *status, *status_message; /* NULL: none yet */

	struct alarms alarms;
	char *last_action;
	struct wall updated;
	char *lines[BODY_LINES_MAX]; /* a ring */
	size_t next_line;
};

/* body_init(b, now), body_free(b): A new body; free what it remembers. */
void body_init(struct body *b, struct wall now);
void body_free(struct body *b);

/* body_blocked(b): Whether its soul's gate keeps it from acting. */
bool body_blocked(const struct body *b);

/*
 * body_do(b, call, now, said):
 * Carry out a call; said gets what came of it, for the language model.
 * RC_DENIED while blocked, RC_RETRY if there are too many alarms: nothing is
 * done then, and said gets the reason.
 */
enum rc body_do(struct body *b, const struct skill_call *call, struct wall now,
    char said[BODY_LINE_MAX]) RC_CHECK;

/*
 * body_feel(b, u, now):
 * An emotion_update: the soul's PAD and gate; unless it is a tick, also the
 * face, and the head unless it is blocked.  RC_CONFLICT if a later one of the
 * same soul has come already; it then does nothing.
 */
enum rc body_feel(struct body *b, const struct wire_emotion_update *u,
    struct wall now) RC_CHECK;

/* body_told(b, st, now): A status. */
void body_told(struct body *b, const struct wire_status *st, struct wall now);

/* body_session(b, id): A session was heard of; absent and "" are none. */
void body_session(struct body *b, struct str id);

/*
 * body_next_alarm(b): When one rings next; none if none will.
 * body_ring(b, now):  Ring those that are due; how many did.
 */
struct wall body_next_alarm(const struct body *b);
size_t body_ring(struct body *b, struct wall now);

/* body_note(b, now, fmt, ...): A line in the diary, cut to BODY_LINE_MAX. */
void body_note(struct body *b, struct wall now, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * body_report(b, now, a, out):
 * Fill in the members of *out that are about the body itself, its texts taken
 * from b and a.  RC_TOOBIG if a is full.
 */
enum rc body_report(const struct body *b, struct wall now, struct arena *a,
    struct wire_body_state *out) RC_CHECK;

#endif /* !BODY_SIM_BODY_H */
