/*
 * A body's connection.
 */
#include "device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "mqtt/mqtt.h"
#include "names.h"
#include "on_told.h"
#include "sim.h"
#include "wire/iface.h"
#include "wire/subjects.h"

#define KEEPALIVE_S 30
#define BEAT_S_MIN  0.01
#define BEAT_S_MAX  3600.0
#define LOG_EVERY_S 5
/* From this many on, bodies save descriptors. */
#define LEAN_FROM 100
/* Longest pause of reconnecting; more bodies spread over a longer time. */
#define RETRY_MS     2000
#define RETRY_MS_PER 1
#define CLIENT_ID    "body-sim-%s"

struct late {
	TAILQ_ENTRY(late) link;
	struct device *device;
	struct loop_timer timer;
	char *request_id;
	char *payload;
};

/* ---- publishing ---------------------------------------------------------- */

static void
log_unsent(const struct device *d, const char *topic, enum rc rc)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("body.unsent", LOG_S("terminal", d->id),
		    LOG_S("topic", topic), LOG_RC(rc), LOG_I("missed", missed));
}

static void
topic_of(const struct device *d, const char *leaf, struct str rest,
    char dst[MQTT_TOPIC_MAX + 1])
{
	(void)snprintf(dst, MQTT_TOPIC_MAX + 1, "%s/terminal/%s/%s%.*s",
	    d->sim->conf->prefix, d->id, leaf, STR_ARG(rest));
}

/* QoS and retain flag are those of the protocol. */
static void
publish(struct device *d, int topic, struct str payload, mqtt_done_fn fn)
{
	const struct wire_topic *t = &wire_topics[topic];
	char text[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .topic = { text, 0 },
		.payload = payload,
		.qos = t->qos,
		.retain = t->retain };
	enum rc rc;

	topic_of(d, t->leaf, STR(""), text);
	m.topic.n = strlen(text);
	rc = mqtt_publish(d->mqtt, &m, fn, d);
	if (rc != RC_OK)
		log_unsent(d, text, rc);
}

/* ---- announcing ---------------------------------------------------------- */

static int64_t
beat_ms(const struct sim_conf *conf)
{
	double s = conf->heartbeat_s;

	if (s < BEAT_S_MIN)
		s = BEAT_S_MIN;
	if (s > BEAT_S_MAX)
		s = BEAT_S_MAX;
	return llround(s * 1000);
}

static void
set_in_ms(struct device *d, struct loop_timer *t, int64_t ms, loop_fn fn)
{
	loop_timer_set(d->sim->loop, t, mono_add_ms(clock_mono(), ms), fn, d);
}

static void
on_beat(void *arg)
{
	struct device *d = arg;

	publish(d, WIRE_TOPIC_HEARTBEAT, STR("1"), NULL);
	set_in_ms(d, &d->beat, beat_ms(d->sim->conf), on_beat);
	/* Should the clock have been set. */
	device_ring(d);
}

static void
set_phase(struct device *d, enum device_phase phase)
{
	bool was = d->phase == DEVICE_ONLINE, is = phase == DEVICE_ONLINE;

	d->phase = phase;
	if (was && !is) {
		atomic_fetch_sub(&d->sim->online, 1);
		loop_timer_cancel(d->sim->loop, &d->beat);
	} else if (is && !was) {
		atomic_fetch_add(&d->sim->online, 1);
	}
}

/* The broker has the last report, so the heartbeat cannot overtake it. */
static void
on_announced(void *arg, enum rc rc, unsigned reason)
{
	struct device *d = arg;

	(void)reason;
	if (d->phase != DEVICE_ANNOUNCING || rc == RC_TIMEOUT || rc == RC_DOWN)
		return;
	if (rc != RC_OK && rc != RC_NOENT)
		log_unsent(d, "intent_catalog", rc);
	set_phase(d, DEVICE_ONLINE);
	on_beat(d);
	if (!d->came) {
		d->came = true;
		sim_came(d->sim);
	}
}

/* What is in sim->out was made from our own documents and must be whole. */
static struct str
made(struct device *d, enum rc rc)
{
	if (rc != RC_OK) {
		log_error(
		    "body.broken_report", LOG_S("terminal", d->id), LOG_RC(rc));
		abort();
	}
	return buf_str(&d->sim->out);
}

