/*
 * Effects of a cycle, each idempotent by the cycle's id: a second time it finds
 * what the first has done.
 */
#include <stdio.h>

#include "core/log.h"
#include "core/mem.h"
#include "cycle_run.h"
#include "state/session.h"
#include "state/state.h"
#include "svc/event.h"
#include "svc/peer_call.h"
#include "svc/svc.h"
#include "trigger.h"
#include "wire/msgs.h"
#include "wire/subjects.h"
#include "wire/wire.h"

#define PSYCHE_MS  2000
#define SPEAK_MS   4000
#define JOB_MAX    (64UL * 1024)
#define PSYCHE_MAX 4096
#define SPEAK_FOR  600000
#define JOB_KIND   "memory_store"
#define REASON_MAX 128

/* It is there, it never will be, or it may be later. */
static enum cycle_event
effect_event(const struct cycle_run *x, const char *what, enum rc rc)
{
	if (rc == RC_OK || rc == RC_UNREPLICATED)
		return CYCLE_EFFECTED;
	log_warn("nav.effect_failed", LOG_S("effect", what),
	    LOG_V("cycle", x->c.id), LOG_RC(rc));
	switch (rc) {
	case RC_RETRY:
	case RC_TIMEOUT:
	case RC_DOWN:
		return CYCLE_FAILED;
	default:
		return CYCLE_EFFECTED;
	}
}

static enum cycle_event
effect_link(struct cycle_run *x)
{
	struct buf b = BUF_INIT(MIND_LINK_MAX);
	char now[WALL_FORMAT_MAX];
	struct wire_mind_link m = { .cycle_id = x->c.id,
		.suggestion = x->out.o.suggestion,
		.intent = x->out.o.intent };
	struct wire_err err;
	enum rc rc;

	wall_format(clock_wall(), 0, now);
	m.created_at = str_of(now);
	rc = wire_encode(&wire_mind_link_desc, &m, &b, &err);
	if (rc == RC_OK)
		rc = mind_link_put(x->n->state, &x->c, buf_str(&b));
	buf_free(&b);
	return rc == RC_CONFLICT ? CYCLE_LOST : effect_event(x, "link", rc);
}

static enum cycle_event
effect_suggestion(struct cycle_run *x)
{
	struct buf b = BUF_INIT(PSYCHE_MAX);
	char until[WALL_FORMAT_MAX];
	struct wire_navigator_suggestion m = {
		.suggestion = x->out.o.suggestion,
		.intent = x->out.o.intent,
		.user_id = x->c.key.user_id,
		.session_id = x->c.session_id,
		.terminal_id = x->c.terminal_id,
		.soul_id = x->c.key.soul_id,
		.cycle_id = x->c.id,
		.trigger = trigger_label(x->c.trigger),
		.has_trigger = true,
	};
	struct svc_event e = { .type = WIRE_EVENT_NAVIGATOR_SUGGESTION,
		.key = x->c.key.soul_id,
		.desc = &wire_navigator_suggestion_desc,
		.payload = &m,
		.trace = &x->trace,
		.id = x->c.id };
	enum rc rc;

	wall_format(
	    (struct wall){ clock_wall().ms + MIND_LINK_TTL_MS }, 0, until);
	m.expires_at = str_of(until);
	if (x->emotion != NULL &&
	    wire_encode(&wire_emotion_state_desc, &x->emotion->soul_emotion, &b,
		NULL) == RC_OK)
		e.psyche_state = buf_str(&b);
	/* It is not sent a second time once the cycle has ended. */
	rc = svc_event_store(x->n->svc, &e);
	buf_free(&b);
	return effect_event(x, "suggestion", rc);
}

static enum cycle_event
effect_psyche(struct cycle_run *x)
{
	struct str intent = x->out.o.intent;
	char reason[REASON_MAX];
	const struct peer_call c = { .bus = x->n->bus,
		.subject = WIRE_SUBJECT_PSYCHE_APPLY,
		.request = &wire_psyche_apply_request_desc,
		.reply = &wire_psyche_apply_reply_desc,
		.ms = PSYCHE_MS,
		.trace = &x->trace,
		.a = x->a };
	struct wire_psyche_apply_request req = {
		.user_id = x->c.key.user_id,
		.soul_id = x->c.key.soul_id,
		.delta = x->out.o.psyche_delta,
		.request_id = x->c.id,
	};
	void *reply;

	if (intent.n == 0)
		intent = STR("thought");
	(void)snprintf(
	    reason, sizeof(reason), "navigator_%.*s", STR_ARG(intent));
	req.reason = (struct str){ reason, strlen(reason) };
	if (str_utf8_count(req.reason) < 0)
		req.reason = STR("navigator_thought");
	return effect_event(x, "psyche", peer_call(&c, &req, &reply));
}

