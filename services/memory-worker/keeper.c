/*
 * Start and end.
 */
#include "keeper.h"

#include <stdlib.h>

#include "builtin.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/worker.h"
#include "llm/embed.h"
#include "llm/llm.h"
#include "on_idle.h"
#include "on_job.h"
#include "on_memory.h"
#include "state/state.h"
#include "store.h"
#include "svc/svc.h"

#define MB ((size_t)1024 * 1024)

const struct conf_opt keeper_opts[KEEPER_OPTS_N] = {
	{ "REDIS_URL", CONF_SECRET, CONF_AT(keeper_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0, "Redis, with its password if any" },
	{ "REDIS_TIMEOUT_MS", CONF_INT, CONF_AT(keeper_conf, redis_timeout_ms),
	    "250", 10, 10000, "longest wait for an answer of Redis, ms" },
	{ "OPENAI_BASE_URL", CONF_STR, CONF_AT(keeper_conf, llm_url),
	    "http://127.0.0.1:9080/v1", 0, 0,
	    "OpenAI-compatible server that writes the summaries" },
	{ "OPENAI_API_KEY", CONF_SECRET, CONF_AT(keeper_conf, llm_key), "", 0,
	    0, "its key; empty for none" },
	{ "LLM_MODEL", CONF_STR, CONF_AT(keeper_conf, llm_model), "gpt-4o-mini",
	    0, 0, "its model" },
	{ "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS", CONF_F64,
	    CONF_AT(keeper_conf, scan_s), "15", 0, 3600,
	    "time between two looks for sessions that fell idle, s" },
	{ "IDLE_SUMMARY_TIMEOUT_SECONDS", CONF_F64,
	    CONF_AT(keeper_conf, llm_timeout_s), "60", 0, 3600,
	    "longest wait for a summary, s" },
	{ "IDLE_SUMMARY_CLAIM_SECONDS", CONF_F64, CONF_AT(keeper_conf, claim_s),
	    "90", 0, 7200,
	    "time after which another takes over an idle session, s" },
	{ "IDLE_SUMMARY_RETRY_SECONDS", CONF_F64, CONF_AT(keeper_conf, retry_s),
	    "5", 0, 600,
	    "first wait after a failed summary, s; doubles up to 600" },
	{ "IDLE_SUMMARY_AT_ONCE", CONF_INT, CONF_AT(keeper_conf, at_once), "8",
	    1, 256, "summaries under way at one time" },
	{ "MEMORY_JOB_MAX_DELIVERIES", CONF_INT,
	    CONF_AT(keeper_conf, max_deliveries), "10", 1, 1000,
	    "tries of a job before it is put aside" },
	{ "MEMORY_JOB_ACK_WAIT_SECONDS", CONF_F64,
	    CONF_AT(keeper_conf, ack_wait_s), "30", 0, 3600,
	    "time after which another gets a job that nothing is heard of, s" },
	{ "MEMORY_CACHE_MB", CONF_INT, CONF_AT(keeper_conf, cache_mb), "64", 1,
	    65536, "indexes of memories that are kept, MiB" },
	{ "EMBEDDINGS_BASE_URL", CONF_STR, CONF_AT(keeper_conf, embed_url), "",
	    0, 0,
	    "OpenAI-compatible server that makes vectors; empty: they are of "
	    "spelling only, and made here" },
	{ "EMBEDDINGS_API_KEY", CONF_SECRET, CONF_AT(keeper_conf, embed_key),
	    "", 0, 0, "its key; empty for none" },
	{ "EMBEDDINGS_MODEL", CONF_STR, CONF_AT(keeper_conf, embed_model),
	    "text-embedding-3-small", 0, 0, "its model" },
	{ "EMBEDDINGS_DIMENSIONS", CONF_INT,
	    CONF_AT(keeper_conf, embed_dimensions), "0", 0, 8192,
	    "length of the vectors to ask for; 0: the model's own" },
	{ "EMBEDDINGS_TIMEOUT_MS", CONF_INT,
	    CONF_AT(keeper_conf, embed_timeout_ms), "2000", 10, 60000,
	    "longest wait for a vector, ms" },
};

static bool
keeper_state_up(void *arg)
{
	return state_up(arg);
}

static enum rc
keeper_connect(struct keeper *k)
{
	const struct state_opts o = { .loop = svc_loop(k->svc),
		.workers = k->workers,
		.url = k->conf->redis_url,
		.name = "memory-worker",
		.deadline_ms = (int)k->conf->redis_timeout_ms,
		.metrics = svc_metrics(k->svc) };
	const struct llm_opts l = { .loop = svc_loop(k->svc),
		.base_url = k->conf->llm_url,
		.api_key = k->conf->llm_key,
		.model = k->conf->llm_model,
		.active_max = (size_t)k->conf->at_once,
		.metrics = svc_metrics(k->svc) };
	const struct embed_opts e = { .loop = svc_loop(k->svc),
		.base_url = k->conf->embed_url,
		.api_key = k->conf->embed_key,
		.model = k->conf->embed_model,
		.dimensions = k->conf->embed_dimensions,
		.metrics = svc_metrics(k->svc) };
	enum rc rc;

	rc = state_new(&o, &k->state);
	if (rc != RC_OK)
		return rc;
	svc_require(k->svc, "redis", keeper_state_up, k->state);
	rc = llm_new(&l, &k->llm);
	if (rc != RC_OK)
		log_error("conf.invalid",
		    LOG_S("variable", "OPENAI_BASE_URL, LLM_MODEL"),
		    LOG_S("must_be", "http:// or https://, and a name"));
	if (rc == RC_OK && k->conf->embed_url[0] != '\0') {
		rc = embed_new(&e, &k->embed);
		if (rc != RC_OK)
			log_error("conf.invalid",
			    LOG_S("variable",
				"EMBEDDINGS_BASE_URL, EMBEDDINGS_MODEL"),
			    LOG_S(
				"must_be", "http:// or https://, and a name"));
	}
	return rc;
}

static struct store *
keeper_store(struct keeper *k)
{
	return builtin_new(&(struct builtin_opts){ .state = k->state,
	    .max_bytes = (size_t)k->conf->cache_mb * MB,
	    .embed = k->embed,
	    .embed_ms = k->conf->embed_timeout_ms,
	    .metrics = svc_metrics(k->svc) });
}

void *
keeper_start(struct svc *s, const void *conf)
{
	struct keeper *k = mem_zalloc(sizeof(*k));

	k->conf = conf;
	k->svc = s;
	k->bus = svc_bus(s);
	k->workers = worker_new(svc_loop(s), 1, 16);
	if (keeper_connect(k) != RC_OK) {
		keeper_stop(k);
		return NULL;
	}
	k->store = keeper_store(k);
	if (k->store == NULL) {
		keeper_stop(k);
		return NULL;
	}
	k->ready = ready_new(k);
	k->jobs = jobs_new(k);
	k->idle = idle_new(k);
	if (k->jobs == NULL) {
		keeper_stop(k);
		return NULL;
	}
	return k;
}

void
keeper_stop(void *arg)
{
	struct keeper *k = arg;

	idle_free(k->idle);
	jobs_free(k->jobs);
	ready_free(k->ready);
	llm_free(k->llm);
	embed_free(k->embed);
	store_free(k->store);
	state_free(k->state);
	worker_free(k->workers);
	free(k);
}
