/*
 * An updatable inverted index: the postings of a removed memory are found by
 * tokenizing its text again, so counts and mean length stay exact.
 */
#include "store/ranking.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/map.h"
#include "core/mem.h"
#include "search/tokenizer.h"

#define VECTOR_BLOCK 64
/* A single character is less significant than a pair. */
#define GRAM_CHAR_WEIGHT 0.5F

/* Add an n-gram at the position, and with the sign, given by its hash. */
static void
vector_add_gram(float *v, uint64_t gram, float weight)
{
	uint64_t h = tokenizer_hash(gram);

	v[h % VECTOR_GRAMS_N] += (h >> 63) != 0 ? weight : -weight;
}

void
vector_grams(struct str text, float v[VECTOR_GRAMS_N])
{
	/* The previous runes; 0 at the start of a run. */
	uint64_t one = 0, two = 0, c;
	enum rune_class is, before = RUNE_NONE;
	double sum = 0;
	uint32_t rune;
	size_t i, pos = 0;

	memset(v, 0, VECTOR_GRAMS_N * sizeof(v[0]));
	while (tokenizer_rune(text, &pos, &rune, &is)) {
		c = is == RUNE_NONE ? 0 : rune;
		if (is != before) {
			/* The end of a word counts as a letter. */
			if (before == RUNE_LETTER)
				vector_add_gram(v, two << 42 | one << 21, 1);
			one = two = 0;
		}
		if (is == RUNE_LETTER)
			vector_add_gram(v, two << 42 | one << 21 | c, 1);
		if (is == RUNE_WIDE)
			vector_add_gram(v, c, GRAM_CHAR_WEIGHT);
		if (is == RUNE_WIDE && one != 0)
			vector_add_gram(v, one << 21 | c, 1);
		two = one;
		one = c;
		before = is;
	}
	if (before == RUNE_LETTER)
		vector_add_gram(v, two << 42 | one << 21, 1);
	for (i = 0; i < VECTOR_GRAMS_N; i++)
		sum += (double)v[i] * (double)v[i];
	for (i = 0; i < VECTOR_GRAMS_N && sum > 0; i++)
		v[i] = (float)((double)v[i] / sqrt(sum));
}

void
vector_quantize(const float *v, size_t n, int8_t *x)
{
	float most = 0;
	size_t i;

	for (i = 0; i < n; i++)
		most = fmaxf(most, fabsf(v[i]));
	for (i = 0; i < n; i++)
		x[i] = most > 0 ? (int8_t)lrintf(v[i] / most * 127) : 0;
}

