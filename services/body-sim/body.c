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
	for (i = 0; i < BODY_SPOKEN_MAX; i++)
		free(b->spoken[i].text);
	for (i = 0; i < BODY_LINES_MAX; i++)
		free(b->lines[i]);
	free(b->soul_id);
	free(b->status);
	free(b->status_message);
	free(b->last_action);
	alarms_free(&b->alarms);
}

static void
body_set_text(char **to, struct str s)
{
	free(*to);
	*to = str_dup(s);
}

void
body_log(struct body *b, struct wall now, const char *fmt, ...)
{
	char text[BODY_LINE_MAX], stamp[WALL_FORMAT_MAX];
	char line[BODY_LINE_MAX + WALL_FORMAT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	wall_format(now, 0, stamp);
	(void)snprintf(line, sizeof(line), "%s %s", stamp, text);
	/* Truncation may have split a character. */
	str_copy(str_of(line), text, sizeof(text));
	body_set_text(&b->lines[b->next_line], str_of(text));
	b->next_line = (b->next_line + 1) % BODY_LINES_MAX;
	b->updated = now;
}

bool
body_blocked(const struct body *b)
{
	return b->mode == WIRE_EXEC_MODE_BLOCKED;
}

static void
body_move_head(
    struct body *b, enum face_motion motion, double seconds, struct wall now)
{
	if (motion == FACE_STILL)
		return;
	b->motion = motion;
	b->motion_seconds = seconds;
	b->motion_until.ms = now.ms + llround(seconds * 1000);
}

/* ---- actions ---- */

/* Bytes of a spoken text in the log. */
#define SPOKEN_SHOWN_MAX 192

static void
body_speak(struct body *b, const char *text, struct wall now)
{
	free(b->spoken[BODY_SPOKEN_MAX - 1].text);
	memmove(&b->spoken[1], &b->spoken[0],
	    (BODY_SPOKEN_MAX - 1) * sizeof(b->spoken[0]));
	b->spoken[0] =
	    (struct body_spoken){ .text = mem_strdup(text), .at = now };
}

static enum rc
body_act(struct body *b, const struct skill_call *c, struct wall now,
    char text[BODY_LINE_MAX])
{
	const char *name = skill_name(c->skill);
	char stamp[WALL_FORMAT_MAX], shown[SPOKEN_SHOWN_MAX];

	switch (c->skill) {
	case SKILL_LIGHT:
		b->color = c->color;
		(void)snprintf(text, BODY_LINE_MAX, "%s executed: %s", name,
		    wire_body_state_color_names[c->color].p);
		return RC_OK;
	case SKILL_ALARM:
		if (alarms_add(&b->alarms, c->at, str_of(c->label)) != RC_OK) {
			(void)snprintf(text, BODY_LINE_MAX,
			    "%d alarms are set already", ALARMS_MAX);
			return RC_RETRY;
		}
		wall_format(c->at, 0, stamp);
		(void)snprintf(text, BODY_LINE_MAX, "%s executed: %s at %s",
		    name, c->label, stamp);
		return RC_OK;
	case SKILL_SPEAK:
		body_speak(b, c->text, now);
		str_copy(str_of(c->text), shown, sizeof(shown));
		(void)snprintf(
		    text, BODY_LINE_MAX, "%s executed: %s", name, shown);
		return RC_OK;
	default:
		body_move_head(b, c->motion, c->seconds, now);
		(void)snprintf(text, BODY_LINE_MAX, "%s executed: %s, %g s",
		    name, face_motion_name(c->motion), c->seconds);
		return RC_OK;
	}
}

enum rc
body_execute(struct body *b, const struct skill_call *call, struct wall now,
    char text[BODY_LINE_MAX])
{
	enum rc rc = RC_DENIED;

	if (body_blocked(b))
		(void)snprintf(text, BODY_LINE_MAX,
		    "blocked: the soul is too upset to act now");
	else
		rc = body_act(b, call, now, text);
	if (rc == RC_OK) {
		body_set_text(&b->last_action, str_of(text));
		body_log(b, now, "%s", text);
	} else {
		body_log(
		    b, now, "%s failed: %s", skill_name(call->skill), text);
	}
	return rc;
}

struct wall
body_next_alarm(const struct body *b)
{
	return alarms_next(&b->alarms);
}

size_t
body_fire_alarms(struct body *b, struct wall now)
{
	const struct alarm *a;
	size_t n = 0;

	while ((a = alarms_fire(&b->alarms, now)) != NULL) {
		char text[BODY_LINE_MAX];

		(void)snprintf(text, sizeof(text), "alarm rings: %s", a->label);
		body_set_text(&b->last_action, str_of(text));
		body_log(b, now, "%s", text);
		n++;
	}
	return n;
}

/* ---- emotion and sessions ---- */

static void
body_show_emotion(
    struct body *b, const struct wire_user_emotion *e, struct wall now)
{
	struct face f = face_reaction(e->emotion, e->intensity);

	b->expression = f.expression;
	if (!body_blocked(b))
		body_move_head(b, f.motion, f.seconds, now);
	body_log(b, now, "user feels %s %.2f: %s %s",
	    wire_emotion_names[e->emotion].p, e->intensity,
	    face_expression_name(f.expression),
	    body_blocked(b) ? "(blocked)" : face_motion_name(f.motion));
}

enum rc
body_emotion_update(
    struct body *b, const struct wire_emotion_update *u, struct wall now)
{
	bool same = str_eq(str_of(b->soul_id), u->soul_id);
	bool was = body_blocked(b);

	if (same && u->has_version && u->version < b->soul_version)
		return RC_CONFLICT;
	if (!same)
		body_set_text(&b->soul_id, u->soul_id);
	b->soul_version = u->has_version ? u->version : 0;
	b->pad.p = u->soul_emotion.p;
	b->pad.a = u->soul_emotion.a;
	b->pad.d = u->soul_emotion.d;
	b->mode = u->exec_mode;
	b->probability = u->exec_probability;
	b->updated = now;
	if (body_blocked(b) != was)
		body_log(b, now, "gate: %s", wire_exec_mode_names[b->mode].p);
	if (str_eq(u->session_id, STR(BODY_TICK_SESSION)))
		return RC_OK;
	body_session(b, u->session_id);
	b->turns++;
	body_show_emotion(b, &u->user_emotion, now);
	return RC_OK;
}

void
body_status(struct body *b, const struct wire_status *st, struct wall now)
{
	body_set_text(&b->status, wire_status_status_names[st->status]);
	body_set_text(&b->status_message, st->message);
	body_session(b, st->session_id);
	body_log(b, now, "status: %s", b->status);
}

/* Move it to the front; a new one replaces the last. */
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
		body_set_text(&front, id);
	memmove(&b->sessions[1], &b->sessions[0], i * sizeof(char *));
	b->sessions[0] = front;
}

