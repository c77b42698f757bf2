/*
 * terminal_binding: which soul a terminal is bound to.
 *
 * The truth is in the terminal's record.  The user's bucket, in another slot,
 * has what is needed to find the terminal: an entry of the user's terminals,
 * which is written first and removed last, and one of the soul's terminals,
 * which ticks need.  So what they have may be too much, and a reader checks the
 * record.  After each change of the record, what it says is written into the
 * bucket, and the record read again, until both agree.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/terminal.h"

/* Changes of one terminal at a time; the last one has seen all the others. */
#define SYNC_TRIES 4

enum rc
binding_begin(struct state *s, const struct terminal_binding *b,
    struct binding_begun *begun)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*begun = (struct binding_begun){ 0 };
	call_begin(&c, &script_terminal_bind_begin);
	call_key(&c, KEY_USER_TERMINALS, b->user_id, STR_NONE);
	call_key(&c, KEY_SOUL, b->user_id, b->soul_id);
	call_key(&c, KEY_USER_DELETING, b->user_id, STR_NONE);
	call_token(&c, b->soul_id);
	call_token(&c, b->terminal_id);
	call_num(&c, TERMINAL_LIST_MAX);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		begun->at = state_reply_int(state_reply_at(r, 1));
		begun->existed = state_reply_int(state_reply_at(r, 2)) != 0;
		soul_delete_rest(s, b->user_id, state_reply_at(r, 3));
	}
	state_reply_free(r);
	return rc;
}

enum rc
binding_set(struct state *s, const struct terminal_binding *b, int64_t begun_at,
    bool if_unbound, char previous[ID_TOKEN_MAX])
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	previous[0] = '\0';
	call_begin(&c, &script_terminal_bind);
	call_key(&c, KEY_TERMINAL, b->terminal_id, STR_NONE);
	call_token(&c, b->user_id);
	call_token(&c, b->soul_id);
	call_num(&c, begun_at);
	call_num(&c, if_unbound ? 1 : 0);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		str_copy(state_reply_str(state_reply_at(r, 1)), previous,
		    ID_TOKEN_MAX);
	state_reply_free(r);
	return rc;
}

enum rc
binding_read(struct state *s, struct str terminal, int64_t ttl_ms,
    struct binding_record *out)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	call_begin(&c, &script_terminal_read_binding);
	call_key(&c, KEY_TERMINAL, terminal, STR_NONE);
	call_num(&c, ttl_ms);
	rc = call_run(s, &c, 8, &r);
	if (rc == RC_OK) {
		str_copy(state_reply_str(state_reply_at(r, 7)), out->before,
		    sizeof(out->before));
		str_copy(state_reply_str(state_reply_at(r, 1)), out->user,
		    sizeof(out->user));
		str_copy(state_reply_str(state_reply_at(r, 2)), out->soul,
		    sizeof(out->soul));
		str_copy(state_reply_str(state_reply_at(r, 3)), out->generation,
		    sizeof(out->generation));
		str_copy(state_reply_str(state_reply_at(r, 4)), out->broker,
		    sizeof(out->broker));
		out->until =
		    ttl_ms > 0 ? state_reply_int(state_reply_at(r, 5)) : -1;
		out->at = state_reply_int(state_reply_at(r, 6));
	}
	state_reply_free(r);
	return rc;
}

/* Until when a terminal is present changes all the time; whether does not. */
static bool
binding_same(const struct binding_record *a, const struct binding_record *b)
{
	return strcmp(a->user, b->user) == 0 && strcmp(a->soul, b->soul) == 0 &&
	    strcmp(a->generation, b->generation) == 0 &&
	    strcmp(a->broker, b->broker) == 0 &&
	    (a->until != 0) == (b->until != 0);
}

/* The ids of the tokens in Redis, or RC_INVALID. */
static enum rc
binding_ids(const struct binding_record *b, char user[ID_MAX + 1],
    char soul[ID_MAX + 1])
{
	enum rc rc = id_untoken(str_of(b->user), user);

	return rc == RC_OK ? id_untoken(str_of(b->soul), soul) : rc;
}

