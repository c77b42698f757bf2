/*
 * base64url as RFC 7515 has it, one text for each sequence of bytes.
 */
#include "auth/base64url.h"

#include <stdint.h>

static int
digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' ? 62 : c == '_' ? 63 : -1;
}

enum rc
auth_base64url_read(struct str s, unsigned char *dst, size_t max, size_t *n)
{
	uint32_t bits = 0;
	int have = 0;
	size_t i;

	*n = 0;
	if (s.n % 4 == 1)
		return RC_INVALID;
	for (i = 0; i < s.n; i++) {
		int d = digit(s.p[i]);
		if (d < 0)
			return RC_INVALID;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (*n == max)
			return RC_TOOBIG;
		dst[(*n)++] = (unsigned char)(bits >> have);
	}
	return (bits & ((1U << have) - 1)) == 0 ? RC_OK : RC_INVALID;
}
