#include "evolution/evolution_item.h"

#include <stdio.h>

#include "context.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "evolution/evolution.h"
#include "svc/peer_call.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "wire/wire.h"

/* Another process publishes steps after this time. */
#define PUBLISH_MS 10000
#define JOB_MAX    (16UL * 1024)
#define JOB_KIND   "memory_store"
/* Room for "<evolution>_<step>", NUL included. */
#define STEP_ID_MAX (EVOLUTION_ID_MAX + STR_NUM_MAX)

/* ---- reading ---- */

enum rc
evolution_item_decode(struct evolution_item *i, struct arena *a)
{
	struct wire_err err;
	enum rc rc = wire_decode(
	    &wire_evolution_record_desc, i->entry.json, a, &i->rec, &err);

	if (rc != RC_OK)
		log_error("mcp.stored_evolution",
		    LOG_V("evolution", i->entry.id), LOG_S("path", err.path),
		    LOG_S("why", err.why));
	return rc;
}

enum rc
evolution_items_read(struct host *h, struct str user, struct arena *a,
    struct evolution_item **list, size_t *n)
{
	struct evolution_entries all;
	enum rc rc = evolution_entry_list(h->state, user, a, &all);
	size_t i;

	*n = 0;
	if (rc != RC_OK)
		return rc;
	*list = arena_alloc(a, (all.n + 1) * sizeof(**list));
	if (*list == NULL)
		return RC_TOOBIG;
	for (i = 0; i < all.n; i++) {
		(*list)[*n].entry = all.entry[i];
		*n += evolution_item_decode(&(*list)[*n], a) == RC_OK;
	}
	return RC_OK;
}

enum rc
evolution_item_read(struct host *h, struct evolution_item *i, struct arena *a)
{
	enum rc rc = evolution_entry_read(h->state, &i->entry, a);

	return rc == RC_OK ? evolution_item_decode(i, a) : rc;
}

/* ---- storing ---- */

enum rc
evolution_item_save(struct host *h, struct evolution_item *i,
    struct evolution_change *change, struct arena *a)
{
	struct buf json = BUF_INIT(EVOLUTION_JSON_MAX);
	const struct wire_evolution_record *r = &i->rec;
	struct wire_err err;
	enum rc rc = wire_encode(&wire_evolution_record_desc, r, &json, &err);

	if (rc != RC_OK) {
		log_error("mcp.evolution_not_stored",
		    LOG_V("evolution", i->entry.id), LOG_S("path", err.path),
		    LOG_S("why", err.why));
		buf_free(&json);
		return rc;
	}
	change->json = arena_str(a, buf_str(&json));
	buf_free(&json);
	change->soul_id = r->evolution.soul_id;
	change->publish_ms =
	    r->published < r->evolution.step_count ? PUBLISH_MS : 0;
	rc = change->json.p != NULL
	    ? evolution_entry_swap(h->state, &i->entry, change, a)
	    : RC_TOOBIG;
	if (rc == RC_CONFLICT && evolution_item_decode(i, a) != RC_OK)
		rc = RC_INVALID;
	return rc;
}

/* ---- publishing ---- */

/* Of a step: of its notice, and of its memory. */
static struct str
evolution_step_id(
    const struct wire_evolution *e, int64_t n, char dst[STEP_ID_MAX])
{
	(void)snprintf(dst, STEP_ID_MAX, "%.*s_%lld", STR_ARG(e->evolution_id),
	    (long long)n);
	return str_of(dst);
}

static enum rc
evolution_notify(struct host *h, const struct wire_evolution *e, int64_t n,
    const struct trace *trace)
{
	const struct wire_evolution_steps *step = evolution_step(e, n);
	struct buf text = BUF_INIT(SVC_NOTICE_MESSAGE_MAX);
	struct svc_notice notice = {
		.level = WIRE_SYSTEM_NOTIFICATION_LEVEL_INFO,
		.user_id = e->user_id,
	};
	char id[STEP_ID_MAX];
	enum rc rc;

	/* So many steps were added that it is not stored any more. */
	if (step == NULL)
		return RC_OK;
	evolution_text(e, step, &text);
	notice.code = evolution_code(step->state);
	notice.id = evolution_step_id(e, n, id);
	notice.message = buf_str(&text);
	rc = svc_notice_store(h->svc, &notice, trace);
	buf_free(&text);
	return rc;
}

static enum rc
evolution_put_memory(struct host *h, const struct wire_memory_job *job,
    const struct trace *trace)
{
	struct buf json = BUF_INIT(JOB_MAX);
	enum rc rc = wire_encode(&wire_memory_job_desc, job, &json, NULL);
	const struct peer_item item = { .subject = "soul.job." JOB_KIND,
		.id = job->job_id.p,
		.json = buf_str(&json),
		.trace = trace };

	if (rc == RC_OK)
		rc = peer_publish(h->bus, &item);
	buf_free(&json);
	/* No memory-worker has ever been there: nothing is remembered. */
	return rc == RC_NOENT ? RC_OK : rc;
}

/* The soul remembers the skill, or that it has lost it instead. */
static enum rc
evolution_remember(struct host *h, const struct wire_evolution *e, int64_t n,
    const struct trace *trace)
{
	struct buf text = BUF_INIT(JOB_MAX), old_text = BUF_INIT(JOB_MAX);
	const int64_t before = evolution_memory_before(e, n);
	char id[STEP_ID_MAX], old_id[STEP_ID_MAX];
	struct wire_memory_job_supersedes old = {
		.memory_id = evolution_step_id(e, before, old_id)
	};
	struct wire_memory_job job = { .job_id = evolution_step_id(e, n, id),
		.kind = STR(JOB_KIND),
		.user_id = e->user_id,
		.soul_id = e->soul_id,
		.trigger_source = STR("evolution") };
	enum rc rc = RC_OK;

	if (evolution_memory(e, before, &old.type, &old_text)) {
		old.text = buf_str(&old_text);
		old.created_at = evolution_step(e, before)->at;
		job.supersedes = &old;
		job.has_supersedes = true;
		job.n_supersedes = 1;
	}
	if (evolution_memory(e, n, &job.type, &text)) {
		job.text = buf_str(&text);
		job.created_at = evolution_step(e, n)->at;
		rc = evolution_put_memory(h, &job, trace);
	}
	buf_free(&text);
	buf_free(&old_text);
	return rc;
}

void
evolution_item_publish(struct host *h, struct evolution_item *i,
    const struct trace *trace, struct arena *a)
{
	const struct wire_evolution *e = &i->rec.evolution;
	struct evolution_change change = { .publish_ms = 0 };
	enum rc rc = RC_OK;
	int64_t n;

	if (i->rec.published >= e->step_count)
		return;
	for (n = i->rec.published + 1; n <= e->step_count && rc == RC_OK; n++) {
		rc = evolution_notify(h, e, n, trace);
		if (rc == RC_OK)
			rc = evolution_remember(h, e, n, trace);
	}
	if (rc == RC_OK) {
		i->rec.published = e->step_count;
		rc = evolution_item_save(h, i, &change, a);
	}
	/* Another has changed or published it, or it was deleted. */
	if (rc != RC_OK && rc != RC_CONFLICT && rc != RC_NOENT)
		log_warn("mcp.evolution_not_published",
		    LOG_V("evolution", i->entry.id), LOG_RC(rc));
}