/* Blocks of constant size let the compiler vectorize the loop. */
static int32_t
vector_dot(const int8_t *x, const int8_t *y, size_t n)
{
	int32_t sum = 0; /* cannot overflow: 127 * 127 * VECTOR_MAX */
	size_t i, k;

	for (i = 0; i + VECTOR_BLOCK <= n; i += VECTOR_BLOCK)
		for (k = 0; k < VECTOR_BLOCK; k++)
			sum += x[i + k] * y[i + k];
	for (; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

double
vector_norm(const int8_t *x, size_t n)
{
	return sqrt(vector_dot(x, x, n));
}

double
vector_cosine(const int8_t *x, double nx, const int8_t *y, double ny, size_t n)
{
	return nx > 0 && ny > 0 ? vector_dot(x, y, n) / (nx * ny) : 0;
}

void
vector_write(struct str model, const int8_t *x, size_t n, struct buf *out)
{
	buf_put_str(out, model);
	buf_putc(out, '\0');
	buf_put(out, x, n);
}

struct str
vector_read(struct str bytes, struct str model)
{
	const struct str none = { NULL, 0 };

	if (bytes.n <= model.n + 1 || bytes.n > model.n + 1 + VECTOR_MAX)
		return none;
	if (!str_starts(bytes, model) || bytes.p[model.n] != '\0')
		return none;
	return (struct str){ bytes.p + model.n + 1, bytes.n - model.n - 1 };
}

struct posting {
	uint32_t doc;
	uint32_t tf;
};

struct term {
	uint64_t key;
	struct posting *p; /* by doc, ascending */
	uint32_t n, cap;
};

struct terms {
	uint64_t seed; /* should be unpredictable */
	struct term *term;
	size_t n, cap;
	uint32_t *slots; /* hash table: index in term, + 1 */
	size_t nslots;   /* a power of two */
	size_t bytes;
};

static void
terms_reset(struct terms *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		free(t->term[i].p);
	free(t->term);
	free(t->slots);
	*t = (struct terms){ .seed = t->seed };
}

/* The slot of a term, or the empty slot for it. */
static size_t
terms_slot(const struct terms *t, uint64_t key)
{
	size_t i = (size_t)tokenizer_hash(key ^ t->seed) & (t->nslots - 1);

	while (t->slots[i] != 0 && t->term[t->slots[i] - 1].key != key)
		i = (i + 1) & (t->nslots - 1);
	return i;
}

static struct term *
terms_lookup(const struct terms *t, uint64_t key)
{
	size_t i;

	if (t->nslots == 0)
		return NULL;
	i = terms_slot(t, key);
	return t->slots[i] != 0 ? &t->term[t->slots[i] - 1] : NULL;
}

static const struct term *
terms_find(const struct terms *t, uint64_t key)
{
	return terms_lookup(t, key);
}

static void
terms_grow(struct terms *t)
{
	size_t i, cap = t->cap == 0 ? 64 : 2 * t->cap;

	t->bytes += (cap - t->cap) * sizeof(t->term[0]);
	t->bytes += (2 * cap - t->nslots) * sizeof(t->slots[0]);
	t->term = mem_realloc(t->term, cap * sizeof(t->term[0]));
	t->cap = cap;
	free(t->slots);
	t->nslots = 2 * cap;
	t->slots = mem_calloc(t->nslots, sizeof(t->slots[0]));
	for (i = 0; i < t->n; i++)
		t->slots[terms_slot(t, t->term[i].key)] = (uint32_t)i + 1;
}

static struct term *
terms_insert(struct terms *t, uint64_t key)
{
	struct term *term = terms_lookup(t, key);

	if (term != NULL)
		return term;
	if (t->n == t->cap)
		terms_grow(t);
	term = &t->term[t->n++];
	*term = (struct term){ .key = key };
	t->slots[terms_slot(t, key)] = (uint32_t)t->n;
	return term;
}

static void
terms_count(struct terms *t, uint64_t key, uint32_t doc)
{
	struct term *term = terms_insert(t, key);
	uint32_t cap;

	if (term->n > 0 && term->p[term->n - 1].doc == doc) {
		term->p[term->n - 1].tf++;
		return;
	}
	if (term->n == term->cap) {
		cap = term->cap == 0 ? 2 : 2 * term->cap;
		t->bytes += (cap - term->cap) * sizeof(term->p[0]);
		term->p = mem_realloc(term->p, cap * sizeof(term->p[0]));
		term->cap = cap;
	}
	term->p[term->n++] = (struct posting){ doc, 1 };
}

static void
terms_drop(struct terms *t, uint64_t key, uint32_t doc)
{
	struct term *term = terms_lookup(t, key);
	size_t lo = 0, hi, mid;

	if (term == NULL)
		return;
	hi = term->n;
	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (term->p[mid].doc < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* An earlier token with the same term has removed it. */
	if (lo == term->n || term->p[lo].doc != doc)
		return;
	term->n--;
	memmove(&term->p[lo], &term->p[lo + 1],
	    (term->n - lo) * sizeof(term->p[0]));
}

/* BM25: saturation of repetition, influence of length. */
#define BM25_K1 1.2
#define BM25_B  0.75
/* A single character is less significant than a pair or a word. */
#define CHAR_WEIGHT 0.2
/* Weight of recency, and its half-life. */
#define RECENT_WEIGHT  0.1
#define RECENT_HALF_MS (30.0 * 86400000)
/*
 * Weight of similarity relative to words: of meaning (also where a store
 * reports it), of spelling.
 */
#define MEANING_WEIGHT  0.6
#define SPELLING_NOISE  0.15
#define SPELLING_WEIGHT 0.15
/* Different tokens of a query that count. */
#define QUERY_MAX 512
/* Removed memories that are tolerated before the index is rebuilt. */
#define HOLES_MAX 64

struct rank_doc {
	struct rank_memory m; /* id and text are one allocation; NULL: a hole */
	uint32_t len;         /* tokens */
	bool marked;
	int8_t *vec; /* coordinates; NULL: none */
	size_t nvec;
	double norm;
	/* The vector of its spelling, in the same allocation. */
	int8_t *grams;
	double gnorm;
};

struct rank {
	struct map *by_id; /* id → index in docs, + 1 */
	struct rank_doc *docs;
	size_t ndocs, cap_docs, holes;
	uint64_t tokens; /* of all memories */
	struct terms terms;
	double *scores; /* scratch, per memory: words, similarity */
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

/* ---- memories ---- */

static void
rank_index_doc(struct rank *r, uint32_t i)
{
	struct rank_doc *d = &r->docs[i];
	struct tokenizer tokens = tokenizer_start(d->m.text);
	struct token t;

	d->len = 0;
	while (tokenizer_next(&tokens, &t)) {
		terms_count(&r->terms, t.key, i);
		d->len++;
	}
	r->tokens += d->len;
}

static size_t
rank_slot(const struct rank *r, struct str id)
{
	return (size_t)(uintptr_t)map_get(r->by_id, id);
}

static void
rank_set_slot(struct rank *r, size_t i)
{
	(void)map_put(r->by_id, r->docs[i].m.id, (void *)(uintptr_t)(i + 1));
}

/* Rebuild without the holes. */
static void
rank_compact(struct rank *r)
{
	size_t i, n = 0;

	terms_reset(&r->terms);
	r->tokens = 0;
	for (i = 0; i < r->ndocs; i++) {
		if (r->docs[i].m.id.p == NULL)
			continue;
		r->docs[n] = r->docs[i];
		rank_set_slot(r, n);
		rank_index_doc(r, (uint32_t)n++);
	}
	r->ndocs = n;
	r->holes = 0;
}

static size_t
rank_doc_bytes(const struct rank_doc *d)
{
	/* The id is also in the map, with an entry. */
	return 2 * d->m.id.n + d->m.text.n + 2 + 64 + VECTOR_GRAMS_N + d->nvec;
}

static void
rank_spell_doc(struct rank_doc *d, int8_t *x)
{
	float v[VECTOR_GRAMS_N];

	vector_grams(d->m.text, v);
	vector_quantize(v, VECTOR_GRAMS_N, x);
	d->grams = x;
	d->gnorm = vector_norm(x, VECTOR_GRAMS_N);
}

bool
rank_add(struct rank *r, const struct rank_memory *m)
{
	size_t cap;
	struct rank_doc *d;
	char *p;

	if (rank_slot(r, m->id) != 0)
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
	*d = (struct rank_doc){ .m = *m, .marked = true };
	d->m.id.p = p;
	d->m.text.p = p + m->id.n + 1;
	d->m.detail = NULL;
	rank_spell_doc(d, (int8_t *)p + m->id.n + 1 + m->text.n + 1);
	r->bytes += rank_doc_bytes(d);
	rank_set_slot(r, r->ndocs);
	rank_index_doc(r, (uint32_t)r->ndocs++);
	return true;
}

bool
rank_del(struct rank *r, struct str id)
{
	size_t i = rank_slot(r, id);
	struct tokenizer tokens;
	struct token t;
	struct rank_doc *d;

	if (i == 0)
		return false;
	d = &r->docs[--i];
	tokens = tokenizer_start(d->m.text);
	while (tokenizer_next(&tokens, &t)) {
		terms_drop(&r->terms, t.key, (uint32_t)i);
	}
	r->tokens -= d->len;
	r->bytes -= rank_doc_bytes(d);
	(void)map_del(r->by_id, id);
	free(d->vec);
	/* id may be the document's own. */
	free((void *)(uintptr_t)d->m.id.p);
	*d = (struct rank_doc){ 0 };
	r->holes++;
	if (r->holes > HOLES_MAX && r->holes > r->ndocs / 2)
		rank_compact(r);
	return true;
}

void
rank_vector(struct rank *r, struct str id, struct str x)
{
	size_t i = rank_slot(r, id);
	struct rank_doc *d;

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
rank_missing_vectors(
    const struct rank *r, size_t n, const struct rank_memory **out, size_t max)
{
	size_t i, found = 0;

	for (i = 0; i < r->ndocs; i++) {
		const struct rank_doc *d = &r->docs[i];

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
rank_unmark_all(struct rank *r)
{
	size_t i;

	for (i = 0; i < r->ndocs; i++)
		r->docs[i].marked = false;
}

bool
rank_mark(struct rank *r, struct str id)
{
	size_t i = rank_slot(r, id);

	if (i == 0)
		return false;
	r->docs[i - 1].marked = true;
	return true;
}

void
rank_sweep(struct rank *r)
{
	size_t i = 0, n;

	while (i < r->ndocs) {
		n = r->ndocs;
		if (r->docs[i].m.id.p != NULL && !r->docs[i].marked)
			(void)rank_del(r, r->docs[i].m.id);
		/* After a rebuild the rest has moved. */
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

/* ---- queries ---- */

/* Add a token's score to each memory that contains it. */
static void
rank_score_token(struct rank *r, const struct token *token)
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
		const struct rank_doc *d = &r->docs[t->p[i].doc];

		tf = t->p[i].tf;
		r->scores[t->p[i].doc] += weight * tf * (BM25_K1 + 1) /
		    (tf + BM25_K1 * (1 - BM25_B + BM25_B * d->len / mean));
	}
}

static void
rank_reserve_scores(struct rank *r)
{
	if (r->cap_scores >= r->cap_docs)
		return;
	r->bytes += 2 * (r->cap_docs - r->cap_scores) * sizeof(r->scores[0]);
	r->scores = mem_realloc(r->scores, r->cap_docs * sizeof(r->scores[0]));
	r->near = mem_realloc(r->near, r->cap_docs * sizeof(r->near[0]));
	r->cap_scores = r->cap_docs;
}

/* How well the words match: 0 to 1, the best. */
static void
rank_score_words(struct rank *r, struct str text)
{
	struct token tokens[QUERY_MAX];
	size_t i, n = tokenizer_distinct(text, tokens, QUERY_MAX);
	double best = 0;

	for (i = 0; i < r->ndocs; i++)
		r->scores[i] = 0;
	for (i = 0; i < n; i++)
		rank_score_token(r, &tokens[i]);
	for (i = 0; i < r->ndocs; i++)
		best = fmax(best, r->scores[i]);
	for (i = 0; i < r->ndocs && best > 0; i++)
		r->scores[i] /= best;
}

/* How similar they are: 0, the least, to 1. */
static void
rank_score_near(struct rank *r, const struct rank_query *q)
{
	const int8_t *x = (const int8_t *)q->vector.p;
	int8_t grams[VECTOR_GRAMS_N];
	double low = 1, high = -1, norm;
	bool spelling = false;
	struct rank_doc query = { .m.text = q->text };
	size_t i;

	rank_spell_doc(&query, grams);
	norm = vector_norm(x, q->vector.n);
	for (i = 0; i < r->ndocs; i++) {
		const struct rank_doc *d = &r->docs[i];

		if (d->m.id.p == NULL)
			continue;
		if (d->m.has_near)
			r->near[i] = d->m.near;
		else if ((spelling = q->vector.n == 0))
			r->near[i] = vector_cosine(grams, query.gnorm, d->grams,
			    d->gnorm, VECTOR_GRAMS_N);
		else if (d->nvec == q->vector.n)
			r->near[i] =
			    vector_cosine(x, norm, d->vec, d->norm, d->nvec);
		else
			r->near[i] = 0;
		low = fmin(low, r->near[i]);
		high = fmax(high, r->near[i]);
	}
	/*
	 * A little similarity of spelling is chance; of meaning only the order
	 * counts.
	 */
	if (spelling)
		low = SPELLING_NOISE;
	for (i = 0; i < r->ndocs; i++)
		r->near[i] =
		    high > low ? fmax(r->near[i] - low, 0) / (high - low) : 0;
}

static double
rank_recency(struct wall created, struct wall now)
{
	double age = (double)now.ms - (double)created.ms;

	return exp2(-fmax(age, 0) / RECENT_HALF_MS);
}

static bool
rank_hit_before(const struct rank_hit *a, const struct rank_hit *b)
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
	double weight, relevance;

	if (rank_len(r) > 0) {
		rank_reserve_scores(r);
		rank_score_words(r, q->text);
		rank_score_near(r, q);
	}
	for (i = 0; i < r->ndocs; i++) {
		const struct rank_memory *m = &r->docs[i].m;
		struct rank_hit h = { .memory = m };

		if (m->id.p == NULL)
			continue;
		weight = q->vector.n > 0 || m->has_near ? MEANING_WEIGHT
							: SPELLING_WEIGHT;
		h.match = r->scores[i];
		relevance = (1 - weight) * h.match + weight * r->near[i];
		h.score = (1 - RECENT_WEIGHT) * relevance +
		    RECENT_WEIGHT * rank_recency(m->created, q->now);
		for (k = n; k > 0 && rank_hit_before(&h, &hits[k - 1]); k--)
			if (k < q->k)
				hits[k] = hits[k - 1];
		if (k < q->k)
			hits[k] = h;
		if (n < q->k)
			n++;
	}
	return n;
}
