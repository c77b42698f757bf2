/*
 * The text of a message is kept until its end: what was told of it is compared
 * with what is said in the end, so that pieces never contradict the whole.
 */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "bus/bus.h"
#include "core/arena.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "orch.h"
#include "reply.h"
#include "run.h"
#include "state/events.h"
#include "svc/svc.h"
#include "watch.h"
#include "wire/subjects.h"

/* How long pieces are collected; how long Redis is left alone. */
#define COLLECT_MS 25
#define AGAIN_MS   100
/* Runs of one pipeline. */
#define BATCH STREAM_BATCH

static void on_flush(void *arg);

void
stream_init(struct run *r)
{
	buf_init(&r->stream.text, REPLY_MAX);
}

static void
unqueue(struct run *r)
{
	if (r->stream.queued)
		TAILQ_REMOVE(&r->o->telling, r, stream.link);
	r->stream.queued = false;
}

void
stream_free(struct run *r)
{
	unqueue(r);
	buf_free(&r->stream.text);
}

/* Something is to be told, in ms at the latest. */
static void
tell_in(struct run *r, int64_t ms)
{
	struct orch *o = r->o;
	struct mono at = mono_add_ms(clock_mono(), ms);

	if (!r->stream.queued)
		TAILQ_INSERT_TAIL(&o->telling, r, stream.link);
	r->stream.queued = true;
	if (o->flush.pos == 0 || mono_diff_ns(at, o->flush.at) < 0)
		loop_timer_set(svc_loop(o->svc), &o->flush, at, on_flush, o);
}

static void
add_warning(
    struct run *r, const char *code, const char *message, const char *id)
{
	struct stream *s = &r->stream;

	if (s->n_warnings == STREAM_WARNINGS_MAX)
		return;
	struct say_warning *w = &s->warnings[s->n_warnings++];
	*w = (struct say_warning){ .code = code, .message = message };
	snprintf(w->message_id, sizeof(w->message_id), "%s", id);
}

void
stream_warn(struct run *r, const char *code, const char *message)
{
	add_warning(r, code, message, "");
	if (run_chat(r)->stream && r->begun)
		tell_in(r, COLLECT_MS);
}

/* ---- text -------------------------------------------------------------- */

/* Another message begins, with the first n bytes of this one. */
static void
restart(struct run *r, size_t n)
{
	struct stream *s = &r->stream;

	if (s->told > 0 || s->doubt)
		add_warning(r, "TEXT_WITHDRAWN",
		    "the text of this message is not the reply", s->message_id);
	s->message_id[0] = '\0';
	s->told = 0;
	s->doubt = false;
	s->text.n = n;
	s->ready = n;
}

void
stream_think(struct run *r, bool calls)
{
	struct stream *s = &r->stream;

	if (!run_chat(r)->stream)
		return;
	if (s->text.n == 0) {
		reply_begin(&r->turn, &s->text);
		s->base = s->text.n;
	}
	if (s->told > s->base)
		restart(r, s->base);
	s->text.n = s->ready = s->base;
	s->hold = (struct hold){ .calls = calls };
	if (s->ready > s->told)
		tell_in(r, 0);
}

/* As the reply will have it: no control characters, nothing blank before. */
static void
append(struct stream *s, struct str piece)
{
	bool first = s->text.n == s->base;

	for (size_t i = 0; i < piece.n; i++) {
		unsigned char c = (unsigned char)piece.p[i];
		bool bad = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
		if (first && (bad || c == ' ' || c == '\n' || c == '\t'))
			continue;
		if (first && s->base > 0)
			buf_putc(&s->text, '\n');
		first = false;
		buf_putc(&s->text, bad ? ' ' : (char)c);
	}
}

void
stream_text(void *arg, struct str piece)
{
	struct run *r = arg;
	struct stream *s = &r->stream;

	watch_first(r);
	/* The end tells what has no room here. */
	if (s->text.n + piece.n + 1 > REPLY_MAX)
		s->hold.shut = s->hold.calls = true;
	else
		append(s, piece);
	size_t from = s->base > 0 ? s->base + 1 : 0;
	if (s->text.n <= from)
		return;
	struct str words = { s->text.p + from, s->text.n - from };
	size_t n = hold_free(&s->hold, words);
	if (n == 0 || from + n <= s->ready)
		return;
	s->ready = from + n;
	tell_in(r, s->told <= s->base ? 0 : COLLECT_MS);
}

/* ---- events ------------------------------------------------------------ */

struct say
stream_say(const struct run *r, char now[WALL_FORMAT_MAX])
{
	return (struct say){ r->place.turn_id, r->place.key.session_id,
		orch_now(now) };
}

static void
name_message(struct stream *s)
{
	char hex[ID_HEX32_MAX];

	if (s->message_id[0] != '\0')
		return;
	id_hex32(hex);
	snprintf(s->message_id, sizeof(s->message_id), "m_%s", hex);
}

