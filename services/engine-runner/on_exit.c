/*
 * The end of an attempt: completed, failed, canceled, or a question.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "context.h"
#include "core/log.h"
#include "core/metric.h"
#include "engine_set.h"
#include "live_run.h"
#include "run_facts.h"
#include "run_stream.h"
#include "state/run_runner.h"
#include "svc/svc.h"
#include "workspace_diff.h"

/* ---- what it changed ---- */

struct exit_diff {
	const struct live_run *run;
	struct buf *files;
};

static void
exit_diff(void *arg)
{
	struct exit_diff *d = arg;
	const struct workspace_paths *p = &d->run->paths;

	/* Without it the attempt has no artifacts, and is as good otherwise. */
	if (workspace_diff(p->work, p->spool) == RC_OK)
		(void)!workspace_read(p->spool, SPOOL_FILES, d->files);
}

/* False: the process stops. */
static bool
exit_feed(struct live_run *l)
{
	struct buf files = BUF_INIT(SPOOL_TEXT_MAX);
	struct exit_diff d = { l, &files };
	enum rc rc;

	while ((rc = runner_work(l->runner, exit_diff, &d)) == RC_RETRY)
		runner_sleep(l->runner, 100);
	if (rc == RC_OK) {
		if (l->damaged)
			l->exit = (struct spool_exit){ .signal = SIGKILL,
				.stop = l->stop };
		metric_add(l->runner->metrics.orphans, l->exit.orphans);
		attempt_exit(l->attempt, &l->exit, buf_str(&files));
	}
	buf_free(&files);
	return rc == RC_OK;
}

/* ---- its end ---- */

static const enum run_status exit_statuses[] = {
	[ATTEMPT_COMPLETED] = RUN_IS_SUCCEEDED,
	[ATTEMPT_WAITING] = RUN_IS_WAITING,
	[ATTEMPT_FAILED] = RUN_IS_FAILED,
	[ATTEMPT_CANCELED] = RUN_IS_CANCELED,
};

static void
exit_facts(struct live_run *l, struct str names[SANDBOX_RULES_N],
    struct wire_run_facts *f)
{
	const struct attempt_result *res = attempt_result(l->attempt);

	run_facts_read(l->rec.facts, l->arena, f);
	run_facts_isolation(f, &l->runner->sandbox, names);
	f->engine_version = l->meta.engine_version;
	/* The session's total has what the attempts before it used. */
	if (l->engine->engine->session_usage && res->usage.input >= 0)
		f->usage = (struct wire_run_facts_usage){ 0 };
	run_facts_add_usage(f, &res->usage);
	f->stdout_bytes = l->read[SPOOL_OUT];
	f->stderr_bytes = l->read[SPOOL_ERR];
	f->has_stdout_bytes = f->has_stderr_bytes = true;
	if (res->end == ATTEMPT_COMPLETED)
		f->reason_code = str_of(res->reason);
	if (res->end == ATTEMPT_FAILED || res->end == ATTEMPT_CANCELED)
		run_facts_set_error(f, &res->error);
}

/* All that is pending, the end with the last of it. */
static bool
exit_publish(struct live_run *l, const struct run_publish *end)
{
	struct str fcmp[RUN_PUBLISH_MAX], rasp[RUN_PUBLISH_MAX];
	struct run_outbox *o = &l->outbox;
	struct run_publish p;
	bool last = false;
	enum rc rc;

	while (!last) {
		size_t bytes = RUN_PUBLISH_BYTES;

		p = *end;
		p.fcmp = o->published[RUN_LOG_FCMP];
		p.rasp = o->published[RUN_LOG_RASP];
		p.fcmp_json = fcmp;
		p.rasp_json = rasp;
		p.n_fcmp = run_outbox_batch(
		    o, RUN_LOG_FCMP, fcmp, RUN_PUBLISH_MAX, &bytes);
		p.n_rasp = run_outbox_batch(
		    o, RUN_LOG_RASP, rasp, RUN_PUBLISH_MAX, &bytes);
		last = p.n_fcmp + p.n_rasp == o->n;
		if (!last) {
			p.status = RUN_IS_RUNNING;
			p.facts = (struct str){ NULL, 0 };
			p.note = (struct str){ NULL, 0 };
		}
		rc = run_stream_append(l->runner, &p);
		if (rc == RC_OK)
			run_stream_publish(l->runner, p.run_id, fcmp, p.n_fcmp);
		if (rc == RC_RETRY)
			last = false;
		else if (rc != RC_OK)
			return false;
		run_outbox_published(o, RUN_LOG_FCMP, p.fcmp_is);
		run_outbox_published(o, RUN_LOG_RASP, p.rasp_is);
	}
	return true;
}

