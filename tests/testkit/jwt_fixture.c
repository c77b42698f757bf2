#include "testkit/jwt_fixture.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

void
jwt_fixture_key(struct signer *s, enum jwt_fixture_kind kind, const char *curve,
    unsigned bits)
{
	*s = (struct signer){ .kind = kind };
	buf_init(&s->secret, JWT_FIXTURE_MAX);
	if (kind == SIGNER_RSA)
		s->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits);
	else if (kind == SIGNER_EC)
		s->pkey = EVP_EC_gen(curve);
	else if (kind == SIGNER_OKP)
		s->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	ck_assert(kind == SIGNER_HMAC || s->pkey != NULL);
}

void
jwt_fixture_put64(struct buf *b, const void *p, size_t n)
{
	unsigned char *text = mem_alloc(n / 3 * 4 + 8);
	int len;
	int i;

	len = EVP_EncodeBlock(text, p, (int)n);
	for (i = 0; i < len && text[i] != '='; i++)
		buf_putc(b,
		    text[i] == '+'       ? '-'
			: text[i] == '/' ? '_'
					 : (char)text[i]);
	free(text);
}

void
jwt_fixture_put_number(
    struct buf *b, const struct signer *s, const char *name, int width)
{
	unsigned char bytes[1024];
	BIGNUM *n = NULL;
	int len;

	ck_assert_int_eq(EVP_PKEY_get_bn_param(s->pkey, name, &n), 1);
	len = width > 0 ? BN_bn2binpad(n, bytes, width) : BN_bn2bin(n, bytes);
	jwt_fixture_put64(b, bytes, (size_t)len);
	BN_free(n);
}

void
jwt_fixture_put_jwk(
    struct buf *b, const struct signer *s, const char *kid, const char *more)
{
	unsigned char raw[32];
	size_t n = sizeof(raw);

	buf_printf(b, "{\"kid\":\"%s\"", kid);
	if (s->kind == SIGNER_RSA) {
		buf_puts(b, ",\"kty\":\"RSA\",\"n\":\"");
		jwt_fixture_put_number(b, s, OSSL_PKEY_PARAM_RSA_N, 0);
		buf_puts(b, "\",\"e\":\"");
		jwt_fixture_put_number(b, s, OSSL_PKEY_PARAM_RSA_E, 0);
	} else if (s->kind == SIGNER_EC) {
		buf_puts(b, ",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"");
		jwt_fixture_put_number(b, s, OSSL_PKEY_PARAM_EC_PUB_X, 32);
		buf_puts(b, "\",\"y\":\"");
		jwt_fixture_put_number(b, s, OSSL_PKEY_PARAM_EC_PUB_Y, 32);
	} else {
		ck_assert_int_eq(
		    EVP_PKEY_get_raw_public_key(s->pkey, raw, &n), 1);
		buf_puts(b, ",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"");
		jwt_fixture_put64(b, raw, n);
	}
	buf_printf(b, "\"%s}", more);
}

/* DER to r and s side by side. */
static void
jwt_fixture_flatten(struct signer *s)
{
	const unsigned char *p = s->sig;
	ECDSA_SIG *e = d2i_ECDSA_SIG(NULL, &p, (long)s->n);

	ck_assert_ptr_nonnull(e);
	ck_assert_int_eq(BN_bn2binpad(ECDSA_SIG_get0_r(e), s->sig, 32), 32);
	ck_assert_int_eq(
	    BN_bn2binpad(ECDSA_SIG_get0_s(e), s->sig + 32, 32), 32);
	s->n = 64;
	ECDSA_SIG_free(e);
}

/* Sign text; the signature is in s->sig. */
static void
jwt_fixture_sign(struct signer *s, struct str text)
{
	const EVP_MD *md = s->kind == SIGNER_OKP ? NULL : EVP_sha256();
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned n = 0;

	s->n = sizeof(s->sig);
	if (s->kind == SIGNER_HMAC) {
		ck_assert_ptr_nonnull(
		    HMAC(EVP_sha256(), s->secret.p, (int)s->secret.n,
			(const unsigned char *)text.p, text.n, s->sig, &n));
		s->n = n;
	} else {
		ck_assert_int_eq(
		    EVP_DigestSignInit(ctx, NULL, md, NULL, s->pkey), 1);
		ck_assert_int_eq(EVP_DigestSign(ctx, s->sig, &s->n,
				     (const unsigned char *)text.p, text.n),
		    1);
	}
	if (s->kind == SIGNER_EC)
		jwt_fixture_flatten(s);
	EVP_MD_CTX_free(ctx);
}

void
jwt_fixture_put_jwt(
    struct buf *b, struct signer *s, const char *header, const char *claims)
{
	size_t start = b->n;

	jwt_fixture_put64(b, header, strlen(header));
	buf_putc(b, '.');
	jwt_fixture_put64(b, claims, strlen(claims));
	jwt_fixture_sign(s, (struct str){ b->p + start, b->n - start });
	buf_putc(b, '.');
	jwt_fixture_put64(b, s->sig, s->n);
	ck_assert_int_eq(buf_rc(b), RC_OK);
}
