/*
 * host: configuration and state of the process, which all handlers share.
 */
#ifndef MCP_HOST_HOST_H
#define MCP_HOST_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/conf.h"
#include "state/state_conf.h"

struct buf;
struct bus;
struct loop;
struct state;
struct svc;
struct worker_pool;

struct host_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *config;
	int64_t children_max;
	int64_t timeout_max_s;
};

#define HOST_OPTS_N (5 + STATE_CONF_N)
extern const struct conf_opt host_opts[HOST_OPTS_N];

struct host {
	struct svc *svc;
	struct loop *loop;
	struct bus *bus;
	const struct host_conf *conf;
	struct worker_pool *workers; /* connecting */
	struct state *state;
};

/*
 * host_check(conf, errors, known), host_start(s, conf), host_drain(h),
 * host_stop(h): As struct svc_def has them.
 */
void host_check(const void *conf, struct buf *errors, struct buf *known);
void *host_start(struct svc *s, const void *conf);
void host_drain(void *app);
void host_stop(void *app);

#endif /* !MCP_HOST_HOST_H */
