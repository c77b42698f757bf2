/*
 * turn_commit: stores what a turn did and replied, and ends it.
 *
 * The ending is composed once, so that a retry writes the same.  The queue slot
 * is released before the caller gets the result, so that the user's next turn
 * finds it free.
 */
#include <string.h>

#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/metric.h"
#include "handlers.h"
#include "model/model.h"
#include "peer/peer_request.h"
#include "reply/reply_compose.h"
#include "reply/reply_stream.h"
#include "reply/turn_event.h"
#include "state/session.h"
#include "svc/svc.h"
#include "tools/approval.h"
#include "tools/run_report.h"
#include "tools/unconfirmed.h"
#include "turn/commit_times.h"
#include "turn/turn_detail.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "turn/turn_timeline.h"
#include "turn/unasked.h"
#include "wire/msgs.h"
#include "wire/wire.h"

/* Longest question, in bytes. */
#define PROMPT_MAX ((size_t)16 * 1024)

/* ---- the ending: last reply, timeline, last events ---- */

static struct wire_turn_reply
commit_reply(const struct turn_run *r)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_COMPLETED,
		.instance = r->slot.instance,
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
		.has_exec_mode = r->emotion_known,
		.exec_mode = r->emotion.exec_mode,
		.has_exec_probability = r->emotion_known,
		.exec_probability = r->emotion.exec_probability,
		.turn_id = r->slot.turn_id,
	};
	if (r->turn.unasked)
		unasked_put_reply(r, &rep);
	return rep;
}

/* msg as JSON; absent: it is longer than max bytes. */
static struct str
commit_encode(
    struct turn_run *r, const struct wire_desc *d, const void *msg, size_t max)
{
	struct buf b = BUF_INIT(max);
	struct str s = { 0 };

	if (wire_encode(d, msg, &b, NULL) == RC_OK)
		s = arena_str(r->a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* A reply that is too long is stored without the summary, or not at all. */
static void
commit_set_reply(struct turn_run *r, struct wire_turn_reply rep)
{
	struct str *s = &r->ending.reply;

	*s = commit_encode(r, &wire_turn_reply_desc, &rep, EVENTS_TEXT_MAX);
	if (s->p != NULL)
		return;
	rep.response.context_summary = (struct str){ 0 };
	*s = commit_encode(r, &wire_turn_reply_desc, &rep, EVENTS_TEXT_MAX);
	if (s->p == NULL)
		log_warn("turn.reply_not_stored", LOG_V("turn", rep.turn_id));
}

static void
commit_set_timeline(struct turn_run *r, const char *outcome)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);

	timeline_close(r->timeline, outcome, clock_mono());
	if (timeline_write(r->timeline, r->a, &b) == RC_OK)
		r->ending.timeline = arena_str(r->a, buf_str(&b));
	buf_free(&b);
}

static void
commit_add_event(struct turn_run *r, struct buf *b)
{
	struct turn_events *t = &r->ending.events;
	struct str s = { 0 };

	if (buf_rc(b) == RC_OK)
		s = arena_str(r->a, buf_str(b));
	if (s.p != NULL && t->n < TURN_EVENTS_MAX)
		r->final_events[t->n++] = s;
	else
		log_error("turn.event_too_large");
	buf_reset(b);
}

/* The turn's last event: a question to the user, or completion. */
static void
commit_add_final(struct turn_run *r, const struct fcmp_head *h, struct buf *b)
{
	struct fcmp_question q = { .kind = WIRE_QUESTION_KIND_FREE_TEXT };
	struct buf prompt = BUF_INIT(PROMPT_MAX);
	char hex[ID_HEX32_MAX];

	if (approval_question_of(r) != NULL) {
		approval_question(&r->question, &q);
		fcmp_input_required(h, &q, b);
	} else if (r->turn.route.n_questions == 0) {
		fcmp_completed(h, FCMP_STRUCTURED, b);
	} else {
		reply_put_questions(&r->turn, &prompt);
		id_hex32(hex);
		q.interaction_id = arena_printf(r->a, "ix_%s", hex);
		q.prompt = reply_clean(buf_str(&prompt), PROMPT_MAX, r->a);
		fcmp_input_required(h, &q, b);
		buf_free(&prompt);
	}
	commit_add_event(r, b);
}

static void
commit_begin_ending(struct turn_run *r)
{
	r->ending = (struct turn_ending){
		.events = { .json = r->final_events },
		.took_ms = mono_diff_ms(clock_mono(), r->start),
	};
	if (r->turn.overflow)
		reply_stream_warn(r, "CALLS_LEFT_OUT",
		    "some calls of the model were left out");
}

