/*
 * Souls as their owner sees them: one state request to emotion-engine per
 * soul, gathered into one list.
 */
#include "souls/soul_view.h"

#include <math.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "gateway.h"
#include "persona/persona.h"
#include "state/soul.h"
#include "state/speech.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define TIMEOUT_MS 2000

struct soul_view_batch {
	struct gateway *g;
	struct svc_call *c;
	soul_view_fn fn;
	struct soul_view_item *items;
	size_t n;
	size_t pending;
	enum rc rc;                /* the first error */
	const struct soul *failed; /* the soul it belongs to */
};

struct soul_view_item {
	struct soul_view_batch *batch;
	const struct soul *soul;
	bool deleted;
	struct speech_settings speech;
	enum rc speech_rc;
	struct wire_soul profile;
};

static void
soul_view_finish(struct soul_view_batch *batch)
{
	struct wire_soul *list;
	size_t i, n = 0;

	if (batch->rc == RC_DOWN) {
		svc_fail(batch->c, RC_DOWN, "emotion-engine does not answer");
		return;
	}
	if (batch->rc != RC_OK) {
		gateway_reject(batch->c, RC_BUG,
		    "the emotion of soul %.*s cannot be read",
		    STR_ARG(batch->failed->id));
		return;
	}
	list = arena_alloc(svc_call_arena(batch->c), batch->n * sizeof(*list));
	if (list == NULL) {
		gateway_fail(batch->c, RC_TOOBIG);
		return;
	}
	for (i = 0; i < batch->n; i++)
		if (!batch->items[i].deleted)
			list[n++] = batch->items[i].profile;
	batch->fn(batch->g, batch->c, list, n);
}

static void
soul_view_item_done(
    struct soul_view_batch *batch, const struct soul *soul, enum rc rc)
{
	if (batch->rc == RC_OK && rc != RC_OK) {
		batch->rc = rc;
		batch->failed = soul;
		log_trace_set(svc_call_trace(batch->c)->trace_id);
		log_warn(
		    "gateway.profile", LOG_V("soul", soul->id), LOG_RC(rc));
		log_trace_set("");
	}
	if (--batch->pending == 0)
		soul_view_finish(batch);
}

static void
soul_view_put(
    const struct soul *soul, struct str created, struct wire_soul *out)
{
	*out = (struct wire_soul){
		.soul_id = soul->id,
		.user_id = soul->user_id,
		.name = soul->name,
		.mbti_type = soul->mbti_type,
		.model_version = soul->model,
		.created_at = created,
		.updated_at = created,
		.proactive = WIRE_SOUL_PROACTIVE_ALARMS,
	};
}

static struct str
soul_view_clock(struct arena *a, int minutes)
{
	return arena_printf(a, "%02d:%02d", minutes / 60, minutes % 60);
}

static void
soul_view_put_speech(
    const struct speech_settings *x, struct arena *a, struct wire_soul *out)
{
	static const enum wire_soul_proactive values[] = {
		[SPEECH_OFF] = WIRE_SOUL_PROACTIVE_OFF,
		[SPEECH_ALARMS] = WIRE_SOUL_PROACTIVE_ALARMS,
		[SPEECH_ALL] = WIRE_SOUL_PROACTIVE_ALL,
	};

	out->proactive = values[x->proactive];
	out->has_quiet_hours = x->has_quiet;
	if (!x->has_quiet)
		return;
	out->quiet_hours = (struct wire_soul_quiet_hours){
		.from = soul_view_clock(a, x->quiet_from),
		.to = soul_view_clock(a, x->quiet_to),
		.urgent = x->quiet_urgent,
	};
}

static enum rc
soul_view_fill(struct soul_view_item *p, struct str data)
{
	struct arena *a = svc_call_arena(p->batch->c);
	struct wire_emotion_state_reply st;
	struct wire_soul *out = &p->profile;

	if (wire_decode(&wire_emotion_state_reply_desc, data, a, &st, NULL) !=
		RC_OK ||
	    !st.has_personality_vector)
		return RC_BUG;
	soul_view_put(p->soul, wall_text(p->soul->created, 0, a), out);
	soul_view_put_speech(&p->speech, a, out);
	out->personality_vector = st.personality_vector;
	out->emotion_state = st.soul_emotion;
	/* The model may have changed since the soul was created. */
	if (st.model_version.p != NULL)
		out->model_version = st.model_version;
	if (st.soul_emotion.last_updated_at.p != NULL)
		out->updated_at = st.soul_emotion.last_updated_at;
	return RC_OK;
}

