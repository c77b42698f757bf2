/*
 * bucket: which keys belong together.
 *
 * The number must never change: it is a part of the keys that are stored.
 */
#include <stdio.h>

#include "core/id.h"
#include "state/cluster.h"
#include "state/state_internal.h"

unsigned
bucket_of_token(struct str token)
{
	return slot_crc16(token) % STATE_BUCKETS;
}

struct str
bucket_tag(unsigned bucket, char dst[BUCKET_TAG_MAX])
{
	unsigned n = bucket % STATE_BUCKETS;

	dst[0] = 'b';
	for (size_t i = 4; i > 0; i--, n /= 10)
		dst[i] = (char)('0' + n % 10);
	dst[5] = '\0';
	return (struct str){ dst, 5 };
}

enum rc
state_bucket(struct str user, unsigned *out)
{
	char token[ID_TOKEN_MAX];

	*out = 0;
	if (id_token(user, token) != RC_OK)
		return RC_INVALID;
	*out = bucket_of_token(str_of(token));
	return RC_OK;
}
