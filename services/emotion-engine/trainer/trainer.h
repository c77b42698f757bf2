/*
 * trainer: the labelled rows, training, packing of the weights file, and
 * measurement.
 *
 * Own rows are TSV files, label and text; the first two letters of a file's
 * name are the language.  The external set is train.tsv and dev.tsv (label,
 * language, text) with train.src.tsv and dev.src.tsv line by line beside them
 * (subset, source, licence tier); of train.tsv only tier A is used.
 */
#ifndef EMOTION_ENGINE_TRAINER_TRAINER_H
#define EMOTION_ENGINE_TRAINER_TRAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "persona/emotion.h"
#include "wire/msgs.h"

/* ---- rows.c ---- */

struct row {
	enum wire_emotion label;
	bool chinese;
	bool own;
	bool framed;       /* made of sentence frames: many are alike */
	bool dev;          /* never trained on */
	struct str subset; /* of the external set; "own" */
	struct str text;
	uint64_t hash; /* of the text without punctuation and case */
};

/* Zero it before its first use. */
struct rows {
	struct row *v;
	size_t n, cap;
	char **files; /* contents, to which the texts refer */
	size_t n_files;
};

/*
 * rows_add_own(r, dir, why, size):
 * Every .tsv file in dir, in order of name.  One row in eight, by its hash, is
 * dev, except of the files named *-frames.tsv.  On failure why has file, line
 * and reason. rows_add_external(r, dir, why, size): Rows of tier A of
 * train.tsv, and all of dev.tsv as dev.
 */
enum rc rows_add_own(
    struct rows *r, const char *dir, char *why, size_t size) RC_CHECK;
enum rc rows_add_external(
    struct rows *r, const char *dir, char *why, size_t size) RC_CHECK;

/*
 * rows_separate(r):
 * Drop repeated texts: a dev row wins over others, then the first one.  Returns
 * the number of dropped rows.
 */
size_t rows_separate(struct rows *r);

/*
 * rows_load(r, external):
 * The own rows and, unless NULL, those of the external set in that folder, each
 * text once; prints how many.  Nonzero, with a message on stderr, on failure.
 */
int rows_load(struct rows *r, const char *external);

/* rows_free(r): Free rows and texts. */
void rows_free(struct rows *r);

/* ---- learn.c ---- */

struct learn_opts {
	int epochs;
	int averaged;      /* of the last epochs; the result is their mean */
	double rate;       /* of AdaGrad */
	double sign_rate;  /* of signs, whose initial weights are set by hand */
	double decay;      /* towards the initial weight, per update */
	double smooth;     /* of the labels */
	double drop;       /* share of a row's keys left out at each step */
	double own_weight; /* of an own row */
	double framed_weight; /* of an own row made of frames */
	double class_cap;     /* largest extra weight of a rare label */
	double class_power;
	double gain;   /* of a row's keys together, relative to a sign */
	int min_count; /* rows with a key; an own row counts own_count */
	int own_count;
	uint64_t seed;
	int runs; /* each with its own seed; the result is their mean; 0: 1 */
};

/* Those of the committed weights. */
extern const struct learn_opts learn_defaults;

/* Called after each epoch with its mean loss. */
typedef void learn_progress_fn(int epoch, int epochs, double loss);

/*
 * learn(r, o, progress, out):
 * Train on the rows that are not dev and append the weights file to out, scaled
 * so that probabilities of own dev rows are calibrated.  progress may be NULL.
 *
 * AdaGrad, one row at a time in an order from the seed, with additions,
 * products, quotients and roots of IEEE doubles in a fixed order only: the
 * result has the same bits with every compiler and on every machine.
 */
void learn(const struct rows *r, const struct learn_opts *o,
    learn_progress_fn *progress, struct buf *out);

/*
 * learn_to_file(r, path):
 * Train and write the weights to a file, with messages.  Nonzero on failure.
 */
int learn_to_file(const struct rows *r, const char *path);

/* ---- bench.c ---- */

/* A row's label and the recognised one. */
struct score_pair {
	uint8_t want, got;
};

struct score {
	double macro_f1; /* mean over the labels that occur */
	double polarity; /* share with the right valence */
	double f1[EMOTION_N];
	size_t rows[EMOTION_N]; /* of that label */
};

/* A mean and its 95 % bootstrap interval. */
struct score_interval {
	double mid, low, high;
};

/*
 * score_of(v, n):
 * Scores of n pairs.
 * score_intervals(v, n, f1, polarity):
 * Both with intervals from 500 resamples; deterministic.
 */
struct score score_of(const struct score_pair *v, size_t n);
void score_intervals(const struct score_pair *v, size_t n,
    struct score_interval *f1, struct score_interval *polarity);

/*
 * bench_print(r):
 * Print scores of the weights in the program on the dev rows, beside fastText
 * trained on the others if it is installed.  Nonzero if the weights are
 * unusable.
 */
int bench_print(const struct rows *r);

#endif /* !EMOTION_ENGINE_TRAINER_TRAINER_H */
