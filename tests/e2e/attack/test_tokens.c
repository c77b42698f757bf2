/*
 * Invalid tokens and tokens of other issuers: each is rejected, few rejections
 * are logged, and other clients are not affected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"
#include "testkit/stack/load.h"
#include "testkit/stack/lock.h"
#include "testkit/stack/probe.h"
#include "testkit/stack/sign.h"
#include "wire/iface.h"

STACK_SHARED({ .locked = true })

#define GATEWAY (stack.service[STACK_CHAT_GATEWAY].http)

/* A route that needs authentication and has no side effect. */
#define SOULS "/v1/souls"

static int
request_with(const char *path, const char *head)
{
	struct tk_response a = { 0 };
	struct probe k = { GATEWAY, 21, "GET", path, NULL, head, NULL };
	char challenge[256];
	int status = probe(&k, &a);

	if (status == 401) {
		ck_assert(tk_response_has(&a, "\"unauthenticated\""));
		ck_assert_str_ne(tk_response_field(&a, "WWW-Authenticate",
				     challenge, sizeof(challenge)),
		    "");
		ck_assert(!tk_response_has(&a, "token-of-"));
	}
	tk_response_free(&a);
	return status;
}

/* ---- the header ---- */

#define A64  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A1K  A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64 A64
#define A9K  A1K A1K A1K A1K A1K A1K A1K A1K A1K
#define GOOD "Authorization: Bearer token-of-ada-3a77\r\n"

static const struct {
	const char *path, *head;
} broken[] = {
	{ SOULS, "" },
	{ SOULS, "Authorization:\r\n" },
	{ SOULS, "Authorization: Bearer\r\n" },
	{ SOULS, "Authorization: Bearer \r\n" },
	{ SOULS, "Authorization: Bearer  \t \r\n" },
	{ SOULS, "Authorization: token-of-ada-3a77\r\n" },
	{ SOULS, "Authorization: Basic dG9rZW4tb2YtYWRhLTNhNzc6\r\n" },
	{ SOULS, "Authorization: Bearer token-of-nobody\r\n" },
	{ SOULS, "Authorization: Bearer token-of-ada-3a7\r\n" },
	{ SOULS, "Authorization: Bearer token-of-ada-3a777\r\n" },
	{ SOULS, "Authorization: Bearer TOKEN-OF-ADA-3A77\r\n" },
	{ SOULS, "Authorization: Bearer token-of-ada-3a77, x\r\n" },
	{ SOULS, "Authorization: Bearer token-of-ada-3a77 x\r\n" },
	{ SOULS, "Authorization: Bearer token-of-yesterday-ee\r\n" },
	{ SOULS, GOOD GOOD },
	{ SOULS, GOOD "authorization: Bearer token-of-mallory-66d0\r\n" },
	{ SOULS, "Proxy-Authorization: Bearer token-of-ada-3a77\r\n" },
	{ SOULS, "X-Authorization: Bearer token-of-ada-3a77\r\n" },
	{ SOULS, "Cookie: access_token=token-of-ada-3a77\r\n" },
	{ SOULS "?access_token=token-of-ada-3a77", "" },
	{ SOULS "?access_token=token-of-ada-3a77", GOOD },
	{ SOULS "?token=token-of-ada-3a77", "" },
	{ SOULS, "Authorization: Bearer \xff\xfe\xc0\xaf\r\n" },
	{ SOULS, "Authorization: Bearer \xe7\x81\xaf\r\n" },
	{ SOULS, "Authorization: Bearer soul_body.\r\n" },
	{ SOULS, "Authorization: Bearer soul_body..\r\n" },
	{ SOULS, "Authorization: Bearer soul_body.dmljdGltLTE.\r\n" },
	{ SOULS, "Authorization: Bearer soul_body.dmljdGltLTE.AAAA\r\n" },
	{ SOULS, "Authorization: Bearer soul_body.Kg.AAAA\r\n" },
	{ SOULS, "Authorization: Bearer soul_body." A1K ".AAAA\r\n" },
	{ SOULS, "Authorization: Bearer a.b.c\r\n" },
	{ SOULS, "Authorization: Bearer ...\r\n" },
	{ SOULS, "Authorization: Bearer " A9K "\r\n" },
};

