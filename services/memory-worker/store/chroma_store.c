/*
 * Each call of the store is a chain of steps: vector, collection, requests.
 */
#include "store/memory_store.h"

#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/fiber.h"
#include "core/log.h"
#include "core/mem.h"
#include "llm/embed.h"
#include "store/store_internal.h"

#define CHROMA_ARENA_MAX (512UL * 1024 * 1024)

struct chroma_op;

/* Called when a step has ended; rc is its result. */
typedef void (*chroma_op_fn)(struct chroma_op *op, enum rc rc);

struct chroma_store {
	struct chroma_store_opts o;
	struct store_http *http;
	char *path;                     /* of the collections */
	struct str model;               /* of the vectors */
	char id[CHROMA_COLLECTION_MAX]; /* "": not known */
	bool no_lists;                  /* it has rejected a list in metadata */
};

struct chroma_op {
	struct chroma_store *c;
	struct store_request req;
	struct store_put put;
	struct rank_query query;
	char row[CHROMA_ROW_MAX];
	struct rank_memory removed; /* of a forget: its id */
	double *vector;
	size_t n_vector;
	char id[CHROMA_COLLECTION_MAX]; /* of the collection */
	bool renewed; /* the collection has been recreated once */
	bool degraded;
	/* The memory that is put has a list in its metadata; it had one. */
	bool lists, retried;

	chroma_op_fn next;        /* called after the current step */
	enum rc embedded;         /* result of the model */
	const char *verb;         /* of the current step: "add" */
	struct buf body;          /* of the current step */
	chroma_op_fn after_pages; /* called after the last page */

	struct arena *a;
	struct rank_memory *rows;
	size_t n, cap;
	bool texts;
	size_t limit, offset, received, max; /* of pages */
};

#define PAGE     200
#define PAGE_MIN 10

static struct chroma_op *
chroma_op_new(struct chroma_store *c, const struct store_request *req)
{
	struct chroma_op *op = mem_zalloc(sizeof(*op));

	op->c = c;
	op->req = *req;
	op->a = arena_new(CHROMA_ARENA_MAX);
	buf_init(&op->body, STORE_HTTP_BODY_MAX);
	return op;
}

static void
chroma_op_end(struct chroma_op *op, enum rc rc, const struct store_result *a)
{
	op->req.fn(
	    op->req.arg, rc, a != NULL ? a : &(struct store_result){ 0 });
	arena_free(op->a);
	buf_free(&op->body);
	free(op->vector);
	free(op->rows);
	free(op);
}

/* ---- vector ---- */

static void
chroma_op_go_on(void *arg)
{
	struct chroma_op *op = arg;

	op->next(op, op->embedded);
}

static void
chroma_on_vector(void *arg, const struct embed_result *r)
{
	struct chroma_op *op = arg;
	enum rc rc = r->rc;

	if (rc == RC_OK) {
		op->n_vector = r->dimensions;
		op->vector = mem_calloc(op->n_vector, sizeof(*op->vector));
		memcpy(op->vector, r->vectors[0],
		    op->n_vector * sizeof(*op->vector));
	} else if (rc == RC_NOENT || rc == RC_CONFLICT) {
		rc = RC_DENIED;
	}
	op->embedded = rc;
	fiber_start(chroma_op_go_on, op);
}

static void
chroma_op_embed(struct chroma_op *op, struct str text, chroma_op_fn next)
{
	struct wall until = { clock_wall().ms + op->c->o.embed_ms };
	struct embed_request req = {
		.texts = &text,
		.n = 1,
		.deadline =
		    op->req.deadline.ms < until.ms ? op->req.deadline : until,
		.trace = op->req.trace,
		.fn = chroma_on_vector,
		.arg = op,
	};
	float v[VECTOR_GRAMS_N];
	enum rc rc;
	size_t i;

	op->next = next;
	if (op->c->o.embed != NULL) {
		rc = embed_request(op->c->o.embed, &req);
		if (rc != RC_OK)
			next(op, rc);
		return;
	}
	vector_grams(text, v);
	op->n_vector = VECTOR_GRAMS_N;
	op->vector = mem_calloc(op->n_vector, sizeof(*op->vector));
	for (i = 0; i < VECTOR_GRAMS_N; i++)
		op->vector[i] = (double)v[i];
	next(op, RC_OK);
}