static void
announce(struct device *d)
{
	const struct sim_conf *conf = d->sim->conf;
	struct buf *out = &d->sim->out;

	set_phase(d, DEVICE_ANNOUNCING);
	publish(d, WIRE_TOPIC_ONLINE, STR("online"), NULL);
	buf_reset(out);
	publish(d, WIRE_TOPIC_SKILLS,
	    made(d,
		documents_skills(d->sim->documents, str_of(d->id),
		    str_of(conf->soul_hint), conf->skill_version, out)),
	    NULL);
	buf_reset(out);
	publish(d, WIRE_TOPIC_INTENT_CATALOG,
	    made(d,
		documents_intents(d->sim->documents, str_of(d->id),
		    conf->catalog_version, out)),
	    on_announced);
}

/* ---- faults of the connection -------------------------------------------- */

static void
on_drop(void *arg)
{
	struct device *d = arg;

	body_note(&d->body, clock_wall(), "fault: drops the connection");
	mqtt_break(d->mqtt);
}

static void
on_flap(void *arg)
{
	struct device *d = arg;

	set_in_ms(d, &d->flap, d->sim->faults.flap_ms, on_flap);
	if (d->phase == DEVICE_AWAY) {
		announce(d);
	} else {
		body_note(&d->body, clock_wall(), "fault: says it is offline");
		set_phase(d, DEVICE_AWAY);
		publish(d, WIRE_TOPIC_ONLINE, STR("offline"), NULL);
	}
}

/* ---- connecting ---------------------------------------------------------- */

static void
on_up(void *arg, bool up)
{
	const struct faults *f;
	struct device *d = arg;

	f = &d->sim->faults;
	body_note(
	    &d->body, clock_wall(), "%s", up ? "connected" : "connection lost");
	if (!up) {
		set_phase(d, DEVICE_DOWN);
		loop_timer_cancel(d->sim->loop, &d->drop);
		loop_timer_cancel(d->sim->loop, &d->flap);
		return;
	}
	announce(d);
	if (d->faulty && f->drop_ms > 0)
		set_in_ms(d, &d->drop, f->drop_ms, on_drop);
	if (d->faulty && f->flap_ms > 0)
		set_in_ms(d, &d->flap, f->flap_ms, on_flap);
}

static void
on_message(void *arg, const struct mqtt_msg *m)
{
	struct device *d = arg;
	char base[MQTT_TOPIC_MAX + 1];
	struct str leaf = m->topic;

	topic_of(d, "", STR(""), base);
	if (!str_starts(leaf, str_of(base)))
		return;
	leaf.p += strlen(base);
	leaf.n -= strlen(base);
	on_told(d, leaf, m);
}

/* The i-th body's id; false: it is none, or gives topics that are none. */
static bool
name_device(const struct sim_conf *conf, size_t i, char id[ID_MAX + 1])
{
	char topic[MQTT_TOPIC_MAX + 1];
	int n;

	if (names_of(str_of(conf->terminal_id), i, id) != RC_OK ||
	    !id_terminal_valid(str_of(id)))
		return false;
	/* The longest topic that any request can have. */
	n = snprintf(topic, sizeof(topic), "%s/terminal/%s/%0*d", conf->prefix,
	    id, (int)strlen("result/") + ID_MAX, 0);
	return n <= MQTT_TOPIC_MAX && mqtt_topic_valid(str_of(topic));
}

bool
device_named(const struct sim_conf *conf, size_t i)
{
	char id[ID_MAX + 1];

	return name_device(conf, i, id);
}

struct mqtt_opts
device_broker(const struct sim_conf *conf)
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
device_init(struct device *d, struct sim *sim, size_t i)
{
	char id[ID_MAX + 1];

	*d = (struct device){ .sim = sim };
	TAILQ_INIT(&d->lates);
	body_init(&d->body, clock_wall());
	d->faulty = faults_hit(sim->conf->fault_share, i);
	if (!name_device(sim->conf, i, id))
		return RC_INVALID;
	d->id = mem_strdup(id);
	return RC_OK;
}

