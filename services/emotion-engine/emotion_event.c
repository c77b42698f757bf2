/*
 * Messages about the state of a soul.
 */
#include "emotion_event.h"

#include <math.h>
#include <stdio.h>

#include "bus/bus.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "engine.h"
#include "svc/event.h"
#include "wire/out.h"
#include "wire/subjects.h"
#include "wire/wire.h"

static struct wall
emotion_event_time(int64_t t)
{
	return (struct wall){ t / 1000000 };
}

/*
 * Six decimals are enough for any display and faster to write.  Adding 0 turns
 * -0 into 0.
 */
double
emotion_event_round(double x)
{
	return nearbyint(x * 1e6) / 1e6 + 0.0;
}

static struct str
emotion_event_time_text(int64_t t, char dst[WALL_FORMAT_MAX])
{
	if (t == 0)
		return (struct str){ NULL, 0 };
	wall_format(emotion_event_time(t), 0, dst);
	return str_of(dst);
}

void
emotion_event_put_state(const struct pad_state *s,
    struct emotion_event_texts *t, struct wire_emotion_state *out)
{
	*out = (struct wire_emotion_state){
		.p = emotion_event_round(s->p),
		.a = emotion_event_round(s->a),
		.d = emotion_event_round(s->d),
		.boredom = emotion_event_round(s->boredom),
		.has_boredom = true,
		.shock_load = emotion_event_round(s->shock_load),
		.has_shock_load = true,
		.extreme_memory = emotion_event_round(s->extreme_memory),
		.has_extreme_memory = true,
		.long_mu_p = emotion_event_round(s->mu_p),
		.has_long_mu_p = true,
		.long_mu_a = emotion_event_round(s->mu_a),
		.has_long_mu_a = true,
		.long_mu_d = emotion_event_round(s->mu_d),
		.has_long_mu_d = true,
		.long_volatility = emotion_event_round(s->volatility),
		.has_long_volatility = true,
		.drift = { emotion_event_round(s->drift.empathy),
		    emotion_event_round(s->drift.sensitivity),
		    emotion_event_round(s->drift.stability),
		    emotion_event_round(s->drift.expressiveness),
		    emotion_event_round(s->drift.dominance) },
		.has_drift = true,
		.lock_until =
		    emotion_event_time_text(s->lock_until, t->lock_until),
		.stable_since =
		    emotion_event_time_text(s->stable_since, t->stable_since),
		.last_interaction_at = emotion_event_time_text(
		    s->last_interaction, t->last_interaction),
		.last_updated_at =
		    emotion_event_time_text(s->last_updated, t->last_updated),
	};
}

void
emotion_event_put_drives(const struct drives *d, struct wire_emotion_state *out)
{
	out->has_drives = true;
	out->drives = (struct wire_drives){
		emotion_event_round(d->value[DRIVE_FEAR]),
		emotion_event_round(d->value[DRIVE_SURVIVAL]),
		emotion_event_round(d->value[DRIVE_CURIOSITY]),
		emotion_event_round(d->value[DRIVE_LAZINESS]),
		emotion_event_round(d->value[DRIVE_INTIMACY]),
	};
}

struct wire_personality_vector
emotion_event_put_persona(const struct persona *p)
{
	return (struct wire_personality_vector){
		emotion_event_round(p->empathy),
		emotion_event_round(p->sensitivity),
		emotion_event_round(p->stability),
		emotion_event_round(p->expressiveness),
		emotion_event_round(p->dominance),
	};
}

struct wire_emotion_history_reply_items_delta
emotion_event_round_delta(
    const struct wire_emotion_history_reply_items_delta *d)
{
	return (struct wire_emotion_history_reply_items_delta){
		emotion_event_round(d->p), emotion_event_round(d->a),
		emotion_event_round(d->d), emotion_event_round(d->shock_load)
	};
}

static enum rc
emotion_event_put_user(const struct change *c, struct arena *a,
    struct wire_emotion_history_reply_items *out)
{
	char reason[CHANGE_REASON_MAX];

	out->user_emotion = c->emotion;
	out->has_user_emotion = true;
	out->intensity = emotion_event_round(c->intensity);
	out->has_intensity = true;
	out->session_id = c->session_id;
	out->turn_id = c->turn_id;
	out->reason = arena_str(a, change_reason(c->emotion, reason));
	return out->reason.p == NULL ? RC_TOOBIG : RC_OK;
}

enum rc
emotion_event_put_change(const struct change *c, struct wall at,
    struct arena *a, struct wire_emotion_history_reply_items *out)
{
	*out = (struct wire_emotion_history_reply_items){
		.time = wall_text(at, 0, a),
		.version = c->version,
		.cause = c->cause,
		.p = emotion_event_round(c->p),
		.a = emotion_event_round(c->a),
		.d = emotion_event_round(c->d),
		.boredom = emotion_event_round(c->boredom),
		.shock_load = emotion_event_round(c->shock_load),
		.extreme_memory = emotion_event_round(c->extreme_memory),
		.exec_probability = emotion_event_round(c->gate.probability),
		.exec_mode = c->gate.mode,
		.delta = emotion_event_round_delta(&c->delta),
	};
	if (out->time.p == NULL)
		return RC_TOOBIG;
	return c->cause == WIRE_EMOTION_HISTORY_REPLY_ITEMS_CAUSE_USER_INPUT
	    ? emotion_event_put_user(c, a, out)
	    : RC_OK;
}

