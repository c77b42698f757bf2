/*
 * The routes: requests about a soul over NATS, and emotions in texts over
 * HTTP.
 */
#include "handlers.h"

#include <math.h>
#include <stddef.h>

#include "change.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "dynamics/pad.h"
#include "emotion_event.h"
#include "engine.h"
#include "persona/emotion.h"
#include "recognition/recognizer.h"
#include "soul_change.h"
#include "soul_record.h"
#include "state/soul.h"
#include "state/state.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/msgs.h"

/*
 * Apply the input; the change is its effect without that of the elapsed time.
 */
static void
emotion_api_apply(struct engine *e, const struct pad_input *in,
    struct stored_soul *soul, struct change *c)
{
	static const struct pad_input nothing;
	struct record *r = &soul->record;
	struct pad_state idle = r->state;
	int64_t now = pad_time(clock_wall());

	pad_update(&idle, &r->base, &nothing, now, e->gate);
	pad_update(&r->state, &r->base, in, now, e->gate);
	drives_turn(&r->drives, now);
	change_by_user(&idle, &r->state, in, c);
	c->version = soul->version + 1;
	c->gate = gate_at(e->gate, &r->base, &r->state, r->state.last_updated);
}

/* The broker of the body; absent or empty: it is not present. */
static enum rc
emotion_api_find_broker(struct engine *e, struct svc_call *c,
    const struct wire_emotion_observe_request *req, struct str *broker)
{
	struct terminal t;
	enum rc rc;

	*broker = req->broker;
	if (req->broker.p != NULL)
		return RC_OK;
	rc = terminal_read_brief(e->store.state, req->terminal_id,
	    e->conf->ttl_s * 1000, svc_call_arena(c), &t);
	if (rc == RC_OK && t.present)
		*broker = t.broker;
	return rc;
}

/* An input that is being applied to a soul. */
struct observation {
	struct engine *e;
	struct svc_call *c;
	const struct wire_emotion_observe_request *req;
	struct wire_user_emotion user; /* rounded */
	struct pad_input in;
	struct stored_soul soul;
	struct change change;
	struct wire_emotion_update update; /* its strings are in texts */
	struct emotion_event_texts texts;
	struct wire_emotion_state state; /* with what a body does not get */
	bool early;                      /* reply before the state is saved */
	bool replied;                    /* that was done */
	bool sent;                       /* the body has the update */
	char log[CHANGE_MAX];
};

/* An offline body gets the next tick instead. */
static void
emotion_api_send_update(struct observation *o)
{
	const struct wire_emotion_update *u = &o->update;
	struct str broker;
	enum rc rc;

	rc = emotion_api_find_broker(o->e, o->c, o->req, &broker);
	if (rc == RC_OK && broker.n == 0)
		return;
	if (rc == RC_OK)
		rc = emotion_event_send(o->e, broker, u, svc_call_trace(o->c));
	if (rc == RC_OK)
		o->sent = true;
	else
		log_warn("update.lost", LOG_V("terminal", u->terminal_id),
		    LOG_RC(rc));
}

static void
emotion_api_update(struct observation *o)
{
	struct wire_emotion_update *u = &o->update;

	emotion_event_fill(&o->soul, &o->change.gate, &o->texts, u);
	u->version = o->change.version;
	u->user_emotion = o->user;
	u->session_id = o->req->session_id;
	u->terminal_id = o->req->terminal_id;
	emotion_api_send_update(o);
	o->state = u->soul_emotion;
	emotion_event_put_drives(&o->soul.record.drives, &o->state);
}

static void
emotion_api_reply(struct observation *o, bool saved)
{
	const struct wire_emotion_observe_reply rep = { .soul_id = o->soul.id,
		.user_emotion = o->update.user_emotion,
		.soul_emotion = o->state,
		.exec_probability = o->update.exec_probability,
		.exec_mode = o->update.exec_mode,
		.version = o->change.version,
		.saved = saved };

	if (saved)
		svc_reply(o->c, &rep);
	else
		svc_progress(o->c, &rep);
}

/* What others have changed meanwhile may make it different in the end. */
static void
emotion_api_reply_early(struct observation *o)
{
	emotion_api_update(o);
	if (!o->replied)
		emotion_api_reply(o, false);
	o->replied = true;
}

/* Called again if another change was faster. */
static bool
emotion_api_observe(void *arg, struct stored_soul *soul)
{
	struct observation *o = arg;

	emotion_api_apply(o->e, &o->in, soul, &o->change);
	o->change.session_id = o->req->session_id;
	o->change.turn_id = o->req->turn_id;
	if (o->early)
		emotion_api_reply_early(o);
	soul->log = change_pack(&o->change, o->log);
	return true;
}

static void
emotion_api_recognize(struct observation *o)
{
	struct wire_user_emotion *u = &o->user;

	recognizer_read(o->e->recognizer, o->req->text, u);
	o->in = (struct pad_input){ u->emotion, u->p, u->a, u->d, u->intensity,
		true };
	u->p = emotion_event_round(u->p);
	u->a = emotion_event_round(u->a);
	u->d = emotion_event_round(u->d);
	u->intensity = emotion_event_round(u->intensity);
	u->confidence = emotion_event_round(u->confidence);
}

