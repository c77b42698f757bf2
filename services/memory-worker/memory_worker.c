/*
 * Configuration table, start and stop.
 */
#include "memory_worker.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/worker.h"
#include "handlers.h"
#include "llm/embed.h"
#include "llm/llm.h"
#include "llm/providers.h"
#include "state/state.h"
#include "store/memory_store.h"
#include "svc/svc.h"
#include "work/work.h"

const struct conf_opt memory_worker_opts[MEMORY_WORKER_OPTS_N] = {
	{ "REDIS_URL", CONF_URL, CONF_AT(memory_worker_conf, redis_url),
	    "redis://127.0.0.1:6379", 0, 0,
	    "Redis URL, including any password" },
	STATE_CONF_OPTS(memory_worker_conf, redis),
	{ "REDIS_TIMEOUT_MS", CONF_INT,
	    CONF_AT(memory_worker_conf, redis_timeout_ms), "1000", 10, 10000,
	    "timeout of a Redis command, ms" },
	LLM_CONF_OPTS(memory_worker_conf, llm),
	{ "IDLE_SUMMARY_SCAN_INTERVAL_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, scan_s), "15", 0, 3600,
	    "interval between scans for idle sessions, s" },
	{ "IDLE_SUMMARY_TIMEOUT_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, llm_timeout_s), "60", 0, 3600,
	    "timeout of a summary, s" },
	{ "IDLE_SUMMARY_CLAIM_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, claim_s), "90", 0, 7200,
	    "time after which another worker may claim an idle session, s" },
	{ "IDLE_SUMMARY_RETRY_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, retry_s), "5", 0, 600,
	    "first delay after a failed summary, s; doubles up to 600" },
	{ "IDLE_SUMMARY_AT_ONCE", CONF_INT,
	    CONF_AT(memory_worker_conf, max_jobs), "8", 1, 256,
	    "concurrent summaries" },
	{ "MEMORY_JOB_MAX_DELIVERIES", CONF_INT,
	    CONF_AT(memory_worker_conf, max_deliveries), "10", 1, 1000,
	    "deliveries of a job before it is dead-lettered" },
	{ "MEMORY_JOB_ACK_WAIT_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, ack_wait_s), "30", 0, 3600,
	    "time after which an unacknowledged job is delivered again, s" },
	{ "MEMORY_CACHE_MB", CONF_INT, CONF_AT(memory_worker_conf, cache_mb),
	    "64", 1, 65536, "memory limit of the search indexes, MiB" },
	{ "EMBEDDINGS_BASE_URL", CONF_URL,
	    CONF_AT(memory_worker_conf, embed_url), "", 0, 0,
	    "OpenAI-compatible embeddings server; empty: spelling vectors" },
	{ "EMBEDDINGS_API_KEY", CONF_SECRET,
	    CONF_AT(memory_worker_conf, embed_key), "", 0, 0,
	    "API key of the server; empty for none" },
	{ "EMBEDDINGS_MODEL", CONF_STR,
	    CONF_AT(memory_worker_conf, embed_model), "text-embedding-3-small",
	    0, 0, "embeddings model" },
	{ "EMBEDDINGS_DIMENSIONS", CONF_INT,
	    CONF_AT(memory_worker_conf, embed_dimensions), "0", 0, 8192,
	    "vector length to request; 0: the model's default" },
	{ "EMBEDDINGS_TIMEOUT_MS", CONF_INT,
	    CONF_AT(memory_worker_conf, embed_timeout_ms), "2000", 10, 60000,
	    "timeout of an embeddings request, ms" },
	{ "MEMORY_BACKEND", CONF_STR, CONF_AT(memory_worker_conf, backend),
	    "builtin", 0, 0, "memory store: builtin, mem0 or chroma" },
	{ "MEM0_BASE_URL", CONF_URL, CONF_AT(memory_worker_conf, mem0_url),
	    "http://127.0.0.1:8888", 0, 0, "Mem0 server" },
	{ "MEM0_API_KEY", CONF_SECRET, CONF_AT(memory_worker_conf, mem0_key),
	    "", 0, 0, "API key of Mem0; empty for none" },
	{ "MEM0_AUTH", CONF_STR, CONF_AT(memory_worker_conf, mem0_auth),
	    "x-api-key", 0, 0,
	    "how the key is sent: none, x-api-key, bearer or token" },
	{ "MEM0_TIMEOUT_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, mem0_timeout_s), "5", 0, 60,
	    "timeout of a search in Mem0, s" },
	{ "CHROMA_URL", CONF_URL, CONF_AT(memory_worker_conf, chroma_url),
	    "http://127.0.0.1:8000", 0, 0, "Chroma server" },
	{ "CHROMA_TENANT", CONF_STR, CONF_AT(memory_worker_conf, chroma_tenant),
	    "default_tenant", 0, 0, "Chroma tenant" },
	{ "CHROMA_DATABASE", CONF_STR,
	    CONF_AT(memory_worker_conf, chroma_database), "default_database", 0,
	    0, "Chroma database" },
	{ "CHROMA_COLLECTION", CONF_STR,
	    CONF_AT(memory_worker_conf, chroma_collection), "long_term_memory",
	    0, 0, "Chroma collection" },
	{ "CHROMA_API_KEY", CONF_SECRET,
	    CONF_AT(memory_worker_conf, chroma_key), "", 0, 0,
	    "API key of the proxy in front of Chroma; empty for none" },
	{ "CHROMA_AUTH", CONF_STR, CONF_AT(memory_worker_conf, chroma_auth),
	    "bearer", 0, 0,
	    "how the key is sent: none, x-api-key, bearer, token or "
	    "x-chroma-token" },
	{ "CHROMA_TIMEOUT_SECONDS", CONF_F64,
	    CONF_AT(memory_worker_conf, chroma_timeout_s), "5", 0, 60,
	    "timeout of a search in Chroma, s" },
};

