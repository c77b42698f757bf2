/*
 * One job for each catalog that is being compiled, with its pending requests.
 */
#include "catalog/catalog_loader.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "catalog/catalog_cache.h"
#include "catalog/catalog_request.h"
#include "core/arena.h"
#include "core/map.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/worker.h"
#include "state/state.h"
#include "state/terminal.h"
#include "svc/svc.h"

/* Connecting to Redis may block one of them. */
#define THREADS  2
#define JOBS_MAX 256
/* Memory of pending requests. */
#define PENDING_BYTES_MAX (256UL * 1024 * 1024)

#define BUSY        "too many catalogs are being made ready"
#define UNAVAILABLE "/catalog_ref: cannot be read now; send intent_catalog"
#define NONE        "/catalog_ref/terminal_id: has no catalog"
#define NO_HASH                                             \
	"/catalog_ref/hash: is missing; GET /v1/terminals/" \
	"{terminal_id}/reports has it"
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
	struct catalog_key key; /* its text is owned */
	struct digest id;       /* of key */
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
	struct map *jobs; /* by digest */
	size_t pending_bytes;
	struct state *state; /* NULL: no catalogs by hash */
	struct worker_pool *workers;
	struct metric *reads, *decodes;
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
	catalog_key_free(j->key);
	free(j->json);
	free(j);
}

static void
catalog_job_done(void *arg)
{
	struct catalog_job *j = arg;
	struct catalog_loader *l = j->loader;
	struct catalog_pending *w;

	if (map_get(l->jobs, digest_str(&j->id)) == j)
		(void)map_del(l->jobs, digest_str(&j->id));
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
catalog_job_new(
    struct catalog_loader *l, struct catalog_key key, struct digest id)
{
	struct catalog_job *j = mem_zalloc(sizeof(*j));

	j->loader = l;
	j->key = catalog_key_dup(key);
	j->id = id;
	STAILQ_INIT(&j->pending);
	/* One of another text with this digest is not shared any more. */
	(void)map_put(l->jobs, digest_str(&j->id), j);
	return j;
}

static struct catalog_job *
catalog_job_find(
    struct catalog_loader *l, struct catalog_key key, struct digest id)
{
	struct catalog_job *j = map_get(l->jobs, digest_str(&id));

	return j != NULL && catalog_key_eq(j->key, key) ? j : NULL;
}

static struct catalog_key
catalog_loader_key(const struct wire_intent_filter_request *req,
    const struct catalog_request *request)
{
	const struct catalog_source *src = request->source;

	if (req->has_catalog_ref)
		return (struct catalog_key){ CATALOG_BY_HASH,
			req->catalog_ref.hash };
	if (src != NULL && src->json.p != NULL)
		return (struct catalog_key){ CATALOG_BY_TEXT, src->json };
	return (struct catalog_key){ CATALOG_BY_TEXT,
		catalog_request_find(svc_call_body(request->call)) };
}

struct catalog_finder
catalog_loader_finder(struct catalog_loader *l, const struct svc_call *c)
{
	if (svc_call_on_worker(c))
		return (struct catalog_finder){ l->cache, catalog_cache_borrow,
			catalog_cache_return, catalog_cache_borrow_start };
	return (struct catalog_finder){ .cache = l->cache,
		.find = catalog_cache_find,
		.find_start = catalog_cache_find_start };
}

static bool
catalog_loader_decode_found(struct catalog_loader *l, struct svc_call *c,
    struct catalog_source *src, struct wire_intent_filter_request *msg)
{
	if (catalog_request_decode_found(
		svc_call_body(c), svc_call_arena(c), msg, src))
		return true;
	if (svc_call_on_worker(c))
		catalog_cache_return(l->cache, src->catalog);
	*src = (struct catalog_source){ .catalog = NULL };
	return false;
}

bool
catalog_loader_decode(struct catalog_loader *l, struct svc_call *c,
    struct catalog_source *src, struct wire_intent_filter_request *msg)
{
	struct arena *a = svc_call_arena(c);
	struct str body = svc_call_body(c);

	if (src->catalog != NULL)
		return catalog_loader_decode_found(l, c, src, msg);
	if (!svc_call_on_worker(c))
		return src->json.p == NULL &&
		    catalog_request_decode(l->cache, body, a, msg, src);
	if (src->json.p == NULL &&
	    catalog_request_borrow(l->cache, body, a, msg, src))
		return true;
	/* The loop has it compiled. */
	if (src->json.p != NULL)
		svc_call_to_loop(c);
	return false;
}

const struct catalog *
catalog_loader_borrow(
    struct catalog_loader *l, const struct catalog_request *request)
{
	const struct wire_intent_filter_request *req =
	    svc_call_request(request->call);
	const struct catalog_source *src = request->source;

	if (src != NULL && src->catalog != NULL)
		return src->catalog;
	/* Of one that is sent the loop finds the text. */
	if (!req->has_catalog_ref || req->catalog_ref.hash.p == NULL)
		return NULL;
	return catalog_cache_borrow(l->cache,
	    (struct catalog_key){ CATALOG_BY_HASH, req->catalog_ref.hash });
}

void
catalog_loader_return(struct catalog_loader *l, const struct catalog *cat)
{
	catalog_cache_return(l->cache, cat);
}

void
catalog_loader_get(struct catalog_loader *l, struct catalog_request request,
    catalog_fn fn, void *arg)
{
	const struct wire_intent_filter_request *req =
	    svc_call_request(request.call);
	const struct catalog_source *src = request.source;
	const struct catalog *cat;
	struct digest id;
	struct catalog_key key;
	struct catalog_job *j;

	if (src != NULL && src->catalog != NULL) {
		fn(arg, request, src->catalog);
		return;
	}
	if (req->has_catalog_ref && req->catalog_ref.hash.p == NULL) {
		svc_fail(request.call, RC_INVALID, NO_HASH);
		return;
	}
	key = catalog_loader_key(req, &request);
	if (!req->has_catalog_ref)
		metric_add(l->decodes, 1);
	cat = catalog_cache_find(l->cache, key);
	if (cat != NULL) {
		fn(arg, request, cat);
		return;
	}
	catalog_cache_missed(l->cache);
	if (l->pending_bytes >= PENDING_BYTES_MAX) {
		svc_fail(request.call, RC_RETRY, BUSY);
		return;
	}
	id = catalog_cache_digest(l->cache, key);
	j = catalog_job_find(l, key, id);
	if (j != NULL) {
		catalog_job_join(j, request, fn, arg);
		return;
	}
	j = catalog_job_new(l, key, id);
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
		.on_format = svc_end_unusable,
		.arg = s,
		.metrics = svc_metrics(s) };
	enum rc rc = RC_OK;

	l->cache = catalog_cache_new(cache_bytes, svc_metrics(s));
	l->jobs = map_new();
	l->workers = worker_new(svc_loop(s), THREADS, JOBS_MAX);
	l->reads =
	    metric_counter(svc_metrics(s), "soul_intent_catalog_reads_total",
		"Catalogs read from terminals' records.", NULL);
	l->decodes =
	    metric_counter(svc_metrics(s), "soul_intent_catalog_decodes_total",
		"Requests whose catalog was decoded.", NULL);
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
