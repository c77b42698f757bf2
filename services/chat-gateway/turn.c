/*
 * The many answers to a turn, which end in one for the client.
 */
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "gateway.h"
#include "svc/svc.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* An orchestrator that says nothing for so long has lost the turn. */
#define SILENCE_MS 6000

/* A turn that waits for its answers. */
struct turn {
	struct gateway *g;
	struct svc_call *c;
	struct loop_timer silence;
	uint64_t request;
	char id[64];
};

/* Forget the turn; its call is the caller's to end. */
static struct svc_call *
turn_end(struct turn *t)
{
	struct svc_call *c = t->c;

	loop_timer_cancel(svc_loop(t->g->svc), &t->silence);
	bus_cancel(svc_bus(t->g->svc), t->request);
	free(t);
	return c;
}

static void
lose(struct turn *t, const char *why)
{
	log_warn("gateway.turn_lost", LOG_S("turn", t->id), LOG_S("why", why));
	svc_fail_as(turn_end(t),
	    &(struct svc_error){ 502, "turn_lost", "the turn was lost" });
}

static void
on_silence(void *arg)
{
	struct turn *t = arg;

	log_trace_set(svc_call_trace(t->c)->trace_id);
	lose(t, "silence");
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
	struct svc_call *c = turn_end(t);
	struct str code = arena_str(svc_call_arena(c), e->code);
	struct str text = arena_str(svc_call_arena(c), e->error);

	if (code.p != NULL)
		other.code = code.p;
	if (text.p != NULL)
		other.text = text.p;
	svc_fail_as(c, &other);
}

static void
take_reply(struct turn *t, const struct wire_turn_reply *rep)
{
	switch (rep->state) {
	case WIRE_TURN_REPLY_STATE_ACCEPTED:
	case WIRE_TURN_REPLY_STATE_RUNNING:
		wait_on(t);
		break;
	case WIRE_TURN_REPLY_STATE_COMPLETED:
		if (rep->has_response)
			svc_reply(turn_end(t), &rep->response);
		else
			lose(t, "no response");
		break;
	case WIRE_TURN_REPLY_STATE_FAILED:
		pass_on(t, &rep->error,
		    (struct svc_error){
			rep->has_status ? (int)rep->status : 500,
			rc_name(RC_BUG), "the turn failed" });
		break;
	case WIRE_TURN_REPLY_STATE_REPEATED:
		lose(t, "repeated");
		break;
	case WIRE_TURN_REPLY_STATE_CANCELED:
		svc_fail_as(turn_end(t),
		    &(struct svc_error){
			409, "canceled", "the turn was canceled" });
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
		svc_fail(turn_end(t), rc, "deadline exceeded");
	else if (rc == RC_AGAIN)
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
			lose(t, err.why);
	} else if (rc == RC_NOENT && data.n == 0) {
		svc_fail(turn_end(t), RC_DOWN,
		    "no llm-orchestrator is running; try again");
	} else if (rc == RC_DOWN && data.n == 0) {
		lose(t, "NATS went away");
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
		.user_id = gateway_user(t->g, req->user_id),
		.chat = *req,
	};
	struct bus_meta meta = { .deadline = svc_call_deadline(t->c),
		.trace = svc_call_trace(t->c) };
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	enum rc rc;

	wall_format(clock_wall(), 0, now);
	start.received_at = str_of(now);
	rc = wire_encode(&wire_turn_start_request_desc, &start, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(t->g->svc), WIRE_SUBJECT_TURN_START,
		    buf_str(&out), &meta,
		    (struct bus_waiter){
			.fn = on_reply, .arg = t, .many = true },
		    &t->request);
	buf_free(&out);
	return rc;
}

void
turn_start(struct gateway *g, struct svc_call *c)
{
	struct turn *t = mem_zalloc(sizeof(*t));
	char hex[ID_HEX32_MAX];
	enum rc rc;

	t->g = g;
	t->c = c;
	id_hex32(hex);
	(void)snprintf(t->id, sizeof(t->id), "turn_%s", hex);
	rc = begin(t);
	if (rc == RC_OK)
		wait_on(t);
	else
		gateway_fail_bus(turn_end(t), rc);
}
