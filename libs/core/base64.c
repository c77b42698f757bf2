#include "core/base64.h"

#include <stdint.h>

/* The value of a digit, or -1; d62 and d63 are the last two digits. */
static int
base64_digit(char c, char d62, char d63)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == d62 ? 62 : c == d63 ? 63 : -1;
}

/* How many characters are padding; over 2: it is not valid. */
static size_t
base64_padding(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[s.n - 1 - n] == '=')
		n++;
	return n;
}

enum rc
base64_decode(struct str s, struct buf *out)
{
	size_t pad = base64_padding(s), i;
	uint32_t acc = 0;
	int d;

	if (s.n % 4 != 0 || pad > 2)
		return RC_INVALID;
	for (i = 0; i < s.n; i++) {
		d = i < s.n - pad ? base64_digit(s.p[i], '+', '/') : 0;
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

int
base64url_digit(char c)
{
	return base64_digit(c, '-', '_');
}

enum rc
base64url_decode(struct str s, void *dst, size_t max, size_t *n)
{
	unsigned char *out = dst;
	uint32_t bits = 0;
	int have = 0;
	size_t i;

	*n = 0;
	if (s.n % 4 == 1)
		return RC_INVALID;
	for (i = 0; i < s.n; i++) {
		int d = base64url_digit(s.p[i]);
		if (d < 0)
			return RC_INVALID;
		bits = bits << 6 | (uint32_t)d;
		have += 6;
		if (have < 8)
			continue;
		have -= 8;
		if (*n == max)
			return RC_TOOBIG;
		out[(*n)++] = (unsigned char)(bits >> have);
	}
	return (bits & ((1U << have) - 1)) == 0 ? RC_OK : RC_INVALID;
}

void
base64url_encode(const void *p, size_t n, char *dst)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789-_";
	const unsigned char *in = p;
	uint32_t acc = 0;
	unsigned bits = 0;

	for (size_t i = 0; i < n; i++) {
		acc = acc << 8 | in[i];
		for (bits += 8; bits >= 6; bits -= 6)
			*dst++ = digits[acc >> (bits - 6) & 63U];
	}
	if (bits > 0)
		*dst++ = digits[acc << (6 - bits) & 63U];
	*dst = '\0';
}