static void
commit_completed(struct turn_run *r)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	struct wire_turn_reply rep = commit_reply(r);
	char now[WALL_FORMAT_MAX];
	struct fcmp_head head = reply_stream_head(r, now);

	commit_begin_ending(r);
	r->ending.approval = approval_save(r);
	/* Only the next turn is shown it. */
	if (r->inner_voice.n > 0)
		r->ending.inner_voice = r->inner_voice;
	else if (r->facts.inner_voice.n > 0)
		r->ending.inner_voice = STR("");
	commit_set_reply(r, rep);
	commit_set_timeline(r, "stopped");
	r->ending.events.n = reply_stream_finish(r, r->reply, r->final_events);
	struct str payload = commit_encode(
	    r, &wire_chat_response_desc, &rep.response, EVENTS_TEXT_MAX);
	struct str id = str_of(r->stream->message_id);
	fcmp_final(&head, id, r->reply, payload, &b);
	if (buf_rc(&b) != RC_OK) {
		buf_reset(&b);
		fcmp_final(&head, id, r->reply, (struct str){ 0 }, &b);
	}
	commit_add_event(r, &b);
	commit_add_final(r, &head, &b);
	buf_free(&b);
}

bool
turn_has_effect(const struct turn *t)
{
	for (size_t i = 0; i < t->n_calls; i++) {
		const struct turn_call *d = &t->calls[i];
		if (d->kind == TURN_RECALL || d->kind == TURN_MORE ||
		    (d->kind == TURN_PROVIDED && d->safety))
			continue;
		if (d->outcome == TURN_OK || d->outcome == TURN_NOT_CONFIRMED)
			return true;
		/* A skill that failed may have been executed in part. */
		if (d->kind != TURN_FORGET && d->outcome == TURN_ERROR)
			return true;
	}
	return false;
}

static struct fcmp_error
commit_error(const struct turn_run *r, const struct turn_error *f)
{
	bool passes = f->status == 429 || (f->status > 500 && f->status < 505);

	return (struct fcmp_error){ r->model_last
		    ? WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_ENGINE
		    : WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
		str_of(f->code), str_of(f->text),
		passes && !turn_has_effect(&r->turn) };
}

static void
commit_not_completed(struct turn_run *r, const struct wire_turn_reply *rep,
    const struct turn_error *f)
{
	struct buf b = BUF_INIT(EVENTS_TEXT_MAX);
	struct fcmp_error error = { WIRE_CHAT_EVENT_DATA_ERROR_CATEGORY_RUNTIME,
		STR("CANCELED"), STR("the turn was canceled"), false };
	char now[WALL_FORMAT_MAX];
	struct fcmp_head head = reply_stream_head(r, now);

	commit_begin_ending(r);
	commit_set_reply(r, *rep);
	commit_set_timeline(r, f != NULL ? "stopped" : "canceled");
	r->ending.forget = r->turn.unasked || !turn_has_effect(&r->turn);
	/* A turn that was never announced has no events, unless it was
	 * canceled; whether it was is not known when Redis did not reply. */
	r->ending.if_begun = f != NULL;
	if (r->announced || (f == NULL && !r->turn.unasked)) {
		r->ending.events.n =
		    reply_stream_finish(r, (struct str){ 0 }, r->final_events);
		if (f != NULL)
			error = commit_error(r, f);
		fcmp_failed(&head, &error, &b);
		commit_add_event(r, &b);
	}
	buf_free(&b);
}

/* ---- storing ---- */

static enum rc
commit_prepare(struct turn_run *r)
{
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->slot.turn_id, turn_now(now) };

	if (r->outcome.n > 0)
		return RC_OK;
	/* A soul that reads of its calls of speak would imitate them. */
	static const struct turn no_calls;
	enum rc rc = history_outcome(r->turn.unasked ? &no_calls : &r->turn,
	    r->reply, &mark, r->a, &r->outcome);
	if (rc == RC_OK)
		commit_completed(r);
	return rc;
}

/* The messages, with the slot released in the same step. */
static enum rc
commit_write(struct turn_run *r)
{
	bool is;

	enum rc rc = turn_load_was_stored(
	    r, WIRE_SESSION_MESSAGES_ITEMS_ROLE_ASSISTANT, &is);
	if (rc != RC_OK)
		return rc; /* still uncertain */
	if (!is)
		rc = commit_prepare(r);
	if (rc == RC_OK && !is)
		rc = turn_finish(r->o->state, &r->slot,
		    &(struct session_new){ r->outcome.list, r->outcome.n,
			unconfirmed_save(r, true), r->outcome.chars },
		    &r->ending, r->a);
	r->append_uncertain = state_may_be_done(rc);
	if (rc == RC_OK)
		queue_slot_left(r);
	return rc;
}

