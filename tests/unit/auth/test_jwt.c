/*
 * JWTs: valid ones, and ways of forging one.
 */
#include <openssl/core_names.h>

#include "auth/auth_internal.h"
#include "core/mem.h"
#include "testkit/jwt_fixture.h"

#define NOW 1800000000 /* s */

static struct {
	struct signer rsa, ec, okp;
	struct signer other_rsa, stranger, other_okp;
	struct auth_keyset *keys;
} all;

static void
begin(void)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	struct wire_err err;

	jwt_fixture_key(&all.rsa, SIGNER_RSA, NULL, 2048);
	jwt_fixture_key(&all.ec, SIGNER_EC, "P-256", 0);
	jwt_fixture_key(&all.okp, SIGNER_OKP, NULL, 0);
	jwt_fixture_key(&all.other_rsa, SIGNER_RSA, NULL, 2048);
	jwt_fixture_key(&all.stranger, SIGNER_EC, "P-256", 0);
	jwt_fixture_key(&all.other_okp, SIGNER_OKP, NULL, 0);
	buf_puts(&b, "{\"keys\":[");
	jwt_fixture_put_jwk(&b, &all.rsa, "rsa", "");
	buf_putc(&b, ',');
	jwt_fixture_put_jwk(&b, &all.ec, "ec", "");
	buf_putc(&b, ',');
	jwt_fixture_put_jwk(&b, &all.okp, "okp", "");
	buf_puts(&b, "]}");
	ck_assert_msg(auth_keyset_parse(buf_str(&b), &all.keys, &err) == RC_OK,
	    "%s %s", err.path, err.why);
	ck_assert_uint_eq(auth_keyset_count(all.keys), 3);
	buf_free(&b);
}

static const char *
end(void)
{
	auth_keyset_unref(all.keys);
	EVP_PKEY_free(all.rsa.pkey);
	EVP_PKEY_free(all.ec.pkey);
	EVP_PKEY_free(all.okp.pkey);
	EVP_PKEY_free(all.other_rsa.pkey);
	EVP_PKEY_free(all.stranger.pkey);
	EVP_PKEY_free(all.other_okp.pkey);
	return NULL;
}
TK_SHARE(begin, NULL, end)

#define RS  "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"typ\":\"JWT\"}"
#define ES  "{\"alg\":\"ES256\",\"kid\":\"ec\"}"
#define ED  "{\"alg\":\"EdDSA\",\"kid\":\"okp\"}"
#define ADA "{\"exp\":1800000100,\"sub\":\"ada\",\"role\":\"owner\"}"

static enum rc
verify(struct str token, const char *issuer, const char *audience,
    struct auth_identity **who, char why[AUTH_WHY_MAX])
{
	const struct auth_jwt_rules rules = { all.keys, issuer, audience };

	why[0] = '\0';
	*who = NULL;
	return auth_jwt_verify(
	    token, &rules, (struct wall){ NOW * 1000LL }, who, why);
}

/* The token must be accepted; the caller frees the identity. */
static struct auth_identity *
expect_accepted(struct signer *s, const char *header, const char *claims)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];

	jwt_fixture_put_jwt(&b, s, header, claims);
	ck_assert_msg(verify(buf_str(&b), "", "", &who, why) == RC_OK,
	    "%s %s: %s", header, claims, why);
	buf_free(&b);
	return who;
}

static void
expect_rejected_text(struct str token, const char *want)
{
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];

	ck_assert_msg(verify(token, "", "", &who, why) == RC_DENIED,
	    "expect_accepted: %.*s", STR_ARG(token));
	ck_assert_msg(
	    strstr(why, want) != NULL, "\"%s\" is not in \"%s\"", want, why);
	ck_assert_ptr_null(who);
}

static void
expect_rejected(
    struct signer *s, const char *header, const char *claims, const char *want)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);

	jwt_fixture_put_jwt(&b, s, header, claims);
	expect_rejected_text(buf_str(&b), want);
	buf_free(&b);
}

TEST(tokens_signed_by_each_kind_of_key_are_accepted)
{
	struct auth_identity *who;

	free(expect_accepted(&all.rsa, RS, ADA));
	free(expect_accepted(&all.okp, ED, ADA));
	who = expect_accepted(&all.ec, ES,
	    "{\"exp\":1800000100.5,\"sub\":\"ada\",\"role\":\"owner\","
	    "\"tenant\":\"acme\"}");
	ck_assert_int_eq(who->caller.role, WIRE_ROLE_OWNER);
	ck_assert(str_eq(who->caller.user, STR("acme/ada")));
	ck_assert(str_eq(who->caller.tenant, STR("acme")));
	ck_assert_int_eq(
	    who->caller.until.ms, 1800000100500 + AUTH_LEEWAY_S * 1000LL);
	free(who);
}

