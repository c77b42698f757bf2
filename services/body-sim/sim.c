/*
 * Start and end of the process's bodies.
 */
#include "sim.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "core/log.h"
#include "core/mem.h"
#include "device.h"
#include "mqtt/mqtt.h"
#include "svc/svc.h"
#include "wire/wire.h"

/* Bodies that connect at one time: fewer than a broker's listen backlog. */
#define CONNECTING_MAX 64
/* After this time without news, others may try beside those. */
#define STUCK_MS 2000
/* Descriptors of the process beside those of its bodies, at most. */
#define OTHER_FDS 600

const struct conf_opt sim_opts[SIM_OPTS_N] = {
	{ "TERMINAL_ID", CONF_STR, CONF_AT(sim_conf, terminal_id),
	    "terminal-001", 0, 0,
	    "id of the body; of the first, the others count up (--terminal)" },
	{ "BODY_COUNT", CONF_INT, CONF_AT(sim_conf, count), "1", 1, 100000,
	    "bodies in this process (--count)" },
	{ "TERMINAL_SOUL_HINT", CONF_STR, CONF_AT(sim_conf, soul_hint), "", 0,
	    0, "soul_hint of the skills report; empty for none" },
	{ "TERMINAL_SKILL_VERSION", CONF_INT, CONF_AT(sim_conf, skill_version),
	    "1", 0, INT64_C(9007199254740991), "skill_version" },
	{ "TERMINAL_CATALOG_VERSION", CONF_INT,
	    CONF_AT(sim_conf, catalog_version), "1", 0,
	    INT64_C(9007199254740991), "catalog_version" },
	{ "TERMINAL_HEARTBEAT_INTERVAL_SECONDS", CONF_F64,
	    CONF_AT(sim_conf, heartbeat_s), "10", 0, 0,
	    "time between heartbeats, s; 0.01 to 3600, else clamped" },
	{ "TERMINAL_ACTION_MAX_AGE_SECONDS", CONF_F64,
	    CONF_AT(sim_conf, action_max_age_s), "10", 0, 86400,
	    "age at which an intent_action is ignored, s; 0: never" },
	{ "MQTT_BROKER_URL", CONF_URL, CONF_AT(sim_conf, broker_url),
	    "mqtt://127.0.0.1:1883", 0, 0,
	    "mqtt:// or mqtts://, with user and password if any (--broker)" },
	{ "MQTT_USERNAME", CONF_STR, CONF_AT(sim_conf, user), "", 0, 0,
	    "MQTT user; empty for none" },
	{ "MQTT_PASSWORD", CONF_SECRET, CONF_AT(sim_conf, password), "", 0, 0,
	    "MQTT password" },
	{ "MQTT_CA_FILE", CONF_STR, CONF_AT(sim_conf, ca_file), "", 0, 0,
	    "PEM, who may sign the broker's certificate; empty: the system's" },
	{ "MQTT_CERT_FILE", CONF_STR, CONF_AT(sim_conf, cert_file), "", 0, 0,
	    "PEM, the body's certificate; empty for none" },
	{ "MQTT_KEY_FILE", CONF_STR, CONF_AT(sim_conf, key_file), "", 0, 0,
	    "PEM, its key" },
	{ "MQTT_TOPIC_PREFIX", CONF_STR, CONF_AT(sim_conf, prefix), "soul", 0,
	    0, "first levels of all topics (--prefix)" },
	{ "BODY_FAULTS", CONF_STR, CONF_AT(sim_conf, faults), "", 0, 0,
	    "silent, error, wrong-request-id, late=<ms>, drop=<s>, flap=<s>, "
	    "separated by commas (--faults)" },
	{ "BODY_FAULT_SHARE", CONF_F64, CONF_AT(sim_conf, fault_share), "1", 0,
	    1, "share of the bodies that have the faults (--fault-share)" },
};

const struct flag sim_flags[SIM_FLAGS_N] = {
	{ "--terminal", { "TERMINAL_ID", NULL }, NULL },
	{ "--count", { "BODY_COUNT", NULL }, NULL },
	{ "--broker", { "MQTT_BROKER_URL", NULL }, NULL },
	{ "--prefix", { "MQTT_TOPIC_PREFIX", NULL }, NULL },
	{ "--faults", { "BODY_FAULTS", NULL }, NULL },
	{ "--fault-share", { "BODY_FAULT_SHARE", NULL }, NULL },
};

/* Once all were there, one that is suffices: faults come and go. */
static bool
sim_up(void *arg)
{
	struct sim *sim = arg;

	return atomic_load(&sim->announced) == (size_t)sim->conf->count &&
	    atomic_load(&sim->online) > 0;
}

/* ---- connecting, a few at a time ----------------------------------------- */

static void begin_more(void *arg);

static enum rc
begin_some(struct sim *sim)
{
	enum rc rc = RC_OK;

	while (rc == RC_OK && sim->begun < sim->n &&
	    sim->connecting < CONNECTING_MAX) {
		rc = device_begin(&sim->devices[sim->begun++]);
		sim->connecting++;
	}
	if (sim->begun < sim->n)
		loop_timer_set(sim->loop, &sim->more,
		    mono_add_ms(clock_mono(), STUCK_MS), begin_more, sim);
	return rc;
}

static void
begin_next(struct sim *sim)
{
	/* The first took the same options. */
	if (begin_some(sim) != RC_OK)
		log_error("sim.begin_failed", LOG_I("begun", sim->begun));
}