/* A generation is the time of its binding, or more after others in that ms. */
enum rc
terminal_read_owner(struct state *s, struct str id, struct terminal_owner *out)
{
	struct binding_record b;
	enum rc rc = binding_read(s, id, 0, &b);

	*out = (struct terminal_owner){ .since = { 0 } };
	if (rc != RC_OK || b.user[0] == '\0')
		return rc;
	rc = id_untoken(str_of(b.user), out->user_id);
	if (rc == RC_OK)
		rc = str_to_i64(
		    str_of(b.generation), 0, INT64_MAX, &out->since.ms);
	return rc;
}

enum rc
binding_end(struct state *s, struct str terminal,
    const struct binding_record *b, const char *previous, bool *ticks)
{
	char user[ID_MAX + 1], soul[ID_MAX + 1];
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	rc = binding_ids(b, user, soul);
	if (rc != RC_OK)
		return rc;
	call_begin(&c, &script_terminal_bind_end);
	call_key(&c, KEY_USER_TERMINALS, str_of(user), STR_NONE);
	call_key(&c, KEY_SOUL, str_of(user), str_of(soul));
	call_key(&c, KEY_BODIES, str_of(user), str_of(soul));
	call_key_of(&c, KEY_TICKS, str_of(user), STR_NONE);
	call_text(&c, str_of(b->user), ID_TOKEN_MAX);
	call_text(&c, str_of(b->soul), ID_TOKEN_MAX);
	call_token(&c, terminal);
	call_text(&c, str_of(previous), ID_TOKEN_MAX);
	call_num(&c, b->until);
	call_num(&c, b->at);
	call_text(&c, str_of(b->broker), ID_MAX);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0)
		*ticks = true;
	state_reply_free(r);
	return rc;
}

enum rc
binding_unset(struct state *s, struct str terminal, struct str user,
    struct str soul, struct binding_record *was)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memset(was, 0, sizeof(*was));
	call_begin(&c, &script_terminal_unbind);
	call_key(&c, KEY_TERMINAL, terminal, STR_NONE);
	call_token(&c, user);
	if (soul.p != NULL)
		call_token(&c, soul);
	else
		call_text(&c, STR_NONE, 0);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK) {
		str_copy(c.args[0], was->user, sizeof(was->user));
		str_copy(state_reply_str(state_reply_at(r, 1)), was->soul,
		    sizeof(was->soul));
		was->at = state_reply_int(state_reply_at(r, 2));
	}
	state_reply_free(r);
	return rc;
}

enum rc
binding_unset_end(
    struct state *s, struct str terminal, const struct binding_record *was)
{
	char user[ID_MAX + 1];
	struct script_call c;
	enum rc rc;

	rc = id_untoken(str_of(was->user), user);
	if (rc != RC_OK)
		return rc;
	call_begin(&c, &script_terminal_unbind_end);
	call_key(&c, KEY_USER_TERMINALS, str_of(user), STR_NONE);
	call_text(&c, str_of(was->user), ID_TOKEN_MAX);
	call_token(&c, terminal);
	call_text(&c, str_of(was->soul), ID_TOKEN_MAX);
	call_num(&c, was->at);
	return call_run(s, &c, 1, NULL);
}

/*
 * The soul of the terminal was deleted meanwhile: unbind it, unless it has got
 * another one.
 */
static enum rc
binding_unset_deleted(
    struct state *s, struct str terminal, const struct binding_record *b)
{
	char user[ID_MAX + 1], soul[ID_MAX + 1];
	struct binding_record was;
	enum rc rc;

	rc = binding_ids(b, user, soul);
	if (rc == RC_OK)
		rc = binding_unset(
		    s, terminal, str_of(user), str_of(soul), &was);
	if (rc == RC_OK)
		return binding_unset_end(s, terminal, &was);
	/* Another one was faster. */
	return rc == RC_NOENT || rc == RC_DENIED || rc == RC_CONFLICT ? RC_OK
								      : rc;
}

/* What binding_sync() needs, and what it found. */
struct binding_syncing {
	struct str terminal;
	int64_t ttl_ms;
	struct binding_record previous; /* what the record said before */
	bool *ticks;
	char deleted[ID_TOKEN_MAX]; /* a soul that does not exist any more */
};

