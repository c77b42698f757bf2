/*
 * SHA-256 of tokens.
 */
#include "auth/auth_internal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>

#define PLACE_BYTES 16

struct auth_digest
auth_digest_of(struct str token)
{
	struct auth_digest d;

	if (EVP_Digest(token.p != NULL ? token.p : "", token.n, d.bytes, NULL,
		EVP_sha256(), NULL) != 1)
		abort();
	return d;
}

static int
nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum rc
auth_digest_parse(struct str hex, struct auth_digest *out)
{
	size_t i;

	if (hex.n != 2 * sizeof(out->bytes))
		return RC_INVALID;
	for (i = 0; i < sizeof(out->bytes); i++) {
		int hi = nibble(hex.p[2 * i]), lo = nibble(hex.p[2 * i + 1]);
		if (hi < 0 || lo < 0)
			return RC_INVALID;
		out->bytes[i] = (unsigned char)(hi << 4 | lo);
	}
	return RC_OK;
}

bool
auth_digest_is(const struct auth_digest *a, const struct auth_digest *b)
{
	return CRYPTO_memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

struct str
auth_digest_map_key(const struct auth_digest *d)
{
	return (struct str){ (const char *)d->bytes, PLACE_BYTES };
}

uint64_t
auth_digest_id(const struct auth_digest *d)
{
	uint64_t key;

	/* Of the end: the beginning is the place in maps. */
	memcpy(&key, d->bytes + sizeof(d->bytes) - sizeof(key), sizeof(key));
	return key;
}