static enum rc
subscribe(struct device *d)
{
	char filter[MQTT_TOPIC_MAX + 1];
	enum rc rc = RC_OK;
	size_t i;

	for (i = 0; i < wire_topics_n && rc == RC_OK; i++) {
		if (wire_topics[i].from_body)
			continue;
		topic_of(d, wire_topics[i].leaf, STR(""), filter);
		rc = mqtt_subscribe(d->mqtt, str_of(filter), 1, NULL, NULL);
	}
	return rc;
}

enum rc
device_begin(struct device *d)
{
	const struct sim_conf *conf = d->sim->conf;
	char topic[MQTT_TOPIC_MAX + 1], client_id[ID_MAX + 32];
	struct mqtt_msg will = {
		.payload = STR("offline"), .qos = 1, .retain = true
	};
	struct mqtt_opts o = device_broker(conf);
	enum rc rc;

	o.loop = d->sim->loop;
	o.workers = d->sim->workers;
	o.client_id = client_id;
	o.will = &will;
	o.retry_max_ms = RETRY_MS + RETRY_MS_PER * (int)(conf->count - 1);
	o.lean = conf->count > LEAN_FROM;
	o.metrics = d->sim->metrics;
	o.on_state = on_up;
	o.on_message = on_message;
	o.arg = d;
	/* Always the same, so that a new session ends the one before it. */
	(void)snprintf(client_id, sizeof(client_id), CLIENT_ID, d->id);
	topic_of(d, wire_topics[WIRE_TOPIC_ONLINE].leaf, STR(""), topic);
	will.topic = str_of(topic);
	rc = mqtt_new(&o, &d->mqtt);
	return rc == RC_OK ? subscribe(d) : rc;
}

bool
device_online(const struct device *d)
{
	return d->phase == DEVICE_ONLINE;
}

/* ---- answering ----------------------------------------------------------- */

static void
late_free(struct late *l)
{
	loop_timer_cancel(l->device->sim->loop, &l->timer);
	TAILQ_REMOVE(&l->device->lates, l, link);
	free(l->request_id);
	free(l->payload);
	free(l);
}

static void
answer(struct device *d, struct str request_id, struct str payload)
{
	char topic[MQTT_TOPIC_MAX + 1];
	struct mqtt_msg m = { .payload = payload, .qos = 1 };
	enum rc rc;

	topic_of(d, "result/", request_id, topic);
	m.topic = str_of(topic);
	rc = mqtt_publish(d->mqtt, &m, NULL, NULL);
	if (rc != RC_OK)
		log_unsent(d, topic, rc);
}

static void
on_late(void *arg)
{
	struct late *l = arg;

	answer(l->device, str_of(l->request_id), str_of(l->payload));
	late_free(l);
}

void
device_answer(struct device *d, struct str request_id, struct str payload)
{
	struct late *l;

	if (!d->faulty || d->sim->faults.late_ms == 0) {
		answer(d, request_id, payload);
		return;
	}
	l = mem_zalloc(sizeof(*l));
	l->device = d;
	l->request_id = str_dup(request_id);
	l->payload = str_dup(payload);
	TAILQ_INSERT_TAIL(&d->lates, l, link);
	loop_timer_set(d->sim->loop, &l->timer,
	    mono_add_ms(clock_mono(), d->sim->faults.late_ms), on_late, l);
}

static void
on_ring(void *arg)
{
	device_ring(arg);
}

void
device_ring(struct device *d)
{
	size_t n = body_ring(&d->body, clock_wall());

	metric_add(d->sim->m_alarms, (int64_t)n);
	loop_timer_set(d->sim->loop, &d->ring,
	    clock_mono_of(body_next_alarm(&d->body)), on_ring, d);
}

void
device_free(struct device *d)
{
	struct late *l;

	while ((l = TAILQ_FIRST(&d->lates)) != NULL)
		late_free(l);
	/* A goodbye keeps the broker from sending the will. */
	if (d->mqtt != NULL && mqtt_up(d->mqtt))
		publish(d, WIRE_TOPIC_ONLINE, STR("offline"), NULL);
	set_phase(d, DEVICE_DOWN);
	mqtt_free(d->mqtt);
	loop_timer_cancel(d->sim->loop, &d->ring);
	loop_timer_cancel(d->sim->loop, &d->drop);
	loop_timer_cancel(d->sim->loop, &d->flap);
	requests_free(d->requests);
	body_free(&d->body);
	free(d->id);
}
