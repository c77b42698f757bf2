/*
 * memory_worker: configuration and state of the process, and the lifecycle of
 * its parts.
 */
#ifndef MEMORY_WORKER_MEMORY_WORKER_H
#define MEMORY_WORKER_MEMORY_WORKER_H

#include <stdint.h>

#include "core/conf.h"
#include "llm/providers.h"
#include "state/state_conf.h"

struct boot_count;
struct buf;
struct bus;
struct embed;
struct idle_scan;
struct readiness;
struct state;
struct store;
struct svc;
struct work;
struct worker_pool;

struct memory_worker_conf {
	const char *redis_url;
	struct state_conf redis;
	int64_t redis_timeout_ms;
	struct llm_conf llm;
	double scan_s, llm_timeout_s, claim_s, retry_s;
	int64_t max_jobs;
	int64_t max_deliveries;
	double ack_wait_s;
	int64_t cache_mb;
	const char *embed_url, *embed_key, *embed_model;
	int64_t embed_dimensions, embed_timeout_ms;
	const char *backend;
	const char *mem0_url, *mem0_key, *mem0_auth;
	double mem0_timeout_s;
	const char *chroma_url, *chroma_tenant, *chroma_database;
	const char *chroma_collection, *chroma_key, *chroma_auth;
	double chroma_timeout_s;
};

/* The options that fill it. */
#define MEMORY_WORKER_OPTS_N (27 + STATE_CONF_N + LLM_CONF_N)
extern const struct conf_opt memory_worker_opts[MEMORY_WORKER_OPTS_N];

struct memory_worker {
	const struct memory_worker_conf *conf;
	struct svc *svc;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state;
	struct embed *embed; /* NULL: no embedding model */
	struct store *store;
	struct llm *llm;
	struct idle_scan *idle;
	struct boot_count *boot;
	struct work *jobs;
	struct readiness *ready;
};

/*
 * memory_worker_check(conf, errors, known): As svc_def.check.
 * memory_worker_start(s, conf): As svc_def.start; conf is a struct
 * memory_worker_conf.
 * memory_worker_drain(w): As svc_def.drain.
 * memory_worker_stop(w): As svc_def.stop.
 */
void memory_worker_check(
    const void *conf, struct buf *errors, struct buf *known);
void *memory_worker_start(struct svc *s, const void *conf);
void memory_worker_drain(void *w);
void memory_worker_stop(void *w);

/* ---- the parts; each _free() accepts NULL, after state_stop() ---- */

/*
 * readiness_new(w), readiness_free(r):
 * The cached result of the last store probe.  Freed before the store.
 */
struct readiness *readiness_new(struct memory_worker *w);
void readiness_free(struct readiness *r);

/*
 * idle_scan_new(w), idle_scan_free(o):
 * Claims idle sessions and summarises them (summary/summary_job.h), each by one
 * job at a time.  Freed before w's bus, llm and state.
 *
 * idle_scan_drain(o):
 * Claim nothing more, and hand the claims back, which the service's drain waits
 * for; those not handed back expire.
 */
struct idle_scan *idle_scan_new(struct memory_worker *w);
void idle_scan_drain(struct idle_scan *o);
void idle_scan_free(struct idle_scan *o);

/*
 * boot_count_new(w), boot_count_free(b):
 * Counts the start of this worker in the state of the system
 * (state/system.h), once it is the only one that does.  Freed before w's
 * state.
 *
 * boot_count_drain(b): Leave that to another, which the service's drain waits
 * for.
 */
struct boot_count *boot_count_new(struct memory_worker *w);
void boot_count_drain(struct boot_count *b);
void boot_count_free(struct boot_count *b);

/*
 * memory_jobs_new(w):
 * Consumes memory jobs (work/work.h), each with one effect however often it is
 * delivered, those of one user and soul one after the other.  NULL if the
 * streams cannot be requested.  Freed by work_free(), before w's store.
 *
 * A job that cannot be stored because the store or Redis is unavailable is
 * deferred without counting as a failure.
 */
struct work *memory_jobs_new(struct memory_worker *w);

/* The kinds of work of the service, then NULL. */
extern const char *const memory_job_kinds[];

#endif /* !MEMORY_WORKER_MEMORY_WORKER_H */
