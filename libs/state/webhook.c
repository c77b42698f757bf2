#include "state/webhook.h"

#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* Elements of a webhook in the replies to a list, and a claim. */
#define LIST_ROW  9
#define CLAIM_ROW 4

_Static_assert(WEBHOOK_EVENTS_MAX == WEBHOOK_BATCH, "the events of a claim");

static void
webhook_call(struct script_call *c, const struct state_script *script,
    const struct webhook_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_USER_WEBHOOKS, k->user_id, STR_NONE);
	call_key(c, KEY_WEBHOOK, k->user_id, k->id);
	call_key(c, KEY_WEBHOOK_QUEUE, k->user_id, k->id);
	call_key(c, KEY_WEBHOOK_DEAD, k->user_id, k->id);
	call_key_of(c, KEY_WEBHOOKS_DUE, k->user_id, STR_NONE);
}

/* ---- of a user ---- */

enum rc
webhook_put(struct state *s, const struct webhook_key *k, struct wall created,
    struct str types, struct str json)
{
	const size_t max = WEBHOOK_MAX + WEBHOOK_TYPES_MAX;
	struct buf value = BUF_INIT(max);
	struct script_call c;
	enum rc rc;

	buf_printf(&value, "%lld ", (long long)created.ms);
	if (types.n > 0)
		buf_printf(&value, ",%.*s,\n", STR_ARG(types));
	else
		buf_puts(&value, "*\n");
	buf_put_str(&value, json);
	rc = buf_rc(&value);
	if (rc == RC_OK) {
		call_begin(&c, &script_user_entry_put);
		call_key(&c, KEY_USER_WEBHOOKS, k->user_id, STR_NONE);
		call_token(&c, k->id);
		call_text(&c, buf_str(&value), max);
		call_num(&c, WEBHOOKS_MAX);
		rc = call_run(s, &c, 1, NULL);
	}
	buf_free(&value);
	return rc;
}

static enum rc
webhook_change(struct state *s, const struct state_script *script,
    const struct webhook_key *k)
{
	struct script_call c;

	webhook_call(&c, script, k);
	call_token(&c, k->id);
	call_tokens(&c, k->user_id, ':', k->id);
	return call_run(s, &c, 1, NULL);
}

enum rc
webhook_delete(struct state *s, const struct webhook_key *k)
{
	return webhook_change(s, &script_webhook_delete, k);
}

enum rc
webhook_redeliver(struct state *s, const struct webhook_key *k)
{
	return webhook_change(s, &script_webhook_redeliver, k);
}

/* The JSON of a value. */
static struct str
webhook_json(struct record_reader *rd, const struct state_reply *r)
{
	struct str text = record_text(rd, r);

	(void)str_split(&text, '\n');
	if (text.p == NULL)
		rd->rc = rd->rc == RC_OK ? RC_INVALID : rd->rc;
	return text;
}

static void
webhook_read_listed(struct record_reader *rd, const struct state_reply *list,
    size_t i, struct webhook_listed *w)
{
	w->id = record_id(rd, state_reply_at(list, i));
	w->json = webhook_json(rd, state_reply_at(list, i + 1));
	w->tries = record_num(rd, state_reply_at(list, i + 2));
	w->at.ms = record_num(rd, state_reply_at(list, i + 3));
	w->status = record_num(rd, state_reply_at(list, i + 4));
	w->why = record_text(rd, state_reply_at(list, i + 5));
	w->dropped = record_num(rd, state_reply_at(list, i + 6));
	w->pending = record_num(rd, state_reply_at(list, i + 7));
	w->dead = record_num(rd, state_reply_at(list, i + 8));
}

static int
webhook_compare(const void *a, const void *b)
{
	return str_cmp(((const struct webhook_listed *)a)->id,
	    ((const struct webhook_listed *)b)->id);
}

