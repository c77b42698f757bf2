/*
 * The many answers to a turn, which end in one for the client.
 */
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "cancel.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "follow.h"
#include "gateway.h"
#include "state/events.h"
#include "svc/svc.h"
#include "turn_own.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* An orchestrator that says nothing for so long has lost the turn. */
#define SILENCE_MS 6000

struct svc_call *
turn_end(struct turn *t)
{
	struct loop *l = svc_loop(t->g->svc);
	struct svc_call *c = t->c;

	loop_timer_cancel(l, &t->silence);
	loop_timer_cancel(l, &t->record);
	if (t->request != 0)
		bus_request_cancel(svc_bus(t->g->svc), t->request);
	follow_close(t->follow);
	free(t);
	return c;
}

void
turn_fail(struct turn *t, const struct svc_error *e)
{
	/* Whoever reads a stream finds the end in the session's events. */
	if (t->begun &&
	    svc_stream_comment(t->c, "the end of this turn is not known") !=
		RC_OK)
		log_debug("gateway.reader_gone", LOG_S("turn", t->id));
	const char *reason = t->reason;
	svc_fail_because(turn_end(t), e, reason);
}

void
turn_lose_as(struct turn *t, const char *why, const char *text)
{
	log_warn("gateway.turn_lost", LOG_S("turn", t->id), LOG_S("why", why));
	turn_fail(
	    t, &(struct svc_error){ TURN_LOST_STATUS, TURN_LOST_CODE, text });
}

void
turn_lose(struct turn *t, const char *why)
{
	turn_lose_as(t, why, TURN_LOST_TEXT);
}

static void
on_silence(void *arg)
{
	struct turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	turn_was_silent(t);
	log_trace_set("");
}

static void
wait_on(struct turn *t)
{
	loop_timer_set(svc_loop(t->g->svc), &t->silence,
	    mono_add_ms(clock_mono(), SILENCE_MS), on_silence, t);
}

/* Answer with an error of another service's, or what stands for it. */
static void
pass_on(struct turn *t, const struct wire_error *e, struct svc_error other)
{
	struct arena *a = svc_call_arena(t->c);
	struct str code = arena_str(a, e->code);
	struct str text = arena_str(a, e->error);
	struct str reason = arena_str(a, e->reason);

	t->reason = reason.p;
	if (code.p != NULL)
		other.code = code.p;
	if (text.p != NULL)
		other.text = text.p;
	turn_fail(t, &other);
}

void
turn_conclude(struct turn *t, const struct wire_turn_reply *rep)
{
	if (t->stream && turn_stream_end(t, rep))
		return;
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED) {
		turn_fail(t,
		    &(struct svc_error){
			409, "canceled", "the turn was canceled" });
	} else if (rep->state == WIRE_TURN_REPLY_STATE_FAILED) {
		pass_on(t, &rep->error,
		    (struct svc_error){
			rep->has_status ? (int)rep->status : 500,
			rc_name(RC_BUG), "the turn failed" });
	} else if (rep->has_response) {
		svc_reply(turn_end(t), &rep->response);
	} else {
		turn_lose(t, "no response");
	}
}

static void
take_reply(struct turn *t, const struct wire_turn_reply *rep)
{
	switch (rep->state) {
	case WIRE_TURN_REPLY_STATE_ACCEPTED:
	case WIRE_TURN_REPLY_STATE_RUNNING:
		wait_on(t);
		break;
	case WIRE_TURN_REPLY_STATE_REPEATED:
		turn_repeats(t, rep->first);
		break;
	case WIRE_TURN_REPLY_STATE_COMPLETED:
	case WIRE_TURN_REPLY_STATE_FAILED:
	case WIRE_TURN_REPLY_STATE_CANCELED:
		turn_conclude(t, rep);
		break;
	}
}

/* The turn was not begun: an error instead of a reply. */
static void
take_error(struct turn *t, enum rc rc, struct str data)
{
	struct wire_error e = { 0 };

	if (wire_decode(&wire_error_desc, data, svc_call_arena(t->c), &e,
		NULL) != RC_OK)
		e = (struct wire_error){ 0 };
	if (rc == RC_TIMEOUT)
		turn_fail(t,
		    &(struct svc_error){
			rc_http_status(rc), rc_name(rc), "deadline exceeded" });
	else if (rc == RC_RETRY)
		pass_on(t, &e,
		    (struct svc_error){ 429, rc_name(rc), "overloaded" });
	else
		pass_on(t, &e,
		    (struct svc_error){
			rc_http_status(rc), rc_name(rc), "the turn failed" });
}

