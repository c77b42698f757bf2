/*
 * perception: the requests to emotion-engine, intent-filter and memory-worker
 * before a turn is routed, all in parallel.
 */
#include "context.h"
#include "core/log.h"
#include "core/metric.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "tools/intent_route.h"
#include "turn/turn_runner.h"
#include "turn/turn_steps.h"
#include "wire/msgs.h"
#include "wire/subjects.h"

/* How long memory-worker is not requested after a timeout. */
#define MEMORY_SKIP_MS 1000
/* … and after it was ready; a search that fails ends it. */
#define MEMORY_READY_MS 1000

/* A request to intent-filter, a pure function, is resent after that. */
#define FILTER_RESEND_MS 200
/* Least time left for another request. */
#define FILTER_LEAST_MS 100

/* How the catalog is sent; the "call" of the request. */
enum filter_catalog { FILTER_CATALOG_REF, FILTER_CATALOG_WHOLE };

static bool
perception_is_unsaved(const void *msg)
{
	const struct wire_emotion_observe_reply *rep = msg;

	return !rep->saved;
}

void
perception_count_unsaved(struct turn_run *r)
{
	if (r->save_rc != RC_OK && !r->ending.soul_saved) {
		metric_add(r->o->metrics.emotion_unsaved, 1);
		log_warn("turn.soul_not_saved", LOG_V("turn", r->slot.turn_id),
		    LOG_V("soul", r->facts.soul_id), LOG_RC(r->save_rc));
	}
	r->save_rc = RC_OK;
}

/*
 * The first reply decides on the gate; a second one tells of the save, if the
 * turn's record was written before it.  Until then its absence says nothing.
 */
static void
perception_on_emotion(
    struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = r->observed ? TURN_EMOTION_SAVED
						    : TURN_EMOTION_REPLY,
		.known = rc == RC_OK };

	(void)call;
	if (rc == RC_OK) {
		r->emotion = *(const struct wire_emotion_observe_reply *)msg;
		r->emotion_known = true;
		e.mode = r->emotion.exec_mode;
		e.unsaved = perception_is_unsaved(msg);
	} else if (r->observed) {
		r->save_rc = rc;
		if (r->turn.committed)
			perception_count_unsaved(r);
	}
	r->observed = true;
	turn_feed(r, &e);
}

enum rc
perception_observe_emotion(struct turn_run *r, const struct turn_action *a)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_emotion_observe_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.broker = r->facts.present ? r->facts.broker : STR(""),
		.turn_id = r->slot.turn_id,
		.text = r->facts.user_text,
		.early = true };

	(void)a;
	peer_request_send(r,
	    &(struct peer_request_opts){
		.subject = WIRE_SUBJECT_EMOTION_OBSERVE,
		.request = &wire_emotion_observe_request_desc,
		.msg = &m,
		.reply = &wire_emotion_observe_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_EMOTION_OBSERVE,
		.fn = perception_on_emotion,
		.is_partial = perception_is_unsaved });
	return RC_OK;
}

static void perception_on_intents(
    struct turn_run *r, size_t call, enum rc rc, const void *msg);

/* All requests of a turn share one deadline. */
static void
perception_send_filter(struct turn_run *r, size_t call, peer_reply_fn fn)
{
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = WIRE_SUBJECT_INTENT_FILTER,
		.json = buf_str(&r->facts.filter),
		.reply = &wire_intent_filter_response_desc,
		.timeout_ms = r->facts.filter_deadline.ms - clock_wall().ms,
		.resend_ms = FILTER_RESEND_MS,
		.call = call,
		.fn = fn });
	buf_free(&r->facts.filter);
}

/*
 * The catalog may have changed since it was referenced, or intent-filter cannot
 * read it, or is too old for references: then the whole catalog is sent, once.
 */
static void
perception_resend_filter(struct turn_run *r, size_t arg)
{
	(void)arg;
	if (turn_load_catalog(r))
		perception_send_filter(
		    r, FILTER_CATALOG_WHOLE, perception_on_intents);
	else
		turn_feed_kind(r, TURN_INTENT_REPLY);
}

