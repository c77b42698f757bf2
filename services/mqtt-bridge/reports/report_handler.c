/*
 * Reports are queued until the end of the current turn of the loop and written
 * in one round trip, in order of arrival; heartbeats are batched for longer
 * (presence/liveness.h).
 */
#include "handlers.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "presence/liveness.h"
#include "reports/report_error.h"
#include "state/state.h"
#include "svc/svc.h"
#include "terminal_event.h"

/* Reports in the queue. */
#define QUEUE_MAX 512
/* A terminal times out this long after the TTL. */
#define TIMEOUT_MARGIN_MS 500
#define TIMEOUT_CHECK_MS  500
/* Timeouts handled in one go. */
#define TIMEOUTS_PER_CHECK 200
#define RETRY_MS           100
#define LOG_EVERY_S        10

/* What the struct terminal_report of a queued report points to. */
struct report_details {
	char id[ID_MAX + 1];
	struct buf json;           /* of a rejected report */
	struct report_error error; /* likewise */
};

struct reports {
	struct bridge *b;
	struct terminal_report v[QUEUE_MAX];
	struct report_details *details[QUEUE_MAX];
	size_t n;
	struct heartbeat_batch *heartbeats;
	struct presence_timeout *timeouts;
	struct arena *a; /* reset for each message */
	struct loop_timer flush, check;
	struct mono retry_at; /* failed heartbeats are not retried before */
	struct metric *written, *rejected, *failed, *batched, *timed_out,
	    *revoked;
};

static void reports_on_flush(void *arg);

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

static void
report_presence(struct reports *r, const struct terminal_report *t)
{
	enum wire_terminal_online_cause cause = t->kind == TERMINAL_HEARTBEAT
	    ? WIRE_TERMINAL_ONLINE_CAUSE_HEARTBEAT
	    : WIRE_TERMINAL_ONLINE_CAUSE_REPORT;

	if (t->present)
		presence_timeout_seen(r->timeouts, t->id, clock_mono());
	else
		presence_timeout_remove(r->timeouts, t->id);
	/* MQTT does not distinguish a will from a regular goodbye. */
	if (t->turned)
		terminal_event_presence(r->b->events, t->id, t->present,
		    t->kind == TERMINAL_OFFLINE ? NULL : &cause);
}

/*
 * A write failed.  The broker retains presence and snapshots and is asked to
 * send them again; until then a heartbeat keeps the terminal present.
 */
static void
report_failed(struct reports *r, const struct terminal_report *t)
{
	struct mono now = clock_mono();

	metric_add(r->failed, 1);
	r->retry_at = mono_add_ms(now, RETRY_MS);
	if (t->kind == TERMINAL_OFFLINE)
		heartbeat_batch_remove(r->heartbeats, t->id);
	else if (!t->replayed && t->kind != TERMINAL_REJECTION)
		(void)heartbeat_batch_add(r->heartbeats, t->id, now);
	if (t->kind != TERMINAL_REJECTION && t->kind != TERMINAL_HEARTBEAT)
		lease_holder_resubscribe(
		    r->b->lease, report_sources[t->kind].filter);
}

/* True if the write was fenced: another replica leads. */
static bool
report_written(struct reports *r, const struct terminal_report *t)
{
	static struct log_rate rate;
	int64_t missed;

	switch (t->rc) {
	case RC_OK:
	case RC_CONFLICT:
		metric_add(r->written, 1);
		if (t->kind != TERMINAL_REJECTION)
			report_presence(r, t);
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
		report_failed(r, t);
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

/* False if the writes were fenced. */
static bool
reports_put(struct reports *r, struct terminal_report *v, size_t n)
{
	const struct terminal_writer w = { .broker = r->b->broker,
		.epoch = lease_holder_epoch(r->b->lease),
		.ttl_ms = r->b->ttl_ms };
	static struct log_rate rate;
	bool fenced = false, blocks;
	int64_t missed;
	enum rc rc;
	size_t i;

	/* The queue may be full in a fiber, and must not be written twice. */
	blocks = state_set_blocks(r->b->state, true);
	rc = terminal_put_reports(r->b->state, &w, v, n);
	(void)state_set_blocks(r->b->state, blocks);
	for (i = 0; i < n; i++)
		if (report_written(r, &v[i]))
			fenced = true;
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.not_written", LOG_RC(rc), LOG_I("n", n),
		    LOG_I("missed", missed));
	if (fenced)
		lease_holder_fenced(r->b->lease);
	return !fenced;
}

static void
reports_discard(struct reports *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		buf_free(&r->details[i]->json);
		free(r->details[i]);
	}
	r->n = 0;
}

static void
reports_flush(struct reports *r)
{
	size_t i;

	if (r->n == 0)
		return;
	if (reports_put(r, r->v, r->n))
		for (i = 0; i < r->n; i++)
			if (r->v[i].kind == TERMINAL_REJECTION &&
			    r->v[i].rc == RC_OK)
				terminal_event_report_error(r->b->events,
				    r->v[i].id, &r->details[i]->error.wire);
	reports_discard(r);
}

static void
reports_flush_heartbeats(struct reports *r)
{
	struct terminal_report v[HEARTBEAT_BATCH_FULL];
	struct str ids[HEARTBEAT_BATCH_FULL];
	size_t i, n;

	n = heartbeat_batch_list(r->heartbeats, ids, HEARTBEAT_BATCH_FULL);
	for (i = 0; i < n; i++)
		v[i] = (struct terminal_report){ .kind = TERMINAL_HEARTBEAT,
			.id = ids[i] };
	if (!reports_put(r, v, n))
		return;
	metric_add(r->batched, (int64_t)n);
	/* Failed ones have been added again and stay. */
	for (i = 0; i < n; i++)
		if (v[i].rc != RC_DOWN && v[i].rc != RC_TIMEOUT &&
		    v[i].rc != RC_RETRY)
			heartbeat_batch_remove(r->heartbeats, ids[i]);
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

	if (r->n > 0)
		at = clock_mono();
	else if (at.ns != 0 && !state_up(r->b->state))
		at = mono_add_ms(clock_mono(), RETRY_MS);
	loop_timer_set(r->b->loop, &r->flush, at, reports_on_flush, r);
}

