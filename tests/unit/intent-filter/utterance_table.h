/*
 * utterance_table: reading utterances.tsv, what people say to a body and what
 * the filter must make of it.
 *
 * A line is an utterance; its columns are separated by tabs:
 *
 *   catalog     its intents are catalogs/<catalog>.json
 *   utterance   the command, at 2026-02-22T17:40:00+08:00, a Sunday
 *   expected    fallback, no_action, or intents in their order with ";" between
 *   unmatched   what no intent used, with "|" between; none if absent; "*" is
 *               anything.  Marks and blanks at the ends do not count.  It is
 *               looked at only where intents are expected, rejected or not.
 *
 * An intent is its id, and behind it as far as needed:
 *
 *   {...}   normalized, equal as JSON; not looked at if absent
 *   …       normalized may have further members
 *   ?a,b    it needs clarification: these parameters are missing
 *   !       it is rejected; if all are, the language model is asked
 *   ~       it is ready, and need not be as sure as others
 *
 * Lines that begin with # are headings.
 */
#ifndef UTTERANCE_TABLE_H
#define UTTERANCE_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/str.h"
#include "testkit/testkit.h"

#define TABLE_FOLDER "tests/unit/intent-filter/"
#define TABLE_MORE   "…"

enum { COL_CATALOG, COL_SAID, COL_EXPECTED, COL_UNMATCHED, NCOLS };

struct line {
	int number;
	const char *col[NCOLS]; /* "" for what is absent */
};

/* The table, and where it is read. */
struct table {
	char *text, *rest;
	int number;
};

static inline struct table
table_open(void)
{
	char *text = tk_read_file(TABLE_FOLDER "utterances.tsv", NULL);

	return (struct table){ text, text, 0 };
}

/* The next utterance; its strings are the table's. */
static inline bool
table_next(struct table *t, struct line *out)
{
	char *row;
	size_t i;

	while ((row = strsep(&t->rest, "\n")) != NULL) {
		t->number++;
		if (*row == '#' || *row == '\0')
			continue;
		out->number = t->number;
		for (i = 0; i < NCOLS; i++) {
			out->col[i] = strsep(&row, "\t");
			ck_assert_msg(out->col[i] != NULL || i == COL_UNMATCHED,
			    "line %d: column %zu is missing", t->number, i);
			if (out->col[i] == NULL)
				out->col[i] = "";
		}
		ck_assert_msg(
		    row == NULL, "line %d: too many columns", t->number);
		return true;
	}
	return false;
}

static inline bool
is_negative(const struct line *l)
{
	return strcmp(l->col[COL_EXPECTED], "fallback") == 0 ||
	    strcmp(l->col[COL_EXPECTED], "no_action") == 0;
}

/* One expected intent. */
struct want {
	struct str id;
	json_t *normalized; /* NULL: any */
	struct str missing;
	bool more, unsure;
	const char *status;
};

static inline struct str
take_until(const char **p, const char *stop)
{
	struct str s = { *p, strcspn(*p, stop) };

	*p += s.n;
	return s;
}

/* Read one at *p; false if it is written wrongly.  want_free() it always. */
static inline bool
want_read(const char **p, struct want *w)
{
	json_error_t e;

	*w = (struct want){ .status = "ready" };
	w->id = take_until(p, "{?!~;");
	if (**p == '{') {
		w->normalized = json_loads(*p, JSON_DISABLE_EOF_CHECK, &e);
		if (w->normalized == NULL)
			return false;
		*p += e.position;
	}
	if (strncmp(*p, TABLE_MORE, strlen(TABLE_MORE)) == 0) {
		w->more = true;
		*p += strlen(TABLE_MORE);
	}
	if (**p == '?') {
		w->status = "need_clarification";
		*p += 1;
		w->missing = take_until(p, ";");
	} else if (**p == '!') {
		w->status = "rejected";
		*p += 1;
	} else if (**p == '~') {
		w->unsure = true;
		*p += 1;
	}
	if (**p == ';')
		*p += 1;
	else if (**p != '\0')
		return false;
	return w->id.n > 0;
}

static inline void
want_free(struct want *w)
{
	json_decref(w->normalized);
}

/* Whether intents are expected, and all of them rejected. */
static inline bool
is_refused(const struct line *l)
{
	const char *p = l->col[COL_EXPECTED];
	bool refused = !is_negative(l);
	struct want w;

	while (refused && *p != '\0') {
		refused =
		    want_read(&p, &w) && strcmp(w.status, "rejected") == 0;
		want_free(&w);
	}
	return refused;
}

#endif /* !UTTERANCE_TABLE_H */
