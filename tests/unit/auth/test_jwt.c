/*
 * JWTs: what is taken, and each way of forging one.
 */
#include "auth/auth_internal.h"
#include "core/mem.h"
#include "signer.h"

#define NOW 1800000000 /* s */

static struct {
	struct signer rsa, ec, okp;
	struct signer other_rsa, stranger, other_okp;
	struct auth_keyset *keys;
} all;

static void
begin(void)
{
	struct buf b = BUF_INIT(SIGNER_MAX);
	struct wire_err err;

	signer_make(&all.rsa, SIGNER_RSA, NULL, 2048);
	signer_make(&all.ec, SIGNER_EC, "P-256", 0);
	signer_make(&all.okp, SIGNER_OKP, NULL, 0);
	signer_make(&all.other_rsa, SIGNER_RSA, NULL, 2048);
	signer_make(&all.stranger, SIGNER_EC, "P-256", 0);
	signer_make(&all.other_okp, SIGNER_OKP, NULL, 0);
	buf_puts(&b, "{\"keys\":[");
	signer_put_jwk(&b, &all.rsa, "rsa", "");
	buf_putc(&b, ',');
	signer_put_jwk(&b, &all.ec, "ec", "");
	buf_putc(&b, ',');
	signer_put_jwk(&b, &all.okp, "okp", "");
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

/* That a token is taken; the caller frees who it is. */
static struct auth_identity *
taken(struct signer *s, const char *header, const char *claims)
{
	struct buf b = BUF_INIT(SIGNER_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];

	signer_put_jwt(&b, s, header, claims);
	ck_assert_msg(verify(buf_str(&b), "", "", &who, why) == RC_OK,
	    "%s %s: %s", header, claims, why);
	buf_free(&b);
	return who;
}

static void
refused_text(struct str token, const char *want)
{
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];

	ck_assert_msg(verify(token, "", "", &who, why) == RC_DENIED,
	    "taken: %.*s", STR_ARG(token));
	ck_assert_msg(
	    strstr(why, want) != NULL, "\"%s\" is not in \"%s\"", want, why);
	ck_assert_ptr_null(who);
}

static void
refused(
    struct signer *s, const char *header, const char *claims, const char *want)
{
	struct buf b = BUF_INIT(SIGNER_MAX);

	signer_put_jwt(&b, s, header, claims);
	refused_text(buf_str(&b), want);
	buf_free(&b);
}

TEST(each_kind_of_key_signs)
{
	struct auth_identity *who;

	free(taken(&all.rsa, RS, ADA));
	free(taken(&all.okp, ED, ADA));
	who = taken(&all.ec, ES,
	    "{\"exp\":1800000100.5,\"sub\":\"ada\",\"role\":\"owner\","
	    "\"tenant\":\"acme\"}");
	ck_assert_int_eq(who->caller.role, WIRE_ROLE_OWNER);
	ck_assert(str_eq(who->caller.user, STR("acme/ada")));
	ck_assert(str_eq(who->caller.tenant, STR("acme")));
	ck_assert_int_eq(
	    who->caller.until.ms, 1800000100500 + AUTH_LEEWAY_S * 1000LL);
	free(who);
}

TEST(roles_decide_what_of_the_claims_counts)
{
	struct auth_identity *who;

	who = taken(&all.ec, ES,
	    "{\"exp\":1800000100,\"sub\":\"device 7\",\"role\":\"terminal\","
	    "\"terminal_id\":\"lamp-1\"}");
	ck_assert(str_eq(who->caller.terminal_id, STR("lamp-1")));
	ck_assert_ptr_null(who->caller.user.p);
	free(who);
	who = taken(&all.ec, ES, "{\"exp\":1800000100,\"role\":\"operator\"}");
	ck_assert_ptr_null(who->caller.user.p);
	free(who);
	refused(&all.ec, ES, "{\"exp\":1800000100,\"role\":\"owner\"}",
	    "claims: /sub: is missing");
	refused(&all.ec, ES, "{\"exp\":1800000100,\"role\":\"terminal\"}",
	    "claims: /terminal_id");
	/* A user is of one tenant only, and cannot claim to be of another. */
	refused(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"acme/ada\"}",
	    "claims: /sub: must not have a /");
	refused(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"x/ada\","
	    "\"tenant\":\"acme\"}",
	    "claims: /sub: must not have a /");
	refused(&all.ec, ES,
	    "{\"exp\":1800000100,\"role\":\"owner\",\"sub\":\"ada\","
	    "\"tenant\":\"acme/x\"}",
	    "claims: /tenant");
}

