#include "tool_rank.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "search/tokenizer.h"

/* BM25: saturation of repetition, influence of length. */
#define RANK_K1 1.2
#define RANK_B  0.75
/* How often a token counts, by where it is. */
#define RANK_NAME_WEIGHT  3
#define RANK_TITLE_WEIGHT 2
#define RANK_TEXT_WEIGHT  1
/* A single character is less significant than a pair or a word. */
#define RANK_CHAR_WEIGHT 0.2

/* A token of a tool. */
struct rank_posting {
	uint64_t key;
	uint32_t tool;
	uint32_t count;
};

struct tool_rank {
	struct rank_posting *all; /* by key, then by tool */
	size_t n_all, cap;
	uint32_t *length; /* tokens of each tool, weighted */
	double *score;    /* of the query */
	size_t n;
	double mean_length;
	size_t work;
};

/* ---- the index ---- */

static void
rank_add_token(struct tool_rank *r, uint64_t key, size_t tool, uint32_t weight)
{
	if (r->n_all == r->cap) {
		r->cap = r->cap == 0 ? 256 : 2 * r->cap;
		r->all = mem_realloc(r->all, r->cap * sizeof(*r->all));
	}
	r->all[r->n_all++] =
	    (struct rank_posting){ key, (uint32_t)tool, weight };
	r->length[tool] += weight;
}

static void
rank_add_text(
    struct tool_rank *r, struct str text, size_t tool, uint32_t weight)
{
	struct tokenizer it = tokenizer_start(text);
	struct token t;

	while (tokenizer_next(&it, &t))
		rank_add_token(r, t.key, tool, weight);
}

static bool
rank_is_lower(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* The words of a name, also of one like readFile. */
static void
rank_add_name(struct tool_rank *r, struct str name, size_t tool)
{
	struct buf b = BUF_INIT(2 * TOOL_RANK_TEXT_MAX);
	size_t i;

	for (i = 0; i < name.n; i++) {
		if (i > 0 && name.p[i] >= 'A' && name.p[i] <= 'Z' &&
		    rank_is_lower(name.p[i - 1]))
			buf_putc(&b, ' ');
		buf_putc(&b, name.p[i]);
	}
	rank_add_text(r, buf_str(&b), tool, RANK_NAME_WEIGHT);
	buf_free(&b);
}

static int
rank_compare_postings(const void *a, const void *b)
{
	const struct rank_posting *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->tool < y->tool ? -1 : x->tool > y->tool;
}

/* Sort, and make one of those with the same token and tool. */
static void
rank_merge_postings(struct tool_rank *r)
{
	size_t i, n = 0;

	if (r->n_all == 0)
		return;
	qsort(r->all, r->n_all, sizeof(*r->all), rank_compare_postings);
	for (i = 1; i < r->n_all; i++)
		if (rank_compare_postings(&r->all[n], &r->all[i]) == 0)
			r->all[n].count += r->all[i].count;
		else
			r->all[++n] = r->all[i];
	r->n_all = n + 1;
}

static struct str
rank_cut(struct str s)
{
	s.n = s.n < TOOL_RANK_TEXT_MAX ? s.n : TOOL_RANK_TEXT_MAX;
	return s;
}

struct tool_rank *
tool_rank_new(const struct tool_rank_text *list, size_t n)
{
	struct tool_rank *r = mem_zalloc(sizeof(*r));
	double sum = 0;
	size_t i;

	r->n = n;
	r->length = mem_calloc(n + 1, sizeof(*r->length));
	r->score = mem_calloc(n + 1, sizeof(*r->score));
	for (i = 0; i < n; i++) {
		rank_add_name(r, rank_cut(list[i].name), i);
		rank_add_text(r, rank_cut(list[i].title), i, RANK_TITLE_WEIGHT);
		rank_add_text(
		    r, rank_cut(list[i].description), i, RANK_TEXT_WEIGHT);
		sum += r->length[i];
	}
	r->mean_length = n > 0 && sum > 0 ? sum / (double)n : 1;
	rank_merge_postings(r);
	return r;
}

void
tool_rank_free(struct tool_rank *r)
{
	if (r == NULL)
		return;
	free(r->all);
	free(r->length);
	free(r->score);
	free(r);
}

/* ---- a query ---- */

/* The first entry of a token, or the place where it would be. */
static size_t
rank_search(struct tool_rank *r, uint64_t key)
{
	size_t lo = 0, hi = r->n_all, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		r->work++;
		if (r->all[mid].key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void
rank_score_token(struct tool_rank *r, const struct token *t)
{
	size_t from = rank_search(r, t->key), to, i;
	double idf, tf, df;

	for (to = from; to < r->n_all && r->all[to].key == t->key; to++)
		continue;
	df = (double)(to - from);
	idf = log(1 + ((double)r->n - df + 0.5) / (df + 0.5));
	if (t->kind == TOKEN_CHAR)
		idf *= RANK_CHAR_WEIGHT;
	for (i = from; i < to; i++) {
		const struct rank_posting *p = &r->all[i];

		tf = p->count;
		r->score[p->tool] += idf * tf * (RANK_K1 + 1) /
		    (tf +
			RANK_K1 *
			    (1 - RANK_B +
				RANK_B * r->length[p->tool] / r->mean_length));
	}
	r->work += to - from;
}

/* Insert the tool among the n best, of which there may be max. */
static size_t
rank_insert(
    const struct tool_rank *r, uint32_t *out, size_t n, size_t max, uint32_t i)
{
	size_t at;

	if (n == max && (max == 0 || r->score[out[n - 1]] >= r->score[i]))
		return n;
	for (at = n < max ? n++ : n - 1;
	     at > 0 && r->score[out[at - 1]] < r->score[i]; at--)
		out[at] = out[at - 1];
	out[at] = i;
	return n;
}

size_t
tool_rank_find(
    struct tool_rank *r, const struct tool_rank_query *q, uint32_t *out)
{
	struct token tokens[TOOL_RANK_QUERY_MAX];
	size_t i, n, first = 0;

	r->work = 0;
	memset(r->score, 0, r->n * sizeof(*r->score));
	n = tokenizer_distinct(q->text, tokens, NELEM(tokens));
	for (i = 0; i < n; i++)
		rank_score_token(r, &tokens[i]);
	/* A score below 0 marks what is in out already. */
	for (i = 0; i < q->n_first && first < q->max; i++)
		if (q->first[i] < r->n && r->score[q->first[i]] >= 0) {
			out[first++] = q->first[i];
			r->score[q->first[i]] = -1;
		}
	for (i = 0, n = 0; i < r->n; i++)
		if (r->score[i] >= 0)
			n = rank_insert(
			    r, out + first, n, q->max - first, (uint32_t)i);
	return first + n;
}

size_t
tool_rank_work(const struct tool_rank *r)
{
	return r->work;
}
