#include "testkit/broker_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "testkit/broker.h"

void
broker_fixture_put_user(struct buf *b, const char *name)
{
	char hash[AUTH_HASH_MAX];

	auth_secret_hash(STR(BROKER_PASSWORD), hash);
	buf_printf(b, "%s:%s\n", name, hash);
}

/*
 * Copy a shipped file into the folder that mosquitto includes, as number turn.
 */
static void
broker_fixture_copy(struct broker_fixture *k, int turn, const char *name)
{
	struct buf b = BUF_INIT(64UL * 1024);
	char path[512];

	tk_broker_put(&b, name);
	if (turn == 2) {
		k->bodies = tk_broker_move(&b, 1883);
		k->services = tk_broker_move(&b, 1884);
	} else if (turn == 3) {
		k->tls = tk_broker_move(&b, 8883);
	} else if (turn == 4) {
		k->fleet = tk_broker_move(&b, 8884);
	}
	if (k->any_rate)
		tk_broker_any_rate(&b);
	snprintf(path, sizeof(path), "conf/%d.conf", turn);
	buf_putc(&b, '\0');
	tk_write_file(tk_path(path), b.p);
	buf_free(&b);
}

static void
broker_fixture_spawn(struct broker_fixture *k)
{
	static int starts;
	const char *v[] = { "mosquitto", "-c", tk_path("main.conf"), NULL };
	char name[24];

	snprintf(name, sizeof(name), "mosquitto-%d", starts++);
	tk_spawn(&k->proc, name, v, NULL);
}

static bool
broker_fixture_accepts(void *arg)
{
	struct broker_fixture *k = arg;

	return tk_port_open(k->services) && tk_log_has(&k->proc, "running");
}

void
broker_fixture_start(struct broker_fixture *k)
{
	broker_fixture_spawn(k);
	ck_assert(tk_until(broker_fixture_accepts, k, BRIDGE_WAIT_MS));
}

int
broker_fixture_reload_count(const struct broker_fixture *k)
{
	char *log = tk_read_file(k->proc.log, NULL);
	int n = 0;

	for (const char *p = log; (p = strstr(p, "Reloading config")); p++)
		n++;
	free(log);
	return n;
}

static bool
broker_fixture_reloading(void *arg)
{
	const struct broker_fixture *k = arg;

	return broker_fixture_reload_count(k) > k->reloads;
}

/*
 * mosquitto logs the reload before it reads its files, ignores a SIGHUP until
 * it is done, and serves no client meanwhile: any response to a message sent
 * after the log line means that it is done.
 */
static bool
broker_fixture_reloaded(void *arg)
{
	/* CONNECT, MQTT 3.1.1, clean session, 10 s, no user: it is rejected. */
	static const unsigned char hello[] = { 0x10, 12, 0, 4, 'M', 'Q', 'T',
		'T', 4, 2, 0, 10, 0, 0 };
	const struct broker_fixture *k = arg;
	unsigned char reply[4];
	int fd = tk_connect(k->services);
	bool done;

	if (fd == -1)
		return false;
	done = send(fd, hello, sizeof(hello), MSG_NOSIGNAL) ==
		(ssize_t)sizeof(hello) &&
	    recv(fd, reply, sizeof(reply), 0) > 0 && reply[0] == 0x20;
	close(fd);
	return done;
}

static void
broker_fixture_reload(struct broker_fixture *k)
{
	tk_write_file(k->users, k->admitted.n > 0 ? k->admitted.p : "");
	if (k->proc.pid <= 0)
		return;
	k->reloads = broker_fixture_reload_count(k);
	tk_signal(&k->proc, SIGHUP);
	ck_assert(tk_until(broker_fixture_reloading, k, BRIDGE_WAIT_MS));
	ck_assert(tk_until(broker_fixture_reloaded, k, BRIDGE_WAIT_MS));
}

void
broker_fixture_admit(struct broker_fixture *k, const char *id)
{
	if (k->admitted.n > 0)
		k->admitted.n--; /* the NUL */
	broker_fixture_put_user(&k->admitted, id);
	buf_putc(&k->admitted, '\0');
	broker_fixture_reload(k);
}

void
broker_fixture_make(struct broker_fixture *k, unsigned how)
{
	struct buf b = BUF_INIT(4096);

	*k =
	    (struct broker_fixture){ .any_rate = (how & BROKER_ANY_RATE) != 0 };
	buf_init(&k->admitted, 16UL * 1024 * 1024);
	ck_assert_int_eq(mkdir(tk_path("conf"), 0700), 0);
	ck_assert_int_eq(mkdir(tk_path("kept"), 0700), 0);
	broker_fixture_copy(k, 1, "mosquitto.conf");
	broker_fixture_copy(k, 2, "mosquitto-secure.conf");
	if ((how & BROKER_CERTS) != 0) {
		broker_fixture_copy(k, 3, "mosquitto-tls.conf");
		broker_fixture_copy(k, 4, "mosquitto-fleet.conf");
	}
	/* As root it would change to a user who may not read these files. */
	buf_printf(&b,
	    "include_dir %s\npersistence_location %s/\nuser root\n"
	    "log_dest stderr\npid_file %s\n",
	    tk_path("conf"), tk_path("kept"), tk_path("mosquitto.pid"));
	tk_write_file(tk_path("main.conf"), b.p);
	buf_reset(&b);
	broker_fixture_put_user(&b, "mqtt-bridge");
	broker_fixture_put_user(&b, "health");
	tk_write_file(tk_path("mosquitto.services"), b.p);
	snprintf(k->users, sizeof(k->users), "%s", tk_path("mosquitto.users"));
	tk_write_file(k->users, "");
	buf_free(&b);
}

