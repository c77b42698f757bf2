#include "testkit/bridge_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/rate.h"

#define MQTT_DEVICE_RETRY_MS 1000

void
bridge_fixture_servers(struct bridge_fixture *b, enum tk_server_kind broker)
{
	*b = (struct bridge_fixture){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	tk_server_start(&b->mqtt, broker);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
}

/* ---- servers and bridges ---- */

void
bridge_fixture_spawn(struct bridge_fixture *b, int i)
{
	struct tk_env e = { 0 };
	char name[24];

	/* Of two equal variables the first counts. */
	tk_env_list(&e, TK_ENV(b->more));
	tk_env_put(&e, "NATS_URL=%s", b->nats.url);
	tk_env_put(&e, "REDIS_URL=%s", b->redis.url);
	tk_env_put(&e, "MQTT_BROKER_URL=%s", b->mqtt.url);
	tk_env_put(&e, "SKILL_SNAPSHOT_TTL_SECONDS=%d", BRIDGE_TTL_S);
	/* Here one client publishes for a whole fleet. */
	if (!b->strict) {
		tk_env_put(&e, "RATE_TERMINAL_PER_S=%d", RATE_MAX);
		tk_env_put(&e, "RATE_TERMINAL_BURST=%d", RATE_MAX);
	}
	snprintf(name, sizeof(name), "bridge-%d-%d", i, b->starts[i]++);
	tk_service_spawn(&b->bridge[i], "mqtt-bridge", name, &e);
}

bool
bridge_fixture_is_leader(void *arg)
{
	struct tk_service *p = arg;

	return tk_service_metric(p, "soul_bridge_leads") == 1 &&
	    tk_log_has(&p->proc, "ev=bridge.caught_up");
}

void
bridge_fixture_start_replica(struct bridge_fixture *b, int i)
{
	bridge_fixture_spawn(b, i);
	tk_service_wait(&b->bridge[i]);
}

void
bridge_fixture_start_leader(struct bridge_fixture *b, int i)
{
	bridge_fixture_start_replica(b, i);
	ck_assert(
	    tk_until(bridge_fixture_is_leader, &b->bridge[i], BRIDGE_WAIT_MS));
}

void
bridge_fixture_start(struct bridge_fixture *b)
{
	bridge_fixture_servers(b, TK_MOSQUITTO);
	bridge_fixture_start_leader(b, 0);
}

void
bridge_fixture_stop(struct bridge_fixture *b)
{
	int i;

	for (i = 0; i < BRIDGE_REPLICAS; i++)
		tk_service_end(&b->bridge[i]);
	natsConnection_Destroy(b->nc);
	tk_state_close(&b->db);
	nats_Close();
}

/* ---- records ---- */

/* Retries, as Redis may have been restarted. */
struct terminal
bridge_fixture_terminal(struct bridge_fixture *b, const char *id)
{
	struct terminal t;
	int tries = 0;

	do {
		tk_state_wait(&b->db);
		arena_reset(b->db.arena);
	} while (terminal_read(b->db.s, str_of(id), BRIDGE_TTL_S * 1000,
		     b->db.arena, &t) != RC_OK &&
	    tries++ < 100);
	return t;
}

struct terminal_wait {
	struct bridge_fixture *b;
	const char *id;
	bool (*is)(const struct terminal *t, const char *what);
	const char *what;
};

static bool
terminal_wait_done(void *arg)
{
	struct terminal_wait *w = arg;
	struct terminal t = bridge_fixture_terminal(w->b, w->id);

	return w->is(&t, w->what);
}

struct str
bridge_terminal_error(
    const struct terminal *t, enum terminal_rejection_kind kind)
{
	size_t i;

	if (kind < TERMINAL_REJECTED_N)
		return t->rejected[kind];
	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (t->rejected[i].p != NULL)
			return t->rejected[i];
	return (struct str){ NULL, 0 };
}

void
bridge_fixture_wait(struct bridge_fixture *b, const char *id,
    bool (*is)(const struct terminal *t, const char *what), const char *what)
{
	struct terminal_wait w = { b, id, is, what };
	bool done = tk_until(terminal_wait_done, &w, BRIDGE_WAIT_MS);
	struct terminal t = bridge_fixture_terminal(b, id);
	struct str denied = bridge_terminal_error(&t, TERMINAL_REJECTED_N);

	ck_assert_msg(
	    done, "%s is never %s; refused: %.*s", id, what, STR_ARG(denied));
}

bool
bridge_text_has(struct str s, const char *what)
{
	return str_find(s, str_of(what)) >= 0;
}

bool
bridge_terminal_present(const struct terminal *t, const char *what)
{
	return t->present == (strcmp(what, "present") == 0);
}

bool
bridge_terminal_has_skills(const struct terminal *t, const char *what)
{
	return bridge_text_has(t->skills, what);
}

bool
bridge_terminal_has_catalog(const struct terminal *t, const char *what)
{
	return bridge_text_has(t->catalog, what);
}

bool
bridge_terminal_has_error(const struct terminal *t, const char *what)
{
	int i;

	for (i = 0; i < TERMINAL_REJECTED_N; i++)
		if (bridge_text_has(t->rejected[i], what))
			return true;
	return false;
}

void
bridge_ck_present(struct bridge_fixture *b, const char *id)
{
	bridge_fixture_wait(b, id, bridge_terminal_present, "present");
}

/* ---- bus ---- */

json_t *
bridge_fixture_event(natsSubscription *sub, const char *path, const char *text)
{
	json_t *j;

	while ((j = tk_nats_next(sub, BRIDGE_WAIT_MS, NULL)) != NULL) {
		if (strcmp(tk_find_text(j, path), text) == 0)
			return j;
		json_decref(j);
	}
	ck_abort_msg("no event with %s=%s", path, text);
	return NULL;
}

void
bridge_ck_denied(struct bridge_fixture *b, natsSubscription *audit,
    const char *body, const char *reason)
{
	json_t *j = tk_nats_next(audit, BRIDGE_WAIT_MS, NULL);
	char line[160];

	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(tk_find_text(j, "source"), "mqtt-bridge");
	ck_assert_str_eq(tk_find_text(j, "payload.action"), "access_denied");
	ck_assert_str_eq(tk_find_text(j, "payload.role"), "terminal");
	ck_assert_str_eq(tk_find_text(j, "payload.caller_id"), body);
	ck_assert_str_eq(tk_find_text(j, "payload.terminal_id"), body);
	ck_assert_str_eq(tk_find_text(j, "payload.reason"), reason);
	ck_assert_uint_eq(strlen(tk_find_text(j, "trace_id")), 36);
	json_decref(j);
	snprintf(line, sizeof(line),
	    "ev=audit action=access_denied role=terminal tenant=\"\" caller=%s",
	    body);
	ck_assert(tk_log_has(&b->bridge[0].proc, line));
}

struct bridge_reply
bridge_fixture_request_at(struct bridge_fixture *b, const char *subject,
    const char *body, int64_t age_ms)
{
	struct bridge_reply a = { NULL, "" };
	const char *code = NULL;
	char deadline[32];
	natsMsg *q = NULL, *m = NULL;

	ck_assert_int_eq(
	    natsMsg_Create(&q, subject, NULL, body, (int)strlen(body)),
	    NATS_OK);
	if (age_ms != 0) {
		snprintf(deadline, sizeof(deadline), "%lld",
		    (long long)(clock_wall().ms - age_ms));
		ck_assert_int_eq(
		    natsMsgHeader_Set(q, "Soul-Deadline", deadline), NATS_OK);
	}
	if (natsConnection_RequestMsg(&m, b->nc, q, 10000) == NATS_OK) {
		if (natsMsgHeader_Get(m, "Nats-Service-Error", &code) ==
		    NATS_OK)
			snprintf(a.error, sizeof(a.error), "%s", code);
		a.body = tk_nats_json(m);
	}
	natsMsg_Destroy(q);
	natsMsg_Destroy(m);
	return a;
}

struct bridge_reply
bridge_fixture_request(
    struct bridge_fixture *b, const char *subject, const char *body)
{
	return bridge_fixture_request_at(b, subject, body, 0);
}

const char *
bridge_fixture_deliver(
    struct bridge_fixture *b, const char *subject, const char *body)
{
	static char text[64];
	struct bridge_reply a = bridge_fixture_request(b, subject, body);

	if (a.body == NULL)
		snprintf(text, sizeof(text), "no answer");
	else if (a.error[0] != '\0')
		snprintf(text, sizeof(text), "%s", a.error);
	else
		snprintf(
		    text, sizeof(text), "%s", tk_find_text(a.body, "state"));
	json_decref(a.body);
	return text;
}

void
bridge_ck_delivery(struct bridge_fixture *b, const char *command,
    const char *body, const char *state)
{
	char subject[128];

	snprintf(subject, sizeof(subject), "soul.body.main.%s", command);
	ck_assert_str_eq(bridge_fixture_deliver(b, subject, body), state);
}

void
bridge_ck_message(natsSubscription *sub)
{
	json_t *j = tk_nats_next(sub, BRIDGE_WAIT_MS, NULL);

	ck_assert_ptr_nonnull(j);
	json_decref(j);
}

/* ---- devices ---- */

/* Section 7.1 of the protocol. */
static const char *const device_filters[] = { "invoke/+", "status",
	"emotion_update", "intent_action" };

void
mqtt_device_connected(struct mosquitto *mosq, void *arg, int rc)
{
	struct mqtt_device *d = arg;

	(void)mosq;
	ck_assert_int_eq(rc, 0);
	atomic_fetch_add(&d->up, 1);
}

static void
mqtt_device_subscribed(
    struct mosquitto *mosq, void *arg, int mid, int n, const int *granted)
{
	struct mqtt_device *d = arg;

	(void)mosq;
	(void)mid;
	(void)n;
	if (granted[0] > 1)
		atomic_fetch_add(&d->denied, 1);
	atomic_fetch_add(&d->subscribed, 1);
}

static void
mqtt_device_acked(struct mosquitto *mosq, void *arg, int mid)
{
	struct mqtt_device *d = arg;

	(void)mosq;
	(void)mid;
	atomic_fetch_add(&d->acked, 1);
}

static void
mqtt_device_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct mqtt_device *d = arg;
	size_t skip = strlen(d->prefix) + strlen("/terminal/") + strlen(d->id);

	(void)mosq;
	ck_assert(!m->retain);
	pthread_mutex_lock(&d->lock);
	buf_puts(&d->received, m->topic + skip + 1);
	buf_putc(&d->received, '=');
	buf_put(&d->received, m->payload, (size_t)m->payloadlen);
	buf_putc(&d->received, '\n');
	pthread_mutex_unlock(&d->lock);
}

