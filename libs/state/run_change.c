/*
 * run_change: what changes a run's state, each in one step.
 */
#include "core/mem.h"
#include "state/run.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* The timers of the bucket of a run. */
static void
run_change_due(struct script_call *c, struct str run)
{
	unsigned bucket;

	if (run_id_bucket(run, &bucket) == RC_OK)
		call_bucket_key(c, KEY_RUNS_DUE, bucket);
}

/* Whether both are in one bucket: otherwise the user has no such run. */
static enum rc
run_change_check_user(struct str run, struct str user)
{
	unsigned of_run, of_user;
	enum rc rc = run_id_bucket(run, &of_run);

	if (rc == RC_OK)
		rc = state_bucket(user, &of_user);
	if (rc != RC_OK)
		return rc;
	return of_run == of_user ? RC_OK : RC_NOENT;
}

enum rc
run_assign(struct state *s, struct str run, struct str from, struct str to)
{
	struct script_call c;

	if (!id_valid(to))
		return RC_INVALID;
	call_begin(&c, &script_run_assign);
	call_run_key(&c, KEY_RUN, run);
	run_change_due(&c, run);
	call_text(&c, from, ID_MAX);
	call_text(&c, to, ID_MAX);
	return call_run(s, &c, 1, NULL);
}

/* ---- a run's writer ---- */

enum rc
run_claim(struct state *s, struct str run, struct str runner, struct arena *a,
    struct run_record *out)
{
	struct script_call c;

	run_call(&c, &script_run_claim, run);
	run_change_due(&c, run);
	call_text(&c, runner, ID_MAX);
	return run_call_record(s, &c, run, a, out);
}

enum rc
run_adopt(struct state *s, struct str run, int64_t epoch, struct arena *a,
    struct run_record *out)
{
	struct script_call c;

	run_call(&c, &script_run_adopt, run);
	call_num(&c, epoch);
	return run_call_record(s, &c, run, a, out);
}

static enum rc
run_publish_check(const struct run_publish *p)
{
	size_t i, bytes = 0;

	if (p->n_fcmp > RUN_PUBLISH_MAX || p->n_rasp > RUN_PUBLISH_MAX ||
	    p->epoch <= 0 || p->fcmp < 0 || p->rasp < 0 ||
	    p->status >= RUN_STATUS_N)
		return RC_INVALID;
	if (p->status == RUN_IS_WAITING &&
	    (p->question_id.n == 0 || p->question.n == 0 || p->reply_ms <= 0))
		return RC_INVALID;
	if (run_status_is_end(p->status) && p->ttl_ms <= 0)
		return RC_INVALID;
	for (i = 0; i < p->n_fcmp; i++)
		bytes += p->fcmp_json[i].n;
	for (i = 0; i < p->n_rasp; i++)
		bytes += p->rasp_json[i].n;
	return bytes > RUN_PUBLISH_BYTES && p->n_fcmp + p->n_rasp > 1
	    ? RC_TOOBIG
	    : RC_OK;
}

static void
run_publish_call(
    struct script_call *c, const struct run_publish *p, struct str workspace)
{
	size_t i;

	run_call(c, &script_run_publish, p->run_id);
	run_change_due(c, p->run_id);
	call_key(c, KEY_USER_RUNS_ACTIVE, p->user_id, STR_NONE);
	call_run_key(c, KEY_RUN_WORKSPACE, workspace);
	call_key(c, KEY_USER_RUNS, p->user_id, STR_NONE);
	call_key(c, KEY_USER_RUN_NOTES, p->user_id, STR_NONE);
	call_pack(c);
	call_num(c, p->epoch);
	call_num(c, p->fcmp);
	call_num(c, p->rasp);
	call_num(c, (int64_t)p->n_fcmp);
	call_num(c, (int64_t)p->n_rasp);
	call_text(c, str_of(run_status_name(p->status)), ID_MAX);
	call_text(c, p->handle, RUN_HANDLE_MAX);
	call_text(c, p->question_id, ID_MAX);
	call_num(c, p->status == RUN_IS_WAITING ? p->reply_ms : p->ttl_ms);
	call_num(c, p->facts.n > 0);
	call_num(c, p->question.n > 0);
	call_num(c, p->reply.n > 0);
	call_num(c, p->note.n > 0);
	call_pack_end(c);
	if (p->facts.n > 0)
		call_text(c, p->facts, RUN_FACTS_MAX);
	if (p->question.n > 0)
		call_text(c, p->question, RUN_QUESTION_MAX);
	if (p->reply.n > 0)
		call_text(c, p->reply, RUN_REPLY_MAX);
	if (p->note.n > 0)
		call_text(c, p->note, RUN_NOTE_MAX);
	for (i = 0; i < p->n_fcmp; i++)
		call_text(c, p->fcmp_json[i], RUN_EVENT_MAX);
	for (i = 0; i < p->n_rasp; i++)
		call_text(c, p->rasp_json[i], RUN_EVENT_MAX);
}

