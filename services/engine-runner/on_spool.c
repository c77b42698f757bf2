/*
 * An engine's output becomes events, and these are published.
 */
#include <unistd.h>

#include "context.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/metric.h"
#include "engine_set.h"
#include "live_run.h"
#include "run_facts.h"
#include "run_stream.h"
#include "svc/svc.h"

/* An engine that lives so long after its end signal is stopped. */
#define LINGER_MS 10000
/* Bytes for events.jsonl that are written together. */
#define FILE_STEP (64UL * 1024)

/* ---- events ---- */

void
live_run_write_events(struct live_run *l)
{
	size_t done = 0;

	while (l->events_fd != -1 && done < l->file.n) {
		ssize_t n =
		    write(l->events_fd, l->file.p + done, l->file.n - done);

		if (n <= 0) {
			/* It can be made from the spool at any time. */
			log_warn(
			    "run.events_file", LOG_V("run", l->rec.run_id));
			close(l->events_fd);
			l->events_fd = -1;
			break;
		}
		done += (size_t)n;
	}
	buf_reset(&l->file);
}

/* One that is too large for the log: its bytes can be found in the output. */
static void
spool_replace_event(struct live_run *l, const struct rasp_event *e)
{
	struct rasp_event w = *e;

	w.type = RASP_PARSER_WARNING;
	w.level = RASP_WARNING;
	w.warning = (struct fcmp_warning){ .code = STR("TEXT_TRUNCATED"),
		.message = STR("The event is too large for the log.") };
	buf_reset(&l->line);
	rasp_write(l->rec.run_id, l->rec.engine, &w, &l->line);
}

static void
spool_count_event(struct live_run *l, const struct rasp_event *e)
{
	const struct runner_metrics *m = &l->runner->metrics;

	switch (e->type) {
	case RASP_RAW_STDOUT:
	case RASP_RAW_STDERR:
		metric_add(m->unparsed, e->block.bytes);
		break;
	case RASP_PARSER_WARNING:
	case RASP_PARSER_ERROR:
	case RASP_ENGINE_ERROR:
		runner_count_warning(l->runner, e->warning.code);
		break;
	case RASP_MESSAGE_FINAL:
		buf_reset(&l->last_text);
		buf_put_str(&l->last_text,
		    fcmp_truncate(e->message.text, FCMP_MESSAGE_MAX));
		break;
	default:
		break;
	}
}

void
live_run_on_event(void *arg, const struct rasp_event *e)
{
	struct live_run *l = arg;

	spool_count_event(l, e);
	buf_reset(&l->line);
	rasp_write(l->rec.run_id, l->rec.engine, e, &l->line);
	buf_put_str(&l->file, buf_str(&l->line));
	buf_putc(&l->file, '\n');
	if (l->file.n >= FILE_STEP)
		live_run_write_events(l);
	if (rasp_in_log(e->type)) {
		if (l->line.n > RUN_EVENT_MAX)
			spool_replace_event(l, e);
		run_outbox_put(
		    &l->outbox, RUN_LOG_RASP, buf_str(&l->line), e->ns);
	}
	buf_reset(&l->line);
	if (translate_event(&l->translate, e, &l->line))
		run_outbox_put(
		    &l->outbox, RUN_LOG_FCMP, buf_str(&l->line), e->ns);
}

/* ---- output ---- */

static void
spool_on_wake(void *arg)
{
	struct live_run *l = arg;
	struct fiber *f = l->waits;

	l->waits = NULL;
	if (f != NULL)
		fiber_resume(f);
}

static void
spool_wake(struct live_run *l)
{
	if (l->waits != NULL)
		loop_defer(l->runner->loop, &l->wake, spool_on_wake, l);
}

static void
spool_on_linger(void *arg)
{
	live_run_stop(arg, SPOOL_STOP_LINGERED);
}

static void
spool_pause(struct live_run *l, bool paused)
{
	if (l->paused == paused || l->shim == NULL)
		return;
	l->paused = paused;
	procsup_pause(l->shim, paused);
}

