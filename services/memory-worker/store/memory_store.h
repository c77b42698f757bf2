/*
 * memory_store: storage of memories, whichever the backend: Redis, Mem0 or
 * Chroma.
 *
 * A call reports its result through its store_fn, exactly once, possibly before
 * the call returns.  It may suspend the fiber that makes it; the store_fn may
 * run in another fiber, and may suspend that.  The request and all other
 * arguments must stay valid until the store_fn is called; the result is valid
 * until it returns, that of a search only until it suspends its fiber.  A scope
 * is a user and a soul; every call has one, and none crosses it.
 *
 * Results: RC_OK; RC_DOWN, RC_TIMEOUT, RC_RETRY and RC_DENIED if the store is
 * unavailable, which says nothing about the memory; RC_UNREPLICATED as of
 * Redis; others if the request cannot be carried out.
 */
#ifndef MEMORY_WORKER_MEMORY_STORE_H
#define MEMORY_WORKER_MEMORY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "state/memory.h"
#include "store/ranking.h"
#include "wire/msgs.h"

/* Ids in the result of a clear, memories in the result of a list. */
#define STORE_REMOVED_MAX 1000
#define STORE_LIST_MAX    MEMORY_MAX

struct embed;
struct state;
struct store;

struct store_result {
	/* Of a search, best first; of a list; of a forget or a clear only the
	 * ids of what was removed, the first STORE_REMOVED_MAX. */
	const struct rank_hit *hit;
	size_t n;
	size_t total;  /* of a clear: how many were removed */
	bool degraded; /* incomplete: there may be more, or better, results */
};

typedef void (*store_fn)(void *arg, enum rc rc, const struct store_result *a);

struct store_request {
	struct memory_scope scope;
	struct wall deadline;
	const struct trace *trace; /* NULL: none */
	store_fn fn;
	void *arg;
};

struct store_put {
	const struct wire_memory_job *job;
	struct wall made;
	bool redelivered; /* it may have been stored before */
};

/*
 * store_free(s):
 * Calls in progress end first, with RC_DOWN.  After state_stop() of its state
 * if fibers may wait for that, and before state_free().  NULL is allowed.
 */
void store_free(struct store *s);

/* store_name(s), store_peer(s): The backend's name ("builtin"), and the server
 * behind it ("Redis"). */
const char *store_name(const struct store *s);
const char *store_peer(const struct store *s);

/* store_up(s): Whether the backend is known to be reachable. */
bool store_up(const struct store *s);

/*
 * store_put(s, req, put):
 * Store a job's memory under the job's id; idempotent.  req's scope is the
 * job's.  RC_CONFLICT: it has been forgotten since.
 */
void store_put(struct store *s, const struct store_request *req,
    const struct store_put *put);

/* store_search(s, req, q): The best q->k memories of the scope. */
void store_search(struct store *s, const struct store_request *req,
    const struct rank_query *q);

/* store_forget(s, req, id): Remove for good; RC_NOENT if there is none. */
void store_forget(
    struct store *s, const struct store_request *req, struct str id);

/* store_clear(s, req): Forget all memories of the scope. */
void store_clear(struct store *s, const struct store_request *req);

/*
 * store_supersede(s, req, old):
 * Move a memory to the superseded ones: searches no longer find it, lists still
 * contain it.  RC_NOENT if there is none, RC_CONFLICT if it was forgotten or
 * superseded before.
 */
void store_supersede(struct store *s, const struct store_request *req,
    const struct memory_superseded *old);

/*
 * store_list(s, req):
 * All memories of the scope, at most STORE_LIST_MAX, and the superseded ones,
 * which have a valid_until.
 */
void store_list(struct store *s, const struct store_request *req);

/*
 * store_probe(s, req, id, now):
 * Store a memory of that id in a scope of its own (req->scope is ignored),
 * search for it and delete it.  RC_BUG if it was not found.
 */
void store_probe(struct store *s, const struct store_request *req,
    struct str id, struct wall now);

/* ---- backends; freed after their embed, before their state ---- */

struct builtin_store_opts {
	struct state *state;
	size_t max_bytes;           /* of the indexes in memory */
	struct embed *embed;        /* NULL: no embedding model */
	int64_t embed_ms;           /* longest wait for it */
	struct metric_set *metrics; /* may be NULL */
};

/*
 * builtin_store_new(o):
 * A store in Redis.  With an embedding model, each memory's vector is stored
 * beside it with the model's name.  While any memory of a scope lacks a vector
 * of the current model, searches of that scope use words and spelling only, are
 * marked degraded, and missing vectors are created in the background.
 */
struct store *builtin_store_new(const struct builtin_store_opts *o);

struct store_http_opts {
	struct loop *loop;
	const char *peer; /* "mem0", in logs and metrics */
	const char *base_url;
	const char *auth; /* none, x-api-key, bearer, token, x-chroma-token */
	const char *key;  /* "": no header, whatever auth says */
	struct metric_set *metrics; /* may be NULL */
};

/*
 * store_http_auth_valid(name): Whether it is one of those values of auth.
 * store_http_url_valid(url):   Whether it is an http(s) URL.
 */
bool store_http_auth_valid(const char *name);
bool store_http_url_valid(const char *url);

struct mem0_store_opts {
	struct store_http_opts http;
	int64_t search_ms; /* longest wait for a search */
	struct state *state;
};

/*
 * mem0_store_new(o, out):
 * A store in a self-hosted Mem0 server (mem0ai/mem0, REST).  user_id is the
 * user's token, agent_id the soul's; the job's id is in the metadata.  Mem0 has
 * no idempotent put: a redelivered job is looked up before it is stored, so a
 * memory exists once unless a worker dies while Mem0 is still storing it.
 * RC_INVALID for a bad base_url or auth.
 */
enum rc mem0_store_new(
    const struct mem0_store_opts *o, struct store **out) RC_CHECK;

struct chroma_store_opts {
	struct store_http_opts http;
	const char *tenant, *database, *collection;
	int64_t search_ms;   /* longest wait for a search */
	struct embed *embed; /* NULL: no embedding model */
	int64_t embed_ms;    /* longest wait for it */
	struct state *state;
};

/* chroma_names_valid(tenant, database, collection): Whether they can be part of
 * a URL path. */
bool chroma_names_valid(
    const char *tenant, const char *database, const char *collection);

/*
 * chroma_store_new(o, out):
 * A store in one collection of a Chroma server (HTTP v2).  Vectors come from
 * the embedding model, or without one from spelling.  The collection records
 * their model; a collection of another model accepts no memories and is
 * searched by words only, which counts as degraded, as does a search while the
 * model is unavailable.  A missing collection is created.  RC_INVALID as
 * mem0_store_new(), and for invalid names.
 */
enum rc chroma_store_new(
    const struct chroma_store_opts *o, struct store **out) RC_CHECK;

#endif /* !MEMORY_WORKER_MEMORY_STORE_H */
