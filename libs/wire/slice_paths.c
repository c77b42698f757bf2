/*
 * Wanted members of a line: the text is validated as UTF-8, then as JSON, with
 * 16 bytes of a string at a time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "wire/slice.h"
#include "wire/wire.h"
#include "wire/wire_internal.h"

/* ---- the table: a tree of keys ---- */

#define NODES_MAX 128
#define NO_NODE   (-1)

struct paths_node {
	struct str key;
	int16_t child, next; /* the first one; the next of the same parent */
	int16_t index;       /* of the path that ends here, or -1 */
};

struct wire_paths {
	size_t n;
	int16_t n_nodes;
	struct paths_node nodes[NODES_MAX]; /* the first one is the text */
};

static void
paths_require(bool ok)
{
	if (!ok)
		abort();
}

/* The child of a node that has a key, which is added if it is new. */
static int16_t
paths_child(struct wire_paths *p, int16_t parent, struct str key)
{
	int16_t *link = &p->nodes[parent].child;

	while (*link != NO_NODE && !str_eq(p->nodes[*link].key, key))
		link = &p->nodes[*link].next;
	if (*link == NO_NODE) {
		paths_require(key.n > 0 && p->n_nodes < NODES_MAX);
		*link = p->n_nodes++;
		p->nodes[*link] =
		    (struct paths_node){ key, NO_NODE, NO_NODE, NO_NODE };
	}
	return *link;
}

struct wire_paths *
wire_paths_new(const char *const *paths, size_t n)
{
	struct wire_paths *p = mem_zalloc(sizeof(*p));

	paths_require(n > 0 && n <= WIRE_PATHS_MAX);
	p->n = n;
	p->n_nodes = 1;
	p->nodes[0] =
	    (struct paths_node){ { NULL, 0 }, NO_NODE, NO_NODE, NO_NODE };
	for (size_t i = 0; i < n; i++) {
		struct str rest = str_of(paths[i]);
		int16_t node = 0;
		size_t keys = 0;

		while (rest.p != NULL) {
			paths_require(++keys <= WIRE_PATH_KEYS_MAX);
			node = paths_child(p, node, str_split(&rest, '.'));
		}
		paths_require(p->nodes[node].index == NO_NODE);
		p->nodes[node].index = (int16_t)i;
	}
	return p;
}

void
wire_paths_free(struct wire_paths *p)
{
	free(p);
}

/* ---- strings ---- */

/* Past a string, whose quote is at s->p; *escaped: it has escapes. */
static inline bool
paths_string(struct wire_scan *s, bool *escaped)
{
	const char *p = s->p + 1;

	*escaped = false;
	for (;;) {
		p = wire_scan_special(p, s->end);
		if (p == s->end)
			return false;
		if (*p == '"') {
			s->p = p + 1;
			return true;
		}
		if (*p != '\\')
			return false;
		*escaped = true;
		p = wire_scan_escape(s, p);
		if (p == NULL)
			return false;
	}
}

/* ---- one text ---- */

/* An open object or array. */
struct paths_level {
	const char *from;
	int16_t node; /* whose members are wanted, or NO_NODE */
	bool object;
};

struct paths_run {
	struct wire_scan s;
	const struct wire_paths *paths;
	struct wire_found *found;
	uint64_t seen[NODES_MAX / 64];
	int16_t node; /* of the value that is next */
	size_t depth;
	struct paths_level open[WIRE_DEPTH_MAX];
};

static void
paths_take_value(
    struct paths_run *r, int16_t node, const char *from, bool escaped)
{
	int16_t index = node != NO_NODE ? r->paths->nodes[node].index : NO_NODE;

	if (index == NO_NODE)
		return;
	r->found[index].value = (struct str){ from, (size_t)(r->s.p - from) };
	r->found[index].escaped = escaped;
}

/* Whether a key without escapes is another; most differ in their first byte. */
static inline bool
paths_key_is(struct str key, struct str text)
{
	return key.n == text.n &&
	    (key.n == 0 ||
		(key.p[0] == text.p[0] && memcmp(key.p, text.p, key.n) == 0));
}

/* Whether a key with escapes means the text of another. */
static bool
paths_key_means(struct str key, struct str text)
{
	struct buf b = BUF_INIT(key.n);
	bool same;

	wire_text_put(key, &b);
	same = str_eq(buf_str(&b), text);
	buf_free(&b);
	return same;
}

/* The node of a member; false: the object had the member before. */
static inline bool
paths_member(struct paths_run *r, struct str key, bool escaped)
{
	int16_t parent = r->open[r->depth - 1].node;
	int16_t node;

	r->node = NO_NODE;
	if (parent == NO_NODE)
		return true;
	node = r->paths->nodes[parent].child;
	for (; node != NO_NODE; node = r->paths->nodes[node].next) {
		struct str wanted = r->paths->nodes[node].key;

		if (escaped ? paths_key_means(key, wanted)
			    : paths_key_is(key, wanted))
			break;
	}
	if (node == NO_NODE)
		return true;
	uint64_t bit = UINT64_C(1) << (node & 63);
	if ((r->seen[node >> 6] & bit) != 0)
		return false;
	r->seen[node >> 6] |= bit;
	r->node = node;
	return true;
}

