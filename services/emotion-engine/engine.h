/*
 * engine: state of the process.
 */
#ifndef EMOTION_ENGINE_ENGINE_H
#define EMOTION_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/conf.h"
#include "core/fiber.h"
#include "dynamics/pad.h"
#include "soul_record.h"
#include "state/state_conf.h"

struct bus;
struct recognizer;
struct soul_cache;
struct svc;
struct ticker;
struct worker_pool;

struct engine_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	const char *exec_gate;
	double tick_s;
	int64_t ttl_s;
	bool migrate; /* convert souls of persona-pad-v2 to persona-pad-v3 */
	const char *weights;
};

/* The options that fill it. */
#define ENGINE_OPTS_N (7 + STATE_CONF_N)
extern const struct conf_opt engine_opts[ENGINE_OPTS_N];

/* Souls in the cache: some 400 bytes each. */
#define ENGINE_CACHE_MAX 8192
/* Changes of souls that a process makes at a time. */
#define ENGINE_LOCKS 256

struct engine {
	const struct engine_conf *conf;
	struct svc *svc;
	struct worker_pool *workers;
	struct record_store store;
	struct soul_cache *cache;
	struct recognizer *recognizer;
	struct ticker *ticker;
	enum pad_gate gate;
	struct buf out; /* message being encoded */
	struct fiber_lock locks[ENGINE_LOCKS];
};

/*
 * engine_soul_lock(e, soul_id):
 * The lock of a soul, which it shares with others, so that this process is no
 * rival of its own compare-and-set.
 */
struct fiber_lock *engine_soul_lock(struct engine *e, struct str soul_id);

/* See struct svc_def. */
void engine_check(const void *conf, struct buf *errors, struct buf *known);
void *engine_start(struct svc *s, const void *conf);
void engine_drain(void *e);
void engine_stop(void *e);

#endif /* !EMOTION_ENGINE_ENGINE_H */