void
live_run_on_chunk(void *arg, const struct spool_chunk *c)
{
	struct live_run *l = arg;

	if (l->fenced)
		return;
	l->read[c->stream] += (int64_t)c->data.n;
	metric_add(l->bytes[c->stream], (int64_t)c->data.n);
	attempt_bytes(l->attempt, c->stream, c->data, c->ns);
	if (c->last)
		attempt_record_end(l->attempt);
	if (l->lingers.fn == NULL &&
	    attempt_result(l->attempt)->end_signal_ns != 0)
		loop_timer_set(l->runner->loop, &l->lingers,
		    mono_add_ms(clock_mono(), LINGER_MS), spool_on_linger, l);
	if (run_outbox_is_full(&l->outbox))
		spool_pause(l, true);
	spool_wake(l);
}

void
live_run_on_end(void *arg, const struct spool_exit *e)
{
	struct live_run *l = arg;

	l->shim = NULL;
	l->exited = true;
	l->damaged = e == NULL;
	if (e != NULL)
		l->exit = *e;
	spool_wake(l);
}

/* ---- publishing ---- */

static void
spool_facts(struct live_run *l, struct buf *out)
{
	struct str names[SANDBOX_RULES_N];
	struct wire_run_facts f;

	run_facts_read(l->rec.facts, l->arena, &f);
	run_facts_isolation(&f, &l->runner->sandbox, names);
	f.engine_version = l->meta.engine_version;
	run_facts_write(&f, out);
}

/* False: this process is not the writer any more, or stops. */
static bool
spool_publish_batch(struct live_run *l)
{
	struct str fcmp[RUN_PUBLISH_MAX], rasp[RUN_PUBLISH_MAX];
	size_t bytes = RUN_PUBLISH_BYTES;
	struct buf facts = BUF_INIT(RUN_FACTS_MAX);
	int64_t ns = run_outbox_oldest_ns(&l->outbox);
	struct run_publish p = { .run_id = l->rec.run_id,
		.user_id = l->rec.user_id,
		.workspace = l->rec.workspace,
		.epoch = l->rec.epoch,
		.fcmp = l->outbox.published[RUN_LOG_FCMP],
		.rasp = l->outbox.published[RUN_LOG_RASP],
		.fcmp_json = fcmp,
		.rasp_json = rasp,
		.status = RUN_IS_RUNNING,
		.handle = attempt_result(l->attempt)->handle };
	bool first = p.rasp == 0;
	enum rc rc;

	p.n_fcmp = run_outbox_batch(
	    &l->outbox, RUN_LOG_FCMP, fcmp, RUN_PUBLISH_MAX, &bytes);
	p.n_rasp = run_outbox_batch(
	    &l->outbox, RUN_LOG_RASP, rasp, RUN_PUBLISH_MAX, &bytes);
	if (first) {
		spool_facts(l, &facts);
		p.facts = buf_str(&facts);
	}
	rc = run_stream_append(l->runner, &p);
	buf_free(&facts);
	if (rc == RC_OK)
		run_stream_publish(l->runner, p.run_id, fcmp, p.n_fcmp);
	if (rc == RC_OK && first && l->rec.attempt == 1)
		run_event_started(l->runner, &l->rec);
	if (rc == RC_OK || rc == RC_RETRY) {
		run_outbox_published(&l->outbox, RUN_LOG_FCMP, p.fcmp_is);
		run_outbox_published(&l->outbox, RUN_LOG_RASP, p.rasp_is);
		runner_observe_ns(
		    l->runner->metrics.lag, ns, clock_wall().ms * 1000000);
		return true;
	}
	if (rc != RC_DOWN)
		live_run_fence(l);
	return false;
}

bool
live_run_publish(struct live_run *l)
{
	while (!l->exited || !run_outbox_is_empty(&l->outbox)) {
		if (l->fenced || l->runner->stopping)
			return false;
		live_run_write_events(l);
		if (run_outbox_is_empty(&l->outbox)) {
			l->waits = fiber_self();
			fiber_suspend();
			continue;
		}
		if (!spool_publish_batch(l))
			return false;
		if (!run_outbox_is_full(&l->outbox))
			spool_pause(l, false);
	}
	return !l->fenced;
}
