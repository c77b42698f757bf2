/*
 * turn_record: what a turn writes into its session while it is head, its end,
 * and its record.
 *
 * Each function is one script, so one round trip and one flush of the
 * append-only file.
 */
#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"
#include "state/turn.h"

static bool
turn_can_append(const struct session_new *new)
{
	return new->n > 0 && new->n <= SESSION_APPEND_MAX;
}

static void
turn_put_texts(
    struct script_call *c, const struct str *json, size_t n, size_t max)
{
	size_t i;

	for (i = 0; i < n; i++)
		call_text(c, json[i], max);
}

/* ---- a running turn ---- */

enum rc
turn_append_messages(
    struct state *s, const struct turn_slot *p, const struct session_new *new)
{
	return session_append_fenced(s, &p->key, p, *new, NULL);
}

enum rc
turn_call_input(struct script_call *c, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in,
    const struct turn_events *events)
{
	const struct session_key *k = &p->key;

	if (events->n > TURN_EVENTS_MAX || !id_valid(in->soul) ||
	    !id_valid(in->terminal) || in->idle_ms < 0)
		return RC_INVALID;
	call_num(c, SESSION_MESSAGES_MAX);
	call_text(c, in->soul, ID_MAX);
	call_text(c, in->terminal, ID_MAX);
	call_num(c, in->idle_ms);
	call_tokens(c, k->user_id, ':', k->session_id);
	call_num(c, (int64_t)events->n);
	call_num(c, new->chars);
	return RC_OK;
}

void
turn_call_texts(struct script_call *c, const struct session_new *new,
    const struct turn_events *events)
{
	call_text(c, SESSION_PENDING_ARG(new->pending), SESSION_TEXT_MAX);
	turn_put_texts(c, events->json, events->n, EVENTS_TEXT_MAX);
	turn_put_texts(c, new->json, new->n, SESSION_TEXT_MAX);
}

static enum rc
turn_run_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_events *events)
{
	const struct session_key *k = &p->key;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_turn_input);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(&c, KEY_TURN, k->user_id, p->turn_id);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key_of(&c, KEY_IDLE, k->user_id, STR_NONE);
	call_key(&c, KEY_USER_SESSIONS, k->user_id, STR_NONE);
	call_key(&c, KEY_SOUL, k->user_id, in->soul);
	call_tokens(&c, p->instance, ':', p->turn_id);
	call_pack(&c);
	rc = turn_call_input(&c, p, new, in, events);
	if (rc != RC_OK)
		return rc;
	call_pack_end(&c);
	turn_call_texts(&c, new, events);
	rc = call_run(s, &c, 3, &r);
	events->seq =
	    call_is_done(rc) ? state_reply_int(state_reply_at(r, 1)) : 0;
	events->followed =
	    call_is_done(rc) && state_reply_int(state_reply_at(r, 2)) != 0;
	state_reply_free(r);
	return rc;
}

enum rc
turn_append_input(struct state *s, const struct turn_slot *p,
    const struct session_new *new, const struct turn_input *in,
    struct turn_events *events)
{
	return turn_can_append(new) ? turn_run_input(s, p, new, in, events)
				    : RC_INVALID;
}

enum rc
turn_resume_input(struct state *s, const struct turn_slot *p,
    const struct turn_input *in, struct turn_events *events)
{
	return turn_run_input(
	    s, p, &(struct session_new){ .n = 0 }, in, events);
}

enum rc
turn_log_events(struct state_pipe *pipe, const struct turn_slot *p,
    const struct turn_events *events)
{
	const struct session_key *k = &p->key;
	struct script_call c;

	if (events->n == 0 || events->n > TURN_EVENTS_MAX)
		return RC_INVALID;
	call_begin(&c, &script_turn_log_events);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION, k->user_id, k->session_id);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_tokens(&c, p->instance, ':', p->turn_id);
	turn_put_texts(&c, events->json, events->n, EVENTS_TEXT_MAX);
	return call_queue(pipe, &c);
}

enum rc
turn_log_events_reply(const struct state_pipe *pipe, size_t i, int64_t *seq)
{
	const struct state_reply *r;
	enum rc rc;

	*seq = 0;
	rc = state_pipe_reply(pipe, i, &r);
	if (rc == RC_OK)
		rc = call_status(r, 2);
	if (rc == RC_OK)
		*seq = state_reply_int(state_reply_at(r, 1));
	return rc;
}

/* ---- its end ---- */

