#include "run_abort.h"

#include "context.h"
#include "core/log.h"
#include "events/translate.h"
#include "run_facts.h"
#include "run_outbox.h"
#include "run_stream.h"
#include "state/run_runner.h"

#define ARENA_MAX  (4UL * 1024 * 1024)
#define EVENTS_MAX 8

const struct attempt_abort run_abort_canceled = { "CANCELED",
	"The run was canceled.", false, { NULL, 0 } };
const struct attempt_abort run_abort_lost = { "RUN_LOST",
	"The run's process was lost with its machine.", true, { NULL, 0 } };
const struct attempt_abort run_abort_no_workspace = { "WORKSPACE_GONE",
	"The run's workspace does not exist any more.", false, { NULL, 0 } };
const struct attempt_abort run_abort_disk = { "RUNNER_FAILED",
	"The runner could not prepare the run.", true, { NULL, 0 } };

/* What its events are written to. */
struct abort_events {
	const struct run_record *rec;
	struct translate translate;
	struct run_outbox outbox;
	struct buf line;
};

static void
abort_on_event(void *arg, const struct rasp_event *e)
{
	struct abort_events *ev = arg;

	buf_reset(&ev->line);
	rasp_write(ev->rec->run_id, ev->rec->engine, e, &ev->line);
	run_outbox_put(&ev->outbox, RUN_LOG_RASP, buf_str(&ev->line), e->ns);
	buf_reset(&ev->line);
	if (translate_event(&ev->translate, e, &ev->line))
		run_outbox_put(
		    &ev->outbox, RUN_LOG_FCMP, buf_str(&ev->line), e->ns);
}

static enum rc
abort_publish(struct runner *r, struct abort_events *ev,
    const struct attempt_result *res, struct arena *a)
{
	const struct run_record *rec = ev->rec;
	struct str fcmp[EVENTS_MAX], rasp[EVENTS_MAX];
	struct buf facts = BUF_INIT(RUN_FACTS_MAX);
	struct buf note = BUF_INIT(RUN_NOTE_MAX);
	size_t bytes = RUN_PUBLISH_BYTES;
	struct run_record ended = *rec;
	struct wire_run_facts f;
	struct run_publish p;
	enum rc rc;

	ended.status =
	    res->end == ATTEMPT_CANCELED ? RUN_IS_CANCELED : RUN_IS_FAILED;
	run_facts_read(rec->facts, a, &f);
	run_facts_set_error(&f, &res->error);
	run_facts_write(&f, &facts);
	run_note_write(&ended, &f, (struct str){ NULL, 0 }, &note);
	p = (struct run_publish){ .run_id = rec->run_id,
		.user_id = rec->user_id,
		.workspace = rec->workspace,
		.epoch = rec->epoch,
		.fcmp = rec->fcmp,
		.rasp = rec->rasp,
		.fcmp_json = fcmp,
		.rasp_json = rasp,
		.n_fcmp = run_outbox_batch(
		    &ev->outbox, RUN_LOG_FCMP, fcmp, EVENTS_MAX, &bytes),
		.n_rasp = run_outbox_batch(
		    &ev->outbox, RUN_LOG_RASP, rasp, EVENTS_MAX, &bytes),
		.status = ended.status,
		.facts = buf_str(&facts),
		.note = buf_str(&note),
		.ttl_ms = r->conf->ttl_s * 1000 };
	rc = run_stream_append(r, &p);
	if (rc == RC_OK) {
		run_stream_publish(r, rec->run_id, fcmp, p.n_fcmp);
		run_event_ended(r, &ended, &f, (struct str){ NULL, 0 });
		log_info("run.aborted", LOG_V("run", rec->run_id),
		    LOG_V("code", f.error.code));
	}
	buf_free(&note);
	buf_free(&facts);
	return rc;
}

enum rc
run_abort(struct runner *r, const struct run_record *rec,
    const struct attempt_abort *why)
{
	struct arena *arena = arena_new(ARENA_MAX);
	struct spool_meta meta = { .run_id = rec->run_id,
		.engine = rec->engine,
		.attempt = rec->attempt > 0 ? rec->attempt : 1,
		.mode = rec->mode,
		.rasp_seq = rec->rasp_last,
		.fcmp_seq = rec->fcmp_last,
		.handle = rec->handle };
	struct abort_events ev = { .rec = rec,
		.translate = { rec->run_id, rec->engine, rec->fcmp_last } };
	struct attempt_opts o = { .engine = engine_find(rec->engine),
		.meta = &meta,
		.event = abort_on_event,
		.arg = &ev };
	struct attempt *attempt;
	enum rc rc;

	/* A runner of another version had it. */
	if (o.engine == NULL)
		o.engine = engine_at(0);
	run_outbox_init(&ev.outbox, 0, 0);
	buf_init(&ev.line, RASP_EVENT_MAX);
	attempt = attempt_new(&o);
	attempt_abort(attempt, why, clock_wall().ms * 1000000);
	rc = abort_publish(r, &ev, attempt_result(attempt), arena);
	if (rc == RC_OK && rec->runner.n > 0 &&
	    run_runner_drop(r->state, rec->runner, rec->run_id) != RC_OK)
		log_debug("run.not_dropped", LOG_V("run", rec->run_id));
	attempt_free(attempt);
	run_outbox_free(&ev.outbox);
	buf_free(&ev.line);
	arena_free(arena);
	return rc;
}

enum rc
run_adopt_and_abort(struct runner *r, struct str run, int64_t epoch,
    const struct attempt_abort *why)
{
	struct arena *a = arena_new(ARENA_MAX);
	struct run_record rec;
	enum rc rc = run_adopt(r->state, run, epoch, a, &rec);

	if (rc == RC_OK)
		rc = run_abort(r, &rec, why);
	arena_free(a);
	return rc;
}