/* The token decides: with a valid one the same request succeeds. */
static void
check_good(void)
{
	ck_assert_int_eq(request_with(SOULS, GOOD), 200);
	ck_assert_int_eq(
	    request_with(SOULS, "authorization: bearer token-of-ada-3a77\r\n"),
	    200);
}

TEST_T(a_request_without_a_token_is_rejected, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t i;
	int status;

	for (i = 0; i < NELEM(broken); i++) {
		status = request_with(broken[i].path, broken[i].head);
		/* 400: invalid as an HTTP header. */
		ck_assert_msg(status == 401 || status == 400, "%s %.80s: %d",
		    broken[i].path, broken[i].head, status);
	}
	check_good();
	load_end(n, NULL);
}

/* ---- JWTs ---- */

#define HEADER  "{\"alg\":\"RS256\",\"kid\":\"rsa\"}"
#define HEADER_ "{\"alg\":\"ES256\",\"kid\":\"ec\"}"
#define WHO     "\"sub\":\"ada\",\"role\":\"owner\""
#define FROM    "\"iss\":\"" SIGN_ISSUER "\",\"aud\":\"" SIGN_AUDIENCE "\""
/* In an hour; an hour ago. */
#define LATER       "@later"
#define EXPIRED     "@past"
#define TIME        "\"exp\":" LATER
#define GOOD_CLAIMS "{" TIME "," FROM "," WHO "}"

