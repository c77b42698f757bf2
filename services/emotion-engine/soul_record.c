/*
 * Packed form, little-endian: 8 bytes (format, model), the numbers and times of
 * the emotion, which are all of format 1; the numbers of the drives, their
 * times, and the requests that were applied.
 */
#include "soul_record.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "core/log.h"
#include "core/mem.h"
#include "state/soul.h"

#define RECORD_FORMAT_1 1
#define RECORD_FORMAT   2
#define RECORD_HEAD     8
#define RECORD_DOUBLES  20
#define RECORD_TIMES    4
#define RECORD_SIZE_1   (RECORD_HEAD + 8 * (RECORD_DOUBLES + RECORD_TIMES))

_Static_assert(
    RECORD_SIZE == RECORD_SIZE_1 + 8 * (DRIVE_N + 1 + 2 + RECORD_APPLIED_N),
    "the parts fill it");

/* The numbers and times in packing order. */
static void
record_parts(
    struct record *r, double *num[RECORD_DOUBLES], int64_t *at[RECORD_TIMES])
{
	struct pad_state *s = &r->state;
	double *all[RECORD_DOUBLES] = { &r->base.empathy, &r->base.sensitivity,
		&r->base.stability, &r->base.expressiveness, &r->base.dominance,
		&s->p, &s->a, &s->d, &s->boredom, &s->shock_load,
		&s->extreme_memory, &s->mu_p, &s->mu_a, &s->mu_d,
		&s->volatility, &s->drift.empathy, &s->drift.sensitivity,
		&s->drift.stability, &s->drift.expressiveness,
		&s->drift.dominance };
	int64_t *times[RECORD_TIMES] = { &s->lock_until, &s->stable_since,
		&s->last_interaction, &s->last_updated };

	memcpy(num, all, sizeof(all));
	memcpy(at, times, sizeof(times));
}

static void
record_put64(char *dst, const void *v)
{
	uint64_t u;

	memcpy(&u, v, sizeof(u));
	u = htole64(u);
	memcpy(dst, &u, sizeof(u));
}

static void
record_get64(const char *src, void *v)
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
	*out = (struct record){ .base = base };
	pad_new(&out->state, model, now);
	drives_new(&out->drives, now);
	return RC_OK;
}

int64_t
record_applied_id(struct str request)
{
	uint64_t h = str_hash(request);
	int64_t id;

	memcpy(&id, &h, sizeof(id));
	return id != 0 ? id : 1;
}

bool
record_is_applied(const struct record *r, int64_t id)
{
	for (size_t i = 0; i < RECORD_APPLIED_N; i++)
		if (r->applied[i] == id)
			return true;
	return false;
}

void
record_add_applied(struct record *r, int64_t id)
{
	memmove(&r->applied[1], &r->applied[0],
	    (RECORD_APPLIED_N - 1) * sizeof(r->applied[0]));
	r->applied[0] = id;
}

/* What follows the parts of format 1. */
static void
record_put_drives(const struct record *r, char *p)
{
	for (size_t i = 0; i < DRIVE_N; i++, p += 8)
		record_put64(p, &r->drives.value[i]);
	record_put64(p, &r->drives.turns);
	record_put64(p + 8, &r->drives.day);
	record_put64(p + 16, &r->drives.last_updated);
	for (size_t i = 0; i < RECORD_APPLIED_N; i++)
		record_put64(p + 24 + 8 * i, &r->applied[i]);
}

static enum rc
record_get_drives(const char *p, struct record *out)
{
	struct drives *d = &out->drives;

	for (size_t i = 0; i < DRIVE_N; i++, p += 8) {
		record_get64(p, &d->value[i]);
		if (!(d->value[i] >= 0 && d->value[i] <= 1))
			return RC_INVALID;
	}
	record_get64(p, &d->turns);
	record_get64(p + 8, &d->day);
	record_get64(p + 16, &d->last_updated);
	for (size_t i = 0; i < RECORD_APPLIED_N; i++)
		record_get64(p + 24 + 8 * i, &out->applied[i]);
	return isfinite(d->turns) ? RC_OK : RC_INVALID;
}

struct str
record_pack(const struct record *r, char dst[RECORD_SIZE])
{
	struct record copy = *r;
	double *num[RECORD_DOUBLES];
	int64_t *at[RECORD_TIMES];
	char *p = dst + RECORD_HEAD;
	size_t i;

	record_parts(&copy, num, at);
	memset(dst, 0, RECORD_HEAD);
	dst[0] = RECORD_FORMAT;
	dst[1] = (char)r->state.model;
	for (i = 0; i < RECORD_DOUBLES; i++, p += 8)
		record_put64(p, num[i]);
	for (i = 0; i < RECORD_TIMES; i++, p += 8)
		record_put64(p, at[i]);
	record_put_drives(r, p);
	return (struct str){ dst, RECORD_SIZE };
}

static bool
record_has_size(struct str bytes)
{
	if (bytes.n == RECORD_SIZE)
		return bytes.p[0] == RECORD_FORMAT;
	return bytes.n == RECORD_SIZE_1 && bytes.p[0] == RECORD_FORMAT_1;
}

