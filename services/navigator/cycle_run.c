#include "cycle_run.h"

#include <stdlib.h>

#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "llm/llm.h"
#include "state/state.h"
#include "svc/svc.h"
#include "svc/system_notice.h"
#include "wire/wire.h"

#define RUN_BYTES (64UL * 1024 * 1024)
/* Of a claim that is given back, so that it is due at once. */
#define GIVE_BACK_MS 1

/* ---- lifecycle ---- */

static void
cycle_run_unref(struct cycle_run *x)
{
	if (--x->owners > 0)
		return;
	arena_free(x->a);
	free(x);
}

static void cycle_run_schedule(struct cycle_run *x);

static void
cycle_run_extend(void *arg)
{
	struct cycle_run *x = arg;
	struct navigator *n = x->n;
	enum rc rc =
	    nav_decide(n->state, &x->c, n->conf->lease_s * 1000, STR(""), x->a);

	if (rc == RC_CONFLICT)
		x->lost = true;
	if (x->owners > 1 && !x->lost)
		cycle_run_schedule(x);
	cycle_run_unref(x);
	svc_release(n->svc);
}

static void
cycle_run_on_timer(void *arg)
{
	struct cycle_run *x = arg;

	x->owners++;
	svc_hold(x->n->svc);
	fiber_start(cycle_run_extend, x);
}

/* A third of the lease from now. */
static void
cycle_run_schedule(struct cycle_run *x)
{
	loop_timer_set(x->n->loop, &x->timer,
	    mono_add_ms(clock_mono(), x->n->conf->lease_s * 1000 / 3),
	    cycle_run_on_timer, x);
}

static void
cycle_run_free(struct cycle_run *x)
{
	struct navigator *n = x->n;

	loop_timer_cancel(n->loop, &x->timer);
	LIST_REMOVE(x, link);
	n->n_cycles--;
	cycle_run_unref(x);
	svc_release(n->svc);
}

/* ---- the model ---- */

static void
cycle_run_on_completion(void *arg, const struct llm_result *r)
{
	struct cycle_run *x = arg;

	x->call = NULL;
	x->completion_rc = r->rc;
	if (r->rc == RC_OK)
		x->completion = arena_str(x->a, r->text);
	if (r->rc == RC_OK && x->completion.p == NULL)
		x->completion_rc = RC_TOOBIG;
	if (r->rc != RC_OK)
		log_warn("nav.model_failed", LOG_RC(r->rc),
		    LOG_I("status", r->status));
	fiber_resume(x->fiber);
}

static enum rc
cycle_run_call(struct cycle_run *x, const struct llm_message *m, size_t n)
{
	const struct llm_chat chat = {
		.messages = m,
		.nmessages = n,
		.temperature = -1,
		.trace = &x->trace,
		.deadline = { clock_wall().ms + x->n->conf->timeout_s * 1000 },
		.on_done = cycle_run_on_completion,
		.arg = x,
	};
	enum rc rc;

	if (x->n->draining)
		return RC_RETRY;
	x->fiber = fiber_self();
	rc = llm_chat(x->n->llm, &chat, &x->call);
	if (rc != RC_OK)
		return rc;
	fiber_suspend();
	return x->completion_rc;
}

static struct str
cycle_run_bad_completion(const struct cycle_run *x)
{
	struct str s = str_clip(x->completion, CYCLE_BAD_MAX);

	return s.n > 0 ? s : STR("…");
}

static enum cycle_event
cycle_run_complete(struct cycle_run *x, bool repair)
{
	struct buf system = BUF_INIT(CYCLE_PROMPT_MAX);
	struct buf user = BUF_INIT(CYCLE_PROMPT_MAX);
	struct buf repair_text = BUF_INIT(CYCLE_PROMPT_MAX);
	struct llm_message m[4] = { { .role = LLM_SYSTEM },
		{ .role = LLM_USER }, { .role = LLM_ASSISTANT },
		{ .role = LLM_USER } };
	enum rc rc;

	cycle_prompt_system(&x->view, &system);
	cycle_prompt_user(&x->view, &user);
	cycle_prompt_repair(x->why, &repair_text);
	m[0].text = buf_str(&system);
	m[1].text = buf_str(&user);
	m[2].text = cycle_run_bad_completion(x);
	m[3].text = buf_str(&repair_text);
	rc = buf_rc(&user);
	if (rc == RC_OK)
		rc = cycle_run_call(x, m, repair ? NELEM(m) : 2);
	buf_free(&system);
	buf_free(&user);
	buf_free(&repair_text);
	if (x->n->draining)
		return CYCLE_FAILED;
	if (rc != RC_OK)
		return CYCLE_NO_MODEL;
	rc = cycle_output_read(x->completion, x->a, &x->out, x->why);
	if (rc == RC_OK)
		return CYCLE_READ;
	metric_add(x->n->unreadable, 1);
	log_warn("nav.output_unreadable", LOG_V("cycle", x->c.id),
	    LOG_S("why", x->why), LOG_RC(rc));
	return CYCLE_UNREAD;
}

