/*
 * A trie over code points whose edges are in one hash table, with failure links
 * and links to the next shorter word that ends at the same position.
 */
#include "text/automaton.h"

#include <stdlib.h>

#include "core/mem.h"

/* As many hits are sorted without qsort(), which copies them. */
#define INSERTION_MAX 32
/* Beyond all code points. */
#define INVALID   0x200000U
#define NODES_MIN 64
#define EDGES_MIN 256
#define NONE      0 /* index 0: the root, which is never a child */

struct automaton_node {
	uint32_t fail;   /* the longest proper suffix that is in the trie */
	uint32_t output; /* nearest node on the path of fail that ends words */
	uint32_t first;  /* its words: index + 1 into ends, or NONE */
	uint32_t depth;  /* bytes from the root */
};

/* Words that end at one node form a list. */
struct end {
	uint32_t word, next;
};

/* from and c are the key; to NONE: free. */
struct automaton_edge {
	uint32_t from, to;
	uint32_t c;
};

struct automaton {
	struct automaton_node *nodes;
	struct end *ends;
	struct automaton_edge *edges;
	size_t n_nodes, cap_nodes, n_ends, cap_ends, n_edges, cap_edges;
};

/* The code point at *pos, which is advanced; a byte that is none by itself. */
static uint32_t
automaton_char(struct str s, size_t *pos)
{
	int32_t c = str_utf8_next(s, pos);

	if (c >= 0)
		return (uint32_t)c;
	return INVALID + (unsigned char)s.p[(*pos)++];
}

static inline size_t
automaton_slot(const struct automaton *m, uint32_t from, uint32_t c)
{
	uint64_t h = ((uint64_t)from << 32 | c) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)(h >> 32) & (m->cap_edges - 1);

	while (m->edges[i].to != NONE &&
	    (m->edges[i].from != from || m->edges[i].c != c))
		i = (i + 1) & (m->cap_edges - 1);
	return i;
}

static inline uint32_t
automaton_child(const struct automaton *m, uint32_t from, uint32_t c)
{
	return m->edges[automaton_slot(m, from, c)].to;
}

static void
automaton_grow_edges(struct automaton *m)
{
	struct automaton_edge *old = m->edges;
	size_t i, n = m->cap_edges;

	m->cap_edges = n == 0 ? EDGES_MIN : 2 * n;
	m->edges = mem_calloc(m->cap_edges, sizeof(*m->edges));
	for (i = 0; i < n; i++) {
		if (old[i].to != NONE)
			m->edges[automaton_slot(m, old[i].from, old[i].c)] =
			    old[i];
	}
	free(old);
}

static uint32_t
automaton_add_node(struct automaton *m, uint32_t depth)
{
	if (m->n_nodes == m->cap_nodes) {
		m->cap_nodes = m->cap_nodes == 0 ? NODES_MIN : 2 * m->cap_nodes;
		m->nodes =
		    mem_realloc(m->nodes, m->cap_nodes * sizeof(*m->nodes));
	}
	m->nodes[m->n_nodes] = (struct automaton_node){ .depth = depth };
	return (uint32_t)m->n_nodes++;
}

struct automaton *
automaton_new(void)
{
	struct automaton *m = mem_zalloc(sizeof(*m));

	automaton_grow_edges(m);
	(void)automaton_add_node(m, 0);
	return m;
}

static uint32_t
automaton_add_child(
    struct automaton *m, uint32_t from, uint32_t c, uint32_t depth)
{
	uint32_t to = automaton_child(m, from, c);

	if (to != NONE)
		return to;
	to = automaton_add_node(m, depth);
	if (2 * ++m->n_edges > m->cap_edges)
		automaton_grow_edges(m);
	m->edges[automaton_slot(m, from, c)] =
	    (struct automaton_edge){ from, to, c };
	return to;
}

void
automaton_add(struct automaton *m, struct str text, uint32_t word)
{
	uint32_t at = 0, c;
	size_t pos = 0;

	if (text.n == 0)
		return;
	while (pos < text.n) {
		c = automaton_char(text, &pos);
		at = automaton_add_child(m, at, c, (uint32_t)pos);
	}
	if (m->n_ends == m->cap_ends) {
		m->cap_ends = m->cap_ends == 0 ? NODES_MIN : 2 * m->cap_ends;
		m->ends = mem_realloc(m->ends, m->cap_ends * sizeof(*m->ends));
	}
	m->ends[m->n_ends] = (struct end){ word, m->nodes[at].first };
	m->nodes[at].first = (uint32_t)++m->n_ends;
}