static void
exit_count(struct live_run *l)
{
	static const char *const ends[] = { "running", "completed",
		"waiting_user", "failed", "canceled" };
	const struct attempt_result *res = attempt_result(l->attempt);
	const struct metric_set *set = svc_metrics(l->runner->svc);
	char labels[256];

	(void)snprintf(labels, sizeof(labels),
	    "engine=\"%.*s\",end=\"%s\",code=\"%.*s\"", STR_ARG(l->rec.engine),
	    ends[res->end],
	    (int)(res->error.code.n <= FCMP_CODE_MAX ? res->error.code.n : 0),
	    res->error.code.p != NULL ? res->error.code.p : "");
	metric_add(metric_counter((struct metric_set *)(uintptr_t)set,
		       "soul_run_attempts_total",
		       "Attempts, by how they ended.", labels),
	    1);
	runner_observe_ns(
	    l->runner->metrics.seconds, l->meta.started_ns, l->exit.ns);
}

static void
exit_report(
    struct live_run *l, const struct wire_run_facts *f, struct str question)
{
	struct run_record rec = l->rec;
	enum rc rc;

	rec.status = exit_statuses[attempt_result(l->attempt)->end];
	log_info("run.attempt_ended", LOG_V("run", rec.run_id),
	    LOG_I("attempt", rec.attempt),
	    LOG_S("state", run_status_name(rec.status)),
	    LOG_V("code", f->has_error ? f->error.code : f->reason_code));
	if (rec.status == RUN_IS_WAITING)
		run_event_question(l->runner, &rec, question);
	else
		run_event_ended(l->runner, &rec, f, buf_str(&l->last_text));
	rc = run_runner_drop(
	    l->runner->state, str_of(l->runner->id), rec.run_id);
	if (rc != RC_OK)
		log_debug("run.not_dropped", LOG_RC(rc));
}

void
live_run_finish(struct live_run *l)
{
	const struct attempt_result *res = attempt_result(l->attempt);
	struct buf facts = BUF_INIT(RUN_FACTS_MAX);
	struct buf question = BUF_INIT(RUN_QUESTION_MAX);
	struct buf note = BUF_INIT(RUN_NOTE_MAX);
	struct run_record rec = l->rec;
	struct str names[SANDBOX_RULES_N];
	struct run_publish end;
	struct wire_run_facts f;

	if (!exit_feed(l))
		return;
	exit_facts(l, names, &f);
	run_facts_write(&f, &facts);
	end = (struct run_publish){ .run_id = l->rec.run_id,
		.user_id = l->rec.user_id,
		.workspace = l->rec.workspace,
		.epoch = l->rec.epoch,
		.status = exit_statuses[res->end],
		.handle = res->handle,
		.facts = buf_str(&facts),
		.ttl_ms = l->runner->conf->ttl_s * 1000 };
	if (res->end == ATTEMPT_WAITING) {
		run_question_write(res->question, &question);
		end.question_id = res->question->interaction_id;
		end.question = buf_str(&question);
		end.reply_ms = l->runner->conf->reply_s * 1000;
	}
	rec.status = end.status;
	run_note_write(&rec, &f,
	    res->end == ATTEMPT_WAITING ? res->question->prompt
					: buf_str(&l->last_text),
	    &note);
	end.note = buf_str(&note);
	if (exit_publish(l, &end)) {
		exit_count(l);
		exit_report(l, &f, buf_str(&question));
	} else if (!l->runner->stopping) {
		live_run_fence(l);
	}
	buf_free(&note);
	buf_free(&question);
	buf_free(&facts);
}