TEST(the_role_decides_which_claims_are_required)
{
	struct auth_identity *who;

	who = expect_accepted(&all.ec, ES,
	    "{\"exp\":1800000100,\"sub\":\"device 7\",\"role\":\"terminal\","
	    "\"terminal_id\":\"lamp-1\"}");
	ck_assert(str_eq(who->caller.terminal_id, STR("lamp-1")));
	ck_assert_ptr_null(who->caller.user.p);
	free(who);
	who = expect_accepted(
	    &all.ec, ES, "{\"exp\":1800000100,\"role\":\"operator\"}");
	ck_assert_ptr_null(who->caller.user.p);
	free(who);
	who = expect_accepted(&all.ec, ES,
	    "{\"exp\":1800000100,\"sub\":\"doorbell\",\"role\":\"notifier\","
	    "\"users\":[\"ada\"]}");
	ck_assert(str_eq(who->caller.users, STR("ada\n")));
	ck_assert_ptr_null(who->caller.user.p);
	free(who);
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"notifier\"}",
	    "claims: /users: is missing");
	expect_rejected(&all.ec, ES, "{\"exp\":1800000100,\"role\":\"owner\"}",
	    "claims: /sub: is missing");
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"terminal\"}",
	    "claims: /terminal_id");
	/* A user cannot claim another tenant. */
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"acme/ada\"}",
	    "claims: /sub: must not have a /");
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"x/ada\","
	    "\"tenant\":\"acme\"}",
	    "claims: /sub: must not have a /");
	/* Guests of souls have no tokens. */
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\","
	    "\"sub\":\"star:human:bob\",\"tenant\":\"acme\"}",
	    "claims: /sub: must not begin with star:");
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"ada\","
	    "\"tenant\":\"acme/x\"}",
	    "claims: /tenant");
}

TEST(the_algorithm_must_be_that_of_the_key)
{
	struct signer forger;

	/* The public key as an HMAC secret. */
	jwt_fixture_key(&forger, SIGNER_HMAC, NULL, 0);
	jwt_fixture_put_number(
	    &forger.secret, &all.rsa, OSSL_PKEY_PARAM_RSA_N, 0);
	expect_rejected(
	    &forger, "{\"alg\":\"HS256\",\"kid\":\"rsa\"}", ADA, "/alg");
	buf_free(&forger.secret);
	expect_rejected(
	    &all.ec, "{\"alg\":\"none\",\"kid\":\"ec\"}", ADA, "/alg");
	expect_rejected(
	    &all.ec, "{\"alg\":\"ES384\",\"kid\":\"ec\"}", ADA, "/alg");
	expect_rejected(
	    &all.ec, "{\"alg\":\"es256\",\"kid\":\"ec\"}", ADA, "/alg");
	expect_rejected(
	    &all.ec, "{\"alg\":\"ES256\",\"kid\":\"rsa\"}", ADA, "/alg");
	expect_rejected(
	    &all.rsa, "{\"alg\":\"PS256\",\"kid\":\"rsa\"}", ADA, "/alg");
	expect_rejected(&all.ec, "{\"kid\":\"ec\"}", ADA, "/alg: is missing");
	expect_rejected(
	    &all.ec, "{\"alg\":\"ES256\",\"kid\":\"none\"}", ADA, "/kid");
	/* Without a kid it is ambiguous, since there are three keys. */
	expect_rejected(&all.ec, "{\"alg\":\"ES256\"}", ADA, "/kid");
	expect_rejected(&all.ec,
	    "{\"alg\":\"ES256\",\"kid\":\"ec\",\"crit\":[\"b64\"],"
	    "\"b64\":false}",
	    ADA, "/crit");
	expect_rejected(&all.ec,
	    "{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"ec\"}", ADA,
	    "twice");
}

TEST(a_wrong_signature_is_rejected)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX),
		   other = BUF_INIT(JWT_FIXTURE_MAX);
	size_t dot, i;

	expect_rejected(&all.other_rsa, RS, ADA, "signature is wrong");
	expect_rejected(&all.stranger, ES, ADA, "signature is wrong");
	expect_rejected(&all.other_okp, ED, ADA, "signature is wrong");
	/* Other claims before a valid signature. */
	jwt_fixture_put_jwt(&b, &all.ec, ES, ADA);
	jwt_fixture_put64(&other, ES, strlen(ES));
	buf_puts(&other, ".");
	jwt_fixture_put64(
	    &other, "{\"exp\":1800000100,\"role\":\"operator\"}", 38);
	dot = (size_t)(strrchr(b.p, '.') - b.p);
	buf_put(&other, b.p + dot, b.n - dot);
	expect_rejected_text(buf_str(&other), "signature is wrong");
	/* Truncated, empty, extended, or zeros. */
	expect_rejected_text((struct str){ b.p, b.n - 2 }, "signature");
	expect_rejected_text(
	    (struct str){ b.p, dot + 1 }, "signature is wrong");
	buf_puts(&b, "AA");
	expect_rejected_text(buf_str(&b), "signature");
	buf_reset(&other);
	buf_put(&other, b.p, dot + 1);
	for (i = 0; i < 86; i++)
		buf_putc(&other, 'A');
	expect_rejected_text(buf_str(&other), "signature is wrong");
	buf_free(&b);
	buf_free(&other);
}

