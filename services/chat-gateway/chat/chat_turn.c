/*
 * POST /v1/chat: validates the request, starts the turn on an orchestrator and
 * turns its many replies into one response.
 */
#include "chat/chat_turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "fcmp/fcmp_read.h"
#include "gateway.h"
#include "handlers.h"
#include "state/session.h"
#include "state/terminal.h"
#include "streams/event_follower.h"
#include "svc/svc.h"
#include "terminals/binding.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* A turn is lost if the orchestrator sends nothing for this long. */
#define SILENCE_MS 6000

struct svc_call *
chat_turn_release(struct chat_turn *t)
{
	struct loop *l = svc_loop(t->g->svc);
	struct svc_call *c = t->c;

	loop_timer_cancel(l, &t->silence);
	loop_timer_cancel(l, &t->record);
	if (t->request != 0)
		bus_request_cancel(svc_bus(t->g->svc), t->request);
	t->request = 0;
	follower_close(t->follower);
	t->follower = NULL;
	t->released = true;
	if (t->users == 0)
		free(t);
	return c;
}

void
chat_turn_enter(struct chat_turn *t)
{
	t->users++;
}

void
chat_turn_leave(struct chat_turn *t)
{
	if (--t->users == 0 && t->released)
		free(t);
}

void
chat_turn_fail(struct chat_turn *t, const struct svc_error *e)
{
	/* A reader of the stream finds the outcome in the session's events. */
	if (t->begun && t->form != NULL)
		t->form->fail(t, e);
	else if (t->begun &&
	    svc_sse_comment(t->c, "the end of this turn is not known") != RC_OK)
		log_debug("gateway.reader_disconnected", LOG_S("turn", t->id));
	const char *reason = t->reason;
	svc_fail_because(chat_turn_release(t), e, reason);
}

void
chat_turn_lose_as(struct chat_turn *t, const char *why, const char *text)
{
	log_warn("gateway.turn_lost", LOG_S("turn", t->id), LOG_S("why", why));
	chat_turn_fail(
	    t, &(struct svc_error){ TURN_LOST_STATUS, TURN_LOST_CODE, text });
}

void
chat_turn_lose(struct chat_turn *t, const char *why)
{
	chat_turn_lose_as(t, why, FCMP_TURN_LOST_TEXT);
}

static void
chat_turn_recover_silent(void *arg)
{
	struct chat_turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	chat_turn_enter(t);
	turn_recovery_on_silence(t);
	chat_turn_leave(t);
}

static void
chat_turn_on_silence(void *arg)
{
	fiber_start(chat_turn_recover_silent, arg);
}

static void
chat_turn_wait(struct chat_turn *t)
{
	loop_timer_set(svc_loop(t->g->svc), &t->silence,
	    mono_add_ms(clock_mono(), SILENCE_MS), chat_turn_on_silence, t);
}

/* Respond with the error of another service, or with a default. */
static void
chat_turn_pass_error(
    struct chat_turn *t, const struct wire_error *e, struct svc_error other)
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
	chat_turn_fail(t, &other);
}

void
chat_turn_finish(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	if (t->stream && turn_sse_finish(t, rep))
		return;
	if (rep->state == WIRE_TURN_REPLY_STATE_CANCELED) {
		chat_turn_fail(t,
		    &(struct svc_error){
			409, "canceled", "the turn was canceled" });
	} else if (rep->state == WIRE_TURN_REPLY_STATE_FAILED) {
		chat_turn_pass_error(t, &rep->error,
		    (struct svc_error){
			rep->has_status ? (int)rep->status : 500,
			rc_name(RC_BUG), "the turn failed" });
	} else if (rep->has_response && t->form != NULL) {
		t->form->reply(t, &rep->response);
	} else if (rep->has_response) {
		svc_reply(chat_turn_release(t), &rep->response);
	} else {
		chat_turn_lose(t, "no response");
	}
}

/* Whether the response is that the turn was accepted. */
static bool
chat_turn_is_background(const struct chat_turn *t)
{
	return t->form != NULL && t->form->accepted != NULL && !t->stream;
}

static void
chat_turn_take_repeated(struct chat_turn *t, struct str first)
{
	if (first.p == NULL || !chat_turn_is_background(t)) {
		turn_recovery_follow(t, first);
		return;
	}
	str_copy(first, t->id, sizeof(t->id));
	t->form->accepted(t);
}

