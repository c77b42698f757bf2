/*
 * Four digits make three bytes.
 */
#include "bus/base64.h"

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
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* How many of the last four are padding; over 2: it is no base64. */
static size_t
padding(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[s.n - 1 - n] == '=')
		n++;
	return n;
}

enum rc
base64_read(struct str s, struct buf *out)
{
	size_t pad = padding(s), i;
	uint32_t acc = 0;
	int d;

	if (s.n % 4 != 0 || pad > 2)
		return RC_INVALID;
	for (i = 0; i < s.n; i++) {
		d = i < s.n - pad ? digit(s.p[i]) : 0;
		if (d < 0)
			return RC_INVALID;
		acc = acc << 6 | (uint32_t)d;
		if (i % 4 != 3)
			continue;
		buf_putc(out, (char)(acc >> 16 & 0xff));
		if (i + 1 < s.n || pad < 2)
			buf_putc(out, (char)(acc >> 8 & 0xff));
		if (i + 1 < s.n || pad < 1)
			buf_putc(out, (char)(acc & 0xff));
	}
	return buf_rc(out);
}
