/*
 * proxy: the model proxy: a process that listens on loopback, adds the key of
 * the provider to the engines' requests, and counts tokens.
 *
 * It has a listener of its own, since a response must pass as it arrives and a
 * request may have many MiB: httpd gives each connection a thread, takes bodies
 * of up to 1 MiB, and writes its own errors.
 */
#ifndef ENGINE_RUNNER_PROXY_H
#define ENGINE_RUNNER_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "core/conf.h"

struct buf;
struct svc;

struct proxy_conf {
	const char *addr;
	const char *runs_dir;
	const char *engines;
	const char *ca_file;
	int64_t request_max; /* bytes */
	int64_t response_max;
	int64_t first_byte_ms;
	int64_t idle_ms;
	int64_t call_max_s;
};

#define PROXY_OPTS_N 9
extern const struct conf_opt proxy_opts[PROXY_OPTS_N];

/* As struct svc_def has them. */
void proxy_check(const void *conf, struct buf *errors, struct buf *known);
void *proxy_start(struct svc *s, const void *conf);
void proxy_drain(void *app);
void proxy_stop(void *app);

#endif /* !ENGINE_RUNNER_PROXY_H */
