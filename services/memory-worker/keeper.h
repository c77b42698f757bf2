/*
 * keeper: the state of the process.
 */
#ifndef MEMORY_WORKER_KEEPER_H
#define MEMORY_WORKER_KEEPER_H

#include <stdint.h>

#include "core/conf.h"
#include "llm/providers.h"

struct buf;
struct bus;
struct embed;
struct idle;
struct jobs;
struct ready;
struct state;
struct store;
struct svc;
struct worker_pool;

struct keeper_conf {
	const char *redis_url;
	int64_t redis_timeout_ms;
	struct llm_conf llm;
	double scan_s, llm_timeout_s, claim_s, retry_s;
	int64_t at_once;
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
#define KEEPER_OPTS_N (27 + LLM_CONF_N)
extern const struct conf_opt keeper_opts[KEEPER_OPTS_N];

struct keeper {
	const struct keeper_conf *conf;
	struct svc *svc;
	struct bus *bus;
	struct worker_pool *workers;
	struct state *state;
	struct embed *embed; /* NULL: there is no embedding model */
	struct store *store;
	struct llm *llm;
	struct idle *idle;
	struct jobs *jobs;
	struct ready *ready;
};

/* keeper_check(conf, errors, known): As svc_def.check. */
void keeper_check(const void *conf, struct buf *errors, struct buf *known);

/* keeper_start(s, conf): As svc_def.start; conf is a struct keeper_conf. */
void *keeper_start(struct svc *s, const void *conf);

/* keeper_stop(k): Free it. */
void keeper_stop(void *k);

#endif /* !MEMORY_WORKER_KEEPER_H */
