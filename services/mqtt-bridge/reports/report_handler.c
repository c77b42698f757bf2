/*
 * Reports are queued, and written in order of arrival by one fiber, many in a
 * round trip; heartbeats are batched before (presence/liveness.h).
 */
#include "handlers.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "presence/liveness.h"
#include "reports/report_error.h"
#include "reports/report_pace.h"
#include "reports/report_queue.h"
#include "state/state.h"
#include "svc/svc.h"
#include "terminal_event.h"

/* A terminal times out this long after the TTL. */
#define TIMEOUT_MARGIN_MS 500
#define TIMEOUT_CHECK_MS  500
/* Timeouts handled together. */
#define TIMEOUTS_PER_CHECK 200
#define RETRY_MS           100
#define LOG_EVERY_S        10

/* A fiber that waits for its reports; on its stack. */
struct report_group {
	size_t n; /* not written yet */
	struct fiber *fiber;
	struct loop_deferred wake;
};

struct reports {
	struct bridge *b;
	struct report_queue *queue;
	struct heartbeat_batch *heartbeats;
	size_t n_heartbeats; /* of them, in the queue */
	struct presence_timeout *timeouts;
	struct offline_marks *offline;
	struct soul_copies *copies;
	uint64_t seq;      /* of the last report */
	uint64_t sessions; /* as leader; fibers compare it after waiting */
	struct arena *a;   /* reset for each message */
	struct loop_timer flush, check;
	struct mono retry_at; /* failed heartbeats are not retried before */
	bool checking;        /* a fiber handles timeouts */
	/* What is being written, by one fiber at a time. */
	bool writing;
	struct report_pace pace;
	struct terminal_report v[REPORT_PACE_MAX];
	struct report_entry *batch[REPORT_PACE_MAX];
	size_t n_batch, batch_replays;
	struct metric *written, *rejected, *failed, *batched, *timed_out,
	    *revoked, *queued;
};

static void reports_on_flush(void *arg);

/* ---- the queue ---- */

/* The broker holds back what cannot be written. */
static void
reports_check_room(struct reports *r)
{
	size_t n = report_queue_len(r->queue);

	metric_set(r->queued, (int64_t)n);
	if (n >= REPORT_QUEUE_PAUSE)
		receive_pause(r->b, RECEIVE_REPORTS);
	else if (n <= REPORT_QUEUE_RESUME)
		receive_resume(r->b, RECEIVE_REPORTS);
}

static void
report_group_wake(void *arg)
{
	struct report_group *g = arg;

	fiber_resume(g->fiber);
}

/* The result of e is known: pass it on, and free e. */
static void
report_end(struct reports *r, struct report_entry *e)
{
	struct report_group *g = e->group;

	if (g != NULL) {
		e->result->rc = e->t.rc;
		e->result->present = e->t.present;
		e->result->turned = e->t.turned;
		e->result->differs = e->t.differs;
		e->result->current = e->t.current;
		if (--g->n == 0)
			loop_defer(r->b->loop, &g->wake, report_group_wake, g);
	}
	report_entry_free(e);
}

/* Nothing of it was written, and nothing will be. */
static void
reports_discard(struct reports *r)
{
	struct report_entry *e;

	while ((e = report_queue_take(r->queue, SIZE_MAX)) != NULL) {
		e->t.rc = RC_DOWN;
		report_end(r, e);
	}
	r->n_heartbeats = 0;
	reports_check_room(r);
}

/* ---- results of writes ---- */

/* Topic and subscription of each kind of report; not of rejected ones. */
static const struct {
	size_t row;
	enum report_filter filter;
} report_sources[] = {
	[TERMINAL_ONLINE] = { WIRE_TOPIC_ONLINE, FILTER_ONLINE },
	[TERMINAL_OFFLINE] = { WIRE_TOPIC_ONLINE, FILTER_ONLINE },
	[TERMINAL_HEARTBEAT] = { WIRE_TOPIC_HEARTBEAT, FILTER_HEARTBEAT },
	[TERMINAL_SKILLS] = { WIRE_TOPIC_SKILLS, FILTER_SKILLS },
	[TERMINAL_CATALOG] = { WIRE_TOPIC_INTENT_CATALOG, FILTER_CATALOG },
};

