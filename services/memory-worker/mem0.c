/*
 * Each call of the store is one or more requests, one after the other.
 */
#include "mem0.h"

#include <stdlib.h>

#include "core/arena.h"
#include "core/mem.h"
#include "mem0_wire.h"

#define ARENA_MAX (16UL * 1024 * 1024)
/* Where a job that may be done is looked for: among what is like it. */
#define LIKE_MAX 100
/* The fewest memories of a list that is too long. */
#define LIST_MIN 50
/* Rounds of listing and deleting: some servers delete 100 at a time. */
#define CLEAR_ROUNDS 200

struct mem0 {
	struct rest *rest;
	int64_t search_ms;
};

struct op {
	struct mem0 *m;
	struct store_ask ask;
	struct mem0_scope scope;
	struct arena *a;
	struct mem0_items items; /* of the last answer */
	struct store_put put;
	struct rank_query query;
	struct str id;           /* what is to be forgotten */
	struct rank_memory gone; /* its job's id */
	size_t k;                /* memories of a list that are asked for */
	bool cut;                /* there are more */
	void (*listed)(struct op *op, enum rc rc);
	struct str gone_id[STORE_GONE_MAX];
	size_t n_gone, total, left;
	int round;
};

static void
op_end(struct op *op, enum rc rc, const struct store_answer *a)
{
	op->ask.fn(
	    op->ask.arg, rc, a != NULL ? a : &(struct store_answer){ 0 });
	arena_free(op->a);
	free(op);
}

/* NULL: its scope is none, and the caller knows. */
static struct op *
op_new(struct mem0 *m, const struct store_ask *ask)
{
	struct op *op = mem_zalloc(sizeof(*op));

	op->m = m;
	op->ask = *ask;
	op->a = arena_new(ARENA_MAX);
	if (mem0_scope_of(&ask->scope, &op->scope) == RC_OK)
		return op;
	op_end(op, RC_INVALID, NULL);
	return NULL;
}

static void
call(struct op *op, const char *method, struct buf *path, struct buf *body,
    rest_fn fn)
{
	const struct rest_ask ask = {
		.method = method,
		.path = buf_str(path),
		.body = body != NULL ? buf_str(body) : STR(""),
		.deadline = op->ask.deadline,
		.trace = op->ask.trace,
		.fn = fn,
		.arg = op,
	};
	enum rc rc = buf_rc(path);

	if (rc == RC_OK && body != NULL)
		rc = buf_rc(body);
	if (rc == RC_OK)
		rest_call(op->m->rest, &ask);
	else
		fn(op, &(struct rest_result){ .rc = rc });
	buf_free(path);
	if (body != NULL)
		buf_free(body);
}

static enum rc
read_items(struct op *op, const struct rest_result *r)
{
	arena_reset(op->a);
	op->items = (struct mem0_items){ 0 };
	return r->rc != RC_OK
	    ? r->rc
	    : mem0_read(r->body, &op->scope, op->a, &op->items);
}

static void
post_search(struct op *op, struct str text, size_t k, rest_fn fn)
{
	struct buf path = BUF_INIT(64), body = BUF_INIT(REST_BODY_MAX);

	buf_puts(&path, "/search");
	mem0_write_search(&op->scope, text, k, &body);
	call(op, "POST", &path, &body, fn);
}

/* ---- put -------------------------------------------------------------------
 */

static void
on_posted(void *arg, const struct rest_result *r)
{
	enum rc rc = r->rc;

	/* Neither "forgotten" nor "no such soul". */
	if (rc == RC_NOENT)
		rc = RC_DENIED;
	else if (rc == RC_DOWN && r->status == 502 && mem0_is_bad(r->body))
		rc = RC_INVALID;
	else if (rc == RC_OK && !mem0_stored(r->body))
		rc = RC_INVALID;
	op_end(arg, rc, NULL);
}

static void
post(struct op *op)
{
	struct buf path = BUF_INIT(64), body = BUF_INIT(REST_BODY_MAX);

	buf_puts(&path, "/memories");
	mem0_write_put(&op->scope, op->put.job, &body);
	call(op, "POST", &path, &body, on_posted);
}

