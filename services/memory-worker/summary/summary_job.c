/*
 * Idle sessions are claimed by scanning.  A job first runs what an earlier
 * summary left pending, then summarises new messages, which yields the next
 * pending jobs, until nothing is left.
 */
#include "summary/summary_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/fiber.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "llm/llm.h"
#include "memory_worker.h"
#include "profile/profile_store.h"
#include "state/soul.h"
#include "state/state.h"
#include "store/memory_record.h"
#include "store/memory_store.h"
#include "summary/extraction.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "wire/subjects.h"

#define IDS_BYTES  4096
#define STEP_BYTES (32UL * 1024 * 1024)
/* Longest wait for the stream to store a job. */
#define STORE_MS  5000
#define RETRY_MAX 600000
/* A conversation is not split into smaller parts. */
#define PART_MIN 500
/* Claims of a session whose summary the model rejects. */
#define REJECTED_MAX 3
#define PROMPT_MAX   (1024UL * 1024)
/* Existing memories that are shown to the model; the longest wait for them. */
#define KNOWN_MAX 10
#define KNOWN_MS  5000
/* Code points of the user's statements that they are searched by. */
#define KNOWN_QUERY_MAX   1000
#define KNOWN_QUERY_BYTES (4 * KNOWN_QUERY_MAX + 1)
/* Claims of a session that require them; later ones do without. */
#define KNOWN_CLAIMS 3
/* One pending job; all pending jobs of a session. */
#define JOB_MAX  (64UL * 1024)
#define JOBS_MAX (192UL * 1024)
/* Code points of a superseded memory that are stored. */
#define SUPERSEDED_TEXT_MAX 1000

/* ---- lifecycle ---- */

/* A publish or a search cannot be cancelled; x is NULL once its job has gone
 * on without it. */
struct pending_publish {
	struct summary_job *x;
};

struct known_search {
	struct summary_job *x;
	struct arena *a; /* of the request */
	struct rank_query query;
	struct trace trace;
};

static void summary_job_step(struct summary_job *x);

bool
summary_job_waits(const struct summary_job *x)
{
	return x->publish != NULL || x->search != NULL || x->call != NULL;
}

static void
summary_job_detach(struct summary_job *x)
{
	if (x->publish != NULL)
		x->publish->x = NULL;
	if (x->search != NULL)
		x->search->x = NULL;
	if (x->call != NULL)
		llm_cancel(x->call);
	x->publish = NULL;
	x->search = NULL;
	x->call = NULL;
}

void
summary_job_free(struct summary_job *x)
{
	struct idle_scan *scan = x->scan;

	summary_job_detach(x);
	TAILQ_REMOVE(&scan->jobs, x, link);
	scan->n--;
	arena_free(x->ids);
	arena_free(x->a);
	free(x);
	svc_release(scan->w->svc);
	idle_scan_on_job_end(scan);
}

/* Begin what x->idle is the claim of. */
static void
summary_job_begin(struct summary_job *x)
{
	x->early = x->idle.due.ms > clock_wall().ms;
	x->part_max = SUMMARY_PART_MAX;
	x->parts = 0;
	trace_new(&x->trace);
	log_trace_set(x->trace.trace_id);
	summary_job_step(x);
}

static void
summary_job_main(void *arg)
{
	summary_job_begin(arg);
}

static void
summary_job_new(struct idle_scan *scan, const struct session_idle *idle)
{
	struct summary_job *x = mem_zalloc(sizeof(*x));

	x->scan = scan;
	x->ids = arena_new(IDS_BYTES);
	x->a = arena_new(STEP_BYTES);
	x->idle = *idle;
	x->idle.key.user_id = arena_str(x->ids, idle->key.user_id);
	x->idle.key.session_id = arena_str(x->ids, idle->key.session_id);
	TAILQ_INSERT_TAIL(&scan->jobs, x, link);
	scan->n++;
	svc_hold(scan->w->svc);
	fiber_start(summary_job_main, x);
}

static struct summary_job *
summary_job_find(const struct idle_scan *scan, const struct session_key *k)
{
	struct summary_job *x;

	TAILQ_FOREACH (x, &scan->jobs, link)
		if (str_eq(x->idle.key.user_id, k->user_id) &&
		    str_eq(x->idle.key.session_id, k->session_id))
			break;
	return x;
}

