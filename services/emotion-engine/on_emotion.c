/*
 * Load, let the pure parts work, save, tell.
 */
#include "on_emotion.h"

#include "change.h"
#include "core/log.h"
#include "engine.h"
#include "feeling.h"
#include "gate.h"
#include "state/terminal.h"
#include "store.h"
#include "svc/svc.h"
#include "tell.h"
#include "update.h"
#include "wire/msgs.h"

/*
 * Attempts to save a soul that others change too.  Of those who try at one time
 * one succeeds, and a process does one thing at a time, so this is more than
 * there will be replicas.
 */
#define SAVE_TRIES 64

static void
fail(struct svc_call *c, enum rc rc)
{
	switch (rc) {
	case RC_NOENT:
		svc_fail(c, rc, "soul not found");
		return;
	case RC_INVALID:
		svc_fail(c, RC_BUG, "the soul's state is not readable");
		return;
	case RC_CONFLICT:
		svc_fail(c, RC_RETRY, "too many change this soul");
		return;
	default:
		svc_fail(c, rc, "the state store does not answer");
		return;
	}
}

static enum rc
load_one(struct engine *e, struct store_soul *soul, struct arena *a)
{
	enum rc rc;

	rc = store_load(&e->store, soul, 1, a);
	return rc != RC_OK ? rc : soul->rc;
}

/* Let the input act; the change is what it moved, time apart. */
static void
act(struct engine *e, const struct pad_input *in, struct store_soul *soul,
    struct change *c)
{
	static const struct pad_input nothing;
	struct record *r = &soul->record;
	struct pad_state without = r->state;
	int64_t now = engine_now();

	pad_update(&without, &r->base, &nothing, now, e->gate);
	pad_update(&r->state, &r->base, in, now, e->gate);
	change_by_user(&without, &r->state, in, c);
	c->version = soul->version + 1;
	c->gate = gate_at(e->gate, &r->base, &r->state, r->state.last_updated);
}

static enum rc
observe(struct engine *e, const struct wire_emotion_observe_request *req,
    const struct pad_input *in, struct store_soul *soul, struct change *c,
    struct arena *a)
{
	char bytes[CHANGE_MAX];
	int tries;
	enum rc rc;

	for (tries = 0; tries < SAVE_TRIES; tries++) {
		rc = load_one(e, soul, a);
		if (rc != RC_OK)
			return rc;
		act(e, in, soul, c);
		c->session_id = req->session_id;
		c->turn_id = req->turn_id;
		soul->log = change_pack(c, bytes);
		rc = store_save(&e->store, soul, 1, a);
		if (rc != RC_OK || soul->saved)
			return rc;
	}
	return RC_CONFLICT;
}

/* A body that is not there misses nothing: it gets the next tick. */
static void
tell_body(struct engine *e, struct svc_call *c,
    const struct wire_emotion_observe_request *req,
    struct wire_emotion_update *u)
{
	const struct trace *trace = svc_call_trace(c);
	struct terminal t;
	enum rc rc;

	u->session_id = req->session_id;
	u->terminal_id = req->terminal_id;
	rc = terminal_read_brief(e->store.state, req->terminal_id,
	    e->conf->ttl_s * 1000, svc_call_arena(c), &t);
	if (rc == RC_OK && (!t.present || t.broker.p == NULL))
		return;
	if (rc == RC_OK)
		rc = update_send(e, t.broker, u, trace);
	if (rc == RC_OK)
		update_event(e, u, trace);
	else
		log_warn("update.lost", LOG_V("terminal", req->terminal_id),
		    LOG_RC(rc));
}

void
on_observe(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_observe_request *req = svc_call_request(c);
	struct store_soul soul = { .id = req->soul_id };
	struct wire_emotion_observe_reply rep;
	struct wire_emotion_update u;
	struct wire_user_emotion user;
	struct tell_texts texts;
	struct pad_input in;
	struct change change;
	enum rc rc;

	feeling_read(e->feeling, req->text, &user);
	in = (struct pad_input){ user.emotion, user.p, user.a, user.d,
		user.intensity, true };
	rc = observe(e, req, &in, &soul, &change, svc_call_arena(c));
	if (rc != RC_OK) {
		fail(c, rc);
		return;
	}
	user.p = tell_number(user.p);
	user.a = tell_number(user.a);
	user.d = tell_number(user.d);
	user.intensity = tell_number(user.intensity);
	user.confidence = tell_number(user.confidence);
	update_fill(&soul, &change.gate, &texts, &u);
	u.user_emotion = user;
	tell_body(e, c, req, &u);
	update_psyche(e, &change, req, &u, svc_call_trace(c));
	rep = (struct wire_emotion_observe_reply){ .soul_id = soul.id,
		.user_emotion = user,
		.soul_emotion = u.soul_emotion,
		.exec_probability = u.exec_probability,
		.exec_mode = u.exec_mode,
		.version = soul.version };
	svc_reply(c, &rep);
}

/* How a soul would be now; nothing is stored. */
static void
catch_up(const struct engine *e, struct store_soul *soul, int64_t now)
{
	static const struct pad_input nothing;
	struct record *r = &soul->record;

	if (now > r->state.last_updated)
		pad_update(&r->state, &r->base, &nothing, now, e->gate);
}

void
on_state(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_state_request *req = svc_call_request(c);
	struct store_soul soul = { .id = req->soul_id };
	struct wire_emotion_state_reply rep;
	struct tell_texts texts;
	struct gate gate;
	enum rc rc;

	rc = load_one(e, &soul, svc_call_arena(c));
	if (rc != RC_OK) {
		fail(c, rc);
		return;
	}
	catch_up(e, &soul, engine_now());
	gate = gate_at(e->gate, &soul.record.base, &soul.record.state,
	    soul.record.state.last_updated);
	rep = (struct wire_emotion_state_reply){ .soul_id = soul.id,
		.personality_vector = tell_persona(&soul.record.base),
		.has_personality_vector = true,
		.model_version =
		    str_of(persona_model_name(soul.record.state.model)),
		.exec_probability = tell_number(gate.probability),
		.exec_mode = gate.mode,
		.version = soul.version };
	tell_state(&soul.record.state, &texts, &rep.soul_emotion);
	svc_reply(c, &rep);
}

void
on_gate(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_gate_request *req = svc_call_request(c);
	struct store_soul soul = { .id = req->soul_id };
	struct wire_emotion_gate_reply rep;
	struct gate gate;
	int64_t now;
	enum rc rc;

	rc = load_one(e, &soul, svc_call_arena(c));
	if (rc != RC_OK) {
		fail(c, rc);
		return;
	}
	now = engine_now();
	/* In v2 it is that of the last update, but for the lock. */
	if (soul.record.state.model == PERSONA_PAD_V3)
		catch_up(e, &soul, now);
	gate = gate_at(e->gate, &soul.record.base, &soul.record.state, now);
	rep = (struct wire_emotion_gate_reply){ .soul_id = soul.id,
		.exec_probability = tell_number(gate.probability),
		.exec_mode = gate.mode,
		.version = soul.version };
	svc_reply(c, &rep);
}
