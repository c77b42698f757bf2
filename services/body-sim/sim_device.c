#include "sim_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "options.h"
#include "wire/iface.h"
#include "wire/subjects.h"

#define KEEPALIVE_S     30
#define HEARTBEAT_S_MIN 0.01
#define HEARTBEAT_S_MAX 3600.0
#define LOG_EVERY_S     5
/* From this number of devices on, save descriptors. */
#define LEAN_FROM 100
/* Longest reconnect delay; more devices spread over a longer time. */
#define RETRY_MS     2000
#define RETRY_MS_PER 1
#define CLIENT_ID    "body-sim-%s"

struct delayed_result {
	TAILQ_ENTRY(delayed_result) link;
	struct device *device;
	struct loop_timer timer;
	char *request_id;
	char *payload;
};

/* ---- publishing ---- */

static void
device_log_unsent(const struct device *d, const char *topic, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("body.unsent", LOG_S("terminal", d->id),
		    LOG_S("topic", topic), LOG_RC(rc), LOG_I("missed", missed));
}

static void
device_topic(const struct device *d, const char *leaf, struct str rest,
    char dst[MQTT_TOPIC_MAX + 1])
{
	(void)snprintf(dst, MQTT_TOPIC_MAX + 1, "%s/terminal/%s/%s%.*s",
	    d->env->conf->prefix, d->id, leaf, STR_ARG(rest));
}

/* With the QoS and retain flag of the protocol. */
static void
device_publish(struct device *d, int topic, struct str payload, mqtt_done_fn fn)
{
	const struct wire_topic *t = &wire_topics[topic];
	char text[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .topic = { text, 0 },
		.payload = payload,
		.qos = t->qos,
		.retain = t->retain };
	enum rc rc;

	device_topic(d, t->leaf, STR(""), text);
	m.topic.n = strlen(text);
	rc = mqtt_publish(d->mqtt, &m, fn, d);
	if (rc != RC_OK)
		device_log_unsent(d, text, rc);
}

/* ---- announcing ---- */

static int64_t
device_heartbeat_ms(const struct sim_conf *conf)
{
	double s = conf->heartbeat_s;

	if (s < HEARTBEAT_S_MIN)
		s = HEARTBEAT_S_MIN;
	if (s > HEARTBEAT_S_MAX)
		s = HEARTBEAT_S_MAX;
	return llround(s * 1000);
}

static void
device_set_timer(struct device *d, struct loop_timer *t, int64_t ms, loop_fn fn)
{
	loop_timer_set(d->env->loop, t, mono_add_ms(clock_mono(), ms), fn, d);
}

static void
device_on_heartbeat(void *arg)
{
	struct device *d = arg;

	device_publish(d, WIRE_TOPIC_HEARTBEAT, STR("1"), NULL);
	device_set_timer(d, &d->heartbeat, device_heartbeat_ms(d->env->conf),
	    device_on_heartbeat);
	/* The wall clock may have been set. */
	device_check_alarms(d);
}

static void
device_set_phase(struct device *d, enum device_phase phase)
{
	bool was = d->phase == DEVICE_ONLINE, is = phase == DEVICE_ONLINE;

	d->phase = phase;
	if (was && !is) {
		atomic_fetch_sub(&d->env->online, 1);
		loop_timer_cancel(d->env->loop, &d->heartbeat);
	} else if (is && !was) {
		atomic_fetch_add(&d->env->online, 1);
	}
}

/* The broker has the last report, so a heartbeat cannot overtake it. */
static void
device_on_announced(void *arg, enum rc rc, unsigned reason)
{
	struct device *d = arg;

	(void)reason;
	if (d->phase != DEVICE_ANNOUNCING || rc == RC_TIMEOUT || rc == RC_DOWN)
		return;
	if (rc != RC_OK && rc != RC_NOENT)
		device_log_unsent(d, "intent_catalog", rc);
	device_set_phase(d, DEVICE_ONLINE);
	device_on_heartbeat(d);
	if (!d->announced) {
		d->announced = true;
		d->env->on_announced(d->env->arg);
	}
}

/* The report in out; encoding our own documents cannot fail. */
static struct str
device_report_text(struct device *d, enum rc rc)
{
	if (rc != RC_OK) {
		log_error(
		    "body.broken_report", LOG_S("terminal", d->id), LOG_RC(rc));
		abort();
	}
	return buf_str(&d->env->out);
}