enum rc
webhook_list(struct state *s, struct str user, struct arena *a,
    struct webhook_listed **out, size_t *n)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	*n = 0;
	call_begin(&c, &script_webhook_list);
	call_key(&c, KEY_USER_WEBHOOKS, user, STR_NONE);
	call_token(&c, user);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK) {
		list = state_reply_at(r, 1);
		*out = arena_alloc(
		    a, (state_reply_len(list) / LIST_ROW + 1) * sizeof(**out));
		rd.rc = *out == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(list);
		     i += LIST_ROW)
			webhook_read_listed(&rd, list, i, &(*out)[(*n)++]);
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc == RC_OK)
		qsort(*out, *n, sizeof(**out), webhook_compare);
	else
		*n = 0;
	state_reply_free(r);
	return rc;
}

/* ---- events ---- */

enum rc
webhook_enqueue(struct state *s, const struct webhook_event *e, size_t *n)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_webhook_enqueue);
	call_key(&c, KEY_USER_WEBHOOKS, e->user_id, STR_NONE);
	call_key_of(&c, KEY_WEBHOOKS_DUE, e->user_id, STR_NONE);
	call_token(&c, e->user_id);
	call_text(&c, e->type, WEBHOOK_TYPES_MAX);
	call_num(&c, e->at.ms);
	call_num(&c, e->seq);
	rc = call_run(s, &c, 2, &r);
	*n = call_is_done(rc) ? (size_t)state_reply_int(state_reply_at(r, 1))
			      : 0;
	state_reply_free(r);
	return rc;
}

static void
webhook_read_claimed(struct record_reader *rd, const struct state_reply *list,
    size_t i, struct webhook_claimed *w)
{
	const struct state_reply *events = state_reply_at(list, i + 3);

	*w = (struct webhook_claimed){ .n = 0 };
	record_id_pair(rd, state_reply_str(state_reply_at(list, i)),
	    &w->key.user_id, &w->key.id);
	w->json = webhook_json(rd, state_reply_at(list, i + 1));
	w->tries = record_num(rd, state_reply_at(list, i + 2));
	while (w->n < state_reply_len(events) && w->n < WEBHOOK_EVENTS_MAX) {
		w->seq[w->n] = record_num(rd, state_reply_at(events, w->n));
		w->n++;
	}
}

enum rc
webhook_claim(struct state *s, unsigned bucket, int64_t lease_ms, size_t max,
    struct arena *a, struct webhook_claims *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct state_reply *r;
	struct script_call c;
	size_t i;
	enum rc rc;

	*out = (struct webhook_claims){ 0 };
	if (lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &script_webhook_claim);
	call_bucket_key(&c, KEY_WEBHOOKS_DUE, bucket);
	call_num(&c, lease_ms);
	call_num(
	    &c, (int64_t)(max < WEBHOOK_CLAIM_MAX ? max : WEBHOOK_CLAIM_MAX));
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->now.ms = state_reply_int(state_reply_at(r, 1));
		out->next.ms = state_reply_int(state_reply_at(r, 2));
		list = state_reply_at(r, 3);
		out->hook = arena_alloc(a,
		    (state_reply_len(list) / CLAIM_ROW + 1) *
			sizeof(*out->hook));
		rd.rc = out->hook == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < state_reply_len(list);
		     i += CLAIM_ROW)
			webhook_read_claimed(
			    &rd, list, i, &out->hook[out->n++]);
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		out->n = 0;
	state_reply_free(r);
	return rc;
}

enum rc
webhook_end(struct state *s, const struct webhook_key *k,
    const struct webhook_attempt *t)
{
	static const char *const outcomes[] = {
		[WEBHOOK_DONE] = "done",
		[WEBHOOK_RETRY] = "retry",
		[WEBHOOK_DEAD] = "dead",
		[WEBHOOK_DROPPED] = "drop",
	};
	struct script_call c;

	webhook_call(&c, &script_webhook_end, k);
	call_pack(&c);
	call_token(&c, k->id);
	call_tokens(&c, k->user_id, ':', k->id);
	call_num(&c, t->seq);
	call_text(&c, str_of(outcomes[t->outcome]), 8);
	call_num(&c, t->status);
	call_text(&c, t->why, WEBHOOK_WHY_MAX);
	call_num(&c, t->wait_ms);
	call_pack_end(&c);
	return call_run(s, &c, 1, NULL);
}