/* Warnings and the text that may be told, as events from a. */
static size_t
write_events(struct run *r, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	struct stream *s = &r->stream;
	char now[WALL_FORMAT_MAX];
	struct say say = stream_say(r, now);
	size_t n = 0;

	for (size_t i = 0; i < s->n_warnings; i++) {
		buf_reset(&b);
		say_warning(&say, &s->warnings[i], &b);
		out[n++] = arena_str(a, buf_str(&b));
	}
	if (s->ready > s->told) {
		name_message(s);
		buf_reset(&b);
		say_delta(&say, str_of(s->message_id),
		    (struct str){ s->text.p + s->told, s->ready - s->told },
		    &b);
		out[n++] = arena_str(a, buf_str(&b));
	}
	buf_free(&b);
	for (size_t i = 0; i < n; i++) {
		if (out[i].p == NULL)
			return 0;
	}
	return n;
}

size_t
stream_last(struct run *r, struct str final, struct str out[STREAM_LAST_MAX])
{
	struct stream *s = &r->stream;

	unqueue(r);
	s->ready = s->told;
	if (final.p != NULL && run_chat(r)->stream) {
		bool same = s->told <= final.n &&
		    (s->told == 0 || memcmp(s->text.p, final.p, s->told) == 0);
		if (!same || s->doubt)
			restart(r, 0);
		buf_reset(&s->text);
		buf_put_str(&s->text, final);
		s->ready = s->text.n;
	} else if (s->doubt) {
		restart(r, 0);
	}
	size_t n = write_events(r, r->a, out);
	name_message(s);
	return n;
}

void
stream_publish(struct orch *o, struct bus *via, const struct turn_place *p,
    const struct turn_told *told)
{
	char subject[ASK_SUBJECT_MAX];

	if (told->seq == 0 ||
	    ask_subject(subject, WIRE_SUBJECT_FMT_SESSION_STREAM,
		p->key.user_id, p->key.session_id) != RC_OK)
		return;
	for (size_t i = 0; i < told->n; i++) {
		buf_reset(&o->out);
		say_numbered(told->json[i],
		    told->seq - (int64_t)(told->n - 1 - i), &o->out);
		enum rc rc = bus_publish(via, subject, buf_str(&o->out), NULL);
		if (rc != RC_OK)
			log_debug("turn.event_unheard", LOG_RC(rc));
	}
}

/* ---- telling ----------------------------------------------------------- */

struct batch {
	struct run *runs[BATCH];
	struct turn_told told[BATCH];
	enum rc rc[BATCH];
	struct str events[BATCH][STREAM_LAST_MAX];
	size_t n;
};

static void
collect(struct orch *o, struct batch *b)
{
	struct run *r;

	while (b->n < BATCH && (r = TAILQ_FIRST(&o->telling)) != NULL) {
		struct str *events = b->events[b->n];
		size_t ready = r->stream.ready;
		unqueue(r);
		if (r->stream.doubt)
			restart(r, r->stream.text.n);
		r->stream.ready = ready;
		struct turn_told t = { .json = events,
			.n = write_events(r, o->scratch, events) };
		if (t.n == 0 || turn_tell(o->pipe, &r->place, &t) != RC_OK)
			continue;
		b->told[b->n] = t;
		b->runs[b->n++] = r;
	}
}

static void
told(struct run *r, const struct turn_told *t, enum rc rc)
{
	struct stream *s = &r->stream;

	switch (rc) {
	case RC_OK:
		s->told = s->ready;
		s->n_warnings = 0;
		stream_publish(r->o, r->o->bus, &r->place, t);
		break;
	case RC_CONFLICT:
		break;
	case RC_TIMEOUT:
		/* Perhaps it was told: then a message of its own says it. */
		s->doubt |= s->ready > s->told;
		tell_in(r, AGAIN_MS);
		break;
	case RC_DOWN:
	case RC_RETRY:
		tell_in(r, AGAIN_MS);
		break;
	default:
		log_warn("turn.events_lost", LOG_RC(rc));
		break;
	}
}

static void
on_flush(void *arg)
{
	struct orch *o = arg;
	struct batch *b = mem_alloc(sizeof(*b));

	b->n = 0;
	arena_reset(o->scratch);
	collect(o, b);
	enum rc rc = state_pipe_run(o->pipe);
	if (rc != RC_OK)
		log_debug("turn.events_late", LOG_RC(rc));
	for (size_t i = 0; i < b->n; i++) {
		b->rc[i] = turn_told_reply(o->pipe, i, &b->told[i].seq);
		told(b->runs[i], &b->told[i], b->rc[i]);
	}
	/* Ending a turn takes the scratch and the pipe for itself. */
	for (size_t i = 0; i < b->n; i++) {
		if (b->rc[i] == RC_CONFLICT)
			run_feed_kind(b->runs[i], TURN_LOST);
	}
	free(b);
	if (!TAILQ_EMPTY(&o->telling) && o->flush.pos == 0)
		loop_timer_set(
		    svc_loop(o->svc), &o->flush, clock_mono(), on_flush, o);
}
