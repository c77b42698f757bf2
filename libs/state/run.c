/*
 * run: storing, reading, listing and deleting records of runs.
 */
#include "state/run.h"

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

/* Attempts to find an id that no other run has. */
#define NEW_ID_TRIES 8

static const char *const run_names[RUN_STATUS_N] = {
	[RUN_IS_QUEUED] = "queued",
	[RUN_IS_RUNNING] = "running",
	[RUN_IS_WAITING] = "waiting_user",
	[RUN_IS_SUCCEEDED] = "succeeded",
	[RUN_IS_FAILED] = "failed",
	[RUN_IS_CANCELED] = "canceled",
};

const char *
run_status_name(enum run_status st)
{
	return st < RUN_STATUS_N ? run_names[st] : "";
}

bool
run_status_is_end(enum run_status st)
{
	return st == RUN_IS_SUCCEEDED || st == RUN_IS_FAILED ||
	    st == RUN_IS_CANCELED;
}

struct str
run_why(const struct state_reply *r)
{
	static const struct str reasons[] = { STR_INIT(RUN_WHY_KEY_REUSED),
		STR_INIT(RUN_WHY_BUSY), STR_INIT(RUN_WHY_NOT_RESUMABLE),
		STR_INIT(RUN_WHY_NOT_WAITING), STR_INIT(RUN_WHY_STALE) };
	struct str why = state_reply_str(state_reply_at(r, 1));
	size_t i;

	for (i = 0; i < NELEM(reasons); i++)
		if (str_eq(why, reasons[i]))
			return reasons[i];
	return STR_NONE;
}

void
run_call(
    struct script_call *c, const struct state_script *script, struct str run)
{
	call_begin(c, script);
	call_run_key(c, KEY_RUN, run);
	call_run_key(c, KEY_RUN_EVENTS, run);
	call_run_key(c, KEY_RUN_RASP, run);
}

/* ---- a record ---- */

static enum run_status
run_parse_status(struct record_reader *rd, const struct state_reply *r)
{
	struct str name = state_reply_str(r);
	int st;

	for (st = 0; st < RUN_STATUS_N; st++)
		if (str_eq(name, str_of(run_names[st])))
			return (enum run_status)st;
	if (rd->rc == RC_OK)
		rd->rc = RC_INVALID;
	return RUN_IS_FAILED;
}

/* A text of which an empty one means that there is none. */
static struct str
run_parse_text(struct record_reader *rd, const struct state_reply *r)
{
	struct str s = record_text(rd, r);

	return s.n > 0 ? s : STR_NONE;
}

static struct wall
run_parse_time(struct record_reader *rd, const struct state_reply *r)
{
	return (struct wall){ record_num(rd, r) };
}

void
run_parse(struct record_reader *rd, const struct state_reply *fields,
    size_t first, size_t n, struct run_record *out)
{
	const struct state_reply *f[RUN_ALL_FIELDS];
	size_t i;

	for (i = 0; i < RUN_ALL_FIELDS; i++)
		f[i] = i < n ? state_reply_at(fields, first + i) : NULL;
	out->user_id = record_id(rd, f[0]);
	out->tenant = run_parse_text(rd, f[1]);
	out->engine = record_text(rd, f[2]);
	out->mode = record_text(rd, f[3]);
	out->title = record_text(rd, f[4]);
	out->status = run_parse_status(rd, f[5]);
	out->attempt = record_num(rd, f[6]);
	out->runner = run_parse_text(rd, f[7]);
	out->epoch = record_num(rd, f[8]);
	out->handle = run_parse_text(rd, f[9]);
	out->fcmp = record_num(rd, f[10]);
	out->rasp = record_num(rd, f[11]);
	out->question_id = run_parse_text(rd, f[12]);
	out->reply_until = run_parse_time(rd, f[13]);
	out->cancel = record_num(rd, f[14]) != 0;
	out->facts = run_parse_text(rd, f[15]);
	out->resumes = run_parse_text(rd, f[16]);
	out->workspace = run_parse_text(rd, f[17]);
	out->created = run_parse_time(rd, f[18]);
	out->changed = run_parse_time(rd, f[19]);
	out->ended = run_parse_time(rd, f[20]);
	out->spec = run_parse_text(rd, f[21]);
	out->question = run_parse_text(rd, f[22]);
	out->reply = run_parse_text(rd, f[23]);
	out->replied_id = run_parse_text(rd, f[24]);
	out->session_id = f[25] != NULL && state_reply_kind(f[25]) == STATE_STR
	    ? record_id(rd, f[25])
	    : STR_NONE;
	out->fcmp_last = record_num(rd, f[26]);
	out->rasp_last = record_num(rd, f[27]);
}

