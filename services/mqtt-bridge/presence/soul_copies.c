/*
 * What the reports of a batch have changed for the ticks of souls.
 */
#include <stdlib.h>

#include "core/arena.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "handlers.h"
#include "presence/copied.h"
#include "reports/report_pace.h"
#include "state/state.h"
#include "svc/svc.h"
#include "svc/tick_hint.h"

/*
 * Repairs of one batch, each of which takes several calls; the others are due
 * with the next report.
 */
#define REPAIRS_MAX 32
#define LOG_EVERY_S 10
/* Ids of a batch. */
#define IDS_BYTES ((size_t)4 * 1024 * 1024)

struct soul_copies {
	struct bridge *b;
	struct copied *copied;
	struct terminal_copy v[REPORT_PACE_MAX];
	size_t n;
	struct arena *a; /* their ids */
	struct metric *written, *failed, *repaired;
};

struct soul_copies *
soul_copies_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct soul_copies *c = mem_zalloc(sizeof(*c));

	c->b = b;
	c->copied = copied_new();
	c->a = arena_new(IDS_BYTES);
	c->written = metric_counter(set, "soul_bridge_presence_copies_total",
	    "Presences copied to souls, for their ticks.", NULL);
	c->failed =
	    metric_counter(set, "soul_bridge_presence_copies_failed_total",
		"Presences that could not be copied at once.", NULL);
	c->repaired = metric_counter(set, "soul_bridge_bindings_repaired_total",
	    "Bindings that their soul did not know of.", NULL);
	return c;
}

void
soul_copies_free(struct soul_copies *c)
{
	if (c == NULL)
		return;
	copied_free(c->copied);
	arena_free(c->a);
	free(c);
}

struct arena *
soul_copies_begin(struct soul_copies *c)
{
	arena_reset(c->a);
	c->n = 0;
	return c->a;
}

void
soul_copies_add(struct soul_copies *c, const struct terminal_report *t)
{
	struct terminal_copy *v = &c->v[c->n];

	if (t->kind == TERMINAL_REJECTION || c->n == NELEM(c->v) ||
	    !copied_is_due(c->copied, t, c->b->ttl_ms))
		return;
	*v = (struct terminal_copy){ .id = arena_str(c->a, t->id),
		.user_id = t->user_id,
		.soul_id = t->soul_id,
		.at = t->at,
		.until = t->until };
	if (v->id.p != NULL)
		c->n++;
	else
		copied_forget(c->copied, t->id);
}

static void
soul_copies_hint(struct soul_copies *c, const struct terminal_copy *v)
{
	unsigned bucket;

	if (state_bucket(v->user_id, &bucket) == RC_OK)
		svc_tick_hint(c->b->svc, bucket);
}

/* False: not now, and not known when. */
static bool
soul_copies_repair(struct soul_copies *c, struct terminal_copy *v)
{
	static struct log_rate rate;
	int64_t missed;
	enum rc rc;

	rc = terminal_repair(c->b->state, v->id, c->b->ttl_ms, &v->ticks);
	if (rc == RC_OK)
		metric_add(c->repaired, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_info("bridge.binding_repaired", LOG_V("terminal", v->id),
		    LOG_RC(rc), LOG_I("missed", missed));
	return rc == RC_OK;
}

void
soul_copies_write(struct soul_copies *c)
{
	static struct log_rate rate;
	size_t i, repairs = 0;
	int64_t missed;
	bool done;
	enum rc rc;

	if (c->n == 0)
		return;
	rc = terminal_put_copies(c->b->state, c->b->broker, c->v, c->n);
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.not_copied", LOG_RC(rc), LOG_I("n", c->n),
		    LOG_I("missed", missed));
	for (i = 0; i < c->n; i++) {
		struct terminal_copy *v = &c->v[i];

		done = v->rc == RC_OK ||
		    (v->rc == RC_NOENT && repairs++ < REPAIRS_MAX &&
			soul_copies_repair(c, v));
		metric_add(done ? c->written : c->failed, 1);
		if (!done)
			copied_forget(c->copied, v->id);
		else if (v->ticks)
			soul_copies_hint(c, v);
	}
	c->n = 0;
}

void
soul_copies_forget(struct soul_copies *c, struct str terminal)
{
	copied_forget(c->copied, terminal);
}

void
soul_copies_clear(struct soul_copies *c)
{
	copied_clear(c->copied);
}
