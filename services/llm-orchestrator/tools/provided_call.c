/*
 * provided_call: calls of providers' tools: each is sent once, has signs of
 * life while it runs, and ends with a reply or as not confirmed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bus/bus.h"
#include "context.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "handlers.h"
#include "peer/peer_request.h"
#include "reply/reply_stream.h"
#include "state/turn.h"
#include "svc/svc.h"
#include "tools/approval.h"
#include "tools/provided.h"
#include "tools/tool_providers.h"
#include "tools/tool_result.h"
#include "turn/turn_runner.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

/* A call is not confirmed without a sign of life for so long. */
#define SILENCE_MS 6000
/* The provider, which knows more of the call, is to end it first. */
#define GRACE_MS 1000
/* A call with progress may take this long at most. */
#define CALL_MAX_MS 300000
/* Interval of warnings that report progress. */
#define PROGRESS_MS 1000

struct provided_call {
	TAILQ_ENTRY(provided_call) link;
	struct turn_run *run;
	size_t call;
	char id[ID_MAX + 1];
	uint64_t request;          /* 0: none */
	struct loop_timer silence; /* no sign of life */
	struct loop_timer idle;    /* no progress */
	struct mono reported;      /* progress; 0: never */
};

static void
provided_free(struct provided_call *v)
{
	struct orch *o = v->run->o;

	loop_timer_cancel(svc_loop(o->svc), &v->silence);
	loop_timer_cancel(svc_loop(o->svc), &v->idle);
	if (v->request != 0)
		bus_request_cancel(o->bus, v->request);
	TAILQ_REMOVE(&v->run->provided, v, link);
	free(v);
}

/* Best effort: what it has done is not known then. */
static void
provided_publish_cancel(const struct provided_call *v)
{
	const struct turn_call *d = &v->run->turn.calls[v->call];
	struct wire_tool_cancel m = { .call_id = str_of(v->id) };
	char subject[PEER_SUBJECT_MAX];
	struct orch *o = v->run->o;

	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_TOOL_CANCEL,
	    d->provided->provider, (struct str){ 0 });
	buf_reset(&o->out);
	if (rc == RC_OK)
		rc = wire_encode(&wire_tool_cancel_desc, &m, &o->out, NULL);
	if (rc == RC_OK)
		rc = bus_publish(o->bus, subject, buf_str(&o->out), NULL);
	if (rc != RC_OK)
		log_debug("tools.not_canceled", LOG_RC(rc));
}

void
provided_call_cancel_all(struct turn_run *r)
{
	struct provided_call *v;

	while ((v = TAILQ_FIRST(&r->provided)) != NULL) {
		provided_publish_cancel(v);
		provided_free(v);
	}
}

static void
provided_end(struct provided_call *v, const struct tool_result *res)
{
	struct turn_run *r = v->run;
	const struct turn_provided *p = r->turn.calls[v->call].provided;
	struct turn_event e = { .kind = TURN_CALL_RESULT,
		.call = v->call,
		.outcome = res->outcome,
		.output = res->output,
		.why = res->why,
		.image = res->image,
		.image_type = res->image_type };

	if (res->outcome == TURN_NOT_CONFIRMED)
		metric_add(r->o->metrics.not_confirmed, 1);
	/* With a lasting approval its policy is another one. */
	if (res->changed || p->always)
		tool_providers_changed(r, p->provider);
	provided_free(v);
	turn_feed(r, &e);
}

static void
provided_end_as(struct provided_call *v, enum turn_outcome outcome)
{
	provided_end(v, &(struct tool_result){ .outcome = outcome });
}

static void
provided_on_silence(void *arg)
{
	struct provided_call *v = arg;

	log_trace_set(v->run->trace.trace_id);
	log_warn("tools.silent", LOG_S("call", v->id));
	provided_publish_cancel(v);
	provided_end_as(v, TURN_NOT_CONFIRMED);
}

/* From now on it may take as long as its tool may without progress. */
static void
provided_extend(struct provided_call *v)
{
	const struct turn_call *d = &v->run->turn.calls[v->call];

	loop_timer_set(svc_loop(v->run->o->svc), &v->idle,
	    mono_add_ms(clock_mono(), d->provided->timeout_s * 1000 + GRACE_MS),
	    provided_on_silence, v);
}

static void
provided_wait(struct provided_call *v)
{
	loop_timer_set(svc_loop(v->run->o->svc), &v->silence,
	    mono_add_ms(clock_mono(), SILENCE_MS), provided_on_silence, v);
}

/* ---- replies ---- */

static void
provided_report(struct provided_call *v, const struct wire_tool_call_reply *m)
{
	const struct turn_call *d = &v->run->turn.calls[v->call];
	struct mono now = clock_mono();
	struct buf b = BUF_INIT(FCMP_MESSAGE_MAX);

	if (!m->has_progress && m->message.n == 0)
		return;
	provided_extend(v);
	if (v->reported.ns != 0 && mono_diff_ms(now, v->reported) < PROGRESS_MS)
		return;
	v->reported = now;
	buf_printf(&b, "%.*s:", STR_ARG(d->skill));
	if (m->has_progress)
		buf_printf(&b, " %g", m->progress);
	if (m->has_progress && m->has_total)
		buf_printf(&b, "/%g", m->total);
	if (m->message.n > 0)
		buf_printf(&b, " %.*s", STR_ARG(m->message));
	reply_stream_report(v->run, "TOOL_PROGRESS", buf_str(&b));
	buf_free(&b);
}