enum rc
run_call_record(struct state *s, struct script_call *c, struct str run,
    struct arena *a, struct run_record *out)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r;
	enum rc rc, parsed;

	*out = (struct run_record){ 0 };
	rc = call_run(s, c, 2, &r);
	if (call_is_done(rc)) {
		out->run_id = arena_str(a, run);
		run_parse(&rd, state_reply_at(r, 1), 0, RUN_ALL_FIELDS, out);
		if (out->run_id.p == NULL)
			rd.rc = RC_TOOBIG;
		parsed = record_end(&rd, c->keys[0]);
		rc = parsed != RC_OK ? parsed : rc;
	}
	state_reply_free(r);
	return rc;
}

enum rc
run_read(
    struct state *s, struct str run, struct arena *a, struct run_record *out)
{
	struct script_call c;

	run_call(&c, &script_run_read, run);
	return run_call_record(s, &c, run, a, out);
}

/* ---- a new one ---- */

/*
 * The workspace of a user's run, in dst.  Of a run that does not exist it is
 * any: the script that is called with it finds that out.
 */
static enum rc
run_find_workspace(
    struct state *s, struct str run, struct str user, char dst[RUN_ID_MAX])
{
	unsigned of_run, of_user;
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct script_call c;
	enum rc rc;

	if (run_id_bucket(run, &of_run) != RC_OK)
		return RC_NOENT;
	rc = state_bucket(user, &of_user);
	if (rc == RC_OK && of_run != of_user)
		rc = RC_NOENT;
	if (rc != RC_OK)
		return rc;
	call_begin(&c, NULL);
	call_run_key(&c, KEY_RUN, run);
	if (c.rc != RC_OK)
		return c.rc;
	str_copy(c.keys[0], text, sizeof(text));
	rc = state_cmd(s, STATE_ARGS(STR("HGET"), str_of(text), STR("ws")), &r);
	if (rc == RC_OK)
		str_copy(
		    state_reply_kind(r) == STATE_STR ? state_reply_str(r) : run,
		    dst, RUN_ID_MAX);
	state_reply_free(r);
	return rc;
}

static void
run_call_create(
    struct script_call *c, const struct run_new *n, struct str workspace)
{
	struct str run = str_of(n->run_id);

	call_begin(c, &script_run_create);
	call_run_key(c, KEY_RUN, run);
	call_key(c, KEY_USER_RUNS, n->user_id, STR_NONE);
	call_key(c, KEY_USER_RUNS_ACTIVE, n->user_id, STR_NONE);
	call_key_of(c, KEY_RUNS_DUE, n->user_id, STR_NONE);
	call_run_key(c, KEY_RUN_WORKSPACE, workspace);
	call_run_key(c, KEY_RUN, n->resumes.n > 0 ? n->resumes : run);
	if (n->key.n > 0)
		call_key(c, KEY_RUN_KEY, n->user_id, n->key);
	else
		call_run_key(c, KEY_RUN, run);
	call_pack(c);
	call_token(c, n->user_id);
	call_text(c, n->tenant, ID_MAX);
	call_text(c, n->engine, RUN_ENGINE_MAX);
	call_text(c, n->mode, ID_MAX);
	call_text(c, n->title, RUN_TITLE_MAX);
	call_text(c, n->runner, ID_MAX);
	call_text(c, n->resumes, RUN_ID_MAX);
	call_text(c, workspace, RUN_ID_MAX);
	call_num(c, n->per_user);
	call_num(c, RUN_STORED_MAX);
	if (n->session_id.n > 0)
		call_token(c, n->session_id);
	else
		call_text(c, STR_NONE, ID_MAX);
	call_pack_end(c);
	call_text(c, n->spec, RUN_SPEC_MAX);
}

/* RC_CONFLICT without a reason: there is a run of this id. */
static enum rc
run_create_as(struct state *s, struct run_new *n, struct str workspace)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	run_call_create(&c, n, workspace);
	rc = call_run(s, &c, 3, &r);
	if (call_is_done(rc)) {
		str_copy(state_reply_str(state_reply_at(r, 1)), n->run_id,
		    sizeof(n->run_id));
		n->repeated = state_reply_int(state_reply_at(r, 2)) != 0;
	} else if (rc == RC_RETRY && state_reply_len(r) > 0) {
		n->why = STR(RUN_WHY_TOO_MANY);
	} else if (rc == RC_CONFLICT) {
		n->why = run_why(r);
		if (str_eq(n->why, STR(RUN_WHY_BUSY)))
			str_copy(state_reply_str(state_reply_at(r, 2)),
			    n->run_id, sizeof(n->run_id));
	}
	state_reply_free(r);
	return rc;
}