void
mqtt_device_topic(
    const struct mqtt_device *d, const char *leaf, char topic[512])
{
	snprintf(topic, 512, "%s/terminal/%s/%s", d->prefix, d->id, leaf);
}

static bool
mqtt_device_reached(void *arg)
{
	struct {
		_Atomic int *n;
		int want;
	} *w = arg;

	return atomic_load(w->n) >= w->want;
}

void
mqtt_device_wait(_Atomic int *n, int want)
{
	struct {
		_Atomic int *n;
		int want;
	} w = { n, want };

	ck_assert_msg(tk_until(mqtt_device_reached, &w, BRIDGE_WAIT_MS),
	    "%d of %d", atomic_load(n), want);
}

void
mqtt_device_init(struct mqtt_device *d, const char *prefix, const char *id)
{
	*d = (struct mqtt_device){ .prefix = prefix, .id = id };
	buf_init(&d->received, 64UL * 1024 * 1024);
	pthread_mutex_init(&d->lock, NULL);
	mosquitto_lib_init();
	d->mosq = mosquitto_new(NULL, true, d);
	ck_assert_ptr_nonnull(d->mosq);
	mosquitto_connect_callback_set(d->mosq, mqtt_device_connected);
	mosquitto_subscribe_callback_set(d->mosq, mqtt_device_subscribed);
	mosquitto_publish_callback_set(d->mosq, mqtt_device_acked);
	mosquitto_message_callback_set(d->mosq, mqtt_device_message);
	mosquitto_max_inflight_messages_set(d->mosq, 100);
}

