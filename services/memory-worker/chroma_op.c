/*
 * One request after the other; a step says where it goes on.
 */
#include "chroma_op.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "llm/embed.h"
#include "vector.h"

#define PAGE     200
#define PAGE_MIN 10

struct op *
op_new(struct chroma *c, const struct store_ask *ask)
{
	struct op *op = mem_zalloc(sizeof(*op));

	op->c = c;
	op->ask = *ask;
	op->a = arena_new(OP_ARENA_MAX);
	buf_init(&op->body, REST_BODY_MAX);
	return op;
}

void
op_end(struct op *op, enum rc rc, const struct store_answer *a)
{
	op->ask.fn(
	    op->ask.arg, rc, a != NULL ? a : &(struct store_answer){ 0 });
	arena_free(op->a);
	buf_free(&op->body);
	free(op->vector);
	free(op->rows);
	free(op);
}

/* ---- the vector ------------------------------------------------------------
 */

static void
on_vector(void *arg, const struct embed_result *r)
{
	struct op *op = arg;
	enum rc rc = r->rc;

	if (rc == RC_OK) {
		op->n_vector = r->dimensions;
		op->vector = mem_calloc(op->n_vector, sizeof(*op->vector));
		memcpy(op->vector, r->vectors[0],
		    op->n_vector * sizeof(*op->vector));
	} else if (rc == RC_NOENT || rc == RC_CONFLICT) {
		rc = RC_DENIED;
	}
	op->next(op, rc);
}

void
op_embed(struct op *op, struct str text, op_fn next)
{
	struct wall until = { clock_wall().ms + op->c->o.embed_ms };
	struct embed_ask ask = {
		.texts = &text,
		.n = 1,
		.deadline =
		    op->ask.deadline.ms < until.ms ? op->ask.deadline : until,
		.trace = op->ask.trace,
		.fn = on_vector,
		.arg = op,
	};
	float v[VECTOR_GRAMS_N];
	enum rc rc;
	size_t i;

	op->next = next;
	if (op->c->o.embed != NULL) {
		rc = embed_ask(op->c->o.embed, &ask);
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

/* ---- requests --------------------------------------------------------------
 */

static void
call(struct op *op, struct buf *path, const struct buf *body, rest_fn fn)
{
	const struct rest_ask ask = {
		.method = "POST",
		.path = buf_str(path),
		.body = buf_str(body),
		.deadline = op->ask.deadline,
		.trace = op->ask.trace,
		.fn = fn,
		.arg = op,
	};
	enum rc rc = buf_rc(path);

	if (rc == RC_OK)
		rc = buf_rc(body);
	if (rc == RC_OK)
		rest_call(op->c->rest, &ask);
	else
		fn(op, &(struct rest_result){ .rc = rc });
	buf_free(path);
}

static void
on_opened(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = r->rc;

	if (rc == RC_OK)
		rc = chroma_read_collection(r->body, op->c->model, op->id);
	else if (rc == RC_NOENT)
		rc = RC_DENIED; /* no such tenant or database */
	if (rc == RC_OK)
		memcpy(op->c->id, op->id, sizeof(op->id));
	op->next(op, rc);
}

void
op_open(struct op *op, op_fn next)
{
	struct buf path = BUF_INIT(2048), body = BUF_INIT(4096);

	op->next = next;
	memcpy(op->id, op->c->id, sizeof(op->id));
	if (op->id[0] != '\0') {
		next(op, RC_OK);
		return;
	}
	buf_puts(&path, op->c->path);
	chroma_write_collection(op->c->o.collection, op->c->model, &body);
	call(op, &path, &body, on_opened);
	buf_free(&body);
}

static enum rc
add_rows(struct op *op, struct str body)
{
	struct chroma_rows rows;
	enum rc rc = chroma_read(body, &op->ask.scope, op->a, &rows);

	if (rc != RC_OK)
		return rc;
	if (op->n + rows.n > op->cap) {
		op->cap = 2 * (op->n + rows.n);
		op->rows = mem_realloc(op->rows, op->cap * sizeof(*op->rows));
	}
	if (rows.n > 0)
		memcpy(op->rows + op->n, rows.row, rows.n * sizeof(*op->rows));
	op->n += rows.n;
	op->said = rows.said;
	op->offset += rows.said;
	return RC_OK;
}

static void post_again(struct op *op);

static void
on_posted(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = r->rc;
	bool rows =
	    strcmp(op->verb, "get") == 0 || strcmp(op->verb, "query") == 0;

	if (rc == RC_NOENT && !op->renewed) {
		/* The server was reset. */
		op->renewed = true;
		op->c->id[0] = '\0';
		post_again(op);
		return;
	}
	if (rc == RC_NOENT)
		rc = RC_DENIED;
	else if (rc == RC_INVALID && r->status == 400 &&
	    str_find(r->body, STR("dimension")) >= 0)
		rc = RC_DENIED;
	if (rc == RC_OK && rows)
		rc = add_rows(op, r->body);
	op->next(op, rc);
}

static void
post(struct op *op)
{
	struct buf path = BUF_INIT(2048);

	buf_printf(&path, "%s/%s/%s", op->c->path, op->id, op->verb);
	call(op, &path, &op->body, on_posted);
}

/* The step goes on with the new collection, and its end where it would. */
static void
on_renewed(void *arg, const struct rest_result *r)
{
	struct op *op = arg;
	enum rc rc = r->rc;

	if (rc == RC_OK)
		rc = chroma_read_collection(r->body, op->c->model, op->id);
	if (rc == RC_OK) {
		memcpy(op->c->id, op->id, sizeof(op->id));
		post(op);
	} else {
		op->next(op, rc == RC_NOENT ? RC_DENIED : rc);
	}
}

static void
post_again(struct op *op)
{
	struct buf path = BUF_INIT(2048), body = BUF_INIT(4096);

	buf_puts(&path, op->c->path);
	chroma_write_collection(op->c->o.collection, op->c->model, &body);
	call(op, &path, &body, on_renewed);
	buf_free(&body);
}

void
op_post(struct op *op, const char *verb, op_fn next)
{
	op->next = next;
	op->verb = verb;
	post(op);
}

/* ---- pages -----------------------------------------------------------------
 */

static void page(struct op *op);

/* op->next is on_page() meanwhile, so what follows is elsewhere. */
static void
on_page(struct op *op, enum rc rc)
{
	if (rc == RC_TOOBIG && op->limit / 2 >= PAGE_MIN) {
		op->limit /= 2;
		page(op);
	} else if (rc != RC_OK || op->n >= op->max || op->said < op->limit) {
		op->paged(op, rc);
	} else {
		page(op);
	}
}

static void
page(struct op *op)
{
	buf_reset(&op->body);
	chroma_write_get(
	    &op->ask.scope, NULL, op->texts, op->limit, op->offset, &op->body);
	op_post(op, "get", on_page);
}

void
op_pages(struct op *op, bool texts, size_t max, op_fn next)
{
	op->texts = texts;
	op->max = max;
	op->limit = PAGE;
	op->offset = 0;
	op->paged = next;
	page(op);
}
