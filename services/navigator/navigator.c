/*
 * Configuration table, start and stop.
 */
#include <stdio.h>
#include <stdlib.h>

#include "context.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "cycle_run.h"
#include "llm/llm.h"
#include "state/bucket_poll.h"
#include "state/state.h"
#include "svc/svc.h"
#include "trigger.h"

const struct conf_opt navigator_opts[NAVIGATOR_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(navigator_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(navigator_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT,
	    CONF_AT(navigator_conf, redis_timeout_ms), "1000", 10, 10000,
	    "timeout of a Redis command, ms" },
	LLM_CONF_OPTS(navigator_conf, llm),
	{ "CYCLE_TRIGGER_COUNT", CONF_INT, CONF_AT(navigator_conf, count), "5",
	    1, 1000, "completed turns after which a soul thinks" },
	{ "CYCLE_IDLE_SECONDS", CONF_INT, CONF_AT(navigator_conf, idle_s),
	    "300", 0, 86400,
	    "time after the last turn until a soul is idle, s; 0: never" },
	{ "NAV_GAP_SECONDS", CONF_INT, CONF_AT(navigator_conf, gap_s), "30", 0,
	    86400, "least time between two cycles of a soul and user, s" },
	{ "NAV_CYCLES_PER_DAY", CONF_INT, CONF_AT(navigator_conf, per_day),
	    "200", 1, 100000, "cycles of a soul and user on one day" },
	{ "NAV_TIMEOUT_SECONDS", CONF_INT, CONF_AT(navigator_conf, timeout_s),
	    "180", 1, 3600, "timeout of a completion, s" },
	{ "NAV_LEASE_SECONDS", CONF_INT, CONF_AT(navigator_conf, lease_s), "30",
	    1, 3600,
	    "time after which another replica continues a dead one's cycle, "
	    "s" },
	{ "NAV_AT_ONCE", CONF_INT, CONF_AT(navigator_conf, max_cycles), "4", 1,
	    256, "concurrent cycles" },
};

void
navigator_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct navigator_conf *c = arg;
	const char *why = state_url_error(c->redis_url);

	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	llm_conf_check(&c->llm, errors, known);
}

struct nav_rule
navigator_rule(const struct navigator *n)
{
	return (struct nav_rule){ n->conf->count, n->conf->idle_s * 1000,
		n->conf->gap_s * 1000 };
}

static bool
navigator_state_up(void *arg)
{
	return state_up(arg);
}

static void
navigator_llm_note(const void *arg, struct buf *out)
{
	llm_state(arg, out);
}

static enum rc
navigator_connect(struct navigator *n)
{
	const struct state_opts o = { .loop = n->loop,
		.workers = n->workers,
		.url = n->conf->redis_url,
		.conf = &n->conf->redis,
		.name = "navigator",
		.deadline_ms = (int)n->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = n->svc,
		.metrics = svc_metrics(n->svc) };
	const struct llm_opts l = { .loop = n->loop,
		.active_max = (size_t)n->conf->max_cycles,
		.metrics = svc_metrics(n->svc) };
	enum rc rc = state_new(&o, &n->state);

	if (rc != RC_OK)
		return rc;
	svc_require(n->svc, "redis", navigator_state_up, n->state);
	rc = llm_open(&n->conf->llm, &l, &n->llm);
	if (rc == RC_OK)
		svc_ready_note(n->svc, navigator_llm_note, n->llm);
	return rc;
}

static void
navigator_count(struct navigator *n)
{
	struct metric_set *set = svc_metrics(n->svc);
	char labels[64];

	for (int t = NAV_IDLE; t < NAV_TRIGGER_N; t++)
		for (int e = 0; e < CYCLE_END_N; e++) {
			struct str name =
			    wire_navigator_suggestion_trigger_names
				[trigger_label((enum nav_trigger)t)];

			(void)snprintf(labels, sizeof(labels),
			    "trigger=\"%.*s\",end=\"%s\"", STR_ARG(name),
			    cycle_end_name((enum cycle_end)e));
			n->ended[t][e] = metric_counter(set,
			    "soul_nav_cycles_total",
			    "Cycles, by what began them and how they ended.",
			    labels);
		}
	n->seconds = metric_histogram(
	    set, "soul_nav_cycle_seconds", "Duration of cycles.", NULL);
	n->unreadable = metric_counter(set, "soul_nav_unreadable_total",
	    "Outputs of the model that are not readable.", NULL);
	n->unknown_names = metric_counter(set, "soul_nav_unknown_names_total",
	    "Outputs that move what a soul does not have.", NULL);
	n->not_admitted = metric_counter(set, "soul_nav_not_admitted_total",
	    "Memories that the user has not stated.", NULL);
	n->events = metric_counter(
	    set, "soul_nav_events_total", "Events that were counted.", NULL);
	n->events_invalid = metric_counter(set, "soul_nav_events_invalid_total",
	    "Events that are not readable.", NULL);
}

void *
navigator_start(struct svc *s, const void *conf)
{
	struct navigator *n = mem_zalloc(sizeof(*n));

	n->conf = conf;
	n->svc = s;
	n->bus = svc_bus(s);
	n->loop = svc_loop(s);
	n->workers = worker_new(n->loop, 1, 16);
	LIST_INIT(&n->cycles);
	navigator_count(n);
	if (navigator_connect(n) != RC_OK || !on_due_start(n) ||
	    !on_event_start(n)) {
		navigator_stop(n);
		return NULL;
	}
	return n;
}

static void
navigator_leave(void *arg)
{
	struct navigator *n = arg;
	enum rc rc = bucket_poll_leave(n->poll);

	/* The membership expires. */
	if (rc != RC_OK)
		log_debug("nav.timers_not_left", LOG_RC(rc));
	svc_release(n->svc);
}

void
navigator_drain(void *arg)
{
	struct navigator *n = arg;

	n->draining = true;
	on_due_drain(n);
	svc_hold(n->svc);
	fiber_start(navigator_leave, n);
	cycle_run_drain(n);
}

void
navigator_stop(void *arg)
{
	struct navigator *n = arg;

	/* What waits for them ends before they are freed. */
	state_stop(n->state);
	llm_free(n->llm);
	bucket_poll_free(n->poll);
	state_free(n->state);
	worker_free(n->workers);
	free(n);
}