#define MB ((size_t)1024 * 1024)

static bool
worker_state_up(void *arg)
{
	return state_up(arg);
}

static void
worker_llm_note(const void *arg, struct buf *out)
{
	llm_state(arg, out);
}

static enum rc
worker_connect(struct memory_worker *w)
{
	const struct state_opts o = { .loop = svc_loop(w->svc),
		.workers = w->workers,
		.url = w->conf->redis_url,
		.conf = &w->conf->redis,
		.name = "memory-worker",
		.deadline_ms = (int)w->conf->redis_timeout_ms,
		.on_format = svc_end_unusable,
		.arg = w->svc,
		.metrics = svc_metrics(w->svc) };
	const struct llm_opts l = { .loop = svc_loop(w->svc),
		.active_max = (size_t)w->conf->max_jobs,
		.metrics = svc_metrics(w->svc) };
	const struct embed_opts e = { .loop = svc_loop(w->svc),
		.base_url = w->conf->embed_url,
		.api_key = w->conf->embed_key,
		.model = w->conf->embed_model,
		.dimensions = w->conf->embed_dimensions,
		.metrics = svc_metrics(w->svc) };
	enum rc rc;

	rc = state_new(&o, &w->state);
	if (rc != RC_OK)
		return rc;
	svc_require(w->svc, "redis", worker_state_up, w->state);
	rc = llm_open(&w->conf->llm, &l, &w->llm);
	if (rc == RC_OK)
		svc_ready_note(w->svc, worker_llm_note, w->llm);
	if (rc == RC_OK && w->conf->embed_url[0] != '\0')
		rc = embed_new(&e, &w->embed);
	return rc;
}

static struct store *
worker_new_builtin(struct memory_worker *w)
{
	return builtin_store_new(
	    &(struct builtin_store_opts){ .state = w->state,
		.max_bytes = (size_t)w->conf->cache_mb * MB,
		.embed = w->embed,
		.embed_ms = w->conf->embed_timeout_ms,
		.metrics = svc_metrics(w->svc) });
}

static struct store *
worker_new_mem0(struct memory_worker *w)
{
	const struct mem0_store_opts o = {
		.http = { .loop = svc_loop(w->svc),
		    .peer = "mem0",
		    .base_url = w->conf->mem0_url,
		    .auth = w->conf->mem0_auth,
		    .key = w->conf->mem0_key,
		    .metrics = svc_metrics(w->svc) },
		.search_ms = (int64_t)(w->conf->mem0_timeout_s * 1e3),
		.state = w->state,
	};
	struct store *s;

	return mem0_store_new(&o, &s) == RC_OK ? s : NULL;
}

static struct store *
worker_new_chroma(struct memory_worker *w)
{
	const struct memory_worker_conf *c = w->conf;
	const struct chroma_store_opts o = {
		.http = { .loop = svc_loop(w->svc),
		    .peer = "chroma",
		    .base_url = c->chroma_url,
		    .auth = c->chroma_auth,
		    .key = c->chroma_key,
		    .metrics = svc_metrics(w->svc) },
		.tenant = c->chroma_tenant,
		.database = c->chroma_database,
		.collection = c->chroma_collection,
		.search_ms = (int64_t)(c->chroma_timeout_s * 1e3),
		.embed = w->embed,
		.embed_ms = c->embed_timeout_ms,
		.state = w->state,
	};
	struct store *s;

	return chroma_store_new(&o, &s) == RC_OK ? s : NULL;
}

