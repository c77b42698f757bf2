#include "body/observation.h"

#include <string.h>

#define SECOND_MS 1000

static struct observation *
observation_slot(struct observations *o, uint64_t seq)
{
	return &o->list[seq % OBSERVATION_MAX];
}

static void
observation_set_text(struct observation *v, struct str text)
{
	text = str_clip(text, OBSERVATION_BYTES);
	memcpy(v->text, text.n > 0 ? text.p : "", text.n);
	v->text[text.n] = '\0';
}

void
observation_add(struct observations *o, struct str text, struct mono now)
{
	struct observation *v = observation_slot(o, o->seq);

	if (o->seq > 0 && mono_diff_ms(now, v->at) < SECOND_MS) {
		/* The newest of this second, which began with the first. */
		v->omitted++;
		observation_set_text(v, text);
		return;
	}
	v = observation_slot(o, ++o->seq);
	v->seq = o->seq;
	v->at = now;
	v->omitted = 0;
	observation_set_text(v, text);
}

const struct observation *
observation_newest(const struct observations *o, uint64_t after, size_t i)
{
	if (i >= OBSERVATION_MAX || o->seq <= i || o->seq - i <= after)
		return NULL;
	return &o->list[(o->seq - i) % OBSERVATION_MAX];
}

size_t
observation_omitted(const struct observations *o, uint64_t after)
{
	const struct observation *v;
	size_t i, n = 0;

	for (i = 0; (v = observation_newest(o, after, i)) != NULL; i++)
		n += v->omitted;
	/* Those that others have replaced, at least. */
	return n + (size_t)(o->seq - after) - i;
}
