/*
 * session_idle: when sessions become idle, and claims of those that are.
 *
 * A sorted set of each bucket has the due times.  A claim moves the time by its
 * lease, so that it expires if nothing more happens.  The idle period is
 * identified in the session's record, where only a user's input changes it.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/session.h"
#include "state/state_internal.h"

#define CLAIM_MAX 1000

static void
session_idle_call(struct script_call *c, const struct state_script *script,
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
	call_key_of(c, KEY_IDLE, k->user_id, STR_NONE);
}

enum rc
session_user_input(struct state *s, const struct session_key *k,
    struct str soul, struct str terminal, int64_t idle_ms)
{
	struct script_call c;

	if (!id_valid(soul) || !id_valid(terminal) || idle_ms < 0)
		return RC_INVALID;
	session_idle_call(&c, &script_session_user_input, k);
	call_key(&c, KEY_USER_SESSIONS, k->user_id, STR_NONE);
	call_text(&c, soul, ID_MAX);
	call_text(&c, terminal, ID_MAX);
	call_num(&c, idle_ms);
	call_tokens(&c, k->user_id, ':', k->session_id);
	return call_run(s, &c, 1, NULL);
}

static enum rc
session_idle_id(struct str token, struct arena *a, struct str *out)
{
	char id[ID_MAX + 1];

	if (id_untoken(token, id) != RC_OK)
		return RC_INVALID;
	*out = arena_str(a, str_of(id));
	return out->p == NULL ? RC_TOOBIG : RC_OK;
}

/* {user:session, due, claims, …}; invalid members are left out. */
static enum rc
session_idle_parse(
    const struct state_reply *l, struct arena *a, struct session_idle_list *out)
{
	size_t i, n = state_reply_len(l) / 3;
	struct session_idle *idle;
	struct str member, user;
	enum rc rc;

	out->idle = arena_alloc(a, n * sizeof(*out->idle));
	if (out->idle == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		idle = &out->idle[out->n];
		member = state_reply_str(state_reply_at(l, 3 * i));
		idle->due.ms = state_reply_int(state_reply_at(l, 3 * i + 1));
		idle->claims = state_reply_int(state_reply_at(l, 3 * i + 2));
		user = str_split(&member, ':');
		rc = session_idle_id(user, a, &idle->key.user_id);
		if (rc == RC_OK)
			rc = session_idle_id(member, a, &idle->key.session_id);
		if (rc == RC_TOOBIG)
			return rc;
		if (rc == RC_OK)
			out->n++;
		else
			record_log_invalid(
			    user, STR("an idle session's id is invalid"));
	}
	return RC_OK;
}

enum rc
session_idle_claim(struct state *s, const struct session_idle_claim *claim,
    struct arena *a, struct session_idle_list *out)
{
	size_t max = claim->max < CLAIM_MAX ? claim->max : CLAIM_MAX;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct session_idle_list){ 0 };
	if (claim->lease_ms <= 0 || max == 0)
		return RC_INVALID;
	call_begin(&c, &script_session_idle_claim);
	call_bucket_key(&c, KEY_IDLE, claim->bucket);
	call_num(&c, claim->lease_ms);
	call_num(&c, (int64_t)max);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = session_idle_parse(state_reply_at(r, 2), a, out);
	out->next.ms = state_reply_int(state_reply_at(r, 1));
	if (rc != RC_OK)
		*out = (struct session_idle_list){ 0 };
	state_reply_free(r);
	return rc;
}

enum rc
session_idle_next(
    struct state *s, const unsigned *buckets, size_t n, struct wall *next)
{
	return bucket_timers_next(s, KEY_IDLE, buckets, n, next);
}

enum rc
session_idle_defer(struct state *s, const struct session_idle *idle, int64_t ms)
{
	struct script_call c;

	if (ms <= 0)
		return RC_INVALID;
	session_idle_call(&c, &script_session_idle_defer, &idle->key);
	call_num(&c, idle->due.ms);
	call_tokens(&c, idle->key.user_id, ':', idle->key.session_id);
	call_num(&c, ms);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_idle_done(struct state *s, const struct session_idle *idle)
{
	struct script_call c;

	session_idle_call(&c, &script_session_idle_done, &idle->key);
	call_num(&c, idle->due.ms);
	call_tokens(&c, idle->key.user_id, ':', idle->key.session_id);
	return call_run(s, &c, 1, NULL);
}
