/*
 * Packed form: format, cause, emotion, mode; version; numbers; ids, each
 * after its length.  Little-endian.
 */
#include "change.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/id.h"
#include "core/mem.h"
#include "persona/emotion.h"
#include "persona/persona.h"

#define SECOND INT64_C(1000000000)

#define FORMAT  1
#define HEAD    12
#define NUMBERS 12
#define TEXTS   (HEAD + 4 * NUMBERS)

_Static_assert(CHANGE_MAX >= TEXTS + 2 * (1 + ID_MAX), "there is room for all");

#define CAUSE(x) WIRE_EMOTION_HISTORY_REPLY_ITEMS_CAUSE_##x

static void
change_after(const struct pad_state *s, struct change *out)
{
	*out = (struct change){ .p = s->p,
		.a = s->a,
		.d = s->d,
		.boredom = s->boredom,
		.shock_load = s->shock_load,
		.extreme_memory = s->extreme_memory };
}

void
change_by_user(const struct pad_state *before, const struct pad_state *after,
    const struct pad_input *in, struct change *out)
{
	change_after(after, out);
	out->cause = CAUSE(USER_INPUT);
	out->delta = (struct wire_emotion_history_reply_items_delta){
		after->p - before->p, after->a - before->a,
		after->d - before->d, after->shock_load - before->shock_load
	};
	out->emotion = in->emotion;
	out->intensity = in->intensity;
}

bool
change_by_time(const struct pad_state *before, const struct pad_state *after,
    struct change *out)
{
	static const int sample_seconds[] = { 10, 30, 60, 120, 300, 600, 1800,
		3600, 7200, 21600, 86400 };
	int64_t from = before->last_updated - before->last_interaction;
	int64_t to = after->last_updated - after->last_interaction;
	bool due = false;
	size_t i;

	change_after(after, out);
	out->cause = CAUSE(SILENCE);
	if (before->lock_until != 0 && after->lock_until == 0) {
		out->cause = CAUSE(LOCK_EXPIRED);
		return true;
	}
	for (i = 0; i < NELEM(sample_seconds); i++)
		due = due ||
		    (from < sample_seconds[i] * SECOND &&
			to >= sample_seconds[i] * SECOND);
	return due;
}

void
change_by_psyche(const struct pad_state *after,
    const struct drive_delta *effect, struct change *out)
{
	change_after(after, out);
	out->cause = CAUSE(PSYCHE);
	out->delta =
	    (struct wire_emotion_history_reply_items_delta){ effect->pad[0],
		    effect->pad[1], effect->pad[2], 0 };
}

/* The numbers in packing order. */
static void
change_numbers(struct change *c, double *num[NUMBERS])
{
	double *all[NUMBERS] = { &c->intensity, &c->p, &c->a, &c->d,
		&c->boredom, &c->shock_load, &c->extreme_memory,
		&c->gate.probability, &c->delta.p, &c->delta.a, &c->delta.d,
		&c->delta.shock_load };

	memcpy(num, all, sizeof(all));
}

static char *
change_put_id(char *dst, struct str id)
{
	size_t n = id.n <= ID_MAX ? id.n : 0;

	*dst++ = (char)n;
	if (n > 0)
		memcpy(dst, id.p, n);
	return dst + n;
}

struct str
change_pack(const struct change *c, char dst[CHANGE_MAX])
{
	const char head[] = { FORMAT, (char)c->cause, (char)c->emotion,
		(char)c->gate.mode };
	uint64_t version = htole64((uint64_t)c->version);
	struct change copy = *c;
	double *num[NUMBERS];
	char *p = dst + HEAD;
	uint32_t u;
	float f;
	size_t i;

	memcpy(dst, head, sizeof(head));
	memcpy(dst + sizeof(head), &version, sizeof(version));
	change_numbers(&copy, num);
	for (i = 0; i < NUMBERS; i++, p += sizeof(u)) {
		f = (float)*num[i];
		memcpy(&u, &f, sizeof(u));
		u = htole32(u);
		memcpy(p, &u, sizeof(u));
	}
	p = change_put_id(p, c->session_id);
	p = change_put_id(p, c->turn_id);
	return (struct str){ dst, (size_t)(p - dst) };
}

/* Read the id at *at and advance *at. */
static enum rc
change_get_id(struct str bytes, size_t *at, struct str *out)
{
	size_t n;

	if (*at >= bytes.n)
		return RC_INVALID;
	n = (unsigned char)bytes.p[(*at)++];
	if (*at + n > bytes.n)
		return RC_INVALID;
	*out =
	    n > 0 ? (struct str){ bytes.p + *at, n } : (struct str){ NULL, 0 };
	*at += n;
	return RC_OK;
}

enum rc
change_unpack(struct str bytes, struct change *out)
{
	double *num[NUMBERS];
	uint64_t version;
	uint32_t u;
	float f;
	size_t i, at = TEXTS;

	if (bytes.n < TEXTS || bytes.p[0] != FORMAT ||
	    (unsigned char)bytes.p[1] > CAUSE(PSYCHE) ||
	    (unsigned char)bytes.p[2] >= EMOTION_N ||
	    (unsigned char)bytes.p[3] > WIRE_EXEC_MODE_BLOCKED)
		return RC_INVALID;
	out->cause = (enum wire_emotion_history_reply_items_cause)bytes.p[1];
	out->emotion = (enum wire_emotion)bytes.p[2];
	out->gate.mode = (enum wire_exec_mode)bytes.p[3];
	memcpy(&version, bytes.p + 4, sizeof(version));
	out->version = (int64_t)le64toh(version);
	change_numbers(out, num);
	for (i = 0; i < NUMBERS; i++) {
		memcpy(&u, bytes.p + HEAD + i * sizeof(u), sizeof(u));
		u = le32toh(u);
		memcpy(&f, &u, sizeof(f));
		if (!isfinite(f))
			return RC_INVALID;
		*num[i] = (double)f;
	}
	if (change_get_id(bytes, &at, &out->session_id) != RC_OK ||
	    change_get_id(bytes, &at, &out->turn_id) != RC_OK || at != bytes.n)
		return RC_INVALID;
	return RC_OK;
}

struct str
change_reason(enum wire_emotion e, char dst[CHANGE_REASON_MAX])
{
	snprintf(dst, CHANGE_REASON_MAX, "user_%.*s",
	    STR_ARG(wire_emotion_names[e]));
	return str_of(dst);
}