void
mqtt_device_connect(struct mqtt_device *d, struct bridge_fixture *b)
{
	ck_assert_int_eq(
	    mosquitto_connect(d->mosq, "127.0.0.1", b->mqtt.port, 60), 0);
	mqtt_loop_start(&d->loop, d->mosq, MQTT_DEVICE_RETRY_MS);
	mqtt_device_wait(&d->up, 1);
}

void
mqtt_device_subscribe(struct mqtt_device *d)
{
	int before = atomic_load(&d->subscribed);
	char topic[512];
	size_t i;

	for (i = 0; i < 4; i++) {
		mqtt_device_topic(d, device_filters[i], topic);
		ck_assert_int_eq(
		    mosquitto_subscribe(d->mosq, NULL, topic, 1), 0);
	}
	mqtt_device_wait(&d->subscribed, before + 4);
	ck_assert_int_eq(atomic_load(&d->denied), 0);
}

void
mqtt_device_open(
    struct mqtt_device *d, struct bridge_fixture *b, const char *id)
{
	char topic[512];

	mqtt_device_init(d, TOPIC_PREFIX, id);
	mqtt_device_topic(d, "online", topic);
	ck_assert_int_eq(
	    mosquitto_will_set(d->mosq, topic, 7, "offline", 1, true), 0);
	mqtt_device_connect(d, b);
	mqtt_device_subscribe(d);
}

