/*
 * Compiled catalogs by key, least recently used first out; and one job for each
 * catalog that is being compiled, with its pending requests.
 */
#include "catalog/catalog_cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "state/state.h"
#include "state/terminal.h"
#include "svc/svc.h"

/* ---- the cache ---- */

/* First byte of a key. */
#define BY_CONTENT 'c'
#define BY_NAME    'n'

struct catalog_cache_entry {
	TAILQ_ENTRY(catalog_cache_entry) link;
	struct str key;
	size_t bytes;
	struct catalog *catalog;
};

struct catalog_cache {
	TAILQ_HEAD(entry_list, catalog_cache_entry)
	used; /* most recent first */
	struct map *by_key;
	struct buf key; /* scratch */
	size_t bytes, max_bytes;
	struct metric *hits, *misses, *size;
};

struct catalog_cache *
catalog_cache_new(size_t max_bytes, struct metric_set *set)
{
	struct catalog_cache *c = mem_zalloc(sizeof(*c));

	TAILQ_INIT(&c->used);
	c->by_key = map_new();
	buf_init(&c->key, WIRE_ARENA_MAX);
	c->max_bytes = max_bytes;
	c->hits = metric_counter(set, "soul_intent_catalog_hits_total",
	    "Requests whose catalog was in the cache.", NULL);
	c->misses = metric_counter(set, "soul_intent_catalog_misses_total",
	    "Requests whose catalog was not in the cache.", NULL);
	c->size = metric_gauge(set, "soul_intent_catalog_cache_bytes",
	    "Memory of the cached catalogs.", NULL);
	return c;
}

static void
catalog_cache_evict(struct catalog_cache *c, struct catalog_cache_entry *e)
{
	TAILQ_REMOVE(&c->used, e, link);
	map_del(c->by_key, e->key);
	c->bytes -= e->bytes;
	catalog_free(e->catalog);
	free((char *)(uintptr_t)e->key.p);
	free(e);
}

void
catalog_cache_free(struct catalog_cache *c)
{
	struct catalog_cache_entry *e;

	if (c == NULL)
		return;
	while ((e = TAILQ_FIRST(&c->used)) != NULL)
		catalog_cache_evict(c, e);
	map_free(c->by_key);
	buf_free(&c->key);
	free(c);
}

enum rc
catalog_cache_key(struct catalog_cache *c, const struct wire_intent *intents,
    size_t n, struct str *out)
{
	struct wire_intent_catalog_report msg = { /* read-only */
		.intent_catalog = (struct wire_intent *)(uintptr_t)intents,
		.n_intent_catalog = n
	};
	enum rc rc;

	buf_reset(&c->key);
	buf_putc(&c->key, BY_CONTENT);
	rc = wire_pack(&wire_intent_catalog_report_desc, &msg, &c->key);
	*out = buf_str(&c->key);
	return rc;
}

struct str
catalog_cache_key_of_hash(struct catalog_cache *c, struct str hash)
{
	buf_reset(&c->key);
	buf_putc(&c->key, BY_NAME);
	buf_put_str(&c->key, hash);
	return buf_str(&c->key);
}

const struct catalog *
catalog_cache_find(struct catalog_cache *c, struct str key)
{
	struct catalog_cache_entry *e = map_get(c->by_key, key);

	if (e == NULL) {
		metric_add(c->misses, 1);
		return NULL;
	}
	TAILQ_REMOVE(&c->used, e, link);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	metric_add(c->hits, 1);
	return e->catalog;
}

void
catalog_cache_put(struct catalog_cache *c, struct str key, struct catalog *cat)
{
	struct catalog_cache_entry *e = mem_zalloc(sizeof(*e));

	e->catalog = cat;
	e->key = (struct str){ str_dup(key), key.n };
	/* The map has a copy of the key too. */
	e->bytes = cat->bytes + 2 * key.n;
	map_put(c->by_key, e->key, e);
	TAILQ_INSERT_HEAD(&c->used, e, link);
	c->bytes += e->bytes;
	while (c->bytes > c->max_bytes && TAILQ_NEXT(e, link) != NULL)
		catalog_cache_evict(c, TAILQ_LAST(&c->used, entry_list));
	metric_set(c->size, (int64_t)c->bytes);
}

/* ---- the loader ---- */

