/*
 * The two execution gates.
 */
#include "dynamics/pad.h"

#include <math.h>

#include "persona/persona.h"

#define BASE        .95 /* of a soul at rest */
#define LOCK_FACTOR .02
#define XI_MEMORY   .95
#define XI_SHOCK    .8

static struct gate
gate_continuous(const struct persona *t, const struct pad_state *s, bool locked)
{
	double se = t->sensitivity, st = t->stability;
	double rho = persona_resilience(t), kappa = persona_reactivity(t);
	double from = clamp(.6 - .2 * se + .2 * st, .35, .85);
	double alpha = clamp(2.2 + 2.8 * se - 1.8 * st, .6, 5.5);
	double z = clamp01((pad_peak(s) - from) / (1 - from));
	double memory =
	    XI_MEMORY * clamp(.55 + .90 * kappa - .45 * rho, .35, 1.30);
	double shock =
	    XI_SHOCK * clamp(.55 + 1.00 * kappa - .35 * rho, .35, 1.35);
	double g = exp(-(alpha * z * z * z + memory * s->extreme_memory +
	    shock * s->shock_load));
	double threshold = clamp(.36 - .12 * rho + .08 * kappa, .16, .48);
	struct gate out;

	if (locked)
		g *= LOCK_FACTOR;
	out.probability = clamp01(BASE * g);
	out.mode = out.probability >= threshold ? WIRE_EXEC_MODE_AUTO_EXECUTE
						: WIRE_EXEC_MODE_BLOCKED;
	return out;
}

struct gate
gate_at(enum pad_gate kind, const struct persona *base,
    const struct pad_state *s, int64_t now)
{
	bool locked = pad_locked(s, now);
	struct persona t;

	if (kind == PAD_GATE_BINARY && locked)
		return (struct gate){ 0, WIRE_EXEC_MODE_BLOCKED };
	if (kind == PAD_GATE_BINARY)
		return (struct gate){ 1, WIRE_EXEC_MODE_AUTO_EXECUTE };
	t = persona_add(base, &s->drift);
	return gate_continuous(&t, s, locked);
}

enum rc
gate_kind(struct str name, enum pad_gate *out)
{
	if (str_eq(name, STR("continuous")))
		*out = PAD_GATE_CONTINUOUS;
	else if (str_eq(name, STR("binary")))
		*out = PAD_GATE_BINARY;
	else
		return RC_INVALID;
	return RC_OK;
}
