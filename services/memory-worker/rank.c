/*
 * An inverted index that can be changed: a removed memory's postings are found
 * by reading its text again, so counts and mean length are always exact.
 */
#include "rank.h"

#include <math.h>
#include <stdlib.h>

#include "core/map.h"
#include "core/mem.h"
#include "tokens.h"

/* BM25: how fast repetition saturates, how much length counts. */
#define BM25_K1 1.2
#define BM25_B  0.75
/* A single character says less than a pair or a word. */
#define CHAR_WEIGHT 0.2
/* How much being recent counts, and when that is halved. */
#define RECENT_WEIGHT  0.1
#define RECENT_HALF_MS (30.0 * 86400000)
/* Different tokens of a query that count. */
#define QUERY_MAX 512
/* Places of removed memories that are borne before all are made anew. */
#define HOLES_MAX 64

struct posting {
	uint32_t doc;
	uint32_t tf;
};

struct term {
	uint64_t key;
	struct posting *p; /* by doc, ascending */
	uint32_t n, cap;
};

struct doc {
	struct rank_memory m; /* id and text are one heap piece; NULL: a hole */
	uint32_t len;         /* tokens */
	bool kept;
};

struct rank {
	uint64_t seed;
	struct map *by_id; /* id → its place in docs, + 1 */
	struct doc *docs;
	size_t ndocs, cap_docs, holes;
	uint64_t tokens; /* of all */
	struct term *terms;
	size_t nterms, cap_terms;
	uint32_t *slots; /* hash table: place in terms, + 1 */
	size_t nslots;   /* a power of two */
	double *scores;  /* scratch, of each doc */
	size_t cap_scores;
	size_t bytes;
};

struct rank *
rank_new(uint64_t seed)
{
	struct rank *r = mem_zalloc(sizeof(*r));

	r->seed = seed;
	r->by_id = map_new();
	r->bytes = sizeof(*r);
	return r;
}

static void
terms_free(struct rank *r)
{
	size_t i;

	for (i = 0; i < r->nterms; i++)
		free(r->terms[i].p);
	free(r->terms);
	free(r->slots);
	r->terms = NULL;
	r->slots = NULL;
	r->nterms = 0;
	r->cap_terms = 0;
	r->nslots = 0;
}

void
rank_free(struct rank *r)
{
	size_t i;

	if (r == NULL)
		return;
	terms_free(r);
	for (i = 0; i < r->ndocs; i++)
		free((void *)(uintptr_t)r->docs[i].m.id.p);
	free(r->docs);
	free(r->scores);
	map_free(r->by_id);
	free(r);
}

/* ---- terms ----------------------------------------------------------------
 */

/* The finaliser of splitmix64. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The slot of a term, or the empty one where it belongs. */
static size_t
slot_of(const struct rank *r, uint64_t key)
{
	size_t i = (size_t)mix(key ^ r->seed) & (r->nslots - 1);

	while (r->slots[i] != 0 && r->terms[r->slots[i] - 1].key != key)
		i = (i + 1) & (r->nslots - 1);
	return i;
}

static struct term *
term_find(const struct rank *r, uint64_t key)
{
	size_t i;

	if (r->nslots == 0)
		return NULL;
	i = slot_of(r, key);
	return r->slots[i] != 0 ? &r->terms[r->slots[i] - 1] : NULL;
}

static void
terms_grow(struct rank *r)
{
	size_t i, cap = r->cap_terms == 0 ? 64 : 2 * r->cap_terms;

	r->bytes += (cap - r->cap_terms) * sizeof(r->terms[0]);
	r->bytes += (2 * cap - r->nslots) * sizeof(r->slots[0]);
	r->terms = mem_realloc(r->terms, cap * sizeof(r->terms[0]));
	r->cap_terms = cap;
	free(r->slots);
	r->nslots = 2 * cap;
	r->slots = mem_calloc(r->nslots, sizeof(r->slots[0]));
	for (i = 0; i < r->nterms; i++)
		r->slots[slot_of(r, r->terms[i].key)] = (uint32_t)i + 1;
}

static struct term *
term_make(struct rank *r, uint64_t key)
{
	struct term *t = term_find(r, key);

	if (t != NULL)
		return t;
	if (r->nterms == r->cap_terms)
		terms_grow(r);
	t = &r->terms[r->nterms++];
	*t = (struct term){ .key = key };
	r->slots[slot_of(r, key)] = (uint32_t)r->nterms;
	return t;
}

/* One more of the term in a doc, which is the newest. */
static void
term_count(struct rank *r, struct term *t, uint32_t doc)
{
	uint32_t cap;

	if (t->n > 0 && t->p[t->n - 1].doc == doc) {
		t->p[t->n - 1].tf++;
		return;
	}
	if (t->n == t->cap) {
		cap = t->cap == 0 ? 2 : 2 * t->cap;
		r->bytes += (cap - t->cap) * sizeof(t->p[0]);
		t->p = mem_realloc(t->p, cap * sizeof(t->p[0]));
		t->cap = cap;
	}
	t->p[t->n++] = (struct posting){ doc, 1 };
}

