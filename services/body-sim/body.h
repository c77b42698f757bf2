/*
 * body: the state of a simulated body, and how commands change it.  Pure: time
 * is an argument, nothing is sent.
 */
#ifndef BODY_SIM_BODY_H
#define BODY_SIM_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* ---- face: the reaction to the user's emotion, section 3.8 ---- */

enum face_expression {
	FACE_SMILE,
	FACE_LAUGH,
	FACE_ANGRY,
	FACE_CRY,
	FACE_UNHAPPY
};

enum face_motion { FACE_STILL, FACE_NOD, FACE_SHAKE };

struct face {
	enum face_expression expression;
	enum face_motion motion;
	double seconds; /* duration of the motion; 0 if there is none */
};

/* face_reaction(e, intensity): intensity is in [0, 1]. */
struct face face_reaction(enum wire_emotion e, double intensity);

/*
 * face_expression_name(e), face_motion_name(m):
 * As in reports: "微笑", "点头"; "" for FACE_STILL.  Never NULL.
 */
const char *face_expression_name(enum face_expression e);
const char *face_motion_name(enum face_motion m);

/* ---- alarms ---- */

/* Alarms of one body, including those that fired; bytes of a label. */
#define ALARMS_MAX      32
#define ALARM_LABEL_MAX 128

struct alarm {
	TAILQ_ENTRY(alarm) link;
	struct wall at;
	struct wall fired; /* {0}: it has not */
	char label[ALARM_LABEL_MAX];
};

TAILQ_HEAD(alarm_list, alarm);

/* In order of creation. */
struct alarms {
	struct alarm_list list;
	size_t n;
};

/* alarms_init(al), alarms_free(al): Empty; free and empty. */
void alarms_init(struct alarms *al);
void alarms_free(struct alarms *al);

/*
 * alarms_add(al, at, label):
 * Add an alarm, its label truncated to fit.  It replaces one that fired if the
 * list is full; RC_RETRY if none has.
 */
enum rc alarms_add(
    struct alarms *al, struct wall at, struct str label) RC_CHECK;

/* alarms_next(al): When the next one fires; {0} if none will. */
struct wall alarms_next(const struct alarms *al);

/*
 * alarms_fire(al, now):
 * Mark the earliest due alarm as fired and return it; NULL if there is none.
 */
const struct alarm *alarms_fire(struct alarms *al, struct wall now);

/* ---- skills ---- */

/* Code points of a text that is spoken, and bytes with the NUL. */
#define SPOKEN_CHARS_MAX 4096
#define SPOKEN_TEXT_MAX  (4 * SPOKEN_CHARS_MAX + 1)

enum skill { SKILL_LIGHT, SKILL_ALARM, SKILL_HEAD, SKILL_SPEAK, SKILL_N };

/* A validated call; only the members of its skill are set. */
struct skill_call {
	enum skill skill;
	enum wire_body_state_color color; /* light */
	struct wall at;                   /* alarm */
	char label[ALARM_LABEL_MAX];
	enum face_motion motion; /* head */
	double seconds;
	char text[SPOKEN_TEXT_MAX]; /* speak */
};

/* skill_name(s): As it is reported. */
const char *skill_name(enum skill s);

/* ---- body ---- */

/* Sessions stored, texts spoken, lines of the log, bytes of a line. */
#define BODY_SESSIONS_MAX 8
#define BODY_SPOKEN_MAX   8
#define BODY_LINES_MAX    16
#define BODY_LINE_MAX     256

/* The session_id of updates without a user's message. */
#define BODY_TICK_SESSION "system_decay_tick"

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

	char *sessions[BODY_SESSIONS_MAX]; /* most recent first */
	int64_t turns;
	char *status, *status_message; /* NULL: none yet */

	struct alarms alarms;
	struct body_spoken {
		char *text; /* NULL: none yet */
		struct wall at;
	} spoken[BODY_SPOKEN_MAX]; /* the last first */
	char *last_action;
	struct wall updated;
	char *lines[BODY_LINES_MAX]; /* a ring */
	size_t next_line;
};

/* body_init(b, now), body_free(b): A new body; free what it holds. */
void body_init(struct body *b, struct wall now);
void body_free(struct body *b);

/* body_blocked(b): Whether its soul's execution mode is "blocked". */
bool body_blocked(const struct body *b);

/*
 * body_execute(b, call, now, text):
 * Execute a call; text is the outcome, for the language model.  RC_DENIED while
 * blocked, RC_RETRY if there are too many alarms: nothing is done then.
 */
enum rc body_execute(struct body *b, const struct skill_call *call,
    struct wall now, char text[BODY_LINE_MAX]) RC_CHECK;

/*
 * body_emotion_update(b, u, now):
 * Set the soul's PAD and execution mode; unless it is a tick, also the face,
 * and the head unless blocked.  RC_CONFLICT if a later update of the same soul
 * has arrived already: nothing is done then.
 */
enum rc body_emotion_update(struct body *b, const struct wire_emotion_update *u,
    struct wall now) RC_CHECK;

/* body_status(b, st, now): A status message. */
void body_status(struct body *b, const struct wire_status *st, struct wall now);

/* body_session(b, id): A session was used; absent and "" are ignored. */
void body_session(struct body *b, struct str id);

/*
 * body_next_alarm(b):       When the next alarm fires; {0} if none will.
 * body_fire_alarms(b, now): Fire those that are due; returns how many.
 */
struct wall body_next_alarm(const struct body *b);
size_t body_fire_alarms(struct body *b, struct wall now);

/* body_log(b, now, fmt, ...): Add a line, truncated to BODY_LINE_MAX. */
void body_log(struct body *b, struct wall now, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * body_fill_state(b, now, a, out):
 * Set the members of *out that are about the body itself; their texts live in b
 * and a.  RC_TOOBIG if a is full.
 */
enum rc body_fill_state(const struct body *b, struct wall now, struct arena *a,
    struct wire_body_state *out) RC_CHECK;

#endif /* !BODY_SIM_BODY_H */
