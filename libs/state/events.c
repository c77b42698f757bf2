/*
 * events: streams whose ids are 0-<seq>.
 *
 * The count of a session's is in its record, so that a stream continues it
 * after the previous one has expired.  A run's log lasts longer than the run.
 */
#include "state/events.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* Elements of the script's reply for one event. */
#define EVENT_ELEMENTS 5

static enum rc
events_parse(const struct state_reply *l, struct arena *a, struct events *out,
    struct str key)
{
	size_t n = state_reply_len(l) / EVENT_ELEMENTS;
	struct record_reader rd = { .a = a };
	size_t i, at;

	out->item = arena_alloc(a, (n + 1) * sizeof(*out->item));
	if (out->item == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		at = EVENT_ELEMENTS * i;
		out->item[i] = (struct event){
			.seq = record_num(&rd, state_reply_at(l, at)),
			.json = record_text(&rd, state_reply_at(l, at + 1)),
			.lost_turn = record_id(&rd, state_reply_at(l, at + 2)),
			.lost_at = { record_num(
			    &rd, state_reply_at(l, at + 3)) },
			.lost_acted =
			    record_num(&rd, state_reply_at(l, at + 4)) != 0,
		};
	}
	out->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

/* The keys of a log. */
static void
events_put_keys(struct script_call *c, const struct events_key *k, bool record)
{
	switch (k->kind) {
	case EVENTS_SESSION:
		call_key(c, KEY_SESSION, k->user_id, k->id);
		if (!record)
			call_key(c, KEY_SESSION_EVENTS, k->user_id, k->id);
		break;
	case EVENTS_RUN:
		call_run_key(c, KEY_RUN_EVENTS, k->id);
		break;
	case EVENTS_RUN_RASP:
		call_run_key(c, KEY_RUN_RASP, k->id);
		break;
	case EVENTS_KINDS:
		c->rc = RC_BUG;
		break;
	}
}

static void
events_call(struct script_call *c, const struct events_key *k,
    const struct state_script *of_session, const struct state_script *of_run)
{
	call_begin(c, k->kind == EVENTS_SESSION ? of_session : of_run);
}

enum rc
events_read(struct state *s, const struct events_key *k, int64_t after,
    bool stored, struct arena *a, struct events *out)
{
	struct state_reply *r;
	struct state_mark mark;
	struct script_call c;
	enum rc rc;

	*out = (struct events){ 0 };
	if (after < 0)
		return RC_INVALID;
	events_call(
	    &c, k, &script_session_read_events, &script_run_read_events);
	events_put_keys(&c, k, false);
	call_num(&c, after);
	call_num(&c, EVENTS_PAGE_MAX);
	call_num(&c, EVENTS_PAGE_BYTES);
	mark = state_mark_now(s, c.n_keys > 0 ? c.keys[0] : STR(""));
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		out->newest = state_reply_int(state_reply_at(r, 1));
		out->more = state_reply_int(state_reply_at(r, 2)) != 0;
		rc = events_parse(
		    state_reply_at(r, 3), a, out, c.keys[c.n_keys - 1]);
	}
	/* Who logged them may still be waiting for replicas, or have failed. */
	if (rc == RC_OK && stored && out->n > 0)
		rc = state_wait_replicated(s, mark, 0);
	if (rc != RC_OK)
		*out = (struct events){ 0 };
	state_reply_free(r);
	return rc;
}

static enum rc
events_seq(struct state *s, struct script_call *c, int64_t *seq)
{
	struct state_reply *r;
	enum rc rc = call_run(s, c, 2, &r);

	*seq = rc == RC_OK ? state_reply_int(state_reply_at(r, 1)) : 0;
	state_reply_free(r);
	return rc;
}

enum rc
events_newest(struct state *s, const struct events_key *k, int64_t *seq)
{
	struct script_call c;

	events_call(
	    &c, k, &script_session_newest_event, &script_run_newest_event);
	events_put_keys(&c, k, true);
	return events_seq(s, &c, seq);
}

enum rc
events_follow(
    struct state *s, const struct events_key *k, int64_t ttl_ms, int64_t *seq)
{
	struct script_call c;

	*seq = 0;
	if (ttl_ms <= 0)
		return RC_INVALID;
	if (k->kind != EVENTS_SESSION)
		return events_newest(s, k, seq);
	call_begin(&c, &script_session_follow);
	events_put_keys(&c, k, true);
	call_num(&c, ttl_ms);
	return events_seq(s, &c, seq);
}
