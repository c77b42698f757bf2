#include "bridge.h"

#include <stdlib.h>

#include "address.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/rate.h"
#include "core/worker.h"
#include "handlers.h"
#include "mqtt/mqtt.h"
#include "state/state.h"
#include "svc/svc.h"
#include "terminal_event.h"
#include "terminal_limits.h"

/* The connection counts as lost after 1.5 times this. */
#define KEEPALIVE_S 10
/*
 * Short: a terminal that reconnects before the bridge is not present until its
 * next heartbeat.
 */
#define RETRY_MS 250
/*
 * Deadline of a call to Redis.  It may carry a megabyte, and wait for the fsync
 * of the calls before it and for its own.
 */
#define REDIS_MS 1000

const struct conf_opt bridge_opts[BRIDGE_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(bridge_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(bridge_conf, redis),
	{ "MQTT_BROKER_URL", CONF_URL, CONF_AT(bridge_conf, mqtt_url),
	    "mqtt://127.0.0.1:1883", 0, 0,
	    "MQTT 5 broker, mqtt://host:port, or mqtts:// with TLS" },
	{ "MQTT_USERNAME", CONF_STR, CONF_AT(bridge_conf, mqtt_user), "", 0, 0,
	    "MQTT user; empty for none" },
	{ "MQTT_PASSWORD", CONF_SECRET, CONF_AT(bridge_conf, mqtt_password), "",
	    0, 0, "MQTT password" },
	{ "MQTT_CA_FILE", CONF_STR, CONF_AT(bridge_conf, ca_file), "", 0, 0,
	    "PEM, CA of the broker's certificate; empty: the system's" },
	{ "MQTT_CERT_FILE", CONF_STR, CONF_AT(bridge_conf, cert_file), "", 0, 0,
	    "PEM, client certificate; empty for none" },
	{ "MQTT_KEY_FILE", CONF_STR, CONF_AT(bridge_conf, key_file), "", 0, 0,
	    "PEM, key of the client certificate" },
	{ "MQTT_TOPIC_PREFIX", CONF_STR, CONF_AT(bridge_conf, prefix), "soul",
	    0, 0, "prefix of all topics; may contain slashes" },
	{ "BROKER_ID", CONF_STR, CONF_AT(bridge_conf, broker), "main", 0, 0,
	    "name of the broker, the same for all its bridges" },
	{ "SKILL_SNAPSHOT_TTL_SECONDS", CONF_INT, CONF_AT(bridge_conf, ttl_s),
	    "60", 1, 86400,
	    "time without a message after which a terminal is offline, s" },
	{ "RATE_TERMINAL_PER_S", CONF_INT, CONF_AT(bridge_conf, rate_per_s),
	    "20", 1, RATE_MAX,
	    "messages per second per terminal, separately for reports, "
	    "heartbeats and results without an invoke" },
	{ "RATE_TERMINAL_BURST", CONF_INT, CONF_AT(bridge_conf, rate_burst),
	    "60", 40, RATE_MAX,
	    "burst of RATE_TERMINAL_PER_S; every 64 KiB counts as one more" },
	{ "SKILLS_BYTES_MAX", CONF_INT, CONF_AT(bridge_conf, skills_max),
	    "65536", 1024, 1048576,
	    "maximum size of a terminal's skills, which are sent whole to "
	    "the language model, bytes; larger reports are rejected" },
};

static bool
bridge_redis_up(void *arg)
{
	return state_up(arg);
}

static bool
bridge_broker_up(void *arg)
{
	return mqtt_up(arg);
}

static bool
bridge_reports_served(void *arg)
{
	return lease_holder_served(arg);
}

/* ---- broker ---- */

static void
bridge_broker_state(void *arg, bool up)
{
	struct bridge *b = arg;

	lease_holder_broker_state(b->lease, up);
	if (!up)
		commands_broker_down(b->commands);
}

/* ---- start and stop ---- */

static const char *
bridge_nonempty(const char *s)
{
	return s[0] != '\0' ? s : NULL;
}

static struct mqtt_opts
bridge_mqtt_opts(const struct bridge_conf *c)
{
	return (struct mqtt_opts){ .url = c->mqtt_url,
		.user = bridge_nonempty(c->mqtt_user),
		.password = bridge_nonempty(c->mqtt_password),
		.ca_file = c->ca_file,
		.cert_file = c->cert_file,
		.key_file = c->key_file,
		.version = 5,
		.keepalive_s = KEEPALIVE_S };
}

void
bridge_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct bridge_conf *c = arg;
	const struct mqtt_opts o = bridge_mqtt_opts(c);
	const char *error = state_url_error(c->redis_url);
	char token[ID_TOKEN_MAX];

	(void)known;
	if (error != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", error);
	error = mqtt_opts_error(&o);
	if (error != NULL)
		buf_printf(errors,
		    "MQTT_BROKER_URL, MQTT_CA_FILE, MQTT_CERT_FILE, "
		    "MQTT_KEY_FILE: %s\n",
		    error);
	if (!address_prefix_valid(str_of(c->prefix)))
		buf_puts(errors,
		    "MQTT_TOPIC_PREFIX: it must be levels of a topic, without "
		    "wildcards\n");
	/* Its terminals are souls in environments. */
	if (str_eq(str_of(c->broker), STR("star")))
		buf_puts(errors,
		    "BROKER_ID: star is the broker of star-hub; choose "
		    "another name\n");
	if (!lease_holder_broker_valid(str_of(c->broker)) ||
	    id_token(str_of(c->broker), token) != RC_OK)
		buf_puts(errors,
		    "BROKER_ID: it must be 1 to 100 bytes, without control "
		    "characters\n");
}

static enum rc
bridge_connect_redis(struct bridge *b)
{
	const struct state_opts o = { .loop = b->loop,
		.workers = b->workers,
		.url = b->conf->redis_url,
		.conf = &b->conf->redis,
		.name = "mqtt-bridge",
		.deadline_ms = REDIS_MS,
		.on_format = svc_end_unusable,
		.arg = b->svc,
		.metrics = svc_metrics(b->svc) };
	enum rc rc = state_new(&o, &b->state);

	if (rc == RC_OK)
		svc_require(b->svc, "redis", bridge_redis_up, b->state);
	return rc;
}

static enum rc
bridge_connect_broker(struct bridge *b)
{
	char id[sizeof("mqtt-bridge-") + ID_HEX32_MAX] = "mqtt-bridge-";
	struct mqtt_opts o = bridge_mqtt_opts(b->conf);
	enum rc rc;

	id_hex32(id + strlen(id));
	o.loop = b->loop;
	o.workers = b->workers;
	o.client_id = id;
	o.retry_max_ms = RETRY_MS;
	o.metrics = svc_metrics(b->svc);
	o.on_state = bridge_broker_state;
	o.on_message = receive_message;
	o.arg = b;
	rc = mqtt_new(&o, &b->mqtt);
	if (rc == RC_OK)
		svc_require(b->svc, "mqtt", bridge_broker_up, b->mqtt);
	return rc;
}

void *
bridge_start(struct svc *s, const void *conf)
{
	struct bridge *b = mem_zalloc(sizeof(*b));
	enum rc rc;

	b->conf = conf;
	b->svc = s;
	b->loop = svc_loop(s);
	b->workers = worker_new(b->loop, 1, 16);
	b->events = terminal_events_new(b);
	receive_init(b);
	b->prefix = str_of(b->conf->prefix);
	b->broker = str_of(b->conf->broker);
	b->ttl_ms = b->conf->ttl_s * 1000;
	rc = id_token(b->broker, b->broker_token);
	if (rc == RC_OK)
		rc = bridge_connect_redis(b);
	if (rc == RC_OK)
		rc = bridge_connect_broker(b);
	if (rc != RC_OK) {
		bridge_stop(b);
		return NULL;
	}
	b->reports = reports_new(b);
	b->snapshots = snapshot_queue_new(b);
	b->lease = lease_holder_new(b);
	svc_require(s, "reports", bridge_reports_served, b->lease);
	b->results = results_new(b);
	b->commands = commands_new(b);
	return b;
}

void
bridge_stop(void *arg)
{
	struct bridge *b = arg;

	results_free(b->results);
	reports_free(b->reports);
	lease_holder_free(b->lease);
	commands_free(b->commands);
	mqtt_free(b->mqtt);
	snapshot_queue_free(b->snapshots);
	state_free(b->state);
	worker_free(b->workers);
	terminal_events_free(b->events);
	flood_limiter_free(b->flood);
	free(b);
}
