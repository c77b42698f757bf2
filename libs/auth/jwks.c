/*
 * A JWKS file (RFC 7517): its public keys, each for one algorithm, and
 * signatures by them, through OpenSSL.  Any thread.
 */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/auth.h"
#include "auth/auth_internal.h"
#include "core/arena.h"
#include "core/base64.h"
#include "core/log.h"
#include "core/mem.h"
#include "wire/msgs.h"

/* The cost of verifying grows with both. */
#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 4096
#define RSA_E_BYTES  4
#define RSA_BYTES    (RSA_BITS_MAX / 8)
/* A coordinate of P-256, a key of Ed25519; a signature has two of these. */
#define HALF_BYTES 32
#define SIG_BYTES  (2 * HALF_BYTES)

enum jwk_type { KIND_RSA, KIND_EC, KIND_OKP, KIND_N };

static const struct {
	const char *kty, *crv, *alg;
} jwk_types[KIND_N] = {
	[KIND_RSA] = { "RSA", NULL, "RS256" },
	[KIND_EC] = { "EC", "P-256", "ES256" },
	[KIND_OKP] = { "OKP", "Ed25519", "EdDSA" },
};

/* What is wrong with a key: the member ("": all of it), and why. */
struct jwk_error {
	const char *member;
	const char *why;
};

struct auth_jwk {
	enum jwk_type type;
	EVP_PKEY *pkey;
	char *kid; /* NULL: none */
	struct auth_digest digest;
};

static bool
jwk_is_or_absent(struct str s, const char *want)
{
	return s.p == NULL || str_eq(s, str_of(want));
}

static enum jwk_type
jwk_kind(const struct wire_jwks_keys *w)
{
	size_t i;

	for (i = 0; i < KIND_N; i++) {
		if (str_eq(w->kty, str_of(jwk_types[i].kty)) &&
		    (jwk_types[i].crv == NULL ||
			str_eq(w->crv, str_of(jwk_types[i].crv))) &&
		    jwk_is_or_absent(w->alg, jwk_types[i].alg))
			break;
	}
	return (enum jwk_type)i;
}

static bool
jwk_supported(const struct wire_jwks_keys *w)
{
	return jwk_kind(w) != KIND_N && jwk_is_or_absent(w->use, "sig");
}

static enum rc
jwk_fail(struct jwk_error *error, const char *member, const char *why)
{
	*error = (struct jwk_error){ member, why };
	return RC_INVALID;
}

/* The bytes of a member, 1 to max. */
static enum rc
jwk_decode(struct str s, unsigned char *dst, size_t max, size_t *n)
{
	if (s.p == NULL || base64url_decode(s, dst, max, n) != RC_OK)
		return RC_INVALID;
	return *n > 0 ? RC_OK : RC_INVALID;
}

/* A key of the parameters, or NULL if OpenSSL rejects them. */
static EVP_PKEY *
jwk_build(const char *type, OSSL_PARAM_BLD *bld)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(bld);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *pkey = NULL;

	if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
	    EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	return pkey;
}

static enum rc
jwk_rsa_new(
    const struct wire_jwks_keys *w, EVP_PKEY **out, struct jwk_error *error)
{
	unsigned char n[RSA_BYTES + 1], e[RSA_E_BYTES];
	size_t n_len, e_len;
	OSSL_PARAM_BLD *bld;
	BIGNUM *bn, *be;

	if (jwk_decode(w->n, n, sizeof(n), &n_len) != RC_OK)
		return jwk_fail(
		    error, "n", "must be base64url of up to 4096 bits");
	if (jwk_decode(w->e, e, sizeof(e), &e_len) != RC_OK)
		return jwk_fail(
		    error, "e", "must be base64url of up to 32 bits");
	bn = BN_bin2bn(n, (int)n_len, NULL);
	be = BN_bin2bn(e, (int)e_len, NULL);
	bld = OSSL_PARAM_BLD_new();
	if (bn == NULL || be == NULL || bld == NULL)
		abort();
	if (BN_num_bits(bn) < RSA_BITS_MIN || BN_num_bits(bn) > RSA_BITS_MAX)
		jwk_fail(error, "n", "must have 2048 to 4096 bits");
	else if (!BN_is_odd(bn))
		jwk_fail(error, "n", "is no product of two primes");
	else if (!BN_is_odd(be) || BN_is_one(be))
		jwk_fail(error, "e", "must be odd, and over 1");
	else if (OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_N, bn) == 1 &&
	    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_RSA_E, be) == 1)
		*out = jwk_build("RSA", bld);
	OSSL_PARAM_BLD_free(bld);
	BN_free(bn);
	BN_free(be);
	return *out != NULL ? RC_OK : RC_INVALID;
}

