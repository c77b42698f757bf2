#include "sim.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "core/clock.h"
#include "core/log.h"
#include "core/map.h"
#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "options.h"
#include "sim_device.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* Devices connecting at one time: below the listen backlog of a broker. */
#define CONNECTING_MAX 64
/* After this time without progress, more may connect in addition. */
#define STUCK_MS 2000
/* Most descriptors of the process that are not of devices. */
#define OTHER_FDS 600

struct sim {
	struct device_env env;
	struct device *devices;
	size_t n;          /* initialized devices */
	size_t started;    /* connecting or connected */
	size_t connecting; /* of these, never announced */
	struct map *by_id;
	struct loop_timer more;
	atomic_size_t announced; /* at least one time */
};

/*
 * After all devices have announced themselves, one that is online is enough:
 * with simulated failures they come and go.
 */
static bool
sim_is_up(void *arg)
{
	struct sim *sim = arg;

	return atomic_load(&sim->announced) == (size_t)sim->env.conf->count &&
	    atomic_load(&sim->env.online) > 0;
}

/* ---- connecting ---- */

static void sim_connect_more(void *arg);

static enum rc
sim_connect_some(struct sim *sim)
{
	enum rc rc = RC_OK;

	while (rc == RC_OK && sim->started < sim->n &&
	    sim->connecting < CONNECTING_MAX) {
		rc = device_connect(&sim->devices[sim->started++]);
		sim->connecting++;
	}
	if (sim->started < sim->n)
		loop_timer_set(sim->env.loop, &sim->more,
		    mono_add_ms(clock_mono(), STUCK_MS), sim_connect_more, sim);
	return rc;
}

static void
sim_connect_next(struct sim *sim)
{
	/* Unexpected: the first ones accepted the same options. */
	if (sim_connect_some(sim) != RC_OK)
		log_error("sim.connect_failed", LOG_I("started", sim->started));
}

static void
sim_connect_more(void *arg)
{
	struct sim *sim = arg;

	sim->connecting = 0;
	sim_connect_next(sim);
}

static void
sim_on_announced(void *arg)
{
	struct sim *sim = arg;

	if (sim->connecting > 0)
		sim->connecting--;
	if (atomic_fetch_add(&sim->announced, 1) + 1 == sim->n)
		log_info("sim.all_announced", LOG_I("bodies", sim->n));
	sim_connect_next(sim);
}

static struct device *
sim_find(struct sim *sim, struct str id)
{
	return id.n > 0 ? map_get(sim->by_id, id) : &sim->devices[0];
}

/* ---- start and stop ---- */

static void
sim_raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void
sim_check_descriptors(const struct sim_conf *conf, struct buf *errors)
{
	rlim_t want = (rlim_t)conf->count + OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < want)
		buf_puts(errors,
		    "BODY_COUNT: must not exceed the limit of open files "
		    "(ulimit -Hn) less 600\n");
}

static void
sim_check_reports(const struct sim_conf *conf, struct buf *errors)
{
	struct documents *documents = documents_new();
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);

	if (documents_select(documents, str_of(conf->skills)) != RC_OK)
		buf_puts(errors,
		    "TERMINAL_SKILLS: must be some of control_light, "
		    "create_alarm, set_head_motion, speak\n");
	if (documents_skills(
		documents, STR("x"), str_of(conf->soul_hint), 1, &out) != RC_OK)
		buf_puts(errors,
		    "TERMINAL_SOUL_HINT: must be at most 256 characters of "
		    "UTF-8\n");
	buf_free(&out);
	documents_free(documents);
}

void
sim_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct sim_conf *conf = arg;
	const struct mqtt_opts o = device_mqtt_opts(conf);
	const char *error = mqtt_opts_error(&o);
	struct failures failures;
	struct sources sources;
	char why[256];

	(void)known;
	if (error != NULL)
		buf_printf(errors,
		    "MQTT_BROKER_URL, MQTT_CA_FILE, MQTT_CERT_FILE, "
		    "MQTT_KEY_FILE: %s\n",
		    error);
	if (failures_parse(
		str_of(conf->failures), &failures, why, sizeof(why)) != RC_OK)
		buf_printf(errors, "BODY_FAULTS: %s\n", why);
	if (sources_parse(str_of(conf->sources), &sources) != RC_OK)
		buf_puts(errors,
		    "BODY_SOURCES: must be an IPv4 address, or the first and "
		    "the last one of a range: 127.0.1.1-127.0.1.99\n");
	/* Ids only get longer. */
	if (!device_id_valid(conf, 0) ||
	    !device_id_valid(conf, (size_t)conf->count - 1))
		buf_puts(errors,
		    "TERMINAL_ID, MQTT_TOPIC_PREFIX: must form an MQTT topic; "
		    "the id must be 1 to 128 bytes of UTF-8 without / + # and "
		    "control characters\n");
	sim_check_reports(conf, errors);
	sim_check_descriptors(conf, errors);
}

