/*
 * bridge: configuration, start and stop of the service.
 */
#ifndef MQTT_BRIDGE_BRIDGE_H
#define MQTT_BRIDGE_BRIDGE_H

#include <stdint.h>

#include "core/conf.h"
#include "state/state_conf.h"

struct svc;

struct bridge_conf {
	const char *redis_url;
	struct state_conf redis;
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

/* The options that fill struct bridge_conf. */
#define BRIDGE_OPTS_N (13 + STATE_CONF_N)
extern const struct conf_opt bridge_opts[BRIDGE_OPTS_N];

/* bridge_check(conf, errors, known): As svc_def.check. */
void bridge_check(const void *conf, struct buf *errors, struct buf *known);

/* bridge_start(s, conf): As svc_def.start; conf is a struct bridge_conf. */
void *bridge_start(struct svc *s, const void *conf);

/* bridge_stop(b): Release the lease, disconnect from the broker, free b. */
void bridge_stop(void *b);

#endif /* !MQTT_BRIDGE_BRIDGE_H */
