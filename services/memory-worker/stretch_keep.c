/*
 * What came of a summary: a line of the session's, memories, a profile's patch,
 * stored by one write.
 */
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "harvest.h"
#include "keeper.h"
#include "profile.h"
#include "record.h"
#include "stretch.h"
#include "summary.h"
#include "svc/event.h"
#include "wire/subjects.h"

/* A job; all that wait in a session's record. */
#define JOB_MAX  (64UL * 1024)
#define JOBS_MAX (192UL * 1024)
/* What a memory took the place of is kept up to here, in code points. */
#define OLD_TEXT_MAX 1000

static void
announce(struct stretch *x, struct str id)
{
	char active[WALL_FORMAT_MAX];
	struct wire_session_idle msg = {
		.user_id = x->idle.key.user_id,
		.session_id = x->idle.key.session_id,
		.terminal_id = x->s.terminal_id,
		.soul_id = x->s.soul_id,
	};
	const struct svc_event e = {
		.type = WIRE_EVENT_SESSION_IDLE,
		.key = msg.session_id,
		.desc = &wire_session_idle_desc,
		.payload = &msg,
		.trace = &x->trace,
		.id = id,
	};
	enum rc rc;

	wall_format(x->s.active, 0, active);
	msg.last_active_at = str_of(active);
	rc = svc_event_send(x->bed->k->svc, &e);
	if (rc != RC_OK)
		log_warn("idle.event_lost", LOG_RC(rc));
}

/* ---- jobs ------------------------------------------------------------------
 */

/* One of them, as a line. */
static enum rc
put_job(const struct wire_desc *desc, const void *job, struct buf *out)
{
	struct buf line = BUF_INIT(JOB_MAX);
	struct wire_err err;
	enum rc rc;

	rc = wire_encode(desc, job, &line, &err);
	if (rc != RC_OK)
		log_error("idle.job_invalid", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	buf_put_str(out, buf_str(&line));
	buf_putc(out, '\n');
	buf_free(&line);
	return rc == RC_OK ? buf_rc(out) : rc;
}

static enum rc
put_old(
    struct stretch *x, struct harvest_memory *m, struct wire_memory_job *job)
{
	struct wire_memory_job_supersedes *old;
	char made[WALL_FORMAT_MAX];
	size_t i;

	old = arena_alloc(x->a, (m->n_replaces + 1) * sizeof(*old));
	for (i = 0; i < m->n_replaces && old != NULL; i++) {
		const struct rank_memory *k = &x->known[m->replaces[i]];

		wall_format(k->created, 0, made);
		old[i] = (struct wire_memory_job_supersedes){
			.memory_id = k->id,
			.text = summary_head(k->text, OLD_TEXT_MAX),
			.type = k->type,
		};
		if (k->created.ms > 0)
			old[i].created_at = arena_str(x->a, str_of(made));
	}
	job->supersedes = old;
	job->n_supersedes = m->n_replaces;
	job->has_supersedes = m->n_replaces > 0;
	return old != NULL ? RC_OK : RC_TOOBIG;
}

static enum rc
put_memory(struct stretch *x, struct harvest_memory *m, struct str made,
    struct buf *out)
{
	char id[ID_HEX32_MAX + 4] = "mem_";
	struct wire_memory_job job = {
		.job_id = str_of(id),
		.kind = STR(RECORD_JOB_KIND),
		.user_id = x->idle.key.user_id,
		.soul_id = x->s.soul_id,
		.session_id = x->idle.key.session_id,
		.terminal_id = x->s.terminal_id,
		.text = m->text,
		.type = m->type,
		.trigger_source =
		    x->early ? STR("compression") : STR("idle_timeout"),
		.tags = m->tags,
		.n_tags = m->n_tags,
		.has_tags = m->n_tags > 0,
		.created_at = made,
	};
	enum rc rc;

	id_hex32(id + 4);
	job.job_id = str_of(id);
	rc = put_old(x, m, &job);
	return rc == RC_OK ? put_job(&wire_memory_job_desc, &job, out) : rc;
}

static enum rc
put_jobs(struct stretch *x, struct harvest *h, struct buf *out)
{
	char made[WALL_FORMAT_MAX];
	struct wire_profile_job profile = { .kind = STR(PROFILE_JOB_KIND),
		.patch = h->profile };
	enum rc rc = RC_OK;
	size_t i;

	wall_format(clock_wall(), 0, made);
	profile.created_at = str_of(made);
	for (i = 0; i < h->n && rc == RC_OK; i++)
		rc = put_memory(x, &h->memory[i], str_of(made), out);
	if (rc == RC_OK && h->profile.p != NULL)
		rc = put_job(&wire_profile_job_desc, &profile, out);
	return rc;
}

enum rc
stretch_keep(struct stretch *x, struct harvest *h)
{
	char id[ID_HEX32_MAX];
	struct buf jobs = BUF_INIT(JOBS_MAX);
	struct session_summary sum = {
		.text = summary_join(x->s.summary, h->line, x->a),
		.after = x->s.summarised,
		.number = x->number,
	};
	enum rc rc = sum.text.p != NULL ? RC_OK : RC_TOOBIG;

	if (rc == RC_OK)
		rc = put_jobs(x, h, &jobs);
	sum.job = buf_str(&jobs);
	if (rc == RC_OK)
		rc = session_summarise(x->bed->k->state, &x->idle.key, &sum);
	buf_free(&jobs);
	if (rc == RC_OK) {
		metric_add(x->bed->made, 1);
		metric_add(x->bed->dropped, (int64_t)h->dropped);
		x->parts++;
		id_hex32(id);
		if (!x->early)
			announce(x, str_of(id));
	}
	return rc;
}
