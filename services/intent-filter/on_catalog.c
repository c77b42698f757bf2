/*
 * One job for each catalog that is not there yet; who wants it waits in it.
 */
#include "on_catalog.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "cache.h"
#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "on_filter.h"
#include "state/state.h"
#include "state/terminal.h"
#include "svc/svc.h"

/* Connecting to Redis may block one of them. */
#define THREADS  2
#define JOBS_MAX 256
/* Requests that wait, by the memory that they hold. */
#define WAITING_BYTES (256UL * 1024 * 1024)

#define BUSY   "too many catalogs are being made ready"
#define UNREAD "/catalog_ref: cannot be read now; send intent_catalog"
#define NONE   "/catalog_ref/terminal_id: has no catalog"
#define OTHER                                                                 \
	"/catalog_ref/hash: the catalog has changed; ask again with its new " \
	"hash"
#define LATE "the catalog was not ready in time"

struct waiting {
	STAILQ_ENTRY(waiting) link;
	struct catalog_ask ask;
	catalog_fn fn;
	void *arg;
	size_t bytes;
};

STAILQ_HEAD(waiting_list, waiting);

struct job {
	struct catalogs *cs;
	struct str key;
	char *json; /* of a record; NULL: the intents of the first request */
	size_t json_n;
	const struct wire_intent *intents;
	size_t n;
	struct waiting_list waiting;
	/* The worker's: */
	enum rc rc;
	struct catalog *made;
	struct wire_err err;
};

struct catalogs {
	struct cache *cache;
	struct map *jobs; /* by key */
	size_t waiting_bytes;
	struct state *state; /* NULL: catalogs cannot be named */
	struct worker_pool *workers;
	struct arena *scratch;
	struct metric *reads;
};

/* ---- jobs ---------------------------------------------------------------- */

static void
work(void *arg)
{
	struct job *j = arg;

	j->rc = j->json != NULL
	    ? catalog_new((struct str){ j->json, j->json_n }, &j->made, &j->err)
	    : cache_compile(j->intents, j->n, &j->made, &j->err);
}

static void
fail_at(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	wire_err_text(err, text, sizeof(text));
	svc_fail(c, rc, text);
}

static void
answer(const struct job *j, const struct waiting *w)
{
	struct svc_call *c = w->ask.call;

	if (j->rc != RC_OK)
		fail_at(c, j->rc, &j->err);
	else if (clock_wall().ms > svc_call_deadline(c).ms)
		svc_fail(c, RC_TIMEOUT, LATE);
	else
		w->fn(w->arg, w->ask, j->made);
}

static void
job_free(struct job *j)
{
	free((char *)(uintptr_t)j->key.p);
	free(j->json);
	free(j);
}

static void
done(void *arg)
{
	struct job *j = arg;
	struct catalogs *cs = j->cs;
	struct waiting *w;

	(void)map_del(cs->jobs, j->key);
	if (j->rc == RC_OK)
		cache_put(cs->cache, j->key, j->made);
	while ((w = STAILQ_FIRST(&j->waiting)) != NULL) {
		STAILQ_REMOVE_HEAD(&j->waiting, link);
		cs->waiting_bytes -= w->bytes;
		answer(j, w);
		free(w);
	}
	job_free(j);
}

static void
job_join(struct job *j, struct catalog_ask ask, catalog_fn fn, void *arg)
{
	struct waiting *w = mem_zalloc(sizeof(*w));

	w->ask = ask;
	w->fn = fn;
	w->arg = arg;
	w->bytes = sizeof(*w) + arena_used(svc_call_arena(ask.call));
	j->cs->waiting_bytes += w->bytes;
	STAILQ_INSERT_TAIL(&j->waiting, w, link);
}

/* ---- records ------------------------------------------------------------- */

/* The catalog that is named; the call has failed unless RC_OK. */
static enum rc
read_record(struct catalogs *cs, struct svc_call *c,
    const struct wire_intent_filter_request_catalog_ref *ref, struct str *json)
{
	enum rc rc = RC_DOWN;

	arena_reset(cs->scratch);
	if (cs->state != NULL)
		rc = terminal_read_catalog(
		    cs->state, ref->terminal_id, ref->hash, cs->scratch, json);
	metric_add(cs->reads, rc == RC_OK);
	if (rc == RC_NOENT)
		svc_fail(c, rc, NONE);
	else if (rc == RC_CONFLICT)
		svc_fail(c, rc, OTHER);
	else if (rc != RC_OK)
		svc_fail(c, RC_DOWN, UNREAD);
	return rc;
}

