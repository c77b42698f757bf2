/*
 * Between the route and the pure filter: clock, ids, the catalog cache.
 */
#include "on_filter.h"

#include <math.h>
#include <stdlib.h>

#include "cache.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/zone.h"
#include "filter.h"
#include "rx/rx.h"
#include "svc/svc.h"
#include "wire/wire.h"

struct app {
	const struct filter_conf *conf;
	struct cache *cache;
	struct rx_scratch *rx;
	struct zone *zone;
};

void *
filter_start(struct svc *s, const void *conf)
{
	struct app *app = mem_zalloc(sizeof(*app));

	app->conf = conf;
	app->cache = cache_new(
	    (size_t)app->conf->cache_mib * 1024 * 1024, svc_metrics(s));
	app->rx = rx_scratch_new();
	if (zone_load(app->conf->timezone, &app->zone) != RC_OK) {
		log_error("filter.unknown_timezone",
		    LOG_S(
			"INTENT_FILTER_DEFAULT_TIMEZONE", app->conf->timezone));
		filter_stop(app);
		return NULL;
	}
	return app;
}

void
filter_stop(void *arg)
{
	struct app *app = arg;

	cache_free(app->cache);
	rx_scratch_free(app->rx);
	zone_free(app->zone);
	free(app);
}

static struct str
request_id(const struct wire_intent_filter_request *req, struct arena *a)
{
	char hex[ID_HEX32_MAX];

	if (req->request_id.p != NULL)
		return req->request_id;
	id_hex32(hex);
	return arena_printf(a, "ifr-%s", hex);
}

static void
fail_at(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	wire_err_text(err, text, sizeof(text));
	svc_fail(c, rc, text);
}

void
on_filter(void *arg, struct svc_call *c)
{
	struct app *app = arg;
	const struct wire_intent_filter_request *req = svc_call_request(c);
	struct wire_intent_filter_response rep;
	struct mono start = clock_mono();
	struct filter_env env = { .now = clock_wall(),
		.zone = app->zone,
		.locale = app->conf->locale };
	const struct catalog *cat;
	struct wire_err err;
	enum rc rc;

	rc = cache_get(
	    app->cache, req->intent_catalog, req->n_intent_catalog, &cat, &err);
	if (rc != RC_OK) {
		fail_at(c, rc, &err);
		return;
	}
	rc = filter_run(req, cat, &env, app->rx, svc_call_arena(c), &rep);
	if (rc != RC_OK) {
		svc_fail(c, rc, "/command: is too large to be matched");
		return;
	}
	rep.request_id = request_id(req, svc_call_arena(c));
	rep.meta.latency_ms =
	    round((double)mono_diff_ns(clock_mono(), start) / 1e3) / 1e3;
	svc_reply(c, &rep);
}
