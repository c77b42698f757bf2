/*
 * engine: the state of the process.
 */
#ifndef EMOTION_ENGINE_ENGINE_H
#define EMOTION_ENGINE_ENGINE_H

#include <stdint.h>

#include "core/buf.h"
#include "core/conf.h"
#include "pad.h"

struct bus;
struct feeling;
struct metric;
struct state;
struct svc;
struct ticker;
struct worker_pool;

struct engine_conf {
	const char *redis_url;
	int64_t redis_timeout_ms;
	const char *exec_gate;
	double tick_s;
	int64_t ttl_s;
	const char *weights;
};

/* The options that fill it. */
#define ENGINE_OPTS_N 6
extern const struct conf_opt engine_opts[ENGINE_OPTS_N];

struct engine {
	const struct engine_conf *conf;
	struct svc *svc;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state;
	struct feeling *feeling;
	struct ticker *ticker;
	enum pad_gate gate;
	struct buf out; /* a message on its way */
};

/* engine_start(s, conf): As svc_def.start; conf is a struct engine_conf. */
void *engine_start(struct svc *s, const void *conf);

/* engine_stop(e): Free it. */
void engine_stop(void *e);

/* engine_now(): The time, as the soul's state has it. */
int64_t engine_now(void);

#endif /* !EMOTION_ENGINE_ENGINE_H */
