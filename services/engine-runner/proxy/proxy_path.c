#include "proxy/proxy_path.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base64.h"

#define PATH_PREFIX "/r/"
#define PATH_MAC    32 /* bytes of HMAC-SHA-256 */
#define PATH_LABEL  "soul model proxy 1\n"

static bool
path_is_run(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '-' || c == '_'))
			return false;
	}
	return s.n > 0 && s.n <= PROXY_RUN_MAX;
}

/* Of "<run>/<epoch>/<budget>", as it is written. */
static void
path_mac(const unsigned char secret[PROXY_SECRET_BYTES], struct str claims,
    unsigned char mac[PATH_MAC])
{
	unsigned char text[sizeof(PATH_LABEL) + PROXY_PATH_MAX];
	size_t n = sizeof(PATH_LABEL) - 1;
	unsigned len = 0;

	memcpy(text, PATH_LABEL, n);
	memcpy(text + n, claims.p, claims.n);
	if (HMAC(EVP_sha256(), secret, PROXY_SECRET_BYTES, text, n + claims.n,
		mac, &len) == NULL ||
	    len != PATH_MAC)
		abort();
}

enum rc
proxy_path_write(const unsigned char secret[PROXY_SECRET_BYTES],
    const struct proxy_grant *g, char dst[PROXY_PATH_MAX])
{
	unsigned char mac[PATH_MAC];
	char text[BASE64URL_CHARS(PATH_MAC)];
	int n;

	if (!path_is_run(g->run) || g->epoch < 0 || g->budget < 0)
		return RC_INVALID;
	n = snprintf(dst, PROXY_PATH_MAX, PATH_PREFIX "%.*s/%lld/%lld",
	    STR_ARG(g->run), (long long)g->epoch, (long long)g->budget);
	path_mac(secret,
	    (struct str){ dst + sizeof(PATH_PREFIX) - 1,
		(size_t)n - (sizeof(PATH_PREFIX) - 1) },
	    mac);
	base64url_encode(mac, sizeof(mac), text);
	n += snprintf(dst + n, PROXY_PATH_MAX - (size_t)n, "/%s", text);
	return n < PROXY_PATH_MAX ? RC_OK : RC_INVALID;
}

enum rc
proxy_path_read(const unsigned char secret[PROXY_SECRET_BYTES],
    struct str target, struct proxy_grant *g, struct str *rest)
{
	unsigned char is[PATH_MAC], mac[PATH_MAC];
	struct str s = target, claims, epoch, budget, text;
	size_t n = 0;

	if (!str_starts(s, STR(PATH_PREFIX)))
		return RC_INVALID;
	s.p += sizeof(PATH_PREFIX) - 1;
	s.n -= sizeof(PATH_PREFIX) - 1;
	claims.p = s.p;
	g->run = str_split(&s, '/');
	epoch = str_split(&s, '/');
	budget = str_split(&s, '/');
	if (s.p == NULL || !path_is_run(g->run) ||
	    str_to_i64(epoch, 0, INT64_MAX, &g->epoch) != RC_OK ||
	    str_to_i64(budget, 0, INT64_MAX, &g->budget) != RC_OK)
		return RC_INVALID;
	claims.n = (size_t)(budget.p + budget.n - claims.p);
	text = str_split(&s, '/');
	/* Leading zeros could make the numbers long. */
	if (s.p == NULL || claims.n > PROXY_PATH_MAX ||
	    base64url_decode(text, is, sizeof(is), &n) != RC_OK ||
	    n != sizeof(is))
		return RC_INVALID;
	path_mac(secret, claims, mac);
	*rest = (struct str){ s.p - 1, s.n + 1 };
	return CRYPTO_memcmp(is, mac, sizeof(mac)) == 0 ? RC_OK : RC_DENIED;
}

struct str
proxy_path_engine(struct str run)
{
	const char *first = memchr(run.p, '-', run.n);
	const char *last = memrchr(run.p, '-', run.n);

	if (first == NULL || last - first < 2)
		return (struct str){ NULL, 0 };
	return (struct str){ first + 1, (size_t)(last - first - 1) };
}
