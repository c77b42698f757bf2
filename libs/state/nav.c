#include "state/nav.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* Elements of a cycle in the reply to a claim. */
#define NAV_CLAIM_ROW 7
#define NAV_CYCLE_MAX 64

static void
nav_call(struct script_call *c, const struct state_script *script,
    const struct nav_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_NAV, k->user_id, k->soul_id);
	call_key_of(c, KEY_NAV_DUE, k->user_id, STR_NONE);
}

/* {OK, when the next is due}. */
static enum rc
nav_run(struct state *s, struct script_call *c, struct wall *due)
{
	struct state_reply *r;
	enum rc rc = call_run(s, c, 2, &r);

	due->ms = call_is_done(rc) ? state_reply_int(state_reply_at(r, 1)) : 0;
	state_reply_free(r);
	return rc;
}

enum rc
nav_note(struct state *s, const struct nav_event *e,
    const struct nav_rule *rule, struct wall *due)
{
	struct script_call c;

	*due = (struct wall){ 0 };
	nav_call(&c, &script_nav_note, &e->key);
	call_key(&c, KEY_SOUL, e->key.user_id, e->key.soul_id);
	call_key(&c, KEY_MIND_LINK, e->key.user_id, e->key.soul_id);
	call_pack(&c);
	call_token(&c, e->id);
	call_tokens(&c, e->key.user_id, ':', e->key.soul_id);
	call_text(&c, e->session_id, ID_MAX);
	call_text(&c, e->terminal_id, ID_MAX);
	call_num(&c, e->turn);
	call_num(&c, e->trigger);
	call_num(&c, rule->count);
	call_num(&c, rule->idle_ms);
	call_num(&c, rule->gap_ms);
	call_pack_end(&c);
	return nav_run(s, &c, due);
}

/* ---- claims ---- */

static void
nav_read_cycle(struct record_reader *rd, const struct state_reply *list,
    size_t i, struct nav_cycle *c)
{
	int64_t trigger;

	record_id_pair(rd, state_reply_str(state_reply_at(list, i)),
	    &c->key.user_id, &c->key.soul_id);
	c->id = record_text(rd, state_reply_at(list, i + 1));
	trigger = record_num(rd, state_reply_at(list, i + 2));
	c->tries = record_num(rd, state_reply_at(list, i + 3));
	c->session_id = record_text(rd, state_reply_at(list, i + 4));
	c->terminal_id = record_text(rd, state_reply_at(list, i + 5));
	c->output = record_text(rd, state_reply_at(list, i + 6));
	c->trigger = trigger > NAV_NONE && trigger < NAV_TRIGGER_N
	    ? (enum nav_trigger)trigger
	    : NAV_IDLE;
}

enum rc
nav_claim(struct state *s, const struct nav_claim *claim, struct arena *a,
    struct nav_cycle_list *out)
{
	size_t max = claim->max < NAV_CLAIM_MAX ? claim->max : NAV_CLAIM_MAX;
	struct record_reader rd = { .a = a };
	const struct state_reply *list;
	struct state_reply *r;
	struct script_call c;
	size_t i, n;
	enum rc rc;

	*out = (struct nav_cycle_list){ 0 };
	if (claim->lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &script_nav_claim);
	call_bucket_key(&c, KEY_NAV_DUE, claim->bucket);
	call_num(&c, claim->lease_ms);
	call_num(&c, (int64_t)max);
	call_num(&c, claim->per_day);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->now.ms = state_reply_int(state_reply_at(r, 1));
		out->next.ms = state_reply_int(state_reply_at(r, 2));
		list = state_reply_at(r, 3);
		n = state_reply_len(list) / NAV_CLAIM_ROW;
		out->cycle = arena_alloc(a, (n + 1) * sizeof(*out->cycle));
		rd.rc = out->cycle == NULL ? RC_TOOBIG : RC_OK;
		for (i = 0; rd.rc == RC_OK && i < n; i++)
			nav_read_cycle(&rd, list, i * NAV_CLAIM_ROW,
			    &out->cycle[out->n++]);
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		out->n = 0;
	state_reply_free(r);
	return rc;
}

/* ---- a cycle ---- */

enum rc
nav_decide(struct state *s, struct nav_cycle *c, int64_t lease_ms,
    struct str output, struct arena *a)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call call;
	struct str stored;
	enum rc rc;

	nav_call(&call, &script_nav_decide, &c->key);
	call_tokens(&call, c->key.user_id, ':', c->key.soul_id);
	call_text(&call, c->id, NAV_CYCLE_MAX);
	call_num(&call, lease_ms);
	call_text(&call, output, NAV_OUTPUT_MAX);
	rc = call_run(s, &call, 2, &r);
	if (rc == RC_OK && output.n > 0) {
		stored = record_text(&rd, state_reply_at(r, 1));
		rc = record_end(&rd, call.keys[0]);
		if (rc == RC_OK)
			c->output = stored;
	}
	state_reply_free(r);
	return rc;
}

enum rc
nav_end(struct state *s, const struct nav_cycle *c, const struct nav_rule *rule,
    struct wall *due)
{
	struct script_call call;

	nav_call(&call, &script_nav_end, &c->key);
	call_tokens(&call, c->key.user_id, ':', c->key.soul_id);
	call_text(&call, c->id, NAV_CYCLE_MAX);
	call_num(&call, rule->idle_ms);
	call_num(&call, rule->gap_ms);
	return nav_run(s, &call, due);
}

/* ---- mind link ---- */

enum rc
mind_link_put(struct state *s, const struct nav_cycle *c, struct str json)
{
	struct script_call call;

	call_begin(&call, &script_mind_link_put);
	call_key(&call, KEY_NAV, c->key.user_id, c->key.soul_id);
	call_key(&call, KEY_MIND_LINK, c->key.user_id, c->key.soul_id);
	call_text(&call, c->id, NAV_CYCLE_MAX);
	call_text(&call, json, MIND_LINK_MAX);
	return call_run(s, &call, 1, NULL);
}

enum rc
mind_link_read(struct state *s, const struct nav_key *key, struct arena *a,
    struct str *json)
{
	const struct str ids[] = { key->user_id, key->soul_id };
	struct record_reader rd = { .a = a };
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct str k;
	enum rc rc = state_key(text, KEY_MIND_LINK, ids, NELEM(ids), &k);

	*json = STR_NONE;
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("GET"), k), &r);
	if (rc == RC_OK) {
		*json = record_text(&rd, r);
		rc = record_end(&rd, k);
	}
	state_reply_free(r);
	return rc;
}