/* ---- state ---- */

static struct str
body_text(const char *s)
{
	return str_of(s != NULL ? s : "");
}

static enum rc
body_fill_alarms(
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
		to->trigger_at = wall_text(al->at, 0, a);
		to->fired = al->fired.ms != 0;
		if (to->fired)
			to->fired_at = wall_text(al->fired, 0, a);
		if (to->trigger_at.p == NULL ||
		    (to->fired && to->fired_at.p == NULL))
			return RC_TOOBIG;
	}
	return RC_OK;
}

static enum rc
body_fill_spoken(
    const struct body *b, struct arena *a, struct wire_body_state *out)
{
	size_t i;

	out->spoken = arena_alloc(a, BODY_SPOKEN_MAX * sizeof(*out->spoken));
	if (out->spoken == NULL)
		return RC_TOOBIG;
	for (i = 0; i < BODY_SPOKEN_MAX && b->spoken[i].text != NULL; i++) {
		struct wire_body_state_spoken *to =
		    &out->spoken[out->n_spoken++];

		to->text = str_of(b->spoken[i].text);
		to->at = wall_text(b->spoken[i].at, 0, a);
		if (to->at.p == NULL)
			return RC_TOOBIG;
	}
	return RC_OK;
}

static enum rc
body_fill_lists(
    const struct body *b, struct arena *a, struct wire_body_state *out)
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
	if (body_fill_spoken(b, a, out) != RC_OK)
		return RC_TOOBIG;
	return body_fill_alarms(b, a, out);
}

enum rc
body_fill_state(const struct body *b, struct wall now, struct arena *a,
    struct wire_body_state *out)
{
	out->soul_id = body_text(b->soul_id);
	out->active_session_id = body_text(b->sessions[0]);
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
	out->status = body_text(b->status);
	out->status_message = body_text(b->status_message);
	out->last_action = body_text(b->last_action);
	out->updated_at = wall_text(b->updated, 0, a);
	if (out->updated_at.p == NULL)
		return RC_TOOBIG;
	return body_fill_lists(b, a, out);
}

/* ---- face ---- */

/* Above any intensity. */
#define NEVER 2.0

#define SECONDS_MIN 0.2
#define SECONDS_MAX 10.0

struct reaction {
	enum face_expression mild;
	enum face_expression strong;
	double strong_from; /* lowest intensity */
	enum face_motion motion;
	double motion_from;
	double seconds, seconds_per; /* seconds + seconds_per * intensity */
};

#define CROSS                                                          \
	{                                                              \
		FACE_ANGRY, FACE_ANGRY, NEVER, FACE_SHAKE, 0, 1.0, 1.0 \
	}
#define AFRAID                                                              \
	{                                                                   \
		FACE_UNHAPPY, FACE_UNHAPPY, NEVER, FACE_SHAKE, .45, .8, 1.0 \
	}
