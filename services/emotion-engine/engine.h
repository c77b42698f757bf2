/*
 * engine: the state of the process.
 */
#ifndef EMOTION_ENGINE_ENGINE_H
#define EMOTION_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/conf.h"
#include "pad.h"
#include "store.h"

struct bus;
struct feeling;
struct metric;
struct svc;
struct ticker;
struct worker_pool;

struct engine_conf {
	const char *redis_url;
	int64_t redis_timeout_ms;
	const char *exec_gate;
	double tick_s;
	int64_t ttl_s;
	bool migrate; /* souls of persona-pad-v2 become persona-pad-v3's */
	const char *weights;
};

/* The options that fill it. */
#define ENGINE_OPTS_N 7
extern const struct conf_opt engine_opts[ENGINE_OPTS_N];

struct engine {
	const struct engine_conf *conf;
	struct svc *svc;
	struct bus *bulk; /* for updates: all on one way, in their order */
	struct worker_pool *workers;
	struct store store;
	struct feeling *feeling;
	struct ticker *ticker;
	enum pad_gate gate;
	struct buf out; /* a message on its way */
};

/* engine_check(conf, errors, known): As svc_def.check. */
void engine_check(const void *conf, struct buf *errors, struct buf *known);

/* engine_start(s, conf): As svc_def.start; conf is a struct engine_conf. */
void *engine_start(struct svc *s, const void *conf);

/* engine_stop(e): Free it. */
void engine_stop(void *e);

/* engine_now(): The time, as the soul's state has it. */
int64_t engine_now(void);

#endif /* !EMOTION_ENGINE_ENGINE_H */
