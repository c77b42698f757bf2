/*
 * Fuzzes access tokens, signed claims, and the files of tokens and keys: each
 * is rejected with a reason or gives a caller within the rules.
 */
#include <openssl/evp.h>
#include <string.h>

#include "auth/auth_internal.h"
#include "auth/token_file.h"
#include "core/buf.h"
#include "core/id.h"
#include "must.h"

#define NOW_MS 1800000000000
#define PART   (128UL * 1024)

/* The private and public key of RFC 8032, 7.1, test 1; two other keys. */
static const unsigned char ours[32] = { 0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd,
	0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49,
	0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae,
	0x7f, 0x60 };
static const char jwks[] =
    "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"o\",\"x\":"
    "\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"},"
    "{\"kid\":\"r\",\"kty\":\"RSA\",\"n\":\"mQWi5KTu0Xsmp61NX0miqoy2EUAL"
    "uWy9wxDvKDe5-yL-FbjXcJKj3CIXsUVlRE6IWIdEdpvT6gu9i4SJYQIW"
    "3d0KM15zH6mj1VcGbEYXLII_rRe1GOCcAj-706syK9uKnq7UYa9lVR30"
    "PYp8ozdC2IeZ_8qGpaAqsIs8ioLup9AS_n8JKoLApW_CCPl-En_A90x2"
    "f1YYTs9u9MxjIqLmg8g0Ja1AnELyKOrZ-far9dD_1EYpJ1DMiP6hyd78"
    "rd-TXFGTYmbbob6nkSsiOlhG6AeQqVhSwMtgmnxv8htjbqi6t1XNk7B2"
    "5TVPxp4BUMRNg-9vbNMtmJnA5BCfvpCZDw\",\"e\":\"AQAB\"},{\"kid\":\""
    "e\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"W_qiJQ-XF0fLq1CsFXIJXG3"
    "5aLeQ5a-rzJhP2b_u7a0\",\"y\":\"zVmBK0Ujfm0o5J7Ov8faNdna_Eucd"
    "wLO2hBTFPC7JXU\"}]}";

static const struct auth_keyset *
keys(void)
{
	static struct auth_keyset *k;
	struct wire_err err;

	if (k == NULL)
		must(auth_keyset_parse(str_of(jwks), &k, &err) == RC_OK);
	return k;
}

static void
put64(struct buf *b, struct str s)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn"
				     "opqrstuvwxyz0123456789-_";
	uint32_t bits = 0;
	int have = 0;

	for (size_t i = 0; i < s.n; i++) {
		bits = bits << 8 | (unsigned char)s.p[i];
		for (have += 8; have >= 6; have -= 6)
			buf_putc(b, digits[bits >> (have - 6) & 63]);
	}
	if (have > 0)
		buf_putc(b, digits[bits << (6 - have) & 63]);
}

/* A token with this header and these claims, signed by the key o. */
static void
put_token(struct buf *b, struct str header, struct str claims)
{
	EVP_PKEY *key = EVP_PKEY_new_raw_private_key(
	    EVP_PKEY_ED25519, NULL, ours, sizeof(ours));
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char sig[64];
	size_t n = sizeof(sig);

	put64(b, header);
	buf_putc(b, '.');
	put64(b, claims);
	must(EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1);
	must(EVP_DigestSign(ctx, sig, &n, (const unsigned char *)b->p, b->n) ==
	    1);
	buf_putc(b, '.');
	put64(b, (struct str){ (const char *)sig, n });
	EVP_MD_CTX_free(ctx);
	EVP_PKEY_free(key);
}

/* The rules for all callers. */
static void
check_caller(const struct auth_caller *c)
{
	const char *slash;

	must(c->role <= WIRE_ROLE_OPERATOR);
	must(c->tenant.p == NULL || c->tenant.n <= AUTH_TENANT_MAX);
	must(c->role != WIRE_ROLE_OWNER || c->user.p != NULL);
	must((c->role == WIRE_ROLE_TERMINAL) == (c->terminal_id.p != NULL));
	must((c->role == WIRE_ROLE_NOTIFIER) == (c->users.p != NULL));
	must(c->terminal_id.p == NULL || id_terminal_valid(c->terminal_id));
	if (c->user.p == NULL)
		return;
	must(c->role != WIRE_ROLE_TERMINAL && id_valid(c->user));
	slash = memrchr(c->user.p, '/', c->user.n);
	if (c->tenant.p == NULL)
		must(slash == NULL);
	else
		must(slash == c->user.p + c->tenant.n &&
		    str_starts(c->user, c->tenant));
}

static void
token(struct str s, const char *audience)
{
	const struct auth_jwt_rules rules = { keys(), "", audience };
	struct auth_identity *who = NULL;
	char why[AUTH_WHY_MAX] = "";
	enum rc rc =
	    auth_jwt_verify(s, &rules, (struct wall){ NOW_MS }, &who, why);

	must(rc == RC_OK || rc == RC_DENIED);
	must((rc == RC_OK) == (who != NULL));
	must((rc == RC_OK) == (why[0] == '\0'));
	if (who != NULL) {
		must(who->caller.until.ms > NOW_MS);
		check_caller(&who->caller);
	}
	free(who);
}

static void
signed_token(struct str header, struct str claims)
{
	struct buf b = BUF_INIT(PART * 2);

	put_token(&b, header, claims);
	token(buf_str(&b), "");
	token(buf_str(&b), "soul");
	buf_free(&b);
}

static void
files(struct str json, bool of_keys)
{
	struct auth_tokens *t = NULL;
	struct auth_keyset *k = NULL;
	struct wire_err err = { 0 };
	enum rc rc = of_keys ? auth_keyset_parse(json, &k, &err)
			     : auth_tokens_parse(json, &t, &err);

	must(rc == RC_OK || err.why[0] != '\0');
	must((rc == RC_OK) == (t != NULL || k != NULL));
	must(t == NULL || auth_tokens_count(t) <= AUTH_TOKENS_MAX);
	must(k == NULL ||
	    (auth_keyset_count(k) > 0 &&
		auth_keyset_count(k) <= AUTH_KEYS_MAX));
	auth_tokens_free(t);
	auth_keyset_unref(k);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str s = { (const char *)data + 1, n - 1 };

	if (n == 0)
		return 0;
	if (data[0] == 'c')
		signed_token(STR("{\"alg\":\"EdDSA\",\"kid\":\"o\"}"), s);
	else if (data[0] == 'h')
		signed_token(
		    s, STR("{\"exp\":1900000000,\"role\":\"provisioner\"}"));
	else if (data[0] == 'f' || data[0] == 'k')
		files(s, data[0] == 'k');
	else
		token(s, "");
	return 0;
}