/* ---- requests ---- */

static void
chroma_call(struct chroma_op *op, struct buf *path, const struct buf *body,
    store_http_fn fn)
{
	const struct store_http_request req = {
		.method = "POST",
		.path = buf_str(path),
		.body = buf_str(body),
		.deadline = op->req.deadline,
		.trace = op->req.trace,
		.fn = fn,
		.arg = op,
	};
	enum rc rc = buf_rc(path);

	if (rc == RC_OK)
		rc = buf_rc(body);
	if (rc == RC_OK)
		store_http_call(op->c->http, &req);
	else
		fn(op, &(struct store_http_response){ .rc = rc });
	buf_free(path);
}

/* Get or create the collection. */
static void
chroma_get_collection(struct chroma_op *op, store_http_fn fn)
{
	struct buf path = BUF_INIT(2048), body = BUF_INIT(4096);

	buf_puts(&path, op->c->path);
	chroma_write_collection(op->c->o.collection, op->c->model, &body);
	chroma_call(op, &path, &body, fn);
	buf_free(&body);
}

static enum rc
chroma_take_collection(
    struct chroma_op *op, const struct store_http_response *r)
{
	enum rc rc = r->rc;

	if (rc == RC_OK)
		rc = chroma_read_collection(r->body, op->c->model, op->id);
	else if (rc == RC_NOENT)
		rc = RC_DENIED; /* no such tenant or database */
	if (rc == RC_OK)
		memcpy(op->c->id, op->id, sizeof(op->id));
	return rc;
}

static void
chroma_on_opened(void *arg, const struct store_http_response *r)
{
	struct chroma_op *op = arg;

	op->next(op, chroma_take_collection(op, r));
}

static void
chroma_op_open(struct chroma_op *op, chroma_op_fn next)
{
	op->next = next;
	memcpy(op->id, op->c->id, sizeof(op->id));
	if (op->id[0] != '\0')
		next(op, RC_OK);
	else
		chroma_get_collection(op, chroma_on_opened);
}

static enum rc
chroma_add_rows(struct chroma_op *op, struct str body)
{
	struct chroma_rows rows;
	enum rc rc = chroma_read(body, &op->req.scope, op->a, &rows);

	if (rc != RC_OK)
		return rc;
	if (op->n + rows.n > op->cap) {
		op->cap = 2 * (op->n + rows.n);
		op->rows = mem_realloc(op->rows, op->cap * sizeof(*op->rows));
	}
	if (rows.n > 0)
		memcpy(op->rows + op->n, rows.row, rows.n * sizeof(*op->rows));
	op->n += rows.n;
	op->received = rows.received;
	op->offset += rows.received;
	return RC_OK;
}

static void chroma_on_renewed(void *arg, const struct store_http_response *r);

static void
chroma_on_posted(void *arg, const struct store_http_response *r)
{
	struct chroma_op *op = arg;
	enum rc rc = r->rc;
	bool rows =
	    strcmp(op->verb, "get") == 0 || strcmp(op->verb, "query") == 0;

	if (rc == RC_NOENT && !op->renewed) {
		/* The server was reset. */
		op->renewed = true;
		op->c->id[0] = '\0';
		chroma_get_collection(op, chroma_on_renewed);
		return;
	}
	if (rc == RC_NOENT)
		rc = RC_DENIED;
	else if (rc == RC_INVALID && r->status == 400 &&
	    str_find(r->body, STR("dimension")) >= 0)
		rc = RC_DENIED;
	if (rc == RC_OK && rows)
		rc = chroma_add_rows(op, r->body);
	op->next(op, rc);
}

