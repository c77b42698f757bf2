/*
 * A queue, and one batch of it at a time in the worker.
 *
 * While many wait, a newer snapshot of one body takes the place of its older
 * one, so a body that floods costs no more than its last word.
 */
#include "on_snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "bridge.h"
#include "core/arena.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "intake.h"
#include "mqtt/mqtt.h"
#include "on_lease.h"
#include "on_report.h"
#include "refusal.h"
#include "svc/svc.h"
#include "tell.h"

/* What the worker gets at one time. */
#define BATCH_MAX   256
#define BATCH_BYTES (4UL * 1024 * 1024)
/* What may wait, and from where on the newest of each body counts alone. */
#define QUEUE_MAX   65536
#define QUEUE_BYTES (256UL * 1024 * 1024)
#define CROWD       1024
/* Arenas kept for the next. */
#define SPARE_MAX 32
/* A decoded report, and the text made of it. */
#define ARENA_BYTES (WIRE_ARENA_MAX + 2UL * 1024 * 1024)
#define LOG_EVERY_S 10

struct item {
	TAILQ_ENTRY(item) link;
	char id[ID_MAX + 1];
	size_t row;
	uint64_t seq;
	struct str payload; /* in the arena */
	struct arena *a;
	bool replayed;
	/* The worker's: */
	enum rc rc;
	struct snapshot snap;
	struct wire_err err;
};

TAILQ_HEAD(items, item);

struct snapshots {
	struct bridge *b;
	struct worker_pool *reader; /* one thread, so that order is kept */
	struct intake *intake;      /* the worker's while working */
	struct items waiting, batch;
	struct map *newest; /* of the waiting ones */
	struct map *left;   /* terminal → seq when it took its leave */
	uint64_t seq;       /* of the last that came */
	size_t n, bytes;    /* of the waiting ones */
	size_t n_batch;
	bool working;
	bool stale; /* the batch belongs to a lease that is lost */
	struct loop_timer soon;
	struct arena *spare[SPARE_MAX];
	size_t n_spare;
	struct metric *overtaken, *dropped;
};

/* ---- items --------------------------------------------------------------- */

static struct arena *
arena_take(struct snapshots *s)
{
	return s->n_spare > 0 ? s->spare[--s->n_spare] : arena_new(ARENA_BYTES);
}

static void
item_free(struct snapshots *s, struct item *it)
{
	if (s->n_spare < SPARE_MAX) {
		arena_reset(it->a);
		s->spare[s->n_spare++] = it->a;
	} else {
		arena_free(it->a);
	}
	free(it);
}

static void
items_free(struct snapshots *s, struct items *list)
{
	struct item *it;

	while ((it = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, it, link);
		item_free(s, it);
	}
}

static struct str
key_of(struct str terminal, size_t row, char dst[ID_MAX + 2])
{
	(void)snprintf(dst, ID_MAX + 2, "%c%.*s",
	    row == WIRE_TOPIC_SKILLS ? 's' : 'c', STR_ARG(terminal));
	return str_of(dst);
}

/* It waits no more. */
static void
unqueue(struct snapshots *s, struct item *it)
{
	char text[ID_MAX + 2];
	struct str key = key_of(str_of(it->id), it->row, text);

	TAILQ_REMOVE(&s->waiting, it, link);
	s->n--;
	s->bytes -= it->payload.n;
	if (map_get(s->newest, key) == it)
		(void)map_del(s->newest, key);
}

/* ---- the worker ---------------------------------------------------------- */

static void
work(void *arg)
{
	struct snapshots *s = arg;
	struct item *it;

	TAILQ_FOREACH (it, &s->batch, link) {
		struct str id = str_of(it->id);

		it->rc = it->row == WIRE_TOPIC_SKILLS
		    ? intake_skills(s->intake, it->payload, id, it->a,
			  &it->snap, &it->err)
		    : intake_catalog(s->intake, it->payload, id, it->a,
			  &it->snap, &it->err);
	}
}

/* ---- written ------------------------------------------------------------- */

/* Whether its body gave a sign of life by it, and has not left since. */
static bool
is_alive(const struct snapshots *s, const struct item *it)
{
	return !it->replayed &&
	    (uintptr_t)map_get(s->left, str_of(it->id)) < it->seq;
}

static struct address
address_of(const struct item *it)
{
	return (struct address){ .row = it->row, .terminal = str_of(it->id) };
}

static void
settle(
    struct snapshots *s, const struct item *it, const struct terminal_report *t)
{
	struct address a = address_of(it);
	struct wire_err err = { .path = "" };

	if (t->rc == RC_CONFLICT) {
		refusal_rollback(
		    it->row, it->snap.version, t->current, it->snap.bare, &err);
		reports_refuse(
		    s->b->reports, &a, WIRE_REFUSAL_OUTCOME_IGNORED, &err);
	}
	if (t->rc != RC_OK)
		return;
	if (t->differs && it->row == WIRE_TOPIC_SKILLS)
		tell_skills(s->b->telling, a.terminal, &it->snap);
	else if (t->differs)
		tell_intents(s->b->telling, a.terminal, &it->snap);
	if (it->snap.note.why[0] != '\0')
		reports_refuse(s->b->reports, &a, WIRE_REFUSAL_OUTCOME_NOTED,
		    &it->snap.note);
}

