/*
 * From plain numbers to the structs of the messages.
 */
#include "tell.h"

#include <math.h>

struct wall
tell_time(int64_t t)
{
	return (struct wall){ t / 1000000 };
}

/*
 * Six decimals say all a body can show, and are written faster.  Adding 0 makes
 * 0 of -0.
 */
double
tell_number(double x)
{
	return nearbyint(x * 1e6) / 1e6 + 0.0;
}

static struct str
text_of(int64_t t, char dst[WALL_FORMAT_MAX])
{
	if (t == 0)
		return (struct str){ NULL, 0 };
	wall_format(tell_time(t), 0, dst);
	return str_of(dst);
}

void
tell_state(const struct pad_state *s, struct tell_texts *t,
    struct wire_emotion_state *out)
{
	*out = (struct wire_emotion_state){
		.p = tell_number(s->p),
		.a = tell_number(s->a),
		.d = tell_number(s->d),
		.boredom = tell_number(s->boredom),
		.has_boredom = true,
		.shock_load = tell_number(s->shock_load),
		.has_shock_load = true,
		.extreme_memory = tell_number(s->extreme_memory),
		.has_extreme_memory = true,
		.long_mu_p = tell_number(s->mu_p),
		.has_long_mu_p = true,
		.long_mu_a = tell_number(s->mu_a),
		.has_long_mu_a = true,
		.long_mu_d = tell_number(s->mu_d),
		.has_long_mu_d = true,
		.long_volatility = tell_number(s->volatility),
		.has_long_volatility = true,
		.drift = { tell_number(s->drift.empathy),
		    tell_number(s->drift.sensitivity),
		    tell_number(s->drift.stability),
		    tell_number(s->drift.expressiveness),
		    tell_number(s->drift.dominance) },
		.has_drift = true,
		.lock_until = text_of(s->lock_until, t->lock_until),
		.stable_since = text_of(s->stable_since, t->stable_since),
		.last_interaction_at =
		    text_of(s->last_interaction, t->last_interaction),
		.last_updated_at = text_of(s->last_updated, t->last_updated),
	};
}

struct wire_personality_vector
tell_persona(const struct persona *p)
{
	return (struct wire_personality_vector){
		tell_number(p->empathy),
		tell_number(p->sensitivity),
		tell_number(p->stability),
		tell_number(p->expressiveness),
		tell_number(p->dominance),
	};
}

struct wire_emotion_history_reply_items_delta
tell_delta(const struct wire_emotion_history_reply_items_delta *d)
{
	return (struct wire_emotion_history_reply_items_delta){
		tell_number(d->p), tell_number(d->a), tell_number(d->d),
		tell_number(d->shock_load)
	};
}

static enum rc
tell_user(const struct change *c, struct arena *a,
    struct wire_emotion_history_reply_items *out)
{
	char reason[CHANGE_REASON_MAX];

	out->user_emotion = c->emotion;
	out->has_user_emotion = true;
	out->intensity = tell_number(c->intensity);
	out->has_intensity = true;
	out->session_id = c->session_id;
	out->turn_id = c->turn_id;
	out->reason = arena_str(a, change_reason(c->emotion, reason));
	return out->reason.p == NULL ? RC_TOOBIG : RC_OK;
}

enum rc
tell_change(const struct change *c, struct wall at, struct arena *a,
    struct wire_emotion_history_reply_items *out)
{
	char time[WALL_FORMAT_MAX];

	wall_format(at, 0, time);
	*out = (struct wire_emotion_history_reply_items){
		.time = arena_str(a, str_of(time)),
		.version = c->version,
		.cause = c->cause,
		.p = tell_number(c->p),
		.a = tell_number(c->a),
		.d = tell_number(c->d),
		.boredom = tell_number(c->boredom),
		.shock_load = tell_number(c->shock_load),
		.extreme_memory = tell_number(c->extreme_memory),
		.exec_probability = tell_number(c->gate.probability),
		.exec_mode = c->gate.mode,
		.delta = tell_delta(&c->delta),
	};
	if (out->time.p == NULL)
		return RC_TOOBIG;
	return c->cause == WIRE_EMOTION_HISTORY_REPLY_ITEMS_CAUSE_USER_INPUT
	    ? tell_user(c, a, out)
	    : RC_OK;
}
