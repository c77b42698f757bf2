/* New keys for each stack. */
#include "testkit/stack/sign.h"

#include <openssl/pem.h>

#include "testkit/jwt_fixture.h"

#define JWTS 4

static struct signer keys[SIGN_KEYS];

/* The confusion of a verifier that accepts any key for any algorithm. */
static void
sign_use_public_key(struct buf *secret, const struct signer *s)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *p;
	long n;

	ck_assert_int_eq(PEM_write_bio_PUBKEY(bio, s->pkey), 1);
	n = BIO_get_mem_data(bio, &p);
	buf_put(secret, p, (size_t)n);
	BIO_free(bio);
}

void
sign_begin(const char *path)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);

	jwt_fixture_key(&keys[SIGN_RSA], SIGNER_RSA, NULL, 2048);
	jwt_fixture_key(&keys[SIGN_EC], SIGNER_EC, "P-256", 0);
	jwt_fixture_key(&keys[SIGN_STRANGER], SIGNER_RSA, NULL, 2048);
	jwt_fixture_key(&keys[SIGN_PUBLIC], SIGNER_HMAC, NULL, 0);
	sign_use_public_key(&keys[SIGN_PUBLIC].secret, &keys[SIGN_RSA]);
	buf_puts(&b, "{\"keys\":[");
	jwt_fixture_put_jwk(&b, &keys[SIGN_RSA], "rsa", ",\"alg\":\"RS256\"");
	buf_putc(&b, ',');
	jwt_fixture_put_jwk(&b, &keys[SIGN_EC], "ec", "");
	buf_puts(&b, "]}");
	buf_putc(&b, '\0');
	tk_write_file(path, b.p);
	buf_free(&b);
}

const char *
sign_jwt(enum sign_key key, const char *header, const char *claims)
{
	static struct buf made[JWTS];
	static size_t next;
	struct buf *b = &made[next++ % JWTS];

	buf_free(b);
	buf_init(b, JWT_FIXTURE_MAX);
	if (key != SIGN_NOTHING) {
		jwt_fixture_put_jwt(b, &keys[key], header, claims);
	} else {
		jwt_fixture_put64(b, header, strlen(header));
		buf_putc(b, '.');
		jwt_fixture_put64(b, claims, strlen(claims));
		buf_putc(b, '.');
	}
	buf_putc(b, '\0');
	return b->p;
}
