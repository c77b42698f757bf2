/*
 * learn: multinomial logistic regression over the features of rows.
 *
 * AdaGrad, one row after the other in an order that the seed makes; only
 * additions, products, quotients and roots of IEEE doubles in a fixed order, so
 * the result has the same bits with every compiler and on every machine.
 */
#ifndef EMOTION_ENGINE_TRAIN_LEARN_H
#define EMOTION_ENGINE_TRAIN_LEARN_H

#include "core/buf.h"
#include "rows.h"

struct learn_opts {
	int epochs;
	double rate;       /* of AdaGrad */
	double sign_rate;  /* of the signs, which begin with weights of hand */
	double decay;      /* of a weight to what it began with, per touch */
	double smooth;     /* of the labels */
	double drop;       /* share of a row's keys left out at each step */
	double own_weight; /* of an own row */
	double class_cap;  /* most that a rare label's rows are worth more */
	double class_power;
	double gain;   /* of a row's keys together, beside a sign */
	int min_count; /* rows with a key; an own row counts own_count */
	int own_count;
	uint64_t seed;
};

/* What ships. */
extern const struct learn_opts learn_defaults;

/* learn_said_fn: Called after each epoch with its mean loss. */
typedef void learn_said_fn(int epoch, int epochs, double loss);

/*
 * learn(r, o, said, out):
 * Learn from the rows that are not dev; the weights file goes into out.  said
 * may be NULL.
 */
void learn(const struct rows *r, const struct learn_opts *o,
    learn_said_fn *said, struct buf *out);

#endif /* !EMOTION_ENGINE_TRAIN_LEARN_H */
