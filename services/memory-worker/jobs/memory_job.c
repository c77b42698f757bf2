/*
 * Handles memory jobs: deduplicates and stores a memory.
 */
#include "memory_worker.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/log.h"
#include "core/mem.h"
#include "search/tokenizer.h"
#include "state/soul.h"
#include "state/state.h"
#include "store/memory_record.h"
#include "store/memory_store.h"
#include "svc/event.h"
#include "svc/system_notice.h"
#include "wire/subjects.h"
#include "work/work.h"

/* Most similar memories that are checked for duplicates. */
#define NEAR_MAX 5

/* Search for equal memories, put, then supersede one by one. */
struct dedupe {
	struct store *s;
	struct store_request req; /* the caller's */
	struct store_put put;
	struct rank_query query;
	struct arena *a;
	struct wire_memory_job job; /* the put's, with duplicates */
	size_t at;                  /* the next to supersede */
};

static void
dedupe_end(struct dedupe *g, enum rc rc)
{
	struct store_request req = g->req;

	arena_free(g->a);
	free(g);
	req.fn(req.arg, rc, &(struct store_result){ 0 });
}

static struct store_request
dedupe_request(struct dedupe *g, store_fn fn)
{
	struct store_request req = g->req;

	req.fn = fn;
	req.arg = g;
	return req;
}

static void dedupe_supersede_next(struct dedupe *g);

static void
dedupe_on_superseded(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;

	(void)a;
	/* RC_NOENT, RC_CONFLICT: it has been removed already. */
	if (rc != RC_OK && rc != RC_NOENT && rc != RC_CONFLICT) {
		dedupe_end(g, rc);
		return;
	}
	g->at++;
	dedupe_supersede_next(g);
}

static void
dedupe_supersede_next(struct dedupe *g)
{
	const struct wire_memory_job *job = &g->job;
	struct buf json = BUF_INIT(MEMORY_JSON_MAX);
	struct store_request own = dedupe_request(g, dedupe_on_superseded);
	struct memory_superseded old = { .made = { 0 }, .until = g->put.made };
	enum rc rc;

	if (g->at == job->n_supersedes) {
		dedupe_end(g, RC_OK);
		return;
	}
	old.id = job->supersedes[g->at].memory_id;
	if (wall_parse(job->supersedes[g->at].created_at, &old.made) != RC_OK ||
	    old.made.ms < 0)
		old.made = g->put.made;
	rc = memory_record_write_superseded(job, g->at, &json);
	old.json = buf_str(&json);
	if (rc == RC_OK && !str_eq(old.id, job->job_id))
		store_supersede(g->s, &own, &old);
	else
		dedupe_on_superseded(g, rc, NULL);
	buf_free(&json);
}

static void
dedupe_on_put(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;

	(void)a;
	if (rc == RC_OK)
		dedupe_supersede_next(g);
	else
		dedupe_end(g, rc);
}

/* A duplicate that is older is superseded like those the job names. */
static enum rc
dedupe_add_superseded(struct dedupe *g, const struct rank_memory *m)
{
	struct wire_memory_job_supersedes *list;
	char made[WALL_FORMAT_MAX];
	size_t n = g->job.n_supersedes;

	list = arena_alloc(g->a, (n + 1) * sizeof(*list));
	if (list == NULL)
		return RC_TOOBIG;
	if (n > 0)
		memcpy(list, g->job.supersedes, n * sizeof(*list));
	wall_format(m->created, 0, made);
	list[n] = (struct wire_memory_job_supersedes){
		.memory_id = arena_str(g->a, m->id),
		.text = arena_str(g->a, m->text),
		.type = m->type,
		.created_at = arena_str(g->a, str_of(made)),
	};
	g->job.supersedes = list;
	g->job.n_supersedes = n + 1;
	return RC_OK;
}

static void
dedupe_on_similar(void *arg, enum rc rc, const struct store_result *a)
{
	struct dedupe *g = arg;
	struct store_request own = dedupe_request(g, dedupe_on_put);
	bool known = false;
	size_t i;

	for (i = 0; i < a->n && rc == RC_OK; i++) {
		const struct rank_memory *m = a->hit[i].memory;

		if (str_eq(m->id, g->job.job_id) ||
		    !similarity_equal(m->text, g->job.text))
			continue;
		/* Without a time it may be this very memory. */
		if (m->created.ms == 0 || m->created.ms >= g->put.made.ms)
			known = true;
		else
			rc = dedupe_add_superseded(g, m);
	}
	if (rc != RC_OK) {
		dedupe_end(g, rc);
	} else if (known) {
		log_info("job.duplicate", LOG_V("memory", g->job.job_id));
		dedupe_on_put(g, RC_OK, NULL);
	} else {
		store_put(g->s, &own, &g->put);
	}
}

/*
 * Store a job's memory, unless an equal one exists that is not older, and
 * supersede those it replaces: older equal ones, and those the job names.  Can
 * be repeated from any point.  As store_put(); RC_OK too for a duplicate.
 */
static void
dedupe_put(struct store *s, const struct store_request *req,
    const struct store_put *put)
{
	struct dedupe *g = mem_zalloc(sizeof(*g));
	struct store_request own;

	g->s = s;
	g->req = *req;
	g->put = *put;
	g->job = *put->job;
	g->a = arena_new(WIRE_ARENA_MAX);
	g->query = (struct rank_query){
		.text = put->job->text, .now = put->made, .k = NEAR_MAX
	};
	own = dedupe_request(g, dedupe_on_similar);
	store_search(s, &own, &g->query);
}

/* ---- jobs in progress ---- */