static enum rc
effect_put_memory(struct cycle_run *x, size_t i, struct str now, struct buf *b)
{
	const struct wire_navigator_output_memories *m = &x->out.o.memories[i];
	const struct wire_memory_job job = {
		.job_id = arena_printf(x->a, "%.*s_%zu", STR_ARG(x->c.id), i),
		.kind = STR(JOB_KIND),
		.user_id = x->c.key.user_id,
		.soul_id = x->c.key.soul_id,
		.session_id = x->c.session_id,
		.terminal_id = x->c.terminal_id,
		.text = m->text,
		.type = m->type,
		.trigger_source = STR("navigator"),
		.created_at = now,
	};
	struct peer_item item = {
		.subject = "soul.job." JOB_KIND,
		.id = job.job_id.p,
		.trace = &x->trace,
	};
	struct wire_err err;
	enum rc rc;

	buf_reset(b);
	rc = wire_encode(&wire_memory_job_desc, &job, b, &err);
	item.json = buf_str(b);
	return rc == RC_OK ? peer_publish(x->n->bus, &item) : rc;
}

static enum cycle_event
effect_memories(struct cycle_run *x)
{
	struct buf b = BUF_INIT(JOB_MAX);
	char now[WALL_FORMAT_MAX];
	enum rc rc = RC_OK;

	wall_format(clock_wall(), 0, now);
	for (size_t i = 0; i < x->out.o.n_memories && rc == RC_OK; i++)
		rc = effect_put_memory(x, i, str_of(now), &b);
	buf_free(&b);
	/* The stream does not exist before a memory-worker has started. */
	if (rc == RC_NOENT)
		rc = RC_DOWN;
	return effect_event(x, "memories", rc);
}

/* The conversation is summarised now, as if it had become long. */
static enum cycle_event
effect_archival(struct cycle_run *x)
{
	static const struct session_length any = { 1, 1 };
	const struct session_key k = { x->c.key.user_id, x->c.session_id };
	bool requested;
	enum rc rc = RC_OK;

	if (k.session_id.n > 0)
		rc = session_request_summary(x->n->state, &k, &any, &requested);
	return effect_event(x, "archival", rc);
}

static enum cycle_event
effect_speech(struct cycle_run *x)
{
	char until[WALL_FORMAT_MAX];
	const struct peer_call c = { .bus = x->n->bus,
		.subject = WIRE_SUBJECT_SPEAK,
		.request = &wire_speak_request_desc,
		.reply = &wire_speak_reply_desc,
		.ms = SPEAK_MS,
		.trace = &x->trace,
		.a = x->a };
	struct wire_speak_request req = {
		.user_id = x->c.key.user_id,
		.soul_id = x->c.key.soul_id,
		.session_id = x->c.session_id,
		.text = x->out.o.proactive.text,
		.verbatim = false,
		.reason = WIRE_SPEAK_REQUEST_REASON_NAVIGATOR,
		.urgent = x->out.o.proactive.urgent,
		.request_id = x->c.id,
	};
	void *reply;
	enum rc rc;

	wall_format((struct wall){ clock_wall().ms + SPEAK_FOR }, 0, until);
	req.expires_at = str_of(until);
	rc = peer_call(&c, &req, &reply);
	/* Later it would not be worth speaking about. */
	if (rc == RC_DOWN)
		rc = RC_NOENT;
	return effect_event(x, "speech", rc);
}

/* mcp-host decides what may become of it, and a human whether it does. */
static enum cycle_event
effect_evolution(struct cycle_run *x)
{
	const struct wire_navigator_output_evolution_request *e =
	    &x->out.o.evolution_request;
	const struct peer_call c = { .bus = x->n->bus,
		.subject = WIRE_SUBJECT_EVOLUTION_REQUEST,
		.request = &wire_evolution_request_desc,
		.reply = &wire_evolution_desc,
		.ms = WIRE_DEADLINE_MS_EVOLUTION_REQUEST,
		.trace = &x->trace,
		.a = x->a };
	const struct wire_evolution_request req = {
		.user_id = x->c.key.user_id,
		.soul_id = x->c.key.soul_id,
		.cycle_id = x->c.id,
		.need = e->need,
		.why = e->why,
		.example = e->example,
	};
	void *reply;
	enum rc rc = peer_call(&c, &req, &reply);

	/* A later cycle may ask for it again. */
	if (rc == RC_DOWN)
		rc = RC_NOENT;
	return effect_event(x, "evolution", rc);
}

enum cycle_event
cycle_effect_do(struct cycle_run *x)
{
	static enum cycle_event (*const effects[EFFECT_N])(
	    struct cycle_run * x) = {
		[EFFECT_LINK] = effect_link,
		[EFFECT_SUGGESTION] = effect_suggestion,
		[EFFECT_PSYCHE] = effect_psyche,
		[EFFECT_MEMORIES] = effect_memories,
		[EFFECT_ARCHIVAL] = effect_archival,
		[EFFECT_SPEECH] = effect_speech,
		[EFFECT_EVOLUTION] = effect_evolution,
	};

	return effects[x->fsm.effect](x);
}
