/*
 * Between the route and the pure filter: clock, ids, the catalog.
 */
#include "on_filter.h"

#include <math.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "filter.h"
#include "on_catalog.h"
#include "rx/rx.h"
#include "speech.h"
#include "state/state.h"
#include "svc/svc.h"
#include "wire/wire.h"
#include "zones.h"

struct app {
	const struct filter_conf *conf;
	struct catalogs *catalogs;
	struct rx_scratch *rx;
	struct zones *zones;
	struct speech *speech;
};

void
filter_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct filter_conf *conf = arg;
	const char *why = NULL;
	struct zones *zones = zones_new();
	const struct zone *zone;

	(void)known;
	if (conf->redis_url[0] != '\0')
		why = state_url_error(conf->redis_url);
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (zones_get(zones, str_of(conf->timezone), &zone) != RC_OK)
		buf_puts(errors,
		    "INTENT_FILTER_DEFAULT_TIMEZONE: it must be the IANA name "
		    "of a time zone, as Asia/Shanghai\n");
	zones_free(zones);
}

void *
filter_start(struct svc *s, const void *conf)
{
	struct app *app = mem_zalloc(sizeof(*app));

	app->conf = conf;
	app->rx = rx_scratch_new();
	app->zones = zones_new();
	app->speech = speech_new();
	if (catalogs_new(s, app->conf, &app->catalogs) != RC_OK) {
		filter_stop(app);
		return NULL;
	}
	return app;
}

void
filter_stop(void *arg)
{
	struct app *app = arg;

	catalogs_free(app->catalogs);
	rx_scratch_free(app->rx);
	zones_free(app->zones);
	speech_free(app->speech);
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

/* Where and when: as the request says, else as it is here and now. */
static enum rc
env_of(const struct app *app, const struct wire_intent_filter_request *req,
    struct filter_env *env)
{
	struct str timezone = req->timezone.p != NULL
	    ? req->timezone
	    : str_of(app->conf->timezone);

	env->locale = app->conf->locale;
	env->speech = app->speech;
	/* The schema has checked its format. */
	if (req->now.p == NULL || wall_parse(req->now, &env->now) != RC_OK)
		env->now = clock_wall();
	return zones_get(app->zones, timezone, &env->zone);
}

static void
run(void *arg, struct catalog_ask ask, const struct catalog *cat)
{
	struct app *app = arg;
	struct svc_call *c = ask.call;
	const struct wire_intent_filter_request *req = svc_call_request(c);
	struct wire_intent_filter_response rep;
	struct filter_env env;
	enum rc rc;

	if (env_of(app, req, &env) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "/timezone: must be the IANA name of a time zone, "
		    "for example Asia/Shanghai");
		return;
	}
	rc = filter_run(req, cat, &env, app->rx, svc_call_arena(c), &rep);
	if (rc != RC_OK) {
		svc_fail(c, rc, "/command: is too large to be matched");
		return;
	}
	rep.request_id = request_id(req, svc_call_arena(c));
	rep.meta.latency_ms =
	    round((double)mono_diff_ns(clock_mono(), ask.start) / 1e3) / 1e3;
	svc_reply(c, &rep);
}

void
on_filter(void *arg, struct svc_call *c)
{
	struct app *app = arg;

	catalogs_get(app->catalogs,
	    (struct catalog_ask){ .call = c, .start = clock_mono() }, run, app);
}