static void
chat_turn_take_reply(struct chat_turn *t, const struct wire_turn_reply *rep)
{
	switch (rep->state) {
	case WIRE_TURN_REPLY_STATE_ACCEPTED:
	case WIRE_TURN_REPLY_STATE_RUNNING:
		if (chat_turn_is_background(t))
			t->form->accepted(t);
		else
			chat_turn_wait(t);
		break;
	case WIRE_TURN_REPLY_STATE_REPEATED:
		chat_turn_take_repeated(t, rep->first);
		break;
	case WIRE_TURN_REPLY_STATE_COMPLETED:
	case WIRE_TURN_REPLY_STATE_FAILED:
	case WIRE_TURN_REPLY_STATE_CANCELED:
		chat_turn_finish(t, rep);
		break;
	}
}

/* The turn did not start. */
static void
chat_turn_take_error(struct chat_turn *t, enum rc rc, struct str data)
{
	struct wire_error e = { 0 };

	if (wire_decode(&wire_error_desc, data, svc_call_arena(t->c), &e,
		NULL) != RC_OK)
		e = (struct wire_error){ 0 };
	if (rc == RC_TIMEOUT)
		chat_turn_fail(t,
		    &(struct svc_error){
			rc_http_status(rc), rc_name(rc), "deadline exceeded" });
	else if (rc == RC_RETRY)
		chat_turn_pass_error(t, &e,
		    (struct svc_error){ 429, rc_name(rc), "overloaded" });
	else
		chat_turn_pass_error(t, &e,
		    (struct svc_error){
			rc_http_status(rc), rc_name(rc), "the turn failed" });
}

/* A reply on its way into a fiber. */
struct chat_turn_reply {
	struct chat_turn *t;
	enum rc rc;
	struct str data;
};

/* An invalid reply ends the turn: its outcome is unknown. */
static void
chat_turn_take(void *arg)
{
	const struct chat_turn_reply *reply = arg;
	struct chat_turn *t = reply->t;
	struct str data = reply->data;
	struct wire_turn_reply rep;
	struct wire_err err;
	enum rc rc = reply->rc;

	chat_turn_enter(t);
	log_trace_set(svc_call_trace(t->c)->trace_id);
	if (rc == RC_OK) {
		rc = wire_decode(&wire_turn_reply_desc, data,
		    svc_call_arena(t->c), &rep, &err);
		if (rc == RC_OK)
			chat_turn_take_reply(t, &rep);
		else
			turn_recovery_abandon(t, err.why);
	} else if (rc == RC_NOENT && data.n == 0) {
		chat_turn_fail(t,
		    &(struct svc_error){ rc_http_status(RC_DOWN),
			rc_name(RC_DOWN),
			"no llm-orchestrator is running; try again" });
	} else if (rc == RC_DOWN && data.n == 0) {
		/* NATS went down and replies may be lost. */
		turn_recovery_start(t);
	} else {
		chat_turn_take_error(t, rc, data);
	}
	chat_turn_leave(t);
}

/* data is not valid any more once the fiber has waited. */
static void
chat_turn_on_reply(void *arg, enum rc rc, struct str data)
{
	struct chat_turn_reply reply = { arg, rc, data };

	fiber_start(chat_turn_take, &reply);
}

/* Longer skills are left to the orchestrator to read. */
#define SKILLS_MAX 65536

static void
chat_turn_put_terminal(
    struct wire_turn_start_request *start, const struct terminal *t)
{
	if (t == NULL || t->soul_id.p == NULL || t->skills.n > SKILLS_MAX)
		return;
	start->has_terminal = true;
	start->terminal = (struct wire_turn_start_request_terminal){
		.soul_id = t->soul_id,
		.broker = t->broker,
		.present = t->present,
		.skills = t->skills,
		.catalog_hash = t->catalog_hash,
		.catalog_bytes = (int64_t)t->catalog_bytes,
	};
}