/* ---- requests ------------------------------------------------------------ */

/* A job for the catalog of this call; NULL: the call has failed. */
static struct job *
job_new(struct catalogs *cs, struct str key, struct svc_call *c)
{
	const struct wire_intent_filter_request *req = svc_call_request(c);
	struct str json = { NULL, 0 };
	struct job *j;

	if (req->has_catalog_ref &&
	    read_record(cs, c, &req->catalog_ref, &json) != RC_OK)
		return NULL;
	j = mem_zalloc(sizeof(*j));
	j->cs = cs;
	j->key = (struct str){ str_dup(key), key.n };
	j->json = json.p != NULL ? str_dup(json) : NULL;
	j->json_n = json.n;
	j->intents = req->intent_catalog;
	j->n = req->n_intent_catalog;
	STAILQ_INIT(&j->waiting);
	j->rc = RC_DOWN; /* unless the worker gets to it */
	if (worker_run(cs->workers, work, done, j) != RC_OK) {
		svc_fail(c, RC_RETRY, BUSY);
		job_free(j);
		return NULL;
	}
	(void)map_put(cs->jobs, j->key, j);
	return j;
}

static enum rc
key_of(struct catalogs *cs, const struct wire_intent_filter_request *req,
    struct str *key)
{
	if (!req->has_catalog_ref)
		return cache_key(
		    cs->cache, req->intent_catalog, req->n_intent_catalog, key);
	*key = cache_key_named(cs->cache, req->catalog_ref.hash);
	return RC_OK;
}

void
catalogs_get(
    struct catalogs *cs, struct catalog_ask ask, catalog_fn fn, void *arg)
{
	const struct catalog *cat;
	struct str key;
	struct job *j;

	if (key_of(cs, svc_call_request(ask.call), &key) != RC_OK) {
		svc_fail(ask.call, RC_TOOBIG, "/intent_catalog: is too large");
		return;
	}
	cat = cache_find(cs->cache, key);
	if (cat != NULL) {
		fn(arg, ask, cat);
		return;
	}
	if (cs->waiting_bytes >= WAITING_BYTES) {
		svc_fail(ask.call, RC_RETRY, BUSY);
		return;
	}
	j = map_get(cs->jobs, key);
	if (j == NULL)
		j = job_new(cs, key, ask.call);
	if (j != NULL)
		job_join(j, ask, fn, arg);
}

/* ---- start and end ------------------------------------------------------- */

enum rc
catalogs_new(
    struct svc *s, const struct filter_conf *conf, struct catalogs **out)
{
	struct catalogs *cs = mem_zalloc(sizeof(*cs));
	struct state_opts o = { .loop = svc_loop(s),
		.url = conf->redis_url,
		.name = "intent-filter",
		.deadline_ms = (int)conf->redis_timeout_ms,
		.metrics = svc_metrics(s) };
	enum rc rc = RC_OK;

	cs->cache =
	    cache_new((size_t)conf->cache_mib * 1024 * 1024, svc_metrics(s));
	cs->jobs = map_new();
	cs->workers = worker_new(svc_loop(s), THREADS, JOBS_MAX);
	cs->scratch = arena_new(TERMINAL_JSON_MAX + 1024);
	cs->reads =
	    metric_counter(svc_metrics(s), "soul_intent_catalog_reads_total",
		"Catalogs read from bodies' records.", NULL);
	o.workers = cs->workers;
	if (conf->redis_url[0] != '\0')
		rc = state_new(&o, &cs->state);
	if (rc != RC_OK) {
		catalogs_free(cs);
		cs = NULL;
	}
	*out = cs;
	return rc;
}

void
catalogs_free(struct catalogs *cs)
{
	if (cs == NULL)
		return;
	state_free(cs->state);
	worker_free(cs->workers);
	arena_free(cs->scratch);
	map_free(cs->jobs);
	cache_free(cs->cache);
	free(cs);
}