TEST(the_algorithm_is_the_keys)
{
	struct signer forger;

	/* The public key as a shared secret, as everybody knows it. */
	signer_make(&forger, SIGNER_HMAC, NULL, 0);
	signer_put_number(&forger.secret, &all.rsa, OSSL_PKEY_PARAM_RSA_N, 0);
	refused(&forger, "{\"alg\":\"HS256\",\"kid\":\"rsa\"}", ADA, "/alg");
	buf_free(&forger.secret);
	refused(&all.ec, "{\"alg\":\"none\",\"kid\":\"ec\"}", ADA, "/alg");
	refused(&all.ec, "{\"alg\":\"ES384\",\"kid\":\"ec\"}", ADA, "/alg");
	refused(&all.ec, "{\"alg\":\"es256\",\"kid\":\"ec\"}", ADA, "/alg");
	refused(&all.ec, "{\"alg\":\"ES256\",\"kid\":\"rsa\"}", ADA, "/alg");
	refused(&all.rsa, "{\"alg\":\"PS256\",\"kid\":\"rsa\"}", ADA, "/alg");
	refused(&all.ec, "{\"kid\":\"ec\"}", ADA, "/alg: is missing");
	refused(&all.ec, "{\"alg\":\"ES256\",\"kid\":\"none\"}", ADA, "/kid");
	/* Without a name it is nobody's, since there are three. */
	refused(&all.ec, "{\"alg\":\"ES256\"}", ADA, "/kid");
	refused(&all.ec,
	    "{\"alg\":\"ES256\",\"kid\":\"ec\",\"crit\":[\"b64\"],"
	    "\"b64\":false}",
	    ADA, "/crit");
	refused(&all.ec, "{\"alg\":\"none\",\"alg\":\"ES256\",\"kid\":\"ec\"}",
	    ADA, "twice");
}

TEST(only_the_keys_signature_counts)
{
	struct buf b = BUF_INIT(SIGNER_MAX), other = BUF_INIT(SIGNER_MAX);
	size_t dot, i;

	refused(&all.other_rsa, RS, ADA, "signature is wrong");
	refused(&all.stranger, ES, ADA, "signature is wrong");
	refused(&all.other_okp, ED, ADA, "signature is wrong");
	/* Another's claims before a signature that is good. */
	signer_put_jwt(&b, &all.ec, ES, ADA);
	signer_put64(&other, ES, strlen(ES));
	buf_puts(&other, ".");
	signer_put64(&other, "{\"exp\":1800000100,\"role\":\"operator\"}", 38);
	dot = (size_t)(strrchr(b.p, '.') - b.p);
	buf_put(&other, b.p + dot, b.n - dot);
	refused_text(buf_str(&other), "signature is wrong");
	/* A byte less, a byte more, none, or zeros. */
	refused_text((struct str){ b.p, b.n - 2 }, "signature");
	refused_text((struct str){ b.p, dot + 1 }, "signature is wrong");
	buf_puts(&b, "AA");
	refused_text(buf_str(&b), "signature");
	buf_reset(&other);
	buf_put(&other, b.p, dot + 1);
	for (i = 0; i < 86; i++)
		buf_putc(&other, 'A');
	refused_text(buf_str(&other), "signature is wrong");
	buf_free(&b);
	buf_free(&other);
}

