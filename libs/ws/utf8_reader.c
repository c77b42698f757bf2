#include "ws/utf8_reader.h"

#include <string.h>

/* What may follow a first byte (RFC 3629, 4); false: it is none. */
static bool
utf8_begin(struct utf8_reader *u, unsigned char c)
{
	u->low = 0x80;
	u->high = 0xbf;
	if (c >= 0xc2 && c <= 0xdf) {
		u->more = 1;
	} else if (c >= 0xe0 && c <= 0xef) {
		u->more = 2;
		if (c == 0xe0)
			u->low = 0xa0;
		else if (c == 0xed)
			u->high = 0x9f;
	} else if (c >= 0xf0 && c <= 0xf4) {
		u->more = 3;
		if (c == 0xf0)
			u->low = 0x90;
		else if (c == 0xf4)
			u->high = 0x8f;
	} else {
		return false;
	}
	return true;
}

/* The number of ASCII bytes at the beginning; eight at a time. */
static size_t
utf8_skip_ascii(const unsigned char *p, size_t n)
{
	uint64_t word;
	size_t i = 0;

	for (; i + sizeof(word) <= n; i += sizeof(word)) {
		memcpy(&word, p + i, sizeof(word));
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	while (i < n && p[i] < 0x80)
		i++;
	return i;
}

bool
utf8_read(struct utf8_reader *u, const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		if (u->more == 0) {
			i += utf8_skip_ascii(p + i, n - i);
			if (i < n && !utf8_begin(u, p[i++]))
				return false;
			continue;
		}
		if (p[i] < u->low || p[i] > u->high)
			return false;
		u->low = 0x80;
		u->high = 0xbf;
		u->more--;
		i++;
	}
	return true;
}

bool
utf8_is_whole(const struct utf8_reader *u)
{
	return u->more == 0;
}
