/*
 * From messages to the terminals' records, and to events.
 */
#include "on_report.h"

#include <stdlib.h>

#include "beats.h"
#include "bridge.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "mqtt/mqtt.h"
#include "on_lease.h"
#include "on_snapshot.h"
#include "pulse.h"
#include "refusal.h"
#include "state/state.h"
#include "svc/svc.h"
#include "tell.h"

/* Reports that wait at one time. */
#define WAITING_MAX 512
/* A silence must be longer than the time to live by that to be told. */
#define SILENCE_MORE_MS 500
#define SILENCE_LOOK_MS 500
/* Silent bodies looked at in one go. */
#define SILENT_MAX  200
#define RETRY_MS    100
#define LOG_EVERY_S 10

/* A report that waits: what its struct terminal_report points to. */
struct waiting {
	char id[ID_MAX + 1];
	struct buf json;        /* of a refusal */
	struct refusal refusal; /* likewise */
};

struct reports {
	struct bridge *b;
	struct terminal_report v[WAITING_MAX];
	struct waiting *more[WAITING_MAX];
	size_t n;
	struct beats *beats;
	struct pulse *pulse;
	struct arena *a; /* of a message */
	struct loop_timer flush, look;
	struct mono again; /* beats that failed are not tried before */
	struct metric *written, *refused, *failed, *beaten, *silent, *revoked;
};

static void flush(void *arg);

/* ---- what follows from a write ------------------------------------------- */

static enum lead_filter
filter_of(enum terminal_report_kind kind)
{
	switch (kind) {
	case TERMINAL_SKILLS:
		return LEAD_SKILLS;
	case TERMINAL_CATALOG:
		return LEAD_CATALOG;
	case TERMINAL_HEARTBEAT:
		return LEAD_HEARTBEAT;
	default:
		return LEAD_ONLINE;
	}
}

/* Where it was said; NULL: not known any more. */
static const char *
topic_of(enum terminal_report_kind kind)
{
	static const size_t rows[] = {
		[TERMINAL_ONLINE] = WIRE_TOPIC_ONLINE,
		[TERMINAL_OFFLINE] = WIRE_TOPIC_ONLINE,
		[TERMINAL_HEARTBEAT] = WIRE_TOPIC_HEARTBEAT,
		[TERMINAL_SKILLS] = WIRE_TOPIC_SKILLS,
		[TERMINAL_CATALOG] = WIRE_TOPIC_INTENT_CATALOG,
	};

	return kind < NELEM(rows) ? wire_topics[rows[kind]].name : NULL;
}

static void
presence(struct reports *r, const struct terminal_report *t)
{
	enum wire_terminal_online_cause cause = t->kind == TERMINAL_HEARTBEAT
	    ? WIRE_TERMINAL_ONLINE_CAUSE_HEARTBEAT
	    : WIRE_TERMINAL_ONLINE_CAUSE_REPORT;

	if (t->present)
		pulse_seen(r->pulse, t->id, clock_mono());
	else
		pulse_gone(r->pulse, t->id);
	/* MQTT does not tell a will from a farewell. */
	if (t->turned)
		tell_presence(r->b->telling, t->id, t->present,
		    t->kind == TERMINAL_OFFLINE ? NULL : &cause);
}

/*
 * It could not be written now.  What it said of the body the broker keeps, and
 * sends again; that the body lives is said by a heartbeat in its place.
 */
static void
failed(struct reports *r, const struct terminal_report *t)
{
	struct mono now = clock_mono();

	metric_add(r->failed, 1);
	r->again = mono_add_ms(now, RETRY_MS);
	if (t->kind == TERMINAL_OFFLINE)
		beats_drop(r->beats, t->id);
	else if (!t->replayed && t->kind != TERMINAL_REJECTION)
		(void)beats_add(r->beats, t->id, now);
	if (t->kind != TERMINAL_REJECTION && t->kind != TERMINAL_HEARTBEAT)
		leading_again(r->b->leading, filter_of(t->kind));
}

