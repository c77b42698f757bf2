/*
 * soul_delete: a soul and its terminals, which are in other slots.
 *
 * First the soul goes, and an entry of the user's deletions says so; then its
 * terminals are unbound, each unless it has got another soul meanwhile; then
 * what the user's bucket knows of them goes, with that entry.  A reader that
 * finds an old entry repeats the last two steps.
 */
#include <stdlib.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/soul.h"
#include "state/star_home.h"
#include "state/state_internal.h"
#include "state/user_data.h"

enum rc
soul_delete_begin(struct state *s, struct str user, struct str id,
    struct state_reply **terminals)
{
	struct script_call c;

	call_begin(&c, &script_soul_delete);
	call_key(&c, KEY_SOUL, user, id);
	call_key(&c, KEY_SOUL_STATE, user, id);
	call_key(&c, KEY_SOUL_LOG, user, id);
	call_key(&c, KEY_BODIES, user, id);
	call_key(&c, KEY_USER_SOULS, user, STR_NONE);
	call_key(&c, KEY_USER_SOUL_NAMES, user, STR_NONE);
	call_key_of(&c, KEY_TICKS, user, STR_NONE);
	call_key(&c, KEY_USER_TERMINALS, user, STR_NONE);
	call_key(&c, KEY_USER_DELETING, user, STR_NONE);
	call_key(&c, KEY_STAR_PLACE, user, id);
	call_key(&c, KEY_NAV, user, id);
	call_key(&c, KEY_MIND_LINK, user, id);
	call_key_of(&c, KEY_NAV_DUE, user, STR_NONE);
	call_token(&c, user);
	call_token(&c, id);
	return call_run(s, &c, 2, terminals);
}

/* One round trip: the i-th to the end-th of the tokens. */
static enum rc
soul_unbind_trip(struct state_pipe *p, struct str user, struct str soul,
    const struct str *ids, size_t n, bool *unbound)
{
	const struct state_reply *r;
	struct script_call c;
	enum rc rc = RC_OK, one, run;
	size_t i;

	for (i = 0; rc == RC_OK && i < n; i++) {
		call_begin(&c, &script_terminal_unbind);
		call_key(&c, KEY_TERMINAL, ids[i], STR_NONE);
		call_token(&c, user);
		call_token(&c, soul);
		rc = call_queue(p, &c);
	}
	run = state_pipe_run(p);
	for (i = 0; rc == RC_OK && i < n; i++) {
		one = state_pipe_reply(p, i, &r);
		if (one == RC_OK)
			unbound[i] = call_status(r, 3) == RC_OK;
		else if (one == RC_INVALID)
			/* A record that cannot be read is bound to nothing. */
			record_log_invalid(ids[i], state_reply_str(r));
		else
			rc = one;
	}
	return rc != RC_OK ? rc : run;
}

enum rc
soul_delete_unbind(struct state *s, struct str user, struct str id,
    const struct str *terminals, size_t n, bool *unbound)
{
	struct state_pipe *p = state_pipe_new(s, n);
	enum rc rc = RC_OK;
	size_t i, part;

	for (i = 0; rc == RC_OK && i < n; i += part) {
		part = n - i < STATE_PIPE_MAX ? n - i : STATE_PIPE_MAX;
		rc = soul_unbind_trip(
		    p, user, id, terminals + i, part, unbound + i);
	}
	state_pipe_free(p);
	return rc;
}

enum rc
soul_delete_end(struct state *s, struct str user, struct str id)
{
	struct script_call c;

	call_begin(&c, &script_soul_delete_end);
	call_key(&c, KEY_BODIES, user, id);
	call_key(&c, KEY_USER_TERMINALS, user, STR_NONE);
	call_key(&c, KEY_USER_DELETING, user, STR_NONE);
	call_key(&c, KEY_STAR_GUESTS, user, id);
	call_token(&c, id);
	return call_run(s, &c, 1, NULL);
}

/* The soul is deleted: return as many ids as fit. */
static void
soul_put_unbound(const struct str *ids, const bool *unbound, size_t n,
    struct soul_unbound *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out->total += unbound[i];
	out->ids = arena_alloc(out->a, (out->total + 1) * sizeof(*out->ids));
	for (i = 0; out->ids != NULL && i < n; i++) {
		if (!unbound[i])
			continue;
		out->ids[out->n] = arena_str(out->a, ids[i]);
		if (out->ids[out->n].p == NULL)
			break;
		out->n++;
	}
}

/* What its guests know of it. */
static enum rc
soul_delete_guests(struct state *s, struct str user, struct str id)
{
	struct arena *a = arena_new(STATE_REPLY_MAX);
	struct str *guests;
	size_t i, n;
	enum rc rc, one;

	rc = star_guests_read(s, user, id, a, &guests, &n);
	for (i = 0; rc == RC_OK && i < n; i++) {
		/* A guest's own record has no guests. */
		one = str_eq(guests[i], user)
		    ? RC_OK
		    : soul_delete(s, guests[i], id, NULL);
		if (one == RC_OK || one == RC_NOENT)
			one = user_data_delete_memory(s, guests[i], id);
		rc = one;
	}
	arena_free(a);
	return rc;
}

enum rc
soul_delete(
    struct state *s, struct str user, struct str id, struct soul_unbound *out)
{
	struct arena *a = arena_new(STATE_REPLY_MAX);
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	const struct state_reply *tokens;
	struct str *ids = NULL;
	bool *unbound = NULL;
	size_t i, n;
	enum rc rc;

	rc = soul_delete_begin(s, user, id, &r);
	tokens = state_reply_at(r, 1);
	n = rc == RC_OK ? state_reply_len(tokens) : 0;
	if (rc == RC_OK) {
		ids = mem_calloc(n + 1, sizeof(*ids));
		unbound = mem_calloc(n + 1, sizeof(*unbound));
		for (i = 0; i < n; i++)
			ids[i] = record_id(&rd, state_reply_at(tokens, i));
		rc = rd.rc;
	}
	if (rc == RC_OK)
		rc = soul_delete_unbind(s, user, id, ids, n, unbound);
	if (rc == RC_OK)
		rc = soul_delete_guests(s, user, id);
	if (rc == RC_OK)
		rc = soul_delete_end(s, user, id);
	if (rc == RC_OK && out != NULL)
		soul_put_unbound(ids, unbound, n, out);
	free(ids);
	free(unbound);
	state_reply_free(r);
	arena_free(a);
	return rc;
}

void
soul_delete_rest(
    struct state *s, struct str user, const struct state_reply *souls)
{
	char id[ID_MAX + 1];
	enum rc rc;
	size_t i;

	for (i = 0; i < state_reply_len(souls); i++) {
		rc = id_untoken(state_reply_str(state_reply_at(souls, i)), id);
		if (rc == RC_OK)
			rc = soul_delete(s, user, str_of(id), NULL);
		/* Another one may complete it at the same time. */
		if (rc != RC_OK && rc != RC_NOENT)
			log_warn("state.deletion_left", LOG_S("soul", id),
			    LOG_RC(rc));
		else if (rc == RC_OK)
			log_info("state.deletion_completed", LOG_S("soul", id));
	}
}
