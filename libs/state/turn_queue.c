/*
 * turn_queue: the queue of a session's turns, which is lock and fencing token
 * too.
 *
 * An entry is <instance>:<turn>.  No entry comes back after it was removed, so
 * a turn that sees itself as head is the head, and no other was in between.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/turn.h"

static enum rc
turn_queue_alive(
    struct state_pipe *p, struct str instance, unsigned bucket, int64_t ttl_ms)
{
	char tagged[STATE_KEY_MAX], text[STATE_KEY_MAX], num[STR_NUM_MAX];
	struct str key;
	enum rc rc;

	rc = state_bucket_key(tagged, KEY_INSTANCE, bucket, &key);
	if (rc == RC_OK)
		rc = state_key(text, tagged, &instance, 1, &key);
	if (rc == RC_OK)
		rc = state_pipe_cmd(p,
		    STATE_ARGS(STR("SET"), key, STR("1"), STR("PX"),
			str_num(ttl_ms, num)));
	return rc;
}

enum rc
turn_alive(struct state *s, struct str instance, const unsigned *buckets,
    size_t n, int64_t ttl_ms)
{
	struct state_pipe *p;
	enum rc rc = RC_OK;
	size_t i;

	if (ttl_ms <= 0 || n > STATE_BUCKETS)
		return RC_INVALID;
	if (n == 0)
		return RC_OK;
	p = state_pipe_new(s, n);
	for (i = 0; i < n && rc == RC_OK; i++)
		rc = turn_queue_alive(p, instance, buckets[i], ttl_ms);
	if (rc == RC_OK)
		rc = state_pipe_run(p);
	for (i = 0; i < n && rc == RC_OK; i++)
		rc = state_pipe_reply(p, i, NULL);
	state_pipe_free(p);
	return rc;
}

void
turn_call_keys(struct script_call *c, const struct state_script *script,
    const struct turn_slot *p)
{
	const struct session_key *k = &p->key;

	call_begin(c, script);
	call_key(c, KEY_TURNS, k->user_id, k->session_id);
	call_key_of(c, KEY_INSTANCE, k->user_id, p->instance);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
	call_key(c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(c, KEY_TURN, k->user_id, p->turn_id);
}

void
turn_call(struct script_call *c, const struct state_script *script,
    const struct turn_slot *p)
{
	turn_call_keys(c, script, p);
	call_tokens(c, p->instance, ':', p->turn_id);
}

static enum rc
turn_read_entered(const struct state_reply *r, enum rc rc,
    const struct turn_entry *e, struct arena *a, struct turn_entered *out)
{
	const struct state_reply *v = state_reply_at(r, 1);
	const struct state_reply *input = state_reply_at(r, 2);
	const struct state_reply *seq = state_reply_at(r, 3);
	/* The turn has entered, even if there is no room for these. */
	struct record_reader rd = { .a = a }, more = { .a = a };

	if (call_is_done(rc) && state_reply_kind(input) != STATE_NIL)
		out->input = record_id(&rd, input);
	if (call_is_done(rc)) {
		out->ahead = state_reply_int(v);
		out->begun = state_reply_kind(seq) != STATE_NIL;
		if (out->begun) {
			e->events->seq = state_reply_int(seq);
			e->events->followed =
			    state_reply_int(state_reply_at(r, 4)) != 0;
			out->summary = record_text(&more, state_reply_at(r, 5));
			out->pending = record_text(&more, state_reply_at(r, 6));
			out->approval =
			    record_text(&more, state_reply_at(r, 7));
			session_notes_parse(
			    &more, state_reply_at(r, 8), &out->notes);
			out->mind_link =
			    record_text(&more, state_reply_at(r, 9));
			out->inner_voice =
			    record_text(&more, state_reply_at(r, 10));
		}
	} else if (rc == RC_CONFLICT && state_reply_kind(v) != STATE_NIL) {
		out->first = record_id(&rd, v);
	}
	return rd.rc != RC_OK ? rd.rc : rc;
}