/* Connecting to Redis may block one of them. */
#define THREADS  2
#define JOBS_MAX 256
/* Memory of pending requests. */
#define PENDING_BYTES_MAX (256UL * 1024 * 1024)

#define BUSY        "too many catalogs are being made ready"
#define UNAVAILABLE "/catalog_ref: cannot be read now; send intent_catalog"
#define NONE        "/catalog_ref/terminal_id: has no catalog"
#define CHANGED                                                               \
	"/catalog_ref/hash: the catalog has changed; ask again with its new " \
	"hash"
#define TIMED_OUT "the catalog was not ready in time"

struct catalog_pending {
	STAILQ_ENTRY(catalog_pending) link;
	struct catalog_request request;
	catalog_fn fn;
	void *arg;
	size_t bytes;
};

STAILQ_HEAD(catalog_pending_list, catalog_pending);

struct catalog_job {
	struct catalog_loader *loader;
	struct str key;
	char *json; /* of a record; NULL: the intents of the first request */
	size_t json_n;
	const struct wire_intent *intents;
	size_t n;
	struct catalog_pending_list pending;
	/* The worker's result: */
	enum rc rc;
	struct catalog *made;
	struct wire_err err;
	const char *text; /* of the error; NULL: that of err */
};

struct catalog_loader {
	struct catalog_cache *cache;
	struct map *jobs; /* by key */
	size_t pending_bytes;
	struct state *state; /* NULL: no catalogs by hash */
	struct worker_pool *workers;
	struct metric *reads;
};

/* ---- jobs ---- */

static void
catalog_job_run(void *arg)
{
	struct catalog_job *j = arg;

	j->rc = j->json != NULL
	    ? catalog_new((struct str){ j->json, j->json_n }, &j->made, &j->err)
	    : catalog_compile(j->intents, j->n, &j->made, &j->err);
}

static void
catalog_fail(struct svc_call *c, enum rc rc, const struct wire_err *err)
{
	char text[WIRE_ERR_TEXT_MAX];

	wire_err_text(err, text, sizeof(text));
	svc_fail(c, rc, text);
}

static void
catalog_job_reply(const struct catalog_job *j, const struct catalog_pending *w)
{
	struct svc_call *c = w->request.call;

	if (j->text != NULL)
		svc_fail(c, j->rc, j->text);
	else if (j->rc != RC_OK)
		catalog_fail(c, j->rc, &j->err);
	else if (clock_wall().ms > svc_call_deadline(c).ms)
		svc_fail(c, RC_TIMEOUT, TIMED_OUT);
	else
		w->fn(w->arg, w->request, j->made);
}

static void
catalog_job_free(struct catalog_job *j)
{
	free((char *)(uintptr_t)j->key.p);
	free(j->json);
	free(j);
}

static void
catalog_job_done(void *arg)
{
	struct catalog_job *j = arg;
	struct catalog_loader *l = j->loader;
	struct catalog_pending *w;

	(void)map_del(l->jobs, j->key);
	if (j->rc == RC_OK)
		catalog_cache_put(l->cache, j->key, j->made);
	while ((w = STAILQ_FIRST(&j->pending)) != NULL) {
		STAILQ_REMOVE_HEAD(&j->pending, link);
		l->pending_bytes -= w->bytes;
		catalog_job_reply(j, w);
		free(w);
	}
	catalog_job_free(j);
}

static void
catalog_job_join(struct catalog_job *j, struct catalog_request request,
    catalog_fn fn, void *arg)
{
	struct catalog_pending *w = mem_zalloc(sizeof(*w));

	w->request = request;
	w->fn = fn;
	w->arg = arg;
	w->bytes = sizeof(*w) + arena_used(svc_call_arena(request.call));
	j->loader->pending_bytes += w->bytes;
	STAILQ_INSERT_TAIL(&j->pending, w, link);
}

/* Read the referenced catalog; false: j has its error. */
static bool
catalog_job_read(struct catalog_job *j,
    const struct wire_intent_filter_request_catalog_ref *ref)
{
	struct catalog_loader *l = j->loader;
	struct arena *a = arena_new(TERMINAL_JSON_MAX + 1024);
	struct str json = { NULL, 0 };

	j->rc = RC_DOWN;
	if (l->state != NULL)
		j->rc = terminal_read_catalog(
		    l->state, ref->terminal_id, ref->hash, a, &json);
	metric_add(l->reads, j->rc == RC_OK);
	if (j->rc == RC_OK) {
		j->json = str_dup(json);
		j->json_n = json.n;
	} else if (j->rc == RC_NOENT) {
		j->text = NONE;
	} else if (j->rc == RC_CONFLICT) {
		j->text = CHANGED;
	} else {
		j->rc = RC_DOWN;
		j->text = UNAVAILABLE;
	}
	arena_free(a);
	return j->text == NULL;
}

