/*
 * number: numbers in digits and words: "三万五", "1.2亿", "半", "第七",
 * "百分之五十", "34,567".
 *
 * Pure: no global state; any bytes are allowed, time is linear.  Text is
 * expected in NFKC.
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
	/* Bytes of the text; a measure word only within (三斤半). */
	size_t start, end;
	/*
	 * 十几 (15), 几百 (300), 二三十 (20), 五十多 (50), 近两千 (2000): what
	 * a single number stands for is in parentheses.
	 */
	bool is_approximate;
};

/*
 * number_at(s, at, out):
 * The longest number that starts at byte at, of at most 64 characters; false,
 * *out untouched, if there is none.  Context is ignored: 一 of 一起 is one,
 * 八点五 is 8.5.
 */
bool number_at(struct str s, size_t at, struct number *out);

/*
 * number_find(s, dst, max):
 * Find all numbers, left to right, not overlapping, at most max.  Returns how
 * many were written.  Words that merely contain a numeral (一起, 十分高兴,
 * 千万别) and digits inside Latin words are skipped.
 */
size_t number_find(struct str s, struct number *dst, size_t max);

#endif /* !ZH_NUMBER_H */