static void
term_drop(struct term *t, uint32_t doc)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (t->p[mid].doc < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Its other tokens of this term have done it. */
	if (lo == t->n || t->p[lo].doc != doc)
		return;
	t->n--;
	memmove(&t->p[lo], &t->p[lo + 1], (t->n - lo) * sizeof(t->p[0]));
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
		term_count(r, term_make(r, t.key), i);
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

	for (i = 0; i < r->nterms; i++)
		r->bytes -= r->terms[i].cap * sizeof(r->terms[0].p[0]);
	r->bytes -= r->cap_terms * sizeof(r->terms[0]);
	r->bytes -= r->nslots * sizeof(r->slots[0]);
	terms_free(r);
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
	return 2 * d->m.id.n + d->m.text.n + 2 + 64;
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
	p = mem_alloc(m->id.n + 1 + m->text.n + 1);
	str_copy(m->id, p, m->id.n + 1);
	str_copy(m->text, p + m->id.n + 1, m->text.n + 1);
	d = &r->docs[r->ndocs];
	*d = (struct doc){ .m = *m, .kept = true };
	d->m.id.p = p;
	d->m.text.p = p + m->id.n + 1;
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
	struct term *term;
	struct token t;
	struct doc *d;

	if (i == 0)
		return false;
	d = &r->docs[--i];
	walk = tokens_of(d->m.text);
	while (tokens_next(&walk, &t)) {
		term = term_find(r, t.key);
		if (term != NULL)
			term_drop(term, (uint32_t)i);
	}
	r->tokens -= d->len;
	r->bytes -= doc_bytes(d);
	(void)map_del(r->by_id, id);
	/* id may be the doc's own. */
	free((void *)(uintptr_t)d->m.id.p);
	*d = (struct doc){ 0 };
	r->holes++;
	if (r->holes > HOLES_MAX && r->holes > r->ndocs / 2)
		rebuild(r);
	return true;
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
	for (i = 0; i < r->ndocs; i++)
		r->docs[i].kept = false;
}

size_t
rank_len(const struct rank *r)
{
	return r->ndocs - r->holes;
}

size_t
rank_bytes(const struct rank *r)
{
	return r->bytes;
}

/* ---- questions -------------------------------------------------------------
 */

/* The different tokens of a text; how many. */
static size_t
query_tokens(struct str text, struct token *dst)
{
	struct tokens walk = tokens_of(text);
	struct token t;
	size_t i, n = 0;

	while (n < QUERY_MAX && tokens_next(&walk, &t)) {
		for (i = 0; i < n && dst[i].key != t.key; i++)
			continue;
		if (i == n)
			dst[n++] = t;
	}
	return n;
}

size_t
rank_common(struct str a, struct str b)
{
	struct token tokens[QUERY_MAX], t;
	size_t i, n = query_tokens(a, tokens), common = 0;
	struct tokens walk = tokens_of(b);

	while (tokens_next(&walk, &t)) {
		if (t.kind == TOKEN_CHAR)
			continue;
		for (i = 0; i < n && tokens[i].key != t.key; i++)
			continue;
		if (i == n)
			continue;
		common++;
		tokens[i] = tokens[--n];
	}
	return common;
}

/* Add what a token says of each memory that has it. */
static void
score_token(struct rank *r, const struct token *token)
{
	const struct term *t = term_find(r, token->key);
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

/* The best match there is. */
static double
score_all(struct rank *r, struct str text)
{
	struct token tokens[QUERY_MAX];
	size_t i, n = query_tokens(text, tokens);
	double best = 0;

	if (r->cap_scores < r->cap_docs) {
		r->bytes +=
		    (r->cap_docs - r->cap_scores) * sizeof(r->scores[0]);
		r->scores =
		    mem_realloc(r->scores, r->cap_docs * sizeof(r->scores[0]));
		r->cap_scores = r->cap_docs;
	}
	for (i = 0; i < r->ndocs; i++)
		r->scores[i] = 0;
	for (i = 0; i < n; i++)
		score_token(r, &tokens[i]);
	for (i = 0; i < r->ndocs; i++)
		best = fmax(best, r->scores[i]);
	return best;
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
	double best = rank_len(r) > 0 ? score_all(r, q->text) : 0;
	size_t i, k, n = 0;

	for (i = 0; i < r->ndocs; i++) {
		const struct rank_memory *m = &r->docs[i].m;
		struct rank_hit h = { .memory = m };

		if (m->id.p == NULL)
			continue;
		if (best > 0)
			h.match = r->scores[i] / best;
		h.score = (1 - RECENT_WEIGHT) * h.match +
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