void
summary_job_start(struct idle_scan *scan, const struct session_idle *idle)
{
	struct summary_job *x = summary_job_find(scan, &idle->key);

	if (x == NULL)
		summary_job_new(scan, idle);
	else if (x->idle.due.ms != idle->due.ms)
		x->next = (struct session_idle){ .due = idle->due,
			.claims = idle->claims };
	/* Else its claim had expired, and has been renewed. */
}

static void
summary_job_end(struct summary_job *x)
{
	if (x->next.due.ms == 0) {
		summary_job_free(x);
		return;
	}
	x->idle.due = x->next.due;
	x->idle.claims = x->next.claims;
	x->next.due.ms = 0;
	summary_job_begin(x);
}

static void
summary_job_done(struct summary_job *x)
{
	enum rc rc = session_idle_done(x->scan->w->state, &x->idle);

	if (rc != RC_OK)
		log_warn("idle.not_done",
		    LOG_V("session", x->idle.key.session_id), LOG_RC(rc));
	summary_job_end(x);
}

/*
 * End the job and have the session claimed again, in ms at the earliest; when
 * the service stops, at once, by another worker.
 */
static void
summary_job_retry(struct summary_job *x, int64_t ms)
{
	struct backoff b = { x->scan->retry_ms, RETRY_MAX,
		(unsigned)(x->idle.claims > 32 ? 32 : x->idle.claims - 1) };
	int64_t wait = backoff_next_ms(&b);

	wait = wait > ms ? wait : ms;
	if (x->scan->stopping)
		wait = 1;
	else
		metric_add(x->scan->failed, 1);
	/* If this fails the claim expires. */
	(void)!session_idle_defer(x->scan->w->state, &x->idle, wait);
	summary_job_end(x);
}

/* RC_RETRY: it is to be handed back. */
static enum rc
summary_job_may_wait(const struct summary_job *x)
{
	return x->scan->stopping ? RC_RETRY : RC_OK;
}

void
summary_job_abandon(void *arg)
{
	struct summary_job *x = arg;

	log_trace_set(x->trace.trace_id);
	summary_job_detach(x);
	summary_job_retry(x, 0);
}

/* ---- pending jobs of the session ---- */

static void summary_job_next_pending(struct summary_job *x);

static void
summary_job_published(void *arg)
{
	struct summary_job *x = arg;

	log_trace_set(x->trace.trace_id);
	if (x->published == RC_OK) {
		summary_job_next_pending(x);
		return;
	}
	log_warn("idle.job_not_published",
	    LOG_V("session", x->idle.key.session_id), LOG_RC(x->published));
	summary_job_retry(x, 0);
}

static void
summary_job_on_published(
    void *arg, enum rc rc, const struct bus_pub_ack *stored)
{
	struct pending_publish *p = arg;
	struct summary_job *x = p->x;

	(void)stored;
	free(p);
	if (x == NULL)
		return;
	x->publish = NULL;
	x->published = rc;
	fiber_start(summary_job_published, x);
}

static enum rc
summary_job_publish(struct summary_job *x, struct str job, struct str id)
{
	const struct bus_meta meta = {
		.deadline = { clock_wall().ms + STORE_MS },
		.trace = &x->trace,
		.msg_id = arena_printf(x->a, "%.*s", STR_ARG(id)).p,
	};
	struct pending_publish *p = mem_zalloc(sizeof(*p));
	enum rc rc = summary_job_may_wait(x);

	p->x = x;
	x->publish = p;
	if (rc == RC_OK && meta.msg_id == NULL)
		rc = RC_TOOBIG;
	if (rc == RC_OK)
		rc = bus_stream_publish(x->scan->w->bus, MEMORY_JOB_SUBJECT,
		    job, &meta,
		    (struct bus_pub_ack_handler){
			summary_job_on_published, p });
	if (rc == RC_OK)
		return RC_OK;
	x->publish = NULL;
	free(p);
	return rc;
}

/* The patch has a time, so applying it twice, or late, is harmless. */
static enum rc
summary_job_merge_profile(struct summary_job *x,
    const struct wire_profile_job *job, struct wire_err *err)
{
	struct wall at;

	*err = (struct wire_err){ "/created_at", "is not a date and time" };
	if (wall_parse(job->created_at, &at) != RC_OK)
		return RC_INVALID;
	return profile_merge(
	    x->scan->w->state, x->idle.key.user_id, job->patch, at, err);
}