/* The topic of the report; NULL: not known. */
static const char *
report_topic(enum terminal_report_kind kind)
{
	return kind < NELEM(report_sources)
	    ? wire_topics[report_sources[kind].row].name
	    : NULL;
}

/* current: this replica has been leading since it was written. */
static void
report_presence(
    struct reports *r, const struct terminal_report *t, bool current)
{
	enum wire_terminal_online_cause cause = t->kind == TERMINAL_HEARTBEAT
	    ? WIRE_TERMINAL_ONLINE_CAUSE_HEARTBEAT
	    : WIRE_TERMINAL_ONLINE_CAUSE_REPORT;

	/* One that went offline here may be present at another broker. */
	if (current && t->present && t->kind != TERMINAL_OFFLINE)
		presence_timeout_seen(
		    r->timeouts, t->id, clock_mono(), !t->replayed);
	else if (current)
		presence_timeout_remove(r->timeouts, t->id);
	/* MQTT does not distinguish a will from a regular goodbye. */
	if (t->turned)
		terminal_event_presence(r->b->events, t->id, t->present,
		    t->kind == TERMINAL_OFFLINE ? NULL : &cause);
}

/*
 * It is lost.  The broker retains presence and snapshots and is requested to
 * send them again; until then a heartbeat keeps the terminal present.
 */
static void
report_lost(struct reports *r, const struct report_entry *e)
{
	const struct terminal_report *t = &e->t;
	struct mono now = clock_mono();

	metric_add(r->failed, 1);
	r->retry_at = mono_add_ms(now, RETRY_MS);
	if (t->kind == TERMINAL_REJECTION)
		return;
	/* It must not bring back online what went offline since. */
	if (t->kind != TERMINAL_OFFLINE && !t->replayed &&
	    !offline_marks_after(r->offline, t->id, e->seq))
		(void)heartbeat_batch_add(r->heartbeats, t->id, now);
	if (t->kind != TERMINAL_HEARTBEAT)
		lease_holder_resubscribe(
		    r->b->lease, report_sources[t->kind].filter);
}

static void
report_stored(struct reports *r, const struct report_entry *e, bool current)
{
	metric_add(r->written, 1);
	if (e->t.kind == TERMINAL_HEARTBEAT)
		metric_add(r->batched, 1);
	if (e->t.kind != TERMINAL_REJECTION)
		report_presence(r, &e->t, current);
	else if (e->t.rc == RC_OK)
		terminal_event_report_error(
		    r->b->events, e->t.id, &e->details->error.wire);
}

/* True if the write was fenced: another replica leads. */
static bool
report_written(struct reports *r, const struct report_entry *e, bool current)
{
	static struct log_rate rate;
	const struct terminal_report *t = &e->t;
	int64_t missed;

	switch (t->rc) {
	case RC_OK:
	case RC_CONFLICT:
		report_stored(r, e, current);
		break;
	case RC_DENIED:
		return true;
	case RC_NOENT:
		metric_add(r->revoked, 1);
		/* A retained message was not published just now. */
		if (!t->replayed)
			terminal_event_denied(r->b->events, t->id,
			    report_topic(t->kind), "its identity was revoked");
		break;
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
		/* The next leader subscribes to all. */
		if (current)
			report_lost(r, e);
		break;
	default:
		metric_add(r->failed, 1);
		if (log_every(&rate, LOG_EVERY_S, &missed))
			log_error("bridge.record", LOG_V("terminal", t->id),
			    LOG_RC(t->rc), LOG_I("missed", missed));
		break;
	}
	return false;
}

/* ---- writing ---- */

