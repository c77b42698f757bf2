/*
 * Filling in events and sending them.
 */
#include "tell.h"

#include <stdlib.h>

#include "bridge.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rate.h"
#include "once.h"
#include "quota.h"
#include "svc/audit.h"
#include "svc/event.h"
#include "svc/svc.h"
#include "wire/subjects.h"

/* An output beyond that stays out of the stream; it is in the result. */
#define OUTPUT_MAX  16384
#define LOG_EVERY_S 10

/* Denials that are told of all bodies. */
#define DENIED_PER_S 10
#define DENIED_BURST 20

struct telling {
	struct bridge *b;
	struct quota *quota;
	struct once *denied;
	struct rate *denials;
	int64_t missed; /* denials that were not told */
	struct metric *over, *lost;
};

struct telling *
telling_new(struct bridge *b)
{
	struct metric_set *set = svc_metrics(b->svc);
	struct telling *t = mem_zalloc(sizeof(*t));

	t->b = b;
	t->quota = quota_new();
	t->denied = once_new();
	t->denials = rate_new(DENIED_PER_S, DENIED_BURST, 1);
	t->over = metric_counter(set, "soul_bridge_events_over_quota_total",
	    "Events of terminals that caused too many.", NULL);
	t->lost = metric_counter(set, "soul_bridge_events_lost_total",
	    "Events that could not be sent.", NULL);
	return t;
}

void
telling_free(struct telling *t)
{
	if (t == NULL)
		return;
	quota_free(t->quota);
	once_free(t->denied);
	rate_free(t->denials);
	free(t);
}

static void
send_event(struct telling *t, const struct svc_event *e)
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

/* An event that a terminal can cause by itself. */
static void
tell(struct telling *t, const char *type, struct str terminal,
    const struct wire_desc *desc, const void *payload)
{
	const struct svc_event e = {
		.type = type, .key = terminal, .desc = desc, .payload = payload
	};

	if (quota_take(t->quota, terminal, clock_mono()))
		send_event(t, &e);
	else
		metric_add(t->over, 1);
}

void
tell_presence(struct telling *t, struct str terminal, bool online,
    const enum wire_terminal_online_cause *cause)
{
	struct wire_terminal_online m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.online = online };

	if (cause != NULL) {
		m.cause = *cause;
		m.has_cause = true;
	}
	tell(t, WIRE_EVENT_TERMINAL_ONLINE, terminal,
	    &wire_terminal_online_desc, &m);
}

void
tell_skills(struct telling *t, struct str terminal, const struct snapshot *s)
{
	const struct wire_terminal_skills m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.skill_version = s->version,
		.skills = s->names,
		.n_skills = s->n_names,
		.soul_hint = s->soul_hint };

	tell(t, WIRE_EVENT_TERMINAL_SKILLS, terminal,
	    &wire_terminal_skills_desc, &m);
}

void
tell_intents(struct telling *t, struct str terminal, const struct snapshot *s)
{
	const struct wire_terminal_intents m = { .terminal_id = terminal,
		.broker = t->b->broker,
		.catalog_version = s->version,
		.catalog_hash = s->hash,
		.intents = s->names,
		.n_intents = s->n_names };

	tell(t, WIRE_EVENT_TERMINAL_INTENTS, terminal,
	    &wire_terminal_intents_desc, &m);
}

void
tell_refused(
    struct telling *t, struct str terminal, const struct wire_refusal *r)
{
	const struct wire_report_refused m = {
		.terminal_id = terminal, .broker = t->b->broker, .refusal = *r
	};

	tell(t, WIRE_EVENT_REPORT_REFUSED, terminal, &wire_report_refused_desc,
	    &m);
}

void
tell_result(struct telling *t, struct str terminal, const struct wire_result *r,
    const struct asked *asked)
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
		.trace = asked != NULL ? &asked->trace : NULL,
		.id = r->request_id };

	if (r->output.n <= OUTPUT_MAX)
		m.output = r->output;
	if (asked != NULL) {
		m.skill = asked->skill;
		m.duration_ms = clock_wall().ms - asked->at.ms;
		m.has_duration_ms = m.duration_ms >= 0;
	}
	send_event(t, &e);
}

void
tell_denied(struct telling *t, struct str terminal, const char *topic,
    const char *reason)
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

	/* One body alone must not use up what there is for all. */
	if (!once_first(t->denied, terminal, now) ||
	    rate_take(t->denials, STR(""), now) > 0) {
		t->missed++;
		return;
	}
	t->missed = 0;
	trace_new(&trace);
	log_trace_set(trace.trace_id);
	svc_audit(t->b->svc, &e, &trace);
	log_trace_set("");
}