static void
on_looked(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = read_items(op, r);
	size_t i;

	if (rc != RC_OK) {
		op_end(op, rc == RC_NOENT ? RC_DENIED : rc, NULL);
		return;
	}
	for (i = 0; i < op->items.n; i++)
		if (str_eq(op->items.item[i].job_id, op->put.job->job_id))
			break;
	if (i < op->items.n)
		op_end(op, RC_OK, NULL);
	else
		post(op);
}

static void
mem0_put(void *self, const struct store_ask *ask, const struct store_put *put)
{
	struct op *op = op_new(self, ask);

	if (op == NULL)
		return;
	op->put = *put;
	if (put->again)
		post_search(op, put->job->text, LIKE_MAX, on_looked);
	else
		post(op);
}

/* ---- search ----------------------------------------------------------------
 */

/* The first n items as an answer; jobs: by their jobs' ids. */
static void
answer(struct op *op, size_t n, bool degraded)
{
	struct store_answer out = { .degraded = degraded };
	struct rank_hit *hit;
	size_t i;

	hit = mem_calloc(n + 1, sizeof(*hit));
	for (i = 0; i < n; i++)
		hit[i] = (struct rank_hit){ .memory = &op->items.item[i].memory,
			.score = op->items.item[i].score };
	out.hit = hit;
	out.n = n;
	op_end(op, RC_OK, &out);
	free(hit);
}

static void
on_found(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = read_items(op, r);
	size_t n = op->items.n;

	/* Old servers do not know how many were asked for. */
	if (n > op->query.k)
		n = op->query.k;
	if (rc != RC_OK)
		op_end(op, rc, NULL);
	else
		answer(op, n, false);
}

static void
mem0_search(void *self, const struct store_ask *ask, const struct rank_query *q)
{
	struct op *op = op_new(self, ask);
	int64_t until;

	if (op == NULL)
		return;
	until = clock_wall().ms + op->m->search_ms;
	if (op->ask.deadline.ms > until)
		op->ask.deadline.ms = until;
	op->query = *q;
	post_search(op, q->text, q->k, on_found);
}

/* ---- list ------------------------------------------------------------------
 */

static void ask_list(struct op *op);

static void
on_list(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = read_items(op, r);

	if (rc == RC_TOOBIG && op->k / 2 >= LIST_MIN) {
		op->k /= 2;
		ask_list(op);
		return;
	}
	op->cut = op->items.n >= op->k;
	op->listed(op, rc);
}

static void
ask_list(struct op *op)
{
	struct buf path = BUF_INIT(1024);

	mem0_write_list(&op->scope, op->k, &path);
	call(op, "GET", &path, NULL, on_list);
}

static void
list(struct op *op, void (*listed)(struct op *op, enum rc rc))
{
	op->listed = listed;
	op->k = MEM0_ITEMS_MAX;
	ask_list(op);
}

static void
on_listed(struct op *op, enum rc rc)
{
	if (rc != RC_OK)
		op_end(op, rc, NULL);
	else
		answer(op, op->items.n, op->cut);
}

static void
mem0_list(void *self, const struct store_ask *ask)
{
	struct op *op = op_new(self, ask);

	if (op != NULL)
		list(op, on_listed);
}

/* ---- forget ----------------------------------------------------------------
 */

static void
on_deleted(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	const struct rank_hit hit = { .memory = &op->gone };
	const struct store_answer a = { .hit = &hit, .n = 1 };

	op_end(op, r->rc, &a);
}

/* Mem0 deletes by id, whosever it is: the item was seen to be of the scope. */
static void
del(struct op *op, const struct mem0_item *item)
{
	struct buf path = BUF_INIT(1024);

	op->gone.id = item->job_id.p != NULL ? item->job_id : item->memory.id;
	if (mem0_write_one(item->memory.id, &path) == RC_OK)
		call(op, "DELETE", &path, NULL, on_deleted);
	else
		op_end(op, RC_INVALID, NULL);
}

