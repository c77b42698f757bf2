/*
 * number: numerals as people write and say them: "三万五", "1.2亿", "半",
 * "第七", "百分之五十", "34,567".
 *
 * Pure and without memory of its own; any bytes are allowed, the work is
 * linear.  Text is expected in NFKC.
 */
#ifndef ZH_NUMBER_H
#define ZH_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/str.h"

enum number_kind {
	NUMBER_CARDINAL,
	NUMBER_ORDINAL,  /* 第七, 7th */
	NUMBER_PERCENT,  /* 50%, 百分之五十: value is 50 */
	NUMBER_FRACTION, /* 三分之一: value is 1/3; 半: 0.5 */
};

struct number {
	enum number_kind kind;
	double value;
	size_t start, end; /* bytes of the text; no measure word */
};

/*
 * number_at(s, at, out):
 * The longest numeral that starts at byte at; false, *out untouched, if none
 * does.  At most 64 characters are one numeral.  It does not ask what the
 * numeral means: 一 of 一起 is one, 八点五 is 8.5.
 */
bool number_at(struct str s, size_t at, struct number *out);

/*
 * number_find(s, dst, max):
 * All numerals, left to right, not overlapping, at most max; returns how many
 * were written.  Words that only look like one (一起, 十分高兴, 千万别) and
 * digits inside Latin words are passed over.
 */
size_t number_find(struct str s, struct number *dst, size_t max);

#endif /* !ZH_NUMBER_H */