static void
reports_on_flush(void *arg)
{
	struct reports *r = arg;
	struct mono at;

	reports_flush(r);
	at = reports_heartbeats_due(r);
	if (at.ns != 0 && mono_diff_ns(clock_mono(), at) >= 0 &&
	    state_up(r->b->state))
		reports_flush_heartbeats(r);
	reports_schedule_flush(r);
}

void
reports_write(struct reports *r, struct terminal_report *v, size_t n)
{
	reports_flush(r);
	if (lease_holder_epoch(r->b->lease) != 0)
		(void)reports_put(r, v, n);
	reports_schedule_flush(r);
}

bool
reports_show_present(const struct reports *r, struct str terminal)
{
	struct mono since = mono_add_ms(clock_mono(), -r->b->ttl_ms);

	return lease_holder_epoch(r->b->lease) != 0 &&
	    presence_timeout_is_seen(r->timeouts, terminal, since);
}

void
reports_retry(struct reports *r)
{
	reports_schedule_flush(r);
}

void
reports_clear(struct reports *r)
{
	reports_discard(r);
	heartbeat_batch_clear(r->heartbeats);
	presence_timeout_clear(r->timeouts);
	loop_timer_cancel(r->b->loop, &r->flush);
}

/* ---- messages ---- */

/* Append to the queue a report with kind and id set. */
static struct terminal_report *
reports_append(struct reports *r, enum terminal_report_kind kind, struct str id)
{
	struct terminal_report *t;
	struct report_details *details;

	if (r->n == QUEUE_MAX)
		reports_flush(r);
	details = mem_zalloc(sizeof(*details));
	buf_init(&details->json, TERMINAL_JSON_MAX);
	str_copy(id, details->id, sizeof(details->id));
	t = &r->v[r->n];
	*t =
	    (struct terminal_report){ .kind = kind, .id = str_of(details->id) };
	r->details[r->n++] = details;
	reports_schedule_flush(r);
	return t;
}

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
	struct terminal_report *t;
	struct wire_online msg;
	bool online;

	if (!report_decode(r, a, m, &msg))
		return;
	online = report_is_online(msg.value);
	if (!online && !m->retain) {
		/* An earlier heartbeat must not bring it back online. */
		heartbeat_batch_remove(r->heartbeats, a->terminal);
		snapshot_queue_offline(r->b->snapshots, a->terminal);
	}
	t = reports_append(
	    r, online ? TERMINAL_ONLINE : TERMINAL_OFFLINE, a->terminal);
	t->replayed = m->retain;
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
	struct terminal_report *t;
	struct report_details *details;
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
	t = reports_append(r, TERMINAL_REJECTION, a->terminal);
	details = r->details[r->n - 1];
	report_error_fill(&details->error, kind, outcome, err, clock_wall());
	if (wire_encode(&wire_refusal_desc, &details->error.wire,
		&details->json, NULL) == RC_OK) {
		t->rejection =
		    (struct terminal_rejection){ report_kind_of(kind),
			    buf_str(&details->json) };
		return;
	}
	log_error("bridge.report_error", LOG_V("terminal", a->terminal));
	buf_free(&details->json);
	free(details);
	r->n--;
}

/* ---- timeouts ---- */

static void
reports_check_timeouts(void *arg)
{
	struct reports *r = arg;
	const struct str anywhere = { NULL, 0 };
	struct mono before =
	    mono_add_ms(clock_mono(), -(r->b->ttl_ms + TIMEOUT_MARGIN_MS));
	enum wire_terminal_online_cause cause =
	    WIRE_TERMINAL_ONLINE_CAUSE_TIMEOUT;
	char id[ID_MAX + 1];
	bool here;
	int i;

	loop_timer_set(r->b->loop, &r->check,
	    mono_add_ms(clock_mono(), TIMEOUT_CHECK_MS), reports_check_timeouts,
	    r);
	for (i = 0; i < TIMEOUTS_PER_CHECK && state_up(r->b->state) &&
	     presence_timeout_expired(r->timeouts, before, id);
	     i++) {
		/* It may have moved to another broker. */
		if (terminal_is_reachable(r->b->state, str_of(id), anywhere,
			r->b->ttl_ms, &here) != RC_OK ||
		    here)
			continue;
		metric_add(r->timed_out, 1);
		terminal_event_presence(
		    r->b->events, str_of(id), false, &cause);
	}
}

/* ---- start and stop ---- */

struct reports *
reports_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct reports *r = mem_zalloc(sizeof(*r));

	r->b = b;
	r->heartbeats = heartbeat_batch_new();
	r->timeouts = presence_timeout_new();
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
	if (lease_holder_epoch(r->b->lease) != 0) {
		reports_flush(r);
		if (heartbeat_batch_len(r->heartbeats) > 0)
			reports_flush_heartbeats(r);
	}
	loop_timer_cancel(r->b->loop, &r->flush);
	loop_timer_cancel(r->b->loop, &r->check);
	reports_discard(r);
	heartbeat_batch_free(r->heartbeats);
	presence_timeout_free(r->timeouts);
	arena_free(r->a);
	free(r);
}
