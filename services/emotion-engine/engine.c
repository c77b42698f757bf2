/*
 * Options, start and stop of the process.
 */
#include "engine.h"

#include <stdlib.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "dynamics/pad.h"
#include "handlers.h"
#include "recognition/recognizer.h"
#include "soul_cache.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/wire.h"

const struct conf_opt engine_opts[ENGINE_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(engine_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(engine_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(engine_conf, redis_timeout_ms),
	    "1000", 10, 10000, "timeout of a Redis command, ms" },
	{ "EXEC_GATE", CONF_STR, CONF_AT(engine_conf, exec_gate), "continuous",
	    0, 0,
	    "execution gate: continuous, or binary (closed by locks only)" },
	{ "EMOTION_TICK_INTERVAL_SECONDS", CONF_F64,
	    CONF_AT(engine_conf, tick_s), "3", 0, 0,
	    "interval of periodic updates of a body, s; clamped to 2 to 5" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT, CONF_AT(engine_conf, ttl_s),
	    "60", 1, 86400,
	    "time without a heartbeat after which a body is offline, s" },
	{ "EMOTION_MIGRATE_V2", CONF_BOOL, CONF_AT(engine_conf, migrate), "off",
	    0, 0, "convert persona-pad-v2 souls to persona-pad-v3" },
	{ "EMOTION_WEIGHTS", CONF_STR, CONF_AT(engine_conf, weights), "", 0, 0,
	    "weights file of the recognizer; empty: built in" },
};

struct fiber_lock *
engine_soul_lock(struct engine *e, struct str soul_id)
{
	size_t i, h = 0;

	for (i = 0; i < soul_id.n; i++)
		h = h * 31 + (unsigned char)soul_id.p[i];
	return &e->locks[h % ENGINE_LOCKS];
}

static bool
engine_redis_up(void *arg)
{
	return state_up(arg);
}

static enum rc
engine_connect(struct engine *e)
{
	const struct state_opts o = { .loop = svc_loop(e->svc),
		.workers = e->workers,
		.url = e->conf->redis_url,
		.conf = &e->conf->redis,
		.name = "emotion-engine",
		.deadline_ms = (int)e->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = e->svc,
		.metrics = svc_metrics(e->svc) };
	enum rc rc;

	rc = state_new(&o, &e->store.state);
	if (rc == RC_OK)
		svc_require(e->svc, "redis", engine_redis_up, e->store.state);
	return rc;
}

void
engine_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct engine_conf *conf = arg;
	const char *error = state_url_error(conf->redis_url);
	struct recognizer *recognizer = NULL;
	enum pad_gate gate;
	char why[128];

	(void)known;
	if (error != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", error);
	if (gate_kind(str_of(conf->exec_gate), &gate) != RC_OK)
		buf_puts(errors, "EXEC_GATE: must be continuous or binary\n");
	if (recognizer_new(conf->weights, &recognizer, why, sizeof(why)) !=
	    RC_OK)
		buf_printf(errors, "EMOTION_WEIGHTS: cannot use \"%s\": %s\n",
		    conf->weights, why);
	recognizer_free(recognizer);
}

void *
engine_start(struct svc *s, const void *conf)
{
	struct engine *e = mem_zalloc(sizeof(*e));
	char why[128];

	e->conf = conf;
	e->svc = s;
	e->store.migrate = e->conf->migrate;
	buf_init(&e->out, WIRE_MESSAGE_MAX);
	e->workers = worker_new(svc_loop(s), 1, 16);
	e->cache = soul_cache_new(ENGINE_CACHE_MAX, svc_metrics(s));
	/* engine_check() accepted the file, but it may have changed since. */
	if (recognizer_new(
		e->conf->weights, &e->recognizer, why, sizeof(why)) != RC_OK ||
	    gate_kind(str_of(e->conf->exec_gate), &e->gate) != RC_OK ||
	    engine_connect(e) != RC_OK) {
		log_error("engine.not_started");
		engine_stop(e);
		return NULL;
	}
	e->ticker = ticker_new(e);
	return e;
}

void
engine_drain(void *arg)
{
	struct engine *e = arg;

	ticker_stop(e->ticker);
}

void
engine_stop(void *arg)
{
	struct engine *e = arg;

	ticker_free(e->ticker);
	state_free(e->store.state);
	worker_free(e->workers);
	soul_cache_free(e->cache);
	recognizer_free(e->recognizer);
	buf_free(&e->out);
	free(e);
}
