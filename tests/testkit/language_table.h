/*
 * language_table: the tables of tests/language.  A line has a text, what it
 * means and the source of the rule; a file has rounds of lines, each with the
 * accuracy that it must not fall below.  LANGUAGE_VERBOSE=1 lists the lines
 * that differ.
 */
#ifndef TESTKIT_LANGUAGE_TABLE_H
#define TESTKIT_LANGUAGE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define LANGUAGE_LINE_MAX 1024
#define LANGUAGE_ROUNDS   10

enum language_match {
	LANGUAGE_WRONG,
	LANGUAGE_PARTLY, /* another consistent reading, or its slots differ */
	LANGUAGE_RIGHT
};

struct language_line {
	const char *file; /* its name, without the folder */
	const char *text, *want;
};

/* How lines are scored; ctx is the caller's. */
struct language_scorer {
	void *ctx;
	/* What the text means to the engine, in the table's notation. */
	void (*show)(
	    void *ctx, const struct language_line *l, char *dst, size_t n);
	/* Of one of the alternatives of want, that engine's reading got. */
	enum language_match (*match)(void *ctx, const struct language_line *l,
	    const char *want, const char *got);
	/* A directive that is neither @round nor @floor; NULL: there is none.
	 */
	void (*directive)(void *ctx, const char *line);
	/* Alternatives are as right as the first; else only consistent. */
	bool is_any_right;
};

/*
 * language_table_run(folder, scorer): Score and report all tables of a folder;
 * fails the test if one is below its floor, or cannot be read.
 */
void language_table_run(
    const char *folder, const struct language_scorer *scorer);

#endif /* !TESTKIT_LANGUAGE_TABLE_H */
