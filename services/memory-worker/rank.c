/*
 * An inverted index that can be changed: a removed memory's postings are found
 * by reading its text again, so counts and mean length are always exact.
 */
#include "rank.h"

#include <math.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "terms.h"
#include "tokens.h"
#include "vector.h"

/* BM25: how fast repetition saturates, how much length counts. */
#define BM25_K1 1.2
#define BM25_B  0.75
/* A single character says less than a pair or a word. */
#define CHAR_WEIGHT 0.2
/* How much being recent counts, and when that is halved. */
#define RECENT_WEIGHT  0.1
#define RECENT_HALF_MS (30.0 * 86400000)
/*
 * How much nearness counts beside words: of meaning, of spelling, and where a
 * store has said it.
 */
#define MEANING_WEIGHT  0.6
#define SPELLING_NOISE  0.15
#define SPELLING_WEIGHT 0.15
/* Different tokens of a query that count. */
#define QUERY_MAX 512
/* Places of removed memories that are borne before all are made anew. */
#define HOLES_MAX 64

struct doc {
	struct rank_memory m; /* id and text are one heap piece; NULL: a hole */
	uint32_t len;         /* tokens */
	bool kept;
	int8_t *vec; /* coordinates; NULL: none */
	size_t nvec;
	double norm;
	/* The same of its spelling, in the piece of id and text. */
	int8_t *grams;
	double gnorm;
};

struct rank {
	struct map *by_id; /* id → its place in docs, + 1 */
	struct doc *docs;
	size_t ndocs, cap_docs, holes;
	uint64_t tokens; /* of all */
	struct terms terms;
	double *scores; /* scratch, of each doc: words, nearness */
	double *near;
	size_t cap_scores;
	size_t bytes;
};

struct rank *
rank_new(uint64_t seed)
{
	struct rank *r = mem_zalloc(sizeof(*r));

	r->terms.seed = seed;
	r->by_id = map_new();
	r->bytes = sizeof(*r);
	return r;
}

void
rank_free(struct rank *r)
{
	size_t i;

	if (r == NULL)
		return;
	terms_reset(&r->terms);
	for (i = 0; i < r->ndocs; i++) {
		free((void *)(uintptr_t)r->docs[i].m.id.p);
		free(r->docs[i].vec);
	}
	free(r->docs);
	free(r->scores);
	free(r->near);
	map_free(r->by_id);
	free(r);
}

/* ---- memories --------------------------------------------------------------
 */

static void
index_doc(struct rank *r, uint32_t i)
{
	struct doc *d = &r->docs[i];
	struct tokens walk = tokens_of(d->m.text);
	struct token t;

	d->len = 0;
	while (tokens_next(&walk, &t)) {
		terms_count(&r->terms, t.key, i);
		d->len++;
	}
	r->tokens += d->len;
}

static size_t
place(const struct rank *r, struct str id)
{
	return (size_t)(uintptr_t)map_get(r->by_id, id);
}

static void
put_place(struct rank *r, size_t i)
{
	(void)map_put(r->by_id, r->docs[i].m.id, (void *)(uintptr_t)(i + 1));
}

/* Close the holes. */
static void
rebuild(struct rank *r)
{
	size_t i, n = 0;

	terms_reset(&r->terms);
	r->tokens = 0;
	for (i = 0; i < r->ndocs; i++) {
		if (r->docs[i].m.id.p == NULL)
			continue;
		r->docs[n] = r->docs[i];
		put_place(r, n);
		index_doc(r, (uint32_t)n++);
	}
	r->ndocs = n;
	r->holes = 0;
}

static size_t
doc_bytes(const struct doc *d)
{
	/* The id once more in the map, with its entry. */
	return 2 * d->m.id.n + d->m.text.n + 2 + 64 + VECTOR_GRAMS_N + d->nvec;
}

static void
spell(struct doc *d, int8_t *x)
{
	float v[VECTOR_GRAMS_N];

	vector_grams(d->m.text, v);
	vector_shrink(v, VECTOR_GRAMS_N, x);
	d->grams = x;
	d->gnorm = vector_norm(x, VECTOR_GRAMS_N);
}

