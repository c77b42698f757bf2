#include "persona/persona.h"

#include "core/mem.h"

/* Added for the first letter of each pair, subtracted for the second. */
static const struct {
	char plus, minus;
	struct persona bias;
} persona_axes[] = {
	{ 'E', 'I', { 0, -.03, 0, .20, .10 } },
	{ 'S', 'N', { -.02, .08, .06, -.03, .03 } },
	{ 'T', 'F', { -.15, -.05, .08, -.05, .12 } },
	{ 'J', 'P', { 0, -.03, .15, -.02, .08 } },
};

static struct persona
persona_shift(const struct persona *base, double sign, const struct persona *by)
{
	return (struct persona){
		.empathy = clamp01(base->empathy + sign * by->empathy),
		.sensitivity =
		    clamp01(base->sensitivity + sign * by->sensitivity),
		.stability = clamp01(base->stability + sign * by->stability),
		.expressiveness =
		    clamp01(base->expressiveness + sign * by->expressiveness),
		.dominance = clamp01(base->dominance + sign * by->dominance),
	};
}

enum rc
persona_of_mbti(struct str mbti, struct persona *out)
{
	struct persona t = { .5, .5, .5, .5, .5 };
	size_t i;

	if (mbti.n != NELEM(persona_axes))
		return RC_INVALID;
	for (i = 0; i < NELEM(persona_axes); i++) {
		char c = mbti.p[i];

		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		if (c != persona_axes[i].plus && c != persona_axes[i].minus)
			return RC_INVALID;
		t = persona_shift(&t, c == persona_axes[i].plus ? 1 : -1,
		    &persona_axes[i].bias);
	}
	*out = t;
	return RC_OK;
}

struct persona
persona_add(const struct persona *base, const struct persona *drift)
{
	return persona_shift(base, 1, drift);
}

double
persona_resilience(const struct persona *t)
{
	return clamp01(.58 * t->stability + .22 * (1 - t->sensitivity) +
	    .20 * t->dominance);
}

double
persona_reactivity(const struct persona *t)
{
	return clamp01(.55 * t->sensitivity + .25 * (1 - t->stability) +
	    .20 * (1 - t->dominance));
}

static const struct {
	enum persona_model model;
	const char *name;
} persona_models[] = {
	{ PERSONA_PAD_V2, "persona-pad-v2" },
	{ PERSONA_PAD_V3, "persona-pad-v3" },
};

enum rc
persona_model_of(struct str name, enum persona_model *out)
{
	size_t i;

	for (i = 0; i < NELEM(persona_models); i++) {
		if (!str_eq(name, str_of(persona_models[i].name)))
			continue;
		*out = persona_models[i].model;
		return RC_OK;
	}
	return RC_INVALID;
}

const char *
persona_model_name(enum persona_model m)
{
	return persona_models[m == PERSONA_PAD_V2 ? 0 : 1].name;
}