static void
chroma_send(struct chroma_op *op)
{
	struct buf path = BUF_INIT(2048);

	buf_printf(&path, "%s/%s/%s", op->c->path, op->id, op->verb);
	chroma_call(op, &path, &op->body, chroma_on_posted);
}

/* Repeat the request with the new collection. */
static void
chroma_on_renewed(void *arg, const struct store_http_response *r)
{
	struct chroma_op *op = arg;
	enum rc rc = chroma_take_collection(op, r);

	if (rc == RC_OK)
		chroma_send(op);
	else
		op->next(op, rc);
}

static void
chroma_op_post(struct chroma_op *op, const char *verb, chroma_op_fn next)
{
	op->next = next;
	op->verb = verb;
	chroma_send(op);
}

/* ---- pages ---- */

static void chroma_get_page(struct chroma_op *op);

/* op->next is chroma_on_page() while pages are read. */
static void
chroma_on_page(struct chroma_op *op, enum rc rc)
{
	if (rc == RC_TOOBIG && op->limit / 2 >= PAGE_MIN) {
		op->limit /= 2;
		chroma_get_page(op);
	} else if (rc != RC_OK || op->n >= op->max ||
	    op->received < op->limit) {
		op->after_pages(op, rc);
	} else {
		chroma_get_page(op);
	}
}

static void
chroma_get_page(struct chroma_op *op)
{
	buf_reset(&op->body);
	chroma_write_get(
	    &op->req.scope, NULL, op->texts, op->limit, op->offset, &op->body);
	chroma_op_post(op, "get", chroma_on_page);
}

static void
chroma_op_pages(struct chroma_op *op, bool texts, size_t max, chroma_op_fn next)
{
	op->texts = texts;
	op->max = max;
	op->limit = PAGE;
	op->offset = 0;
	op->after_pages = next;
	chroma_get_page(op);
}

/* Rows requested by a query, to be ranked by words too. */
#define CANDIDATES 32
/* Rows read where a query by vector is impossible. */
#define WORDS_MAX 2000
/* Most bytes of tenant and database together. */
#define NAMES_MAX 900

/* ---- put ---- */

static void chroma_put_opened(struct chroma_op *op, enum rc rc);

/* What is rejected with a list, and not without, is so because of it. */
static void
chroma_put_added(struct chroma_op *op, enum rc rc)
{
	if (rc == RC_INVALID && op->lists) {
		op->lists = false;
		op->retried = true;
		buf_reset(&op->body);
		chroma_put_opened(op, RC_OK);
		return;
	}
	if (rc == RC_OK && op->retried && !op->c->no_lists) {
		op->c->no_lists = true;
		log_info("memory.chroma_lists",
		    LOG_S("why", "the server takes no lists in metadata"));
	}
	chroma_op_end(op, rc, NULL);
}

static void
chroma_put_opened(struct chroma_op *op, enum rc rc)
{
	const struct chroma_put put = {
		.scope = &op->req.scope,
		.row = op->row,
		.job = op->put.job,
		.made = op->put.made,
		.vector = op->vector,
		.n = op->n_vector,
		.lists = op->lists,
	};

	if (rc != RC_OK) {
		chroma_op_end(op, rc, NULL);
		return;
	}
	chroma_write_add(&put, &op->body);
	chroma_op_post(op, "add", chroma_put_added);
}

/* Chroma requires a vector: without one the job is deferred. */
static void
chroma_put_embedded(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK)
		chroma_op_end(op, rc, NULL);
	else
		chroma_op_open(op, chroma_put_opened);
}

static void
chroma_put(
    void *self, const struct store_request *req, const struct store_put *p)
{
	struct chroma_op *op = chroma_op_new(self, req);

	op->put = *p;
	op->lists = p->job->n_tags > 0 && !op->c->no_lists;
	if (chroma_row_id(&req->scope, p->job->job_id, op->row) != RC_OK)
		chroma_op_end(op, RC_INVALID, NULL);
	else
		chroma_op_embed(op, p->job->text, chroma_put_embedded);
}

