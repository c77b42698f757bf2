/*
 * store_internal: shared by the backends of memory_store: the backend
 * interface, HTTP calls, and the codecs of Mem0 and Chroma.
 */
#ifndef MEMORY_WORKER_STORE_INTERNAL_H
#define MEMORY_WORKER_STORE_INTERNAL_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/id.h"
#include "store/memory_store.h"

struct wire_out;
struct wire_tree;

/* A backend: its functions, called with what was given as self. */
struct store_ops {
	const char *name;
	const char *peer;
	bool in_redis; /* it records itself what was forgotten */
	bool (*up)(void *self);
	void (*put)(void *self, const struct store_request *req,
	    const struct store_put *put);
	void (*search)(void *self, const struct store_request *req,
	    const struct rank_query *q);
	void (*forget)(void *self, const struct store_request *req,
	    struct str id, bool for_ever);
	void (*clear)(void *self, const struct store_request *req);
	void (*list)(void *self, const struct store_request *req);
	void (*free)(void *self);
};

/* store_new(ops, self, s): A store over a backend, which it owns. */
struct store *store_new(
    const struct store_ops *ops, void *self, struct state *s);

/* ---- HTTP (store_http.c) ---- */

/* Largest body of a request or response. */
#define STORE_HTTP_BODY_MAX (4 * 1024 * 1024)

struct store_http;

struct store_http_response {
	/*
	 * RC_OK: 2xx; without a response as httpc reports it; RC_DENIED: 401,
	 * 403; RC_NOENT: 404; RC_TIMEOUT: 408, 504; RC_TOOBIG: 413; RC_RETRY:
	 * 409, 429; RC_DOWN: 502, 503; RC_BUG: 500; else RC_INVALID.
	 */
	enum rc rc;
	int status;
	/* Valid until the callback returns or waits for Redis. */
	struct str body;
};

typedef void (*store_http_fn)(void *arg, const struct store_http_response *r);

struct store_http_request {
	const char *method;
	struct str path; /* from its '/', query included */
	struct str body; /* empty: none */
	struct wall deadline;
	const struct trace *trace; /* NULL: none */
	store_http_fn fn;
	void *arg;
};

/*
 * store_http_new(o, out):
 * RC_INVALID unless base_url and auth are valid.
 */
enum rc store_http_new(
    const struct store_http_opts *o, struct store_http **out) RC_CHECK;

/* store_http_free(r): Calls in progress end with RC_DOWN.  NULL is allowed. */
void store_http_free(struct store_http *r);

/*
 * store_http_call(r, req):
 * req->fn is called exactly once, in a fiber, possibly before this returns:
 * then in the caller's.  Texts are copied.
 */
void store_http_call(
    struct store_http *r, const struct store_http_request *req);

/* ---- Mem0's messages (mem0_codec.c, pure) ---- */

/* Memories of one response that are read. */
#define MEM0_ITEMS_MAX 1000

/* User and soul as tokens (core/id.h): Mem0 trims ids and rejects blanks. */
struct mem0_scope {
	char user[ID_TOKEN_MAX], agent[ID_TOKEN_MAX];
};

/* mem0_scope_init(scope, out): RC_INVALID unless both are ids. */
enum rc mem0_scope_init(
    const struct memory_scope *scope, struct mem0_scope *out) RC_CHECK;

/*
 * Bodies of POST /memories and POST /search, paths of GET and DELETE /memories,
 * appended to out, whose buf_rc() reports overflow.
 */
void mem0_write_put(const struct mem0_scope *s,
    const struct wire_memory_job *job, struct buf *out);
void mem0_write_search(
    const struct mem0_scope *s, struct str query, size_t k, struct buf *out);
void mem0_write_list(const struct mem0_scope *s, size_t k, struct buf *out);
void mem0_write_clear(const struct mem0_scope *s, struct buf *out);

/* mem0_write_one(id, out): The path of one memory; RC_INVALID for a bad id. */
enum rc mem0_write_one(struct str id, struct buf *out) RC_CHECK;

