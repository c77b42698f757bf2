/*
 * A handful of texts at a time, until none is lacking or the model fails.
 */
#include "repair.h"

#include <stdlib.h>
#include <string.h>

#include "core/id.h"
#include "core/log.h"
#include "core/mem.h"
#include "llm/embed.h"
#include "vector.h"

#define TEXTS_MAX (EMBED_TEXTS_MAX * MEMORY_JSON_MAX)
#define WAIT_MS   30000

struct repair {
	struct builtin_opts o;
	struct index *index;
	bool at_it;
	char user[ID_MAX + 1], soul[ID_MAX + 1];
	size_t dimensions;
	struct arena *a; /* what is asked for now */
	struct str id[EMBED_TEXTS_MAX];
	size_t n;
};

struct repair *
repair_new(const struct builtin_opts *o, struct index *index)
{
	struct repair *r = mem_zalloc(sizeof(*r));

	r->o = *o;
	r->index = index;
	r->a = arena_new(TEXTS_MAX);
	return r;
}

void
repair_free(struct repair *r)
{
	if (r == NULL)
		return;
	arena_free(r->a);
	free(r);
}

void
repair_shrink(const double *v, size_t n, int8_t *x)
{
	float f[VECTOR_MAX];
	size_t i;

	for (i = 0; i < n; i++)
		f[i] = (float)v[i];
	vector_shrink(f, n, x);
}

void
repair_write(const struct repair *r, const double *v, size_t n, struct buf *out)
{
	int8_t x[VECTOR_MAX];

	if (n > VECTOR_MAX)
		return;
	repair_shrink(v, n, x);
	vector_write(str_of(embed_model(r->o.embed)), x, n, out);
}

static struct memory_scope
scope_of(const struct repair *r)
{
	return (struct memory_scope){ str_of(r->user), str_of(r->soul) };
}

static void step(struct repair *r);

/* A text that the model refuses gets a vector that is near nothing. */
static enum rc
keep(struct repair *r, const struct embed_result *res)
{
	const struct memory_scope scope = scope_of(r);
	struct memory_item item[EMBED_TEXTS_MAX];
	struct buf bytes[EMBED_TEXTS_MAX];
	double none[VECTOR_MAX] = { 0 };
	enum rc rc;
	size_t i;

	for (i = 0; i < r->n; i++) {
		buf_init(&bytes[i], MEMORY_VECTOR_MAX);
		repair_write(r, res->rc == RC_OK ? res->vectors[i] : none,
		    res->rc == RC_OK ? res->dimensions : r->dimensions,
		    &bytes[i]);
		item[i] = (struct memory_item){ .id = r->id[i],
			.vector = buf_str(&bytes[i]) };
	}
	rc = memory_vectors(r->o.state, &scope, item, r->n);
	for (i = 0; i < r->n; i++)
		buf_free(&bytes[i]);
	return rc;
}

static void
on_vectors(void *arg, const struct embed_result *res)
{
	struct repair *r = arg;
	enum rc rc = res->rc == RC_TOOBIG ? RC_INVALID : res->rc;

	if (rc == RC_OK && res->dimensions != r->dimensions)
		rc = RC_CONFLICT;
	else if (rc == RC_OK || (rc == RC_INVALID && r->n == 1))
		rc = keep(r, res);
	else if (rc == RC_INVALID)
		r->n = 1; /* one of them is what it refuses */
	if (rc != RC_OK && rc != RC_INVALID) {
		log_warn("memory.repair_failed", LOG_RC(rc));
		r->at_it = false;
		return;
	}
	if (rc == RC_OK)
		r->n = EMBED_TEXTS_MAX;
	step(r);
}

/* The next texts, r->n at most; false if there are none. */
static bool
take(struct repair *r, struct str *text)
{
	const struct rank_memory *m[EMBED_TEXTS_MAX];
	const struct memory_scope scope = scope_of(r);
	struct rank *rank;
	size_t i, n;

	arena_reset(r->a);
	if (index_open(r->index, &scope, &rank) != RC_OK)
		return false;
	n = rank_lacking(rank, r->dimensions, m, r->n);
	r->n = n < r->n ? n : r->n;
	for (i = 0; i < r->n; i++) {
		r->id[i] = arena_str(r->a, m[i]->id);
		text[i] = arena_str(r->a, m[i]->text);
		if (r->id[i].p == NULL || text[i].p == NULL)
			r->n = i;
	}
	return r->n > 0;
}

static void
step(struct repair *r)
{
	struct str text[EMBED_TEXTS_MAX];
	struct embed_ask ask = { .texts = text,
		.deadline = { clock_wall().ms + WAIT_MS },
		.fn = on_vectors,
		.arg = r };

	r->at_it = false;
	if (!take(r, text))
		return;
	ask.n = r->n;
	r->at_it = embed_ask(r->o.embed, &ask) == RC_OK;
}

void
repair_start(struct repair *r, const struct memory_scope *scope, size_t n)
{
	if (r->at_it)
		return;
	str_copy(scope->user_id, r->user, sizeof(r->user));
	str_copy(scope->soul_id, r->soul, sizeof(r->soul));
	r->dimensions = n;
	r->n = EMBED_TEXTS_MAX;
	step(r);
}