/* Write what the record says now into the bucket of the user. */
static enum rc
binding_apply(struct state *s, struct binding_syncing *y,
    const struct binding_record *now)
{
	bool same_user = strcmp(y->previous.user, now->user) == 0;
	enum rc rc = RC_OK;

	/* An entry that is younger is left to readers of the list. */
	if (y->previous.user[0] != '\0' && !same_user)
		rc = binding_unset_end(s, y->terminal, &y->previous);
	if (rc != RC_OK || now->user[0] == '\0')
		return rc;
	/* Who binds knows the soul before; who completes it asks the record. */
	rc = binding_end(s, y->terminal, now,
	    same_user ? y->previous.soul : now->before, y->ticks);
	if (rc != RC_NOENT)
		return rc;
	memcpy(y->deleted, now->soul, sizeof(y->deleted));
	return binding_unset_deleted(s, y->terminal, now);
}

/* The same until the record does not change meanwhile. */
static enum rc
binding_sync(struct state *s, struct binding_syncing *y)
{
	struct binding_record now, then;
	enum rc rc;
	int i;

	rc = binding_read(s, y->terminal, y->ttl_ms, &now);
	for (i = 0; rc == RC_OK && i < SYNC_TRIES; i++) {
		rc = binding_apply(s, y, &now);
		if (rc == RC_OK)
			rc = binding_read(s, y->terminal, y->ttl_ms, &then);
		if (rc != RC_OK || binding_same(&now, &then))
			break;
		y->previous = now;
		now = then;
	}
	return rc;
}

/* Nothing was bound: take back what binding_begin() has recorded. */
static void
binding_undo(struct state *s, const struct terminal_binding *b,
    const struct binding_begun *begun)
{
	struct binding_record was = { .at = begun->at };

	if (begun->existed || id_token(b->user_id, was.user) != RC_OK)
		return;
	/* If that fails, a reader of the list removes it. */
	if (binding_unset_end(s, b->terminal_id, &was) != RC_OK)
		log_debug("state.binding_left");
}

static enum rc
binding_make(struct state *s, const struct terminal_binding *b, bool if_unbound,
    bool *ticks)
{
	struct binding_syncing y = {
		.terminal = b->terminal_id, .ttl_ms = b->ttl_ms, .ticks = ticks
	};
	struct binding_begun begun;
	char soul[ID_TOKEN_MAX];
	enum rc rc;

	*ticks = false;
	rc = binding_begin(s, b, &begun);
	if (rc != RC_OK)
		return rc;
	rc = binding_set(s, b, begun.at, if_unbound, y.previous.soul);
	if (rc != RC_OK) {
		/* Unless it may have been bound all the same. */
		if (rc != RC_TIMEOUT)
			binding_undo(s, b, &begun);
		return rc;
	}
	y.previous.at = begun.at;
	rc = id_token(b->user_id, y.previous.user);
	if (rc == RC_OK)
		rc = id_token(b->soul_id, soul);
	if (rc == RC_OK)
		rc = binding_sync(s, &y);
	if (rc == RC_OK && strcmp(y.deleted, soul) == 0)
		rc = RC_NOENT;
	return rc;
}

enum rc
terminal_bind(struct state *s, const struct terminal_binding *b, bool *ticks)
{
	return binding_make(s, b, false, ticks);
}

enum rc
terminal_bind_if_unbound(
    struct state *s, const struct terminal_binding *b, bool *ticks)
{
	return binding_make(s, b, true, ticks);
}

enum rc
terminal_unbind_soul(
    struct state *s, struct str id, struct str user, struct str soul)
{
	struct binding_record was;
	bool ticks = false;
	struct binding_syncing y = { .terminal = id, .ticks = &ticks };
	enum rc rc;

	rc = binding_unset(s, id, user, soul, &was);
	if (rc == RC_OK)
		rc = binding_unset_end(s, id, &was);
	/* It may have been bound again before its entry was removed. */
	if (rc == RC_OK)
		rc = binding_sync(s, &y);
	return rc;
}

enum rc
terminal_unbind(struct state *s, struct str id, struct str user)
{
	return terminal_unbind_soul(s, id, user, STR_NONE);
}

enum rc
terminal_repair(struct state *s, struct str id, int64_t ttl_ms, bool *ticks)
{
	struct binding_syncing y = {
		.terminal = id, .ttl_ms = ttl_ms, .ticks = ticks
	};

	*ticks = false;
	return binding_sync(s, &y);
}