static void
begin_more(void *arg)
{
	struct sim *sim = arg;

	sim->connecting = 0;
	begin_next(sim);
}

void
sim_came(struct sim *sim)
{
	if (sim->connecting > 0)
		sim->connecting--;
	if (atomic_fetch_add(&sim->announced, 1) + 1 == sim->n)
		log_info("sim.all_announced", LOG_I("bodies", sim->n));
	begin_next(sim);
}

struct device *
sim_find(struct sim *sim, struct str id)
{
	return id.n > 0 ? map_get(sim->by_id, id) : &sim->devices[0];
}

/* ---- start, stop --------------------------------------------------------- */

static void
raise_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void
check_descriptors(const struct sim_conf *conf, struct buf *errors)
{
	rlim_t want = (rlim_t)conf->count + OTHER_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < want)
		buf_puts(errors,
		    "BODY_COUNT: it must be within the limit of open files "
		    "(ulimit -Hn), less 600\n");
}

static void
check_hint(const struct sim_conf *conf, struct buf *errors)
{
	struct documents *documents = documents_new();
	struct buf out = BUF_INIT(WIRE_MESSAGE_MAX);

	if (documents_skills(
		documents, STR("x"), str_of(conf->soul_hint), 1, &out) != RC_OK)
		buf_puts(errors,
		    "TERMINAL_SOUL_HINT: it must be at most 256 characters of "
		    "UTF-8\n");
	buf_free(&out);
	documents_free(documents);
}

void
sim_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct sim_conf *conf = arg;
	const struct mqtt_opts o = device_broker(conf);
	const char *fault = mqtt_opts_error(&o);
	struct faults faults;
	char why[256];

	(void)known;
	if (fault != NULL)
		buf_printf(errors,
		    "MQTT_BROKER_URL, MQTT_CA_FILE, MQTT_CERT_FILE, "
		    "MQTT_KEY_FILE: %s\n",
		    fault);
	if (faults_parse(str_of(conf->faults), &faults, why, sizeof(why)) !=
	    RC_OK)
		buf_printf(errors, "BODY_FAULTS: %s\n", why);
	/* Names only get longer. */
	if (!device_named(conf, 0) ||
	    !device_named(conf, (size_t)conf->count - 1))
		buf_puts(errors,
		    "TERMINAL_ID, MQTT_TOPIC_PREFIX: together they must be an "
		    "MQTT topic; the id 1 to 128 bytes of UTF-8 without / + # "
		    "and control characters\n");
	check_hint(conf, errors);
	check_descriptors(conf, errors);
}

static enum rc
people(struct sim *sim)
{
	size_t i, count = (size_t)sim->conf->count;

	sim->devices = mem_calloc(count, sizeof(*sim->devices));
	for (i = 0; i < count; i++) {
		sim->n++;
		if (device_init(&sim->devices[i], sim, i) != RC_OK)
			return RC_INVALID;
		map_put(
		    sim->by_id, str_of(sim->devices[i].id), &sim->devices[i]);
	}
	return RC_OK;
}

static void
metrics(struct sim *sim)
{
	struct metric_set *m = sim->metrics;

	sim->m_invokes[0] = metric_counter(m, "body_invokes_total",
	    "Invokes answered, by outcome.", "ok=\"false\"");
	sim->m_invokes[1] = metric_counter(m, "body_invokes_total",
	    "Invokes answered, by outcome.", "ok=\"true\"");
	sim->m_updates[0] = metric_counter(m, "body_emotion_updates_total",
	    "Emotion updates taken.", "kind=\"turn\"");
	sim->m_updates[1] = metric_counter(m, "body_emotion_updates_total",
	    "Emotion updates taken.", "kind=\"tick\"");
	sim->m_actions = metric_counter(
	    m, "body_actions_total", "Intents carried out.", NULL);
	sim->m_alarms =
	    metric_counter(m, "body_alarms_total", "Alarms that rang.", NULL);
	sim->m_ignored = metric_counter(m, "body_ignored_total",
	    "Messages that counted for nothing.", NULL);
}

void *
sim_start(struct svc *s, const void *conf)
{
	struct sim *sim = mem_zalloc(sizeof(*sim));
	char why[256];

	sim->conf = conf;
	sim->loop = svc_loop(s);
	sim->metrics = svc_metrics(s);
	sim->workers = worker_new(sim->loop, 1, (size_t)sim->conf->count);
	sim->documents = documents_new();
	sim->skills = skills_new(sim->documents);
	sim->by_id = map_new();
	sim->arena = arena_new(WIRE_ARENA_MAX);
	buf_init(&sim->out, WIRE_MESSAGE_MAX);
	metrics(sim);
	raise_descriptors();
	/* sim_check() took all this. */
	if (faults_parse(str_of(sim->conf->faults), &sim->faults, why,
		sizeof(why)) != RC_OK ||
	    people(sim) != RC_OK || begin_some(sim) != RC_OK) {
		sim_stop(sim);
		return NULL;
	}
	svc_require(s, "the MQTT broker", sim_up, sim);
	return sim;
}

void
sim_stop(void *arg)
{
	struct sim *sim = arg;
	size_t i;

	loop_timer_cancel(sim->loop, &sim->more);
	for (i = 0; i < sim->n; i++)
		device_free(&sim->devices[i]);
	free(sim->devices);
	map_free(sim->by_id);
	worker_free(sim->workers);
	skills_free(sim->skills);
	documents_free(sim->documents);
	arena_free(sim->arena);
	buf_free(&sim->out);
	free(sim);
}
