/*
 * What the runner offers, renewed while it lives.
 */
#include "context.h"
#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "engine_set.h"
#include "state/run_runner.h"
#include "wire/msgs.h"

#define RENEW_MS  1000
#define ARENA_MAX (1024 * 1024)

static void
status_isolation(const struct sandbox_report *s, struct wire_runner_status *st,
    struct str *names)
{
	int rule;

	st->isolation = names;
	st->has_isolation = st->has_not_enforced = true;
	for (rule = 0; rule < SANDBOX_RULES_N; rule++)
		if (sandbox_enforces(s, (enum sandbox_rule)rule))
			names[st->n_isolation++] =
			    str_of(sandbox_rule_name((enum sandbox_rule)rule));
	st->not_enforced = names + st->n_isolation;
	for (rule = 0; rule < SANDBOX_RULES_N; rule++)
		if (!sandbox_enforces(s, (enum sandbox_rule)rule))
			st->not_enforced[st->n_not_enforced++] =
			    str_of(sandbox_rule_name((enum sandbox_rule)rule));
}

/* Lists are in the set's memory, which the encoder only reads. */
static struct str *
status_list(const struct str *list)
{
	return (struct str *)(uintptr_t)list;
}

static enum rc
status_write(const struct runner *r, struct buf *out)
{
	struct wire_runner_status_engines engines[ENGINE_SET_MAX];
	struct str names[SANDBOX_RULES_N];
	struct wire_runner_status st = { .runner = str_of(r->id),
		.engines = engines,
		.places = r->conf->runs_max,
		.free = runner_free_slots(r) };
	size_t i;

	/* One that drains lives, and takes nothing more. */
	for (i = 0; i < r->engines->n && !r->draining; i++) {
		const struct engine_entry *e = &r->engines->list[i];

		if (!e->works)
			continue;
		engines[st.n_engines++] = (struct wire_runner_status_engines){
			.engine = e->engine->name,
			.version = str_of(e->version),
			.models = status_list(e->models),
			.n_models = e->n_models,
			.has_models = e->n_models > 0,
			.tenants = status_list(e->tenants),
			.n_tenants = e->n_tenants,
			.has_tenants = !e->all_tenants,
		};
	}
	status_isolation(&r->sandbox, &st, names);
	return wire_encode(&wire_runner_status_desc, &st, out, NULL);
}

static void
status_renew(void *arg)
{
	static struct log_rate rate;
	struct runner *r = arg;
	struct buf out = BUF_INIT(RUN_RUNNER_STATUS_MAX);
	int64_t missed, all;
	enum rc rc;

	r->renewing = true;
	rc = status_write(r, &out);
	if (rc == RC_OK)
		rc = run_runner_renew(r->state, str_of(r->id), buf_str(&out));
	if (rc != RC_OK)
		r->renewed_since = (struct mono){ 0 };
	else if (r->renewed_since.ns == 0)
		r->renewed_since = clock_mono();
	if (rc != RC_OK && !r->stopping && log_every(&rate, 10, &missed))
		log_warn(
		    "runner.not_renewed", LOG_RC(rc), LOG_I("missed", missed));
	if (rc == RC_OK)
		rc = run_runner_count(r->state, str_of(r->id), &all);
	if (rc == RC_OK)
		metric_set(r->metrics.queued,
		    all > (int64_t)map_len(r->live)
			? all - (int64_t)map_len(r->live)
			: 0);
	buf_free(&out);
	r->renewing = false;
	/* It may have been renewed after its end. */
	if (r->left && !r->stopping)
		(void)!run_runner_end(r->state, str_of(r->id));
}

void
runner_on_renew(void *arg)
{
	struct runner *r = arg;

	loop_timer_set(r->loop, &r->renew, mono_add_ms(clock_mono(), RENEW_MS),
	    runner_on_renew, r);
	metric_set(r->metrics.shims, (int64_t)procsup_count(r->procsup));
	if (!r->renewing && !r->left && atomic_load(&r->ready))
		fiber_start(status_renew, r);
}
