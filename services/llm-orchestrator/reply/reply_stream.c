/*
 * The text of a message is retained until its end: what was published of it is
 * compared with the reply, so that the chunks of a message never contradict it.
 */
#include "reply/reply_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus.h"
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "wire/subjects.h"

/* How long chunks are collected; pause after Redis was not available. */
#define COLLECT_MS 25
#define RETRY_MS   100
/* Pause when all turns with events do something else. */
#define BUSY_MS 2

static void stream_on_flush(void *arg);

void
reply_stream_new(struct turn_run *r)
{
	r->stream = mem_zalloc(sizeof(*r->stream));
	r->stream->run = r;
	buf_init(&r->stream->text, REPLY_MAX);
}

static void
stream_unqueue(struct turn_run *r)
{
	if (r->stream->queued)
		TAILQ_REMOVE(&r->o->streams, r->stream, link);
	r->stream->queued = false;
}

void
reply_stream_free(struct turn_run *r)
{
	stream_unqueue(r);
	spoken_text_free(&r->stream->spoken);
	buf_free(&r->stream->text);
	free(r->stream);
}

/* Events are to be appended in at most ms. */
static void
stream_schedule(struct turn_run *r, int64_t ms)
{
	struct orch *o = r->o;
	struct mono at = mono_add_ms(clock_mono(), ms);

	if (!r->stream->queued)
		TAILQ_INSERT_TAIL(&o->streams, r->stream, link);
	r->stream->queued = true;
	if (o->flush.pos == 0 || mono_diff_ns(at, o->flush.at) < 0)
		loop_timer_set(
		    svc_loop(o->svc), &o->flush, at, stream_on_flush, o);
}

static void
stream_add_warning(
    struct turn_run *r, const char *code, struct str message, struct str id)
{
	struct reply_stream *s = r->stream;

	if (s->n_warnings == REPLY_STREAM_WARNINGS_MAX)
		return;
	struct reply_stream_warning *w = &s->warnings[s->n_warnings++];
	*w = (struct reply_stream_warning){ .code = code, .message = message };
	str_copy(id, w->message_id, sizeof(w->message_id));
	if (turn_chat(r)->stream && r->announced)
		stream_schedule(r, COLLECT_MS);
}

void
reply_stream_warn(struct turn_run *r, const char *code, const char *message)
{
	stream_add_warning(r, code, str_of(message), STR(""));
}

void
reply_stream_report(struct turn_run *r, const char *code, struct str message)
{
	struct reply_stream *s = r->stream;

	if (!turn_chat(r)->stream)
		return;
	message = arena_str(r->a, message);
	if (message.p == NULL)
		return;
	for (size_t i = 0; i < s->n_warnings; i++) {
		if (s->warnings[i].code == code) {
			s->warnings[i].message = message;
			return;
		}
	}
	stream_add_warning(r, code, message, STR(""));
}

void
reply_stream_replied(
    struct turn_run *r, struct str question, struct str content)
{
	stream_add_warning(r, NULL, content, question);
}

/* ---- text ---- */

/* Begin another message with the first n bytes of this one. */
static void
stream_new_message(struct turn_run *r, size_t n)
{
	struct reply_stream *s = r->stream;

	if (s->sent > 0 || s->uncertain)
		stream_add_warning(r, "TEXT_WITHDRAWN",
		    STR("the text of this message is not the reply"),
		    str_of(s->message_id));
	s->message_id[0] = '\0';
	s->sent = 0;
	s->uncertain = false;
	s->text.n = n;
	s->ready = n;
}

void
reply_stream_restart(struct turn_run *r, bool calls)
{
	struct reply_stream *s = r->stream;

	if (!turn_chat(r)->stream)
		return;
	if (s->text.n == 0) {
		reply_put_direct(&r->turn, &s->text);
		s->base = s->text.n;
	}
	if (s->sent > s->base)
		stream_new_message(r, s->base);
	s->text.n = s->ready = s->base;
	s->filter = (struct claim_filter){ .calls_possible = calls };
	spoken_text_free(&s->spoken);
	spoken_text_init(&s->spoken, &r->spoken);
	if (s->ready > s->sent)
		stream_schedule(r, 0);
}