static bool
perception_may_resend(const struct turn_run *r, size_t call, enum rc rc)
{
	bool unknown = rc == RC_CONFLICT || rc == RC_NOENT || rc == RC_DOWN ||
	    rc == RC_INVALID;
	int64_t left_ms = r->facts.filter_deadline.ms - clock_wall().ms;

	return unknown && call != FILTER_CATALOG_WHOLE &&
	    left_ms >= FILTER_LEAST_MS;
}

/* If intent-filter fails the turn is left to the model. */
static void
perception_on_intents(
    struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	struct turn_event e = { .kind = TURN_INTENT_REPLY };
	struct turn_route route;
	struct intent_route_input in = { .response = msg,
		.tools = r->facts.tools,
		.command = r->facts.user_text,
		.turn_id = r->slot.turn_id };

	if (perception_may_resend(r, call, rc)) {
		turn_do(r, perception_resend_filter, 0);
		return;
	}
	if (rc == RC_OK)
		rc = intent_route_read(&in, r->a, &route);
	if (rc == RC_OK) {
		r->intents = msg;
		e.known = true;
		e.route = &route;
	}
	turn_feed(r, &e);
}

static void
perception_on_early(
    struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	if (!r->early.sent)
		return; /* it does not count any more */
	r->early.replied = true;
	r->early.rc = rc;
	r->early.reply = msg;
	if (r->early.wanted)
		perception_on_intents(r, call, rc, msg);
}

void
perception_filter_early(struct turn_run *r)
{
	r->facts.filter_deadline =
	    turn_deadline(r, WIRE_DEADLINE_MS_INTENT_FILTER);
	perception_send_filter(r, FILTER_CATALOG_REF, perception_on_early);
	r->early.sent = true;
}

enum rc
perception_filter_intents(struct turn_run *r, const struct turn_action *a)
{
	(void)a;
	if (r->early.sent) {
		r->early.wanted = true;
		if (r->early.replied)
			perception_on_intents(
			    r, FILTER_CATALOG_REF, r->early.rc, r->early.reply);
		return RC_OK;
	}
	r->facts.filter_deadline =
	    turn_deadline(r, WIRE_DEADLINE_MS_INTENT_FILTER);
	perception_send_filter(r, FILTER_CATALOG_REF, perception_on_intents);
	return RC_OK;
}

/*
 * After a timeout memory-worker is skipped for a while, so that it does not
 * delay every turn.
 */
static void
perception_on_memory(
    struct turn_run *r, size_t call, enum rc rc, const void *msg)
{
	const struct wire_memory_ready_reply *rep = msg;
	struct turn_event e = { .kind = TURN_MEMORY_REPLY,
		.known = rc == RC_OK && rep->ready };

	(void)call;
	if (rc == RC_TIMEOUT)
		r->o->memory_skip_until =
		    mono_add_ms(clock_mono(), MEMORY_SKIP_MS);
	if (e.known)
		r->o->memory_ready_until =
		    mono_add_ms(clock_mono(), MEMORY_READY_MS);
	turn_feed(r, &e);
}

enum rc
perception_check_memory(struct turn_run *r, const struct turn_action *a)
{
	struct wire_memory_ready_request m = { .user_id = r->req->user_id,
		.soul_id = r->facts.soul_id };
	struct turn_event e = { .kind = TURN_MEMORY_REPLY };
	struct mono now = clock_mono();

	(void)a;
	e.known = mono_diff_ns(r->o->memory_ready_until, now) > 0;
	if (e.known || mono_diff_ns(r->o->memory_skip_until, now) > 0) {
		turn_feed(r, &e);
		return RC_OK;
	}
	peer_request_send(r,
	    &(struct peer_request_opts){ .subject = WIRE_SUBJECT_MEMORY_READY,
		.request = &wire_memory_ready_request_desc,
		.msg = &m,
		.reply = &wire_memory_ready_reply_desc,
		.timeout_ms = WIRE_DEADLINE_MS_MEMORY_READY,
		.no_retry = true,
		.fn = perception_on_memory });
	return RC_OK;
}