static enum rc
turn_run_ending(struct state *s, struct script_call *c, struct turn_ending *end,
    struct arena *a)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	enum rc rc;

	end->next = STR_NONE;
	end->events.seq = 0;
	end->events.followed = false;
	end->length_known = false;
	end->soul_saved = false;
	end->summary_requested = false;
	rc = call_run(s, c, 3, &r);
	if (call_is_done(rc)) {
		end->length = (struct session_length){
			state_reply_int(state_reply_at(r, 4)),
			state_reply_int(state_reply_at(r, 5)),
		};
		end->length_known =
		    state_reply_len(r) == 8 && end->length.chars >= 0;
		end->soul_saved = state_reply_int(state_reply_at(r, 6)) != 0;
		end->summary_requested =
		    state_reply_int(state_reply_at(r, 7)) != 0;
		end->next = record_id(&rd, state_reply_at(r, 1));
		end->events.seq = state_reply_int(state_reply_at(r, 2));
		end->events.followed =
		    state_reply_int(state_reply_at(r, 3)) != 0;
		if (record_end(&rd, c->keys[0]) != RC_OK)
			rc = rd.rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
turn_leave(struct state *s, const struct turn_slot *p, struct turn_ending *end,
    struct arena *a)
{
	struct script_call c;

	if (end->events.n > TURN_EVENTS_MAX)
		return RC_INVALID;
	turn_call(&c, &script_turn_leave, p);
	call_text(&c, end->reply, EVENTS_TEXT_MAX);
	call_text(&c, end->timeline, EVENTS_TEXT_MAX);
	call_num(&c, end->forget);
	call_num(&c, end->if_begun);
	turn_put_texts(&c, end->events.json, end->events.n, EVENTS_TEXT_MAX);
	return turn_run_ending(s, &c, end, a);
}

enum rc
turn_finish(struct state *s, const struct turn_slot *p,
    const struct session_new *new, struct turn_ending *end, struct arena *a)
{
	const struct session_key *k = &p->key;
	struct script_call c;

	if (!turn_can_append(new) || end->events.n > TURN_EVENTS_MAX)
		return RC_INVALID;
	turn_call_keys(&c, &script_turn_finish, p);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_pack(&c);
	call_tokens(&c, p->instance, ':', p->turn_id);
	call_num(&c, end->forget);
	call_num(&c, end->took_ms > TURN_LONG_MS);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_num(&c, (int64_t)end->events.n);
	call_num(&c, new->chars);
	call_pack_end(&c);
	call_text(&c, end->reply, EVENTS_TEXT_MAX);
	call_text(&c, end->timeline, EVENTS_TEXT_MAX);
	call_text(&c, SESSION_PENDING_ARG(end->approval), SESSION_TEXT_MAX);
	call_text(&c, SESSION_PENDING_ARG(end->inner_voice), SESSION_TEXT_MAX);
	turn_call_texts(&c, new, &end->events);
	return turn_run_ending(s, &c, end, a);
}

/* ---- its record ---- */

static enum turn_state
turn_record_state(const struct turn_record *t, bool lost)
{
	if (lost)
		return TURN_STATE_LOST;
	return t->reply.n > 0 ? TURN_STATE_ENDED : TURN_STATE_OPEN;
}

static enum rc
turn_record_read_fields(const struct state_reply *r, struct arena *a,
    struct turn_record *out, struct str key)
{
	const struct state_reply *h = state_reply_at(r, 3);
	struct record_reader rd = { .a = a };

	out->known = state_reply_int(state_reply_at(r, 1)) != 0;
	out->user_id = record_id(&rd, state_reply_at(h, 0));
	out->session_id = record_id(&rd, state_reply_at(h, 1));
	out->instance = record_id(&rd, state_reply_at(h, 2));
	out->trace_id = record_text(&rd, state_reply_at(h, 3));
	out->started.ms = record_num(&rd, state_reply_at(h, 4));
	out->reply = record_text(&rd, state_reply_at(h, 5));
	out->timeline = record_text(&rd, state_reply_at(h, 6));
	out->commit_us = record_num(&rd, state_reply_at(h, 7));
	out->state =
	    turn_record_state(out, state_reply_int(state_reply_at(r, 2)) != 0);
	return record_end(&rd, key);
}

enum rc
turn_record_read(struct state *s, struct str user_id, struct str turn_id,
    struct arena *a, struct turn_record *out)
{
	struct state_reply *r;
	struct state_mark mark;
	struct script_call c;
	enum rc rc;

	*out = (struct turn_record){ 0 };
	call_begin(&c, &script_turn_read);
	call_key(&c, KEY_TURN, user_id, turn_id);
	mark = state_mark_now(s, c.n_keys > 0 ? c.keys[0] : STR(""));
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK)
		rc = turn_record_read_fields(r, a, out, c.keys[0]);
	/* Who stored it may still be waiting for replicas, or have failed. */
	if (rc == RC_OK && out->state == TURN_STATE_ENDED)
		rc = state_wait_replicated(s, mark, 0);
	if (rc != RC_OK)
		*out = (struct turn_record){ 0 };
	state_reply_free(r);
	return rc;
}

enum rc
turn_put_commit_time(
    struct state_pipe *pipe, struct str user, struct str turn_id, int64_t us)
{
	struct script_call c;

	if (us < 0)
		return RC_INVALID;
	call_begin(&c, &script_turn_put_commit_time);
	call_key(&c, KEY_TURN, user, turn_id);
	call_num(&c, us);
	return call_queue(pipe, &c);
}
