/*
 * Configuration table, start and stop.
 */
#include <stdlib.h>

#include "alarm_tool.h"
#include "context.h"
#include "core/buf.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "core/zone.h"
#include "handlers.h"
#include "state/state.h"
#include "svc/svc.h"

/* Zones that are remembered; there are about 600. */
#define ZONES_MAX 1024

#define CLOCK_OPT(env, kind, member, dflt, lo, hi, help)                   \
	{                                                                  \
		env, kind, CONF_AT(clock_conf, member), dflt, lo, hi, help \
	}

const struct conf_opt clock_opts[CLOCK_OPTS_N] = {
	CLOCK_OPT("REDIS_URL", CONF_URL, redis_url, "redis://127.0.0.1:6379", 0,
	    0, "Redis URL, including any password"),
	STATE_CONF_OPTS(clock_conf, redis),
	CLOCK_OPT("REDIS_TIMEOUT_MS", CONF_INT, redis_timeout_ms, "1000", 10,
	    10000, "timeout of a Redis command, ms"),
	CLOCK_OPT("DEFAULT_TIMEZONE", CONF_STR, zone, "Asia/Shanghai", 0, 0,
	    "time zone of users whose profile has none"),
	CLOCK_OPT("ALARMS_PER_USER", CONF_INT, per_user, "200", 1, 800,
	    "alarms of a user that will ring"),
	CLOCK_OPT("ALARM_LATE_S", CONF_INT, spoken_lag_s, "300", 1, 86400,
	    "an alarm that rings so long after its time says so, s"),
	CLOCK_OPT("SPEAK_PER_DAY", CONF_INT, speak_per_day, "12", 0, 1000,
	    "how often a soul speaks on its own account to a user on a day"),
	CLOCK_OPT("DELIVERIES_MAX", CONF_INT, deliveries_max, "1024", 1, 16384,
	    "alarms that ring at a time"),
};

/* ---- zones and waits ---- */

const struct zone *
clock_zone(struct alarm_clock *c, struct str name)
{
	char text[65];
	struct zone *z;

	if (name.n == 0)
		return c->zone;
	z = map_get(c->zones, name);
	if (z != NULL)
		return z;
	if (name.n >= sizeof(text) || map_len(c->zones) >= ZONES_MAX)
		return NULL;
	str_copy(name, text, sizeof(text));
	if (zone_load(text, &z) != RC_OK)
		return NULL;
	(void)map_put(c->zones, name, z);
	return z;
}

struct clock_wait {
	struct loop_timer timer;
	struct fiber *fiber;
};

static void
clock_on_wait(void *arg)
{
	struct clock_wait *w = arg;

	fiber_resume(w->fiber);
}

void
clock_sleep(struct alarm_clock *c, int64_t ms)
{
	struct clock_wait w = { .fiber = fiber_self() };

	loop_timer_set(c->loop, &w.timer, mono_add_ms(clock_mono(), ms),
	    clock_on_wait, &w);
	fiber_suspend();
}

/* ---- start and stop ---- */

void
clock_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct clock_conf *conf = arg;
	const char *why = state_url_error(conf->redis_url);
	struct zone *z = NULL;

	(void)known;
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (zone_load(conf->zone, &z) != RC_OK)
		buf_printf(errors,
		    "DEFAULT_TIMEZONE: there is no time zone \"%s\", "
		    "expected a name like Asia/Shanghai\n",
		    conf->zone);
	zone_free(z);
}

static bool
clock_redis_up(void *arg)
{
	return state_up(arg);
}

static enum rc
clock_connect(struct alarm_clock *c)
{
	const struct state_opts o = { .loop = c->loop,
		.workers = c->workers,
		.url = c->conf->redis_url,
		.conf = &c->conf->redis,
		.name = "alarm-clock",
		.deadline_ms = (int)c->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = c->svc,
		.metrics = svc_metrics(c->svc) };
	enum rc rc = state_new(&o, &c->state);

	if (rc == RC_OK)
		svc_require(c->svc, "redis", clock_redis_up, c->state);
	return rc;
}

static void
clock_make_metrics(struct alarm_clock *c)
{
	struct metric_set *set = svc_metrics(c->svc);
	const char *ended = "soul_alarms_ended_total";
	const char *help = "Occurrences of alarms, and pushes, by their end.";

	c->metrics.lag = metric_histogram(set, "soul_alarm_lag_seconds",
	    "From the time of an alarm until a body was requested to ring.",
	    NULL);
	c->metrics.rung = metric_counter(set, ended, help, "end=\"rung\"");
	c->metrics.missed = metric_counter(set, ended, help, "end=\"missed\"");
	c->metrics.delivering = metric_gauge(set, "soul_alarms_ringing",
	    "Alarms and pushes that are being delivered.", NULL);
}

void *
clock_start(struct svc *s, const void *conf)
{
	struct alarm_clock *c = mem_zalloc(sizeof(*c));

	c->conf = conf;
	c->svc = s;
	c->loop = svc_loop(s);
	c->bus = svc_bus(s);
	LIST_INIT(&c->deliveries);
	c->zones = map_new();
	c->workers = worker_new(c->loop, 1, 16);
	c->tools = alarm_tools_new();
	id_hex32(c->instance);
	clock_make_metrics(c);
	if (zone_load(c->conf->zone, &c->zone) != RC_OK ||
	    clock_connect(c) != RC_OK || due_begin(c) != RC_OK) {
		log_error("alarm_clock.not_started");
		clock_stop(c);
		return NULL;
	}
	tool_begin(c);
	return c;
}

static void
clock_leave_fiber(void *arg)
{
	struct alarm_clock *c = arg;

	due_leave(c);
	svc_release(c->svc);
}

void
clock_drain(void *arg)
{
	struct alarm_clock *c = arg;

	c->draining = true;
	due_end(c);
	svc_hold(c->svc);
	fiber_start(clock_leave_fiber, c);
}

void
clock_stop(void *arg)
{
	struct alarm_clock *c = arg;
	struct zone *z;
	size_t pos = 0;

	c->stopping = true;
	tool_end(c);
	state_stop(c->state);
	due_free(c);
	state_free(c->state);
	worker_free(c->workers);
	own_tools_free(c->tools);
	while ((z = map_next(c->zones, &pos, NULL)) != NULL)
		zone_free(z);
	map_free(c->zones);
	zone_free(c->zone);
	free(c);
}
