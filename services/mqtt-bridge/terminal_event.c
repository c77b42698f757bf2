#include "terminal_event.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "handlers.h"
#include "svc/audit.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "terminal_limits.h"
#include "wire/subjects.h"

/* Longer outputs are left out of the event; the result has them. */
#define OUTPUT_MAX  16384
#define LOG_EVERY_S 10

/* Limits of denial notices, for all terminals together. */
#define DENIED_PER_S 10
#define DENIED_BURST 20

struct terminal_events {
	struct bridge *b;
	struct event_quota *quota;
	struct notice_window *notices;
	struct rate *denied_rate;
	int64_t missed; /* suppressed notices */
	struct metric *over, *lost;
};

struct terminal_events *
terminal_events_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct terminal_events *t = mem_zalloc(sizeof(*t));

	t->b = b;
	t->quota = event_quota_new();
	t->notices = notice_window_new();
	t->denied_rate = rate_new(DENIED_PER_S, DENIED_BURST, 1);
	t->over = metric_counter(set, "soul_bridge_events_over_quota_total",
	    "Events of terminals that caused too many.", NULL);
	t->lost = metric_counter(set, "soul_bridge_events_lost_total",
	    "Events that could not be sent.", NULL);
	return t;
}

void
terminal_events_free(struct terminal_events *t)
{
	if (t == NULL)
		return;
	event_quota_free(t->quota);
	notice_window_free(t->notices);
	rate_free(t->denied_rate);
	free(t);
}

static void
terminal_event_send(struct terminal_events *t, const struct svc_event *e)
{
	static struct log_rate rate;
	int64_t missed;
	enum rc rc;

	rc = svc_event_send(t->b->svc, e);
	if (rc == RC_OK)
		return;
	metric_add(t->lost, 1);
	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("bridge.event_lost", LOG_S("type", e->type),
		    LOG_V("terminal", e->key), LOG_RC(rc),
		    LOG_I("missed", missed));
}

/* Publish an event that a terminal can cause by itself. */
static void
terminal_event_emit(struct terminal_events *t, const char *type,
    struct str terminal, const struct wire_desc *desc, const void *payload)
{
	const struct svc_event e = {
		.type = type, .key = terminal, .desc = desc, .payload = payload
	};

	if (event_quota_take(t->quota, terminal, clock_mono()))
		terminal_event_send(t, &e);
	else
		metric_add(t->over, 1);
}

void
terminal_event_presence(struct terminal_events *t, struct str terminal,
    bool online, const enum wire_terminal_online_cause *cause)
{
	struct wire_terminal_online m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.online = online };

	if (cause != NULL) {
		m.cause = *cause;
		m.has_cause = true;
	}
	terminal_event_emit(t, WIRE_EVENT_TERMINAL_ONLINE, terminal,
	    &wire_terminal_online_desc, &m);
}

void
terminal_event_skills(
    struct terminal_events *t, struct str terminal, const struct snapshot *s)
{
	const struct wire_terminal_skills m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.skill_version = s->version,
		.skills = s->names,
		.n_skills = s->n_names,
		.soul_hint = s->soul_hint };

	terminal_event_emit(t, WIRE_EVENT_TERMINAL_SKILLS, terminal,
	    &wire_terminal_skills_desc, &m);
}

void
terminal_event_intents(
    struct terminal_events *t, struct str terminal, const struct snapshot *s)
{
	const struct wire_terminal_intents m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.catalog_version = s->version,
		.catalog_hash = s->hash,
		.intents = s->names,
		.n_intents = s->n_names };

	terminal_event_emit(t, WIRE_EVENT_TERMINAL_INTENTS, terminal,
	    &wire_terminal_intents_desc, &m);
}

void
terminal_event_report_error(struct terminal_events *t, struct str terminal,
    const struct wire_refusal *r)
{
	const struct wire_report_refused m = {
		.terminal_id = terminal, .broker = t->b->broker, .refusal = *r
	};

	terminal_event_emit(t, WIRE_EVENT_REPORT_REFUSED, terminal,
	    &wire_report_refused_desc, &m);
}

void
terminal_event_result(struct terminal_events *t, struct str terminal,
    const struct wire_result *r, const struct invoke_context *context)
{
	struct wire_invoke_result m = { .request_id = r->request_id,
		.terminal_id = terminal,
		.outcome = r->ok ? WIRE_INVOKE_RESULT_OUTCOME_OK
				 : WIRE_INVOKE_RESULT_OUTCOME_ERROR,
		.error = r->error };
	const struct svc_event e = { .type = WIRE_EVENT_INVOKE_RESULT,
		.key = terminal,
		.desc = &wire_invoke_result_desc,
		.payload = &m,
		.trace = context != NULL ? &context->trace : NULL,
		.id = r->request_id };

	if (r->output.n <= OUTPUT_MAX)
		m.output = r->output;
	if (context != NULL) {
		m.skill = context->skill;
		m.duration_ms = clock_wall().ms - context->at.ms;
		m.has_duration_ms = m.duration_ms >= 0;
	}
	terminal_event_send(t, &e);
}

void
terminal_event_denied(struct terminal_events *t, struct str terminal,
    const char *topic, const char *reason)
{
	const struct wire_audit e = { .action = WIRE_AUDIT_ACTION_ACCESS_DENIED,
		.has_role = true,
		.role = WIRE_AUDIT_ROLE_TERMINAL,
		.caller_id = terminal,
		.terminal_id = terminal,
		.route = str_of(topic),
		.reason = str_of(reason),
		.has_count = true,
		.count = 1 + t->missed };
	struct mono now = clock_mono();
	struct trace trace;

	/* One terminal alone must not use up the limit of all. */
	if (!notice_window_first(t->notices, terminal, now) ||
	    rate_take(t->denied_rate, STR(""), now) > 0) {
		t->missed++;
		return;
	}
	t->missed = 0;
	trace_new(&trace);
	log_trace_set(trace.trace_id);
	svc_audit(t->b->svc, &e, &trace);
	log_trace_set("");
}
