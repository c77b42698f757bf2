/*
 * jwt_fixture: keys of an identity provider, its JWKS, and the JWTs it signs.
 */
#ifndef TESTKIT_JWT_FIXTURE_H
#define TESTKIT_JWT_FIXTURE_H

#include <openssl/evp.h>

#include "core/buf.h"
#include "testkit/testkit.h"

#define JWT_FIXTURE_MAX (256UL * 1024)

enum jwt_fixture_kind { SIGNER_RSA, SIGNER_EC, SIGNER_OKP, SIGNER_HMAC };

struct signer {
	enum jwt_fixture_kind kind;
	EVP_PKEY *pkey;          /* but of SIGNER_HMAC */
	struct buf secret;       /* of SIGNER_HMAC */
	unsigned char sig[2048]; /* the last */
	size_t n;
};

/* jwt_fixture_key(s, kind, curve, bits): A new key: a curve for EC, bits for
 * RSA. */
void jwt_fixture_key(struct signer *s, enum jwt_fixture_kind kind,
    const char *curve, unsigned bits);

/* Append base64url. */
void jwt_fixture_put64(struct buf *b, const void *p, size_t n);

/* Append a parameter of the key as base64url, width bytes long (0: shortest).
 */
void jwt_fixture_put_number(
    struct buf *b, const struct signer *s, const char *name, int width);

/* Append the public key as a JWK, with more members ("" or ",…"). */
void jwt_fixture_put_jwk(
    struct buf *b, const struct signer *s, const char *kid, const char *more);

/* Append the signed token over header and claims, which are not checked. */
void jwt_fixture_put_jwt(
    struct buf *b, struct signer *s, const char *header, const char *claims);

#endif /* !TESTKIT_JWT_FIXTURE_H */
