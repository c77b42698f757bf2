/*
 * rows: the labelled lines that the recogniser learns from and is measured
 * with.
 *
 * Own lines are TSV files, label and text; the first letters of a file's name
 * say the language.  The external set is train.tsv and dev.tsv (label,
 * language, text) with train.src.tsv and dev.src.tsv line by line beside them
 * (subset, source, licence tier); of train.tsv only tier A is ever read.
 */
#ifndef EMOTION_ENGINE_TRAIN_ROWS_H
#define EMOTION_ENGINE_TRAIN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

struct row {
	enum wire_emotion label;
	bool chinese;
	bool own;
	bool dev;          /* never learnt from */
	struct str subset; /* of the external set; "own" */
	struct str text;
	uint64_t hash; /* of the text without punctuation and case */
};

struct rows {
	struct row *v;
	size_t n, cap;
	char **files; /* what the texts are in */
	size_t n_files;
};

/*
 * rows_add_own(r, dir, why, size):
 * Every .tsv file in dir, in the order of names.  One line in eight, by its
 * hash, is dev.
 */
enum rc rows_add_own(
    struct rows *r, const char *dir, char *why, size_t size) RC_CHECK;

/*
 * rows_add_external(r, dir, why, size):
 * Rows of tier A of train.tsv, and all of dev.tsv as dev.
 */
enum rc rows_add_external(
    struct rows *r, const char *dir, char *why, size_t size) RC_CHECK;

/*
 * rows_separate(r):
 * Drop repeated texts: the first of its kind stays, a dev row before others.
 * Returns how many went.
 */
size_t rows_separate(struct rows *r);

/* rows_free(r): And the texts. */
void rows_free(struct rows *r);

#endif /* !EMOTION_ENGINE_TRAIN_ROWS_H */
