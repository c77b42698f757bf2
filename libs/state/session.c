/*
 * session: a session's record, messages and summary.
 *
 * A summary's job waits in the session's record until it has been published, so
 * that summary and job are stored by one write.
 *
 * How long a session is since its summary stands in its record, updated by each
 * append; session_request_summary.lua counts again where it is out of date.
 */
#include "state/session.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define NUMBER_MAX INT64_C(9007199254740991) /* exact as a double */

static void
session_call(struct script_call *c, const struct state_script *script,
    const struct session_key *k)
{
	call_begin(c, script);
	call_key(c, KEY_SESSION, k->user_id, k->session_id);
}

enum rc
session_read(struct state *s, const struct session_key *k, struct arena *a,
    struct session *out)
{
	struct record_reader rd = { .a = a };
	const struct state_reply *h;
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	memset(out, 0, sizeof(*out));
	session_call(&c, &script_session_read, k);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK) {
		h = state_reply_at(r, 2);
		out->known = state_reply_int(state_reply_at(r, 1)) != 0;
		out->soul_id = record_text(&rd, state_reply_at(h, 0));
		out->terminal_id = record_text(&rd, state_reply_at(h, 1));
		out->summary = record_text(&rd, state_reply_at(h, 2));
		out->summarised = record_num(&rd, state_reply_at(h, 3));
		out->active.ms = record_num(&rd, state_reply_at(h, 4));
		out->job = record_text(&rd, state_reply_at(h, 5));
		out->pending = record_text(&rd, state_reply_at(h, 6));
		out->approval = record_text(&rd, state_reply_at(h, 7));
		out->inner_voice = record_text(&rd, state_reply_at(h, 8));
		session_notes_parse(&rd, state_reply_at(r, 3), &out->notes);
		rc = record_end(&rd, c.keys[0]);
	}
	if (rc != RC_OK)
		memset(out, 0, sizeof(*out));
	state_reply_free(r);
	return rc;
}

static enum rc
session_read_approvals(const struct state_reply *r, struct arena *a,
    struct session_approval_list *out, struct str key)
{
	const struct state_reply *l = state_reply_at(r, 1);
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(l) / 2;

	out->list = arena_alloc(a, (n + 1) * sizeof(*out->list));
	if (out->list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++)
		out->list[i] = (struct session_approval){
			record_id(&rd, state_reply_at(l, 2 * i)),
			record_text(&rd, state_reply_at(l, 2 * i + 1)),
		};
	out->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

enum rc
session_list_approvals(struct state *s, struct str user, size_t max,
    struct arena *a, struct session_approval_list *out)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct session_approval_list){ 0 };
	call_begin(&c, &script_session_list_approvals);
	call_key(&c, KEY_USER_SESSIONS, user, STR_NONE);
	call_token(&c, user);
	call_num(&c, (int64_t)max);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK)
		rc = session_read_approvals(r, a, out, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
session_append_fenced(struct state *s, const struct session_key *k,
    const struct turn_slot *turn, struct session_new new, int64_t *first)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;
	size_t i;

	if (first != NULL)
		*first = 0;
	if (new.n == 0 || new.n > SESSION_APPEND_MAX)
		return RC_INVALID;
	session_call(&c, &script_session_append, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	if (turn == NULL)
		call_text(&c, STR_NONE, 0);
	else
		call_tokens(&c, turn->instance, ':', turn->turn_id);
	call_num(&c, SESSION_MESSAGES_MAX);
	call_text(&c, SESSION_PENDING_ARG(new.pending), SESSION_TEXT_MAX);
	call_num(&c, new.chars);
	for (i = 0; i < new.n; i++)
		call_text(&c, new.json[i], SESSION_TEXT_MAX);
	rc = call_run(s, &c, 2, &r);
	if (rc == RC_OK && first != NULL)
		*first = state_reply_int(state_reply_at(r, 1));
	state_reply_free(r);
	return rc;
}

enum rc
session_append(struct state *s, const struct session_key *k,
    const struct str *json, size_t n, int64_t *first)
{
	return session_append_fenced(
	    s, k, NULL, (struct session_new){ .json = json, .n = n }, first);
}

static enum rc
session_read_messages(const struct state_reply *r, struct arena *a,
    struct session_list *out, struct str key)
{
	int64_t number = state_reply_int(state_reply_at(r, 1));
	const struct state_reply *l = state_reply_at(r, 2);
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(l);

	out->message = arena_alloc(a, n * sizeof(*out->message));
	if (out->message == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		out->message[i].number = number++;
		out->message[i].json = record_text(&rd, state_reply_at(l, i));
	}
	out->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

enum rc
session_messages(struct state *s, const struct session_key *k,
    struct session_page page, struct arena *a, struct session_list *out)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct session_list){ 0 };
	if (page.after > NUMBER_MAX)
		return RC_INVALID;
	if (page.max > SESSION_MESSAGES_MAX)
		page.max = SESSION_MESSAGES_MAX;
	if (page.bytes == 0 || page.bytes > SESSION_PAGE_BYTES)
		page.bytes = SESSION_PAGE_BYTES;
	session_call(&c, &script_session_read_messages, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_num(&c, page.after < 0 ? -1 : page.after);
	call_num(&c, (int64_t)page.max);
	call_num(&c, (int64_t)page.bytes);
	rc = call_run(s, &c, 3, &r);
	if (rc == RC_OK)
		rc = session_read_messages(r, a, out, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
session_delete(struct state *s, const struct session_key *k)
{
	struct script_call c;

	session_call(&c, &script_session_delete, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key(&c, KEY_TURNS, k->user_id, k->session_id);
	call_key_of(&c, KEY_IDLE, k->user_id, STR_NONE);
	call_key(&c, KEY_SESSION_EVENTS, k->user_id, k->session_id);
	call_key(&c, KEY_USER_SESSIONS, k->user_id, STR_NONE);
	call_tokens(&c, k->user_id, ':', k->session_id);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_summarise(struct state *s, const struct session_key *k,
    const struct session_summary *sum)
{
	struct script_call c;

	if (sum->after < 0 || sum->number <= sum->after ||
	    sum->number > NUMBER_MAX)
		return RC_INVALID;
	session_call(&c, &script_session_summarise, k);
	call_text(&c, sum->text, SESSION_TEXT_MAX);
	call_num(&c, sum->after);
	call_num(&c, sum->number);
	call_text(&c, sum->job, SESSION_TEXT_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_job_done(struct state *s, const struct session_key *k, struct str job)
{
	struct script_call c;

	session_call(&c, &script_session_job_done, k);
	call_text(&c, job, SESSION_TEXT_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
session_request_summary(struct state *s, const struct session_key *k,
    const struct session_length *least, bool *requested)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	session_call(&c, &script_session_request_summary, k);
	call_key(&c, KEY_SESSION_MESSAGES, k->user_id, k->session_id);
	call_key_of(&c, KEY_IDLE, k->user_id, STR_NONE);
	call_num(&c, least->messages);
	call_num(&c, least->chars);
	call_tokens(&c, k->user_id, ':', k->session_id);
	rc = call_run(s, &c, 2, &r);
	*requested = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}
