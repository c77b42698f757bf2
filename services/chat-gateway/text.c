/*
 * White space as Unicode has it: a body may send the space of a Chinese
 * keyboard, U+3000.
 */
#include "text.h"

#include <stdbool.h>
#include <stdint.h>

static bool
is_space(int32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 ||
	    c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
	    c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
	    c == 0x3000;
}

struct str
text_trim(struct str s)
{
	size_t begin = s.n, end = 0, at = 0, from = 0;
	int32_t c;

	while ((c = str_utf8_next(s, &at)) >= 0) {
		if (!is_space(c)) {
			if (from < begin)
				begin = from;
			end = at;
		}
		from = at;
	}
	if (end < begin)
		return (struct str){ s.p, 0 };
	return (struct str){ s.p + begin, end - begin };
}