static enum rc
chat_turn_send(struct chat_turn *t, const struct terminal *terminal)
{
	char now[WALL_FORMAT_MAX];
	struct wire_turn_start_request start = {
		.turn_id = str_of(t->id),
		.user_id = t->key.user_id,
		.chat = *t->chat,
		.has_interaction = t->interaction_id.n > 0,
		.interaction = { t->interaction_id, t->content },
	};
	struct bus_meta meta = { .deadline = svc_call_deadline(t->c),
		.trace = svc_call_trace(t->c) };
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	wall_format(clock_wall(), 0, now);
	start.received_at = str_of(now);
	start.chat.stream = t->stream;
	start.chat.user_id = t->key.user_id;
	chat_turn_put_terminal(&start, terminal);
	rc = wire_encode(&wire_turn_start_request_desc, &start, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(t->g->svc), WIRE_SUBJECT_TURN_START,
		    buf_str(&out), &meta,
		    (struct bus_reply_handler){
			.fn = chat_turn_on_reply, .arg = t, .many = true },
		    &t->request);
	buf_free(&out);
	return rc;
}

/* The turn continues, unless the client asked for its cancellation. */
static void
chat_turn_on_disconnect(void *arg)
{
	struct chat_turn *t = arg;
	struct turn_cancel_opts o = { str_of(t->id), t->key.user_id,
		STR("the client hung up"), svc_call_trace(t->c), NULL, NULL };

	log_info("gateway.client_disconnected", LOG_S("turn", t->id),
	    LOG_I("cancel", t->cancel));
	if (t->cancel)
		turn_cancel_start(t->g, &o);
	svc_fail(chat_turn_release(t), RC_DOWN, "the client hung up");
}

/* Events from before the turn are skipped.  False: t has ended. */
static bool
chat_turn_listen(struct chat_turn *t)
{
	const struct events_key log = events_of_session(&t->key);
	int64_t newest = 0;
	enum rc rc = RC_OK;

	if (t->stream)
		rc = events_newest(t->g->state, &log, &newest);
	if (rc != RC_OK) {
		gateway_fail(chat_turn_release(t), rc);
		return false;
	}
	if (t->stream && !turn_sse_start(t, newest))
		return false;
	if ((t->stream || t->cancel) &&
	    svc_call_on_abort(t->c, chat_turn_on_disconnect, t) != RC_OK) {
		svc_fail(chat_turn_release(t), RC_DOWN, "the client hung up");
		return false;
	}
	return true;
}

void
chat_turn_start(struct gateway *g, struct svc_call *c, struct str user,
    const struct chat_turn_request *req)
{
	const struct wire_chat_request *chat = req->chat;
	struct chat_turn *t = mem_zalloc(sizeof(*t));
	char hex[ID_HEX32_MAX];
	enum rc rc;

	t->g = g;
	t->c = c;
	t->chat = chat;
	t->interaction_id = req->interaction_id;
	t->content = req->content;
	t->form = req->form;
	t->form_arg = req->form_arg;
	t->stream =
	    chat->stream || turn_sse_accepted(svc_call_header(c, "Accept"));
	t->cancel = chat->cancel_on_disconnect;
	t->key = (struct session_key){ user, chat->session_id };
	id_hex32(hex);
	(void)snprintf(t->id, sizeof(t->id), "turn_%s", hex);
	if (!chat_turn_listen(t))
		return;
	rc = chat_turn_send(t, req->terminal);
	if (rc == RC_OK)
		chat_turn_wait(t);
	else
		gateway_fail_bus(chat_turn_release(t), rc);
}

#define NO_TEXT                                                               \
	"currently only input.type=keyboard_text|speech_text with non-empty " \
	"text is supported"

static bool
chat_turn_has_text(const struct wire_chat_request *req)
{
	size_t i;

	for (i = 0; i < req->n_inputs; i++) {
		if ((req->inputs[i].type ==
			    WIRE_CHAT_REQUEST_INPUTS_TYPE_KEYBOARD_TEXT ||
			req->inputs[i].type ==
			    WIRE_CHAT_REQUEST_INPUTS_TYPE_SPEECH_TEXT) &&
		    gateway_trim_text(req->inputs[i].text).n > 0)
			return true;
	}
	return false;
}

void
on_chat(void *app, struct svc_call *c)
{
	struct gateway *g = app;
	struct terminal terminal;
	struct str user;

	if (!chat_turn_has_text(svc_call_request(c)))
		svc_fail(c, RC_INVALID, NO_TEXT);
	else if (binding_check(g, c, &user, &terminal))
		chat_turn_start(g, c, user,
		    &(struct chat_turn_request){
			.chat = svc_call_request(c), .terminal = &terminal });
}
