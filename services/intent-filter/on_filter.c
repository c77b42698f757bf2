/*
 * The route: reference time, time zone, ids and the catalog of a request.
 */
#include <math.h>
#include <stdlib.h>

#include "catalog/catalog_loader.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/zone.h"
#include "filter.h"
#include "handlers.h"
#include "result/result_cache.h"
#include "scratch_pool.h"
#include "slots/skill_cache.h"
#include "state/state.h"
#include "svc/svc.h"
#include "system/alarm_phrase.h"
#include "text/vocabulary.h"
#include "wire/wire.h"

/* ---- the service ---- */

#define SKILL_CACHE_BYTES  ((size_t)4 << 20)
#define RESULT_CACHE_BYTES ((size_t)4 << 20)

struct filter_app {
	const struct filter_conf *conf;
	struct catalog_loader *loader;
	struct scratch_pool *scratch;
	struct vocabulary *vocabulary;
	struct skill_cache *skills;
	struct alarm_patterns *alarms;
	struct result_cache *results;
};

/* What is known of a call before its request is decoded. */
struct filter_call {
	struct catalog_source source;
	struct result_key key; /* its text is absent: not to be stored */
	bool reused;           /* the request is not decoded, result is it */
	struct result result;
};

void
filter_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct filter_conf *conf = arg;
	const char *why = NULL;
	struct zone *zone = NULL;

	(void)known;
	if (conf->redis_url[0] != '\0')
		why = state_url_error(conf->redis_url);
	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	if (zone_load(conf->timezone, &zone) != RC_OK)
		buf_puts(errors,
		    "INTENT_FILTER_DEFAULT_TIMEZONE: it must be the IANA name "
		    "of a time zone, as Asia/Shanghai\n");
	zone_free(zone);
}

void *
filter_start(struct svc *s, const void *conf)
{
	struct filter_app *app = mem_zalloc(sizeof(*app));
	struct catalog_redis redis;

	app->conf = conf;
	app->scratch = scratch_pool_new();
	app->vocabulary = vocabulary_new();
	app->skills = skill_cache_new(SKILL_CACHE_BYTES);
	app->alarms = alarm_patterns_new();
	app->results = result_cache_new(RESULT_CACHE_BYTES, svc_metrics(s));
	redis = (struct catalog_redis){ app->conf->redis_url, &app->conf->redis,
		(int)app->conf->redis_timeout_ms };
	if (catalog_loader_new(s, (size_t)app->conf->cache_mib * 1024 * 1024,
		&redis, &app->loader) != RC_OK) {
		filter_stop(app);
		return NULL;
	}
	return app;
}

void
filter_stop(void *arg)
{
	struct filter_app *app = arg;

	catalog_loader_free(app->loader);
	scratch_pool_free(app->scratch);
	vocabulary_free(app->vocabulary);
	skill_cache_free(app->skills);
	alarm_patterns_free(app->alarms);
	result_cache_free(app->results);
	free(app);
}

/* The one that was given, else a new one. */
static struct str
filter_request_id(struct str given, struct id_stock *ids, struct arena *a)
{
	unsigned char raw[16];
	char hex[ID_HEX32_MAX];

	if (given.p != NULL)
		return given;
	id_stock_take(ids, raw, sizeof(raw));
	id_hex(raw, sizeof(raw), hex);
	return arena_printf(a, "ifr-%s", hex);
}

static double
filter_latency_ms(struct mono start)
{
	return round((double)mono_diff_ns(clock_mono(), start) / 1e3) / 1e3;
}

/* The reference time and zone: the request's, else the current ones. */
static enum rc
filter_env_of(const struct filter_app *app, struct zone_cache *zones,
    const struct wire_intent_filter_request *req, struct filter_env *env)
{
	struct str timezone = req->timezone.p != NULL
	    ? req->timezone
	    : str_of(app->conf->timezone);

	env->locale = app->conf->locale;
	env->vocabulary = app->vocabulary;
	env->skills = app->skills;
	env->alarms = app->alarms;
	/* The schema has validated its format. */
	if (req->now.p == NULL || wall_parse(req->now, &env->now) != RC_OK)
		env->now = clock_wall();
	return zone_cache_get(zones, timezone, &env->zone);
}

/* Store an encoded reply for requests with the same key. */
static void
filter_call_store(struct filter_app *app, struct svc_call *c, struct str reply,
    const struct filter_env *env)
{
	const struct filter_call *f = svc_call_data(c);
	struct str key = *env->now_is_used ? f->key.text_and_now : f->key.text;
	struct result r = { .zone = str_of(zone_name(env->zone)) };

	if (key.p != NULL && reply.n <= RESULT_MAX &&
	    result_cache_admit(app->results, key) &&
	    reply_template_make(reply, svc_call_arena(c), &r.reply) == RC_OK)
		result_cache_put(app->results, key, &r);
}

/* Stored first, so that a client that has the reply finds it stored. */
static void
filter_call_reply(struct filter_app *app, struct svc_call *c,
    const struct wire_intent_filter_response *rep, const struct filter_env *env)
{
	struct buf out;

	if (svc_encode(c, rep, &out) == RC_OK) {
		filter_call_store(app, c, buf_str(&out), env);
		svc_reply_encoded(c, buf_str(&out));
	} else {
		svc_fail(c, RC_BUG, "the reply could not be encoded");
	}
	buf_free(&out);
}

