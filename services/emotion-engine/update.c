/*
 * Making and publishing emotion_update.
 */
#include "update.h"

#include <math.h>
#include <stdio.h>

#include "bus/bus.h"
#include "core/id.h"
#include "core/log.h"
#include "engine.h"
#include "svc/event.h"
#include "wire/subjects.h"
#include "wire/wire.h"

void
update_fill(const struct store_soul *soul, const struct gate *gate,
    struct tell_texts *t, struct wire_emotion_update *out)
{
	wire_init(&wire_emotion_update_desc, out);
	out->soul_id = soul->id;
	tell_state(&soul->record.state, t, &out->soul_emotion);
	out->exec_probability = tell_number(gate->probability);
	out->exec_mode = gate->mode;
	out->version = soul->version;
	out->has_version = true;
	out->ts = out->soul_emotion.last_updated_at;
}

static enum rc
update_subject(struct str broker, struct str terminal, char *dst, size_t size)
{
	char b[ID_TOKEN_MAX], t[ID_TOKEN_MAX];
	enum rc rc;

	rc = id_token(broker, b);
	if (rc != RC_OK)
		return rc;
	rc = id_token(terminal, t);
	if (rc != RC_OK)
		return rc;
	snprintf(dst, size, WIRE_SUBJECT_FMT_BODY_EMOTION_UPDATE, b, t);
	return RC_OK;
}

enum rc
update_send(struct engine *e, struct str broker,
    const struct wire_emotion_update *u, const struct trace *trace)
{
	char subject[sizeof(WIRE_SUBJECT_FMT_BODY_EMOTION_UPDATE) +
	    2 * (size_t)ID_TOKEN_MAX];
	const struct bus_meta meta = { .trace = trace };
	struct wire_err err;
	enum rc rc;

	rc = update_subject(broker, u->terminal_id, subject, sizeof(subject));
	if (rc != RC_OK)
		return rc;
	buf_reset(&e->out);
	rc = wire_encode(&wire_emotion_update_desc, u, &e->out, &err);
	if (rc != RC_OK) {
		log_error("update.invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		return rc;
	}
	return bus_publish(e->bulk, subject, buf_str(&e->out), &meta);
}

/* Sent with the soul's state beside it. */
static void
event(struct engine *e, struct svc_event *ev,
    const struct wire_emotion_state *state)
{
	enum rc rc;

	buf_reset(&e->out);
	rc = wire_encode(&wire_emotion_state_desc, state, &e->out, NULL);
	if (rc == RC_OK) {
		ev->psyche_state = buf_str(&e->out);
		rc = svc_event_send(e->svc, ev);
	}
	if (rc != RC_OK)
		log_warn("event.lost", LOG_S("type", ev->type),
		    LOG_V("soul", ev->key), LOG_RC(rc));
}

void
update_event(struct engine *e, const struct wire_emotion_update *u,
    const struct trace *trace)
{
	struct svc_event ev = { .type = WIRE_EVENT_EMOTION_UPDATE,
		.key = u->soul_id,
		.desc = &wire_emotion_update_desc,
		.payload = u,
		.trace = trace };

	event(e, &ev, &u->soul_emotion);
}

void
update_psyche(struct engine *e, const struct change *c,
    const struct wire_emotion_observe_request *req,
    const struct wire_emotion_update *u, const struct trace *trace)
{
	struct wire_emotion_history_reply_items_delta delta =
	    tell_delta(&c->delta);
	struct buf text = BUF_INIT(1024);
	char reason[CHANGE_REASON_MAX];
	struct wire_psyche_update m = {
		.reason = change_reason(c->emotion, reason),
		.version = u->version,
		.has_version = true,
		.user_id = req->user_id,
		.session_id = req->session_id,
		.terminal_id = req->terminal_id,
		.soul_id = req->soul_id,
		.turn_id = req->turn_id,
	};
	struct svc_event ev = { .type = WIRE_EVENT_PSYCHE_UPDATE,
		.source = "psyche",
		.key = req->soul_id,
		.desc = &wire_psyche_update_desc,
		.payload = &m,
		.trace = trace };

	if (fabs(delta.p) + fabs(delta.a) + fabs(delta.d) +
		fabs(delta.shock_load) >
	    0) {
		if (wire_encode(&wire_emotion_history_reply_items_delta_desc,
			&delta, &text, NULL) == RC_OK) {
			m.delta = buf_str(&text);
			event(e, &ev, &u->soul_emotion);
		}
	}
	buf_free(&text);
}
