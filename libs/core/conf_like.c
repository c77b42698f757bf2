/*
 * Variables nobody reads, and what was meant by them.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/conf.h"
#include "core/mem.h"

#define NAME_BYTES_MAX 64 /* of a name that is compared */
#define NAME_SHORT     4  /* so short a name is like none */
#define NAME_LONG      8  /* from here on two letters may differ */

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to change, add, leave out or exchange with their neighbour. */
static size_t
distance(struct str a, struct str b)
{
	size_t rows[3][NAME_BYTES_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t k = 0; k <= b.n; k++)
		row[k] = k;
	for (size_t i = 1; i <= a.n; i++) {
		size_t *spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i;
		for (size_t k = 1; k <= b.n; k++) {
			bool same = a.p[i - 1] == b.p[k - 1];
			row[k] = least(least(above[k], row[k - 1]) + 1,
			    above[k - 1] + (same ? 0 : 1));
			if (i > 1 && k > 1 && a.p[i - 1] == b.p[k - 2] &&
			    a.p[i - 2] == b.p[k - 1])
				row[k] = least(row[k], before[k - 2] + 1);
		}
	}
	return row[b.n];
}

/* Whether more is less with one word added, and less has two at least. */
static bool
has_one_word_more(struct str more, struct str less)
{
	bool skipped = false;
	size_t same = 0;

	while (more.p != NULL) {
		struct str word = str_split(&more, '_'), rest = less;
		if (less.p != NULL && str_eq(word, str_split(&rest, '_'))) {
			less = rest;
			same++;
		} else if (skipped) {
			return false;
		} else {
			skipped = true;
		}
	}
	return skipped && less.p == NULL && same >= 2;
}

const char *
conf_closest(struct str name, const char *const known[], size_t n)
{
	const char *best = NULL;
	size_t nearest = name.n < NAME_LONG ? 2 : 3;

	if (name.n <= NAME_SHORT || name.n > NAME_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		struct str k = str_of(known[i]);
		size_t d = nearest;
		if (k.n > NAME_SHORT && k.n <= NAME_BYTES_MAX)
			d = distance(name, k);
		if (d >= nearest)
			continue;
		nearest = d;
		best = known[i];
	}
	for (size_t i = 0; i < n && best == NULL; i++)
		if (has_one_word_more(name, str_of(known[i])) ||
		    has_one_word_more(str_of(known[i]), name))
			best = known[i];
	return best;
}

static bool
is_one_of(struct str name, const char *const known[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(name, str_of(known[i])))
			return true;
	return false;
}

static bool
is_line_of(struct str name, struct str lines)
{
	while (lines.p != NULL)
		if (str_eq(name, str_split(&lines, '\n')))
			return true;
	return false;
}

static bool
is_plain(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] != '_' && !isalnum((unsigned char)name.p[i]))
			return false;
	return true;
}

void
conf_unknown(
    const struct conf_opt *opts, size_t n, struct str more, struct buf *out)
{
	const char **known = mem_calloc(n + 1, sizeof(*known));
	size_t told = 0;

	for (size_t i = 0; i < n; i++)
		known[i] = opts[i].env;
	for (char **e = environ; *e != NULL && told < CONF_UNKNOWN_MAX; e++) {
		struct str rest = str_of(*e), name = str_split(&rest, '=');
		struct str stem = name;
		const char *like;
		if (str_ends(name, STR("_FILE")))
			stem.n -= strlen("_FILE");
		if (is_one_of(name, known, n) || is_one_of(stem, known, n) ||
		    is_line_of(name, more) || is_line_of(stem, more))
			continue;
		like = conf_closest(name, known, n);
		if (like == NULL)
			continue;
		/* Like a known one, but not of its alphabet. */
		if (!is_plain(name))
			continue;
		buf_printf(out, "%.*s is not known; did you mean %s?\n",
		    STR_ARG(name), like);
		told++;
	}
	free(known);
}