/* It reached nobody: only its record says so. */
static enum rc
commit_unconfirmed(struct turn_run *r)
{
	struct wire_turn_reply rep = commit_reply(r);

	commit_begin_ending(r);
	r->ending.forget = !unasked_is_confirmed(&r->turn);
	commit_set_reply(r, rep);
	commit_set_timeline(r, "stopped");
	return RC_OK;
}

static enum rc
commit_unasked(struct turn_run *r)
{
	enum rc rc;

	if (!unasked_is_confirmed(&r->turn))
		return commit_unconfirmed(r);
	rc = unasked_announce(r);
	/* Its soul is gone, and so is the session. */
	if (rc == RC_NOENT)
		return commit_unconfirmed(r);
	if (rc == RC_OK)
		rc = commit_write(r);
	if (rc == RC_OK &&
	    r->req->unasked.reason ==
		WIRE_TURN_START_REQUEST_UNASKED_REASON_RUN)
		run_report_spoken(r, r->req->unasked.title);
	return rc;
}

/* The question about a call that is not sent without the user's approval. */
static void
commit_set_question(struct turn_run *r)
{
	struct approval_input in = { .call = turn_unapproved(&r->turn),
		.turn_id = r->slot.turn_id,
		.soul_id = r->facts.soul_id,
		.terminal_id = turn_chat(r)->terminal_id,
		.user_text = r->facts.user_text,
		.now = clock_wall().ms };
	enum rc rc;

	if (in.call == NULL || approval_question_of(r) != NULL)
		return;
	rc = approval_make(&in, r->a, &r->question);
	if (rc != RC_OK) {
		log_error("approval.not_asked", LOG_RC(rc));
		r->question.prompt = (struct str){ 0 };
	}
	r->turn.question = r->question.prompt;
}

enum rc
turn_commit(struct turn_run *r, const struct turn_action *a)
{
	bool absent = r->facts.known && !r->facts.present;
	enum rc rc = RC_OK;

	(void)a;
	commit_set_question(r);
	if (r->turn.unasked)
		rc = unasked_compose(r);
	else if (r->reply.p == NULL)
		rc = reply_compose(&r->turn, absent, r->a, &r->reply);
	if (rc == RC_OK)
		rc = reply_skills(&r->turn, r->a, &r->skills);
	if (rc == RC_OK)
		rc = r->turn.unasked ? commit_unasked(r) : commit_write(r);
	if (rc == RC_OK) {
		run_report_done(r);
		perception_count_unsaved(r);
		turn_feed(r,
		    &(struct turn_event){ .kind = TURN_COMMITTED,
			.saved = r->ending.soul_saved });
	}
	return rc;
}

/* What a turn without a reply has done, as well as that is possible now. */
static void
commit_calls(struct turn_run *r)
{
	char now[WALL_FORMAT_MAX];
	struct history_mark mark = { r->slot.turn_id, turn_now(now) };
	struct history_stored s = { .n = 0 };

	enum rc rc = reply_skills(&r->turn, r->a, &r->skills);
	if (r->turn.n_calls == 0 || r->turn.unasked)
		return;
	if (rc == RC_OK)
		rc = history_outcome(
		    &r->turn, (struct str){ 0 }, &mark, r->a, &s);
	if (rc == RC_OK && s.n > 0)
		rc = turn_append_messages(r->o->state, &r->slot,
		    &(struct session_new){
			s.list, s.n, unconfirmed_save(r, false), s.chars });
	if (rc != RC_OK && rc != RC_CONFLICT)
		log_warn("turn.calls_not_stored",
		    LOG_V("turn", r->slot.turn_id), LOG_RC(rc));
}

/* ---- ending ---- */

static void
commit_cancel_pending(struct turn_run *r)
{
	peer_request_cancel_all(r);
	dispatch_cancel_all(r);
	provided_call_cancel_all(r);
	completion_cancel(r);
}

/* The turn's arena is freed with the call. */
static void
commit_end_call(struct turn_run *r, const struct wire_turn_reply *rep)
{
	struct turn_detail_record *detail;
	struct svc_call *c = r->c;

	queue_slot_leave(r);
	if (rep->has_error)
		turn_trace_end(r, rep->error.code.p);
	else
		turn_trace_end(r,
		    rep->state == WIRE_TURN_REPLY_STATE_CANCELED ? "canceled"
								 : NULL);
	r->ended = true;
	turn_run_stop_timers(r);
	log_debug("turn.ended", LOG_I("state", rep->state),
	    LOG_I("ms", mono_diff_ms(clock_mono(), r->start)));
	detail = turn_detail_take(r, rep);
	svc_reply(c, rep);
	turn_detail_store(detail);
}

