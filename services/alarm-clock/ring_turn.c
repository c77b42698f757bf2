#include "ring_turn.h"

#include <stdio.h>

#include "alarm_words.h"
#include "bus/bus.h"
#include "context.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* A turn is lost if the orchestrator sends nothing for this long. */
#define SILENCE_MS  6000
#define TURN_ID_MAX (ID_HEX32_MAX + 8)

struct turn_wait {
	struct alarm_clock *c;
	struct fiber *fiber;
	struct arena *a;
	struct loop_timer silence;
	uint64_t request; /* 0: ended */
	enum ring_outcome outcome;
	bool ended;
};

static void
turn_wait_end(struct turn_wait *w, enum ring_outcome o)
{
	if (w->ended)
		return;
	w->ended = true;
	w->outcome = o;
	loop_timer_cancel(w->c->loop, &w->silence);
	if (w->request != 0)
		bus_request_cancel(w->c->bus, w->request);
	fiber_resume(w->fiber);
}

static void
turn_wait_on_silence(void *arg)
{
	turn_wait_end(arg, RING_NOT_CONFIRMED);
}

static void
turn_wait_more(struct turn_wait *w)
{
	loop_timer_set(w->c->loop, &w->silence,
	    mono_add_ms(clock_mono(), SILENCE_MS), turn_wait_on_silence, w);
}

static enum ring_outcome
turn_outcome(const struct wire_turn_reply *rep)
{
	static const enum ring_outcome outcomes[] = {
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_SPOKEN] = RING_SPOKEN,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_DONE] = RING_SPOKEN,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_NOT_CONFIRMED] =
		    RING_NOT_CONFIRMED,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_NO_SKILL] = RING_NO_SKILL,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_NO_BODY] = RING_NO_BODY,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_BLOCKED] = RING_BLOCKED,
		[WIRE_TURN_REPLY_UNASKED_OUTCOME_FAILED] = RING_FAILED,
	};

	if (rep->state == WIRE_TURN_REPLY_STATE_COMPLETED && rep->has_unasked)
		return outcomes[rep->unasked.outcome];
	return RING_FAILED;
}

/* An error reply: the turn has not begun, or is lost. */
static enum ring_outcome
turn_outcome_of_error(enum rc rc)
{
	switch (rc) {
	case RC_NOENT: /* no responders */
	case RC_RETRY:
		return RING_NO_SERVICE;
	case RC_TIMEOUT:
	case RC_DOWN:
		return RING_NOT_CONFIRMED;
	default:
		return RING_FAILED;
	}
}

static void
turn_wait_on_reply(void *arg, enum rc rc, struct str data)
{
	struct turn_wait *w = arg;
	struct wire_turn_reply rep;

	if (rc != RC_OK) {
		w->request = 0;
		turn_wait_end(w, turn_outcome_of_error(rc));
	} else if (wire_decode(&wire_turn_reply_desc, data, w->a, &rep, NULL) !=
	    RC_OK) {
		turn_wait_end(w, RING_NOT_CONFIRMED);
	} else if (rep.state == WIRE_TURN_REPLY_STATE_ACCEPTED ||
	    rep.state == WIRE_TURN_REPLY_STATE_RUNNING) {
		turn_wait_more(w);
	} else {
		turn_wait_end(w, turn_outcome(&rep));
	}
}

static void
turn_request(struct alarm_clock *c, const struct ring_turn_opts *o,
    struct wire_chat_request_inputs *input, struct wire_turn_start_request *out)
{
	const struct wire_alarm_record *r = o->r;

	wire_init(&wire_turn_start_request_desc, out);
	wire_init(&wire_chat_request_inputs_desc, input);
	(void)c;
	input->type = WIRE_CHAT_REQUEST_INPUTS_TYPE_EVENT_NOTE;
	input->text = alarm_words_title(r, o->a);
	out->user_id = r->user_id;
	out->chat.user_id = r->user_id;
	out->chat.session_id = o->session_id;
	out->chat.terminal_id = r->body;
	if (r->type == WIRE_ALARM_RECORD_TYPE_PUSH)
		out->chat.soul_id = r->soul_id;
	out->chat.inputs = input;
	out->chat.n_inputs = 1;
	out->has_unasked = true;
	out->unasked = (struct wire_turn_start_request_unasked){
		.reason =
		    (enum wire_turn_start_request_unasked_reason)r->source,
		.text = alarm_words_ring(r, o->lag_s, o->a),
		.verbatim = r->verbatim,
		.attempt = r->body_attempts > 0 ? r->body_attempts : 1,
		.title = input->text,
		.ring = r->source == WIRE_ALARM_RECORD_SOURCE_ALARM,
		.urgent = r->urgent ||
		    (r->source == WIRE_ALARM_RECORD_SOURCE_ALARM &&
			!r->has_action),
		.action = r->action,
		.has_action = r->has_action,
	};
}

static enum rc
turn_send(struct turn_wait *w, const struct ring_turn_opts *o)
{
	const struct bus_meta meta = { .deadline = { clock_wall().ms +
					   WIRE_DEADLINE_MS_TURN_START },
		.trace = o->trace };
	char id[TURN_ID_MAX], hex[ID_HEX32_MAX];
	char occurrence[RING_ID_MAX], request[RING_ID_MAX];
	struct wire_chat_request_inputs input;
	struct wire_turn_start_request start;
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);
	struct wire_err err;
	enum rc rc;

	id_hex32(hex);
	(void)snprintf(id, sizeof(id), "turn_%s", hex);
	ring_occurrence(o->r, occurrence);
	ring_request(o->r, request);
	turn_request(w->c, o, &input, &start);
	start.turn_id = str_of(id);
	start.unasked.occurrence = str_of(occurrence);
	start.unasked.request_id = str_of(request);
	rc = wire_encode(&wire_turn_start_request_desc, &start, &out, &err);
	if (rc != RC_OK)
		log_error("ring.not_sent", LOG_V("id", o->r->id),
		    LOG_S("why", err.why));
	else
		rc = bus_request(w->c->bus, WIRE_SUBJECT_TURN_START,
		    buf_str(&out), &meta,
		    (struct bus_reply_handler){ turn_wait_on_reply, w, true },
		    &w->request);
	buf_free(&out);
	return rc;
}

enum ring_outcome
ring_turn(struct alarm_clock *c, const struct ring_turn_opts *o)
{
	struct turn_wait w = { .c = c, .fiber = fiber_self(), .a = o->a };
	enum rc rc = turn_send(&w, o);

	if (rc == RC_DOWN || rc == RC_RETRY)
		return RING_NO_SERVICE;
	if (rc != RC_OK)
		return RING_FAILED;
	turn_wait_more(&w);
	fiber_suspend();
	return w.outcome;
}
