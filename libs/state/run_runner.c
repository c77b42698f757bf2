/*
 * run_runner: two keys of all runners, which are in one slot, and one of each.
 */
#include "state/run_runner.h"

#include "core/mem.h"
#include "state/run.h"
#include "state/scripts.h"
#include "state/state_internal.h"

static void
runner_call(struct script_call *c, const struct state_script *script)
{
	call_begin(c, script);
	call_key(c, KEY_RUNNERS, STR_NONE, STR_NONE);
	call_key(c, KEY_RUNNER_STATUS, STR_NONE, STR_NONE);
}

enum rc
run_runner_renew(struct state *s, struct str runner, struct str status)
{
	struct script_call c;

	if (!id_valid(runner))
		return RC_INVALID;
	runner_call(&c, &script_run_runner_renew);
	call_text(&c, runner, ID_MAX);
	call_num(&c, RUN_RUNNER_ALIVE_MS);
	call_text(&c, status, RUN_RUNNER_STATUS_MAX);
	call_num(&c, RUN_RUNNERS_MAX);
	return call_run(s, &c, 1, NULL);
}

enum rc
run_runner_end(struct state *s, struct str runner)
{
	struct script_call c;

	if (!id_valid(runner))
		return RC_INVALID;
	call_begin(&c, &script_run_runner_end);
	call_key(&c, KEY_RUNNERS, STR_NONE, STR_NONE);
	call_text(&c, runner, ID_MAX);
	return call_run(s, &c, 1, NULL);
}

static enum rc
runner_parse(const struct state_reply *r, struct arena *a,
    struct run_runner **list, size_t *n, struct str key)
{
	const struct state_reply *all = state_reply_at(r, 2);
	const struct state_reply *offers = state_reply_at(r, 3);
	int64_t now = state_reply_int(state_reply_at(r, 1)), until;
	struct record_reader rd = { .a = a };
	size_t i, len = state_reply_len(all) / 2;

	*list = arena_alloc(a, (len + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < len; i++) {
		struct run_runner *p = &(*list)[i];

		p->id = record_text(&rd, state_reply_at(all, 2 * i));
		until = record_num(&rd, state_reply_at(all, 2 * i + 1));
		p->status = record_text(&rd, state_reply_at(offers, i));
		p->alive = until > now;
		p->dead_ms = p->alive ? 0 : now - until;
	}
	*n = rd.rc == RC_OK ? len : 0;
	return record_end(&rd, key);
}

enum rc
run_runner_list(
    struct state *s, struct arena *a, struct run_runner **list, size_t *n)
{
	struct state_reply *r;
	struct script_call c;
	enum rc rc;

	*n = 0;
	runner_call(&c, &script_run_runner_list);
	rc = call_run(s, &c, 4, &r);
	if (rc == RC_OK)
		rc = runner_parse(r, a, list, n, c.keys[0]);
	state_reply_free(r);
	return rc;
}

/* ---- the runs of one ---- */

static enum rc
runner_runs_cmd(struct state *s, struct str command, struct str runner,
    struct str run, struct state_reply **out)
{
	char text[STATE_KEY_MAX];
	struct str key;
	enum rc rc = state_key(text, KEY_RUNNER_RUNS, &runner, 1, &key);
	const struct str args[] = { command, key, run };

	if (rc != RC_OK)
		return rc;
	return state_cmd(s, args, run.p != NULL ? 3 : 2, out);
}

static enum rc
runner_runs_change(
    struct state *s, struct str command, struct str runner, struct str run)
{
	unsigned bucket;
	enum rc rc = run_id_bucket(run, &bucket);

	return rc == RC_OK ? runner_runs_cmd(s, command, runner, run, NULL)
			   : rc;
}

enum rc
run_runner_add(struct state *s, struct str runner, struct str run)
{
	return runner_runs_change(s, STR("SADD"), runner, run);
}

enum rc
run_runner_drop(struct state *s, struct str runner, struct str run)
{
	return runner_runs_change(s, STR("SREM"), runner, run);
}

enum rc
run_runner_runs(struct state *s, struct str runner, struct arena *a,
    struct str **list, size_t *n)
{
	struct record_reader rd = { .a = a };
	struct state_reply *r = NULL;
	enum rc rc;

	*n = 0;
	rc = runner_runs_cmd(s, STR("SMEMBERS"), runner, STR_NONE, &r);
	if (rc == RC_OK) {
		*list = record_ids(&rd, r, n);
		rc = record_end(&rd, STR("soul:runner"));
	}
	state_reply_free(r);
	return rc;
}

enum rc
run_runner_count(struct state *s, struct str runner, int64_t *n)
{
	struct state_reply *r = NULL;
	enum rc rc = runner_runs_cmd(s, STR("SCARD"), runner, STR_NONE, &r);

	*n = rc == RC_OK ? state_reply_int(r) : 0;
	state_reply_free(r);
	return rc;
}
