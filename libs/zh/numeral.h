/*
 * numeral: the plain cardinals that number and when are built on: digits, Han
 * numerals, both mixed, and English number words.
 */
#ifndef ZH_NUMERAL_H
#define ZH_NUMERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* Characters of one numeral; it ends there. */
#define NUMERAL_CHARS_MAX 64

struct numeral {
	double value;
	size_t end;
	int digits;      /* of a row of digits (2026, 二〇二六); else 0 */
	bool is_ascii;   /* begins with an ASCII digit or '.' */
	bool is_pair;    /* has 两: never the name of a month or weekday */
	bool is_decimal; /* has a fraction */
	bool has_zero; /* begins with a zero that counts nothing: 05, 零五 */
};

/*
 * numeral_read(s, at, out):
 * The longest cardinal at byte at, without sign.  A decimal point is '.', never
 * 点: that is for who knows that no clock time is meant.
 */
bool numeral_read(struct str s, size_t at, struct numeral *out);

/*
 * numeral_fraction(s, at, dst, end):
 * The digits at byte at as a decimal fraction (14: .14), unless a Han unit
 * follows them (点二十).
 */
bool numeral_fraction(struct str s, size_t at, double *dst, size_t *end);

/* numeral_scale(s, at, end): 百, 千, 万, 亿 at byte at as a factor; else 0. */
double numeral_scale(struct str s, size_t at, size_t *end);

/*
 * numeral_word(s, at, out): English words: twenty five, a hundred and two.
 * They begin and end at the borders of words.
 */
bool numeral_word(struct str s, size_t at, struct numeral *out);

/* numeral_is_letter(s, at): Whether the byte at is an ASCII letter. */
bool numeral_is_letter(struct str s, size_t at);

#endif /* !ZH_NUMERAL_H */
