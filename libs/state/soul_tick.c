/*
 * soul_tick: which souls tick when.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/state_internal.h"

#define TICKS_MAX 1000
/* A claim that finds only souls without terminals is repeated. */
#define CLAIMS_MAX 8

/*
 * {soul, next, state, terminal, broker, …}; a soul or terminal with an invalid
 * id is left out.
 */
static enum rc
soul_due_parse(
    const struct state_reply *r, struct arena *a, struct soul_due *out)
{
	size_t i, max = state_reply_len(r) / 2;
	struct record_reader rd = { .a = a };
	struct soul_terminal *t;

	*out =
	    (struct soul_due){ .soul_id = record_id(&rd, state_reply_at(r, 0)),
		    .next = state_reply_int(state_reply_at(r, 1)),
		    .terminal = arena_alloc(a, max * sizeof(*out->terminal)) };
	if (out->terminal == NULL)
		return RC_TOOBIG;
	for (i = 3; rd.rc != RC_TOOBIG && i + 1 < state_reply_len(r); i += 2) {
		t = &out->terminal[out->n];
		rd.rc = out->soul_id.p == NULL ? RC_INVALID : RC_OK;
		t->terminal_id = record_id(&rd, state_reply_at(r, i));
		t->broker = record_text(&rd, state_reply_at(r, i + 1));
		if (rd.rc == RC_OK)
			out->n++;
		else if (rd.rc == RC_INVALID)
			record_log_invalid(
			    state_reply_str(state_reply_at(r, 0)),
			    STR("the id of a soul or its terminal is invalid"));
	}
	if (rd.rc == RC_TOOBIG)
		return RC_TOOBIG;
	out->state.soul_id = out->soul_id;
	return soul_state_parse(state_reply_at(r, 2), &out->state, a);
}

static enum rc
soul_tick_parse(const struct state_reply *r, struct arena *a,
    struct soul_due **list, size_t *n)
{
	size_t i, max = state_reply_len(r);
	enum rc rc = RC_OK;

	*list = arena_alloc(a, max * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; rc == RC_OK && i < max; i++) {
		rc = soul_due_parse(state_reply_at(r, i), a, &(*list)[*n]);
		if ((*list)[*n].n > 0)
			(*n)++;
	}
	if (rc != RC_OK)
		*n = 0;
	return rc;
}

/* Texts of the arguments of one soul. */
struct soul_tick_args {
	char at[STATE_NUM_MAX], token[ID_TOKEN_MAX];
};

/* Next tick and token of each soul; the caller frees *room, their memory. */
static enum rc
soul_tick_args(const struct soul_due *list, size_t n, struct str *args,
    struct soul_tick_args **room)
{
	struct soul_tick_args *a = mem_alloc((n + 1) * sizeof(*a));
	enum rc rc = RC_OK;
	size_t i;

	*room = a;
	for (i = 0; rc == RC_OK && i < n; i++) {
		rc = id_token(list[i].soul_id, a[i].token);
		args[2 * i] = state_num(list[i].next, a[i].at);
		args[2 * i + 1] = str_of(a[i].token);
	}
	return rc;
}

enum rc
soul_tick_done(struct state *s, const struct soul_due *list, size_t n)
{
	struct str *args = mem_calloc(3 + 2 * n, sizeof(*args));
	struct soul_tick_args *room = NULL;
	enum rc rc = n <= TICKS_MAX ? RC_OK : RC_INVALID;

	/* XX: a soul whose last terminal left meanwhile is not due. */
	args[0] = STR("ZADD");
	args[1] = STR(KEY_TICKS);
	args[2] = STR("XX");
	if (rc == RC_OK)
		rc = soul_tick_args(list, n, args + 3, &room);
	if (rc == RC_OK && n > 0)
		rc = state_cmd(s, args, 3 + 2 * n, NULL);
	free(room);
	free(args);
	return rc;
}

static enum rc
soul_tick_claim_trip(
    struct state *s, const struct soul_tick *t, struct state_reply **r)
{
	const struct str keys[] = { STR_INIT(KEY_TICKS),
		STR_INIT(KEY_TICK_INTERVAL) };
	struct str *args = mem_calloc(3 + 2 * t->n_done, sizeof(*args));
	char num[3][STATE_NUM_MAX];
	struct soul_tick_args *room;
	enum rc rc;

	*r = NULL;
	args[0] = state_num(t->interval_ms, num[0]);
	args[1] = state_num(t->ttl_ms, num[1]);
	args[2] = state_num((int64_t)t->max, num[2]);
	rc = soul_tick_args(t->done, t->n_done, args + 3, &room);
	if (rc == RC_OK)
		rc = state_eval(s,
		    &(struct state_call){ &script_soul_tick_claim, keys,
			NELEM(keys), args, 3 + 2 * t->n_done },
		    r);
	if (rc == RC_OK)
		rc = call_status(*r, 3);
	if (rc == RC_INVALID || rc == RC_BUG)
		record_log_invalid(keys[0], state_reply_str(*r));
	free(room);
	free(args);
	return rc;
}

enum rc
soul_tick_claim(struct state *s, const struct soul_tick *t, struct arena *a,
    struct soul_due **list, size_t *n)
{
	struct soul_tick todo = *t;
	struct state_reply *r = NULL;
	int64_t due = 1;
	enum rc rc = RC_OK;
	int i;

	*list = NULL;
	*n = 0;
	if (t->interval_ms <= 0 || t->ttl_ms <= 0 || t->max == 0 ||
	    t->max > TICKS_MAX || t->n_done > TICKS_MAX)
		return RC_INVALID;
	for (i = 0; i < CLAIMS_MAX && rc == RC_OK && due > 0 && *n == 0; i++) {
		rc = soul_tick_claim_trip(s, &todo, &r);
		todo.n_done = 0;
		due = state_reply_int(state_reply_at(r, 1));
		if (rc == RC_OK)
			rc = soul_tick_parse(state_reply_at(r, 2), a, list, n);
		state_reply_free(r);
	}
	return rc;
}
