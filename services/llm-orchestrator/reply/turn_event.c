/*
 * One function per event type.
 */
#include "reply/turn_event.h"

#include "context.h"
#include "core/log.h"
#include "persona/emotion.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "turn/turn_runner.h"
#include "wire/subjects.h"
#include "wire/wire.h"

void
turn_publish_user_input(struct turn_run *r)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_user_input m = { .content = r->facts.user_text,
		.user_id = r->req->user_id,
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.turn_id = r->slot.turn_id };

	svc_event(r->o->svc, WIRE_EVENT_USER_INPUT, chat->session_id,
	    &wire_user_input_desc, &m, &r->trace);
}

void
turn_publish_intent_action(
    struct turn_run *r, const struct wire_intent_action *m)
{
	svc_event(r->o->svc, WIRE_EVENT_INTENT_ACTION, m->terminal_id,
	    &wire_intent_action_desc, m, &r->trace);
}

void
turn_publish_invoke(struct turn_run *r, const struct wire_invoke *m)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_invoke_event e = { .request_id = m->request_id,
		.terminal_id = chat->terminal_id,
		.skill = m->skill,
		.arguments = m->arguments,
		.user_id = r->req->user_id,
		.session_id = chat->session_id,
		.soul_id = r->facts.soul_id,
		.turn_id = r->slot.turn_id };

	svc_event(r->o->svc, WIRE_EVENT_INVOKE, chat->terminal_id,
	    &wire_invoke_event_desc, &e, &r->trace);
}

void
turn_publish_result(struct turn_run *r, const struct wire_invoke_result *res)
{
	svc_event(r->o->svc, WIRE_EVENT_INVOKE_RESULT, res->terminal_id,
	    &wire_invoke_result_desc, res, &r->trace);
}

/* That of the model, if it names one of the 15, else that of the soul. */
static struct str
event_emotion(const struct turn_run *r)
{
	const struct wire_emotion_state *s = &r->emotion.soul_emotion;
	const struct wire_pad pad = { s->p, s->a, s->d };
	enum wire_emotion e;

	if (emotion_of(r->emotion_name, &e) == RC_OK)
		return wire_emotion_names[e];
	if (!r->emotion_known)
		return (struct str){ 0 };
	return wire_emotion_names[emotion_nearest(&pad)];
}

/* With the emotional state of the soul at the time of the reply. */
void
turn_publish_response(struct turn_run *r)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_driver_response m = { .content = r->reply,
		.user_id = r->req->user_id,
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.turn_id = r->slot.turn_id,
		.inner_voice = r->inner_voice,
		.emotion = event_emotion(r) };
	struct svc_event e = { .type = WIRE_EVENT_DRIVER_RESPONSE,
		.key = chat->session_id,
		.desc = &wire_driver_response_desc,
		.payload = &m,
		.trace = &r->trace };
	struct buf *b = &r->o->out;

	buf_reset(b);
	if (r->emotion_known &&
	    wire_encode(&wire_emotion_state_desc, &r->emotion.soul_emotion, b,
		NULL) == RC_OK)
		e.psyche_state = buf_str(b);
	enum rc rc = svc_event_send(r->o->svc, &e);
	if (rc != RC_OK)
		log_warn("event.lost", LOG_S("type", e.type), LOG_RC(rc));
}

void
turn_publish_completed(
    struct turn_run *r, enum wire_turn_completed_state state, const char *code)
{
	const struct wire_chat_request *chat = turn_chat(r);
	struct wire_turn_completed m = { .turn_id = r->slot.turn_id,
		.user_id = r->req->user_id,
		.session_id = chat->session_id,
		.terminal_id = chat->terminal_id,
		.soul_id = r->facts.soul_id,
		.state = state,
		.error_code = str_of(code),
		.has_intent_decision = r->turn.routed,
		.intent_decision = r->turn.route.action,
		.has_user_emotion = r->emotion_known,
		.user_emotion = r->emotion.user_emotion,
		.unasked = r->turn.unasked,
		.has_exec_mode = r->turn.emotion_known,
		.exec_mode = r->turn.mode,
		.executed_skills = r->skills.executed,
		.n_executed_skills = r->skills.n_executed,
		.failed_skills = r->skills.failed,
		.n_failed_skills = r->skills.n_failed,
		.has_failed_skills = r->skills.n_failed > 0,
		.duration_ms = mono_diff_ms(clock_mono(), r->start) };

	svc_event(r->o->svc, WIRE_EVENT_TURN_COMPLETED, r->slot.turn_id,
	    &wire_turn_completed_desc, &m, &r->trace);
}