void
on_emotion_observe(void *arg, struct svc_call *c)
{
	struct observation o = { .e = arg, .c = c, .req = svc_call_request(c) };
	const struct trace *trace = svc_call_trace(c);
	enum rc rc;

	o.soul.user_id = o.req->user_id;
	o.soul.id = o.req->soul_id;
	o.early = o.req->early && state_up(o.e->store.state);
	if (o.early)
		o.soul.turn_id = o.req->turn_id;
	emotion_api_recognize(&o);
	rc = soul_change(
	    o.e, &o.soul, emotion_api_observe, &o, svc_call_arena(c));
	if (rc != RC_OK) {
		soul_fail(c, rc);
		return;
	}
	if (!o.early)
		emotion_api_update(&o);
	if (o.sent)
		emotion_event_publish_update(o.e, &o.update, &o.state, trace);
	emotion_event_publish_psyche(o.e, &o.change, o.req, &o.state, trace);
	if (o.early && o.soul.noted)
		svc_done(c);
	else
		emotion_api_reply(&o, true);
}

/* Evolve the loaded soul to now without storing it. */
static void
emotion_api_catch_up(
    const struct engine *e, struct stored_soul *soul, int64_t now)
{
	static const struct pad_input nothing;
	struct record *r = &soul->record;

	if (now > r->state.last_updated)
		pad_update(&r->state, &r->base, &nothing, now, e->gate);
}

void
on_emotion_state(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_state_request *req = svc_call_request(c);
	struct stored_soul soul = { .user_id = req->user_id,
		.id = req->soul_id };
	struct wire_emotion_state_reply rep;
	struct emotion_event_texts texts;
	struct gate gate;
	enum rc rc;

	rc = soul_load(e, &soul, svc_call_arena(c));
	if (rc != RC_OK) {
		soul_fail(c, rc);
		return;
	}
	int64_t now = pad_time(clock_wall());
	emotion_api_catch_up(e, &soul, now);
	gate = gate_at(e->gate, &soul.record.base, &soul.record.state,
	    soul.record.state.last_updated);
	rep = (struct wire_emotion_state_reply){ .soul_id = soul.id,
		.personality_vector =
		    emotion_event_put_persona(&soul.record.base),
		.has_personality_vector = true,
		.model_version =
		    str_of(persona_model_name(soul.record.state.model)),
		.exec_probability = emotion_event_round(gate.probability),
		.exec_mode = gate.mode,
		.version = soul.version };
	emotion_event_put_state(&soul.record.state, &texts, &rep.soul_emotion);
	drives_update(&soul.record.drives, now);
	emotion_event_put_drives(&soul.record.drives, &rep.soul_emotion);
	svc_reply(c, &rep);
}

void
on_emotion_gate(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_gate_request *req = svc_call_request(c);
	struct stored_soul soul = { .user_id = req->user_id,
		.id = req->soul_id };
	struct wire_emotion_gate_reply rep;
	struct gate gate;
	int64_t now;
	enum rc rc;

	rc = soul_load(e, &soul, svc_call_arena(c));
	if (rc != RC_OK) {
		soul_fail(c, rc);
		return;
	}
	now = pad_time(clock_wall());
	/* In v2 the gate is that of the last update, except for the lock. */
	if (soul.record.state.model == PERSONA_PAD_V3)
		emotion_api_catch_up(e, &soul, now);
	gate = gate_at(e->gate, &soul.record.base, &soul.record.state, now);
	rep = (struct wire_emotion_gate_reply){ .soul_id = soul.id,
		.exec_probability = emotion_event_round(gate.probability),
		.exec_mode = gate.mode,
		.version = soul.version };
	svc_reply(c, &rep);
}

static enum rc
history_put_items(struct arena *a, const struct soul_log_entry *list, size_t n,
    struct wire_emotion_history_reply *out)
{
	static struct log_rate rate;
	struct change change;
	int64_t missed;
	enum rc rc = RC_OK;
	size_t i;

	out->items = arena_alloc(a, n * sizeof(*out->items));
	if (out->items == NULL)
		return RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < n; i++) {
		if (change_unpack(list[i].bytes, &change) == RC_OK)
			rc = emotion_event_put_change(&change, list[i].at, a,
			    &out->items[out->n_items++]);
		else if (log_every(&rate, 10, &missed))
			log_error("change.unreadable",
			    LOG_V("soul", out->soul_id),
			    LOG_I("bytes", list[i].bytes.n),
			    LOG_I("missed", missed));
	}
	return rc;
}

static enum rc
history_read(struct engine *e, const struct wire_emotion_history_request *req,
    struct arena *a, struct wire_emotion_history_reply *out)
{
	struct soul_log_page page = { .user_id = req->user_id,
		.soul_id = req->soul_id,
		.max = (size_t)req->limit };
	struct soul_state st = { .user_id = req->user_id,
		.soul_id = req->soul_id };
	struct soul_log_entry *list;
	size_t n;
	enum rc rc;