/* The stream has all of the session's jobs; repeating it has no effect. */
static void
summary_job_notify(struct summary_job *x)
{
	char text[ID_MAX + 80];
	struct svc_notice n = {
		.level = WIRE_SYSTEM_NOTIFICATION_LEVEL_INFO,
		.code = "MEMORY_ARCHIVED",
		.user_id = x->idle.key.user_id,
		.id = x->archived,
	};

	snprintf(text, sizeof(text),
	    "conversation %.*s is archived: memories to be stored: %zu",
	    STR_ARG(x->idle.key.session_id), x->n_archived);
	n.message = str_of(text);
	svc_notify(x->scan->w->svc, &n, &x->trace);
}

/* Run or publish one; if *published, summary_job_on_published() continues. */
static enum rc
summary_job_run_pending(struct summary_job *x, struct str json, bool *published,
    struct wire_err *err)
{
	struct wire_profile_job profile;
	struct wire_memory_job memory;
	enum rc rc;

	*published = false;
	if (wire_decode(&wire_profile_job_desc, json, x->a, &profile, err) ==
	    RC_OK)
		return summary_job_merge_profile(x, &profile, err);
	rc = wire_decode(&wire_memory_job_desc, json, x->a, &memory, err);
	if (rc != RC_OK)
		return rc;
	*published = true;
	if (x->n_archived++ == 0)
		x->archived = memory.job_id;
	return summary_job_publish(x, json, memory.job_id);
}