#define SAD                                                            \
	{                                                              \
		FACE_UNHAPPY, FACE_CRY, .70, FACE_SHAKE, .70, 1.0, 1.2 \
	}
#define GLAD                                                         \
	{                                                            \
		FACE_SMILE, FACE_SMILE, NEVER, FACE_NOD, .50, .8, .8 \
	}
#define AT_REST                                                        \
	{                                                              \
		FACE_SMILE, FACE_SMILE, NEVER, FACE_STILL, NEVER, 0, 0 \
	}

static const struct reaction face_reactions[] = {
	[WIRE_EMOTION_ANGER] = CROSS,
	[WIRE_EMOTION_DISGUST] = CROSS,
	[WIRE_EMOTION_FRUSTRATION] = CROSS,
	[WIRE_EMOTION_ANXIETY] = AFRAID,
	[WIRE_EMOTION_FEAR] = AFRAID,
	[WIRE_EMOTION_SADNESS] = SAD,
	[WIRE_EMOTION_DISAPPOINTMENT] = SAD,
	[WIRE_EMOTION_BOREDOM] = SAD,
	[WIRE_EMOTION_JOY] = GLAD,
	[WIRE_EMOTION_GRATITUDE] = GLAD,
	[WIRE_EMOTION_RELIEF] = GLAD,
	[WIRE_EMOTION_EXCITEMENT] = { FACE_LAUGH, FACE_LAUGH, NEVER, FACE_NOD,
	    .50, .8, 1.0 },
	[WIRE_EMOTION_SURPRISE] = { FACE_LAUGH, FACE_LAUGH, NEVER, FACE_NOD,
	    .55, .7, .8 },
	[WIRE_EMOTION_CALM] = AT_REST,
	[WIRE_EMOTION_NEUTRAL] = AT_REST,
};

static double
face_clamp(double v, double min, double max)
{
	return v < min ? min : v > max ? max : v;
}

struct face
face_reaction(enum wire_emotion e, double intensity)
{
	const struct reaction *r = &face_reactions[e];
	struct face f = { .expression = r->mild };

	if (intensity >= r->strong_from)
		f.expression = r->strong;
	if (intensity >= r->motion_from) {
		f.motion = r->motion;
		f.seconds = face_clamp(r->seconds + r->seconds_per * intensity,
		    SECONDS_MIN, SECONDS_MAX);
	}
	return f;
}

const char *
face_expression_name(enum face_expression e)
{
	static const char *const names[] = {
		[FACE_SMILE] = "微笑",
		[FACE_LAUGH] = "大笑",
		[FACE_ANGRY] = "生气",
		[FACE_CRY] = "哭",
		[FACE_UNHAPPY] = "不开心",
	};

	return names[e];
}

const char *
face_motion_name(enum face_motion m)
{
	static const char *const names[] = {
		[FACE_STILL] = "",
		[FACE_NOD] = "点头",
		[FACE_SHAKE] = "摇头",
	};

	return names[m];
}

/* ---- alarms ---- */

void
alarms_init(struct alarms *al)
{
	TAILQ_INIT(&al->list);
	al->n = 0;
}

static void
alarm_remove(struct alarms *al, struct alarm *a)
{
	TAILQ_REMOVE(&al->list, a, link);
	al->n--;
	free(a);
}

void
alarms_free(struct alarms *al)
{
	struct alarm *a;

	while ((a = TAILQ_FIRST(&al->list)) != NULL)
		alarm_remove(al, a);
}

enum rc
alarms_add(struct alarms *al, struct wall at, struct str label)
{
	struct alarm *a;

	if (al->n == ALARMS_MAX) {
		TAILQ_FOREACH (a, &al->list, link) {
			if (a->fired.ms != 0)
				break;
		}
		if (a == NULL)
			return RC_RETRY;
		alarm_remove(al, a);
	}
	a = mem_zalloc(sizeof(*a));
	a->at = at;
	str_copy(label, a->label, sizeof(a->label));
	TAILQ_INSERT_TAIL(&al->list, a, link);
	al->n++;
	return RC_OK;
}

static struct alarm *
alarm_earliest(const struct alarms *al)
{
	struct alarm *a, *best = NULL;

	TAILQ_FOREACH (a, &al->list, link) {
		if (a->fired.ms == 0 &&
		    (best == NULL || a->at.ms < best->at.ms))
			best = a;
	}
	return best;
}

struct wall
alarms_next(const struct alarms *al)
{
	const struct alarm *a = alarm_earliest(al);

	return a != NULL ? a->at : (struct wall){ 0 };
}

const struct alarm *
alarms_fire(struct alarms *al, struct wall now)
{
	struct alarm *a = alarm_earliest(al);

	if (a == NULL || a->at.ms > now.ms)
		return NULL;
	a->fired = now;
	return a;
}
