/*
 * JWKS files: which keys count, and which make the file one that cannot be
 * used.
 */
#include "auth/auth_internal.h"
#include "signer.h"

static enum rc
read_keys(struct str json, struct auth_keyset **k, struct wire_err *err)
{
	*err = (struct wire_err){ 0 };
	*k = NULL;
	return auth_keyset_parse(json, k, err);
}

/* A file with one key, between a head and what follows. */
static void
put_file(struct buf *b, struct signer *s, const char *kid, const char *more,
    const char *after)
{
	buf_reset(b);
	buf_puts(b, "{\"keys\":[");
	signer_put_jwk(b, s, kid, more);
	buf_printf(b, "%s]}", after);
}

static void
refused(struct str json, const char *path, const char *why)
{
	struct auth_keyset *k;
	struct wire_err err;

	ck_assert_int_eq(read_keys(json, &k, &err), RC_INVALID);
	ck_assert_str_eq(err.path, path);
	ck_assert_msg(strstr(err.why, why) != NULL, "%s", err.why);
}

TEST(keys_for_other_things_are_left_out)
{
	struct buf b = BUF_INIT(SIGNER_MAX);
	struct auth_keyset *k;
	struct wire_err err;
	struct signer s;

	signer_make(&s, SIGNER_OKP, NULL, 0);
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"AAAA\"}"
	    ",{\"kty\":\"EC\",\"crv\":\"P-384\",\"kid\":\"b\"}"
	    ",{\"kty\":\"RSA\",\"alg\":\"PS256\",\"kid\":\"c\"}"
	    ",{\"kty\":\"RSA\",\"use\":\"enc\",\"kid\":\"d\"}");
	ck_assert_int_eq(read_keys(buf_str(&b), &k, &err), RC_OK);
	ck_assert_uint_eq(auth_keyset_count(k), 1);
	ck_assert_ptr_nonnull(auth_keyset_find(k, STR("a")));
	ck_assert_ptr_null(auth_keyset_find(k, STR("b")));
	/* The only one needs no name. */
	ck_assert_ptr_eq(auth_keyset_find(k, (struct str){ 0 }),
	    auth_keyset_find(k, STR("a")));
	auth_keyset_unref(k);
	refused(STR("{\"keys\":[]}"), "/keys", "no key");
	refused(STR("{\"keys\":[{\"kty\":\"oct\",\"k\":\"AA\"}]}"), "/keys",
	    "no key");
	EVP_PKEY_free(s.pkey);
	buf_free(&b);
}

TEST(broken_keys_are_named)
{
	struct buf b = BUF_INIT(SIGNER_MAX);
	struct signer s;

	signer_make(&s, SIGNER_OKP, NULL, 0);
	put_file(&b, &s, "a", ",\"d\":\"AAAA\"", "");
	refused(buf_str(&b), "/keys/0/d", "private");
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"a\",\"x\":\"\"}");
	refused(buf_str(&b), "/keys/1/kid", "another");
	put_file(&b, &s, "a", "",
	    ",{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}");
	refused(buf_str(&b), "/keys/1/x", "32 bytes");
	refused(STR("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":"
		    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\",\"y\":"
		    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}]}"),
	    "/keys/0", "no point");
	refused(STR("{\"keys\":[{\"kty\":\"RSA\"}]}"), "/keys/0/n", "base64");
	refused(STR("{\"keys\":1}"), "/keys", "array");
	refused(STR("{"), "", "");
	EVP_PKEY_free(s.pkey);
	buf_free(&b);
}

TEST(an_rsa_key_is_neither_weak_nor_slow)
{
	struct buf b = BUF_INIT(SIGNER_MAX), e = BUF_INIT(SIGNER_MAX);
	struct signer weak;
	char *at;

	signer_make(&weak, SIGNER_RSA, NULL, 1024);
	put_file(&b, &weak, "a", "", "");
	refused(buf_str(&b), "/keys/0/n", "2048");
	/* An exponent as long as the modulus would take seconds. */
	at = strstr(b.p, "\"e\":\"");
	ck_assert_ptr_nonnull(at);
	buf_put(&e, b.p, (size_t)(at - b.p));
	buf_puts(&e, "\"e\":\"AQAAAAAB\"}]}");
	refused(buf_str(&e), "/keys/0/e", "32 bits");
	EVP_PKEY_free(weak.pkey);
	buf_free(&b);
	buf_free(&e);
}
