/*
 * The order of things: jobs that wait are published; then what was said since
 * the last summary is summarised, which makes the next jobs; then it is done.
 */
#include "stretch.h"

#include <stdlib.h>

#include "bus/jetstream.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/rate.h"
#include "keeper.h"
#include "llm/llm.h"
#include "on_job.h"
#include "profile.h"
#include "summary.h"
#include "wire/msgs.h"
#include "wire/wire.h"

#define IDS_BYTES  4096
#define STEP_BYTES (32UL * 1024 * 1024)
/* How long to wait for the stream to have a job. */
#define STORE_MS  5000
#define RETRY_MAX 600000

/* Waits for the stream's answer, which cannot be called off. */
struct told {
	struct stretch *x; /* NULL: it has been left */
};

static void
stretch_free(struct stretch *x)
{
	struct stretch_bed *bed = x->bed;

	if (x->told != NULL)
		x->told->x = NULL;
	if (x->call != NULL)
		llm_cancel(x->call);
	stretch_leave_search(x->looking);
	TAILQ_REMOVE(&bed->list, x, link);
	bed->n--;
	arena_free(x->ids);
	arena_free(x->a);
	free(x);
	if (bed->over != NULL)
		bed->over(bed->arg);
}

void
stretch_begin(struct stretch_bed *bed, const struct session_idle *idle)
{
	struct stretch *x = mem_zalloc(sizeof(*x));

	x->bed = bed;
	x->ids = arena_new(IDS_BYTES);
	x->a = arena_new(STEP_BYTES);
	x->idle = *idle;
	x->idle.key.user_id = arena_str(x->ids, idle->key.user_id);
	x->idle.key.session_id = arena_str(x->ids, idle->key.session_id);
	x->early = idle->due.ms > clock_wall().ms;
	x->part_max = SUMMARY_PART_MAX;
	trace_new(&x->trace);
	TAILQ_INSERT_TAIL(&bed->list, x, link);
	bed->n++;
	stretch_step(x);
}

void
stretch_leave(struct stretch *x)
{
	/* If it cannot be said the claim ends by itself. */
	(void)!session_idle_later(x->bed->k->state, &x->idle, 1);
	stretch_free(x);
}

void
stretch_done(struct stretch *x)
{
	enum rc rc = session_idle_done(x->bed->k->state, &x->idle);

	if (rc != RC_OK)
		log_warn("idle.not_done",
		    LOG_V("session", x->idle.key.session_id), LOG_RC(rc));
	stretch_free(x);
}

void
stretch_later(struct stretch *x, int64_t ms)
{
	struct backoff b = { x->bed->retry_ms, RETRY_MAX,
		(unsigned)(x->idle.claims > 32 ? 32 : x->idle.claims - 1) };
	int64_t wait = backoff_next_ms(&b);

	metric_add(x->bed->failed, 1);
	(void)!session_idle_later(
	    x->bed->k->state, &x->idle, wait > ms ? wait : ms);
	stretch_free(x);
}

/* ---- the jobs that wait ----------------------------------------------------
 */

static void next_job(struct stretch *x);

static void
on_told(void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct told *t = arg;
	struct stretch *x = t->x;

	(void)stored;
	free(t);
	if (x == NULL)
		return;
	x->told = NULL;
	if (rc == RC_OK) {
		next_job(x);
		return;
	}
	log_warn("idle.job_not_published",
	    LOG_V("session", x->idle.key.session_id), LOG_RC(rc));
	stretch_later(x, 0);
}

static enum rc
tell(struct stretch *x, struct str job, struct str id)
{
	const struct bus_meta meta = {
		.deadline = { clock_wall().ms + STORE_MS },
		.trace = &x->trace,
		.msg_id = arena_printf(x->a, "%.*s", STR_ARG(id)).p,
	};
	struct told *t = mem_zalloc(sizeof(*t));
	enum rc rc = RC_TOOBIG;

	t->x = x;
	x->told = t;
	if (meta.msg_id != NULL)
		rc = bus_stream_publish(x->bed->k->bus, JOBS_SUBJECT, job,
		    &meta, (struct bus_pub_ack_handler){ on_told, t });
	if (rc == RC_OK)
		return RC_OK;
	x->told = NULL;
	free(t);
	return rc;
}

/* It says when, so doing it twice, or late, changes nothing. */
static enum rc
merge(
    struct stretch *x, const struct wire_profile_job *job, struct wire_err *err)
{
	struct wall at;

	*err = (struct wire_err){ "/created_at", "is not a date and time" };
	if (wall_parse(job->created_at, &at) != RC_OK)
		return RC_INVALID;
	return profile_merge(
	    x->bed->k->state, x->idle.key.user_id, job->patch, at, err);
}

/* Publish the next of them, or do it; *told: its publisher goes on. */
static enum rc
do_job(struct stretch *x, struct str json, bool *told, struct wire_err *err)
{
	struct wire_profile_job profile;
	struct wire_memory_job memory;
	enum rc rc;

	*told = false;
	if (wire_decode(&wire_profile_job_desc, json, x->a, &profile, err) ==
	    RC_OK)
		return merge(x, &profile, err);
	rc = wire_decode(&wire_memory_job_desc, json, x->a, &memory, err);
	if (rc != RC_OK)
		return rc;
	*told = true;
	return tell(x, json, memory.job_id);
}

static void
next_job(struct stretch *x)
{
	struct wire_err err = { 0 };
	bool told = false;
	struct str json;
	enum rc rc = RC_OK;

	while (rc == RC_OK && !told && x->jobs.n > 0) {
		json = str_split(&x->jobs, '\n');
		if (json.n > 0)
			rc = do_job(x, json, &told, &err);
		if (rc != RC_INVALID && rc != RC_BUG)
			continue;
		/* Nobody could do it. */
		log_error("idle.job_dropped",
		    LOG_V("session", x->idle.key.session_id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
		rc = RC_OK;
	}
	if (told && rc == RC_OK)
		return;
	if (rc == RC_OK)
		rc = session_job_done(x->bed->k->state, &x->idle.key, x->s.job);
	if (rc == RC_OK)
		stretch_step(x);
	else
		stretch_later(x, 0);
}

/* ---- one step --------------------------------------------------------------
 */

void
stretch_step(struct stretch *x)
{
	enum rc rc;

	arena_reset(x->a);
	rc = session_read(x->bed->k->state, &x->idle.key, x->a, &x->s);
	x->jobs = x->s.job;
	if (rc != RC_OK)
		stretch_later(x, 0);
	else if (x->s.job.p != NULL)
		next_job(x);
	else
		stretch_ask(x);
}