bool
rank_add(struct rank *r, const struct rank_memory *m)
{
	size_t cap;
	struct doc *d;
	char *p;

	if (place(r, m->id) != 0)
		return false;
	if (r->ndocs == r->cap_docs) {
		cap = r->cap_docs == 0 ? 16 : 2 * r->cap_docs;
		r->bytes += (cap - r->cap_docs) * sizeof(r->docs[0]);
		r->docs = mem_realloc(r->docs, cap * sizeof(r->docs[0]));
		r->cap_docs = cap;
	}
	p = mem_alloc(m->id.n + 1 + m->text.n + 1 + VECTOR_GRAMS_N);
	str_copy(m->id, p, m->id.n + 1);
	str_copy(m->text, p + m->id.n + 1, m->text.n + 1);
	d = &r->docs[r->ndocs];
	*d = (struct doc){ .m = *m, .kept = true };
	d->m.id.p = p;
	d->m.text.p = p + m->id.n + 1;
	d->m.detail = NULL;
	spell(d, (int8_t *)p + m->id.n + 1 + m->text.n + 1);
	r->bytes += doc_bytes(d);
	put_place(r, r->ndocs);
	index_doc(r, (uint32_t)r->ndocs++);
	return true;
}

bool
rank_del(struct rank *r, struct str id)
{
	size_t i = place(r, id);
	struct tokens walk;
	struct token t;
	struct doc *d;

	if (i == 0)
		return false;
	d = &r->docs[--i];
	walk = tokens_of(d->m.text);
	while (tokens_next(&walk, &t)) {
		terms_drop(&r->terms, t.key, (uint32_t)i);
	}
	r->tokens -= d->len;
	r->bytes -= doc_bytes(d);
	(void)map_del(r->by_id, id);
	free(d->vec);
	/* id may be the doc's own. */
	free((void *)(uintptr_t)d->m.id.p);
	*d = (struct doc){ 0 };
	r->holes++;
	if (r->holes > HOLES_MAX && r->holes > r->ndocs / 2)
		rebuild(r);
	return true;
}

void
rank_vector(struct rank *r, struct str id, struct str x)
{
	size_t i = place(r, id);
	struct doc *d;

	if (i == 0)
		return;
	d = &r->docs[i - 1];
	r->bytes += x.n - d->nvec;
	free(d->vec);
	d->vec = NULL;
	d->nvec = x.n;
	if (x.n == 0)
		return;
	d->vec = mem_alloc(x.n);
	memcpy(d->vec, x.p, x.n);
	d->norm = vector_norm(d->vec, x.n);
}

size_t
rank_lacking(
    const struct rank *r, size_t n, const struct rank_memory **out, size_t max)
{
	size_t i, found = 0;

	for (i = 0; i < r->ndocs; i++) {
		const struct doc *d = &r->docs[i];

		if (d->m.id.p == NULL ||
		    (d->nvec > 0 && (n == 0 || d->nvec == n)))
			continue;
		if (found < max)
			out[found] = &d->m;
		found++;
	}
	return found;
}

void
rank_start(struct rank *r)
{
	size_t i;

	for (i = 0; i < r->ndocs; i++)
		r->docs[i].kept = false;
}

bool
rank_keep(struct rank *r, struct str id)
{
	size_t i = place(r, id);

	if (i == 0)
		return false;
	r->docs[i - 1].kept = true;
	return true;
}

void
rank_sweep(struct rank *r)
{
	size_t i = 0, n;

	while (i < r->ndocs) {
		n = r->ndocs;
		if (r->docs[i].m.id.p != NULL && !r->docs[i].kept)
			(void)rank_del(r, r->docs[i].m.id);
		/* After a rebuild what is left has other places. */
		i = r->ndocs == n ? i + 1 : 0;
	}
}

size_t
rank_len(const struct rank *r)
{
	return r->ndocs - r->holes;
}

size_t
rank_bytes(const struct rank *r)
{
	return r->bytes + r->terms.bytes;
}

/* ---- questions -------------------------------------------------------------
 */

/* Add what a token says of each memory that has it. */
static void
score_token(struct rank *r, const struct token *token)
{
	const struct term *t = terms_find(&r->terms, token->key);
	double n = (double)rank_len(r), mean = (double)r->tokens / n;
	double idf, weight, tf;
	uint32_t i;

	if (t == NULL || t->n == 0)
		return;
	idf = log(1 + (n - t->n + 0.5) / (t->n + 0.5));
	weight = token->kind == TOKEN_CHAR ? CHAR_WEIGHT * idf : idf;
	for (i = 0; i < t->n; i++) {
		const struct doc *d = &r->docs[t->p[i].doc];

		tf = t->p[i].tf;
		r->scores[t->p[i].doc] += weight * tf * (BM25_K1 + 1) /
		    (tf + BM25_K1 * (1 - BM25_B + BM25_B * d->len / mean));
	}
}

