/*
 * Each call of the store is one or more requests, one after the other.
 */
#include "store/memory_store.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/mem.h"
#include "store/store_internal.h"

#define ARENA_MAX (16UL * 1024 * 1024)
/* Search results among which a redelivered job's memory is looked up. */
#define LIKE_MAX 100
/* A list that is too large is requested again with half the count, down to: */
#define LIST_MIN 50
/* Some servers delete only 100 memories a request. */
#define CLEAR_ROUNDS 200

struct mem0 {
	struct store_http *http;
	int64_t search_ms;
};

struct mem0_op {
	struct mem0 *m;
	struct store_request req;
	struct mem0_scope scope;
	struct arena *a;
	struct mem0_items items; /* of the last response */
	struct store_put put;
	struct rank_query query;
	struct str id;              /* to forget */
	struct rank_memory removed; /* its id, the job's if known */
	size_t k;                   /* memories requested */
	bool truncated;             /* the list may be incomplete */
	void (*listed)(struct mem0_op *op, enum rc rc);
	struct str removed_id[STORE_REMOVED_MAX];
	size_t n_removed, total, left;
	int round;
};

static void
mem0_op_end(struct mem0_op *op, enum rc rc, const struct store_result *a)
{
	op->req.fn(
	    op->req.arg, rc, a != NULL ? a : &(struct store_result){ 0 });
	arena_free(op->a);
	free(op);
}

/* NULL: the scope is invalid, and the caller has been notified. */
static struct mem0_op *
mem0_op_new(struct mem0 *m, const struct store_request *req)
{
	struct mem0_op *op = mem_zalloc(sizeof(*op));

	op->m = m;
	op->req = *req;
	op->a = arena_new(ARENA_MAX);
	if (mem0_scope_init(&req->scope, &op->scope) == RC_OK)
		return op;
	mem0_op_end(op, RC_INVALID, NULL);
	return NULL;
}

static void
mem0_call(struct mem0_op *op, const char *method, struct buf *path,
    struct buf *body, store_http_fn fn)
{
	const struct store_http_request req = {
		.method = method,
		.path = buf_str(path),
		.body = body != NULL ? buf_str(body) : STR(""),
		.deadline = op->req.deadline,
		.trace = op->req.trace,
		.fn = fn,
		.arg = op,
	};
	enum rc rc = buf_rc(path);

	if (rc == RC_OK && body != NULL)
		rc = buf_rc(body);
	if (rc == RC_OK)
		store_http_call(op->m->http, &req);
	else
		fn(op, &(struct store_http_response){ .rc = rc });
	buf_free(path);
	if (body != NULL)
		buf_free(body);
}

static enum rc
mem0_read_items(struct mem0_op *op, const struct store_http_response *r)
{
	arena_reset(op->a);
	op->items = (struct mem0_items){ 0 };
	return r->rc != RC_OK
	    ? r->rc
	    : mem0_read(r->body, &op->scope, op->a, &op->items);
}

static void
mem0_post_search(
    struct mem0_op *op, struct str text, size_t k, store_http_fn fn)
{
	struct buf path = BUF_INIT(64), body = BUF_INIT(STORE_HTTP_BODY_MAX);

	buf_puts(&path, "/search");
	mem0_write_search(&op->scope, text, k, &body);
	mem0_call(op, "POST", &path, &body, fn);
}

/* ---- put ---- */

static void
mem0_on_added(void *arg, const struct store_http_response *r)
{
	enum rc rc = r->rc;

	/* Not RC_NOENT, which means that the soul does not exist. */
	if (rc == RC_NOENT)
		rc = RC_DENIED;
	else if (rc == RC_DOWN && r->status == 502 &&
	    mem0_response_rejected(r->body))
		rc = RC_INVALID;
	else if (rc == RC_OK && !mem0_response_stored(r->body))
		rc = RC_INVALID;
	mem0_op_end(arg, rc, NULL);
}

static void
mem0_post_add(struct mem0_op *op)
{
	struct buf path = BUF_INIT(64), body = BUF_INIT(STORE_HTTP_BODY_MAX);

	buf_puts(&path, "/memories");
	mem0_write_put(&op->scope, op->put.job, &body);
	mem0_call(op, "POST", &path, &body, mem0_on_added);
}

static void
mem0_on_lookup(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;
	enum rc rc = mem0_read_items(op, r);
	size_t i;

	if (rc != RC_OK) {
		mem0_op_end(op, rc == RC_NOENT ? RC_DENIED : rc, NULL);
		return;
	}
	for (i = 0; i < op->items.n; i++)
		if (str_eq(op->items.item[i].job_id, op->put.job->job_id))
			break;
	if (i < op->items.n)
		mem0_op_end(op, RC_OK, NULL);
	else
		mem0_post_add(op);
}