void
mqtt_device_queue(struct mqtt_device *d, const char *topic, struct str payload,
    struct mqtt_flags flags)
{
	ck_assert_int_eq(mosquitto_publish(d->mosq, NULL, topic, (int)payload.n,
			     payload.p, flags.qos, flags.retain),
	    0);
}

void
mqtt_device_publish(struct mqtt_device *d, const char *topic,
    struct str payload, struct mqtt_flags flags)
{
	int before = atomic_load(&d->acked);

	mqtt_device_queue(d, topic, payload, flags);
	mqtt_device_wait(&d->acked, before + 1);
}

void
mqtt_device_open_online(
    struct mqtt_device *d, struct bridge_fixture *b, const char *id)
{
	mqtt_device_open(d, b, id);
	mqtt_device_report(d, "online", "online");
	bridge_ck_present(b, id);
}

void
mqtt_device_send(struct mqtt_device *d, const char *leaf, const char *payload,
    struct mqtt_flags how)
{
	char topic[512];

	mqtt_device_topic(d, leaf, topic);
	mqtt_device_publish(d, topic, str_of(payload), how);
}

void
mqtt_device_report(struct mqtt_device *d, const char *leaf, const char *payload)
{
	mqtt_device_send(d, leaf, payload, MQTT_RETAINED);
}

void
mqtt_device_heartbeat(struct mqtt_device *d)
{
	mqtt_device_send(d, "heartbeat", "1", (struct mqtt_flags){ 0, false });
}

void
mqtt_device_result(
    struct mqtt_device *d, const char *request, const char *payload)
{
	char leaf[256];

	snprintf(leaf, sizeof(leaf), "result/%s", request);
	mqtt_device_send(d, leaf, payload, MQTT_QOS1);
}

char *
mqtt_device_received(struct mqtt_device *d)
{
	char *s;

	pthread_mutex_lock(&d->lock);
	s = str_dup(buf_str(&d->received));
	pthread_mutex_unlock(&d->lock);
	return s;
}

struct mqtt_device_match {
	struct mqtt_device *d;
	const char *text;
};

static bool
mqtt_device_matches(void *arg)
{
	struct mqtt_device_match *w = arg;
	char *s = mqtt_device_received(w->d);
	bool is = strstr(s, w->text) != NULL;

	free(s);
	return is;
}

void
mqtt_device_expect(struct mqtt_device *d, const char *text)
{
	struct mqtt_device_match w = { d, text };

	ck_assert_msg(tk_until(mqtt_device_matches, &w, BRIDGE_WAIT_MS),
	    "%s never got %s", d->id, text);
}

void
mqtt_device_ck_never(struct mqtt_device *d, const char *text)
{
	char *received = mqtt_device_received(d);

	ck_assert_msg(
	    strstr(received, text) == NULL, "%s got: %s", d->id, received);
	free(received);
}

void
mqtt_device_clear(struct mqtt_device *d)
{
	pthread_mutex_lock(&d->lock);
	buf_reset(&d->received);
	pthread_mutex_unlock(&d->lock);
}

static void
mqtt_device_free(struct mqtt_device *d)
{
	mosquitto_destroy(d->mosq);
	d->mosq = NULL;
	buf_free(&d->received);
	pthread_mutex_destroy(&d->lock);
	mosquitto_lib_cleanup();
}