static void
provided_take(struct provided_call *v, const struct wire_tool_call_reply *m)
{
	const struct turn_call *d = &v->run->turn.calls[v->call];
	struct tool_result res;

	if (m->state == WIRE_TOOL_CALL_REPLY_STATE_RUNNING) {
		provided_report(v, m);
		provided_wait(v);
		return;
	}
	if (tool_result_read(m, v->run->a, &res) != RC_OK)
		res = (struct tool_result){ .outcome = m->has_ok && m->ok
			    ? TURN_OK
			    : TURN_NOT_CONFIRMED };
	if (res.outcome == TURN_UNAPPROVED &&
	    !approval_is_showable(d->provided, d->args))
		res = (struct tool_result){ .outcome = TURN_INVALID,
			.why = STR(APPROVAL_NOT_SHOWABLE) };
	provided_end(v, &res);
}

static void
provided_on_reply(void *arg, enum rc rc, struct str data)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct provided_call *v = arg;
	struct wire_err err = { "", "" };
	struct wire_tool_call_reply m;
	struct tool_result res;

	log_trace_set(v->run->trace.trace_id);
	if (rc != RC_OK) {
		/* It has ended. */
		v->request = 0;
		tool_result_error(rc, data, &res);
		provided_end(v, &res);
		arena_free(a);
		return;
	}
	rc = wire_decode(&wire_tool_call_reply_desc, data, a, &m, &err);
	if (rc == RC_OK && !str_eq(m.call_id, str_of(v->id))) {
		rc = RC_INVALID;
		snprintf(err.why, sizeof(err.why), "is of another call");
	}
	if (rc == RC_OK) {
		provided_take(v, &m);
	} else {
		/* What it has done is not known; a later reply may be valid. */
		log_error("tools.invalid_reply", LOG_S("path", err.path),
		    LOG_S("why", err.why));
	}
	arena_free(a);
}

/* ---- sending ---- */

static struct wire_tool_call_request
provided_request(const struct provided_call *v)
{
	const struct turn_run *r = v->run;
	const struct turn_call *d = &r->turn.calls[v->call];
	const struct turn_provided *p = d->provided;
	struct wire_tool_call_request m = { .call_id = str_of(v->id),
		.user_id = r->req->user_id,
		.soul_id = r->facts.soul_id,
		.session_id = turn_chat(r)->session_id,
		.turn_id = r->slot.turn_id,
		.terminal_id = turn_chat(r)->terminal_id,
		.name = d->skill,
		.definition = p->definition,
		.arguments = d->args };

	if (p->interaction_id.n > 0) {
		m.has_approval = true;
		m.approval = (struct wire_tool_call_request_approval){
			.interaction_id = p->interaction_id,
			.scope = p->always
			    ? WIRE_TOOL_CALL_REQUEST_APPROVAL_SCOPE_ALWAYS
			    : WIRE_TOOL_CALL_REQUEST_APPROVAL_SCOPE_ONCE,
			.seal = p->seal,
		};
	}
	return m;
}

static enum rc
provided_send(struct provided_call *v)
{
	const struct turn_call *d = &v->run->turn.calls[v->call];
	struct wire_tool_call_request m = provided_request(v);
	struct bus_meta meta = { .deadline = turn_deadline(v->run, CALL_MAX_MS),
		.trace = &v->run->trace };
	struct bus_reply_handler h = {
		.fn = provided_on_reply, .arg = v, .many = true
	};
	struct buf b = BUF_INIT(BUS_PAYLOAD_MAX);
	char subject[PEER_SUBJECT_MAX];

	enum rc rc = peer_subject(subject, WIRE_SUBJECT_FMT_TOOL_CALL,
	    d->provided->provider, (struct str){ 0 });
	if (rc == RC_OK)
		rc = wire_encode(&wire_tool_call_request_desc, &m, &b, NULL);
	if (rc == RC_OK)
		rc = bus_request(v->run->o->bus, subject, buf_str(&b), &meta, h,
		    &v->request);
	buf_free(&b);
	return rc;
}

static struct provided_call *
provided_new(struct turn_run *r, size_t call)
{
	const struct turn_provided *p = r->turn.calls[call].provided;
	struct provided_call *v = mem_zalloc(sizeof(*v));

	v->run = r;
	v->call = call;
	/* An approved call has the same id in any turn. */
	if (p->interaction_id.n > 0)
		str_copy(p->interaction_id, v->id, sizeof(v->id));
	else
		id_uuid(v->id);
	TAILQ_INSERT_TAIL(&r->provided, v, link);
	return v;
}

/* Only one turn sends what was approved; others find it taken. */
static enum rc
provided_claim(struct turn_run *r, const struct turn_call *d)
{
	if (d->provided->interaction_id.n == 0)
		return RC_OK;
	return turn_take_approval(r->o->state, &r->slot, d->provided->approval);
}

enum rc
provided_call(struct turn_run *r, const struct turn_action *a)
{
	const struct turn_call *d = &r->turn.calls[a->call];
	struct turn_event taken = { .kind = TURN_CALL_RESULT,
		.call = a->call,
		.outcome = TURN_ERROR,
		.why = STR("it does not wait for an approval any more") };

	enum rc rc = provided_claim(r, d);
	if (rc == RC_NOENT) {
		turn_feed(r, &taken);
		return RC_OK;
	}
	/* The turn may have ended while Redis was waited for. */
	if (rc != RC_OK || d->outcome != TURN_SENT)
		return rc;
	metric_add(r->o->metrics.tool_calls, 1);
	struct provided_call *v = provided_new(r, a->call);
	rc = provided_send(v);
	if (rc == RC_OK) {
		provided_wait(v);
		provided_extend(v);
	} else if (rc == RC_TOOBIG) {
		provided_end(v,
		    &(struct tool_result){ .outcome = TURN_INVALID,
			.why = STR("the arguments are too large") });
	} else {
		provided_end_as(
		    v, rc == RC_TIMEOUT ? TURN_NO_TIME : TURN_OFFLINE);
	}
	return RC_OK;
}