static void
mem0_put(
    void *self, const struct store_request *req, const struct store_put *put)
{
	struct mem0_op *op = mem0_op_new(self, req);

	if (op == NULL)
		return;
	op->put = *put;
	if (put->redelivered)
		mem0_post_search(op, put->job->text, LIKE_MAX, mem0_on_lookup);
	else
		mem0_post_add(op);
}

/* ---- search ---- */

/* Reply with the first n items. */
static void
mem0_reply_items(struct mem0_op *op, size_t n, bool degraded)
{
	struct store_result out = { .degraded = degraded };
	struct rank_hit *hit;
	size_t i;

	hit = mem_calloc(n + 1, sizeof(*hit));
	for (i = 0; i < n; i++)
		hit[i] = (struct rank_hit){ .memory = &op->items.item[i].memory,
			.score = op->items.item[i].score };
	out.hit = hit;
	out.n = n;
	mem0_op_end(op, RC_OK, &out);
	free(hit);
}

static void
mem0_on_found(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;
	enum rc rc = mem0_read_items(op, r);
	size_t n = op->items.n;

	/* Old servers ignore the requested count. */
	if (n > op->query.k)
		n = op->query.k;
	if (rc != RC_OK)
		mem0_op_end(op, rc, NULL);
	else
		mem0_reply_items(op, n, false);
}

static void
mem0_search(
    void *self, const struct store_request *req, const struct rank_query *q)
{
	struct mem0_op *op = mem0_op_new(self, req);
	int64_t until;

	if (op == NULL)
		return;
	until = clock_wall().ms + op->m->search_ms;
	if (op->req.deadline.ms > until)
		op->req.deadline.ms = until;
	op->query = *q;
	mem0_post_search(op, q->text, q->k, mem0_on_found);
}

/* ---- list ---- */

static void mem0_get_list(struct mem0_op *op);

static void
mem0_on_page(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;
	enum rc rc = mem0_read_items(op, r);

	if (rc == RC_TOOBIG && op->k / 2 >= LIST_MIN) {
		op->k /= 2;
		mem0_get_list(op);
		return;
	}
	op->truncated = op->items.n >= op->k;
	op->listed(op, rc);
}

static void
mem0_get_list(struct mem0_op *op)
{
	struct buf path = BUF_INIT(1024);

	mem0_write_list(&op->scope, op->k, &path);
	mem0_call(op, "GET", &path, NULL, mem0_on_page);
}

static void
mem0_start_list(
    struct mem0_op *op, void (*listed)(struct mem0_op *op, enum rc rc))
{
	op->listed = listed;
	op->k = MEM0_ITEMS_MAX;
	mem0_get_list(op);
}

static void
mem0_on_listed(struct mem0_op *op, enum rc rc)
{
	if (rc != RC_OK)
		mem0_op_end(op, rc, NULL);
	else
		mem0_reply_items(op, op->items.n, op->truncated);
}

static void
mem0_list(void *self, const struct store_request *req)
{
	struct mem0_op *op = mem0_op_new(self, req);

	if (op != NULL)
		mem0_start_list(op, mem0_on_listed);
}

/* ---- forget ---- */

static void
mem0_on_deleted(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;
	const struct rank_hit hit = { .memory = &op->removed };
	const struct store_result a = { .hit = &hit, .n = 1 };

	mem0_op_end(op, r->rc, &a);
}

/* Mem0 deletes by id in any scope, so the item's scope was checked before. */
static void
mem0_delete_item(struct mem0_op *op, const struct mem0_item *item)
{
	struct buf path = BUF_INIT(1024);

	op->removed.id =
	    item->job_id.p != NULL ? item->job_id : item->memory.id;
	if (mem0_write_one(item->memory.id, &path) == RC_OK)
		mem0_call(op, "DELETE", &path, NULL, mem0_on_deleted);
	else
		mem0_op_end(op, RC_INVALID, NULL);
}

static void
mem0_on_listed_to_forget(struct mem0_op *op, enum rc rc)
{
	size_t i;

	for (i = 0; i < op->items.n && rc == RC_OK; i++)
		if (str_eq(op->items.item[i].memory.id, op->id) ||
		    str_eq(op->items.item[i].job_id, op->id))
			break;
	if (rc == RC_OK && i < op->items.n)
		mem0_delete_item(op, &op->items.item[i]);
	else
		mem0_op_end(op, rc == RC_OK ? RC_NOENT : rc, NULL);
}

