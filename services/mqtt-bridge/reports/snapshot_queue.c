/*
 * A queue, of which one batch at a time is parsed by the worker, and then
 * written by a fiber.
 *
 * While the queue is long, a newer snapshot of a terminal replaces the queued
 * one, so a flood of one terminal is parsed once.
 */
#include "handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "mqtt/mqtt.h"
#include "presence/liveness.h"
#include "reports/report_error.h"
#include "svc/svc.h"
#include "terminal/snapshot_parse.h"
#include "terminal_event.h"

/* What the worker parses in one go. */
#define BATCH_MAX   256
#define BATCH_BYTES (4UL * 1024 * 1024)
/* Limits of the queue; snapshots are replaced from REPLACE_FROM on. */
#define QUEUE_MAX    65536
#define QUEUE_BYTES  (256UL * 1024 * 1024)
#define REPLACE_FROM 1024
/* Arenas kept for reuse. */
#define SPARE_MAX 32
/* A decoded report and its compact JSON. */
#define ARENA_BYTES (WIRE_ARENA_MAX + 2UL * 1024 * 1024)
#define LOG_EVERY_S 10

struct snapshot_item {
	TAILQ_ENTRY(snapshot_item) link;
	char id[ID_MAX + 1];
	size_t row;
	uint64_t seq;
	struct str payload; /* in the arena */
	struct arena *a;
	bool replayed;
	/* Set by the worker. */
	enum rc rc;
	struct snapshot snap;
	struct wire_err err;
};

TAILQ_HEAD(snapshot_items, snapshot_item);

struct snapshot_queue {
	struct bridge *b;
	struct worker_pool *reader;     /* one thread, to keep the order */
	struct snapshot_parser *parser; /* used by the worker while busy */
	struct snapshot_items waiting, batch;
	struct map *newest; /* of the queued ones, by kind and terminal */
	struct offline_marks *offline;
	uint64_t seq;    /* of the last one queued */
	size_t n, bytes; /* of the queued ones */
	size_t n_batch;
	bool busy;  /* a batch is being parsed or written */
	bool stale; /* the batch belongs to a lost lease */
	struct loop_timer submit;
	struct arena *spare[SPARE_MAX];
	size_t n_spare;
	struct metric *replaced, *dropped;
};

/* ---- items ---- */

static struct arena *
snapshot_arena_take(struct snapshot_queue *s)
{
	return s->n_spare > 0 ? s->spare[--s->n_spare] : arena_new(ARENA_BYTES);
}

static void
snapshot_item_free(struct snapshot_queue *s, struct snapshot_item *it)
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
snapshot_items_free(struct snapshot_queue *s, struct snapshot_items *list)
{
	struct snapshot_item *it;

	while ((it = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, it, link);
		snapshot_item_free(s, it);
	}
}

static struct str
snapshot_key(struct str terminal, size_t row, char dst[ID_MAX + 2])
{
	(void)snprintf(dst, ID_MAX + 2, "%c%.*s",
	    row == WIRE_TOPIC_SKILLS ? 's' : 'c', STR_ARG(terminal));
	return str_of(dst);
}

static void
snapshot_dequeue(struct snapshot_queue *s, struct snapshot_item *it)
{
	char text[ID_MAX + 2];
	struct str key = snapshot_key(str_of(it->id), it->row, text);

	TAILQ_REMOVE(&s->waiting, it, link);
	s->n--;
	s->bytes -= it->payload.n;
	if (map_get(s->newest, key) == it)
		(void)map_del(s->newest, key);
}

/* ---- worker ---- */

static void
snapshot_parse_batch(void *arg)
{
	struct snapshot_queue *s = arg;
	struct snapshot_item *it;

	TAILQ_FOREACH (it, &s->batch, link) {
		struct str id = str_of(it->id);

		it->rc = it->row == WIRE_TOPIC_SKILLS
		    ? snapshot_parse_skills(s->parser, it->payload, id, it->a,
			  &it->snap, &it->err)
		    : snapshot_parse_catalog(s->parser, it->payload, id, it->a,
			  &it->snap, &it->err);
	}
}