/* Like the reply: no control characters, no leading white space. */
static void
stream_put_text(struct reply_stream *s, struct str chunk)
{
	bool first = s->text.n == s->base;

	for (size_t i = 0; i < chunk.n; i++) {
		unsigned char c = (unsigned char)chunk.p[i];
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
reply_stream_append(struct turn_run *r, struct str chunk)
{
	struct reply_stream *s = r->stream;

	if (!turn_chat(r)->stream)
		return;
	chunk = spoken_text_feed(&s->spoken, chunk);
	/* The rest is published with the end of the turn. */
	if (s->text.n + chunk.n + 1 > REPLY_MAX)
		s->filter.blocked = s->filter.calls_possible = true;
	else
		stream_put_text(s, chunk);
	size_t from = s->base > 0 ? s->base + 1 : 0;
	if (s->text.n <= from)
		return;
	struct str text = { s->text.p + from, s->text.n - from };
	size_t n = claim_filter_released(&s->filter, text);
	if (n == 0 || from + n <= s->ready)
		return;
	s->ready = from + n;
	stream_schedule(r, s->sent <= s->base ? 0 : COLLECT_MS);
}

/* ---- events ---- */

struct fcmp_head
reply_stream_head(const struct turn_run *r, char now[WALL_FORMAT_MAX])
{
	return fcmp_chat_head(
	    r->slot.turn_id, r->slot.key.session_id, turn_now(now));
}

static void
stream_name_message(struct reply_stream *s)
{
	char hex[ID_HEX32_MAX];

	if (s->message_id[0] != '\0')
		return;
	id_hex32(hex);
	snprintf(s->message_id, sizeof(s->message_id), "m_%s", hex);
}

/* Warnings and the text that may be published, as events from a. */
static size_t
stream_put_events(struct turn_run *r, struct arena *a, struct str *out)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	struct reply_stream *s = r->stream;
	char now[WALL_FORMAT_MAX];
	struct fcmp_head head = reply_stream_head(r, now);
	size_t n = 0;

	for (size_t i = 0; i < s->n_warnings; i++) {
		const struct reply_stream_warning *w = &s->warnings[i];
		const struct fcmp_warning e = { .code = str_of(w->code),
			.message = w->message,
			.message_id = str_of(w->message_id) };
		buf_reset(&b);
		if (w->code != NULL)
			fcmp_warning(&head, &e, &b);
		else
			fcmp_input_replied(&head, e.message_id, w->message, &b);
		out[n++] = arena_str(a, buf_str(&b));
	}
	if (s->ready > s->sent) {
		stream_name_message(s);
		buf_reset(&b);
		fcmp_delta(&head, str_of(s->message_id),
		    (struct str){ s->text.p + s->sent, s->ready - s->sent },
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
reply_stream_finish(struct turn_run *r, struct str final,
    struct str out[REPLY_STREAM_FINAL_MAX])
{
	struct reply_stream *s = r->stream;

	stream_unqueue(r);
	s->ready = s->sent;
	if (final.p != NULL && turn_chat(r)->stream) {
		bool same = s->sent <= final.n &&
		    (s->sent == 0 || memcmp(s->text.p, final.p, s->sent) == 0);
		if (!same || s->uncertain)
			stream_new_message(r, 0);
		buf_reset(&s->text);
		buf_put_str(&s->text, final);
		s->ready = s->text.n;
	} else if (s->uncertain) {
		stream_new_message(r, 0);
	}
	size_t n = stream_put_events(r, r->a, out);
	stream_name_message(s);
	return n;
}

/* Event i and those after it. */
static void
stream_publish_from(struct orch *o, const struct turn_slot *p,
    const struct turn_events *events, size_t i)
{
	char subject[PEER_SUBJECT_MAX];

	if (events->seq == 0 ||
	    peer_subject(subject, WIRE_SUBJECT_FMT_SESSION_STREAM,
		p->key.user_id, p->key.session_id) != RC_OK)
		return;
	for (; i < events->n; i++) {
		buf_reset(&o->out);
		fcmp_number(events->json[i],
		    events->seq - (int64_t)(events->n - 1 - i), &o->out);
		enum rc rc =
		    bus_publish(o->bus, subject, buf_str(&o->out), NULL);
		if (rc != RC_OK)
			log_debug("turn.event_not_published", LOG_RC(rc));
	}
}

void
reply_stream_publish(
    struct orch *o, const struct turn_slot *p, const struct turn_events *events)
{
	stream_publish_from(o, p, events, 0);
}

void
reply_stream_notify(
    struct orch *o, const struct turn_slot *p, const struct turn_events *events)
{
	if (events->n > 0)
		stream_publish_from(o, p, events, events->n - 1);
}

void
reply_stream_started(struct turn_run *r, const struct turn_events *events)
{
	r->start_event = *events;
	if (turn_chat(r)->stream)
		reply_stream_start(r);
}

void
reply_stream_start(struct turn_run *r)
{
	if (turn_chat(r)->stream || r->start_event.followed)
		reply_stream_publish(r->o, &r->slot, &r->start_event);
	r->start_event = (struct turn_events){ .n = 0 };
}

/* ---- appending ---- */

static void
stream_release(void *arg)
{
	turn_disown(arg);
}

struct stream_batch {
	struct arena *a; /* of the events */
	struct turn_run *runs[REPLY_STREAM_BATCH];
	/* Of each stream, what the events have of it. */
	size_t ready[REPLY_STREAM_BATCH], warnings[REPLY_STREAM_BATCH];
	struct turn_events events[REPLY_STREAM_BATCH];
	enum rc rc[REPLY_STREAM_BATCH];
	struct str json[REPLY_STREAM_BATCH][REPLY_STREAM_FINAL_MAX];
	size_t n;
};

static void
stream_collect(struct orch *o, struct stream_batch *b)
{
	struct reply_stream *s, *next;

	for (s = TAILQ_FIRST(&o->streams);
	     b->n < REPLY_STREAM_BATCH && s != NULL; s = next) {
		struct turn_run *r = s->run;
		struct str *json = b->json[b->n];
		size_t ready = s->ready;
		next = TAILQ_NEXT(s, link);
		/* While the turn does something else, its stream waits. */
		if (!turn_own(r))
			continue;
		stream_unqueue(r);
		if (s->uncertain)
			stream_new_message(r, s->text.n);
		s->ready = ready;
		struct turn_events t = { .json = json,
			.n = stream_put_events(r, b->a, json) };
		if (t.n == 0 ||
		    turn_log_events(o->pipe, &r->slot, &t) != RC_OK) {
			fiber_start(stream_release, r);
			continue;
		}
		b->events[b->n] = t;
		b->ready[b->n] = s->ready;
		b->warnings[b->n] = s->n_warnings;
		b->runs[b->n++] = r;
	}
}

static void
stream_on_append(struct stream_batch *b, size_t i, enum rc rc)
{
	struct turn_run *r = b->runs[i];
	struct reply_stream *s = r->stream;

	switch (rc) {
	case RC_OK:
		s->sent = b->ready[i];
		s->n_warnings -= b->warnings[i];
		memmove(s->warnings, s->warnings + b->warnings[i],
		    s->n_warnings * sizeof(s->warnings[0]));
		reply_stream_publish(r->o, &r->slot, &b->events[i]);
		break;
	case RC_CONFLICT:
		break;
	case RC_TIMEOUT:
	case RC_UNREPLICATED:
		/* It may have been appended: the text goes into a new message.
		 */
		s->uncertain |= b->ready[i] > s->sent;
		stream_schedule(r, RETRY_MS);
		break;
	case RC_DOWN:
	case RC_RETRY:
		stream_schedule(r, RETRY_MS);
		break;
	default:
		log_warn("turn.events_lost", LOG_RC(rc));
		break;
	}
}

static void
stream_flush(void *arg)
{
	struct orch *o = arg;
	struct stream_batch *b = mem_alloc(sizeof(*b));

	b->n = 0;
	b->a = arena_new(REPLY_STREAM_BATCH * ORCH_SCRATCH_MAX);
	stream_collect(o, b);
	enum rc rc = state_pipe_run(o->pipe);
	if (rc != RC_OK)
		log_debug("turn.events_delayed", LOG_RC(rc));
	for (size_t i = 0; i < b->n; i++) {
		rc = turn_log_events_reply(o->pipe, i, &b->events[i].seq);
		stream_on_append(b, i, rc);
		if (rc == RC_CONFLICT)
			turn_feed_kind(b->runs[i], TURN_LOST);
	}
	o->flushing = false;
	if (!TAILQ_EMPTY(&o->streams) && o->flush.pos == 0)
		loop_timer_set(svc_loop(o->svc), &o->flush,
		    mono_add_ms(clock_mono(), b->n > 0 ? 0 : BUSY_MS),
		    stream_on_flush, o);
	/* What their turns do next must not wait for each other. */
	for (size_t i = 0; i < b->n; i++)
		fiber_start(stream_release, b->runs[i]);
	arena_free(b->a);
	free(b);
}

static void
stream_on_flush(void *arg)
{
	struct orch *o = arg;

	/* The one under way looks for more at its end. */
	if (o->flushing)
		return;
	o->flushing = true;
	fiber_start(stream_flush, o);
}
