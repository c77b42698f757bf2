/*
 * The calls of the store, as chains of steps.
 */
#include "chroma.h"

#include <stdlib.h>
#include <string.h>

#include "chroma_op.h"
#include "core/mem.h"
#include "llm/embed.h"
#include "vector.h"

/* Rows that a query asks for, of which words choose too. */
#define CANDIDATES 32
/* Rows that are read where there are no vectors to ask by. */
#define WORDS_MAX 2000
/* Bytes of the names of tenant and database together. */
#define NAMES_MAX 900

/* ---- put -------------------------------------------------------------------
 */

static void
put_added(struct op *op, enum rc rc)
{
	op_end(op, rc, NULL);
}

static void
put_opened(struct op *op, enum rc rc)
{
	const struct chroma_put put = {
		.scope = &op->ask.scope,
		.row = op->row,
		.job = op->put.job,
		.made = op->put.made,
		.vector = op->vector,
		.n = op->n_vector,
	};

	if (rc != RC_OK) {
		op_end(op, rc, NULL);
		return;
	}
	chroma_write_add(&put, &op->body);
	op_post(op, "add", put_added);
}

/* Without its vector it cannot be put: it waits until there is one. */
static void
put_embedded(struct op *op, enum rc rc)
{
	if (rc != RC_OK)
		op_end(op, rc, NULL);
	else
		op_open(op, put_opened);
}

static void
chroma_add(void *self, const struct store_ask *ask, const struct store_put *p)
{
	struct op *op = op_new(self, ask);

	op->put = *p;
	if (chroma_row(&ask->scope, p->job->job_id, op->row) != RC_OK)
		op_end(op, RC_INVALID, NULL);
	else
		op_embed(op, p->job->text, put_embedded);
}

/* ---- search ----------------------------------------------------------------
 */

/* The best of the rows that came, by words and nearness. */
static void
search_done(struct op *op, enum rc rc)
{
	struct store_answer answer = { .degraded = op->degraded };
	struct rank *rank;
	struct rank_hit *hit;
	size_t i;

	if (rc != RC_OK) {
		op_end(op, rc, NULL);
		return;
	}
	rank = rank_new(0);
	for (i = 0; i < op->n; i++) {
		/* Nearness of spelling is measured here, and counts less. */
		if (op->c->o.embed == NULL)
			op->rows[i].has_near = false;
		(void)rank_add(rank, &op->rows[i]);
	}
	hit = mem_calloc(op->query.k + 1, sizeof(*hit));
	answer.n = rank_find(rank, &op->query, hit);
	answer.hit = hit;
	op_end(op, RC_OK, &answer);
	free(hit);
	rank_free(rank);
}

/* What can be done without vectors. */
static void
search_words(struct op *op)
{
	op->degraded = true;
	op_pages(op, true, WORDS_MAX, search_done);
}

static void
search_found(struct op *op, enum rc rc)
{
	if (rc == RC_DENIED)
		search_words(op); /* the vectors are of another length */
	else
		search_done(op, rc);
}

static void
search_opened(struct op *op, enum rc rc)
{
	size_t k = op->query.k > CANDIDATES ? op->query.k : CANDIDATES;

	if ((rc == RC_OK && op->vector == NULL) ||
	    (rc == RC_DENIED && op->id[0] != '\0')) {
		search_words(op);
	} else if (rc != RC_OK) {
		op_end(op, rc, NULL);
	} else {
		chroma_write_query(
		    &op->ask.scope, op->vector, op->n_vector, k, &op->body);
		op_post(op, "query", search_found);
	}
}

static void
search_embedded(struct op *op, enum rc rc)
{
	(void)rc;
	op_open(op, search_opened);
}

static void
chroma_search(
    void *self, const struct store_ask *ask, const struct rank_query *q)
{
	struct op *op = op_new(self, ask);
	int64_t until = clock_wall().ms + op->c->o.search_ms;

	if (op->ask.deadline.ms > until)
		op->ask.deadline.ms = until;
	op->query = *q;
	op_embed(op, q->text, search_embedded);
}

/* ---- forget ----------------------------------------------------------------
 */

static void
forget_deleted(struct op *op, enum rc rc)
{
	const struct rank_hit hit = { .memory = &op->gone };
	const struct store_answer a = { .hit = &hit, .n = 1 };

	op_end(op, rc, &a);
}

static void
forget_seen(struct op *op, enum rc rc)
{
	if (rc != RC_OK || op->n == 0) {
		op_end(op, rc == RC_OK ? RC_NOENT : rc, NULL);
		return;
	}
	buf_reset(&op->body);
	chroma_write_delete(&op->ask.scope, op->row, &op->body);
	op_post(op, "delete", forget_deleted);
}

