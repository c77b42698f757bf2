/*
 * Counting up at the end of a name.
 */
#include "names.h"

#include <stdint.h>
#include <stdio.h>

/* Digits that surely fit; those before them belong to the name. */
#define DIGITS_MAX 15

enum rc
names_of(struct str first, size_t i, char dst[ID_MAX + 1])
{
	struct str digits;
	int64_t number = 0;
	size_t n = 0;
	int len;

	while (n < first.n && n < DIGITS_MAX &&
	    first.p[first.n - n - 1] >= '0' && first.p[first.n - n - 1] <= '9')
		n++;
	digits = (struct str){ first.p + first.n - n, n };
	if (i == 0) {
		len = snprintf(dst, ID_MAX + 1, "%.*s", STR_ARG(first));
	} else if (str_to_i64(digits, 0, INT64_MAX / 2, &number) != RC_OK) {
		len = snprintf(
		    dst, ID_MAX + 1, "%.*s-%zu", STR_ARG(first), i + 1);
	} else {
		len =
		    snprintf(dst, ID_MAX + 1, "%.*s%0*lld", (int)(first.n - n),
			first.p, (int)n, (long long)number + (long long)i);
	}
	return len >= 0 && len <= ID_MAX ? RC_OK : RC_TOOBIG;
}