static void
soul_view_on_state(void *arg, enum rc rc, struct str data)
{
	struct soul_view_item *p = arg;

	switch (rc) {
	case RC_OK:
		rc = soul_view_fill(p, data);
		break;
	case RC_NOENT:
		/*
		 * A reply says that the soul does not exist; without data there
		 * is no service that replies.
		 */
		p->deleted = data.n > 0;
		rc = p->deleted ? RC_OK : RC_DOWN;
		break;
	case RC_TIMEOUT:
	case RC_RETRY:
	case RC_DOWN:
		rc = RC_DOWN;
		break;
	default:
		rc = RC_BUG;
		break;
	}
	soul_view_item_done(p->batch, p->soul, rc);
}

static enum rc
soul_view_request(struct soul_view_batch *batch, struct soul_view_item *p)
{
	struct wire_emotion_state_request req = { .user_id = p->soul->user_id,
		.soul_id = p->soul->id };
	struct bus_meta meta = { .deadline = { clock_wall().ms + TIMEOUT_MS },
		.trace = svc_call_trace(batch->c) };
	struct buf out = BUF_INIT(4096);
	enum rc rc;

	rc = wire_encode(&wire_emotion_state_request_desc, &req, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(batch->g->svc),
		    WIRE_SUBJECT_EMOTION_STATE, buf_str(&out), &meta,
		    (struct bus_reply_handler){
			.fn = soul_view_on_state, .arg = p },
		    NULL);
	else
		rc = RC_BUG;
	buf_free(&out);
	return rc == RC_OK || rc == RC_BUG ? rc : RC_DOWN;
}

static void
soul_view_read_speech(void *arg)
{
	struct soul_view_item *p = arg;

	p->speech_rc = speech_settings_read(
	    p->batch->g->state, p->soul->user_id, p->soul->id, &p->speech);
}

/* The calls of all items are sent together. */
static enum rc
soul_view_read_settings(struct soul_view_item *items, size_t n)
{
	struct fiber_group group = { 0 };

	for (size_t i = 0; i < n; i++)
		fiber_group_start(&group, soul_view_read_speech, &items[i]);
	fiber_group_wait(&group);
	for (size_t i = 0; i < n; i++)
		if (items[i].speech_rc != RC_OK)
			return items[i].speech_rc;
	return RC_OK;
}

void
soul_view_read(struct gateway *g, struct svc_call *c, const struct soul *souls,
    size_t n, soul_view_fn fn)
{
	struct arena *a = svc_call_arena(c);
	struct soul_view_batch *batch = arena_alloc(a, sizeof(*batch));
	struct soul_view_item *items = arena_alloc(a, n * sizeof(*items));
	size_t i;
	enum rc rc;

	if (batch == NULL || items == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	/*
	 * One more than there are requests, so that none finishes the batch
	 * before all are sent.
	 */
	*batch =
	    (struct soul_view_batch){ g, c, fn, items, n, n + 1, RC_OK, NULL };
	for (i = 0; i < n; i++) {
		items[i].batch = batch;
		items[i].soul = &souls[i];
	}
	rc = soul_view_read_settings(items, n);
	if (rc != RC_OK) {
		gateway_fail(c, rc);
		return;
	}
	for (i = 0; i < n; i++) {
		rc = soul_view_request(batch, &items[i]);
		if (rc != RC_OK)
			soul_view_item_done(batch, &souls[i], rc);
	}
	soul_view_item_done(batch, NULL, RC_OK);
}

/* Rounded as emotion-engine does. */
static double
soul_view_round(double x)
{
	return nearbyint(x * 1e6) / 1e6;
}

enum rc
soul_view_new(const struct soul *soul, struct arena *a, struct wire_soul *out)
{
	struct str created = wall_text(soul->created, 0, a);
	struct persona p;

	if (persona_of_mbti(soul->mbti_type, &p) != RC_OK)
		return RC_BUG;
	if (created.p == NULL)
		return RC_TOOBIG;
	soul_view_put(soul, created, out);
	out->personality_vector = (struct wire_personality_vector){
		soul_view_round(p.empathy), soul_view_round(p.sensitivity),
		soul_view_round(p.stability), soul_view_round(p.expressiveness),
		soul_view_round(p.dominance)
	};
	out->emotion_state = (struct wire_emotion_state){ .has_boredom = true,
		.has_shock_load = true,
		.has_extreme_memory = true,
		.has_long_mu_p = true,
		.has_long_mu_a = true,
		.has_long_mu_d = true,
		.has_long_volatility = true,
		.has_drift = true,
		.last_interaction_at = created,
		.last_updated_at = created };
	return RC_OK;
}