/* ---- decide ---- */

/* Only what the user has stated is remembered. */
static void
cycle_run_admit(struct cycle_run *x)
{
	struct wire_navigator_output *o = &x->out.o;
	size_t i, n = 0;

	for (i = 0; i < o->n_memories; i++)
		if (memory_policy_admits(&x->policy, o->memories[i].text))
			o->memories[n++] = o->memories[i];
	metric_add(x->n->not_admitted, (int64_t)(o->n_memories - n));
	o->n_memories = n;
	o->has_memories = n > 0;
	if (x->out.unknown.n == 0)
		return;
	metric_add(x->n->unknown_names, 1);
	log_warn("nav.unknown_names", LOG_V("cycle", x->c.id),
	    LOG_V("names", x->out.unknown));
}

/* Another process may have decided before. */
static enum cycle_event
cycle_run_take(struct cycle_run *x)
{
	struct wire_err err = { 0 };
	enum rc rc = wire_decode(
	    &wire_navigator_output_desc, x->c.output, x->a, &x->out.o, &err);

	if (rc != RC_OK) {
		log_error("nav.output_invalid", LOG_V("cycle", x->c.id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
		return CYCLE_FAILED;
	}
	x->fsm.effects = cycle_effects(&x->out.o);
	return CYCLE_DECIDED;
}

static enum cycle_event
cycle_run_decide(struct cycle_run *x)
{
	struct buf b = BUF_INIT(NAV_OUTPUT_MAX);
	struct wire_err err = { 0 };
	enum rc rc;

	cycle_run_admit(x);
	rc = wire_encode(&wire_navigator_output_desc, &x->out.o, &b, &err);
	if (rc != RC_OK)
		log_error("nav.output_invalid", LOG_V("cycle", x->c.id),
		    LOG_S("path", err.path), LOG_S("why", err.why));
	else
		rc = nav_decide(x->n->state, &x->c, x->n->conf->lease_s * 1000,
		    buf_str(&b), x->a);
	buf_free(&b);
	if (rc == RC_CONFLICT)
		return CYCLE_LOST;
	return rc == RC_OK ? cycle_run_take(x) : CYCLE_FAILED;
}

/* ---- end ---- */

static void
cycle_run_count(const struct cycle_run *x)
{
	const struct navigator *n = x->n;
	const char *end = cycle_end_name(x->fsm.end);

	metric_add(n->ended[x->c.trigger][x->fsm.end], 1);
	metric_observe(
	    n->seconds, (double)mono_diff_ns(clock_mono(), x->start) / 1e9);
	log_info("nav.cycle", LOG_V("cycle", x->c.id),
	    LOG_V("user", x->c.key.user_id), LOG_V("soul", x->c.key.soul_id),
	    LOG_I("trigger", x->c.trigger), LOG_S("end", end));
}

static void
cycle_run_notify(const struct cycle_run *x)
{
	const struct svc_notice notice = {
		.level = WIRE_SYSTEM_NOTIFICATION_LEVEL_WARNING,
		.code = "NAVIGATOR_GAVE_UP",
		.message = STR("a cycle of a soul could not be completed"),
		.user_id = x->c.key.user_id,
		.id = x->c.id,
	};

	svc_notify(x->n->svc, &notice, &x->trace);
}

static void
cycle_run_end(struct cycle_run *x)
{
	struct nav_rule rule = navigator_rule(x->n);
	struct wall due;
	enum rc rc;

	if (x->c.trigger == NAV_IDLE && rule.idle_ms > 0)
		rule.idle_ms = NAVIGATOR_IDLE_NEXT_MS;
	if (x->fsm.end == CYCLE_END_GAVE_UP)
		cycle_run_notify(x);
	rc = nav_end(x->n->state, &x->c, &rule, &due);
	/* Its claim ends, and its effects are repeated, which changes nothing.
	 */
	if (rc != RC_OK)
		log_warn("nav.not_ended", LOG_V("cycle", x->c.id), LOG_RC(rc));
	else
		on_due_hint(x->n, &x->c.key, due);
}

static void
cycle_run_abandon(struct cycle_run *x)
{
	enum rc rc;

	if (!x->n->draining)
		return;
	rc = nav_decide(x->n->state, &x->c, GIVE_BACK_MS, STR(""), x->a);
	if (rc != RC_OK)
		log_debug("nav.not_given_back", LOG_RC(rc));
}

/* ---- steps ---- */

/* The next event; false: it is over. */
static bool
cycle_run_do(
    struct cycle_run *x, enum cycle_action action, enum cycle_event *next)
{
	switch (action) {
	case CYCLE_LOAD:
		*next = cycle_load(x);
		return true;
	case CYCLE_COMPLETE:
	case CYCLE_REPAIR:
		*next = cycle_run_complete(x, action == CYCLE_REPAIR);
		return true;
	case CYCLE_DECIDE:
		*next = cycle_run_decide(x);
		return true;
	case CYCLE_EFFECT:
		*next = cycle_effect_do(x);
		return true;
	case CYCLE_END:
		cycle_run_end(x);
		return false;
	case CYCLE_ABANDON:
		cycle_run_abandon(x);
		return false;
	case CYCLE_STOP:
		break;
	}
	return false;
}

static void
cycle_run_main(void *arg)
{
	struct cycle_run *x = arg;
	enum cycle_event e = CYCLE_BEGIN;

	log_trace_set(x->trace.trace_id);
	if (x->c.output.n > 0 && cycle_run_take(x) == CYCLE_DECIDED)
		e = CYCLE_RESUME;
	while (cycle_run_do(x, cycle_step(&x->fsm, e), &e))
		if (x->lost)
			e = CYCLE_LOST;
	cycle_run_count(x);
	cycle_run_free(x);
}

static bool
cycle_run_copy(struct cycle_run *x, const struct nav_cycle *c)
{
	const struct {
		struct str *to, from;
	} texts[] = {
		{ &x->c.key.user_id, c->key.user_id },
		{ &x->c.key.soul_id, c->key.soul_id },
		{ &x->c.id, c->id },
		{ &x->c.session_id, c->session_id },
		{ &x->c.terminal_id, c->terminal_id },
		{ &x->c.output, c->output },
	};

	x->c = *c;
	for (size_t i = 0; i < NELEM(texts); i++) {
		*texts[i].to = arena_str(x->a, texts[i].from);
		if (texts[i].from.p != NULL && texts[i].to->p == NULL)
			return false;
	}
	return true;
}

void
cycle_run_start(struct navigator *n, const struct nav_cycle *c)
{
	struct cycle_run *x = mem_zalloc(sizeof(*x));

	x->n = n;
	x->a = arena_new(RUN_BYTES);
	x->owners = 1;
	x->start = clock_mono();
	x->fsm.tries = c->tries;
	trace_new(&x->trace);
	LIST_INSERT_HEAD(&n->cycles, x, link);
	n->n_cycles++;
	svc_hold(n->svc);
	if (!cycle_run_copy(x, c)) {
		cycle_run_free(x);
		return;
	}
	cycle_run_schedule(x);
	fiber_start(cycle_run_main, x);
}

static struct cycle_run *
cycle_run_calling(const struct navigator *n)
{
	struct cycle_run *x;

	LIST_FOREACH (x, &n->cycles, link)
		if (x->call != NULL)
			break;
	return x;
}

void
cycle_run_drain(struct navigator *n)
{
	struct cycle_run *x;

	while ((x = cycle_run_calling(n)) != NULL) {
		llm_cancel(x->call);
		x->call = NULL;
		x->completion_rc = RC_DOWN;
		fiber_resume(x->fiber);
	}
}
