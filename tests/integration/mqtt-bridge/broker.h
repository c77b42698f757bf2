/*
 * broker: mosquitto with the secured configuration as it is shipped, of which
 * only the places of files and the ports are replaced.
 */
#ifndef MQTT_BRIDGE_BROKER_H
#define MQTT_BRIDGE_BROKER_H

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "bed.h"
#include "testkit/broker.h"

/* Of every body that broker_admit() lets in, and of the services. */
#define BROKER_PW "secret"

struct broker {
	struct tk_proc proc;
	int bodies, services, tls, fleet; /* ports */
	char users[256];                  /* bodies' passwords */
	struct buf admitted;
	bool any_rate;
	int reloads; /* before the last one */
};

/* A line of a password file. */
static inline void
broker_user(struct buf *b, const char *name)
{
	char hash[AUTH_HASH_MAX];

	auth_secret_hash(STR(BROKER_PW), hash);
	buf_printf(b, "%s:%s\n", name, hash);
}

/* One shipped file into the folder that mosquitto includes, in its turn. */
static inline void
broker_shipped(struct broker *k, int turn, const char *name)
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

static inline void
broker_spawn(struct broker *k)
{
	static int starts;
	const char *v[] = { "mosquitto", "-c", tk_path("main.conf"), NULL };
	char name[24];

	snprintf(name, sizeof(name), "mosquitto-%d", starts++);
	tk_spawn(&k->proc, name, v, NULL);
}

static inline bool
broker_answers(void *arg)
{
	struct broker *k = arg;

	return tk_port_open(k->services) && tk_log_has(&k->proc, "running");
}

static inline void
broker_start(struct broker *k)
{
	broker_spawn(k);
	ck_assert(tk_until(broker_answers, k, BED_MS));
}

static inline int
broker_reloads(const struct broker *k)
{
	char *log = tk_read_file(k->proc.log, NULL);
	int n = 0;

	for (const char *p = log; (p = strstr(p, "Reloading config")); p++)
		n++;
	free(log);
	return n;
}

static inline bool
broker_reloading(void *arg)
{
	const struct broker *k = arg;

	return broker_reloads(k) > k->reloads;
}

/*
 * It says so before it reads its files, and a SIGHUP that comes until it is
 * done is lost.  It serves nobody meanwhile, so any answer to what was sent
 * after its line means that it is done.
 */
static inline bool
broker_reloaded(void *arg)
{
	/* CONNECT, MQTT 3.1.1, clean session, 10 s, no name: it is refused. */
	static const unsigned char hello[] = { 0x10, 12, 0, 4, 'M', 'Q', 'T',
		'T', 4, 2, 0, 10, 0, 0 };
	const struct broker *k = arg;
	unsigned char answer[4];
	int fd = tk_connect(k->services);
	bool done;

	if (fd == -1)
		return false;
	done = send(fd, hello, sizeof(hello), MSG_NOSIGNAL) ==
		(ssize_t)sizeof(hello) &&
	    recv(fd, answer, sizeof(answer), 0) > 0 && answer[0] == 0x20;
	close(fd);
	return done;
}

/* The broker has the passwords of k->admitted when this returns. */
static inline void
broker_reload(struct broker *k)
{
	tk_write_file(k->users, k->admitted.n > 0 ? k->admitted.p : "");
	if (k->proc.pid <= 0)
		return;
	k->reloads = broker_reloads(k);
	tk_signal(&k->proc, SIGHUP);
	ck_assert(tk_until(broker_reloading, k, BED_MS));
	ck_assert(tk_until(broker_reloaded, k, BED_MS));
}

/* Let a body in, with BROKER_PW; the broker knows it when this returns. */
static inline void
broker_admit(struct broker *k, const char *id)
{
	if (k->admitted.n > 0)
		k->admitted.n--; /* its NUL */
	broker_user(&k->admitted, id);
	buf_putc(&k->admitted, '\0');
	broker_reload(k);
}

/*
 * The files.  BROKER_CERTS: with the listeners that want certificates (certs.h
 * has made them).  BROKER_ANY_RATE: the gate lets bodies say as much as they
 * like, so that it comes to the bridge.  broker_start() follows.
 */
enum { BROKER_CERTS = 1, BROKER_ANY_RATE = 2 };

static inline void
broker_make(struct broker *k, unsigned how)
{
	struct buf b = BUF_INIT(4096);

	*k = (struct broker){ .any_rate = (how & BROKER_ANY_RATE) != 0 };
	buf_init(&k->admitted, 16UL * 1024 * 1024);
	ck_assert_int_eq(mkdir(tk_path("conf"), 0700), 0);
	ck_assert_int_eq(mkdir(tk_path("kept"), 0700), 0);
	broker_shipped(k, 1, "mosquitto.conf");
	broker_shipped(k, 2, "mosquitto-secure.conf");
	if ((how & BROKER_CERTS) != 0) {
		broker_shipped(k, 3, "mosquitto-tls.conf");
		broker_shipped(k, 4, "mosquitto-fleet.conf");
	}
	/* Started by root it would change to a user who may not read here. */
	buf_printf(&b,
	    "include_dir %s\npersistence_location %s/\nuser root\n"
	    "log_dest stderr\npid_file %s\n",
	    tk_path("conf"), tk_path("kept"), tk_path("mosquitto.pid"));
	tk_write_file(tk_path("main.conf"), b.p);
	buf_reset(&b);
	broker_user(&b, "mqtt-bridge");
	broker_user(&b, "health");
	tk_write_file(tk_path("mosquitto.services"), b.p);
	snprintf(k->users, sizeof(k->users), "%s", tk_path("mosquitto.users"));
	tk_write_file(k->users, "");
	buf_free(&b);
}

/* A bed whose bridges and bodies know no other broker than k, which runs. */
static inline void
broker_bed(struct broker *k, struct bed *b)
{
	*b = (struct bed){ 0 };
	tk_server_start(&b->nats, TK_NATS);
	tk_server_start(&b->redis, TK_REDIS);
	b->mqtt.port = k->bodies;
	snprintf(b->mqtt.url, sizeof(b->mqtt.url),
	    "mqtt://mqtt-bridge:" BROKER_PW "@127.0.0.1:%d", k->services);
	b->nc = tk_nats_connect(b->nats.url);
	tk_state_open(&b->db, b->redis.url);
}

static inline void
broker_end(struct broker *k)
{
	tk_signal(&k->proc, SIGTERM);
	ck_assert_int_ne(tk_wait(&k->proc, BED_MS), -1);
	buf_free(&k->admitted);
}

#endif /* !MQTT_BRIDGE_BROKER_H */
