/*
 * Static analysis of patterns: literals that every match contains, and
 * unmatched spans.
 */
#include <stdbool.h>

#include "catalog/catalog_internal.h"
#include "core/buf.h"

/* ---- literals ---- */

/*
 * A parser of a subset of the pattern language.  Of a sequence it takes the
 * part with the longest texts; of alternatives it takes all.
 */

#define DEPTH_MAX 8

struct literal_parser {
	struct str s;
	size_t at;
	bool failed; /* unsupported syntax */
	size_t depth;
};

static void literal_parse_alternatives(
    struct literal_parser *r, struct pattern_literals *out);

static int
literal_peek(const struct literal_parser *r)
{
	return r->at < r->s.n ? (unsigned char)r->s.p[r->at] : -1;
}

static size_t
literal_shortest(const struct pattern_literals *l)
{
	size_t i, least = 0;

	for (i = 0; i < l->n; i++) {
		if (i == 0 || l->len[i] < least)
			least = l->len[i];
	}
	return least;
}

/* Both sets are required: take the better one. */
static void
literal_prefer(
    struct pattern_literals *best, const struct pattern_literals *other)
{
	if (other->n > 0 &&
	    (best->n == 0 || literal_shortest(other) > literal_shortest(best)))
		*best = *other;
}

/* A run of literal characters. */
struct literal_run {
	char text[LITERAL_BYTES];
	size_t n, last; /* last: where its last character begins */
};

static void
literal_run_end(struct literal_run *run, struct pattern_literals *best)
{
	struct pattern_literals one;

	if (run->n > 0) {
		one.n = 1;
		one.len[0] = run->n;
		memcpy(one.text[0], run->text, run->n);
		literal_prefer(best, &one);
	}
	run->n = run->last = 0;
}

static void
literal_run_put(struct literal_run *run, const char *p, size_t n,
    struct pattern_literals *best)
{
	size_t i;

	if (run->n + n > sizeof(run->text))
		literal_run_end(run, best);
	run->last = run->n;
	for (i = 0; i < n; i++)
		run->text[run->n++] =
		    p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] + 32) : p[i];
}

/* A quantifier; *optional if it allows zero repetitions. */
static bool
literal_parse_repeat(struct literal_parser *r, bool *optional)
{
	int c = literal_peek(r);

	*optional = c == '?' || c == '*';
	if (c == '{') {
		*optional = r->at + 1 >= r->s.n || r->s.p[r->at + 1] == '0' ||
		    r->s.p[r->at + 1] == ',';
		while (literal_peek(r) >= 0 && literal_peek(r) != '}')
			r->at++;
	} else if (c != '?' && c != '*' && c != '+') {
		return false;
	}
	r->at++;
	/* Lazy or possessive. */
	if (literal_peek(r) == '?' || literal_peek(r) == '+')
		r->at++;
	return true;
}

static void
literal_skip_class(struct literal_parser *r)
{
	r->at++;
	if (literal_peek(r) == '^')
		r->at++;
	if (literal_peek(r) == ']')
		r->at++;
	while (literal_peek(r) >= 0 && literal_peek(r) != ']') {
		/* [[:alpha:]] is not supported. */
		if (literal_peek(r) == '[')
			r->failed = true;
		r->at += literal_peek(r) == '\\' ? 2 : 1;
	}
	r->at++;
}

/* The literals of a group; none for a look-around. */
static void
literal_parse_group(struct literal_parser *r, struct pattern_literals *out)
{
	bool is_plain = true;

	out->n = 0;
	r->at++;
	if (literal_peek(r) == '?') {
		is_plain = str_starts(
		    (struct str){ r->s.p + r->at, r->s.n - r->at }, STR("?:"));
		if (!is_plain) {
			r->failed = true;
			return;
		}
		r->at += 2;
	} else if (literal_peek(r) == '*') {
		r->failed = true;
		return;
	}
	if (++r->depth > DEPTH_MAX)
		r->failed = true;
	else
		literal_parse_alternatives(r, out);
	r->depth--;
	if (literal_peek(r) != ')')
		r->failed = true;
	r->at++;
}

/* An escape: a plain character, a class, an assertion, or unknown. */
static void
literal_parse_escape(struct literal_parser *r, struct literal_run *run,
    struct pattern_literals *best)
{
	int c = r->at + 1 < r->s.n ? (unsigned char)r->s.p[r->at + 1] : -1;
	bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9');

	if (c < 0 || c >= 0x80 || (letter && strchr("dDwWsSbB", c) == NULL)) {
		r->failed = true;
		return;
	}
	if (letter)
		literal_run_end(run, best);
	else
		literal_run_put(run, r->s.p + r->at + 1, 1, best);
	r->at += 2;
}

static void
literal_parse_plain(struct literal_parser *r, struct literal_run *run,
    struct pattern_literals *best)
{
	size_t start = r->at;
	int32_t c = str_utf8_next(r->s, &r->at);

	/* Case folding beyond ASCII is not supported. */
	if (c < 0 || (c >= 0x80 && c < 0x2e80)) {
		r->failed = true;
		return;
	}
	literal_run_put(run, r->s.p + start, r->at - start, best);
}

/* One item of a sequence; the literals of a group go to *group. */
static void
literal_parse_item(struct literal_parser *r, struct literal_run *run,
    struct pattern_literals *best, struct pattern_literals *group)
{
	int c = literal_peek(r);