/* Returns the weight of what is to be written. */
static size_t
reports_take_batch(struct reports *r)
{
	struct report_entry *e;
	size_t weight = 0;

	r->n_batch = r->batch_replays = 0;
	while (r->n_batch < REPORT_PACE_MAX && weight < r->pace.weight &&
	    (e = report_queue_take(r->queue,
		 r->n_batch == 0 ? SIZE_MAX : r->pace.weight - weight)) !=
		NULL) {
		weight += report_entry_weight(e);
		if (e->t.kind == TERMINAL_HEARTBEAT)
			r->n_heartbeats--;
		if (e->t.replayed)
			r->batch_replays++;
		r->v[r->n_batch] = e->t;
		r->batch[r->n_batch++] = e;
	}
	reports_check_room(r);
	return weight;
}

/* True if the writes were fenced. */
static bool
reports_end_batch(struct reports *r, bool current)
{
	bool fenced = false;
	size_t i;

	for (i = 0; i < r->n_batch; i++) {
		r->batch[i]->t = r->v[i];
		if (r->v[i].rc == RC_OK || r->v[i].rc == RC_CONFLICT)
			soul_copies_add(r->copies, &r->v[i]);
		if (report_written(r, r->batch[i], current))
			fenced = true;
		report_end(r, r->batch[i]);
	}
	r->n_batch = r->batch_replays = 0;
	if (current && report_queue_len(r->queue) == 0)
		offline_marks_clear(r->offline);
	return fenced;
}

/*
 * Write some of what is queued.  The lease may be lost meanwhile, and even be
 * acquired again: then only events are left to be published.
 */
static enum rc
reports_write_batch(struct reports *r)
{
	const struct terminal_writer w = { .broker = r->b->broker,
		.epoch = lease_holder_epoch(r->b->lease),
		.ttl_ms = r->b->ttl_ms };
	static struct log_rate rate;
	struct mono start = clock_mono();
	uint64_t session = r->sessions;
	size_t weight, n;
	int64_t missed;
	enum rc rc;

	r->writing = true;
	weight = reports_take_batch(r);
	n = r->n_batch;
	rc = terminal_put_reports(
	    r->b->state, &w, r->v, n, soul_copies_begin(r->copies));
	if (rc == RC_OK || rc == RC_TIMEOUT)
		report_pace_took(
		    &r->pace, weight, mono_diff_ns(clock_mono(), start));
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.not_written", LOG_RC(rc), LOG_I("n", n),
		    LOG_I("missed", missed));
	if (reports_end_batch(r, session == r->sessions)) {
		if (session == r->sessions)
			lease_holder_fenced(r->b->lease);
		rc = RC_DENIED;
	}
	soul_copies_write(r->copies);
	r->writing = false;
	return rc;
}

/*
 * Queue one batch of heartbeats at a time: behind all that arrived before them,
 * and not in front of much that arrives later.
 */
static void
reports_queue_heartbeats(struct reports *r)
{
	struct report_entry *v[HEARTBEAT_BATCH_FULL];
	struct str ids[HEARTBEAT_BATCH_FULL];
	size_t i, n, max = HEARTBEAT_BATCH_FULL;

	if (r->n_heartbeats > 0 ||
	    report_queue_len(r->queue) >= REPORT_QUEUE_PAUSE)
		return;
	if (max > REPORT_QUEUE_PAUSE - report_queue_len(r->queue))
		max = REPORT_QUEUE_PAUSE - report_queue_len(r->queue);
	n = heartbeat_batch_list(r->heartbeats, ids, max);
	for (i = 0; i < n; i++)
		v[i] = report_entry_new(TERMINAL_HEARTBEAT, ids[i]);
	for (i = 0; i < n; i++) {
		heartbeat_batch_remove(r->heartbeats, v[i]->t.id);
		v[i]->seq = r->seq;
		if (!report_queue_push(r->queue, v[i]))
			abort();
		r->n_heartbeats++;
	}
}

