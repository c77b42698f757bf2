/*
 * Between records and the state library.
 */
#include "store.h"

#include "core/log.h"
#include "state/soul.h"

/* A soul that was made and has never felt anything: only its type is known. */
static enum rc
store_first(struct state *s, struct store_soul *x, struct arena *a)
{
	enum persona_model model;
	struct soul who;
	enum rc rc;

	rc = soul_read(s, x->id, a, &who);
	if (rc == RC_OK)
		rc = persona_model_of(who.model, &model);
	if (rc != RC_OK)
		return rc;
	return record_new(who.mbti_type, model,
	    who.created.ms * INT64_C(1000000), &x->record);
}

static void
store_report(const struct store_soul *x, size_t bytes)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, 10, &missed))
		log_error("soul.unreadable", LOG_V("soul", x->id),
		    LOG_I("version", x->version), LOG_I("bytes", bytes),
		    LOG_I("missed", missed));
}

void
store_take(const struct store *s, struct store_soul *x,
    const struct soul_state *st, struct arena *a)
{
	x->version = st->version;
	x->saved = false;
	x->log = (struct str){ NULL, 0 };
	if (st->version == 0)
		x->rc = RC_NOENT;
	else if (st->bytes.n == 0)
		x->rc = store_first(s->state, x, a);
	else
		x->rc = record_unpack(st->bytes, &x->record);
	if (x->rc == RC_INVALID)
		store_report(x, st->bytes.n);
	if (x->rc == RC_OK && s->migrate)
		x->record.state.model = PERSONA_PAD_V3;
}

enum rc
store_load(
    const struct store *s, struct store_soul *souls, size_t n, struct arena *a)
{
	struct soul_state *st = arena_alloc(a, n * sizeof(*st));
	size_t i;
	enum rc rc;

	if (st == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		st[i].soul_id = souls[i].id;
	rc = soul_state_get(s->state, st, n, a);
	if (rc != RC_OK)
		return rc;
	for (i = 0; i < n; i++)
		store_take(s, &souls[i], &st[i], a);
	return RC_OK;
}

enum rc
store_save(
    const struct store *s, struct store_soul *souls, size_t n, struct arena *a)
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