	group->n = 0;
	if (c == '(') {
		literal_run_end(run, best);
		literal_parse_group(r, group);
	} else if (c == '[') {
		literal_run_end(run, best);
		literal_skip_class(r);
	} else if (c == '.' || c == '^' || c == '$') {
		literal_run_end(run, best);
		r->at++;
	} else if (c == '\\') {
		literal_parse_escape(r, run, best);
	} else if (c == '*' || c == '+' || c == '?' || c == '#') {
		r->failed = true;
	} else {
		literal_parse_plain(r, run, best);
	}
}

static void
literal_parse_sequence(struct literal_parser *r, struct pattern_literals *best)
{
	struct literal_run run = { .n = 0 };
	struct pattern_literals group;
	bool optional;

	best->n = 0;
	while (!r->failed && literal_peek(r) >= 0 && literal_peek(r) != '|' &&
	    literal_peek(r) != ')') {
		literal_parse_item(r, &run, best, &group);
		optional = false;
		if (literal_parse_repeat(r, &optional)) {
			if (optional)
				run.n = run.n > 0 ? run.last : 0;
			literal_run_end(&run, best);
		}
		if (!optional)
			literal_prefer(best, &group);
	}
	literal_run_end(&run, best);
}

static void
literal_parse_alternatives(
    struct literal_parser *r, struct pattern_literals *out)
{
	struct pattern_literals one;
	bool known = true;
	size_t i;

	out->n = 0;
	for (;;) {
		literal_parse_sequence(r, &one);
		known = known && !r->failed && one.n > 0 &&
		    out->n + one.n <= LITERAL_MAX;
		for (i = 0; known && i < one.n; i++, out->n++) {
			memcpy(out->text[out->n], one.text[i], one.len[i]);
			out->len[out->n] = one.len[i];
		}
		if (r->failed || literal_peek(r) != '|')
			break;
		r->at++;
	}
	if (!known)
		out->n = 0;
}

void
pattern_literals_find(struct str pattern, struct pattern_literals *out)
{
	struct literal_parser r = { .s = pattern };

	literal_parse_alternatives(&r, out);
	if (r.failed || r.at < pattern.n)
		out->n = 0;
}

/* ---- unmatched spans ---- */

/* Bits of the result. */
#define GROUPS_MAX 32

struct unmatched_marker {
	struct str s;
	size_t at;
	struct buf *out;
	unsigned groups, unmatched; /* count so far; the marked ones as bits */
};

static void
marker_copy(struct unmatched_marker *m, size_t n)
{
	if (m->at + n > m->s.n)
		n = m->s.n - m->at;
	buf_put(m->out, m->s.p + m->at, n);
	m->at += n;
}

static struct str
marker_rest(const struct unmatched_marker *m, size_t skip)
{
	return (struct str){ m->s.p + m->at + skip, m->s.n - m->at - skip };
}

static void
marker_copy_class(struct unmatched_marker *m)
{
	marker_copy(m, 1);
	if (str_starts(marker_rest(m, 0), STR("^")))
		marker_copy(m, 1);
	if (str_starts(marker_rest(m, 0), STR("]")))
		marker_copy(m, 1);
	while (m->at < m->s.n && m->s.p[m->at] != ']')
		marker_copy(m, m->s.p[m->at] == '\\' ? 2 : 1);
	marker_copy(m, 1);
}

static bool
marker_is_capture(struct str group)
{
	return !str_starts(group, STR("(?")) ||
	    str_starts(group, STR("(?P<")) ||
	    (str_starts(group, STR("(?<")) && !str_starts(group, STR("(?<=")) &&
		!str_starts(group, STR("(?<!")));
}

/* The length of the quantifier that begins s, or 0. */
static size_t
marker_repeat_len(struct str s)
{
	size_t n;

	if (s.n == 0 || strchr("*+{", s.p[0]) == NULL)
		return 0;
	n = 1;
	if (s.p[0] == '{') {
		while (n < s.n && s.p[n - 1] != '}')
			n++;
	}
	if (n < s.n && (s.p[n] == '?' || s.p[n] == '+'))
		n++;
	return n;
}

static void
marker_mark_dot(struct unmatched_marker *m)
{
	size_t n = marker_repeat_len(marker_rest(m, 1));

	if (n == 0) {
		marker_copy(m, 1);
		return;
	}
	m->unmatched |= 1U << ++m->groups;
	buf_putc(m->out, '(');
	marker_copy(m, 1 + n);
	buf_putc(m->out, ')');
}

unsigned
unmatched_span_mark(struct str pattern, struct buf *out)
{
	struct unmatched_marker m = { .s = pattern, .out = out };
	bool numbered = false;
	char c;

	while (m.at < m.s.n && m.groups + 1 < GROUPS_MAX && !numbered) {
		c = m.s.p[m.at];
		if (c == '\\') {
			numbered = m.at + 1 < m.s.n && m.s.p[m.at + 1] >= '1' &&
			    m.s.p[m.at + 1] <= '9';
			marker_copy(&m, 2);
		} else if (c == '[') {
			marker_copy_class(&m);
		} else if (c == '.') {
			marker_mark_dot(&m);
		} else {
			m.groups +=
			    c == '(' && marker_is_capture(marker_rest(&m, 0));
			marker_copy(&m, 1);
		}
	}
	if (m.at == m.s.n && !numbered && m.unmatched != 0)
		return m.unmatched;
	buf_reset(out);
	buf_put_str(out, pattern);
	return 0;
}