TEST(malformed_tokens_are_rejected)
{
	static const char *const bad[] = { "", ".", "..", "a.b", "a.b.c.d",
		"a.b.c", "e30.e30.", "e30=.e30.AAAA", "e30.e30.AA AA",
		"eyJh.e30.AAAA", "....", "e3 0.e30.AAAA" };
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX),
		   deep = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		ck_assert_msg(
		    verify(str_of(bad[i]), "", "", &who, why) == RC_DENIED,
		    "%s", bad[i]);
		ck_assert_uint_gt(strlen(why), 0);
	}
	/* Padding, and non-zero unused bits. */
	jwt_fixture_put_jwt(&b, &all.ec, ES, ADA);
	buf_puts(&b, "==");
	expect_rejected_text(buf_str(&b), "signature is not base64url");
	b.n -= 2;
	b.p[b.n - 1] = (char)(b.p[b.n - 1] == 'A' ? 'B' : b.p[b.n - 1] + 1);
	expect_rejected_text(buf_str(&b), "signature is not base64url");
	/* Too deep, duplicate members, too long. */
	buf_puts(&deep, "{\"exp\":1800000100,\"role\":\"operator\",\"x\":");
	for (i = 0; i < 100; i++)
		buf_putc(&deep, '[');
	for (i = 0; i < 100; i++)
		buf_putc(&deep, ']');
	buf_putc(&deep, '}');
	expect_rejected(&all.ec, ES, deep.p, "nested");
	buf_reset(&deep);
	buf_puts(&deep,
	    "{\"exp\":1800000100,\"role\":\"operator\","
	    "\"role\":\"owner\"}");
	expect_rejected(&all.ec, ES, deep.p, "twice");
	buf_reset(&deep);
	buf_puts(&deep, "{\"exp\":1800000100,\"role\":\"operator\",\"x\":\"");
	for (i = 0; i < AUTH_TOKEN_MAX; i++)
		buf_putc(&deep, 'x');
	buf_puts(&deep, "\"}");
	expect_rejected(&all.ec, ES, deep.p, "no JWT");
	buf_free(&b);
	buf_free(&deep);
}

TEST(expiry_and_not_before_are_checked)
{
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1799999940,\"role\":\"operator\"}", "expired");
	free(expect_accepted(
	    &all.ec, ES, "{\"exp\":1799999941,\"role\":\"operator\"}"));
	expect_rejected(&all.ec, ES,
	    "{\"exp\":1800000100,\"nbf\":1800000061,\"role\":\"operator\"}",
	    "begin");
	free(expect_accepted(&all.ec, ES,
	    "{\"exp\":1800000100,\"nbf\":1800000060,\"role\":\"operator\"}"));
	expect_rejected(
	    &all.ec, ES, "{\"role\":\"operator\"}", "/exp: is missing");
	expect_rejected(
	    &all.ec, ES, "{\"exp\":null,\"role\":\"operator\"}", "/exp");
	expect_rejected(
	    &all.ec, ES, "{\"exp\":-1,\"role\":\"operator\"}", "/exp");
	expect_rejected(
	    &all.ec, ES, "{\"exp\":1e300,\"role\":\"operator\"}", "/exp");
}

static enum rc
for_us(const char *claims)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX), c = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];
	enum rc rc;

	buf_printf(&c, "{\"exp\":1800000100,\"role\":\"operator\"%s}", claims);
	jwt_fixture_put_jwt(&b, &all.ec, ES, c.p);
	rc = verify(buf_str(&b), "https://id", "soul", &who, why);
	free(who);
	buf_free(&b);
	buf_free(&c);
	return rc;
}

TEST(issuer_and_audience_are_checked)
{
#define ISS ",\"iss\":\"https://id\""
	ck_assert_int_eq(for_us(ISS ",\"aud\":\"soul\""), RC_OK);
	ck_assert_int_eq(for_us(ISS ",\"aud\":[\"mail\",\"soul\"]"), RC_OK);
	ck_assert_int_eq(for_us(ISS ",\"aud\":[\"mail\"]"), RC_DENIED);
	ck_assert_int_eq(for_us(ISS ",\"aud\":[]"), RC_DENIED);
	ck_assert_int_eq(for_us(ISS ",\"aud\":\"souls\""), RC_DENIED);
	ck_assert_int_eq(for_us(ISS ",\"aud\":{\"soul\":1}"), RC_DENIED);
	ck_assert_int_eq(for_us(ISS ",\"aud\":[[\"soul\"]]"), RC_DENIED);
	ck_assert_int_eq(for_us(ISS), RC_DENIED);
	ck_assert_int_eq(for_us(",\"aud\":\"soul\""), RC_DENIED);
	ck_assert_int_eq(
	    for_us(",\"iss\":\"https://id/\",\"aud\":\"soul\""), RC_DENIED);
}
