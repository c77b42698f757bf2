/*
 * One request to emotion-engine for each soul, gathered.
 */
#include "profile.h"

#include <math.h>

#include "bus/bus.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/log.h"
#include "gateway.h"
#include "persona/persona.h"
#include "state/soul.h"
#include "svc/svc.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define TIMEOUT_MS 2000

struct gather {
	struct gateway *g;
	struct svc_call *c;
	profile_fn fn;
	struct part *parts;
	size_t n;
	size_t waiting;
	enum rc rc;            /* the first that went wrong */
	const struct soul *of; /* its soul */
};

/* One of the answers to come. */
struct part {
	struct gather *all;
	const struct soul *soul;
	bool gone;
	struct wire_soul profile;
};

static void
end(struct gather *all)
{
	struct wire_soul *list;
	size_t i, n = 0;

	if (all->rc == RC_DOWN) {
		svc_fail(all->c, RC_DOWN, "emotion-engine does not answer");
		return;
	}
	if (all->rc != RC_OK) {
		gateway_refuse(all->c, RC_BUG,
		    "the emotion of soul %.*s cannot be read",
		    STR_ARG(all->of->id));
		return;
	}
	list = arena_alloc(svc_call_arena(all->c), all->n * sizeof(*list));
	if (list == NULL) {
		gateway_fail(all->c, RC_TOOBIG);
		return;
	}
	for (i = 0; i < all->n; i++)
		if (!all->parts[i].gone)
			list[n++] = all->parts[i].profile;
	all->fn(all->g, all->c, list, n);
}

static void
settle(struct gather *all, const struct soul *soul, enum rc rc)
{
	if (all->rc == RC_OK && rc != RC_OK) {
		all->rc = rc;
		all->of = soul;
		log_trace_set(svc_call_trace(all->c)->trace_id);
		log_warn(
		    "gateway.profile", LOG_V("soul", soul->id), LOG_RC(rc));
		log_trace_set("");
	}
	if (--all->waiting == 0)
		end(all);
}

static struct str
stamp(struct arena *a, struct wall t)
{
	char text[WALL_FORMAT_MAX];

	wall_format(t, 0, text);
	return arena_str(a, str_of(text));
}

static void
put_soul(const struct soul *soul, struct str created, struct wire_soul *out)
{
	*out = (struct wire_soul){
		.soul_id = soul->id,
		.user_id = soul->user_id,
		.name = soul->name,
		.mbti_type = soul->mbti_type,
		.model_version = soul->model,
		.created_at = created,
		.updated_at = created,
	};
}

static enum rc
fill(struct part *p, struct str data)
{
	struct arena *a = svc_call_arena(p->all->c);
	struct wire_emotion_state_reply st;
	struct wire_soul *out = &p->profile;

	if (wire_decode(&wire_emotion_state_reply_desc, data, a, &st, NULL) !=
		RC_OK ||
	    !st.has_personality_vector)
		return RC_BUG;
	put_soul(p->soul, stamp(a, p->soul->created), out);
	out->personality_vector = st.personality_vector;
	out->emotion_state = st.soul_emotion;
	/* It may have gone over to another since it was made. */
	if (st.model_version.p != NULL)
		out->model_version = st.model_version;
	if (st.soul_emotion.last_updated_at.p != NULL)
		out->updated_at = st.soul_emotion.last_updated_at;
	return RC_OK;
}

static void
on_state(void *arg, enum rc rc, struct str data)
{
	struct part *p = arg;

	switch (rc) {
	case RC_OK:
		rc = fill(p, data);
		break;
	case RC_NOENT:
		/* An answer says that the soul is not there, none that nobody
		 * answers. */
		p->gone = data.n > 0;
		rc = p->gone ? RC_OK : RC_DOWN;
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
	settle(p->all, p->soul, rc);
}

static enum rc
ask(struct gather *all, struct part *p)
{
	struct wire_emotion_state_request req = { .soul_id = p->soul->id };
	struct bus_meta meta = { .deadline = { clock_wall().ms + TIMEOUT_MS },
		.trace = svc_call_trace(all->c) };
	struct buf out = BUF_INIT(4096);
	enum rc rc;

	rc = wire_encode(&wire_emotion_state_request_desc, &req, &out, NULL);
	if (rc == RC_OK)
		rc = bus_request(svc_bus(all->g->svc),
		    WIRE_SUBJECT_EMOTION_STATE, buf_str(&out), &meta,
		    (struct bus_reply_handler){ .fn = on_state, .arg = p },
		    NULL);
	else
		rc = RC_BUG;
	buf_free(&out);
	return rc == RC_OK || rc == RC_BUG ? rc : RC_DOWN;
}

void
profile_read(struct gateway *g, struct svc_call *c, const struct soul *souls,
    size_t n, profile_fn fn)
{
	struct arena *a = svc_call_arena(c);
	struct gather *all = arena_alloc(a, sizeof(*all));
	struct part *parts = arena_alloc(a, n * sizeof(*parts));
	size_t i;

	if (all == NULL || parts == NULL) {
		gateway_fail(c, RC_TOOBIG);
		return;
	}
	/* One more than there are answers, so that it ends here at the soonest.
	 */
	*all = (struct gather){ g, c, fn, parts, n, n + 1, RC_OK, NULL };
	for (i = 0; i < n; i++) {
		enum rc rc;

		parts[i].all = all;
		parts[i].soul = &souls[i];
		rc = ask(all, &parts[i]);
		if (rc != RC_OK)
			settle(all, &souls[i], rc);
	}
	settle(all, NULL, RC_OK);
}

/* As emotion-engine rounds it. */
static double
number(double x)
{
	return nearbyint(x * 1e6) / 1e6;
}

enum rc
profile_newborn(const struct soul *soul, struct arena *a, struct wire_soul *out)
{
	struct str created = stamp(a, soul->created);
	struct persona p;

	if (persona_of_mbti(soul->mbti_type, &p) != RC_OK)
		return RC_BUG;
	if (created.p == NULL)
		return RC_TOOBIG;
	put_soul(soul, created, out);
	out->personality_vector =
	    (struct wire_personality_vector){ number(p.empathy),
		    number(p.sensitivity), number(p.stability),
		    number(p.expressiveness), number(p.dominance) };
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