void
broker_fixture_bridge(struct broker_fixture *k, struct bridge_fixture *b)
{
	*b = (struct bridge_fixture){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->mqtt.port = k->bodies;
	snprintf(b->mqtt.url, sizeof(b->mqtt.url),
	    "mqtt://mqtt-bridge:" BROKER_PASSWORD "@127.0.0.1:%d", k->services);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
}

void
broker_fixture_stop(struct broker_fixture *k)
{
	tk_signal(&k->proc, SIGTERM);
	ck_assert_int_ne(tk_wait(&k->proc, BRIDGE_WAIT_MS), -1);
	buf_free(&k->admitted);
}

/* ---- attack ---- */

void
attack_connect(
    struct mqtt_device *d, struct attack_fixture *s, const char *user, int port)
{
	int was = s->b.mqtt.port;

	mqtt_device_init(d, TOPIC_PREFIX, user);
	mosquitto_username_pw_set(d->mosq, user, BROKER_PASSWORD);
	s->b.mqtt.port = port;
	mqtt_device_connect(d, &s->b);
	s->b.mqtt.port = was;
}

/* Topics unchanged: they may be another device's. */
static void
attack_message(
    struct mosquitto *mosq, void *arg, const struct mosquitto_message *m)
{
	struct mqtt_device *d = arg;

	(void)mosq;
	pthread_mutex_lock(&d->lock);
	buf_printf(&d->received, "%s=%.*s%s\n", m->topic, m->payloadlen,
	    (const char *)m->payload, m->retain ? " kept" : "");
	pthread_mutex_unlock(&d->lock);
}

bool
attack_subscribe(struct mqtt_device *d, const char *filter)
{
	int before = atomic_load(&d->subscribed);
	int denied = atomic_load(&d->denied);

	mosquitto_message_callback_set(d->mosq, attack_message);
	ck_assert_int_eq(mosquitto_subscribe(d->mosq, NULL, filter, 1), 0);
	mqtt_device_wait(&d->subscribed, before + 1);
	return atomic_load(&d->denied) == denied;
}

void
attack_must_subscribe(struct mqtt_device *d, const char *filter)
{
	ck_assert_msg(attack_subscribe(d, filter), "%s", filter);
}

void
attack_start_with(struct attack_fixture *s, unsigned how)
{
	memset(s, 0, sizeof(*s));
	broker_fixture_make(&s->k, how);
	broker_fixture_start(&s->k);
	broker_fixture_admit(&s->k, "t1");
	broker_fixture_admit(&s->k, "t2");
	broker_fixture_bridge(&s->k, &s->b);
	/* A disk that others use must not decide how long a round takes. */
	ck_assert_int_eq(state_cmd(s->b.db.s,
			     STATE_ARGS(STR("CONFIG"), STR("SET"),
				 STR("appendfsync"), STR("no")),
			     NULL),
	    RC_OK);
	s->b.strict = true;
	bridge_fixture_start_leader(&s->b, 0);
	attack_connect(&s->t2, s, "t2", s->k.bodies);
	mqtt_device_subscribe(&s->t2);
	mqtt_device_report(&s->t2, "online", "online");
	bridge_ck_present(&s->b, "t2");
	attack_connect(&s->watcher, s, "mqtt-bridge", s->k.services);
	attack_must_subscribe(&s->watcher, "#");
}

void
attack_start(struct attack_fixture *s)
{
	attack_start_with(s, 0);
}

void
attack_stop(struct attack_fixture *s)
{
	mqtt_device_close(&s->watcher);
	mqtt_device_close(&s->t2);
	bridge_fixture_stop(&s->b);
	broker_fixture_stop(&s->k);
}

void
attack_barrier(struct attack_fixture *s, struct mqtt_device *d)
{
	mqtt_device_send(d, "result/end", "the end", MQTT_QOS1);
	mqtt_device_expect(&s->watcher, "the end");
}

void
attack_ck_other_works(struct attack_fixture *s, const char *request)
{
	char subject[128], payload[256], leaf[64];
	natsSubscription *results;

	snprintf(subject, sizeof(subject), "soul.result.t2.%s", request);
	results = tk_nats_listen(s->b.nc, subject);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"%s\",\"skill\":\"nod\",\"arguments\":{}}",
	    request);
	bridge_ck_delivery(&s->b, "t2.invoke", payload, "delivered");
	snprintf(leaf, sizeof(leaf), "invoke/%s=", request);
	mqtt_device_expect(&s->t2, leaf);
	snprintf(payload, sizeof(payload),
	    "{\"request_id\":\"%s\",\"ok\":true}", request);
	mqtt_device_result(&s->t2, request, payload);
	bridge_ck_message(results);
	natsSubscription_Destroy(results);
}