static void
write_batch(struct snapshots *s)
{
	struct terminal_report v[BATCH_MAX];
	struct item *good[BATCH_MAX], *it;
	size_t i, n = 0;

	TAILQ_FOREACH (it, &s->batch, link) {
		struct address a = address_of(it);

		if (it->rc != RC_OK) {
			reports_refuse(s->b->reports, &a,
			    WIRE_REFUSAL_OUTCOME_REFUSED, &it->err);
			continue;
		}
		good[n] = it;
		v[n++] = (struct terminal_report){
			.kind = it->row == WIRE_TOPIC_SKILLS ? TERMINAL_SKILLS
							     : TERMINAL_CATALOG,
			.id = a.terminal,
			.replayed = !is_alive(s, it),
			.snap = { it->snap.version, it->snap.json,
			    it->snap.hash, it->snap.soul_hint }
		};
	}
	reports_write(s->b->reports, v, n);
	for (i = 0; i < n && leading_epoch(s->b->leading) != 0; i++)
		settle(s, good[i], &v[i]);
}

static void submit(void *arg);

static void
done(void *arg)
{
	struct snapshots *s = arg;

	s->working = false;
	if (!s->stale)
		write_batch(s);
	s->stale = false;
	items_free(s, &s->batch);
	s->n_batch = 0;
	submit(s);
	if (!snapshots_busy(s) && map_len(s->left) > 0) {
		map_free(s->left);
		s->left = map_new();
	}
}

static void
submit(void *arg)
{
	struct snapshots *s = arg;
	struct item *it;
	size_t bytes = 0;

	if (s->working)
		return;
	while (s->n_batch < BATCH_MAX && bytes < BATCH_BYTES &&
	    (it = TAILQ_FIRST(&s->waiting)) != NULL) {
		unqueue(s, it);
		bytes += it->payload.n;
		TAILQ_INSERT_TAIL(&s->batch, it, link);
		s->n_batch++;
	}
	if (s->n_batch == 0)
		return;
	s->working = worker_run(s->reader, work, done, s) == RC_OK;
	if (!s->working) {
		/* The program ends. */
		items_free(s, &s->batch);
		s->n_batch = 0;
	}
}

/* ---- messages ------------------------------------------------------------ */

/* Whether there is room for it; if not, it will be sent again. */
static bool
make_room(
    struct snapshots *s, const struct address *a, const struct mqtt_msg *m)
{
	static struct log_rate rate;
	char text[ID_MAX + 2];
	struct item *older;
	int64_t missed;

	older = s->n >= CROWD
	    ? map_get(s->newest, key_of(a->terminal, a->row, text))
	    : NULL;
	if (older != NULL) {
		metric_add(s->overtaken, 1);
		unqueue(s, older);
		item_free(s, older);
	}
	if (s->n < QUEUE_MAX && s->bytes + m->payload.n <= QUEUE_BYTES)
		return true;
	metric_add(s->dropped, 1);
	leading_again(s->b->leading,
	    a->row == WIRE_TOPIC_SKILLS ? LEAD_SKILLS : LEAD_CATALOG);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.behind", LOG_I("waiting", s->n),
		    LOG_I("bytes", s->bytes), LOG_I("missed", missed));
	return false;
}

void
on_snapshot(
    struct snapshots *s, const struct address *a, const struct mqtt_msg *m)
{
	char text[ID_MAX + 2];
	struct item *it;

	if (!make_room(s, a, m))
		return;
	it = mem_zalloc(sizeof(*it));
	str_copy(a->terminal, it->id, sizeof(it->id));
	it->row = a->row;
	it->seq = ++s->seq;
	it->replayed = m->retain;
	it->a = arena_take(s);
	it->payload = arena_str(it->a, m->payload);
	TAILQ_INSERT_TAIL(&s->waiting, it, link);
	s->n++;
	s->bytes += it->payload.n;
	(void)map_put(s->newest, key_of(a->terminal, a->row, text), it);
	/* With what else has come by now. */
	loop_timer_set(s->b->loop, &s->soon, clock_mono(), submit, s);
}

void
snapshots_left(struct snapshots *s, struct str terminal)
{
	/* Sequence numbers begin at 1, so none is a NULL. */
	if (snapshots_busy(s) && s->seq > 0)
		(void)map_put(s->left, terminal, (void *)(uintptr_t)s->seq);
}

bool
snapshots_busy(const struct snapshots *s)
{
	return s->working || s->n > 0;
}

void
snapshots_clear(struct snapshots *s)
{
	struct item *it;

	while ((it = TAILQ_FIRST(&s->waiting)) != NULL) {
		unqueue(s, it);
		item_free(s, it);
	}
	s->stale = s->working;
}

struct snapshots *
snapshots_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct snapshots *s = mem_zalloc(sizeof(*s));

	s->b = b;
	s->reader = worker_new(b->loop, 1, 1);
	s->intake = intake_new((size_t)b->conf->skills_max);
	s->newest = map_new();
	s->left = map_new();
	TAILQ_INIT(&s->waiting);
	TAILQ_INIT(&s->batch);
	s->overtaken =
	    metric_counter(set, "soul_bridge_snapshots_overtaken_total",
		"Snapshots that gave way to a newer one of their body.", NULL);
	s->dropped = metric_counter(set, "soul_bridge_snapshots_dropped_total",
	    "Snapshots that the broker has to send again.", NULL);
	return s;
}

void
snapshots_free(struct snapshots *s)
{
	if (s == NULL)
		return;
	snapshots_clear(s);
	loop_timer_cancel(s->b->loop, &s->soon);
	worker_free(s->reader);
	items_free(s, &s->batch);
	while (s->n_spare > 0)
		arena_free(s->spare[--s->n_spare]);
	map_free(s->newest);
	map_free(s->left);
	intake_free(s->intake);
	free(s);
}