static void
device_announce(struct device *d)
{
	const struct sim_conf *conf = d->env->conf;
	struct buf *out = &d->env->out;

	device_set_phase(d, DEVICE_ANNOUNCING);
	device_publish(d, WIRE_TOPIC_ONLINE, STR("online"), NULL);
	buf_reset(out);
	device_publish(d, WIRE_TOPIC_SKILLS,
	    device_report_text(d,
		documents_skills(d->env->documents, str_of(d->id),
		    str_of(conf->soul_hint), conf->skill_version, out)),
	    NULL);
	buf_reset(out);
	device_publish(d, WIRE_TOPIC_INTENT_CATALOG,
	    device_report_text(d,
		documents_intents(d->env->documents, str_of(d->id),
		    conf->catalog_version, out)),
	    device_on_announced);
}

/* ---- connection failures ---- */

static void
device_on_drop(void *arg)
{
	struct device *d = arg;

	body_log(&d->body, clock_wall(), "failure: drops the connection");
	mqtt_break(d->mqtt);
}

static void
device_on_flap(void *arg)
{
	struct device *d = arg;

	device_set_timer(d, &d->flap, d->env->failures.flap_ms, device_on_flap);
	if (d->phase == DEVICE_OFFLINE) {
		device_announce(d);
	} else {
		body_log(&d->body, clock_wall(), "failure: goes offline");
		device_set_phase(d, DEVICE_OFFLINE);
		device_publish(d, WIRE_TOPIC_ONLINE, STR("offline"), NULL);
	}
}

/* ---- connecting ---- */

static void
device_on_state(void *arg, bool up)
{
	const struct failures *f;
	struct device *d = arg;

	f = &d->env->failures;
	body_log(
	    &d->body, clock_wall(), "%s", up ? "connected" : "connection lost");
	if (!up) {
		device_set_phase(d, DEVICE_DOWN);
		loop_timer_cancel(d->env->loop, &d->drop);
		loop_timer_cancel(d->env->loop, &d->flap);
		return;
	}
	device_announce(d);
	if (d->failing && f->drop_ms > 0)
		device_set_timer(d, &d->drop, f->drop_ms, device_on_drop);
	if (d->failing && f->flap_ms > 0)
		device_set_timer(d, &d->flap, f->flap_ms, device_on_flap);
}

static void
device_on_message(void *arg, const struct mqtt_msg *m)
{
	struct device *d = arg;
	char base[MQTT_TOPIC_MAX + 1];
	struct str leaf = m->topic;

	device_topic(d, "", STR(""), base);
	if (!str_starts(leaf, str_of(base)))
		return;
	leaf.p += strlen(base);
	leaf.n -= strlen(base);
	device_handle(d, leaf, m);
}

/* The id of device i; false if it or its topics are invalid. */
static bool
device_make_id(const struct sim_conf *conf, size_t i, char id[ID_MAX + 1])
{
	char topic[MQTT_TOPIC_MAX + 1];
	int n;

	if (sim_device_id(str_of(conf->terminal_id), i, id) != RC_OK ||
	    !id_terminal_valid(str_of(id)))
		return false;
	/* The longest topic with any request id. */
	n = snprintf(topic, sizeof(topic), "%s/terminal/%s/%0*d", conf->prefix,
	    id, (int)strlen("result/") + ID_MAX, 0);
	return n <= MQTT_TOPIC_MAX && mqtt_topic_valid(str_of(topic));
}

bool
device_id_valid(const struct sim_conf *conf, size_t i)
{
	char id[ID_MAX + 1];

	return device_make_id(conf, i, id);
}

struct mqtt_opts
device_mqtt_opts(const struct sim_conf *conf)
{
	bool named = conf->user[0] != '\0';

	return (struct mqtt_opts){ .url = conf->broker_url,
		.user = named ? conf->user : NULL,
		.password = named ? conf->password : NULL,
		.ca_file = conf->ca_file,
		.cert_file = conf->cert_file,
		.key_file = conf->key_file,
		.keepalive_s = KEEPALIVE_S };
}

enum rc
device_init(struct device *d, struct device_env *env, size_t i)
{
	char id[ID_MAX + 1];

	*d = (struct device){ .env = env, .number = i };
	TAILQ_INIT(&d->delayed);
	body_init(&d->body, clock_wall());
	d->failing = failures_selected(env->conf->failure_share, i);
	if (!device_make_id(env->conf, i, id))
		return RC_INVALID;
	d->id = mem_strdup(id);
	return RC_OK;
}