static void
mem0_on_got(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;
	struct mem0_item item;

	if (r->rc == RC_DOWN || r->rc == RC_TIMEOUT || r->rc == RC_DENIED)
		mem0_op_end(op, r->rc, NULL);
	else if (r->rc == RC_OK &&
	    mem0_read_one(r->body, &op->scope, op->a, &item) == RC_OK)
		mem0_delete_item(op, &item);
	else
		/* It may be a job's id. */
		mem0_start_list(op, mem0_on_listed_to_forget);
}

static void
mem0_forget(
    void *self, const struct store_request *req, struct str id, bool for_ever)
{
	struct mem0_op *op = mem0_op_new(self, req);
	struct buf path = BUF_INIT(1024);

	(void)for_ever;
	if (op == NULL)
		return;
	op->id = id;
	if (mem0_write_one(id, &path) == RC_OK)
		mem0_call(op, "GET", &path, NULL, mem0_on_got);
	else
		mem0_start_list(op, mem0_on_listed_to_forget);
}

static void
mem0_reply_cleared(struct mem0_op *op)
{
	struct rank_memory *m = mem_calloc(op->n_removed + 1, sizeof(*m));
	struct rank_hit *hit = mem_calloc(op->n_removed + 1, sizeof(*hit));
	struct store_result a = { hit, op->n_removed, op->total, false };
	size_t i;

	for (i = 0; i < op->n_removed; i++) {
		m[i].id = op->removed_id[i];
		hit[i].memory = &m[i];
	}
	mem0_op_end(op, RC_OK, &a);
	for (i = 0; i < a.n; i++)
		free((void *)(uintptr_t)m[i].id.p);
	free(m);
	free(hit);
}

static void
mem0_clear_failed(struct mem0_op *op, enum rc rc)
{
	while (op->n_removed > 0)
		free((void *)(uintptr_t)op->removed_id[--op->n_removed].p);
	mem0_op_end(op, rc, NULL);
}

static void mem0_clear_round(struct mem0_op *op, enum rc rc);

static void
mem0_on_cleared(void *arg, const struct store_http_response *r)
{
	struct mem0_op *op = arg;

	if (r->rc != RC_OK)
		mem0_clear_failed(op, r->rc);
	else
		mem0_start_list(op, mem0_clear_round);
}

/* Delete and list again until the list is empty. */
static void
mem0_clear_round(struct mem0_op *op, enum rc rc)
{
	struct buf path = BUF_INIT(1024);
	struct str id;
	size_t i;

	if (rc == RC_OK && op->items.n > 0 && op->round++ == CLEAR_ROUNDS)
		rc = RC_BUG;
	if (rc != RC_OK) {
		mem0_clear_failed(op, rc);
		return;
	}
	/*
	 * If the list was truncated, more may have been deleted than it
	 * contained.
	 */
	if (op->items.n < op->left)
		op->total += op->left - op->items.n;
	op->left = op->items.n;
	for (i = 0; i < op->items.n && op->round == 1; i++) {
		id = op->items.item[i].memory.id;
		if (op->n_removed < STORE_REMOVED_MAX)
			op->removed_id[op->n_removed++] =
			    (struct str){ str_dup(id), id.n };
	}
	if (op->items.n == 0) {
		mem0_reply_cleared(op);
		return;
	}
	mem0_write_clear(&op->scope, &path);
	mem0_call(op, "DELETE", &path, NULL, mem0_on_cleared);
}

static void
mem0_clear(void *self, const struct store_request *req)
{
	struct mem0_op *op = mem0_op_new(self, req);

	if (op != NULL)
		mem0_start_list(op, mem0_clear_round);
}

/* ---- start and end ---- */

static void
mem0_free(void *self)
{
	struct mem0 *m = self;

	store_http_free(m->http);
	free(m);
}

static const struct store_ops mem0_ops = {
	.name = "mem0",
	.peer = "Mem0",
	.put = mem0_put,
	.search = mem0_search,
	.forget = mem0_forget,
	.clear = mem0_clear,
	.list = mem0_list,
	.free = mem0_free,
};

enum rc
mem0_store_new(const struct mem0_store_opts *o, struct store **out)
{
	struct mem0 *m;
	struct store_http *http;
	enum rc rc = store_http_new(&o->http, &http);

	if (rc != RC_OK)
		return rc;
	m = mem_zalloc(sizeof(*m));
	m->http = http;
	m->search_ms = o->search_ms;
	*out = store_new(&mem0_ops, m, o->state);
	return RC_OK;
}