static enum rc
sim_create_devices(struct sim *sim)
{
	size_t i, count = (size_t)sim->env.conf->count;

	sim->devices = mem_calloc(count, sizeof(*sim->devices));
	for (i = 0; i < count; i++) {
		sim->n++;
		if (device_init(&sim->devices[i], &sim->env, i) != RC_OK)
			return RC_INVALID;
		map_put(
		    sim->by_id, str_of(sim->devices[i].id), &sim->devices[i]);
	}
	return RC_OK;
}

static void
sim_metrics(struct sim *sim)
{
	struct metric_set *m = sim->env.metrics;

	sim->env.m_invokes[0] = metric_counter(m, "body_invokes_total",
	    "Results of invokes, by outcome.", "ok=\"false\"");
	sim->env.m_invokes[1] = metric_counter(m, "body_invokes_total",
	    "Results of invokes, by outcome.", "ok=\"true\"");
	sim->env.m_updates[0] = metric_counter(m, "body_emotion_updates_total",
	    "Emotion updates applied.", "kind=\"turn\"");
	sim->env.m_updates[1] = metric_counter(m, "body_emotion_updates_total",
	    "Emotion updates applied.", "kind=\"tick\"");
	sim->env.m_actions =
	    metric_counter(m, "body_actions_total", "Intents executed.", NULL);
	sim->env.m_alarms =
	    metric_counter(m, "body_alarms_total", "Alarms fired.", NULL);
	sim->env.m_ignored =
	    metric_counter(m, "body_ignored_total", "Messages ignored.", NULL);
}

void *
sim_start(struct svc *s, const void *conf)
{
	struct sim *sim = mem_zalloc(sizeof(*sim));
	char why[256];

	sim->env.conf = conf;
	sim->env.loop = svc_loop(s);
	sim->env.metrics = svc_metrics(s);
	sim->env.workers =
	    worker_new(sim->env.loop, 1, (size_t)sim->env.conf->count);
	sim->env.documents = documents_new();
	if (documents_select(
		sim->env.documents, str_of(sim->env.conf->skills)) != RC_OK)
		log_error("body.skills");
	sim->env.skills = skills_new(sim->env.documents);
	sim->env.on_announced = sim_on_announced;
	sim->env.arg = sim;
	sim->by_id = map_new();
	sim->env.arena = arena_new(WIRE_ARENA_MAX);
	buf_init(&sim->env.out, WIRE_MESSAGE_MAX);
	sim_metrics(sim);
	sim_raise_descriptors();
	/* sim_check() has accepted the configuration. */
	if (failures_parse(str_of(sim->env.conf->failures), &sim->env.failures,
		why, sizeof(why)) != RC_OK ||
	    sources_parse(str_of(sim->env.conf->sources), &sim->env.sources) !=
		RC_OK ||
	    sim_create_devices(sim) != RC_OK ||
	    sim_connect_some(sim) != RC_OK) {
		sim_stop(sim);
		return NULL;
	}
	svc_require(s, "the MQTT broker", sim_is_up, sim);
	return sim;
}

void
sim_stop(void *arg)
{
	struct sim *sim = arg;
	size_t i;

	loop_timer_cancel(sim->env.loop, &sim->more);
	for (i = 0; i < sim->n; i++)
		device_free(&sim->devices[i]);
	free(sim->devices);
	map_free(sim->by_id);
	worker_free(sim->env.workers);
	skills_free(sim->env.skills);
	documents_free(sim->env.documents);
	arena_free(sim->env.arena);
	buf_free(&sim->env.out);
	free(sim);
}

/* ---- state ---- */

void
sim_state(void *app, struct svc_call *c)
{
	struct sim *sim = app;
	const struct sim_conf *conf = sim->env.conf;
	struct device *d = sim_find(sim, svc_call_query(c, "terminal_id"));
	struct wire_body_state st = { 0 };

	if (d == NULL) {
		svc_fail(c, RC_NOENT, "no such body here");
		return;
	}
	st.terminal_id = str_of(d->id);
	st.soul_hint = str_of(conf->soul_hint);
	st.skill_version = conf->skill_version;
	st.catalog_version = conf->catalog_version;
	st.online = device_online(d);
	if (body_fill_state(&d->body, clock_wall(), svc_call_arena(c), &st) ==
	    RC_OK)
		svc_reply(c, &st);
	else
		svc_fail(c, RC_TOOBIG, "the state takes too much memory");
}