static enum rc
jwk_ec_new(
    const struct wire_jwks_keys *w, EVP_PKEY **out, struct jwk_error *error)
{
	unsigned char point[1 + 2 * HALF_BYTES] = { 4 };
	unsigned char *x = point + 1, *y = x + HALF_BYTES;
	OSSL_PARAM_BLD *bld;
	size_t n;

	if (jwk_decode(w->x, x, HALF_BYTES, &n) != RC_OK || n != HALF_BYTES)
		return jwk_fail(error, "x", "must be base64url of 32 bytes");
	if (jwk_decode(w->y, y, HALF_BYTES, &n) != RC_OK || n != HALF_BYTES)
		return jwk_fail(error, "y", "must be base64url of 32 bytes");
	bld = OSSL_PARAM_BLD_new();
	if (bld == NULL)
		abort();
	if (OSSL_PARAM_BLD_push_utf8_string(
		bld, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
	    OSSL_PARAM_BLD_push_octet_string(
		bld, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)) == 1)
		*out = jwk_build("EC", bld);
	OSSL_PARAM_BLD_free(bld);
	return *out != NULL ? RC_OK
			    : jwk_fail(error, "", "is no point of P-256");
}

static enum rc
jwk_okp_new(
    const struct wire_jwks_keys *w, EVP_PKEY **out, struct jwk_error *error)
{
	unsigned char x[HALF_BYTES];
	size_t n;

	if (jwk_decode(w->x, x, sizeof(x), &n) != RC_OK || n != sizeof(x))
		return jwk_fail(error, "x", "must be base64url of 32 bytes");
	*out =
	    EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x, sizeof(x));
	return *out != NULL ? RC_OK : RC_INVALID;
}

/* Of the key, whose type tells its algorithm, and its kid. */
static struct auth_digest
jwk_digest(EVP_PKEY *pkey, struct str kid)
{
	struct buf text = BUF_INIT(AUTH_FILE_MAX + 2UL * RSA_BYTES);
	unsigned char *der = NULL;
	struct auth_digest d;
	int n = i2d_PUBKEY(pkey, &der);

	if (n <= 0)
		abort();
	buf_put(&text, der, (size_t)n);
	buf_put_str(&text, kid);
	d = auth_digest_of(buf_str(&text));
	OPENSSL_free(der);
	buf_free(&text);
	return d;
}

static enum rc
jwk_new(const struct wire_jwks_keys *w, struct auth_jwk **out,
    struct jwk_error *error)
{
	static enum rc (*const make[KIND_N])(const struct wire_jwks_keys *w,
	    EVP_PKEY **pkey, struct jwk_error *error) = {
		[KIND_RSA] = jwk_rsa_new,
		[KIND_EC] = jwk_ec_new,
		[KIND_OKP] = jwk_okp_new,
	};
	enum jwk_type type = jwk_kind(w);
	EVP_PKEY *pkey = NULL;
	struct auth_jwk *k;
	enum rc rc;

	*error = (struct jwk_error){ "", "is no key" };
	if (w->d.p != NULL)
		return jwk_fail(error, "d",
		    "is the private part: keep it where tokens are signed, "
		    "and take a new key, since this one is known here");
	rc = make[type](w, &pkey, error);
	if (rc != RC_OK)
		return rc;
	k = mem_zalloc(sizeof(*k));
	k->type = type;
	k->pkey = pkey;
	k->kid = str_dup(w->kid);
	k->digest = jwk_digest(pkey, w->kid);
	*out = k;
	return RC_OK;
}

static void
jwk_free(struct auth_jwk *k)
{
	EVP_PKEY_free(k->pkey);
	free(k->kid);
	free(k);
}

static struct str
jwk_kid(const struct auth_jwk *k)
{
	return str_of(k->kid);
}

const char *
auth_jwk_alg(const struct auth_jwk *k)
{
	return jwk_types[k->type].alg;
}

/* r and s concatenated, as in JWS, to DER, as OpenSSL takes it. */
static int
jwk_sig_to_der(struct str sig, unsigned char **der)
{
	const unsigned char *p = (const unsigned char *)sig.p;
	ECDSA_SIG *e = ECDSA_SIG_new();
	BIGNUM *r = BN_bin2bn(p, HALF_BYTES, NULL);
	BIGNUM *s = BN_bin2bn(p + HALF_BYTES, HALF_BYTES, NULL);
	int n;

	if (e == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(e, r, s) != 1)
		abort();
	n = i2d_ECDSA_SIG(e, der);
	ECDSA_SIG_free(e);
	return n;
}

static bool
jwk_verify_with(const struct auth_jwk *k, struct str text,
    const unsigned char *sig, size_t n)
{
	const EVP_MD *md = k->type == KIND_OKP ? NULL : EVP_sha256();
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool is;

	if (ctx == NULL)
		abort();
	is = EVP_DigestVerifyInit(ctx, NULL, md, NULL, k->pkey) == 1 &&
	    EVP_DigestVerify(
		ctx, sig, n, (const unsigned char *)text.p, text.n) == 1;
	EVP_MD_CTX_free(ctx);
	return is;
}