/* ---- writing ---- */

/*
 * Whether it shows that the terminal is present: published live, and the
 * terminal did not go offline since.
 */
static bool
snapshot_shows_presence(
    const struct snapshot_queue *s, const struct snapshot_item *it)
{
	return !it->replayed &&
	    !offline_marks_after(s->offline, str_of(it->id), it->seq);
}

static struct address
snapshot_address(const struct snapshot_item *it)
{
	return (struct address){ .row = it->row, .terminal = str_of(it->id) };
}

static void
snapshot_written(struct snapshot_queue *s, const struct snapshot_item *it,
    const struct terminal_report *t)
{
	struct address a = snapshot_address(it);
	struct wire_err err = { .path = "" };

	if (t->rc == RC_CONFLICT) {
		report_error_rollback(
		    it->row, it->snap.version, t->current, it->snap.bare, &err);
		reports_reject(
		    s->b->reports, &a, WIRE_REFUSAL_OUTCOME_IGNORED, &err);
	}
	if (t->rc != RC_OK)
		return;
	if (t->differs && it->row == WIRE_TOPIC_SKILLS)
		terminal_event_skills(s->b->events, a.terminal, &it->snap);
	else if (t->differs)
		terminal_event_intents(s->b->events, a.terminal, &it->snap);
	if (it->snap.note.why[0] != '\0')
		reports_reject(s->b->reports, &a, WIRE_REFUSAL_OUTCOME_NOTED,
		    &it->snap.note);
}

static void
snapshot_write_batch(struct snapshot_queue *s)
{
	struct terminal_report v[BATCH_MAX];
	struct snapshot_item *good[BATCH_MAX], *it;
	size_t i, n = 0;

	TAILQ_FOREACH (it, &s->batch, link) {
		struct address a = snapshot_address(it);

		if (it->rc != RC_OK) {
			reports_reject(s->b->reports, &a,
			    WIRE_REFUSAL_OUTCOME_REFUSED, &it->err);
			continue;
		}
		good[n] = it;
		v[n++] = (struct terminal_report){
			.kind = it->row == WIRE_TOPIC_SKILLS ? TERMINAL_SKILLS
							     : TERMINAL_CATALOG,
			.id = a.terminal,
			.replayed = !snapshot_shows_presence(s, it),
			.snap = { it->snap.version, it->snap.json,
			    it->snap.hash, it->snap.soul_hint }
		};
	}
	reports_write(s->b->reports, v, n);
	/* The lease may have been lost meanwhile. */
	for (i = 0; i < n && !s->stale; i++)
		snapshot_written(s, good[i], &v[i]);
}

static void snapshot_submit(void *arg);

static void
snapshot_end_batch(struct snapshot_queue *s)
{
	s->busy = false;
	s->stale = false;
	snapshot_items_free(s, &s->batch);
	s->n_batch = 0;
	snapshot_submit(s);
	if (!snapshot_queue_busy(s))
		offline_marks_clear(s->offline);
}

static void
snapshot_fiber(void *arg)
{
	struct snapshot_queue *s = arg;
	struct svc *svc = s->b->svc;

	svc_hold(svc);
	snapshot_write_batch(s);
	snapshot_end_batch(s);
	svc_release(svc);
}

static void
snapshot_parsed(void *arg)
{
	struct snapshot_queue *s = arg;

	if (s->stale)
		snapshot_end_batch(s);
	else
		fiber_start(snapshot_fiber, s);
}

static void
snapshot_submit(void *arg)
{
	struct snapshot_queue *s = arg;
	struct snapshot_item *it;
	size_t bytes = 0;

	if (s->busy)
		return;
	while (s->n_batch < BATCH_MAX && bytes < BATCH_BYTES &&
	    (it = TAILQ_FIRST(&s->waiting)) != NULL) {
		snapshot_dequeue(s, it);
		bytes += it->payload.n;
		TAILQ_INSERT_TAIL(&s->batch, it, link);
		s->n_batch++;
	}
	if (s->n_batch == 0)
		return;
	s->busy = worker_run(s->reader, snapshot_parse_batch, snapshot_parsed,
		      s) == RC_OK;
	if (!s->busy) {
		/* The process is stopping. */
		snapshot_items_free(s, &s->batch);
		s->n_batch = 0;
	}
}

