/*
 * Packing: a head of eight bytes (format, model), the numbers, the times, all
 * little-endian.
 */
#include "record.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "core/mem.h"

#define FORMAT  1
#define HEAD    8
#define DOUBLES 20
#define TIMES   4

_Static_assert(
    RECORD_SIZE == HEAD + 8 * (DOUBLES + TIMES), "the parts fill it");

/* Where each number of a record stands, in the order of packing. */
static void
record_parts(struct record *r, double *num[DOUBLES], int64_t *at[TIMES])
{
	struct pad_state *s = &r->state;
	double *all[DOUBLES] = { &r->base.empathy, &r->base.sensitivity,
		&r->base.stability, &r->base.expressiveness, &r->base.dominance,
		&s->p, &s->a, &s->d, &s->boredom, &s->shock_load,
		&s->extreme_memory, &s->mu_p, &s->mu_a, &s->mu_d,
		&s->volatility, &s->drift.empathy, &s->drift.sensitivity,
		&s->drift.stability, &s->drift.expressiveness,
		&s->drift.dominance };
	int64_t *times[TIMES] = { &s->lock_until, &s->stable_since,
		&s->last_interaction, &s->last_updated };

	memcpy(num, all, sizeof(all));
	memcpy(at, times, sizeof(times));
}

static void
put64(char *dst, const void *v)
{
	uint64_t u;

	memcpy(&u, v, sizeof(u));
	u = htole64(u);
	memcpy(dst, &u, sizeof(u));
}

static void
get64(const char *src, void *v)
{
	uint64_t u;

	memcpy(&u, src, sizeof(u));
	u = le64toh(u);
	memcpy(v, &u, sizeof(u));
}

enum rc
record_new(
    struct str mbti, enum persona_model model, int64_t now, struct record *out)
{
	struct persona base;
	enum rc rc;

	rc = persona_of_mbti(mbti, &base);
	if (rc != RC_OK)
		return rc;
	out->base = base;
	pad_new(&out->state, model, now);
	return RC_OK;
}

struct str
record_pack(const struct record *r, char dst[RECORD_SIZE])
{
	struct record copy = *r;
	double *num[DOUBLES];
	int64_t *at[TIMES];
	char *p = dst + HEAD;
	size_t i;

	record_parts(&copy, num, at);
	memset(dst, 0, HEAD);
	dst[0] = FORMAT;
	dst[1] = (char)r->state.model;
	for (i = 0; i < DOUBLES; i++, p += 8)
		put64(p, num[i]);
	for (i = 0; i < TIMES; i++, p += 8)
		put64(p, at[i]);
	return (struct str){ dst, RECORD_SIZE };
}

enum rc
record_unpack(struct str bytes, struct record *out)
{
	double *num[DOUBLES];
	int64_t *at[TIMES];
	const char *p = bytes.p;
	size_t i;

	if (bytes.n != RECORD_SIZE || p[0] != FORMAT ||
	    (p[1] != PERSONA_PAD_V2 && p[1] != PERSONA_PAD_V3))
		return RC_INVALID;
	out->state.model = (enum persona_model)p[1];
	record_parts(out, num, at);
	p += HEAD;
	for (i = 0; i < DOUBLES; i++, p += 8) {
		get64(p, num[i]);
		if (!isfinite(*num[i]))
			return RC_INVALID;
	}
	for (i = 0; i < TIMES; i++, p += 8)
		get64(p, at[i]);
	return RC_OK;
}