static enum rc
turn_call_enter(struct script_call *c, const struct turn_slot *p,
    const struct turn_entry *e)
{
	const struct session_key *k = &p->key;

	turn_call_keys(c, &script_turn_enter, p);
	call_key(c, KEY_SESSION_RETRY, k->user_id, k->session_id);
	call_key(c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key_of(c, KEY_IDLE, k->user_id, STR_NONE);
	call_key(c, KEY_USER_SESSIONS, k->user_id, STR_NONE);
	if (e->input != NULL) {
		call_key(c, KEY_SOUL, k->user_id, e->input->soul);
		call_key(c, KEY_MIND_LINK, k->user_id, e->input->soul);
	}
	call_pack(c);
	call_tokens(c, p->instance, ':', p->turn_id);
	call_token(c, p->turn_id);
	call_token(c, k->user_id);
	call_token(c, k->session_id);
	call_token(c, p->instance);
	call_text(c, e->trace_id, ID_MAX);
	call_num(c, TURN_ALIVE_MS);
	call_num(c, TURN_QUEUE_MAX + 1); /* one more runs */
	call_num(c, e->acting);
	if (e->input != NULL &&
	    turn_call_input(c, p, e->messages, e->input, e->events) != RC_OK)
		return RC_INVALID;
	call_pack_end(c);
	call_text(c, e->fingerprint, TURN_FINGERPRINT_MAX);
	if (e->input != NULL)
		turn_call_texts(c, e->messages, e->events);
	return RC_OK;
}

enum rc
turn_enter(struct state *s, const struct turn_slot *p,
    const struct turn_entry *e, struct arena *a, struct turn_entered *out)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct turn_entered){ .ahead = -1 };
	rc = turn_call_enter(&c, p, e);
	if (rc != RC_OK)
		return rc;
	rc = call_run(s, &c, 2, &r);
	rc = turn_read_entered(r, rc, e, a, out);
	state_reply_free(r);
	return rc;
}

enum rc
turn_poll(struct state *s, const struct turn_slot *p,
    const struct turn_named *orphan, struct arena *a, struct turn_position *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	turn_call(&c, &script_turn_poll, p);
	call_num(&c, TURN_ALIVE_MS);
	if (orphan != NULL)
		call_tokens(&c, orphan->instance, ':', orphan->turn_id);
	else
		call_text(&c, STR(""), 0);
	/* The orphan may be the head that *out has from the poll before. */
	*out = (struct turn_position){ .ahead = -1 };
	rc = call_run(s, &c, 4, &r);
	/* What it writes need not last, and replicas are waited for later. */
	if (rc == RC_UNREPLICATED)
		rc = RC_OK;
	if (rc == RC_OK) {
		out->ahead = state_reply_int(state_reply_at(r, 1));
		out->head.instance = record_id(&rd, state_reply_at(r, 2));
		out->head.turn_id = record_id(&rd, state_reply_at(r, 3));
		rc = record_end(&rd, c.keys[0]);
	}
	state_reply_free(r);
	return rc;
}

enum rc
turn_check_head(struct state *s, const struct turn_slot *p)
{
	struct script_call c;

	turn_call(&c, &script_turn_check_head, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_mark_acting(struct state *s, const struct turn_slot *p)
{
	struct script_call c;

	turn_call(&c, &script_turn_mark_acting, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_take_approval(
    struct state *s, const struct turn_slot *p, struct str approval)
{
	struct script_call c;

	turn_call(&c, &script_turn_take_approval, p);
	call_text(&c, approval, SESSION_TEXT_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_unmark_acting(struct state *s, const struct turn_slot *p)
{
	struct script_call c;

	turn_call(&c, &script_turn_unmark_acting, p);
	return call_run(s, &c, 1, NULL);
}

enum rc
turn_mark(
    const struct state *s, const struct turn_slot *p, struct state_mark *out)
{
	char text[STATE_KEY_MAX];
	const struct str ids[] = { p->key.user_id, p->key.session_id };
	struct str key;
	enum rc rc;

	rc = state_key(text, KEY_TURNS, ids, NELEM(ids), &key);
	if (rc == RC_OK)
		*out = state_mark_now(s, key);
	return rc;
}

enum rc
turn_abandon(struct state *s, const struct turn_slot *p,
    const struct turn_abandoning *e, struct arena *a,
    struct turn_abandoned *out)
{
	const struct session_key *k = &p->key;
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct turn_abandoned){ 0 };
	turn_call(&c, &script_turn_abandon, p);
	call_token(&c, p->turn_id);
	call_token(&c, k->user_id);
	call_token(&c, k->session_id);
	call_token(&c, p->instance);
	call_text(&c, e->trace_id, ID_MAX);
	call_text(&c, e->reply, EVENTS_TEXT_MAX);
	call_text(&c, e->acted, EVENTS_TEXT_MAX);
	rc = call_run(s, &c, 3, &r);
	if (call_is_done(rc)) {
		out->reply = record_text(&rd, state_reply_at(r, 1));
		out->acting = state_reply_int(state_reply_at(r, 2)) != 0;
		if (record_end(&rd, c.keys[0]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}