static void
forget_opened(struct op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0') {
		op_end(op, rc, NULL);
		return;
	}
	chroma_write_get(&op->ask.scope, op->row, false, 0, 0, &op->body);
	op_post(op, "get", forget_seen);
}

static void
chroma_forget(
    void *self, const struct store_ask *ask, struct str id, bool for_ever)
{
	struct op *op = op_new(self, ask);

	(void)for_ever;
	op->gone.id = id;
	if (chroma_row(&ask->scope, id, op->row) != RC_OK)
		op_end(op, RC_NOENT, NULL);
	else
		op_open(op, forget_opened);
}

/* ---- all -------------------------------------------------------------------
 */

static void
answer_all(struct op *op, size_t n, size_t total)
{
	struct rank_hit *hit = mem_calloc(n + 1, sizeof(*hit));
	struct store_answer a = { hit, n, total, false };
	size_t i;

	for (i = 0; i < n; i++)
		hit[i].memory = &op->rows[i];
	op_end(op, RC_OK, &a);
	free(hit);
}

static void
clear_deleted(struct op *op, enum rc rc)
{
	size_t n = op->n < STORE_GONE_MAX ? op->n : STORE_GONE_MAX;

	if (rc != RC_OK)
		op_end(op, rc, NULL);
	else
		answer_all(op, n, op->n);
}

static void
clear_listed(struct op *op, enum rc rc)
{
	if (rc != RC_OK) {
		op_end(op, rc, NULL);
		return;
	}
	buf_reset(&op->body);
	chroma_write_delete(&op->ask.scope, NULL, &op->body);
	op_post(op, "delete", clear_deleted);
}

static void
clear_opened(struct op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0')
		op_end(op, rc, NULL);
	else
		op_pages(op, false, SIZE_MAX, clear_listed);
}

static void
chroma_clear(void *self, const struct store_ask *ask)
{
	op_open(op_new(self, ask), clear_opened);
}

static void
list_listed(struct op *op, enum rc rc)
{
	if (rc != RC_OK)
		op_end(op, rc, NULL);
	else
		answer_all(op, op->n < op->max ? op->n : op->max, 0);
}

static void
list_opened(struct op *op, enum rc rc)
{
	if (rc != RC_OK && op->id[0] == '\0')
		op_end(op, rc, NULL);
	else
		op_pages(op, true, STORE_LIST_MAX, list_listed);
}

static void
chroma_list(void *self, const struct store_ask *ask)
{
	op_open(op_new(self, ask), list_opened);
}

/* ---- start and end ----------------------------------------------------------
 */

static void
chroma_free(void *self)
{
	struct chroma *c = self;

	rest_free(c->rest);
	free(c->path);
	free(c);
}

static const struct store_ops ops = {
	.name = "chroma",
	.peer = "Chroma",
	.put = chroma_add,
	.search = chroma_search,
	.forget = chroma_forget,
	.clear = chroma_clear,
	.list = chroma_list,
	.free = chroma_free,
};

/* Whether a name can stand in an address as it is. */
static bool
is_plain(const char *s)
{
	return s[0] != '\0' &&
	    s[strspn(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789._-")] == '\0';
}

bool
chroma_names_ok(
    const char *tenant, const char *database, const char *collection)
{
	return is_plain(tenant) && is_plain(database) && is_plain(collection) &&
	    strlen(tenant) + strlen(database) <= NAMES_MAX;
}

enum rc
chroma_new(const struct chroma_opts *o, struct store **out)
{
	struct buf path = BUF_INIT(1024);
	struct rest *rest;
	struct chroma *c;
	enum rc rc;

	if (!chroma_names_ok(o->tenant, o->database, o->collection))
		return RC_INVALID;
	buf_printf(&path, "/api/v2/tenants/%s/databases/%s/collections",
	    o->tenant, o->database);
	rc = buf_rc(&path);
	if (rc == RC_OK)
		rc = rest_new(&o->rest, &rest);
	if (rc == RC_OK) {
		c = mem_zalloc(sizeof(*c));
		c->o = *o;
		c->rest = rest;
		c->path = str_dup(buf_str(&path));
		c->model = o->embed != NULL ? str_of(embed_model(o->embed))
					    : STR(VECTOR_GRAMS_MODEL);
		*out = store_new(&ops, c, o->state);
	}
	buf_free(&path);
	return rc == RC_OK ? RC_OK : RC_INVALID;
}