/* Past a key and its colon, up to the value. */
static inline bool
paths_key(struct paths_run *r)
{
	struct wire_scan *s = &r->s;
	const char *from;
	bool escaped;

	wire_scan_space(s);
	if (s->p == s->end || *s->p != '"')
		return false;
	from = s->p + 1;
	if (!paths_string(s, &escaped) ||
	    !paths_member(
		r, (struct str){ from, (size_t)(s->p - 1 - from) }, escaped) ||
	    !wire_scan_take(s, ':'))
		return false;
	wire_scan_space(s);
	return true;
}

/* A short integer, which most numbers are; false: it may be another number. */
static inline bool
paths_integer(struct wire_scan *s)
{
	const char *p = s->p;

	while (s->end - p > 1 && p - s->p < 18 && *p >= '0' && *p <= '9')
		p++;
	if (p == s->p || (*s->p == '0' && p - s->p > 1) ||
	    (*p >= '0' && *p <= '9') || *p == '.' || (*p | 0x20) == 'e')
		return false;
	s->p = p;
	return true;
}

/* Past an open bracket, up to the first value, if there is one. */
static bool
paths_open(struct paths_run *r, bool *whole)
{
	struct wire_scan *s = &r->s;
	struct paths_level *l = &r->open[r->depth];
	bool object = *s->p == '{';

	if (r->depth == WIRE_DEPTH_MAX)
		return false;
	r->depth++;
	*l = (struct paths_level){ s->p, object ? r->node : NO_NODE, object };
	/* An array's value counts, its elements do not. */
	if (!object && r->node != NO_NODE &&
	    r->paths->nodes[r->node].index != NO_NODE)
		l->node = r->node;
	s->p++;
	*whole = wire_scan_take(s, object ? '}' : ']');
	if (*whole) {
		r->depth--;
		paths_take_value(r, l->node, l->from, false);
		return true;
	}
	if (object)
		return paths_key(r);
	r->node = NO_NODE;
	wire_scan_space(s);
	return true;
}

/* Past a value, or up to the first value in it. */
static inline bool
paths_begin_value(struct paths_run *r, bool *whole)
{
	struct wire_scan *s = &r->s;
	const char *from = s->p;
	bool escaped = false, ok;

	*whole = true;
	if (from == s->end)
		return false;
	switch (*from) {
	case '"':
		ok = paths_string(s, &escaped);
		break;
	case 't':
		ok = wire_scan_word(s, STR("true"));
		break;
	case 'f':
		ok = wire_scan_word(s, STR("false"));
		break;
	case 'n':
		ok = wire_scan_word(s, STR("null"));
		break;
	case '{':
	case '[':
		return paths_open(r, whole);
	default:
		ok = paths_integer(s) || wire_scan_number(s);
		break;
	}
	if (ok)
		paths_take_value(r, r->node, from, escaped);
	return ok;
}

/* Past the ends behind a value, up to the next one; *more: there is one. */
static inline bool
paths_next_value(struct paths_run *r, bool *more)
{
	struct wire_scan *s = &r->s;

	for (*more = false; r->depth > 0;) {
		const struct paths_level *l = &r->open[r->depth - 1];

		wire_scan_space(s);
		if (s->p == s->end)
			return false;
		if (*s->p == ',') {
			s->p++;
			*more = true;
			if (l->object)
				return paths_key(r);
			r->node = NO_NODE;
			wire_scan_space(s);
			return true;
		}
		if (*s->p != (l->object ? '}' : ']'))
			return false;
		s->p++;
		r->depth--;
		paths_take_value(r, l->node, l->from, false);
	}
	return true;
}

enum rc
wire_slice_paths(
    const struct wire_paths *p, struct str in, struct wire_found *found)
{
	struct paths_run r;
	bool more = true, whole, ok = true;

	memset(found, 0, p->n * sizeof(*found));
	if (in.n == 0 || !wire_scan_utf8(in))
		return RC_INVALID;
	wire_scan_begin(&r.s, in);
	r.paths = p;
	r.found = found;
	memset(r.seen, 0, sizeof(r.seen));
	r.node = 0;
	r.depth = 0;
	wire_scan_space(&r.s);
	while (ok && more) {
		ok = paths_begin_value(&r, &whole);
		if (ok && whole)
			ok = paths_next_value(&r, &more);
	}
	wire_scan_space(&r.s);
	ok = ok && r.s.p == r.s.end;
	wire_scan_end(&r.s);
	return ok ? RC_OK : RC_INVALID;
}

/* ---- values ---- */

void
wire_text_put(struct str inside, struct buf *b)
{
	const struct wire_scan_text text = { inside.p, (uint32_t)inside.n,
		true };

	wire_scan_put_text(&text, b);
}

void
wire_found_put(const struct wire_found *f, struct buf *b)
{
	struct str inside = wire_found_inside(f);

	if (f->escaped)
		wire_text_put(inside, b);
	else
		buf_put_str(b, inside);
}

enum rc
wire_found_i64(const struct wire_found *f, int64_t *v)
{
	return str_to_i64(f->value, INT64_MIN, INT64_MAX, v);
}

bool
wire_line_next(struct str *text, struct str *line)
{
	const char *end;
	size_t n;

	if (text->n == 0)
		return false;
	end = memchr(text->p, '\n', text->n);
	if (end == NULL)
		return false;
	n = (size_t)(end - text->p);
	*line = (struct str){ text->p, n };
	if (n > 0 && line->p[n - 1] == '\r')
		line->n--;
	text->p += n + 1;
	text->n -= n + 1;
	return true;
}