enum rc
record_unpack(struct str bytes, struct record *out)
{
	double *num[RECORD_DOUBLES];
	int64_t *at[RECORD_TIMES];
	const char *p = bytes.p;
	size_t i;

	if (!record_has_size(bytes) ||
	    (p[1] != PERSONA_PAD_V2 && p[1] != PERSONA_PAD_V3))
		return RC_INVALID;
	*out = (struct record){ .state.model = (enum persona_model)p[1] };
	record_parts(out, num, at);
	p += RECORD_HEAD;
	for (i = 0; i < RECORD_DOUBLES; i++, p += 8) {
		record_get64(p, num[i]);
		if (!isfinite(*num[i]))
			return RC_INVALID;
	}
	for (i = 0; i < RECORD_TIMES; i++, p += 8)
		record_get64(p, at[i]);
	if (bytes.n == RECORD_SIZE)
		return record_get_drives(p, out);
	drives_new(&out->drives, out->state.last_updated);
	return RC_OK;
}

/* The stored record of a new soul is empty: only its type is known. */
static enum rc
record_initial(struct state *s, struct stored_soul *x, struct arena *a)
{
	enum persona_model model;
	struct soul stored;
	enum rc rc;

	rc = soul_read(s, x->user_id, x->id, a, &stored);
	if (rc == RC_OK)
		rc = persona_model_of(stored.model, &model);
	if (rc != RC_OK)
		return rc;
	return record_new(stored.mbti_type, model,
	    stored.created.ms * INT64_C(1000000), &x->record);
}

static void
record_report_unreadable(const struct stored_soul *x, size_t bytes)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, 10, &missed))
		log_error("soul.unreadable", LOG_V("soul", x->id),
		    LOG_I("version", x->version), LOG_I("bytes", bytes),
		    LOG_I("missed", missed));
}

void
record_store_take(const struct record_store *s, struct stored_soul *x,
    const struct soul_state *st, struct arena *a)
{
	x->version = st->version;
	x->saved = false;
	x->log = (struct str){ NULL, 0 };
	if (st->version == 0)
		x->rc = RC_NOENT;
	else if (st->bytes.n == 0)
		x->rc = record_initial(s->state, x, a);
	else
		x->rc = record_unpack(st->bytes, &x->record);
	if (x->rc == RC_INVALID)
		record_report_unreadable(x, st->bytes.n);
	if (x->rc == RC_OK && s->migrate)
		x->record.state.model = PERSONA_PAD_V3;
}

enum rc
record_store_load(const struct record_store *s, struct stored_soul *souls,
    size_t n, struct arena *a)
{
	struct soul_state *st = arena_alloc(a, n * sizeof(*st));
	size_t i;
	enum rc rc;

	if (st == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		st[i].user_id = souls[i].user_id;
		st[i].soul_id = souls[i].id;
	}
	rc = soul_state_get(s->state, st, n, a);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < n; i++)
		record_store_take(s, &souls[i], &st[i], a);
	return RC_OK;
}

enum rc
record_store_save(const struct record_store *s, struct stored_soul *souls,
    size_t n, struct arena *a)
{
	struct soul_state *st = arena_alloc(a, n * sizeof(*st));
	char(*bytes)[RECORD_SIZE] = arena_alloc(a, n * sizeof(*bytes));
	bool *won = arena_alloc(a, n * sizeof(*won));
	size_t i, k = 0;
	enum rc rc;

	if (st == NULL || bytes == NULL || won == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		souls[i].saved = false;
		if (souls[i].rc != RC_OK)
			continue;
		st[k].user_id = souls[i].user_id;
		st[k].soul_id = souls[i].id;
		st[k].version = souls[i].version;
		st[k].bytes = record_pack(&souls[i].record, bytes[k]);
		st[k].log = souls[i].log;
		k++;
	}
	if (k == 0)
		return RC_OK;
	rc = soul_state_cas(s->state, st, k, won);
	if (rc != RC_OK)
		return rc;
	for (i = 0, k = 0; i < n; i++) {
		if (souls[i].rc != RC_OK)
			continue;
		souls[i].saved = won[k++];
		if (souls[i].saved)
			souls[i].version++;
	}
	return RC_OK;
}

enum rc
record_store_swap(
    const struct record_store *s, struct stored_soul *soul, struct arena *a)
{
	char bytes[RECORD_SIZE];
	struct soul_state st = { .user_id = soul->user_id,
		.soul_id = soul->id,
		.version = soul->version,
		.bytes = record_pack(&soul->record, bytes),
		.log = soul->log,
		.turn_id = soul->turn_id };
	enum rc rc;

	rc = soul_state_swap(s->state, &st, a, &soul->saved);
	soul->noted = rc == RC_OK && st.noted;
	if (rc != RC_OK)
		return rc;
	if (soul->saved)
		soul->version++;
	else
		record_store_take(s, soul, &st, a);
	return RC_OK;
}