static inline uint32_t
automaton_step(const struct automaton *m, uint32_t at, uint32_t c)
{
	uint32_t to;

	while ((to = automaton_child(m, at, c)) == NONE && at != 0)
		at = m->nodes[at].fail;
	return to;
}

static void
automaton_link_node(struct automaton *m, const struct automaton_edge *e)
{
	struct automaton_node *n = &m->nodes[e->to];

	n->fail =
	    e->from == 0 ? 0 : automaton_step(m, m->nodes[e->from].fail, e->c);
	n->output = m->nodes[n->fail].first != NONE ? n->fail
						    : m->nodes[n->fail].output;
}

/* Edges by depth: the links of a node depend on those of shorter ones. */
static void
automaton_sort_edges(
    const struct automaton *m, const struct automaton_edge **dst)
{
	size_t i, deepest = 0, sum = 0, n, *at;

	for (i = 0; i < m->n_nodes; i++) {
		if (m->nodes[i].depth > deepest)
			deepest = m->nodes[i].depth;
	}
	at = mem_calloc(deepest + 1, sizeof(*at));
	for (i = 0; i < m->n_nodes; i++)
		at[m->nodes[i].depth]++;
	at[0] = 0;
	for (i = 0; i <= deepest; i++) {
		n = at[i];
		at[i] = sum;
		sum += n;
	}
	for (i = 0; i < m->cap_edges; i++) {
		if (m->edges[i].to != NONE)
			dst[at[m->nodes[m->edges[i].to].depth]++] =
			    &m->edges[i];
	}
	free(at);
}

void
automaton_build(struct automaton *m)
{
	const struct automaton_edge **order =
	    mem_calloc(m->n_edges + 1, sizeof(*order));
	size_t i;

	automaton_sort_edges(m, order);
	for (i = 0; i < m->n_edges; i++)
		automaton_link_node(m, order[i]);
	free(order);
}

void
automaton_free(struct automaton *m)
{
	if (m == NULL)
		return;
	free(m->nodes);
	free(m->ends);
	free(m->edges);
	free(m);
}

size_t
automaton_bytes(const struct automaton *m)
{
	return sizeof(*m) + m->cap_nodes * sizeof(*m->nodes) +
	    m->cap_ends * sizeof(*m->ends) + m->cap_edges * sizeof(*m->edges);
}

/* The words that end at this node. */
static size_t
automaton_emit(const struct automaton *m, uint32_t node, size_t end,
    struct automaton_hit *dst, size_t max)
{
	uint32_t i, start = (uint32_t)end - m->nodes[node].depth;
	size_t n = 0;

	for (i = m->nodes[node].first; i != NONE && n < max;
	     i = m->ends[i - 1].next)
		dst[n++] = (struct automaton_hit){ start, (uint32_t)end,
			m->ends[i - 1].word };
	return n;
}

size_t
automaton_scan(const struct automaton *m, struct str text,
    struct automaton_hit *dst, size_t max)
{
	uint32_t at = 0, o;
	size_t pos = 0, n = 0;

	while (pos < text.n && n < max) {
		at = automaton_step(m, at, automaton_char(text, &pos));
		if (at == 0)
			continue;
		o = m->nodes[at].first != NONE ? at : m->nodes[at].output;
		for (; o != 0; o = m->nodes[o].output)
			n += automaton_emit(m, o, pos, dst + n, max - n);
	}
	return n;
}

void
automaton_sort(struct automaton_hit *hits, size_t n,
    int (*cmp)(const void *a, const void *b))
{
	struct automaton_hit h;
	size_t i, at;

	if (n > INSERTION_MAX) {
		qsort(hits, n, sizeof(*hits), cmp);
		return;
	}
	for (i = 1; i < n; i++) {
		h = hits[i];
		for (at = i; at > 0 && cmp(&hits[at - 1], &h) > 0; at--)
			hits[at] = hits[at - 1];
		hits[at] = h;
	}
}
