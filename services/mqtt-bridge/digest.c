/*
 * SHA-256, so that nobody can make a catalog that passes for another's.
 */
#include "digest.h"

#include <nettle/sha2.h>
#include <stdio.h>

void
digest_hex(struct str s, char dst[DIGEST_MAX])
{
	struct sha256_ctx ctx;
	uint8_t sum[SHA256_DIGEST_SIZE];
	size_t i;

	sha256_init(&ctx);
	sha256_update(&ctx, s.n, (const uint8_t *)s.p);
	sha256_digest(&ctx, sizeof(sum), sum);
	for (i = 0; i < sizeof(sum); i++)
		(void)snprintf(dst + 2 * i, 3, "%02x", sum[i]);
}