/* ---- search ---- */

/* Rank the rows by words and similarity. */
static void
chroma_search_done(struct chroma_op *op, enum rc rc)
{
	struct store_result result = { .degraded = op->degraded };
	struct rank *rank;
	struct rank_hit *hit;
	size_t i;

	if (rc != RC_OK) {
		chroma_op_end(op, rc, NULL);
		return;
	}
	rank = rank_new(0);
	for (i = 0; i < op->n; i++) {
		/* rank_find() compares spelling, with less weight. */
		if (op->c->o.embed == NULL)
			op->rows[i].has_near = false;
		(void)rank_add(rank, &op->rows[i]);
	}
	hit = mem_calloc(op->query.k + 1, sizeof(*hit));
	result.n = rank_find(rank, &op->query, hit);
	result.hit = hit;
	chroma_op_end(op, RC_OK, &result);
	free(hit);
	rank_free(rank);
}

/* Search without vectors. */
static void
chroma_search_words(struct chroma_op *op)
{
	op->degraded = true;
	chroma_op_pages(op, true, WORDS_MAX, chroma_search_done);
}

static void
chroma_search_found(struct chroma_op *op, enum rc rc)
{
	if (rc == RC_DENIED)
		chroma_search_words(op); /* vectors of another length */
	else
		chroma_search_done(op, rc);
}

static void
chroma_search_opened(struct chroma_op *op, enum rc rc)
{
	size_t k = op->query.k > CANDIDATES ? op->query.k : CANDIDATES;

	if ((rc == RC_OK && op->vector == NULL) ||
	    (rc == RC_DENIED && op->id[0] != '\0')) {
		chroma_search_words(op);
	} else if (rc != RC_OK) {
		chroma_op_end(op, rc, NULL);
	} else {
		chroma_write_query(
		    &op->req.scope, op->vector, op->n_vector, k, &op->body);
		chroma_op_post(op, "query", chroma_search_found);
	}
}

static void
chroma_search_embedded(struct chroma_op *op, enum rc rc)
{
	(void)rc;
	chroma_op_open(op, chroma_search_opened);
}

static void
chroma_search(
    void *self, const struct store_request *req, const struct rank_query *q)
{
	struct chroma_op *op = chroma_op_new(self, req);
	int64_t until = clock_wall().ms + op->c->o.search_ms;

	if (op->req.deadline.ms > until)
		op->req.deadline.ms = until;
	op->query = *q;
	chroma_op_embed(op, q->text, chroma_search_embedded);
}

/* ---- forget ---- */

static void
chroma_forget_deleted(struct chroma_op *op, enum rc rc)
{
	const struct rank_hit hit = { .memory = &op->removed };
	const struct store_result a = { .hit = &hit, .n = 1 };

	chroma_op_end(op, rc, &a);
}

static void
chroma_forget_found(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK || op->n == 0) {
		chroma_op_end(op, rc == RC_OK ? RC_NOENT : rc, NULL);
		return;
	}
	buf_reset(&op->body);
	chroma_write_delete(&op->req.scope, op->row, &op->body);
	chroma_op_post(op, "delete", chroma_forget_deleted);
}

static void
chroma_forget_opened(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0') {
		chroma_op_end(op, rc, NULL);
		return;
	}
	chroma_write_get(&op->req.scope, op->row, false, 0, 0, &op->body);
	chroma_op_post(op, "get", chroma_forget_found);
}

static void
chroma_forget(
    void *self, const struct store_request *req, struct str id, bool for_ever)
{
	struct chroma_op *op = chroma_op_new(self, req);

	(void)for_ever;
	op->removed.id = id;
	if (chroma_row_id(&req->scope, id, op->row) != RC_OK)
		chroma_op_end(op, RC_NOENT, NULL);
	else
		chroma_op_open(op, chroma_forget_opened);
}