static void
summary_job_next_pending(struct summary_job *x)
{
	struct wire_err err = { 0 };
	bool published = false;
	struct str json;
	enum rc rc = RC_OK;

	while (rc == RC_OK && !published && x->jobs.n > 0) {
		json = str_split(&x->jobs, '\n');
		if (json.n > 0)
			rc = summary_job_run_pending(x, json, &published, &err);
		if (rc != RC_INVALID && rc != RC_BUG)
			continue;
		/* No retry would help. */
		log_error("idle.job_dropped",
		    LOG_V("session", x->idle.key.session_id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
		rc = RC_OK;
	}
	if (published && rc == RC_OK)
		return;
	if (rc == RC_OK)
		rc =
		    session_job_done(x->scan->w->state, &x->idle.key, x->s.job);
	if (rc == RC_OK && x->n_archived > 0)
		summary_job_notify(x);
	if (rc == RC_OK)
		summary_job_step(x);
	else
		summary_job_retry(x, 0);
}

/* ---- result: the session's line, memories, a profile patch ---- */

static void
summary_result_emit_idle(struct summary_job *x, struct str id)
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
	rc = svc_event_send(x->scan->w->svc, &e);
	if (rc != RC_OK)
		log_warn("idle.event_lost", LOG_RC(rc));
}

/* Append a job as a line. */
static enum rc
summary_result_put_job(
    const struct wire_desc *desc, const void *job, struct buf *out)
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
summary_result_put_superseded(struct summary_job *x,
    struct extraction_memory *m, struct wire_memory_job *job)
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
			.text = summary_head(k->text, SUPERSEDED_TEXT_MAX),
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
summary_result_put_memory(struct summary_job *x, struct extraction_memory *m,
    struct str made, struct buf *out)
{
	char id[ID_HEX32_MAX + 4] = "mem_";
	struct wire_memory_job job = {
		.job_id = str_of(id),
		.kind = STR(MEMORY_JOB_KIND),
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
	rc = summary_result_put_superseded(x, m, &job);
	if (rc != RC_OK)
		return rc;
	return summary_result_put_job(&wire_memory_job_desc, &job, out);
}

static enum rc
summary_result_put_jobs(
    struct summary_job *x, struct extraction *e, struct buf *out)
{
	char made[WALL_FORMAT_MAX];
	struct wire_profile_job profile = { .kind = STR(PROFILE_JOB_KIND),
		.patch = e->profile };
	enum rc rc = RC_OK;
	size_t i;

	wall_format(clock_wall(), 0, made);
	profile.created_at = str_of(made);
	for (i = 0; i < e->n && rc == RC_OK; i++)
		rc = summary_result_put_memory(
		    x, &e->memory[i], str_of(made), out);
	if (rc == RC_OK && e->profile.p != NULL)
		rc = summary_result_put_job(
		    &wire_profile_job_desc, &profile, out);
	return rc;
}

/* One write, as session_summarise(). */
static enum rc
summary_result_store(struct summary_job *x, struct extraction *e)
{
	char id[ID_HEX32_MAX];
	struct buf jobs = BUF_INIT(JOBS_MAX);
	struct session_summary sum = {
		.text = summary_join(x->s.summary, e->line, x->a),
		.after = x->s.summarised,
		.number = x->number,
	};
	enum rc rc = sum.text.p != NULL ? RC_OK : RC_TOOBIG;

	if (rc == RC_OK)
		rc = summary_result_put_jobs(x, e, &jobs);
	sum.job = buf_str(&jobs);
	if (rc == RC_OK)
		rc = session_summarise(x->scan->w->state, &x->idle.key, &sum);
	buf_free(&jobs);
	if (rc == RC_OK) {
		metric_add(x->scan->made, 1);
		metric_add(x->scan->dropped, (int64_t)e->dropped);
		x->parts++;
		id_hex32(id);
		if (!x->early)
			summary_result_emit_idle(x, str_of(id));
	}
	return rc;
}

/* ---- the model's completion ---- */

/* A retry would probably yield the same. */
static void
summary_job_rejected(struct summary_job *x, const char *why)
{
	log_warn("idle.summary_rejected",
	    LOG_V("session", x->idle.key.session_id),
	    LOG_I("claims", x->idle.claims), LOG_S("why", why));
	if (x->idle.claims < REJECTED_MAX) {
		summary_job_retry(x, 0);
		return;
	}
	/* The messages become part of the session's next summary. */
	metric_add(x->scan->given_up, 1);
	summary_job_done(x);
}

static void
summary_job_failed(struct summary_job *x, const struct llm_result *r)
{
	static struct log_rate rate;
	int64_t missed;

	if (r->rc == RC_TOOBIG && x->part_max > PART_MIN) {
		x->part_max /= 2;
		summary_job_step(x);
	} else if (r->rc == RC_INVALID || r->rc == RC_TOOBIG) {
		summary_job_rejected(x, rc_name(r->rc));
	} else {
		if (log_every(&rate, 10, &missed))
			log_warn("idle.summary_failed", LOG_RC(r->rc),
			    LOG_I("status", r->status),
			    LOG_I("missed", missed));
		summary_job_retry(x, r->retry_after_ms);
	}
}

struct summary_completion {
	struct summary_job *x;
	const struct llm_result *r; /* until the fiber waits */
};

static void
summary_job_take_completion(void *arg)
{
	const struct summary_completion *c = arg;
	struct summary_job *x = c->x;
	const struct llm_result *r = c->r;
	struct extraction e;
	enum rc rc = r->rc;

	log_trace_set(x->trace.trace_id);
	if (rc != RC_OK) {
		summary_job_failed(x, r);
	} else if ((rc = extraction_read(r->text, &x->policy, x->n_known, x->a,
			&e)) == RC_NOENT ||
	    rc == RC_INVALID) {
		summary_job_rejected(
		    x, rc == RC_NOENT ? "empty" : "broken JSON");
	} else {
		if (rc == RC_OK)
			rc = summary_result_store(x, &e);
		/* On a conflict, continue from what another worker did. */
		if (rc == RC_OK || rc == RC_CONFLICT)
			summary_job_step(x);
		else if (rc == RC_NOENT)
			summary_job_done(x);
		else
			summary_job_retry(x, 0);
	}
}

static void
summary_job_on_completion(void *arg, const struct llm_result *r)
{
	struct summary_job *x = arg;

	x->call = NULL;
	fiber_start(
	    summary_job_take_completion, &(struct summary_completion){ x, r });
}

static enum rc
summary_job_call_model(struct summary_job *x)
{
	struct buf system = BUF_INIT(PROMPT_MAX);
	const struct summary_view view = { x->language, x->s.summary, x->known,
		x->n_known, x->profile, x->s.active };
	struct llm_message messages[2] = { { .role = LLM_SYSTEM },
		{ .role = LLM_USER, .text = x->transcript } };
	const struct llm_chat chat = {
		.messages = messages,
		.nmessages = NELEM(messages),
		.temperature = -1,
		.trace = &x->trace,
		.deadline = { clock_wall().ms + x->scan->timeout_ms },
		.on_done = summary_job_on_completion,
		.arg = x,
	};
	enum rc rc;

	summary_prompt_write(&view, &system);
	messages[0].text = buf_str(&system);
	rc = buf_rc(&system);
	if (rc == RC_OK)
		rc = summary_job_may_wait(x);
	if (rc == RC_OK)
		rc = llm_chat(x->scan->w->llm, &chat, &x->call);
	buf_free(&system);
	return rc;
}

/* ---- existing memories ---- */

static enum rc
summary_job_copy_known(struct summary_job *x, const struct store_result *a)
{
	size_t i;

	x->known = arena_alloc(x->a, (a->n + 1) * sizeof(*x->known));
	for (i = 0; x->known != NULL && i < a->n; i++) {
		struct rank_memory *m = &x->known[i];

		*m = *a->hit[i].memory;
		m->id = arena_str(x->a, m->id);
		m->text = arena_str(x->a, m->text);
		if (m->id.p == NULL || m->text.p == NULL)
			return RC_TOOBIG;
	}
	x->n_known = a->n;
	return x->known != NULL ? RC_OK : RC_TOOBIG;
}

static void
summary_job_on_known(void *arg, enum rc rc, const struct store_result *a)
{
	struct known_search *l = arg;
	struct summary_job *x = l->x;

	arena_free(l->a);
	free(l);
	if (x == NULL)
		return;
	x->search = NULL;
	log_trace_set(x->trace.trace_id);
	if (rc == RC_OK)
		rc = summary_job_copy_known(x, a);
	/* Duplicates are also removed when a memory is stored. */
	else if (x->idle.claims > KNOWN_CLAIMS)
		rc = RC_OK;
	if (rc == RC_OK)
		rc = summary_job_call_model(x);
	if (rc != RC_OK)
		summary_job_retry(x, 0);
}

/* The request must outlive x. */
static void
summary_job_search_known(struct summary_job *x)
{
	struct known_search *l = mem_zalloc(sizeof(*l));
	struct arena *a = arena_new(IDS_BYTES + KNOWN_QUERY_BYTES);
	const struct store_request req = {
		.scope = { arena_str(a, x->idle.key.user_id),
		    arena_str(a, x->s.soul_id) },
		.deadline = { clock_wall().ms + KNOWN_MS },
		.trace = &l->trace,
		.fn = summary_job_on_known,
		.arg = l,
	};

	*l = (struct known_search){ .x = x, .a = a, .trace = x->trace };
	l->query = (struct rank_query){
		.text = arena_str(
		    a, summary_tail(x->policy.stated, KNOWN_QUERY_MAX)),
		.now = clock_wall(),
		.k = KNOWN_MAX,
	};
	x->search = l;
	store_search(x->scan->w->store, &req, &l->query);
}

/* ---- one step ---- */

/* RC_NOENT unless the session's soul exists and is the user's. */
static enum rc
summary_job_check_soul(struct summary_job *x)
{
	struct soul soul;

	if (x->s.soul_id.p == NULL)
		return RC_NOENT;
	return soul_read(
	    x->scan->w->state, x->idle.key.user_id, x->s.soul_id, x->a, &soul);
}

/* A claim covers one part; it is extended for the next unless the user has sent
 * another message. */
static enum rc
summary_job_extend_claim(struct summary_job *x)
{
	if (x->parts == 0)
		return RC_OK;
	return session_idle_defer(
	    x->scan->w->state, &x->idle, x->scan->claim_ms);
}

static void
summary_job_summarise(struct summary_job *x)
{
	enum rc rc;

	x->n_known = 0;
	rc = x->s.known ? summary_job_check_soul(x) : RC_NOENT;
	if (rc == RC_OK)
		rc = transcript_read(x);
	if (rc == RC_OK)
		rc = summary_job_extend_claim(x);
	if (rc == RC_OK)
		rc = summary_job_may_wait(x);
	if (rc == RC_OK && x->policy.stated.n > 0) {
		summary_job_search_known(x);
		return;
	}
	if (rc == RC_OK)
		rc = summary_job_call_model(x);
	if (rc == RC_NOENT || rc == RC_CONFLICT)
		summary_job_done(x);
	else if (rc != RC_OK)
		summary_job_retry(x, 0);
}

/* Read the session and do what comes next. */
static void
summary_job_step(struct summary_job *x)
{
	enum rc rc = summary_job_may_wait(x);

	arena_reset(x->a);
	x->n_archived = 0;
	if (rc == RC_OK)
		rc = session_read(x->scan->w->state, &x->idle.key, x->a, &x->s);
	x->jobs = x->s.job;
	if (rc != RC_OK)
		summary_job_retry(x, 0);
	else if (x->s.job.p != NULL)
		summary_job_next_pending(x);
	else
		summary_job_summarise(x);
}