enum rc
auth_jwk_verify(const struct auth_jwk *k, struct str text, struct str sig)
{
	unsigned char *der = NULL;
	bool is = false;
	int n;

	if (k->type == KIND_RSA) {
		is = jwk_verify_with(
		    k, text, (const unsigned char *)sig.p, sig.n);
	} else if (sig.n != SIG_BYTES) {
		is = false;
	} else if (k->type == KIND_OKP) {
		is = jwk_verify_with(
		    k, text, (const unsigned char *)sig.p, sig.n);
	} else {
		n = jwk_sig_to_der(sig, &der);
		is = n > 0 && jwk_verify_with(k, text, der, (size_t)n);
		OPENSSL_free(der);
	}
	return is ? RC_OK : RC_DENIED;
}

/* ---- the set ---- */

struct auth_keyset {
	_Atomic int refs;
	size_t n;
	struct auth_jwk *key[AUTH_KEYS_MAX];
};

static enum rc
keyset_fail(struct wire_err *err, size_t i, const char *member, const char *why)
{
	snprintf(err->path, sizeof(err->path), "/keys/%zu%s%s", i,
	    member[0] != '\0' ? "/" : "", member);
	snprintf(err->why, sizeof(err->why), "%s", why);
	return RC_INVALID;
}

static bool
keyset_has_kid(const struct auth_keyset *k, struct str kid)
{
	size_t i;

	for (i = 0; i < k->n; i++) {
		if (str_eq(jwk_kid(k->key[i]), kid))
			return true;
	}
	return false;
}

static enum rc
keyset_add(struct auth_keyset *k, const struct wire_jwks_keys *w, size_t i,
    struct wire_err *err)
{
	struct jwk_error error = { "", "" };
	enum rc rc;

	/* Providers also list keys for encryption, other curves or algorithms,
	 * and shared secrets. */
	if (!jwk_supported(w)) {
		log_info("auth.key_skipped", LOG_I("index", i),
		    LOG_V("kid", w->kid), LOG_V("kty", w->kty));
		return RC_OK;
	}
	if (keyset_has_kid(k, w->kid))
		return keyset_fail(err, i, "kid", "another key has it");
	rc = jwk_new(w, &k->key[k->n], &error);
	if (rc != RC_OK)
		return keyset_fail(err, i, error.member, error.why);
	k->n++;
	return RC_OK;
}

enum rc
auth_keyset_parse(
    struct str json, struct auth_keyset **out, struct wire_err *err)
{
	struct arena *a = arena_new(WIRE_ARENA_MAX);
	struct auth_keyset *k = mem_zalloc(sizeof(*k));
	struct wire_jwks file = { 0 };
	size_t i;
	enum rc rc;

	k->refs = 1;
	rc = wire_decode(&wire_jwks_desc, json, a, &file, err);
	for (i = 0; rc == RC_OK && i < file.n_keys; i++)
		rc = keyset_add(k, &file.keys[i], i, err);
	if (rc == RC_OK && k->n == 0) {
		snprintf(err->path, sizeof(err->path), "/keys");
		snprintf(err->why, sizeof(err->why),
		    "has no key that can be used: RSA for RS256, EC P-256 for "
		    "ES256 or OKP Ed25519 for EdDSA");
		rc = RC_INVALID;
	}
	arena_free(a);
	if (rc != RC_OK)
		auth_keyset_unref(k);
	else
		*out = k;
	return rc;
}

struct auth_keyset *
auth_keyset_ref(struct auth_keyset *k)
{
	if (k != NULL)
		atomic_fetch_add(&k->refs, 1);
	return k;
}

void
auth_keyset_unref(struct auth_keyset *k)
{
	size_t i;

	if (k == NULL || atomic_fetch_sub(&k->refs, 1) > 1)
		return;
	for (i = 0; i < k->n; i++)
		jwk_free(k->key[i]);
	free(k);
}

size_t
auth_keyset_count(const struct auth_keyset *k)
{
	return k->n;
}

const struct auth_jwk *
auth_keyset_find(const struct auth_keyset *k, struct str kid)
{
	size_t i;

	if (kid.p == NULL)
		return k->n == 1 ? k->key[0] : NULL;
	for (i = 0; i < k->n; i++) {
		if (jwk_kid(k->key[i]).p != NULL &&
		    str_eq(jwk_kid(k->key[i]), kid))
			return k->key[i];
	}
	return NULL;
}

const struct auth_digest *
auth_jwk_digest(const struct auth_jwk *k)
{
	return &k->digest;
}

bool
auth_keyset_has(const struct auth_keyset *k, const struct auth_proof *p)
{
	size_t i;

	for (i = 0; k != NULL && i < k->n; i++)
		if (memcmp(k->key[i]->digest.bytes, p->digest,
			sizeof(p->digest)) == 0)
			return true;
	return false;
}
