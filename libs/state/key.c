/*
 * key: the one place where Redis keys are put together.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/id.h"
#include "state/state.h"

enum rc
state_key(char dst[STATE_KEY_MAX], const char *pattern, const struct str *ids,
    size_t n, struct str *out)
{
	char token[ID_TOKEN_MAX];
	size_t len = 0, used = 0;
	struct str piece;
	const char *c;

	for (c = pattern; *c != '\0'; c++) {
		piece = (struct str){ c, 1 };
		if (*c == '%') {
			if (used == n || id_token(ids[used], token) != RC_OK)
				return RC_INVALID;
			used++;
			piece = str_of(token);
		}
		if (len + piece.n >= STATE_KEY_MAX)
			return RC_TOOBIG;
		memcpy(dst + len, piece.p, piece.n);
		len += piece.n;
	}
	if (used != n)
		return RC_INVALID;
	dst[len] = '\0';
	*out = (struct str){ dst, len };
	return RC_OK;
}

struct str
state_num(int64_t v, char dst[STATE_NUM_MAX])
{
	int n = snprintf(dst, STATE_NUM_MAX, "%" PRId64, v);

	return (struct str){ dst, (size_t)n };
}
