/*
 * Only as much of the pattern language as tells a dot from a dot.
 */
#include "gap.h"

#include <stdbool.h>

/* As many as the answer has bits. */
#define GROUPS_MAX 32

struct marker {
	struct str s;
	size_t at;
	struct buf *out;
	unsigned groups, gaps; /* how many so far; which, as bits */
};

static void
copy(struct marker *m, size_t n)
{
	if (m->at + n > m->s.n)
		n = m->s.n - m->at;
	buf_put(m->out, m->s.p + m->at, n);
	m->at += n;
}

static struct str
rest(const struct marker *m, size_t skip)
{
	return (struct str){ m->s.p + m->at + skip, m->s.n - m->at - skip };
}

static void
copy_class(struct marker *m)
{
	copy(m, 1);
	if (str_starts(rest(m, 0), STR("^")))
		copy(m, 1);
	if (str_starts(rest(m, 0), STR("]")))
		copy(m, 1);
	while (m->at < m->s.n && m->s.p[m->at] != ']')
		copy(m, m->s.p[m->at] == '\\' ? 2 : 1);
	copy(m, 1);
}

static bool
captures(struct str group)
{
	return !str_starts(group, STR("(?")) ||
	    str_starts(group, STR("(?P<")) ||
	    (str_starts(group, STR("(?<")) && !str_starts(group, STR("(?<=")) &&
		!str_starts(group, STR("(?<!")));
}

/* The length of the repetition that begins s, or 0. */
static size_t
repeat_len(struct str s)
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
mark_dot(struct marker *m)
{
	size_t n = repeat_len(rest(m, 1));

	if (n == 0) {
		copy(m, 1);
		return;
	}
	m->gaps |= 1U << ++m->groups;
	buf_putc(m->out, '(');
	copy(m, 1 + n);
	buf_putc(m->out, ')');
}

unsigned
gap_mark(struct str pattern, struct buf *out)
{
	struct marker m = { .s = pattern, .out = out };
	bool numbered = false;
	char c;

	while (m.at < m.s.n && m.groups + 1 < GROUPS_MAX && !numbered) {
		c = m.s.p[m.at];
		if (c == '\\') {
			numbered = m.at + 1 < m.s.n && m.s.p[m.at + 1] >= '1' &&
			    m.s.p[m.at + 1] <= '9';
			copy(&m, 2);
		} else if (c == '[') {
			copy_class(&m);
		} else if (c == '.') {
			mark_dot(&m);
		} else {
			m.groups += c == '(' && captures(rest(&m, 0));
			copy(&m, 1);
		}
	}
	if (m.at == m.s.n && !numbered && m.gaps != 0)
		return m.gaps;
	buf_reset(out);
	buf_put_str(out, pattern);
	return 0;
}