/* ---- clear and list ---- */

static void
chroma_reply_rows(struct chroma_op *op, size_t n, size_t total)
{
	struct rank_hit *hit = mem_calloc(n + 1, sizeof(*hit));
	struct store_result a = { hit, n, total, false };
	size_t i;

	for (i = 0; i < n; i++)
		hit[i].memory = &op->rows[i];
	chroma_op_end(op, RC_OK, &a);
	free(hit);
}

static void
chroma_clear_deleted(struct chroma_op *op, enum rc rc)
{
	size_t n = op->n < STORE_REMOVED_MAX ? op->n : STORE_REMOVED_MAX;

	if (rc != RC_OK)
		chroma_op_end(op, rc, NULL);
	else
		chroma_reply_rows(op, n, op->n);
}

static void
chroma_clear_listed(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK) {
		chroma_op_end(op, rc, NULL);
		return;
	}
	buf_reset(&op->body);
	chroma_write_delete(&op->req.scope, NULL, &op->body);
	chroma_op_post(op, "delete", chroma_clear_deleted);
}

static void
chroma_clear_opened(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0')
		chroma_op_end(op, rc, NULL);
	else
		chroma_op_pages(op, false, SIZE_MAX, chroma_clear_listed);
}

static void
chroma_clear(void *self, const struct store_request *req)
{
	chroma_op_open(chroma_op_new(self, req), chroma_clear_opened);
}

static void
chroma_list_read(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK)
		chroma_op_end(op, rc, NULL);
	else
		chroma_reply_rows(op, op->n < op->max ? op->n : op->max, 0);
}

static void
chroma_list_opened(struct chroma_op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0')
		chroma_op_end(op, rc, NULL);
	else
		chroma_op_pages(op, true, STORE_LIST_MAX, chroma_list_read);
}

static void
chroma_list(void *self, const struct store_request *req)
{
	chroma_op_open(chroma_op_new(self, req), chroma_list_opened);
}

/* ---- start and end ---- */

static void
chroma_free(void *self)
{
	struct chroma_store *c = self;

	store_http_free(c->http);
	free(c->path);
	free(c);
}

static const struct store_ops chroma_ops = {
	.name = "chroma",
	.peer = "Chroma",
	.put = chroma_put,
	.search = chroma_search,
	.forget = chroma_forget,
	.clear = chroma_clear,
	.list = chroma_list,
	.free = chroma_free,
};

/* Whether a name can be part of a URL path unescaped. */
static bool
chroma_name_valid(const char *s)
{
	return s[0] != '\0' &&
	    s[strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._-")] == '\0';
}

bool
chroma_names_valid(
    const char *tenant, const char *database, const char *collection)
{
	return chroma_name_valid(tenant) && chroma_name_valid(database) &&
	    chroma_name_valid(collection) &&
	    strlen(tenant) + strlen(database) <= NAMES_MAX;
}

enum rc
chroma_store_new(const struct chroma_store_opts *o, struct store **out)
{
	struct buf path = BUF_INIT(1024);
	struct store_http *http;
	struct chroma_store *c;
	enum rc rc;

	if (!chroma_names_valid(o->tenant, o->database, o->collection))
		return RC_INVALID;
	buf_printf(&path, "/api/v2/tenants/%s/databases/%s/collections",
	    o->tenant, o->database);
	rc = buf_rc(&path);
	if (rc == RC_OK)
		rc = store_http_new(&o->http, &http);
	if (rc == RC_OK) {
		c = mem_zalloc(sizeof(*c));
		c->o = *o;
		c->http = http;
		c->path = str_dup(buf_str(&path));
		c->model = o->embed != NULL ? str_of(embed_model(o->embed))
					    : STR(VECTOR_GRAMS_MODEL);
		*out = store_new(&chroma_ops, c, o->state);
	}
	buf_free(&path);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}
