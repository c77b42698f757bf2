/*
 * The last answer, the timeline, the last events.
 */
#include "ending.h"

#include <string.h>

#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "reply.h"
#include "run.h"
#include "state/session.h"
#include "stream.h"
#include "timeline.h"
#include "wire/wire.h"

/* Longest question, in bytes. */
#define PROMPT_MAX ((size_t)16 * 1024)

struct wire_turn_reply
ending_reply(const struct run *r)
{
	const struct wire_chat_request *chat = run_chat(r);
	struct wire_turn_reply rep = { .turn_id = r->place.turn_id,
		.state = WIRE_TURN_REPLY_STATE_COMPLETED,
		.instance = r->place.instance,
		.has_response = true };

	rep.response = (struct wire_chat_response){
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.reply = r->reply,
		.executed_skills = r->skills.executed,
		.n_executed_skills = r->skills.n_executed,
		.failed_skills = r->skills.failed,
		.n_failed_skills = r->skills.n_failed,
		.has_failed_skills = r->skills.n_failed > 0,
		.context_summary = r->facts.summary,
		.has_intent_decision = r->turn.routed,
		.intent_decision = r->turn.route.action,
		.has_exec_mode = r->felt,
		.exec_mode = r->feeling.exec_mode,
		.has_exec_probability = r->felt,
		.exec_probability = r->feeling.exec_probability,
		.turn_id = r->place.turn_id,
	};
	return rep;
}

/* msg as JSON of at most max bytes; absent: it does not fit. */
static struct str
json_of(struct run *r, const struct wire_desc *d, const void *msg, size_t max)
{
	struct buf b = BUF_INIT(max);
	struct str s = { 0 };

	if (wire_encode(d, msg, &b, NULL) == RC_OK)
		s = arena_str(r->a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* A reply that is too long to be kept goes without the summary, or not. */
static void
keep_reply(struct run *r, struct wire_turn_reply rep)
{
	struct str *s = &r->ending.reply;

	*s = json_of(r, &wire_turn_reply_desc, &rep, SESSION_EVENT_MAX);
	if (s->p != NULL)
		return;
	rep.response.context_summary = (struct str){ 0 };
	*s = json_of(r, &wire_turn_reply_desc, &rep, SESSION_EVENT_MAX);
	if (s->p == NULL)
		log_warn("turn.reply_not_kept", LOG_V("turn", rep.turn_id));
}

static void
keep_timeline(struct run *r, const char *outcome)
{
	struct buf b = BUF_INIT(SESSION_EVENT_MAX);

	timeline_end(&r->timeline, TIMELINE_STORE, 0, "ok", clock_mono());
	timeline_close(&r->timeline, outcome, clock_mono());
	if (timeline_write(&r->timeline, r->a, &b) == RC_OK)
		r->ending.timeline = arena_str(r->a, buf_str(&b));
	buf_free(&b);
}

static void
add(struct run *r, struct buf *b)
{
	struct turn_events *t = &r->ending.events;
	struct str s = { 0 };

	if (buf_rc(b) == RC_OK)
		s = arena_str(r->a, buf_str(b));
	if (s.p != NULL && t->n < TURN_EVENTS_MAX)
		r->told[t->n++] = s;
	else
		log_error("turn.event_too_large");
	buf_reset(b);
}

/* What was asked for, or that all is done. */
static void
add_last(struct run *r, const struct say *say, struct buf *b)
{
	struct buf prompt = BUF_INIT(PROMPT_MAX);
	char hex[ID_HEX32_MAX];

	if (r->turn.route.n_questions == 0) {
		say_completed(say, b);
	} else {
		reply_questions(&r->turn, &prompt);
		id_hex32(hex);
		say_asks(say, arena_printf(r->a, "ix_%s", hex),
		    reply_clean(buf_str(&prompt), PROMPT_MAX, r->a), b);
		buf_free(&prompt);
	}
	add(r, b);
}

static void
begin(struct run *r)
{
	r->ending = (struct turn_ending){ .events = { .json = r->told } };
	if (r->turn.overflow)
		stream_warn(r, "CALLS_LEFT_OUT",
		    "some calls of the model were left out");
}

void
ending_well(struct run *r)
{
	struct buf b = BUF_INIT(SESSION_EVENT_MAX);
	struct wire_turn_reply rep = ending_reply(r);
	char now[WALL_FORMAT_MAX];
	struct say say = stream_say(r, now);

	begin(r);
	keep_reply(r, rep);
	keep_timeline(r, "stopped");
	r->ending.events.n = stream_last(r, r->reply, r->told);
	struct str payload = json_of(
	    r, &wire_chat_response_desc, &rep.response, SESSION_EVENT_MAX);
	struct str id = str_of(r->stream.message_id);
	say_final(&say, id, r->reply, payload, &b);
	if (buf_rc(&b) != RC_OK) {
		buf_reset(&b);
		say_final(&say, id, r->reply, (struct str){ 0 }, &b);
	}
	add(r, &b);
	add_last(r, &say, &b);
	buf_free(&b);
}

/* Whether something may have been carried out. */
static bool
something_done(const struct turn *t)
{
	for (size_t i = 0; i < t->n_deeds; i++) {
		const struct turn_deed *d = &t->deeds[i];
		if (d->kind == TURN_RECALL)
			continue;
		if (d->outcome == TURN_OK || d->outcome == TURN_NOT_CONFIRMED)
			return true;
		/* A body that failed may have done a part. */
		if (d->kind != TURN_FORGET && d->outcome == TURN_ERROR)
			return true;
	}
	return false;
}

void
ending_badly(struct run *r, const struct wire_turn_reply *rep,
    const struct turn_fault *f)
{
	struct buf b = BUF_INIT(SESSION_EVENT_MAX);
	struct say_fault fault = { "runtime", "canceled",
		"the turn was canceled" };
	char now[WALL_FORMAT_MAX];
	struct say say = stream_say(r, now);

	begin(r);
	keep_reply(r, *rep);
	keep_timeline(r, f != NULL ? "stopped" : "canceled");
	r->ending.forget = !something_done(&r->turn);
	/* Of a turn that never began there is nothing to tell. */
	if (r->begun || f == NULL) {
		r->ending.events.n = stream_last(r, (struct str){ 0 }, r->told);
		if (f != NULL)
			fault = (struct say_fault){ r->engine ? "engine"
							      : "runtime",
				f->code, f->text };
		say_failed(&say, &fault, &b);
		add(r, &b);
	}
	buf_free(&b);
}
