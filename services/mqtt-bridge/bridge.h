/*
 * bridge: the state of the process, and what its parts share.
 */
#ifndef MQTT_BRIDGE_BRIDGE_H
#define MQTT_BRIDGE_BRIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conf.h"
#include "core/id.h"
#include "core/str.h"

struct commands;
struct flood;
struct leading;
struct loop;
struct metric;
struct mqtt;
struct reports;
struct results;
struct snapshots;
struct state;
struct svc;
struct telling;
struct worker_pool;

struct bridge_conf {
	const char *redis_url;
	const char *mqtt_url;
	const char *mqtt_user;
	const char *mqtt_password;
	const char *ca_file, *cert_file, *key_file;
	const char *prefix;
	const char *broker;
	int64_t ttl_s;
	int64_t rate_per_s, rate_burst;
	int64_t skills_max;
};

/* The options that fill it. */
#define BRIDGE_OPTS_N 13
extern const struct conf_opt bridge_opts[BRIDGE_OPTS_N];

struct bridge {
	const struct bridge_conf *conf;
	struct svc *svc;
	struct loop *loop;
	struct worker_pool *workers;
	struct state *state;
	struct mqtt *mqtt;
	struct str prefix;
	struct str broker; /* its id */
	char broker_token[ID_TOKEN_MAX];
	int64_t ttl_ms; /* of snapshots */
	struct flood *flood;
	struct metric *flooded, *cleared;
	struct telling *telling;
	struct leading *leading;
	struct reports *reports;
	struct snapshots *snapshots;
	struct results *results;
	struct commands *commands;
};

/* bridge_check(conf, errors, known): As svc_def.check. */
void bridge_check(const void *conf, struct buf *errors, struct buf *known);

/* bridge_start(s, conf): As svc_def.start; conf is a struct bridge_conf. */
void *bridge_start(struct svc *s, const void *conf);

/* bridge_stop(b): Give up the lease, say goodbye to the broker, free all. */
void bridge_stop(void *b);

#endif /* !MQTT_BRIDGE_BRIDGE_H */