	if (req->since.p != NULL &&
	    wall_parse(req->since, &page.since) != RC_OK)
		return RC_INVALID;
	rc = soul_state_get(e->store.state, &st, 1, a);
	if (rc == RC_OK && st.version == 0)
		rc = RC_NOENT;
	if (rc == RC_OK)
		rc = soul_log_read(e->store.state, &page, a, &list, &n);
	if (rc == RC_OK)
		rc = history_put_items(a, list, n, out);
	return rc == RC_INVALID ? RC_BUG : rc;
}

void
on_emotion_history(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_history_request *req = svc_call_request(c);
	struct wire_emotion_history_reply rep = { .soul_id = req->soul_id };
	enum rc rc;

	rc = history_read(e, req, svc_call_arena(c), &rep);
	if (rc == RC_OK)
		svc_reply(c, &rep);
	else if (rc == RC_NOENT)
		svc_fail(c, rc, "soul not found");
	else if (rc == RC_INVALID)
		svc_fail(
		    c, rc, "since: must be a time as 2026-02-22T10:20:30Z");
	else if (rc == RC_BUG)
		svc_fail(c, rc, "the soul's log is not readable");
	else
		svc_fail(c, rc, "the state store does not answer");
}

static double
label_latency_ms(struct mono start)
{
	return round((double)mono_diff_ns(clock_mono(), start) / 1e3) / 1e3;
}

void
on_analyze(void *arg, struct svc_call *c)
{
	struct engine *e = arg;
	const struct wire_emotion_analyze_request *req = svc_call_request(c);
	struct mono start = clock_mono();
	struct wire_emotion_analyze_response rep;
	struct wire_emotion_analyze_response_evidence why[EVIDENCE_MAX];
	struct wire_user_emotion u;

	recognizer_read(e->recognizer, req->text, &u);
	rep = (struct wire_emotion_analyze_response){ .emotion = u.emotion,
		.p = emotion_event_round(u.p),
		.a = emotion_event_round(u.a),
		.d = emotion_event_round(u.d),
		.second = u.second,
		.has_second = u.has_second,
		.second_confidence = emotion_event_round(u.second_confidence),
		.has_second_confidence = u.has_second_confidence,
		.intensity = emotion_event_round(u.intensity),
		.confidence = emotion_event_round(u.confidence),
		.has_confidence = true,
		.latency_ms = label_latency_ms(start) };
	if (req->debug) {
		rep.n_evidence =
		    recognizer_evidence(e->recognizer, svc_call_arena(c), why);
		rep.evidence = why;
		rep.has_evidence = true;
	}
	svc_reply(c, &rep);
}

void
on_convert(void *arg, struct svc_call *c)
{
	const struct wire_emotion_convert_request *req = svc_call_request(c);
	struct mono start = clock_mono();
	enum wire_emotion emotion = emotion_find(req->emotion);
	const struct wire_pad *pad = emotion_prototype(emotion);
	struct wire_emotion_convert_response rep = { .emotion = emotion,
		.p = pad->p,
		.a = pad->a,
		.d = pad->d,
		.intensity = req->confidence,
		.latency_ms = label_latency_ms(start) };

	(void)arg;
	svc_reply(c, &rep);
}

#define AT(m) offsetof(struct wire_emotion_pad_table_pad_table, m)

void
on_pad_table(void *arg, struct svc_call *c)
{
	static const size_t offsets[EMOTION_N] = {
		[WIRE_EMOTION_NEUTRAL] = AT(neutral),
		[WIRE_EMOTION_JOY] = AT(joy),
		[WIRE_EMOTION_SURPRISE] = AT(surprise),
		[WIRE_EMOTION_SADNESS] = AT(sadness),
		[WIRE_EMOTION_FEAR] = AT(fear),
		[WIRE_EMOTION_ANGER] = AT(anger),
		[WIRE_EMOTION_DISGUST] = AT(disgust),
		[WIRE_EMOTION_CALM] = AT(calm),
		[WIRE_EMOTION_RELIEF] = AT(relief),
		[WIRE_EMOTION_GRATITUDE] = AT(gratitude),
		[WIRE_EMOTION_EXCITEMENT] = AT(excitement),
		[WIRE_EMOTION_ANXIETY] = AT(anxiety),
		[WIRE_EMOTION_FRUSTRATION] = AT(frustration),
		[WIRE_EMOTION_DISAPPOINTMENT] = AT(disappointment),
		[WIRE_EMOTION_BOREDOM] = AT(boredom),
	};
	struct wire_emotion_pad_table rep;
	size_t i;

	(void)arg;
	for (i = 0; i < EMOTION_N; i++)
		memcpy((char *)&rep.pad_table + offsets[i],
		    emotion_prototype((enum wire_emotion)i),
		    sizeof(struct wire_pad));
	svc_reply(c, &rep);
}
