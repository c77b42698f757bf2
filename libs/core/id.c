#include "core/id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base64.h"

#define PLAIN_MAX 64 /* longest id that is its own token */

void
id_random(void *dst, size_t n)
{
	char *p = dst;

	/* Not buffered: a forked process must not repeat ids. */
	while (n > 0) {
		ssize_t got = getrandom(p, n, 0);

		if (got < 0 && errno != EINTR)
			abort();
		if (got > 0) {
			p += got;
			n -= (size_t)got;
		}
	}
}

void
id_stock_take(struct id_stock *s, void *dst, size_t n)
{
	unsigned char *from;

	if (n > sizeof(s->bytes)) {
		id_random(dst, n);
		return;
	}
	if (s->left < n) {
		id_random(s->bytes, sizeof(s->bytes));
		s->left = sizeof(s->bytes);
	}
	s->left -= n;
	from = s->bytes + s->left;
	memcpy(dst, from, n);
	memset(from, 0, n);
}

uint64_t
id_random_below(uint64_t n)
{
	/* Rejects the last, incomplete run of n values. */
	uint64_t beyond = UINT64_MAX - (UINT64_MAX % n + 1) % n;
	uint64_t v;

	do
		id_random(&v, sizeof(v));
	while (v > beyond);
	return v % n;
}

void
id_hex(const unsigned char *p, size_t n, char *dst)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		dst[2 * i] = digits[p[i] >> 4];
		dst[2 * i + 1] = digits[p[i] & 15U];
	}
	dst[2 * n] = '\0';
}

void
id_uuid(char dst[ID_UUID_MAX])
{
	static const size_t groups[] = { 8, 4, 4, 4, 12 };
	unsigned char raw[16];
	char hex[ID_HEX32_MAX];
	const char *from = hex;

	id_random(raw, sizeof(raw));
	raw[6] = (unsigned char)((raw[6] & 0x0fU) | 0x40U);
	raw[8] = (unsigned char)((raw[8] & 0x3fU) | 0x80U);
	id_hex(raw, sizeof(raw), hex);
	for (size_t i = 0; i < 5; i++) {
		if (i > 0)
			*dst++ = '-';
		memcpy(dst, from, groups[i]);
		dst += groups[i];
		from += groups[i];
	}
	*dst = '\0';
}

void
id_hex32(char dst[ID_HEX32_MAX])
{
	unsigned char raw[16];

	id_random(raw, sizeof(raw));
	id_hex(raw, sizeof(raw), dst);
}

bool
id_valid(struct str s)
{
	size_t pos = 0;

	if (s.n == 0 || s.n > ID_MAX)
		return false;
	while (pos < s.n) {
		int32_t cp = str_utf8_next(s, &pos);

		if (cp < 0x20 || cp == 0x7f)
			return false;
	}
	return true;
}

bool
id_terminal_valid(struct str s)
{
	if (!id_valid(s))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] == '/' || s.p[i] == '+' || s.p[i] == '#')
			return false;
	return true;
}

/* Whether id is its own token. */
static bool
id_is_plain(struct str s)
{
	if (s.n == 0 || s.n > PLAIN_MAX)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((unsigned)(c | 0x20) - 'a' >= 26 &&
		    (unsigned)c - '0' >= 10 && c != '-' && c != '_')
			return false;
	}
	return true;
}

enum rc
id_token(struct str id, char dst[ID_TOKEN_MAX])
{
	if (id_is_plain(id)) {
		memcpy(dst, id.p, id.n);
		dst[id.n] = '\0';
		return RC_OK;
	}
	if (!id_valid(id))
		return RC_INVALID;
	*dst = '~';
	base64url_encode(id.p, id.n, dst + 1);
	return RC_OK;
}

enum rc
id_untoken(struct str token, char dst[ID_MAX + 1])
{
	char id[ID_MAX + 1];
	struct str rest = token;
	size_t n;

	if (id_is_plain(token)) {
		str_copy(token, dst, ID_MAX + 1);
		return RC_OK;
	}
	if (token.n < 2 || token.n >= ID_TOKEN_MAX || token.p[0] != '~')
		return RC_INVALID;
	rest.p++;
	rest.n--;
	if (base64url_decode(rest, id, ID_MAX, &n) != RC_OK)
		return RC_INVALID;
	if (!id_valid((struct str){ id, n }) ||
	    id_is_plain((struct str){ id, n }))
		return RC_INVALID;
	memcpy(dst, id, n);
	dst[n] = '\0';
	return RC_OK;
}