struct mem0_item {
	struct rank_memory memory; /* its id is Mem0's */
	struct str job_id;         /* absent: not stored by this service */
	double score;              /* higher is better */
};

struct mem0_items {
	struct mem0_item *item;
	size_t n;
};

/*
 * mem0_read(body, s, a, out):
 * The memories of a response in any of the formats in use, without those of
 * another scope.  RC_INVALID if it is no such response, RC_TOOBIG if it exceeds
 * a limit.  Texts live in a.
 *
 * mem0_read_one(body, s, a, out):
 * The same for GET /memories/{id}: RC_NOENT if there is none, or it does not
 * state this scope.
 */
enum rc mem0_read(struct str body, const struct mem0_scope *s, struct arena *a,
    struct mem0_items *out) RC_CHECK;
enum rc mem0_read_one(struct str body, const struct mem0_scope *s,
    struct arena *a, struct mem0_item *out) RC_CHECK;

/*
 * mem0_response_stored(body): Whether the response to a put confirms it.
 * mem0_response_rejected(body): Whether a 502 was caused by the request itself.
 */
bool mem0_response_stored(struct str body);
bool mem0_response_rejected(struct str body);

/* ---- Chroma's messages (chroma_codec.c, pure) ---- */

/* Room for the ids of a row and of a collection, NUL included. */
#define CHROMA_ROW_MAX        (3 * ID_TOKEN_MAX)
#define CHROMA_COLLECTION_MAX 64

/*
 * chroma_row_id(scope, job_id, dst):
 * The id of a row: the tokens of user, soul and job, separated by '/'.  Chroma
 * ignores an add of an existing id, so ids of different scopes must differ.
 * RC_INVALID unless all three are ids.
 */
enum rc chroma_row_id(const struct memory_scope *scope, struct str job_id,
    char dst[CHROMA_ROW_MAX]) RC_CHECK;

struct chroma_put {
	const struct memory_scope *scope;
	const char *row;
	const struct wire_memory_job *job;
	struct wall made;
	const double *vector;
	size_t n;
	bool lists; /* the server takes lists in metadata, or may */
};

/*
 * Request bodies, appended to out, whose buf_rc() reports overflow:
 * get_or_create of a collection for vectors of the model; add; query; get of a
 * page of a scope (limit 0: of one row), with texts or ids only; delete of a
 * scope, or of one row of it.  row may be NULL.
 */
void chroma_write_collection(
    const char *name, struct str model, struct buf *out);
void chroma_write_add(const struct chroma_put *p, struct buf *out);
void chroma_write_query(const struct memory_scope *scope, const double *vector,
    size_t n, size_t k, struct buf *out);
void chroma_write_get(const struct memory_scope *scope, const char *row,
    bool texts, size_t limit, size_t offset, struct buf *out);
void chroma_write_delete(
    const struct memory_scope *scope, const char *row, struct buf *out);

/*
 * chroma_read_collection(body, model, id):
 * The collection's id.  RC_DENIED, with the id, unless its vectors are of the
 * model; RC_INVALID if the response describes no collection.
 */
enum rc chroma_read_collection(
    struct str body, struct str model, char id[CHROMA_COLLECTION_MAX]) RC_CHECK;

struct chroma_rows {
	struct rank_memory *row; /* near is set if it was a query */
	size_t n;                /* rows of the scope */
	size_t received;         /* rows in the response */
};

/*
 * chroma_read(body, scope, a, out):
 * The rows of a query or a get, without those of another scope; of a get
 * without texts only their ids.  RC_INVALID if it is no such response,
 * RC_TOOBIG if it exceeds a limit.  Texts live in a.
 */
enum rc chroma_read(struct str body, const struct memory_scope *scope,
    struct arena *a, struct chroma_rows *out) RC_CHECK;

#endif /* !MEMORY_WORKER_STORE_INTERNAL_H */