/* True if another replica leads. */
static bool
settle(struct reports *r, const struct terminal_report *t)
{
	static struct log_rate rate;
	int64_t missed;

	switch (t->rc) {
	case RC_OK:
	case RC_CONFLICT:
		metric_add(r->written, 1);
		if (t->kind != TERMINAL_REJECTION)
			presence(r, t);
		break;
	case RC_DENIED:
		return true;
	case RC_NOENT:
		metric_add(r->revoked, 1);
		/* What the broker kept nobody says now. */
		if (!t->replayed)
			tell_denied(r->b->telling, t->id, topic_of(t->kind),
			    "its identity was revoked");
		break;
	case RC_DOWN:
	case RC_TIMEOUT:
	case RC_RETRY:
		failed(r, t);
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

/* ---- writing ------------------------------------------------------------- */

/* Whether the epoch they were written under still counts. */
static bool
put(struct reports *r, struct terminal_report *v, size_t n)
{
	const struct terminal_writer w = { .broker = r->b->broker,
		.epoch = leading_epoch(r->b->leading),
		.ttl_ms = r->b->ttl_ms };
	static struct log_rate rate;
	bool fenced = false;
	int64_t missed;
	enum rc rc;
	size_t i;

	rc = terminal_put_reports(r->b->state, &w, v, n);
	for (i = 0; i < n; i++)
		if (settle(r, &v[i]))
			fenced = true;
	if (rc != RC_OK && log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.not_written", LOG_RC(rc), LOG_I("n", n),
		    LOG_I("missed", missed));
	if (fenced)
		leading_fenced(r->b->leading);
	return !fenced;
}

static void
forget_waiting(struct reports *r)
{
	size_t i;

	for (i = 0; i < r->n; i++) {
		buf_free(&r->more[i]->json);
		free(r->more[i]);
	}
	r->n = 0;
}

static void
flush_waiting(struct reports *r)
{
	size_t i;

	if (r->n == 0)
		return;
	if (put(r, r->v, r->n))
		for (i = 0; i < r->n; i++)
			if (r->v[i].kind == TERMINAL_REJECTION &&
			    r->v[i].rc == RC_OK)
				tell_refused(r->b->telling, r->v[i].id,
				    &r->more[i]->refusal.wire);
	forget_waiting(r);
}

static void
flush_beats(struct reports *r)
{
	struct terminal_report v[BEATS_DUE];
	struct str ids[BEATS_DUE];
	size_t i, n;

	n = beats_list(r->beats, ids, BEATS_DUE);
	for (i = 0; i < n; i++)
		v[i] = (struct terminal_report){ .kind = TERMINAL_HEARTBEAT,
			.id = ids[i] };
	if (!put(r, v, n))
		return;
	metric_add(r->beaten, (int64_t)n);
	/* Those that failed are there again, with their names. */
	for (i = 0; i < n; i++)
		if (v[i].rc != RC_DOWN && v[i].rc != RC_TIMEOUT &&
		    v[i].rc != RC_RETRY)
			beats_drop(r->beats, ids[i]);
}

/* When the heartbeats are to be written; {0}: there is none. */
static struct mono
due(const struct reports *r)
{
	struct mono at = beats_due(r->beats);

	return at.ns != 0 && mono_diff_ns(r->again, at) > 0 ? r->again : at;
}

static void
flush_later(struct reports *r)
{
	struct mono at = due(r);

	if (r->n > 0)
		at = clock_mono();
	else if (at.ns != 0 && !state_up(r->b->state))
		at = mono_add_ms(clock_mono(), RETRY_MS);
	loop_timer_set(r->b->loop, &r->flush, at, flush, r);
}

static void
flush(void *arg)
{
	struct reports *r = arg;
	struct mono at;

	flush_waiting(r);
	at = due(r);
	if (at.ns != 0 && mono_diff_ns(clock_mono(), at) >= 0 &&
	    state_up(r->b->state))
		flush_beats(r);
	flush_later(r);
}

void
reports_write(struct reports *r, struct terminal_report *v, size_t n)
{
	flush_waiting(r);
	if (leading_epoch(r->b->leading) != 0)
		(void)put(r, v, n);
	flush_later(r);
}

void
reports_retry(struct reports *r)
{
	flush_later(r);
}

void
reports_clear(struct reports *r)
{
	forget_waiting(r);
	beats_clear(r->beats);
	pulse_clear(r->pulse);
	loop_timer_cancel(r->b->loop, &r->flush);
}

/* ---- messages ------------------------------------------------------------ */

/* The next place; its kind and id are set. */
static struct terminal_report *
wait_for_turn(struct reports *r, enum terminal_report_kind kind, struct str id)
{
	struct terminal_report *t;
	struct waiting *more;

	if (r->n == WAITING_MAX)
		flush_waiting(r);
	more = mem_zalloc(sizeof(*more));
	buf_init(&more->json, TERMINAL_JSON_MAX);
	str_copy(id, more->id, sizeof(more->id));
	t = &r->v[r->n];
	*t = (struct terminal_report){ .kind = kind, .id = str_of(more->id) };
	r->more[r->n++] = more;
	flush_later(r);
	return t;
}

static bool
read_text(struct reports *r, const struct address *a, const struct mqtt_msg *m,
    void *msg)
{
	struct wire_err err;

	arena_reset(r->a);
	if (wire_decode(wire_topics[a->row].message, m->payload, r->a, msg,
		&err) == RC_OK)
		return true;
	reports_refuse(r, a, WIRE_REFUSAL_OUTCOME_REFUSED, &err);
	return false;
}

static bool
is_online(enum wire_online_value v)
{
	return v == WIRE_ONLINE_VALUE_ONLINE || v == WIRE_ONLINE_VALUE_TRUE ||
	    v == WIRE_ONLINE_VALUE_1;
}

void
on_online(struct reports *r, const struct address *a, const struct mqtt_msg *m)
{
	struct terminal_report *t;
	struct wire_online msg;
	bool online;

	if (!read_text(r, a, m, &msg))
		return;
	online = is_online(msg.value);
	if (!online && !m->retain) {
		/* What it said before must not bring it back. */
		beats_drop(r->beats, a->terminal);
		snapshots_left(r->b->snapshots, a->terminal);
	}
	t = wait_for_turn(
	    r, online ? TERMINAL_ONLINE : TERMINAL_OFFLINE, a->terminal);
	t->replayed = m->retain;
}

void
on_heartbeat(
    struct reports *r, const struct address *a, const struct mqtt_msg *m)
{
	struct wire_heartbeat msg;

	/* One that was kept says nothing of today; later ones come at once. */
	if ((m->retain && leading_catching_up(r->b->leading)) ||
	    !read_text(r, a, m, &msg))
		return;
	if (!beats_add(r->beats, a->terminal, clock_mono()))
		metric_add(r->failed, 1);
	flush_later(r);
}

static enum terminal_rejection_kind
said_of(enum wire_report_kind kind)
{
	static const enum terminal_rejection_kind said[] = {
		[WIRE_REPORT_KIND_ONLINE] = TERMINAL_REJECTED_ONLINE,
		[WIRE_REPORT_KIND_HEARTBEAT] = TERMINAL_REJECTED_HEARTBEAT,
		[WIRE_REPORT_KIND_SKILLS] = TERMINAL_REJECTED_SKILLS,
		[WIRE_REPORT_KIND_INTENT_CATALOG] = TERMINAL_REJECTED_CATALOG,
		[WIRE_REPORT_KIND_RESULT] = TERMINAL_REJECTED_RESULT,
	};

	return said[kind];
}

void
reports_refuse(struct reports *r, const struct address *a,
    enum wire_refusal_outcome outcome, const struct wire_err *err)
{
	static struct log_rate rate;
	enum wire_report_kind kind;
	struct terminal_report *t;
	struct waiting *more;
	int64_t missed;

	if (!refusal_kind(a->row, &kind))
		return;
	metric_add(r->refused, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.report_refused",
		    LOG_V("terminal", a->terminal),
		    LOG_S("report", wire_topics[a->row].name),
		    LOG_V("outcome", wire_refusal_outcome_names[outcome]),
		    LOG_S("path", err->path), LOG_S("why", err->why),
		    LOG_I("missed", missed));
	t = wait_for_turn(r, TERMINAL_REJECTION, a->terminal);
	more = r->more[r->n - 1];
	refusal_fill(&more->refusal, kind, outcome, err, clock_wall());
	if (wire_encode(&wire_refusal_desc, &more->refusal.wire, &more->json,
		NULL) == RC_OK) {
		t->rejection = (struct terminal_rejection){ said_of(kind),
			buf_str(&more->json) };
		return;
	}
	log_error("bridge.refusal", LOG_V("terminal", a->terminal));
	buf_free(&more->json);
	free(more);
	r->n--;
}

/* ---- silence ------------------------------------------------------------- */

static void
look(void *arg)
{
	struct reports *r = arg;
	const struct str anywhere = { NULL, 0 };
	struct mono before =
	    mono_add_ms(clock_mono(), -(r->b->ttl_ms + SILENCE_MORE_MS));
	enum wire_terminal_online_cause cause =
	    WIRE_TERMINAL_ONLINE_CAUSE_TIMEOUT;
	char id[ID_MAX + 1];
	bool here;
	int i;

	loop_timer_set(r->b->loop, &r->look,
	    mono_add_ms(clock_mono(), SILENCE_LOOK_MS), look, r);
	for (i = 0; i < SILENT_MAX && state_up(r->b->state) &&
	     pulse_silent(r->pulse, before, id);
	     i++) {
		/* It may have gone to another broker. */
		if (terminal_is_reachable(r->b->state, str_of(id), anywhere,
			r->b->ttl_ms, &here) != RC_OK ||
		    here)
			continue;
		metric_add(r->silent, 1);
		tell_presence(r->b->telling, str_of(id), false, &cause);
	}
}

/* ---- start and end ------------------------------------------------------- */

struct reports *
reports_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct reports *r = mem_zalloc(sizeof(*r));

	r->b = b;
	r->beats = beats_new();
	r->pulse = pulse_new();
	r->a = arena_new(WIRE_ARENA_MAX);
	r->written = metric_counter(set, "soul_bridge_reports_total",
	    "Reports of bodies that were written, heartbeats together.", NULL);
	r->refused = metric_counter(set, "soul_bridge_reports_refused_total",
	    "Reports of bodies that did not count in full.", NULL);
	r->failed = metric_counter(set, "soul_bridge_reports_failed_total",
	    "Reports that could not be written when they came.", NULL);
	r->beaten = metric_counter(set, "soul_bridge_heartbeats_total",
	    "Heartbeats written, those of one body in one write.", NULL);
	r->revoked = metric_counter(set, "soul_bridge_reports_revoked_total",
	    "Reports of bodies whose identity was revoked.", NULL);
	r->silent = metric_counter(set, "soul_bridge_silent_total",
	    "Bodies that fell silent without taking their leave.", NULL);
	look(r);
	return r;
}

void
reports_free(struct reports *r)
{
	if (r == NULL)
		return;
	if (leading_epoch(r->b->leading) != 0) {
		flush_waiting(r);
		if (beats_len(r->beats) > 0)
			flush_beats(r);
	}
	loop_timer_cancel(r->b->loop, &r->flush);
	loop_timer_cancel(r->b->loop, &r->look);
	forget_waiting(r);
	beats_free(r->beats);
	pulse_free(r->pulse);
	arena_free(r->a);
	free(r);
}