static void
filter_call_match(struct filter_app *app, struct catalog_request request,
    const struct catalog *cat, struct filter_scratch *x)
{
	struct svc_call *c = request.call;
	const struct filter_call *f = svc_call_data(c);
	const struct wire_intent_filter_request *req = svc_call_request(c);
	struct wire_intent_filter_response rep;
	bool now_is_used = false, exceeded;
	struct filter_env env = { .now_is_used = &now_is_used };
	enum rc rc;

	if (filter_env_of(app, x->zones, req, &env) != RC_OK) {
		svc_fail(c, RC_INVALID,
		    "/timezone: must be the IANA name of a time zone, "
		    "for example Asia/Shanghai");
		return;
	}
	rc = filter_run(req, cat, &env, x->rx, svc_call_arena(c), &rep);
	exceeded = rx_scratch_take_exceeded(x->rx);
	if (rc != RC_OK) {
		svc_fail(c, rc, "/command: is too large to be matched");
		return;
	}
	rep.request_id =
	    filter_request_id(req->request_id, &x->ids, svc_call_arena(c));
	rep.meta.latency_ms = filter_latency_ms(request.start);
	if (exceeded || f == NULL || f->key.text.p == NULL)
		svc_reply(c, &rep);
	else
		filter_call_reply(app, c, &rep, &env);
}

static void
filter_call_run(
    void *arg, struct catalog_request request, const struct catalog *cat)
{
	struct filter_app *app = arg;
	struct filter_scratch *x = scratch_pool_take(app->scratch);

	filter_call_match(app, request, cat, x);
	scratch_pool_return(app->scratch, x);
}

/* ---- a command that has been matched before ---- */

static void
filter_call_fill(const struct filter_call *f, struct filter_scratch *x,
    const struct zone *zone, struct catalog_request request)
{
	struct svc_call *c = request.call;
	bool has_now = f->key.text_and_now.p != NULL;
	struct wall now = has_now ? f->key.now : clock_wall();
	char now_text[WALL_FORMAT_MAX];
	struct reply_values v = { .request_id =
				      filter_request_id(f->key.request_id,
					  &x->ids, svc_call_arena(c)) };
	struct buf *out = &x->reply;

	wall_format(now, zone_offset_min(zone, now), now_text);
	v.now = str_of(now_text);
	v.latency_ms = filter_latency_ms(request.start);
	(void)buf_reserve(out, f->result.reply.text.n + 512);
	reply_template_fill(&f->result.reply, &v, out);
	svc_reply_encoded(c, buf_str(out));
}

static void
filter_call_reuse(struct filter_app *app, const struct filter_call *f,
    struct catalog_request request)
{
	struct filter_scratch *x = scratch_pool_take(app->scratch);
	const struct zone *zone;

	if (zone_cache_get(x->zones, f->result.zone, &zone) == RC_OK)
		filter_call_fill(f, x, zone, request);
	else
		svc_fail(request.call, RC_INVALID,
		    "/timezone: is no longer known to this system");
	scratch_pool_return(app->scratch, x);
}

/* Find the catalog of c, which may be borrowed, or the whole result. */
static struct filter_call *
filter_call_new(struct filter_app *app, struct svc_call *c)
{
	struct arena *a = svc_call_arena(c);
	struct filter_call *f = arena_alloc(a, sizeof(*f));
	struct catalog_finder finder = catalog_loader_finder(app->loader, c);

	svc_call_set_data(c, f);
	f->reused = result_key_read(svc_call_body(c), &finder, a, &f->source,
			&f->key) == RC_OK &&
	    result_cache_get(app->results, &f->key, a, &f->result);
	if (f->reused && finder.give_back != NULL)
		finder.give_back(finder.cache, f->source.catalog);
	return f;
}

bool
filter_reply_early(void *arg, struct svc_call *c)
{
	struct filter_app *app = arg;
	const struct filter_call *f = filter_call_new(app, c);

	if (f->reused)
		filter_call_reuse(app, f,
		    (struct catalog_request){
			.call = c, .start = svc_call_start(c) });
	return f->reused;
}

bool
filter_decode(void *arg, struct svc_call *c, void *msg)
{
	struct filter_app *app = arg;
	struct filter_call *f = svc_call_data(c);

	if (f == NULL)
		f = filter_call_new(app, c);
	return f->reused ||
	    catalog_loader_decode(app->loader, c, &f->source, msg);
}

static void
filter_call_run_on_worker(
    struct filter_app *app, struct catalog_request request)
{
	const struct catalog *cat =
	    catalog_loader_borrow(app->loader, &request);

	if (cat == NULL) {
		svc_call_to_loop(request.call);
		return;
	}
	filter_call_run(app, request, cat);
	catalog_loader_return(app->loader, cat);
}

void
on_filter(void *arg, struct svc_call *c)
{
	struct filter_app *app = arg;
	const struct filter_call *f = svc_call_data(c);
	struct catalog_request request = { .call = c,
		.start = clock_mono(),
		.source = f != NULL ? &f->source : NULL };

	if (f != NULL && f->reused)
		filter_call_reuse(app, f, request);
	else if (svc_call_on_worker(c))
		filter_call_run_on_worker(app, request);
	else
		catalog_loader_get(app->loader, request, filter_call_run, app);
}