static void
make_room(struct rank *r)
{
	if (r->cap_scores >= r->cap_docs)
		return;
	r->bytes += 2 * (r->cap_docs - r->cap_scores) * sizeof(r->scores[0]);
	r->scores = mem_realloc(r->scores, r->cap_docs * sizeof(r->scores[0]));
	r->near = mem_realloc(r->near, r->cap_docs * sizeof(r->near[0]));
	r->cap_scores = r->cap_docs;
}

/* How the words fit: 0 to 1, the best. */
static void
score_words(struct rank *r, struct str text)
{
	struct token tokens[QUERY_MAX];
	size_t i, n = tokens_distinct(text, tokens, QUERY_MAX);
	double best = 0;

	for (i = 0; i < r->ndocs; i++)
		r->scores[i] = 0;
	for (i = 0; i < n; i++)
		score_token(r, &tokens[i]);
	for (i = 0; i < r->ndocs; i++)
		best = fmax(best, r->scores[i]);
	for (i = 0; i < r->ndocs && best > 0; i++)
		r->scores[i] /= best;
}

/* How near they are: 0, the farthest, to 1. */
static void
score_near(struct rank *r, const struct rank_query *q)
{
	const int8_t *x = (const int8_t *)q->vector.p;
	int8_t grams[VECTOR_GRAMS_N];
	double low = 1, high = -1, norm;
	bool spelling = false;
	struct doc spelt = { .m.text = q->text };
	size_t i;

	spell(&spelt, grams);
	norm = vector_norm(x, q->vector.n);
	for (i = 0; i < r->ndocs; i++) {
		const struct doc *d = &r->docs[i];

		if (d->m.id.p == NULL)
			continue;
		if (d->m.has_near)
			r->near[i] = d->m.near;
		else if ((spelling = q->vector.n == 0))
			r->near[i] = vector_cosine(grams, spelt.gnorm, d->grams,
			    d->gnorm, VECTOR_GRAMS_N);
		else if (d->nvec == q->vector.n)
			r->near[i] =
			    vector_cosine(x, norm, d->vec, d->norm, d->nvec);
		else
			r->near[i] = 0;
		low = fmin(low, r->near[i]);
		high = fmax(high, r->near[i]);
	}
	/* Alike by chance is not alike; of meanings only the order tells. */
	if (spelling)
		low = SPELLING_NOISE;
	for (i = 0; i < r->ndocs; i++)
		r->near[i] =
		    high > low ? fmax(r->near[i] - low, 0) / (high - low) : 0;
}

static double
recency(struct wall created, struct wall now)
{
	double age = (double)now.ms - (double)created.ms;

	return exp2(-fmax(age, 0) / RECENT_HALF_MS);
}

static bool
better(const struct rank_hit *a, const struct rank_hit *b)
{
	if (a->score != b->score)
		return a->score > b->score;
	if (a->memory->created.ms != b->memory->created.ms)
		return a->memory->created.ms > b->memory->created.ms;
	return str_cmp(a->memory->id, b->memory->id) < 0;
}

size_t
rank_find(struct rank *r, const struct rank_query *q, struct rank_hit *hits)
{
	size_t i, k, n = 0;
	double weight, fits;

	if (rank_len(r) > 0) {
		make_room(r);
		score_words(r, q->text);
		score_near(r, q);
	}
	for (i = 0; i < r->ndocs; i++) {
		const struct rank_memory *m = &r->docs[i].m;
		struct rank_hit h = { .memory = m };

		if (m->id.p == NULL)
			continue;
		weight = q->vector.n > 0 || m->has_near ? MEANING_WEIGHT
							: SPELLING_WEIGHT;
		h.match = r->scores[i];
		fits = (1 - weight) * h.match + weight * r->near[i];
		h.score = (1 - RECENT_WEIGHT) * fits +
		    RECENT_WEIGHT * recency(m->created, q->now);
		for (k = n; k > 0 && better(&h, &hits[k - 1]); k--)
			if (k < q->k)
				hits[k] = hits[k - 1];
		if (k < q->k)
			hits[k] = h;
		if (n < q->k)
			n++;
	}
	return n;
}