static void
on_listed_to_forget(struct op *op, enum rc rc)
{
	size_t i;

	for (i = 0; i < op->items.n && rc == RC_OK; i++)
		if (str_eq(op->items.item[i].memory.id, op->id) ||
		    str_eq(op->items.item[i].job_id, op->id))
			break;
	if (rc == RC_OK && i < op->items.n)
		del(op, &op->items.item[i]);
	else
		op_end(op, rc == RC_OK ? RC_NOENT : rc, NULL);
}

static void
on_got(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	struct mem0_item item;

	if (r->rc == RC_DOWN || r->rc == RC_TIMEOUT || r->rc == RC_DENIED)
		op_end(op, r->rc, NULL);
	else if (r->rc == RC_OK &&
	    mem0_read_one(r->body, &op->scope, op->a, &item) == RC_OK)
		del(op, &item);
	else
		/* It may be a job's id. */
		list(op, on_listed_to_forget);
}

static void
mem0_forget(
    void *self, const struct store_ask *ask, struct str id, bool for_ever)
{
	struct op *op = op_new(self, ask);
	struct buf path = BUF_INIT(1024);

	(void)for_ever;
	if (op == NULL)
		return;
	op->id = id;
	if (mem0_write_one(id, &path) == RC_OK)
		call(op, "GET", &path, NULL, on_got);
	else
		list(op, on_listed_to_forget);
}

static void
cleared(struct op *op)
{
	struct rank_memory *m = mem_calloc(op->n_gone + 1, sizeof(*m));
	struct rank_hit *hit = mem_calloc(op->n_gone + 1, sizeof(*hit));
	struct store_answer a = { hit, op->n_gone, op->total, false };
	size_t i;

	for (i = 0; i < op->n_gone; i++) {
		m[i].id = op->gone_id[i];
		hit[i].memory = &m[i];
	}
	op_end(op, RC_OK, &a);
	for (i = 0; i < a.n; i++)
		free((void *)(uintptr_t)m[i].id.p);
	free(m);
	free(hit);
}

static void
clear_failed(struct op *op, enum rc rc)
{
	while (op->n_gone > 0)
		free((void *)(uintptr_t)op->gone_id[--op->n_gone].p);
	op_end(op, rc, NULL);
}

static void clear_round(struct op *op, enum rc rc);

static void
on_cleared(void *arg, const struct rest_result *r)
{
	struct op *op = arg;

	if (r->rc != RC_OK)
		clear_failed(op, r->rc);
	else
		list(op, clear_round);
}

/* What is there now; until there is nothing. */
static void
clear_round(struct op *op, enum rc rc)
{
	struct buf path = BUF_INIT(1024);
	struct str id;
	size_t i;

	if (rc == RC_OK && op->items.n > 0 && op->round++ == CLEAR_ROUNDS)
		rc = RC_BUG;
	if (rc != RC_OK) {
		clear_failed(op, rc);
		return;
	}
	/* Of a list that was cut more may be gone than it had. */
	if (op->items.n < op->left)
		op->total += op->left - op->items.n;
	op->left = op->items.n;
	for (i = 0; i < op->items.n && op->round == 1; i++) {
		id = op->items.item[i].memory.id;
		if (op->n_gone < STORE_GONE_MAX)
			op->gone_id[op->n_gone++] =
			    (struct str){ str_dup(id), id.n };
	}
	if (op->items.n == 0) {
		cleared(op);
		return;
	}
	mem0_write_clear(&op->scope, &path);
	call(op, "DELETE", &path, NULL, on_cleared);
}

static void
mem0_clear(void *self, const struct store_ask *ask)
{
	struct op *op = op_new(self, ask);

	if (op != NULL)
		list(op, clear_round);
}

/* ---- start and end ----------------------------------------------------------
 */

static void
mem0_free(void *self)
{
	struct mem0 *m = self;

	rest_free(m->rest);
	free(m);
}

static const struct store_ops ops = {
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
mem0_new(const struct mem0_opts *o, struct store **out)
{
	struct mem0 *m;
	struct rest *rest;
	enum rc rc = rest_new(&o->rest, &rest);

	if (rc != RC_OK)
		return rc;
	m = mem_zalloc(sizeof(*m));
	m->rest = rest;
	m->search_ms = o->search_ms;
	*out = store_new(&ops, m, o->state);
	return RC_OK;
}