/*
 * Make the catalog of req.  While its record is being read, other requests may
 * join.
 */
static void
catalog_job_start(
    struct catalog_job *j, const struct wire_intent_filter_request *req)
{
	if (req->has_catalog_ref && !catalog_job_read(j, &req->catalog_ref)) {
		catalog_job_done(j);
		return;
	}
	j->intents = req->intent_catalog;
	j->n = req->n_intent_catalog;
	j->rc = RC_DOWN; /* if the worker never runs it */
	if (worker_run(j->loader->workers, catalog_job_run, catalog_job_done,
		j) == RC_OK)
		return;
	j->rc = RC_RETRY;
	j->text = BUSY;
	catalog_job_done(j);
}

/* ---- requests ---- */

static struct catalog_job *
catalog_job_new(struct catalog_loader *l, struct str key)
{
	struct catalog_job *j = mem_zalloc(sizeof(*j));

	j->loader = l;
	j->key = (struct str){ str_dup(key), key.n };
	STAILQ_INIT(&j->pending);
	(void)map_put(l->jobs, j->key, j);
	return j;
}

static enum rc
catalog_loader_key(struct catalog_loader *l,
    const struct wire_intent_filter_request *req, struct str *key)
{
	if (!req->has_catalog_ref)
		return catalog_cache_key(
		    l->cache, req->intent_catalog, req->n_intent_catalog, key);
	*key = catalog_cache_key_of_hash(l->cache, req->catalog_ref.hash);
	return RC_OK;
}

void
catalog_loader_get(struct catalog_loader *l, struct catalog_request request,
    catalog_fn fn, void *arg)
{
	const struct wire_intent_filter_request *req =
	    svc_call_request(request.call);
	const struct catalog *cat;
	struct catalog_job *j;
	struct str key;

	if (catalog_loader_key(l, req, &key) != RC_OK) {
		svc_fail(
		    request.call, RC_TOOBIG, "/intent_catalog: is too large");
		return;
	}
	cat = catalog_cache_find(l->cache, key);
	if (cat != NULL) {
		fn(arg, request, cat);
		return;
	}
	if (l->pending_bytes >= PENDING_BYTES_MAX) {
		svc_fail(request.call, RC_RETRY, BUSY);
		return;
	}
	j = map_get(l->jobs, key);
	if (j != NULL) {
		catalog_job_join(j, request, fn, arg);
		return;
	}
	j = catalog_job_new(l, key);
	catalog_job_join(j, request, fn, arg);
	catalog_job_start(j, req);
}

/* ---- creation ---- */

enum rc
catalog_loader_new(struct svc *s, size_t cache_bytes,
    const struct catalog_redis *redis, struct catalog_loader **out)
{
	struct catalog_loader *l = mem_zalloc(sizeof(*l));
	struct state_opts o = { .loop = svc_loop(s),
		.url = redis->url,
		.conf = redis->conf,
		.name = "intent-filter",
		.deadline_ms = redis->timeout_ms,
		.metrics = svc_metrics(s) };
	enum rc rc = RC_OK;

	l->cache = catalog_cache_new(cache_bytes, svc_metrics(s));
	l->jobs = map_new();
	l->workers = worker_new(svc_loop(s), THREADS, JOBS_MAX);
	l->reads =
	    metric_counter(svc_metrics(s), "soul_intent_catalog_reads_total",
		"Catalogs read from terminals' records.", NULL);
	o.workers = l->workers;
	if (redis->url[0] != '\0')
		rc = state_new(&o, &l->state);
	if (rc != RC_OK) {
		catalog_loader_free(l);
		l = NULL;
	}
	*out = l;
	return rc;
}

void
catalog_loader_free(struct catalog_loader *l)
{
	if (l == NULL)
		return;
	state_free(l->state);
	worker_free(l->workers);
	map_free(l->jobs);
	catalog_cache_free(l->cache);
	free(l);
}