/* ---- messages ---- */

/* False if the queue is full; the broker will send it again. */
static bool
snapshot_make_room(
    struct snapshot_queue *s, const struct address *a, const struct mqtt_msg *m)
{
	static struct log_rate rate;
	char text[ID_MAX + 2];
	struct snapshot_item *older;
	int64_t missed;

	older = s->n >= REPLACE_FROM
	    ? map_get(s->newest, snapshot_key(a->terminal, a->row, text))
	    : NULL;
	if (older != NULL) {
		metric_add(s->replaced, 1);
		snapshot_dequeue(s, older);
		snapshot_item_free(s, older);
	}
	if (s->n < QUEUE_MAX && s->bytes + m->payload.n <= QUEUE_BYTES)
		return true;
	metric_add(s->dropped, 1);
	lease_holder_resubscribe(s->b->lease,
	    a->row == WIRE_TOPIC_SKILLS ? FILTER_SKILLS : FILTER_CATALOG);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.behind", LOG_I("queued", s->n),
		    LOG_I("bytes", s->bytes), LOG_I("missed", missed));
	return false;
}

void
snapshot_queue_add(
    struct snapshot_queue *s, const struct address *a, const struct mqtt_msg *m)
{
	char text[ID_MAX + 2];
	struct snapshot_item *it;

	if (!snapshot_make_room(s, a, m))
		return;
	it = mem_zalloc(sizeof(*it));
	str_copy(a->terminal, it->id, sizeof(it->id));
	it->row = a->row;
	it->seq = ++s->seq;
	it->replayed = m->retain;
	it->a = snapshot_arena_take(s);
	it->payload = arena_str(it->a, m->payload);
	TAILQ_INSERT_TAIL(&s->waiting, it, link);
	s->n++;
	s->bytes += it->payload.n;
	(void)map_put(s->newest, snapshot_key(a->terminal, a->row, text), it);
	/* Deferred, so that a batch contains what else has arrived. */
	loop_timer_set(
	    s->b->loop, &s->submit, clock_mono(), snapshot_submit, s);
}

void
snapshot_queue_offline(struct snapshot_queue *s, struct str terminal)
{
	if (snapshot_queue_busy(s))
		offline_marks_add(s->offline, terminal, s->seq);
}

bool
snapshot_queue_busy(const struct snapshot_queue *s)
{
	return s->busy || s->n > 0;
}

void
snapshot_queue_clear(struct snapshot_queue *s)
{
	struct snapshot_item *it;

	while ((it = TAILQ_FIRST(&s->waiting)) != NULL) {
		snapshot_dequeue(s, it);
		snapshot_item_free(s, it);
	}
	s->stale = s->busy;
}

struct snapshot_queue *
snapshot_queue_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct snapshot_queue *s = mem_zalloc(sizeof(*s));

	s->b = b;
	s->reader = worker_new(b->loop, 1, 1);
	s->parser = snapshot_parser_new((size_t)b->conf->skills_max);
	s->newest = map_new();
	s->offline = offline_marks_new();
	TAILQ_INIT(&s->waiting);
	TAILQ_INIT(&s->batch);
	s->replaced =
	    metric_counter(set, "soul_bridge_snapshots_overtaken_total",
		"Queued snapshots replaced by a newer one.", NULL);
	s->dropped = metric_counter(set, "soul_bridge_snapshots_dropped_total",
	    "Snapshots dropped from a full queue, to be replayed.", NULL);
	return s;
}

void
snapshot_queue_free(struct snapshot_queue *s)
{
	if (s == NULL)
		return;
	snapshot_queue_clear(s);
	loop_timer_cancel(s->b->loop, &s->submit);
	worker_free(s->reader);
	snapshot_items_free(s, &s->batch);
	while (s->n_spare > 0)
		arena_free(s->spare[--s->n_spare]);
	map_free(s->newest);
	offline_marks_free(s->offline);
	snapshot_parser_free(s->parser);
	free(s);
}