TEST(what_is_no_compact_jws_is_refused)
{
	static const char *const bad[] = { "", ".", "..", "a.b", "a.b.c.d",
		"a.b.c", "e30.e30.", "e30=.e30.AAAA", "e30.e30.AA AA",
		"eyJh.e30.AAAA", "....", "e3 0.e30.AAAA" };
	struct buf b = BUF_INIT(SIGNER_MAX), deep = BUF_INIT(SIGNER_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		ck_assert_msg(
		    verify(str_of(bad[i]), "", "", &who, why) == RC_DENIED,
		    "%s", bad[i]);
		ck_assert_uint_gt(strlen(why), 0);
	}
	/* Padding, and bits that stand for nothing. */
	signer_put_jwt(&b, &all.ec, ES, ADA);
	buf_puts(&b, "==");
	refused_text(buf_str(&b), "signature is not base64url");
	b.n -= 2;
	b.p[b.n - 1] = (char)(b.p[b.n - 1] == 'A' ? 'B' : b.p[b.n - 1] + 1);
	refused_text(buf_str(&b), "signature is not base64url");
	/* As deep as it likes, and as long. */
	buf_puts(&deep, "{\"exp\":1800000100,\"role\":\"operator\",\"x\":");
	for (i = 0; i < 100; i++)
		buf_putc(&deep, '[');
	for (i = 0; i < 100; i++)
		buf_putc(&deep, ']');
	buf_putc(&deep, '}');
	refused(&all.ec, ES, deep.p, "nested");
	buf_reset(&deep);
	buf_puts(&deep,
	    "{\"exp\":1800000100,\"role\":\"operator\","
	    "\"role\":\"owner\"}");
	refused(&all.ec, ES, deep.p, "twice");
	buf_reset(&deep);
	buf_puts(&deep, "{\"exp\":1800000100,\"role\":\"operator\",\"x\":\"");
	for (i = 0; i < AUTH_TOKEN_MAX; i++)
		buf_putc(&deep, 'x');
	buf_puts(&deep, "\"}");
	refused(&all.ec, ES, deep.p, "no JWT");
	buf_free(&b);
	buf_free(&deep);
}

TEST(a_token_has_its_time)
{
	refused(&all.ec, ES, "{\"exp\":1799999940,\"role\":\"operator\"}",
	    "expired");
	free(taken(&all.ec, ES, "{\"exp\":1799999941,\"role\":\"operator\"}"));
	refused(&all.ec, ES,
	    "{\"exp\":1800000100,\"nbf\":1800000061,\"role\":\"operator\"}",
	    "begin");
	free(taken(&all.ec, ES,
	    "{\"exp\":1800000100,\"nbf\":1800000060,\"role\":\"operator\"}"));
	refused(&all.ec, ES, "{\"role\":\"operator\"}", "/exp: is missing");
	refused(&all.ec, ES, "{\"exp\":null,\"role\":\"operator\"}", "/exp");
	refused(&all.ec, ES, "{\"exp\":-1,\"role\":\"operator\"}", "/exp");
	refused(&all.ec, ES, "{\"exp\":1e300,\"role\":\"operator\"}", "/exp");
}

static enum rc
for_us(const char *claims)
{
	struct buf b = BUF_INIT(SIGNER_MAX), c = BUF_INIT(SIGNER_MAX);
	struct auth_identity *who;
	char why[AUTH_WHY_MAX];
	enum rc rc;

	buf_printf(&c, "{\"exp\":1800000100,\"role\":\"operator\"%s}", claims);
	signer_put_jwt(&b, &all.ec, ES, c.p);
	rc = verify(buf_str(&b), "https://id", "soul", &who, why);
	free(who);
	buf_free(&b);
	buf_free(&c);
	return rc;
}

TEST(issuer_and_audience_must_be_ours)
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