static bool
commit_may_be_long(const struct orch *o, const struct turn_ending *end)
{
	return !end->summary_requested &&
	    (!end->length_known ||
		end->length.messages >= o->conf->long_messages ||
		end->length.chars >= o->conf->long_chars);
}

/* Request a summary of a long session, in the background. */
static void
commit_request_summary(struct orch *o, const struct session_key *k)
{
	struct session_length least = { o->conf->long_messages,
		o->conf->long_chars };
	bool requested;

	enum rc rc = session_request_summary(o->state, k, &least, &requested);
	if (rc != RC_OK)
		log_debug("session.length_unknown", LOG_RC(rc));
	else if (requested)
		log_debug("session.long", LOG_V("session", k->session_id));
}

enum rc
turn_end_reply(struct turn_run *r, const struct turn_action *a)
{
	char user[ID_MAX + 1], session[ID_MAX + 1];
	struct wire_turn_reply rep = commit_reply(r);

	(void)a;
	commit_cancel_pending(r);
	if (r->turn.unsaved) {
		r->save_rc = RC_TIMEOUT;
		perception_count_unsaved(r);
	}
	bool confirmed = !r->turn.unasked || unasked_is_confirmed(&r->turn);
	if (confirmed) {
		turn_publish_response(r);
		turn_publish_completed(
		    r, WIRE_TURN_COMPLETED_STATE_COMPLETED, NULL);
	}
	metric_add(r->o->metrics.completed, 1);
	commit_times_add(r->o->commit_times, &r->slot,
	    timeline_took_us(r->timeline, TIMELINE_COMMIT));
	/* They are freed with the call. */
	str_copy(r->slot.key.user_id, user, sizeof(user));
	str_copy(r->slot.key.session_id, session, sizeof(session));
	struct orch *o = r->o;
	bool may_be_long = confirmed && commit_may_be_long(o, &r->ending);
	commit_end_call(r, &rep);
	if (may_be_long)
		commit_request_summary(
		    o, &(struct session_key){ str_of(user), str_of(session) });
	return RC_OK;
}

enum rc
turn_end_fail(struct turn_run *r, const struct turn_action *a)
{
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_FAILED,
		.instance = r->slot.instance,
		.has_status = true,
		.status = a->error.status,
		.has_error = true,
		.error = { .error = str_of(a->error.text),
		    .code = str_of(a->error.code),
		    .reason = str_of(completion_error_reason(r, &a->error)),
		    .trace_id = str_of(r->trace.trace_id) } };

	commit_cancel_pending(r);
	commit_calls(r);
	commit_not_completed(r, &rep, &a->error);
	log_warn("turn.failed", LOG_V("turn", r->slot.turn_id),
	    LOG_S("code", a->error.code), LOG_S("why", a->error.text));
	turn_publish_completed(
	    r, WIRE_TURN_COMPLETED_STATE_FAILED, a->error.code);
	metric_add(r->o->metrics.failed, 1);
	commit_end_call(r, &rep);
	return RC_OK;
}

enum rc
turn_end_canceled(struct turn_run *r, const struct turn_action *a)
{
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_CANCELED,
		.instance = r->slot.instance };

	(void)a;
	commit_cancel_pending(r);
	commit_calls(r);
	commit_not_completed(r, &rep, NULL);
	turn_publish_completed(r, WIRE_TURN_COMPLETED_STATE_CANCELED, NULL);
	metric_add(r->o->metrics.canceled, 1);
	commit_end_call(r, &rep);
	return RC_OK;
}

void
turn_end_repeated(struct turn_run *r, struct str first)
{
	struct wire_turn_reply rep = { .turn_id = r->slot.turn_id,
		.state = WIRE_TURN_REPLY_STATE_REPEATED,
		.instance = r->slot.instance,
		.first = first };
	struct svc_call *c = r->c;

	metric_add(r->o->metrics.repeated, 1);
	peer_request_cancel_all(r);
	log_info("turn.repeated", LOG_V("turn", r->slot.turn_id),
	    LOG_V("first", first));
	turn_run_free(r);
	svc_reply(c, &rep);
}

void
turn_end_as_before(struct turn_run *r, const struct wire_turn_reply *rep)
{
	struct svc_call *c = r->c;

	metric_add(r->o->metrics.repeated, 1);
	turn_run_free(r);
	svc_reply(c, rep);
}
