/*
 * JWKS files: keys that are used, skipped, and rejected.
 */
#include "auth/auth_internal.h"
#include "testkit/jwt_fixture.h"

static enum rc
read_keys(struct str json, struct auth_keyset **k, struct wire_err *err)
{
	*err = (struct wire_err){ 0 };
	*k = NULL;
	return auth_keyset_parse(json, k, err);
}

/* A file with one key, and what follows it. */
static void
put_file(struct buf *b, struct signer *s, const char *kid, const char *more,
    const char *after)
{
	buf_reset(b);
	buf_puts(b, "{\"keys\":[");
	jwt_fixture_put_jwk(b, s, kid, more);
	buf_printf(b, "%s]}", after);
}

static void
expect_rejected(struct str json, const char *path, const char *why)
{
	struct auth_keyset *k;
	struct wire_err err;

	ck_assert_int_eq(read_keys(json, &k, &err), RC_INVALID);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.why, why) != NULL, "%s", err.why);
}

TEST(unsupported_keys_are_skipped)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_keyset *k;
	struct wire_err err;
	struct signer s;

	jwt_fixture_key(&s, SIGNER_OKP, NULL, 0);
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}"
	    ",{\"kty\":\"EC\",\"crv\":\"P-384\",\"kid\":\"b\"}"
	    ",{\"kty\":\"RSA\",\"alg\":\"PS256\",\"kid\":\"c\"}"
	    ",{\"kty\":\"RSA\",\"use\":\"enc\",\"kid\":\"d\"}");
	ck_assert_int_eq(read_keys(buf_str(&b), &k, &err), RC_OK);
	ck_assert_uint_eq(auth_keyset_count(k), 1);
	ck_assert_ptr_nonnull(auth_keyset_find(k, STR("a")));
	ck_assert_ptr_null(auth_keyset_find(k, STR("b")));
	/* A single key needs no kid. */
	ck_assert_ptr_eq(auth_keyset_find(k, (struct str){ 0 }),
	    auth_keyset_find(k, STR("a")));
	auth_keyset_unref(k);
	expect_rejected(STR("{\"keys\":[]}"), "/keys", "no key");
	expect_rejected(STR("{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}"),
	    "/keys", "no key");
	EVP_PKEY_free(s.pkey);
	buf_free(&b);
}

TEST(invalid_keys_are_reported_with_their_path)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	struct signer s;

	jwt_fixture_key(&s, SIGNER_OKP, NULL, 0);
	put_file(&b, &s, "a", ",\"d\":\"AAAA\"", "");
	expect_rejected(buf_str(&b), "/keys/0/d", "private");
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"\"}");
	expect_rejected(buf_str(&b), "/keys/1/kid", "another");
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}");
	expect_rejected(buf_str(&b), "/keys/1/x", "32 bytes");
	expect_rejected(
	    STR("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
		"\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"y\":"
		"\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}]}"),
	    "/keys/0", "no point");
	expect_rejected(
	    STR("{\"keys\":[{\"kty\":\"RSA\"}]}"), "/keys/0/n", "base64");
	expect_rejected(STR("{\"keys\":1}"), "/keys", "array");
	expect_rejected(STR("{"), "", "");
	EVP_PKEY_free(s.pkey);
	buf_free(&b);
}

TEST(weak_and_slow_rsa_keys_are_rejected)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX), e = BUF_INIT(JWT_FIXTURE_MAX);
	struct signer weak;
	char *at;

	jwt_fixture_key(&weak, SIGNER_RSA, NULL, 1024);
	put_file(&b, &weak, "a", "", "");
	expect_rejected(buf_str(&b), "/keys/0/n", "2048");
	/* An exponent as long as the modulus would take seconds. */
	at = strstr(b.p, "\"e\":\"");
	ck_assert_ptr_nonnull(at);
	buf_put(&e, b.p, (size_t)(at - b.p));
	buf_puts(&e, "\"e\":\"AQAAAAAB\"}]}");
	expect_rejected(buf_str(&e), "/keys/0/e", "32 bits");
	EVP_PKEY_free(weak.pkey);
	buf_free(&b);
	buf_free(&e);
}