static const struct {
	enum sign_key key;
	const char *header, *claims;
	int status;
} jwts[] = {
	{ SIGN_RSA, HEADER, GOOD_CLAIMS, 200 },
	{ SIGN_EC, HEADER_, GOOD_CLAIMS, 200 },
	{ SIGN_RSA, HEADER,
	    "{" TIME ",\"iss\":\"" SIGN_ISSUER
	    "\",\"aud\":[\"x\",\"soul\"]," WHO "}",
	    200 },
	/* Without a signature, or with one that anybody can compute. */
	{ SIGN_NOTHING, "{\"alg\":\"none\"}", GOOD_CLAIMS, 401 },
	{ SIGN_NOTHING, "{\"alg\":\"none\",\"kid\":\"rsa\"}", GOOD_CLAIMS,
	    401 },
	{ SIGN_NOTHING, "{\"alg\":\"None\",\"kid\":\"rsa\"}", GOOD_CLAIMS,
	    401 },
	{ SIGN_NOTHING, "{\"alg\":\"\",\"kid\":\"rsa\"}", GOOD_CLAIMS, 401 },
	{ SIGN_NOTHING, HEADER, GOOD_CLAIMS, 401 },
	{ SIGN_PUBLIC, "{\"alg\":\"HS256\",\"kid\":\"rsa\"}", GOOD_CLAIMS,
	    401 },
	{ SIGN_PUBLIC, "{\"alg\":\"HS256\"}", GOOD_CLAIMS, 401 },
	{ SIGN_PUBLIC, HEADER, GOOD_CLAIMS, 401 },
	/* Another key under a known key id, and without a key id. */
	{ SIGN_STRANGER, HEADER, GOOD_CLAIMS, 401 },
	{ SIGN_STRANGER, "{\"alg\":\"RS256\",\"kid\":\"mine\"}", GOOD_CLAIMS,
	    401 },
	{ SIGN_STRANGER, "{\"alg\":\"RS256\"}", GOOD_CLAIMS, 401 },
	{ SIGN_STRANGER,
	    "{\"alg\":\"RS256\",\"kid\":\"mine\",\"jku\":\"http://127.0.0.1:1/"
	    "\",\"jwk\":{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}}",
	    GOOD_CLAIMS, 401 },
	{ SIGN_STRANGER, "{\"alg\":\"RS256\",\"kid\":\"../../dev/null\"}",
	    GOOD_CLAIMS, 401 },
	/* The key of another algorithm. */
	{ SIGN_RSA, "{\"alg\":\"RS256\",\"kid\":\"ec\"}", GOOD_CLAIMS, 401 },
	{ SIGN_EC, "{\"alg\":\"ES256\",\"kid\":\"rsa\"}", GOOD_CLAIMS, 401 },
	{ SIGN_RSA, "{\"alg\":\"RS512\",\"kid\":\"rsa\"}", GOOD_CLAIMS, 401 },
	{ SIGN_RSA, "{\"alg\":\"PS256\",\"kid\":\"rsa\"}", GOOD_CLAIMS, 401 },
	{ SIGN_RSA,
	    "{\"alg\":\"RS256\",\"kid\":\"rsa\",\"crit\":[\"b64\"],\"b64\":"
	    "false}",
	    GOOD_CLAIMS, 401 },
	/* Expiry and validity times. */
	{ SIGN_RSA, HEADER, "{\"exp\":" EXPIRED "," FROM "," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{" FROM "," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{\"exp\":\"" LATER "\"," FROM "," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{\"exp\":1e400," FROM "," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{\"exp\":-1," FROM "," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{" TIME ",\"nbf\":" LATER "," FROM "," WHO "}",
	    401 },
	/* Wrong issuer, wrong audience. */
	{ SIGN_RSA, HEADER,
	    "{" TIME ",\"iss\":\"https://evil.example\",\"aud\":\"soul\"," WHO
	    "}",
	    401 },
	{ SIGN_RSA, HEADER, "{" TIME ",\"aud\":\"soul\"," WHO "}", 401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME ",\"iss\":\"" SIGN_ISSUER "\",\"aud\":\"mail\"," WHO "}",
	    401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME ",\"iss\":\"" SIGN_ISSUER "\",\"aud\":[]," WHO "}", 401 },
	{ SIGN_RSA, HEADER, "{" TIME ",\"iss\":\"" SIGN_ISSUER "\"," WHO "}",
	    401 },
	/* Without a valid subject. */
	{ SIGN_RSA, HEADER, "{" TIME "," FROM ",\"role\":\"owner\"}", 401 },
	{ SIGN_RSA, HEADER, "{" TIME "," FROM ",\"sub\":\"ada\"}", 401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME "," FROM ",\"sub\":\"ada\",\"role\":\"root\"}", 401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME "," FROM ",\"sub\":\"acme/ada\",\"role\":\"owner\"}",
	    401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME "," FROM ",\"sub\":\"ada\\u0000\",\"role\":\"owner\"}",
	    401 },
	{ SIGN_RSA, HEADER,
	    "{" TIME "," FROM "," WHO ",\"tenant\":\"../acme\"}", 401 },
	{ SIGN_RSA, HEADER, "{" TIME "," FROM "," WHO ",\"tenant\":\"\"}",
	    401 },
	{ SIGN_RSA, HEADER, "null", 401 },
	{ SIGN_RSA, HEADER, "", 401 },
	{ SIGN_RSA, "[]", GOOD_CLAIMS, 401 },
};

/* The claims with the times filled in. */
static const char *
timed(const char *claims)
{
	static char text[1024];
	struct buf b = BUF_INIT(sizeof(text) - 1);
	const char *at;
	long long now = (long long)time(NULL);

	for (at = claims; *at != '\0'; at++) {
		if (strncmp(at, LATER, strlen(LATER)) == 0) {
			buf_printf(&b, "%lld", now + 3600);
			at += strlen(LATER) - 1;
		} else if (strncmp(at, EXPIRED, strlen(EXPIRED)) == 0) {
			buf_printf(&b, "%lld", now - 3600);
			at += strlen(EXPIRED) - 1;
		} else {
			buf_putc(&b, *at);
		}
	}
	snprintf(text, sizeof(text), "%.*s", (int)b.n, b.n > 0 ? b.p : "");
	buf_free(&b);
	return text;
}

static int
request_with_jwt(const char *jwt)
{
	char head[9000];

	snprintf(head, sizeof(head), "Authorization: Bearer %s\r\n", jwt);
	return request_with(SOULS, head);
}

TEST_T(tokens_of_other_issuers_are_rejected, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t i;
	int status;

	for (i = 0; i < NELEM(jwts); i++) {
		status = request_with_jwt(sign_jwt(
		    jwts[i].key, jwts[i].header, timed(jwts[i].claims)));
		ck_assert_msg(status == jwts[i].status, "%zu: %s %s: %d", i,
		    jwts[i].header, jwts[i].claims, status);
	}
	load_end(n, NULL);
}

/* A valid token, truncated anywhere, and with any letter changed. */
TEST_T(invalid_signatures_are_rejected, 60)
{
	char jwt[2048];
	size_t n, i;
	char was;

	snprintf(jwt, sizeof(jwt), "%s",
	    sign_jwt(SIGN_EC, HEADER_, timed(GOOD_CLAIMS)));
	n = strlen(jwt);
	ck_assert_int_eq(request_with_jwt(jwt), 200);
	for (i = 0; i < n - 1; i += 7) {
		was = jwt[i];
		jwt[i] = was == 'A' ? 'B' : 'A';
		ck_assert_msg(
		    request_with_jwt(jwt) == 401, "%zu changed: %s", i, jwt);
		jwt[i] = '\0';
		ck_assert_msg(request_with_jwt(jwt) == 401, "cut: %s", jwt);
		jwt[i] = was;
	}
	ck_assert_int_eq(request_with_jwt(jwt), 200);
}

/* A user of the same name in another tenant has no access. */
TEST_T(a_tenant_is_part_of_the_user, 60)
{
	static const char *const tenants[] = { "", ",\"tenant\":\"acme\"",
		",\"tenant\":\"globex\"", ",\"tenant\":\"Acme\"" };
	struct tk_response a = { 0 };
	char claims[512];
	size_t i;

	json_decref(client_ok(&stack, "POST", SOULS,
	    json_pack("{ssssss}", "user_id", "acme/ada", "name", "only-of-acme",
		"mbti_type", "INTJ")));
	for (i = 0; i < NELEM(tenants); i++) {
		snprintf(claims, sizeof(claims), "{%s,%s,%s%s}", TIME, FROM,
		    WHO, tenants[i]);
		ck_assert_int_eq(probe(&(struct probe){ .port = GATEWAY,
					   .from = 22,
					   .path = SOULS,
					   .token = sign_jwt(SIGN_RSA, HEADER,
					       timed(claims)) },
				     &a),
		    200);
		ck_assert_int_eq(tk_response_has(&a, "only-of-acme"), i == 1);
	}
	tk_response_free(&a);
}

/* ---- terminal tokens ---- */

static int
chat_as_body(const char *token)
{
	return probe(
	    &(struct probe){ .port = GATEWAY,
		.from = 23,
		.path = "/v1/chat",
		.token = token,
		.body = "{\"session_id\":\"s\",\"terminal_id\":\"" LOCK_OTHER
			"\",\"inputs\":[{\"type\":\"keyboard_text\",\"text\":"
			"\"hello\"}]}" },
	    NULL);
}

/*
 * A token that has been used stays cached for AUTH_REMEMBER_S, but the terminal
 * owns nothing any more that it could be used for.
 */
TEST_T(a_revoked_terminal_is_rejected, 60)
{
	char first[320], second[320], third[320];
	int status;

	client_select_soul(&stack, "mallory", LOCK_OTHER,
	    client_create_soul(&stack, "mallory", "x", "INTJ"));
	snprintf(first, sizeof(first), "%s", lock_body_token(LOCK_OTHER));
	lock_rotate(&stack, LOCK_OTHER);
	snprintf(second, sizeof(second), "%s", lock_body_token(LOCK_OTHER));
	ck_assert_int_eq(chat_as_body(first), 401);
	ck_assert_int_ne(chat_as_body(second), 401);
	lock_rotate(&stack, LOCK_OTHER);
	snprintf(third, sizeof(third), "%s", lock_body_token(LOCK_OTHER));
	json_decref(
	    client_ok(&stack, "DELETE", "/v1/terminals/" LOCK_OTHER, NULL));
	ck_assert_int_eq(chat_as_body(third), 401);
	ck_assert_int_eq(chat_as_body(first), 401);
	status = chat_as_body(second);
	ck_assert_msg(status >= 400 && status < 500, "%d", status);
}

/* ---- logs ---- */

TEST_T(rejections_do_not_fill_the_log, 60)
{
	struct client o = load_prepare(&stack);
	struct load *n = load_begin(&o);
	size_t lines, i;
	time_t began = time(NULL);

	for (i = 0; i < 150; i++)
		ck_assert_int_eq(probe(&(struct probe){ .port = GATEWAY,
					   .from = 24,
					   .path = SOULS,
					   .token = "token-of-nobody-at-all" },
				     NULL),
		    401);
	lines = stack_lines(&stack, STACK_CHAT_GATEWAY,
	    "ev=auth.rejected reason=bad_token address=127.0.0.24");
	ck_assert_uint_ge(lines, 1);
	/* A burst of five, then one a second. */
	ck_assert_uint_le(lines, 6 + (size_t)(time(NULL) - began));
	load_end(n, NULL);
}
