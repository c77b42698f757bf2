/*
 * broker: mosquitto with the secured configuration as it is shipped, of which
 * only the places of files and the ports are replaced.
 */
#ifndef MQTT_BRIDGE_BROKER_H
#define MQTT_BRIDGE_BROKER_H

#include <sys/stat.h>
#include <unistd.h>

#include "auth/auth.h"
#include "bed.h"

/* Of every body that broker_admit() lets in, and of the services. */
#define BROKER_PW "secret"

struct broker {
	struct kit_proc proc;
	int bodies, services, tls, fleet; /* ports */
	char users[256];                  /* bodies' passwords */
	struct buf admitted;
};

/* A line of a password file. */
static inline void
broker_user(struct buf *b, const char *name)
{
	char hash[AUTH_HASH_MAX];

	auth_secret_hash(STR(BROKER_PW), hash);
	buf_printf(b, "%s:%s\n", name, hash);
}

static inline void
broker_replace(struct buf *b, const char *from, const char *to)
{
	struct buf out = BUF_INIT(64UL * 1024);
	struct str rest = buf_str(b);
	ptrdiff_t at;

	while ((at = str_find(rest, str_of(from))) >= 0) {
		buf_put(&out, rest.p, (size_t)at);
		buf_puts(&out, to);
		rest.p += (size_t)at + strlen(from);
		rest.n -= (size_t)at + strlen(from);
	}
	buf_put_str(&out, rest);
	buf_reset(b);
	buf_put_str(b, buf_str(&out));
	buf_free(&out);
}

static inline int
broker_port(struct buf *b, int shipped)
{
	char from[32], to[64];
	int port = kit_port();

	snprintf(from, sizeof(from), "listener %d\n", shipped);
	snprintf(to, sizeof(to), "listener %d 127.0.0.1\n", port);
	broker_replace(b, from, to);
	return port;
}

/* One shipped file into the folder that mosquitto includes, in its turn. */
static inline void
broker_shipped(struct broker *k, int turn, const char *name)
{
	struct buf b = BUF_INIT(64UL * 1024);
	char path[512], acl[512], here[480];
	char *text;
	size_t n;

	snprintf(path, sizeof(path), "deploy/%s", name);
	text = kit_read_file(path, &n);
	buf_puts(&b, text);
	free(text);
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	snprintf(acl, sizeof(acl), "%s/deploy", here);
	broker_replace(&b, "/etc/soul", acl);
	broker_replace(&b, "/run/soul/bodies", kit_dir());
	broker_replace(&b, "/run/soul", kit_dir());
	if (turn == 2) {
		k->bodies = broker_port(&b, 1883);
		k->services = broker_port(&b, 1884);
	} else if (turn == 3) {
		k->tls = broker_port(&b, 8883);
	} else if (turn == 4) {
		k->fleet = broker_port(&b, 8884);
	}
	snprintf(path, sizeof(path), "conf/%d.conf", turn);
	buf_putc(&b, '\0');
	kit_write_file(kit_path(path), b.p);
	buf_free(&b);
}

static inline void
broker_spawn(struct broker *k)
{
	static int starts;
	const char *v[] = { "mosquitto", "-c", kit_path("main.conf"), NULL };
	char name[24];

	snprintf(name, sizeof(name), "mosquitto-%d", starts++);
	kit_spawn(&k->proc, name, v, NULL);
}

static inline bool
broker_answers(void *arg)
{
	struct broker *k = arg;

	return kit_port_open(k->services) && kit_log_has(&k->proc, "running");
}

static inline void
broker_start(struct broker *k)
{
	broker_spawn(k);
	ck_assert(kit_until(broker_answers, k, BED_MS));
}

static inline void
broker_reload(struct broker *k)
{
	kit_write_file(k->users, k->admitted.n > 0 ? k->admitted.p : "");
	if (k->proc.pid > 0)
		kit_signal(&k->proc, SIGHUP);
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
 * The files; secure: with the listeners that want certificates (certs.h has
 * made them).  broker_start() follows.
 */
static inline void
broker_make(struct broker *k, bool secure)
{
	struct buf b = BUF_INIT(4096);

	*k = (struct broker){ 0 };
	buf_init(&k->admitted, 1024UL * 1024);
	ck_assert_int_eq(mkdir(kit_path("conf"), 0700), 0);
	ck_assert_int_eq(mkdir(kit_path("kept"), 0700), 0);
	broker_shipped(k, 1, "mosquitto.conf");
	broker_shipped(k, 2, "mosquitto-secure.conf");
	if (secure) {
		broker_shipped(k, 3, "mosquitto-tls.conf");
		broker_shipped(k, 4, "mosquitto-fleet.conf");
	}
	/* Started by root it would change to a user who may not read here. */
	buf_printf(&b,
	    "include_dir %s\npersistence_location %s/\nuser root\n"
	    "log_dest stderr\npid_file %s\n",
	    kit_path("conf"), kit_path("kept"), kit_path("mosquitto.pid"));
	kit_write_file(kit_path("main.conf"), b.p);
	buf_reset(&b);
	broker_user(&b, "mqtt-bridge");
	broker_user(&b, "health");
	kit_write_file(kit_path("mosquitto.services"), b.p);
	snprintf(k->users, sizeof(k->users), "%s", kit_path("mosquitto.users"));
	kit_write_file(k->users, "");
	buf_free(&b);
}

/* A bed whose bridges and bodies know no other broker than k, which runs. */
static inline void
broker_bed(struct broker *k, struct bed *b)
{
	*b = (struct bed){ 0 };
	kit_server_start(&b->nats, KIT_NATS);
	kit_server_start(&b->redis, KIT_REDIS);
	b->mqtt.port = k->bodies;
	snprintf(b->mqtt.url, sizeof(b->mqtt.url),
	    "mqtt://mqtt-bridge:" BROKER_PW "@127.0.0.1:%d", k->services);
	b->nc = kit_nats_connect(b->nats.url);
	kit_state_open(&b->db, b->redis.url);
}

static inline void
broker_end(struct broker *k)
{
	kit_signal(&k->proc, SIGTERM);
	ck_assert_int_ne(kit_wait(&k->proc, BED_MS), -1);
	buf_free(&k->admitted);
}

#endif /* !MQTT_BRIDGE_BROKER_H */