static enum rc
device_subscribe(struct device *d)
{
	char filter[MQTT_TOPIC_MAX + 1];
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < wire_topics_n && rc == RC_OK; i++) {
		if (wire_topics[i].from_body)
			continue;
		device_topic(d, wire_topics[i].leaf, STR(""), filter);
		rc = mqtt_subscribe(d->mqtt, str_of(filter), 1, NULL, NULL);
	}
	return rc;
}

enum rc
device_connect(struct device *d)
{
	const struct sim_conf *conf = d->env->conf;
	char topic[MQTT_TOPIC_MAX + 1], client_id[ID_MAX + 32];
	char source[SOURCE_MAX];
	struct mqtt_msg will = {
		.payload = STR("offline"), .qos = 1, .retain = true
	};
	struct mqtt_opts o = device_mqtt_opts(conf);
	enum rc rc;

	o.loop = d->env->loop;
	o.workers = d->env->workers;
	o.client_id = client_id;
	sources_address(&d->env->sources, d->number, source);
	o.source = source;
	o.will = &will;
	o.retry_max_ms = RETRY_MS + RETRY_MS_PER * (int)(conf->count - 1);
	o.lean = conf->count > LEAN_FROM;
	o.metrics = d->env->metrics;
	o.on_state = device_on_state;
	o.on_message = device_on_message;
	o.arg = d;
	/*
	 * The same each time, so that a new session replaces the previous one.
	 */
	(void)snprintf(client_id, sizeof(client_id), CLIENT_ID, d->id);
	device_topic(d, wire_topics[WIRE_TOPIC_ONLINE].leaf, STR(""), topic);
	will.topic = str_of(topic);
	rc = mqtt_new(&o, &d->mqtt);
	return rc == RC_OK ? device_subscribe(d) : rc;
}

bool
device_online(const struct device *d)
{
	return d->phase == DEVICE_ONLINE;
}

/* ---- results ---- */

static void
delayed_result_free(struct delayed_result *l)
{
	loop_timer_cancel(l->device->env->loop, &l->timer);
	TAILQ_REMOVE(&l->device->delayed, l, link);
	free(l->request_id);
	free(l->payload);
	free(l);
}

static void
device_publish_result(
    struct device *d, struct str request_id, struct str payload)
{
	char topic[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .payload = payload, .qos = 1 };
	enum rc rc;

	device_topic(d, "result/", request_id, topic);
	m.topic = str_of(topic);
	rc = mqtt_publish(d->mqtt, &m, NULL, NULL);
	if (rc != RC_OK)
		device_log_unsent(d, topic, rc);
}

static void
device_on_delay(void *arg)
{
	struct delayed_result *l = arg;

	device_publish_result(
	    l->device, str_of(l->request_id), str_of(l->payload));
	delayed_result_free(l);
}

void
device_send_result(struct device *d, struct str request_id, struct str payload)
{
	struct delayed_result *l;

	if (!d->failing || d->env->failures.delay_ms == 0) {
		device_publish_result(d, request_id, payload);
		return;
	}
	l = mem_zalloc(sizeof(*l));
	l->device = d;
	l->request_id = str_dup(request_id);
	l->payload = str_dup(payload);
	TAILQ_INSERT_TAIL(&d->delayed, l, link);
	loop_timer_set(d->env->loop, &l->timer,
	    mono_add_ms(clock_mono(), d->env->failures.delay_ms),
	    device_on_delay, l);
}

static void
device_on_alarm(void *arg)
{
	device_check_alarms(arg);
}

void
device_check_alarms(struct device *d)
{
	size_t n = body_fire_alarms(&d->body, clock_wall());

	metric_add(d->env->m_alarms, (int64_t)n);
	loop_timer_set(d->env->loop, &d->alarm,
	    clock_mono_of(body_next_alarm(&d->body)), device_on_alarm, d);
}

void
device_free(struct device *d)
{
	struct delayed_result *l;

	while ((l = TAILQ_FIRST(&d->delayed)) != NULL)
		delayed_result_free(l);
	/* A regular goodbye keeps the broker from publishing the will. */
	if (d->mqtt != NULL && mqtt_up(d->mqtt))
		device_publish(d, WIRE_TOPIC_ONLINE, STR("offline"), NULL);
	device_set_phase(d, DEVICE_DOWN);
	mqtt_free(d->mqtt);
	loop_timer_cancel(d->env->loop, &d->alarm);
	loop_timer_cancel(d->env->loop, &d->drop);
	loop_timer_cancel(d->env->loop, &d->flap);
	request_cache_free(d->requests);
	body_free(&d->body);
	free(d->id);
}