/* When to write the heartbeats; {0}: there are none. */
static struct mono
reports_heartbeats_due(const struct reports *r)
{
	struct mono at = heartbeat_batch_due(r->heartbeats);

	return at.ns != 0 && mono_diff_ns(r->retry_at, at) > 0 ? r->retry_at
							       : at;
}

static void
reports_schedule_flush(struct reports *r)
{
	struct mono at = reports_heartbeats_due(r);

	if (r->writing)
		return;
	if (report_queue_len(r->queue) > 0)
		at = clock_mono();
	else if (at.ns != 0 && !state_up(r->b->state))
		at = mono_add_ms(clock_mono(), RETRY_MS);
	loop_timer_set(r->b->loop, &r->flush, at, reports_on_flush, r);
}

/* One batch a fiber, so that a draining service can stop between two. */
static void
reports_fiber(void *arg)
{
	struct reports *r = arg;
	struct svc *s = r->b->svc;

	svc_hold(s);
	(void)reports_write_batch(r);
	reports_schedule_flush(r);
	svc_release(s);
}

static void
reports_on_flush(void *arg)
{
	struct reports *r = arg;
	struct mono at = reports_heartbeats_due(r);

	if (r->writing || lease_holder_epoch(r->b->lease) == 0)
		return;
	if (at.ns != 0 && mono_diff_ns(clock_mono(), at) >= 0 &&
	    state_up(r->b->state))
		reports_queue_heartbeats(r);
	if (report_queue_len(r->queue) > 0)
		fiber_start(reports_fiber, r);
	else
		reports_schedule_flush(r);
}

/* False if the queue is full: e is lost, and freed. */
static bool
reports_push(struct reports *r, struct report_entry *e)
{
	bool room;

	e->seq = ++r->seq;
	room = report_queue_push(r->queue, e);
	if (!room) {
		e->t.rc = RC_RETRY;
		report_lost(r, e);
		report_end(r, e);
	}
	reports_check_room(r);
	reports_schedule_flush(r);
	return room;
}

void
reports_write(struct reports *r, struct terminal_report *v, size_t n)
{
	/* One more, until all are queued. */
	struct report_group g = { .n = n + 1, .fiber = fiber_self() };
	struct report_entry *e;
	size_t i;

	for (i = 0; i < n; i++) {
		e = report_entry_new(v[i].kind, v[i].id);
		v[i].rc = RC_DOWN;
		e->t.replayed = v[i].replayed;
		e->t.snap = v[i].snap;
		e->group = &g;
		e->result = &v[i];
		(void)reports_push(r, e);
	}
	if (--g.n > 0)
		fiber_suspend();
}

bool
reports_show_present(const struct reports *r, struct str terminal)
{
	struct mono since = mono_add_ms(clock_mono(), -r->b->ttl_ms);

	return lease_holder_epoch(r->b->lease) != 0 &&
	    presence_timeout_is_seen(r->timeouts, terminal, since);
}

bool
reports_replaying(const struct reports *r)
{
	return r->batch_replays + report_queue_replays(r->queue) > 0;
}

void
reports_retry(struct reports *r)
{
	reports_schedule_flush(r);
}

void
reports_clear(struct reports *r)
{
	r->sessions++;
	reports_discard(r);
	heartbeat_batch_clear(r->heartbeats);
	presence_timeout_clear(r->timeouts);
	soul_copies_clear(r->copies);
	offline_marks_clear(r->offline);
	loop_timer_cancel(r->b->loop, &r->flush);
}

/* ---- messages ---- */

static bool
report_decode(struct reports *r, const struct address *a,
    const struct mqtt_msg *m, void *msg)
{
	struct wire_err err;

	arena_reset(r->a);
	if (wire_decode(wire_topics[a->row].message, m->payload, r->a, msg,
		&err) == RC_OK)
		return true;
	reports_reject(r, a, WIRE_REFUSAL_OUTCOME_REFUSED, &err);
	return false;
}