#define CONSUMER      "memory-worker"
#define IN_FLIGHT_MAX 64 /* jobs in progress in all workers together */
/* Deadline of an attempt to store a memory. */
#define STORE_MS 60000

/* A job in progress, in its item's arena. */
struct job {
	struct memory_worker *w;
	struct wire_memory_job job;
	struct store_put put;
};

static void
job_emit_stored(const struct job *h, const struct work_item *i)
{
	const struct wire_memory_job *job = &h->job;
	const struct wire_memory_stored stored = {
		.memory_id = job->job_id,
		.user_id = job->user_id,
		.soul_id = job->soul_id,
		.session_id = job->session_id,
		.type = job->type,
		.trigger_source = job->trigger_source,
		.backend = str_of(store_name(h->w->store)),
	};
	const struct svc_event e = {
		.type = WIRE_EVENT_MEMORY_STORED,
		.key = job->soul_id,
		.desc = &wire_memory_stored_desc,
		.payload = &stored,
		.trace = work_item_trace(i),
		.id = job->job_id,
	};
	enum rc rc = svc_event_send(h->w->svc, &e);

	if (rc != RC_OK)
		log_warn(
		    "job.event_lost", LOG_V("memory", job->job_id), LOG_RC(rc));
}

/* RC_NOENT: the soul was deleted or is another user's; nothing is stored. */
static enum rc
job_check_soul(const struct job *h, struct work_item *i)
{
	struct soul soul;

	return soul_read(h->w->state, h->job.user_id, h->job.soul_id,
	    work_item_arena(i), &soul);
}

static void
job_end(struct work_item *i, enum rc rc)
{
	const struct job *h = work_item_get(i);
	char why[64];

	switch (rc) {
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
	case RC_DENIED:
	case RC_UNREPLICATED:
		work_end(i, WORK_DEFERRED, NULL);
		break;
	case RC_OK:
		job_emit_stored(h, i);
		work_end(i, WORK_DONE, NULL);
		break;
	case RC_NOENT:
	case RC_CONFLICT:
		log_info("job.dropped", LOG_V("memory", h->job.job_id),
		    LOG_S("why", rc == RC_NOENT ? "no soul" : "forgotten"));
		work_end(i, WORK_DONE, NULL);
		break;
	default:
		snprintf(
		    why, sizeof(why), "the store rejected it: %s", rc_name(rc));
		work_end(i, WORK_FAILED, why);
	}
}

static void
job_on_stored(void *arg, enum rc rc, const struct store_result *a)
{
	(void)a;
	job_end(arg, rc);
}

static void
job_store(void *arg, struct work_item *i)
{
	struct job *h = work_item_get(i);
	const struct store_request req = {
		.scope = { h->job.user_id, h->job.soul_id },
		.deadline = { clock_wall().ms + STORE_MS },
		.trace = work_item_trace(i),
		.fn = job_on_stored,
		.arg = i,
	};
	enum rc rc;

	(void)arg;
	h->put.redelivered = work_item_repeated(i);
	rc = job_check_soul(h, i);
	if (rc != RC_OK)
		job_end(i, rc);
	else
		dedupe_put(h->w->store, &req, &h->put);
}

/* Two jobs of one scope at a time would not see each other's duplicates. */
static struct str
job_scope(struct arena *a, const struct wire_memory_job *job)
{
	/* No id has a control character. */
	return arena_printf(
	    a, "%.*s\n%.*s", STR_ARG(job->user_id), STR_ARG(job->soul_id));
}

static enum rc
job_read(void *arg, struct work_item *i, struct wire_err *err)
{
	struct arena *a = work_item_arena(i);
	struct job *h = arena_alloc(a, sizeof(*h));
	enum rc rc;

	*err = (struct wire_err){ "", "is too large" };
	if (h == NULL)
		return RC_TOOBIG;
	memset(h, 0, sizeof(*h));
	h->w = arg;
	rc = memory_job_read(work_item_data(i), a, &h->job, &h->put.made, err);
	h->put.job = &h->job;
	if (rc == RC_OK) {
		work_item_set(i, h);
		work_item_set_key(i, job_scope(a, &h->job));
	}
	return rc;
}

static bool
jobs_available(void *arg)
{
	const struct memory_worker *w = arg;

	return store_up(w->store) && state_up(w->state);
}

/* For operators: what a user should remember is nobody else's business. */
static void
job_on_dead(void *arg, const struct work_item *i, const char *why)
{
	const struct memory_worker *w = arg;
	char text[512];
	struct svc_notice n = {
		.level = WIRE_SYSTEM_NOTIFICATION_LEVEL_ERROR,
		.code = "DEAD_LETTER",
		.id = work_item_id(i),
	};

	snprintf(text, sizeof(text),
	    "a memory could not be stored, and is a dead letter: %s", why);
	n.message = str_of(text);
	svc_notify(w->svc, &n, work_item_trace(i));
}

const char *const memory_job_kinds[] = { MEMORY_JOB_KIND, NULL };

struct work *
memory_jobs_new(struct memory_worker *w)
{
	return work_new(&(struct work_opts){ .svc = w->svc,
	    .kind = MEMORY_JOB_KIND,
	    .consumer = CONSUMER,
	    .ack_wait_ms = (int64_t)fmax(w->conf->ack_wait_s * 1e3, 100),
	    .max_deliveries = w->conf->max_deliveries,
	    .max_in_flight = IN_FLIGHT_MAX,
	    .read = job_read,
	    .handle = job_store,
	    .available = jobs_available,
	    .dead = job_on_dead,
	    .arg = w });
}