void
emotion_event_fill(const struct stored_soul *soul, const struct gate *gate,
    struct emotion_event_texts *t, struct wire_emotion_update *out)
{
	wire_init(&wire_emotion_update_desc, out);
	out->soul_id = soul->id;
	emotion_event_put_state(&soul->record.state, t, &out->soul_emotion);
	out->exec_probability = emotion_event_round(gate->probability);
	out->exec_mode = gate->mode;
	out->version = soul->version;
	out->has_version = true;
	out->ts = out->soul_emotion.last_updated_at;
}

static enum rc
emotion_event_subject(
    struct str broker, struct str terminal, char *dst, size_t size)
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
emotion_event_send(struct engine *e, struct str broker,
    const struct wire_emotion_update *u, const struct trace *trace)
{
	char subject[sizeof(WIRE_SUBJECT_FMT_BODY_EMOTION_UPDATE) +
	    2 * (size_t)ID_TOKEN_MAX];
	const struct bus_meta meta = { .trace = trace };
	struct wire_err err;
	enum rc rc;

	rc = emotion_event_subject(
	    broker, u->terminal_id, subject, sizeof(subject));
	if (rc != RC_OK)
		return rc;
	buf_reset(&e->out);
	rc = wire_encode(&wire_emotion_update_desc, u, &e->out, &err);
	if (rc != RC_OK) {
		log_error("update.invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
		return rc;
	}
	return bus_publish(svc_bus(e->svc), subject, buf_str(&e->out), &meta);
}

/* Publish an event with the soul's state. */
static void
emotion_event_publish(struct engine *e, struct svc_event *ev,
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
emotion_event_publish_update(struct engine *e,
    const struct wire_emotion_update *u, const struct wire_emotion_state *state,
    const struct trace *trace)
{
	struct svc_event ev = { .type = WIRE_EVENT_EMOTION_UPDATE,
		.key = u->soul_id,
		.desc = &wire_emotion_update_desc,
		.payload = u,
		.trace = trace };

	emotion_event_publish(e, &ev, state);
}

void
emotion_event_publish_psyche(struct engine *e, const struct change *c,
    const struct wire_emotion_observe_request *req,
    const struct wire_emotion_state *state, const struct trace *trace)
{
	struct wire_emotion_history_reply_items_delta delta =
	    emotion_event_round_delta(&c->delta);
	struct buf text = BUF_INIT(1024);
	char reason[CHANGE_REASON_MAX];
	struct wire_psyche_update m = {
		.reason = change_reason(c->emotion, reason),
		.version = c->version,
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
			emotion_event_publish(e, &ev, state);
		}
	}
	buf_free(&text);
}

/* What has changed, by name; whether that is anything. */
static bool
emotion_event_put_effect(const struct drive_delta *d, struct buf *b)
{
	const struct {
		const char *name;
		double by;
	} all[] = {
		{ "p", d->pad[0] },
		{ "a", d->pad[1] },
		{ "d", d->pad[2] },
		{ "fear", d->drive[DRIVE_FEAR] },
		{ "survival", d->drive[DRIVE_SURVIVAL] },
		{ "curiosity", d->drive[DRIVE_CURIOSITY] },
		{ "laziness", d->drive[DRIVE_LAZINESS] },
		{ "intimacy", d->drive[DRIVE_INTIMACY] },
	};
	struct wire_out o = { .b = b };
	bool any = false;

	wire_out_object(&o);
	for (size_t i = 0; i < NELEM(all); i++) {
		double by = emotion_event_round(all[i].by);
		if (fabs(by) > 0) {
			wire_out_name(&o, all[i].name);
			wire_out_f64(&o, by);
			any = true;
		}
	}
	wire_out_object_end(&o);
	return any;
}

void
emotion_event_publish_applied(struct engine *e,
    const struct emotion_event_applied *t, const struct trace *trace)
{
	struct buf text = BUF_INIT(1024);
	struct wire_psyche_update m = { .reason = t->req->reason,
		.version = t->version,
		.has_version = true,
		.user_id = t->req->user_id,
		.soul_id = t->req->soul_id };
	struct svc_event ev = { .type = WIRE_EVENT_PSYCHE_UPDATE,
		.source = "psyche",
		.key = t->req->soul_id,
		.desc = &wire_psyche_update_desc,
		.payload = &m,
		.trace = trace };

	if (emotion_event_put_effect(t->effect, &text)) {
		m.delta = buf_str(&text);
		emotion_event_publish(e, &ev, t->state);
	}
	buf_free(&text);
}