/* An answer that is none of ours ends the turn: what it says is unknown. */
static void
on_reply(void *arg, enum rc rc, struct str data)
{
	struct turn *t = arg;
	struct wire_turn_reply rep;
	struct wire_err err;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	if (rc == RC_OK) {
		rc = wire_decode(&wire_turn_reply_desc, data,
		    svc_call_arena(t->c), &rep, &err);
		if (rc == RC_OK)
			take_reply(t, &rep);
		else
			turn_give_up(t, err.why);
	} else if (rc == RC_NOENT && data.n == 0) {
		turn_fail(t,
		    &(struct svc_error){ rc_http_status(RC_DOWN),
			rc_name(RC_DOWN),
			"no llm-orchestrator is running; try again" });
	} else if (rc == RC_DOWN && data.n == 0) {
		/* NATS went away, and its answers with it. */
		turn_of_record(t);
	} else {
		take_error(t, rc, data);
	}
	log_trace_set("");
}

static enum rc
begin(struct turn *t)
{
	const struct wire_chat_request *req = svc_call_request(t->c);
	char now[WALL_FORMAT_MAX];
	struct wire_turn_start_request start = {
		.turn_id = str_of(t->id),
		.user_id = t->key.user_id,
		.chat = *req,
	};
	struct bus_meta meta = { .deadline = svc_call_deadline(t->c),
		.trace = svc_call_trace(t->c) };
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	wall_format(clock_wall(), 0, now);
	start.received_at = str_of(now);
	start.chat.stream = t->stream;
	start.chat.user_id = t->key.user_id;
	rc = wire_encode(&wire_turn_start_request_desc, &start, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(t->g->svc), WIRE_SUBJECT_TURN_START,
		    buf_str(&out), &meta,
		    (struct bus_reply_handler){
			.fn = on_reply, .arg = t, .many = true },
		    &t->request);
	buf_free(&out);
	return rc;
}

/* The turn goes on, unless that was not wanted. */
static void
on_gone(void *arg)
{
	struct turn *t = arg;
	struct cancel_opts o = { str_of(t->id), t->key.user_id,
		STR("the client hung up"), svc_call_trace(t->c), NULL, NULL };

	log_info("gateway.client_gone", LOG_S("turn", t->id),
	    LOG_I("cancel", t->cancel));
	if (t->cancel)
		cancel_turn(t->g, &o);
	svc_fail(turn_end(t), RC_DOWN, "the client hung up");
}

/* Events from before the turn are none of its; false: t has ended. */
static bool
listen(struct turn *t)
{
	int64_t newest = 0;
	enum rc rc = RC_OK;

	if (t->stream)
		rc = events_newest(t->g->state, &t->key, &newest);
	if (rc != RC_OK) {
		gateway_fail(turn_end(t), rc);
		return false;
	}
	if (t->stream && !turn_follow(t, newest))
		return false;
	if ((t->stream || t->cancel) &&
	    svc_call_on_gone(t->c, on_gone, t) != RC_OK) {
		svc_fail(turn_end(t), RC_DOWN, "the client hung up");
		return false;
	}
	return true;
}

void
turn_start(struct gateway *g, struct svc_call *c, struct str user, bool stream)
{
	const struct wire_chat_request *req = svc_call_request(c);
	struct turn *t = mem_zalloc(sizeof(*t));
	char hex[ID_HEX32_MAX];
	enum rc rc;

	t->g = g;
	t->c = c;
	t->stream = stream;
	t->cancel = req->cancel_on_disconnect;
	t->key = (struct session_key){ user, req->session_id };
	id_hex32(hex);
	(void)snprintf(t->id, sizeof(t->id), "turn_%s", hex);
	if (!listen(t))
		return;
	rc = begin(t);
	if (rc == RC_OK)
		wait_on(t);
	else
		gateway_fail_bus(turn_end(t), rc);
}
