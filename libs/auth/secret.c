/*
 * Secrets of terminals, and digests of tokens.  Secrets are random, so few
 * iterations suffice; mosquitto uses as many by default.
 */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "core/base64.h"
#include "core/id.h"

#define RANDOM_BYTES   24
#define SALT_BYTES     12
#define DIGEST_BYTES   64
#define ITERATIONS     101
#define ITERATIONS_MAX 1000000

/* base64 of n bytes, with its padding. */
#define BASE64_LEN(n) (((n) + 2) / 3 * 4)

static void
secret_random(unsigned char *p, int n)
{
	if (RAND_bytes(p, n) != 1)
		abort();
}

void
auth_secret_new(char secret[AUTH_SECRET_MAX])
{
	unsigned char random[RANDOM_BYTES];

	secret_random(random, sizeof(random));
	base64url_encode(random, sizeof(random), secret);
	OPENSSL_cleanse(random, sizeof(random));
}

static void
secret_derive(struct str secret, const unsigned char *salt, int n_salt,
    int iterations, unsigned char out[DIGEST_BYTES])
{
	if (PKCS5_PBKDF2_HMAC(secret.p, (int)secret.n, salt, n_salt, iterations,
		EVP_sha512(), DIGEST_BYTES, out) != 1)
		abort();
}

void
auth_secret_hash(struct str secret, char hash[AUTH_HASH_MAX])
{
	unsigned char salt[SALT_BYTES], sum[DIGEST_BYTES];
	unsigned char salt64[BASE64_LEN(SALT_BYTES) + 1];
	unsigned char sum64[BASE64_LEN(DIGEST_BYTES) + 1];

	secret_random(salt, sizeof(salt));
	secret_derive(secret, salt, sizeof(salt), ITERATIONS, sum);
	EVP_EncodeBlock(salt64, salt, sizeof(salt));
	EVP_EncodeBlock(sum64, sum, sizeof(sum));
	snprintf(hash, AUTH_HASH_MAX, "$7$%d$%s$%s", ITERATIONS, (char *)salt64,
	    (char *)sum64);
}

/* Decode base64 of at most n bytes; -1 if it is not valid. */
static int
secret_decode64(struct str s, unsigned char *out, size_t n)
{
	unsigned char raw[BASE64_LEN(DIGEST_BYTES) / 4 * 3];
	int len, pad = 0;

	if (s.n == 0 || s.n % 4 != 0 || s.n / 4 * 3 > sizeof(raw))
		return -1;
	while (pad < 2 && s.p[s.n - 1 - (size_t)pad] == '=')
		pad++;
	len = EVP_DecodeBlock(raw, (const unsigned char *)s.p, (int)s.n) - pad;
	if (len < 0 || (size_t)len > n)
		return -1;
	memcpy(out, raw, (size_t)len);
	return len;
}

bool
auth_secret_is(struct str secret, struct str hash)
{
	unsigned char salt[DIGEST_BYTES], want[DIGEST_BYTES];
	unsigned char sum[DIGEST_BYTES];
	struct str rest = hash, count;
	int64_t iterations;
	int n_salt;

	if (!str_starts(hash, STR("$7$")) || secret.n > AUTH_TOKEN_MAX)
		return false;
	rest.p += 3;
	rest.n -= 3;
	count = str_split(&rest, '$');
	if (str_to_i64(count, 1, ITERATIONS_MAX, &iterations) != RC_OK ||
	    rest.p == NULL)
		return false;
	n_salt = secret_decode64(str_split(&rest, '$'), salt, sizeof(salt));
	if (n_salt < 0 || rest.p == NULL ||
	    secret_decode64(rest, want, sizeof(want)) != DIGEST_BYTES)
		return false;
	secret_derive(secret, salt, n_salt, (int)iterations, sum);
	return CRYPTO_memcmp(sum, want, sizeof(sum)) == 0;
}

void
auth_terminal_token(struct str terminal_id, struct str secret,
    char token[AUTH_TERMINAL_TOKEN_MAX])
{
	char id64[BASE64URL_CHARS(ID_MAX)];

	if (terminal_id.n > ID_MAX || secret.n >= AUTH_SECRET_MAX)
		abort();
	base64url_encode(terminal_id.p, terminal_id.n, id64);
	snprintf(token, AUTH_TERMINAL_TOKEN_MAX, "soul_body.%s.%.*s", id64,
	    STR_ARG(secret));
}

/* ---- digests ---- */

#define MAP_KEY_BYTES 16

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
digest_nibble(char c)
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
		int hi = digest_nibble(hex.p[2 * i]),
		    lo = digest_nibble(hex.p[2 * i + 1]);
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
	return (struct str){ (const char *)d->bytes, MAP_KEY_BYTES };
}

struct auth_proof
auth_digest_prove(const struct auth_digest *d, enum auth_proof_kind kind)
{
	struct auth_proof p = { .kind = kind };

	_Static_assert(sizeof(p.digest) == sizeof(d->bytes), "a digest");
	memcpy(p.digest, d->bytes, sizeof(p.digest));
	return p;
}

uint64_t
auth_digest_id(const struct auth_digest *d)
{
	uint64_t key;

	/* The end: the start is the key in maps. */
	memcpy(&key, d->bytes + sizeof(d->bytes) - sizeof(key), sizeof(key));
	return key;
}
