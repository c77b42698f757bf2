/*
 * Start and end.
 */
#include "keeper.h"

#include <stdlib.h>
#include <string.h>

#include "builtin.h"
#include "chroma.h"
#include "core/buf.h"
#include "core/mem.h"
#include "core/worker.h"
#include "llm/embed.h"
#include "llm/llm.h"
#include "llm/providers.h"
#include "mem0.h"
#include "on_idle.h"
#include "on_job.h"
#include "on_memory.h"
#include "state/state.h"
#include "store.h"
#include "svc/svc.h"

#define MB ((size_t)1024 * 1024)

static bool
keeper_state_up(void *arg)
{
	return state_up(arg);
}

static void
keeper_llm_note(const void *arg, struct buf *out)
{
	llm_state(arg, out);
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
	rc = llm_open(&k->conf->llm, &l, &k->llm);
	if (rc == RC_OK)
		svc_note(k->svc, keeper_llm_note, k->llm);
	if (rc == RC_OK && k->conf->embed_url[0] != '\0')
		rc = embed_new(&e, &k->embed);
	return rc;
}

static struct store *
new_builtin(struct keeper *k)
{
	return builtin_new(&(struct builtin_opts){ .state = k->state,
	    .max_bytes = (size_t)k->conf->cache_mb * MB,
	    .embed = k->embed,
	    .embed_ms = k->conf->embed_timeout_ms,
	    .metrics = svc_metrics(k->svc) });
}

static struct store *
new_mem0(struct keeper *k)
{
	const struct mem0_opts o = {
		.rest = { .loop = svc_loop(k->svc),
		    .peer = "mem0",
		    .base_url = k->conf->mem0_url,
		    .auth = k->conf->mem0_auth,
		    .key = k->conf->mem0_key,
		    .metrics = svc_metrics(k->svc) },
		.search_ms = (int64_t)(k->conf->mem0_timeout_s * 1e3),
		.state = k->state,
	};
	struct store *s;

	return mem0_new(&o, &s) == RC_OK ? s : NULL;
}

static struct store *
new_chroma(struct keeper *k)
{
	const struct keeper_conf *c = k->conf;
	const struct chroma_opts o = {
		.rest = { .loop = svc_loop(k->svc),
		    .peer = "chroma",
		    .base_url = c->chroma_url,
		    .auth = c->chroma_auth,
		    .key = c->chroma_key,
		    .metrics = svc_metrics(k->svc) },
		.tenant = c->chroma_tenant,
		.database = c->chroma_database,
		.collection = c->chroma_collection,
		.search_ms = (int64_t)(c->chroma_timeout_s * 1e3),
		.embed = k->embed,
		.embed_ms = c->embed_timeout_ms,
		.state = k->state,
	};
	struct store *s;

	return chroma_new(&o, &s) == RC_OK ? s : NULL;
}

static void
check_builtin(const struct keeper_conf *c, struct buf *errors)
{
	(void)c;
	(void)errors;
}

static void
check_mem0(const struct keeper_conf *c, struct buf *errors)
{
	if (!rest_base_ok(c->mem0_url))
		buf_puts(errors,
		    "MEM0_BASE_URL: it must begin with http:// or https://\n");
	if (!rest_auth_ok(c->mem0_auth))
		buf_puts(errors,
		    "MEM0_AUTH: it must be none, x-api-key, bearer or "
		    "token\n");
}

static void
check_chroma(const struct keeper_conf *c, struct buf *errors)
{
	if (!rest_base_ok(c->chroma_url))
		buf_puts(errors,
		    "CHROMA_URL: it must begin with http:// or https://\n");
	if (!rest_auth_ok(c->chroma_auth))
		buf_puts(errors,
		    "CHROMA_AUTH: it must be none, x-api-key, bearer, token or "
		    "x-chroma-token\n");
	if (!chroma_names_ok(
		c->chroma_tenant, c->chroma_database, c->chroma_collection))
		buf_puts(errors,
		    "CHROMA_TENANT, CHROMA_DATABASE, CHROMA_COLLECTION: they "
		    "must be letters, digits and ._-, the first two together "
		    "900 at most\n");
}

static const struct {
	const char *name;
	struct store *(*make)(struct keeper *k);
	void (*check)(const struct keeper_conf *c, struct buf *errors);
} backends[] = {
	{ "builtin", new_builtin, check_builtin },
	{ "mem0", new_mem0, check_mem0 },
	{ "chroma", new_chroma, check_chroma },
};

static struct store *
keeper_store(struct keeper *k)
{
	size_t i;

	for (i = 0; i < NELEM(backends); i++)
		if (strcmp(k->conf->backend, backends[i].name) == 0)
			return backends[i].make(k);
	return NULL;
}

static void
check_backend(const struct keeper_conf *c, struct buf *errors)
{
	size_t i;

	for (i = 0; i < NELEM(backends); i++)
		if (strcmp(c->backend, backends[i].name) == 0) {
			backends[i].check(c, errors);
			return;
		}
	buf_puts(
	    errors, "MEMORY_BACKEND: it must be builtin, mem0 or chroma\n");
}

void
keeper_check(const void *arg, struct buf *errors, struct buf *known)
{
	const struct keeper_conf *c = arg;
	const struct embed_opts e = { .base_url = c->embed_url,
		.model = c->embed_model };
	const char *why = state_url_error(c->redis_url);

	if (why != NULL)
		buf_printf(errors, "REDIS_URL: %s\n", why);
	llm_conf_check(&c->llm, errors, known);
	why = c->embed_url[0] != '\0' ? embed_opts_fault(&e) : NULL;
	if (why != NULL)
		buf_printf(errors, "%s\n", why);
	check_backend(c, errors);
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