enum rc
run_publish(struct state *s, struct run_publish *p)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	p->fcmp_is = p->rasp_is = -1;
	rc = run_publish_check(p);
	if (rc == RC_OK)
		rc = run_change_check_user(p->run_id, p->user_id);
	if (rc != RC_OK)
		return rc;
	run_publish_call(&c, p, p->workspace.n > 0 ? p->workspace : p->run_id);
	rc = call_run(s, &c, 3, &r);
	if (state_reply_len(r) == 3) {
		p->fcmp_is = state_reply_int(state_reply_at(r, 1));
		p->rasp_is = state_reply_int(state_reply_at(r, 2));
	}
	state_reply_free(r);
	return rc;
}

/* ---- a run's user ---- */

static enum rc
run_reply_read(struct state_reply *r, enum rc rc, struct arena *a,
    struct run_user_reply *p, struct run_record *out, struct str key)
{
	struct record_reader rd = { .a = a };
	enum rc parsed;

	if (rc == RC_CONFLICT)
		p->why = run_why(r);
	if (!call_is_done(rc))
		return rc;
	p->repeated = state_reply_int(state_reply_at(r, 2)) != 0;
	out->run_id = arena_str(a, p->run_id);
	run_parse(&rd, state_reply_at(r, 1), 0, RUN_ALL_FIELDS, out);
	parsed = out->run_id.p == NULL ? RC_TOOBIG : record_end(&rd, key);
	return parsed != RC_OK ? parsed : rc;
}

enum rc
run_reply(struct state *s, struct run_user_reply *p, struct arena *a,
    struct run_record *out)
{
	char key[ID_TOKEN_MAX] = "-";
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*out = (struct run_record){ 0 };
	p->repeated = false;
	p->why = STR_NONE;
	rc = run_change_check_user(p->run_id, p->user_id);
	if (rc == RC_OK && p->key.n > 0)
		rc = id_token(p->key, key);
	if (rc == RC_OK && (!id_valid(p->question_id) || p->content.n == 0))
		rc = RC_INVALID;
	if (rc != RC_OK)
		return rc;
	run_call(&c, &script_run_reply, p->run_id);
	run_change_due(&c, p->run_id);
	call_key(&c, KEY_USER_RUNS_ACTIVE, p->user_id, STR_NONE);
	call_key(&c, KEY_USER_RUN_NOTES, p->user_id, STR_NONE);
	call_token(&c, p->user_id);
	call_text(&c, p->question_id, ID_MAX);
	call_text(&c, str_of(key), ID_TOKEN_MAX);
	call_text(&c, p->content, RUN_REPLY_MAX);
	rc = call_run(s, &c, 2, &r);
	rc = run_reply_read(r, rc, a, p, out, c.keys[0]);
	state_reply_free(r);
	return rc;
}

enum rc
run_cancel(struct state *s, struct str run, struct str user, struct arena *a,
    struct run_record *out)
{
	struct script_call c;
	enum rc rc = run_change_check_user(run, user);

	*out = (struct run_record){ 0 };
	if (rc != RC_OK)
		return rc;
	run_call(&c, &script_run_cancel, run);
	run_change_due(&c, run);
	call_token(&c, user);
	return run_call_record(s, &c, run, a, out);
}
