/*
 * soul_tick: which souls tick when.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/state_internal.h"

/* The ids of "user:soul", tokens. */
static void
soul_due_parse_ids(
    struct record_reader *rd, struct str member, struct soul_due *out)
{
	struct state_reply r = { .kind = STATE_STR };

	r.s = str_split(&member, ':');
	out->user_id = record_id(rd, &r);
	r.s = member;
	out->soul_id = record_id(rd, &r);
}

/*
 * {user:soul, state, terminal, broker, …}; a soul or terminal with an invalid
 * id is left out.
 */
static enum rc
soul_due_parse(
    const struct state_reply *r, struct arena *a, struct soul_due *out)
{
	struct str member = state_reply_str(state_reply_at(r, 0));
	size_t i, max = state_reply_len(r) / 2;
	struct record_reader rd = { .a = a };
	struct soul_terminal *t;
	enum rc ids;

	*out =
	    (struct soul_due){ .terminal = arena_alloc(a, max * sizeof(*t)) };
	if (out->terminal == NULL)
		return RC_TOOBIG;
	soul_due_parse_ids(&rd, member, out);
	ids = rd.rc;
	for (i = 2; rd.rc != RC_TOOBIG && i + 1 < state_reply_len(r); i += 2) {
		t = &out->terminal[out->n];
		rd.rc = ids;
		t->terminal_id = record_id(&rd, state_reply_at(r, i));
		t->broker = record_text(&rd, state_reply_at(r, i + 1));
		if (rd.rc == RC_OK)
			out->n++;
		else if (rd.rc == RC_INVALID)
			record_log_invalid(member,
			    STR("the id of a soul or its terminal is invalid"));
	}
	if (rd.rc == RC_TOOBIG)
		return RC_TOOBIG;
	out->state.user_id = out->user_id;
	out->state.soul_id = out->soul_id;
	return soul_state_parse(state_reply_at(r, 1), &out->state, a);
}

/* Append the souls that were claimed of one bucket. */
static enum rc
soul_tick_parse(const struct state_reply *r, struct arena *a,
    struct soul_due *list, size_t *n)
{
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < state_reply_len(r); i++) {
		rc = soul_due_parse(state_reply_at(r, i), a, &list[*n]);
		if (rc == RC_OK && list[*n].n > 0)
			(*n)++;
	}
	return rc;
}

/* ---- done ---- */

static enum rc
soul_tick_queue_done(
    struct state_pipe *p, const struct soul_tick_bucket *done, size_t n)
{
	struct script_call c;
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; rc == RC_OK && i < n; i++) {
		call_begin(&c, &script_soul_tick_done);
		call_bucket_key(&c, KEY_TICKS, done[i].number);
		call_num(&c, done[i].claim_ends);
		call_num(&c, done[i].next);
		rc = call_queue(p, &c);
	}
	return rc;
}

enum rc
soul_tick_done(struct state *s, const struct soul_tick_bucket *done, size_t n)
{
	struct state_pipe *p = state_pipe_new(s, n);
	enum rc rc = n <= SOUL_TICK_DONE_MAX ? RC_OK : RC_INVALID;
	size_t i;

	if (rc == RC_OK)
		rc = soul_tick_queue_done(p, done, n);
	if (rc == RC_OK)
		rc = state_pipe_run(p);
	for (i = 0; rc == RC_OK && i < n; i++)
		rc = state_pipe_reply(p, i, NULL);
	state_pipe_free(p);
	return rc;
}

/* ---- claims ---- */

static enum rc
soul_tick_queue_claim(struct state_pipe *p, const struct soul_tick *t,
    const struct soul_tick_bucket *b)
{
	struct script_call c;

	call_begin(&c, &script_soul_tick_claim);
	call_bucket_key(&c, KEY_TICKS, b->number);
	call_num(&c, t->interval_ms);
	call_num(&c, t->interval_ms * b->number / STATE_BUCKETS);
	call_num(&c, SOUL_TICK_CLAIM_MAX);
	return call_queue(p, &c);
}

/* The reply to the claim of a bucket. */
static enum rc
soul_tick_read_claim(const struct state_reply *r, struct soul_tick_bucket *b,
    struct arena *a, struct soul_due *list, size_t *n)
{
	enum rc rc = call_status(r, 5);

	if (rc != RC_OK)
		return rc;
	b->in_ms = state_reply_int(state_reply_at(r, 1));
	b->n = state_reply_len(state_reply_at(r, 2));
	b->claim_ends = state_reply_int(state_reply_at(r, 3));
	b->next = state_reply_int(state_reply_at(r, 4));
	return soul_tick_parse(state_reply_at(r, 2), a, list, n);
}

/* The claims are the replies from that to t->done on. */
static enum rc
soul_tick_read(struct state_pipe *p, const struct soul_tick *t, struct arena *a,
    struct soul_due **list, size_t *n)
{
	const struct state_reply *r;
	enum rc rc = RC_OK, one;
	size_t i, max = 0;

	for (i = 0; i < t->n_buckets; i++)
		if (state_pipe_reply(p, t->n_done + i, &r) == RC_OK)
			max += state_reply_len(state_reply_at(r, 2));
	*list = arena_alloc(a, (max + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < t->n_buckets; i++) {
		one = state_pipe_reply(p, t->n_done + i, &r);
		if (one == RC_OK)
			one =
			    soul_tick_read_claim(r, &t->bucket[i], a, *list, n);
		if (one == RC_INVALID || one == RC_BUG)
			record_log_invalid(STR("ticks"), state_reply_str(r));
		if (rc == RC_OK)
			rc = one;
	}
	return rc;
}

enum rc
soul_tick_claim(struct state *s, const struct soul_tick *t, struct arena *a,
    struct soul_due **list, size_t *n)
{
	struct state_pipe *p;
	enum rc rc = RC_OK, run = RC_OK, one;
	size_t i;

	*list = NULL;
	*n = 0;
	if (t->interval_ms <= 0 || t->n_buckets > SOUL_TICK_BUCKETS_MAX ||
	    t->n_done > SOUL_TICK_DONE_MAX)
		return RC_INVALID;
	p = state_pipe_new(s, t->n_done + t->n_buckets);
	for (i = 0; i < t->n_buckets; i++)
		t->bucket[i] =
		    (struct soul_tick_bucket){ .number = t->bucket[i].number };
	rc = soul_tick_queue_done(p, t->done, t->n_done);
	for (i = 0; rc == RC_OK && i < t->n_buckets; i++)
		rc = soul_tick_queue_claim(p, t, &t->bucket[i]);
	if (rc == RC_OK) {
		run = state_pipe_run(p);
		rc = soul_tick_read(p, t, a, list, n);
		for (i = 0; i < t->n_done; i++) {
			one = state_pipe_reply(p, i, NULL);
			rc = rc == RC_OK ? one : rc;
		}
	}
	state_pipe_free(p);
	return rc == RC_OK ? run : rc;
}