static void
worker_check_builtin(const struct memory_worker_conf *c, struct buf *errors)
{
	(void)c;
	(void)errors;
}

static void
worker_check_mem0(const struct memory_worker_conf *c, struct buf *errors)
{
	if (!store_http_url_valid(c->mem0_url))
		buf_puts(errors,
		    "MEM0_BASE_URL: must begin with http:// or https://\n");
	if (!store_http_auth_valid(c->mem0_auth))
		buf_puts(errors,
		    "MEM0_AUTH: must be none, x-api-key, bearer or "
		    "token\n");
}

static void
worker_check_chroma(const struct memory_worker_conf *c, struct buf *errors)
{
	if (!store_http_url_valid(c->chroma_url))
		buf_puts(errors,
		    "CHROMA_URL: must begin with http:// or https://\n");
	if (!store_http_auth_valid(c->chroma_auth))
		buf_puts(errors,
		    "CHROMA_AUTH: must be none, x-api-key, bearer, token or "
		    "x-chroma-token\n");
	if (!chroma_names_valid(
		c->chroma_tenant, c->chroma_database, c->chroma_collection))
		buf_puts(errors,
		    "CHROMA_TENANT, CHROMA_DATABASE, CHROMA_COLLECTION: must "
		    "consist of letters, digits and ._-, the first two of 900 "
		    "at most together\n");
}

static const struct {
	const char *name;
	struct store *(*make)(struct memory_worker *w);
	void (*check)(const struct memory_worker_conf *c, struct buf *errors);
} worker_backends[] = {
	{ "builtin", worker_new_builtin, worker_check_builtin },
	{ "mem0", worker_new_mem0, worker_check_mem0 },
	{ "chroma", worker_new_chroma, worker_check_chroma },
};

static struct store *
worker_new_store(struct memory_worker *w)
{
	size_t i;

	for (i = 0; i < NELEM(worker_backends); i++)
		if (strcmp(w->conf->backend, worker_backends[i].name) == 0)
			return worker_backends[i].make(w);
	return NULL;
}

static void
worker_check_backend(const struct memory_worker_conf *c, struct buf *errors)
{
	size_t i;

	for (i = 0; i < NELEM(worker_backends); i++)
		if (strcmp(c->backend, worker_backends[i].name) == 0) {
			worker_backends[i].check(c, errors);
			return;
		}
	buf_puts(errors, "MEMORY_BACKEND: must be builtin, mem0 or chroma\n");
}

void
memory_worker_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct memory_worker_conf *c = arg;
	const struct embed_opts e = { .base_url = c->embed_url,
		.model = c->embed_model };
	const char *why = state_url_error(c->redis_url);

	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	llm_conf_check(&c->llm, errors, known);
	why = c->embed_url[0] != '\0' ? embed_opts_error(&e) : NULL;
	if (why != NULL)
		buf_printf(errors, "%s\n", why);
	worker_check_backend(c, errors);
}

void *
memory_worker_start(struct svc *s, const void *conf)
{
	struct memory_worker *w = mem_zalloc(sizeof(*w));

	w->conf = conf;
	w->svc = s;
	w->bus = svc_bus(s);
	w->workers = worker_new(svc_loop(s), 1, 16);
	if (worker_connect(w) != RC_OK) {
		memory_worker_stop(w);
		return NULL;
	}
	w->store = worker_new_store(w);
	if (w->store == NULL) {
		memory_worker_stop(w);
		return NULL;
	}
	w->ready = readiness_new(w);
	w->jobs = memory_jobs_new(w);
	w->idle = idle_scan_new(w);
	w->boot = boot_count_new(w);
	if (w->jobs == NULL) {
		memory_worker_stop(w);
		return NULL;
	}
	return w;
}

void
memory_worker_drain(void *arg)
{
	struct memory_worker *w = arg;

	idle_scan_drain(w->idle);
	boot_count_drain(w->boot);
}

void
memory_worker_stop(void *arg)
{
	struct memory_worker *w = arg;

	/* What waits for it ends before what it uses is freed. */
	state_stop(w->state);
	idle_scan_free(w->idle);
	boot_count_free(w->boot);
	work_free(w->jobs);
	readiness_free(w->ready);
	llm_free(w->llm);
	embed_free(w->embed);
	store_free(w->store);
	state_free(w->state);
	worker_free(w->workers);
	free(w);
}