void
mqtt_device_crash(struct mqtt_device *d)
{
	mqtt_loop_drop(&d->loop);
	mqtt_device_free(d);
}

void
mqtt_device_close(struct mqtt_device *d)
{
	mqtt_loop_close(&d->loop);
	mqtt_device_free(d);
}

void
bridge_ck_skills(struct bridge_fixture *b, struct mqtt_device *d,
    const char *payload, const char *text)
{
	mqtt_device_report(d, "skills", payload);
	bridge_fixture_wait(b, "t1", bridge_terminal_has_skills, text);
}

void
bridge_ck_catalog(struct bridge_fixture *b, struct mqtt_device *d,
    const char *payload, const char *text)
{
	mqtt_device_report(d, "intent_catalog", payload);
	bridge_fixture_wait(b, "t1", bridge_terminal_has_catalog, text);
}

/* ---- fleet ---- */

void
mqtt_fleet_open(struct mqtt_fleet *f, struct bridge_fixture *b, int n)
{
	f->b = b;
	f->n = n;
	mqtt_device_init(&f->d, TOPIC_PREFIX, "fleet");
	mqtt_device_connect(&f->d, b);
}

/* Retained, without waiting for the acknowledgement. */
static void
mqtt_fleet_publish(
    struct mqtt_fleet *f, int i, const char *leaf, const char *payload)
{
	char topic[128];

	snprintf(
	    topic, sizeof(topic), TOPIC_PREFIX "/terminal/f%d/%s", i, leaf);
	mqtt_device_queue(&f->d, topic, str_of(payload), MQTT_RETAINED);
}

void
mqtt_fleet_announce(struct mqtt_fleet *f, int i, int version)
{
	char payload[512];

	mqtt_fleet_publish(f, i, "online", "online");
	snprintf(payload, sizeof(payload),
	    "{\"terminal_id\":\"f%d\",\"skill_version\":%d,\"skills\":"
	    "[{\"name\":\"s_%d_%d\",\"description\":\"控制灯\"}]}",
	    i, version, i, version);
	mqtt_fleet_publish(f, i, "skills", payload);
	snprintf(payload, sizeof(payload),
	    "{\"terminal_id\":\"f%d\",\"catalog_version\":%d,"
	    "\"intent_catalog\":[{\"id\":\"i_%d_%d\",\"slots\":[{\"name\":"
	    "\"mode\",\"regex\":\"(开灯|关灯)\"}]}]}",
	    i, version, i, version);
	mqtt_fleet_publish(f, i, "intent_catalog", payload);
}

void
mqtt_fleet_wait_acked(struct mqtt_fleet *f, int k)
{
	mqtt_device_wait(&f->d.acked, 3 * f->n * k);
}

static bool
mqtt_fleet_has(struct mqtt_fleet *f, int i, int version)
{
	char id[16], skill[40], intent[40];
	struct terminal t;

	snprintf(id, sizeof(id), "f%d", i);
	snprintf(skill, sizeof(skill), "\"s_%d_%d\"", i, version);
	snprintf(intent, sizeof(intent), "\"i_%d_%d\"", i, version);
	t = bridge_fixture_terminal(f->b, id);
	return t.skill_version == version && t.catalog_version == version &&
	    bridge_text_has(t.skills, skill) &&
	    bridge_text_has(t.catalog, intent);
}

struct mqtt_fleet_wait {
	struct mqtt_fleet *f;
	int version;
	int good; /* devices before it are known to be complete */
};

static bool
mqtt_fleet_complete(void *arg)
{
	struct mqtt_fleet_wait *w = arg;

	while (w->good < w->f->n && mqtt_fleet_has(w->f, w->good, w->version))
		w->good++;
	return w->good == w->f->n;
}

void
mqtt_fleet_expect(struct mqtt_fleet *f, int version, int ms)
{
	struct mqtt_fleet_wait w = { f, version, 0 };

	ck_assert_msg(tk_until(mqtt_fleet_complete, &w, ms),
	    "f%d has not version %d", w.good, version);
}

void
mqtt_fleet_close(struct mqtt_fleet *f)
{
	mqtt_device_close(&f->d);
}
