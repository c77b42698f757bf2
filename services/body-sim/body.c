/*
 * A body's state.
 */
#include "body.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

void
body_init(struct body *b, struct wall now)
{
	*b = (struct body){ .expression = FACE_SMILE,
		.mode = WIRE_EXEC_MODE_AUTO_EXECUTE,
		.probability = 1,
		.updated = now };
	alarms_init(&b->alarms);
}

void
body_free(struct body *b)
{
	size_t i;

	for (i = 0; i < BODY_SESSIONS_MAX; i++)
		free(b->sessions[i]);
	for (i = 0; i < BODY_LINES_MAX; i++)
		free(b->lines[i]);
	free(b->soul_id);
	free(b->status);
	free(b->status_message);
	free(b->last_action);
	alarms_free(&b->alarms);
}

static void
put(char **to, struct str s)
{
	free(*to);
	*to = str_dup(s);
}

void
body_note(struct body *b, struct wall now, const char *fmt, ...)
{
	char text[BODY_LINE_MAX], stamp[WALL_FORMAT_MAX];
	char line[BODY_LINE_MAX + WALL_FORMAT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wall_format(now, 0, stamp);
	(void)snprintf(line, sizeof(line), "%s %s", stamp, text);
	/* What was cut may end in the middle of a character. */
	str_copy(str_of(line), text, sizeof(text));
	put(&b->lines[b->next_line], str_of(text));
	b->next_line = (b->next_line + 1) % BODY_LINES_MAX;
	b->updated = now;
}

bool
body_blocked(const struct body *b)
{
	return b->mode == WIRE_EXEC_MODE_BLOCKED;
}

static void
move_head(
    struct body *b, enum face_motion motion, double seconds, struct wall now)
{
	if (motion == FACE_STILL)
		return;
	b->motion = motion;
	b->motion_seconds = seconds;
	b->motion_until.ms = now.ms + llround(seconds * 1000);
}

/* ---- acting -------------------------------------------------------------- */

static enum rc
act(struct body *b, const struct skill_call *c, struct wall now,
    char said[BODY_LINE_MAX])
{
	const char *name = skill_name(c->skill);
	char stamp[WALL_FORMAT_MAX];

	switch (c->skill) {
	case SKILL_LIGHT:
		b->color = c->color;
		(void)snprintf(said, BODY_LINE_MAX, "%s executed: %s", name,
		    wire_body_state_color_names[c->color].p);
		return RC_OK;
	case SKILL_ALARM:
		if (alarms_add(&b->alarms, c->at, str_of(c->label)) != RC_OK) {
			(void)snprintf(said, BODY_LINE_MAX,
			    "%d alarms are set already", ALARMS_MAX);
			return RC_RETRY;
		}
		wall_format(c->at, 0, stamp);
		(void)snprintf(said, BODY_LINE_MAX, "%s executed: %s at %s",
		    name, c->label, stamp);
		return RC_OK;
	default:
		move_head(b, c->motion, c->seconds, now);
		(void)snprintf(said, BODY_LINE_MAX, "%s executed: %s, %g s",
		    name, face_motion_name(c->motion), c->seconds);
		return RC_OK;
	}
}

enum rc
body_do(struct body *b, const struct skill_call *call, struct wall now,
    char said[BODY_LINE_MAX])
{
	enum rc rc = RC_DENIED;

	if (body_blocked(b))
		(void)snprintf(said, BODY_LINE_MAX,
		    "blocked: the soul is too upset to act now");
	else
		rc = act(b, call, now, said);
	if (rc == RC_OK) {
		put(&b->last_action, str_of(said));
		body_note(b, now, "%s", said);
	} else {
		body_note(
		    b, now, "%s failed: %s", skill_name(call->skill), said);
	}
	return rc;
}

struct wall
body_next_alarm(const struct body *b)
{
	return alarms_next(&b->alarms);
}

size_t
body_ring(struct body *b, struct wall now)
{
	const struct alarm *a;
	size_t n = 0;

	while ((a = alarms_ring(&b->alarms, now)) != NULL) {
		char text[BODY_LINE_MAX];

		(void)snprintf(text, sizeof(text), "alarm rings: %s", a->label);
		put(&b->last_action, str_of(text));
		body_note(b, now, "%s", text);
		n++;
	}
	return n;
}

/* ---- feeling ------------------------------------------------------------- */

static void
show(struct body *b, const struct wire_user_emotion *e, struct wall now)
{
	struct face f = face_of(e->emotion, e->intensity);

	b->expression = f.expression;
	if (!body_blocked(b))
		move_head(b, f.motion, f.seconds, now);
	body_note(b, now, "user feels %s %.2f: %s %s",
	    wire_emotion_names[e->emotion].p, e->intensity,
	    face_expression_name(f.expression),
	    body_blocked(b) ? "(blocked)" : face_motion_name(f.motion));
}

enum rc
body_feel(struct body *b, const struct wire_emotion_update *u, struct wall now)
{
	bool same = str_eq(str_of(b->soul_id), u->soul_id);
	bool was = body_blocked(b);

	if (same && u->has_version && u->version < b->soul_version)
		return RC_CONFLICT;
	if (!same)
		put(&b->soul_id, u->soul_id);
	b->soul_version = u->has_version ? u->version : 0;
	b->pad.p = u->soul_emotion.p;
	b->pad.a = u->soul_emotion.a;
	b->pad.d = u->soul_emotion.d;
	b->mode = u->exec_mode;
	b->probability = u->exec_probability;
	b->updated = now;
	if (body_blocked(b) != was)
		body_note(b, now, "gate: %s", wire_exec_mode_names[b->mode].p);
	if (str_eq(u->session_id, STR(BODY_TICK)))
		return RC_OK;
	body_session(b, u->session_id);
	b->turns++;
	show(b, &u->user_emotion, now);
	return RC_OK;
}

void
body_told(struct body *b, const struct wire_status *st, struct wall now)
{
	put(&b->status, wire_status_status_names[st->status]);
	put(&b->status_message, st->message);
	body_session(b, st->session_id);
	body_note(b, now, "status: %s", b->status);
}

/* To the front; the last one drops out if it is new. */
void
body_session(struct body *b, struct str id)
{
	char *front = NULL;
	size_t i;

	if (id.n == 0)
		return;
	for (i = 0; i < BODY_SESSIONS_MAX - 1; i++) {
		if (b->sessions[i] == NULL ||
		    str_eq(str_of(b->sessions[i]), id))
			break;
	}
	front = b->sessions[i];
	if (front == NULL || !str_eq(str_of(front), id))
		put(&front, id);
	memmove(&b->sessions[1], &b->sessions[0], i * sizeof(char *));
	b->sessions[0] = front;
}

/* ---- reporting ----------------------------------------------------------- */

static struct str
text_of(const char *s)
{
	return str_of(s != NULL ? s : "");
}

static struct str
time_of(struct wall t, struct arena *a)
{
	char stamp[WALL_FORMAT_MAX];

	wall_format(t, 0, stamp);
	return arena_str(a, str_of(stamp));
}

static enum rc
report_alarms(
    const struct body *b, struct arena *a, struct wire_body_state *out)
{
	const struct alarm *al;

	out->alarms = arena_alloc(a, b->alarms.n * sizeof(*out->alarms));
	if (out->alarms == NULL)
		return RC_TOOBIG;
	TAILQ_FOREACH (al, &b->alarms.list, link) {
		struct wire_body_state_alarms *to =
		    &out->alarms[out->n_alarms++];

		to->label = str_of(al->label);
		to->trigger_at = time_of(al->at, a);
		to->fired = al->fired.ms != 0;
		if (to->fired)
			to->fired_at = time_of(al->fired, a);
		if (to->trigger_at.p == NULL ||
		    (to->fired && to->fired_at.p == NULL))
			return RC_TOOBIG;
	}
	return RC_OK;
}

static enum rc
report_lists(const struct body *b, struct arena *a, struct wire_body_state *out)
{
	size_t i;

	out->sessions =
	    arena_alloc(a, BODY_SESSIONS_MAX * sizeof(*out->sessions));
	out->logs = arena_alloc(a, BODY_LINES_MAX * sizeof(*out->logs));
	if (out->sessions == NULL || out->logs == NULL)
		return RC_TOOBIG;
	for (i = 0; i < BODY_SESSIONS_MAX && b->sessions[i] != NULL; i++)
		out->sessions[out->n_sessions++] = str_of(b->sessions[i]);
	for (i = 0; i < BODY_LINES_MAX; i++) {
		const char *line =
		    b->lines[(b->next_line + BODY_LINES_MAX - 1 - i) %
			BODY_LINES_MAX];

		if (line != NULL)
			out->logs[out->n_logs++] = str_of(line);
	}
	return report_alarms(b, a, out);
}

enum rc
body_report(const struct body *b, struct wall now, struct arena *a,
    struct wire_body_state *out)
{
	out->soul_id = text_of(b->soul_id);
	out->active_session_id = text_of(b->sessions[0]);
	out->conversation_turns = b->turns;
	out->color = b->color;
	out->expression = str_of(face_expression_name(b->expression));
	out->head_pose = STR("居中");
	out->head_motion = str_of(face_motion_name(b->motion));
	out->head_motion_duration_seconds = b->motion_seconds;
	out->head_moving = now.ms < b->motion_until.ms;
	out->emotion_p = b->pad.p;
	out->emotion_a = b->pad.a;
	out->emotion_d = b->pad.d;
	out->exec_mode = b->mode;
	out->exec_probability = b->probability;
	out->holding_back = body_blocked(b);
	out->status = text_of(b->status);
	out->status_message = text_of(b->status_message);
	out->last_action = text_of(b->last_action);
	out->updated_at = time_of(b->updated, a);
	if (out->updated_at.p == NULL)
		return RC_TOOBIG;
	return report_lists(b, a, out);
}