static bool
report_is_online(enum wire_online_value v)
{
	return v == WIRE_ONLINE_VALUE_ONLINE || v == WIRE_ONLINE_VALUE_TRUE ||
	    v == WIRE_ONLINE_VALUE_1;
}

void
reports_online(
    struct reports *r, const struct address *a, const struct mqtt_msg *m)
{
	struct report_entry *e;
	struct wire_online msg;
	bool online;

	if (!report_decode(r, a, m, &msg))
		return;
	online = report_is_online(msg.value);
	if (!online && !m->retain) {
		/* An earlier heartbeat must not bring it back online. */
		heartbeat_batch_remove(r->heartbeats, a->terminal);
		if (r->writing || report_queue_len(r->queue) > 0)
			offline_marks_add(r->offline, a->terminal, r->seq);
		snapshot_queue_offline(r->b->snapshots, a->terminal);
	}
	e = report_entry_new(
	    online ? TERMINAL_ONLINE : TERMINAL_OFFLINE, a->terminal);
	e->t.replayed = m->retain;
	(void)reports_push(r, e);
}

void
reports_heartbeat(
    struct reports *r, const struct address *a, const struct mqtt_msg *m)
{
	struct wire_heartbeat msg;

	/* A retained heartbeat is old; live ones arrive at once. */
	if ((m->retain && lease_holder_catching_up(r->b->lease)) ||
	    !report_decode(r, a, m, &msg))
		return;
	if (!heartbeat_batch_add(r->heartbeats, a->terminal, clock_mono()))
		metric_add(r->failed, 1);
	reports_schedule_flush(r);
}

static enum terminal_rejection_kind
report_kind_of(enum wire_report_kind kind)
{
	static const enum terminal_rejection_kind kinds[] = {
		[WIRE_REPORT_KIND_ONLINE] = TERMINAL_REJECTED_ONLINE,
		[WIRE_REPORT_KIND_HEARTBEAT] = TERMINAL_REJECTED_HEARTBEAT,
		[WIRE_REPORT_KIND_SKILLS] = TERMINAL_REJECTED_SKILLS,
		[WIRE_REPORT_KIND_INTENT_CATALOG] = TERMINAL_REJECTED_CATALOG,
		[WIRE_REPORT_KIND_RESULT] = TERMINAL_REJECTED_RESULT,
	};

	return kinds[kind];
}

void
reports_reject(struct reports *r, const struct address *a,
    enum wire_refusal_outcome outcome, const struct wire_err *err)
{
	static struct log_rate rate;
	enum wire_report_kind kind;
	struct report_details *details;
	struct report_entry *e;
	int64_t missed;

	if (!report_error_kind(a->row, &kind))
		return;
	metric_add(r->rejected, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.report_rejected",
		    LOG_V("terminal", a->terminal),
		    LOG_S("report", wire_topics[a->row].name),
		    LOG_V("outcome", wire_refusal_outcome_names[outcome]),
		    LOG_S("path", err->path), LOG_S("why", err->why),
		    LOG_I("missed", missed));
	e = report_entry_new(TERMINAL_REJECTION, a->terminal);
	e->details = details = mem_zalloc(sizeof(*details));
	buf_init(&details->json, TERMINAL_JSON_MAX);
	report_error_fill(&details->error, kind, outcome, err, clock_wall());
	if (wire_encode(&wire_refusal_desc, &details->error.wire,
		&details->json, NULL) != RC_OK) {
		log_error(
		    "bridge.report_error", LOG_V("terminal", a->terminal));
		report_entry_free(e);
		return;
	}
	e->t.rejection = (struct terminal_rejection){ report_kind_of(kind),
		buf_str(&details->json) };
	(void)reports_push(r, e);
}

/* ---- timeouts ---- */

struct timeout_check {
	struct reports *r;
	char id[ID_MAX + 1];
};