enum rc
run_create(struct state *s, struct run_new *n)
{
	char workspace[RUN_ID_MAX] = "";
	enum rc rc = RC_OK;
	int i;

	n->repeated = false;
	n->why = STR_NONE;
	if (n->per_user <= 0)
		return RC_INVALID;
	if (n->resumes.n > 0)
		rc = run_find_workspace(s, n->resumes, n->user_id, workspace);
	for (i = 0; rc == RC_OK && i < NEW_ID_TRIES; i++) {
		rc = run_id_new(n->user_id, n->engine, n->at, n->run_id);
		if (rc == RC_OK)
			rc = run_create_as(s, n,
			    str_of(n->resumes.n > 0 ? workspace : n->run_id));
		if (rc != RC_CONFLICT || n->why.p != NULL)
			return rc;
		rc = RC_OK;
	}
	return rc == RC_OK ? RC_BUG : rc;
}

/* ---- lists ---- */

static enum rc
run_list_parse(const struct state_reply *r, struct arena *a, struct run_page *p,
    struct str key)
{
	const struct state_reply *list = state_reply_at(r, 2), *f;
	struct record_reader rd = { .a = a };
	size_t i, n = state_reply_len(list);

	p->run = arena_alloc(a, (n + 1) * sizeof(*p->run));
	if (p->run == NULL)
		return RC_TOOBIG;
	for (i = 0; i < n; i++) {
		f = state_reply_at(list, i);
		p->run[i] = (struct run_record){ .run_id = record_text(&rd,
						     state_reply_at(f, 0)) };
		run_parse(&rd, f, 1, RUN_LIST_FIELDS, &p->run[i]);
	}
	if (state_reply_int(state_reply_at(r, 1)) != 0)
		p->next = record_text(&rd, state_reply_at(r, 3));
	p->n = rd.rc == RC_OK ? n : 0;
	return record_end(&rd, key);
}

enum rc
run_list(struct state *s, struct str user, struct arena *a, struct run_page *p)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	p->n = 0;
	p->next = STR_NONE;
	if (p->max == 0 || p->max > RUN_PAGE_MAX ||
	    (p->after.n > 0 && run_id_engine(p->after).p == NULL))
		return RC_INVALID;
	call_begin(&c, &script_run_list);
	call_key(&c, KEY_USER_RUNS, user, STR_NONE);
	call_text(&c, p->after, RUN_ID_MAX);
	call_num(&c, (int64_t)p->max);
	rc = call_run(s, &c, 4, &r);
	/* What it may remove from the list is nothing. */
	if (rc == RC_UNREPLICATED)
		rc = RC_OK;
	if (rc == RC_OK)
		rc = run_list_parse(r, a, p, c.keys[0]);
	state_reply_free(r);
	return rc;
}

/* ---- deletion ---- */

enum rc
run_delete(struct state *s, struct str run, struct str user, bool live)
{
	char workspace[RUN_ID_MAX];
	struct script_call c;
	enum rc rc = run_find_workspace(s, run, user, workspace);

	if (rc != RC_OK)
		return rc;
	run_call(&c, &script_run_delete, run);
	call_key_of(&c, KEY_RUNS_DUE, user, STR_NONE);
	call_key(&c, KEY_USER_RUNS_ACTIVE, user, STR_NONE);
	call_run_key(&c, KEY_RUN_WORKSPACE, str_of(workspace));
	call_key(&c, KEY_USER_RUNS, user, STR_NONE);
	call_key(&c, KEY_USER_RUN_NOTES, user, STR_NONE);
	call_token(&c, user);
	call_num(&c, live);
	return call_run(s, &c, 1, NULL);
}

enum rc
run_workspace_in_use(struct state *s, struct str workspace, bool *used)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	call_begin(&c, &script_run_workspace);
	call_run_key(&c, KEY_RUN_WORKSPACE, workspace);
	rc = call_run(s, &c, 2, &r);
	*used = rc == RC_OK && state_reply_int(state_reply_at(r, 1)) != 0;
	state_reply_free(r);
	return rc;
}