static void
reports_time_out(void *arg)
{
	const struct timeout_check c = *(const struct timeout_check *)arg;
	const struct str anywhere = { NULL, 0 };
	enum wire_terminal_online_cause cause =
	    WIRE_TERMINAL_ONLINE_CAUSE_TIMEOUT;
	struct bridge *b = c.r->b;
	bool here;

	/* It may have moved to another broker. */
	if (terminal_is_reachable(
		b->state, str_of(c.id), anywhere, b->ttl_ms, &here) != RC_OK ||
	    here)
		return;
	metric_add(c.r->timed_out, 1);
	terminal_event_presence(b->events, str_of(c.id), false, &cause);
}

/* At the same time, so that they share a round trip. */
static void
reports_check_fiber(void *arg)
{
	struct reports *r = arg;
	struct svc *s = r->b->svc;
	struct mono before =
	    mono_add_ms(clock_mono(), -(r->b->ttl_ms + TIMEOUT_MARGIN_MS));
	struct fiber_group g = { 0 };
	struct timeout_check c = { .r = r };
	int i;

	svc_hold(s);
	r->checking = true;
	for (i = 0; i < TIMEOUTS_PER_CHECK && state_up(r->b->state) &&
	     presence_timeout_expired(r->timeouts, before, c.id);
	     i++) {
		soul_copies_forget(r->copies, str_of(c.id));
		fiber_group_start(&g, reports_time_out, &c);
	}
	fiber_group_wait(&g);
	r->checking = false;
	svc_release(s);
}

static void
reports_check_timeouts(void *arg)
{
	struct reports *r = arg;

	loop_timer_set(r->b->loop, &r->check,
	    mono_add_ms(clock_mono(), TIMEOUT_CHECK_MS), reports_check_timeouts,
	    r);
	if (!r->checking)
		fiber_start(reports_check_fiber, r);
}

/* ---- start and stop ---- */

struct reports *
reports_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct reports *r = mem_zalloc(sizeof(*r));

	r->b = b;
	r->queue = report_queue_new();
	r->pace = (struct report_pace)REPORT_PACE_INIT;
	r->heartbeats = heartbeat_batch_new();
	r->offline = offline_marks_new();
	r->timeouts = presence_timeout_new();
	r->copies = soul_copies_new(b);
	r->a = arena_new(WIRE_ARENA_MAX);
	r->written = metric_counter(set, "soul_bridge_reports_total",
	    "Reports written to Redis, heartbeats included.", NULL);
	r->rejected = metric_counter(set, "soul_bridge_reports_refused_total",
	    "Reports rejected, ignored, or counted in part.", NULL);
	r->failed = metric_counter(set, "soul_bridge_reports_failed_total",
	    "Reports that could not be written at the first attempt.", NULL);
	r->batched = metric_counter(set, "soul_bridge_heartbeats_total",
	    "Heartbeats written, one per terminal and batch.", NULL);
	r->revoked = metric_counter(set, "soul_bridge_reports_revoked_total",
	    "Reports of terminals whose identity was revoked.", NULL);
	r->queued = metric_gauge(set, "soul_bridge_queued",
	    "Reports that wait until they are written to Redis.", NULL);
	r->timed_out = metric_counter(
	    set, "soul_bridge_silent_total", "Terminals that timed out.", NULL);
	reports_check_timeouts(r);
	return r;
}

void
reports_free(struct reports *r)
{
	if (r == NULL)
		return;
	do
		reports_queue_heartbeats(r);
	while (lease_holder_epoch(r->b->lease) != 0 &&
	    report_queue_len(r->queue) > 0 && reports_write_batch(r) == RC_OK);
	loop_timer_cancel(r->b->loop, &r->flush);
	loop_timer_cancel(r->b->loop, &r->check);
	reports_discard(r);
	report_queue_free(r->queue);
	heartbeat_batch_free(r->heartbeats);
	presence_timeout_free(r->timeouts);
	soul_copies_free(r->copies);
	offline_marks_free(r->offline);
	arena_free(r->a);
	free(r);
}
