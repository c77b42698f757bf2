/*
 * Checks on a loop: files that change, terminals, cached tokens.
 */
#include "auth/auth.h"

#include <stdio.h>
#include <unistd.h>

#include "auth/auth_internal.h"
#include "core/log.h"
#include "core/mem.h"
#include "testkit/jwt_fixture.h"
#include "testkit/loop.h"

#define WAIT_MS 20000

/* One check and its result. */
struct result {
	bool done;
	enum rc rc;
	enum wire_role role;
	char user[160], terminal[160], tenant[160], why[600];
	struct auth_caller caller; /* its texts are the three above */
	uint64_t key;
};

struct auth_test {
	struct loop *loop;
	struct worker_pool *workers;
	struct metric_set *metrics;
	struct auth *auth;
	const char *tokens, *jwks;
	struct signer signer;
};

static void
copy_text(struct str s, char *dst, size_t n)
{
	str_copy(s.p != NULL ? s : STR("-"), dst, n);
}

static void
on_caller(void *arg, enum rc rc, const struct auth_caller *c, const char *why)
{
	struct result *a = arg;

	ck_assert(!a->done);
	a->done = true;
	a->rc = rc;
	copy_text(str_of(why), a->why, sizeof(a->why));
	if (rc != RC_OK)
		return;
	copy_text(c->user, a->user, sizeof(a->user));
	copy_text(c->terminal_id, a->terminal, sizeof(a->terminal));
	a->role = c->role;
	a->key = c->key;
	copy_text(c->tenant, a->tenant, sizeof(a->tenant));
	a->caller = *c;
}

static bool
is_done(void *arg)
{
	return ((struct result *)arg)->done;
}

static struct result
check_token(struct auth_test *r, const char *token)
{
	struct result a = { 0 };

	auth_check(r->auth, str_of(token), on_caller, &a);
	ck_assert(tk_loop_until(r->loop, is_done, &a, WAIT_MS));
	return a;
}

/* The file has one token; fields are the members beside its digest. */
static void
write_token(struct auth_test *r, const char *token, const char *fields)
{
	struct auth_digest d = auth_digest_of(str_of(token));
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	const char *new = tk_path("new");
	size_t i;

	buf_puts(&b, "{\"tokens\":[{\"sha256\":\"");
	for (i = 0; i < sizeof(d.bytes); i++)
		buf_printf(&b, "%02x", d.bytes[i]);
	buf_printf(&b, "\",%s}]}", fields);
	tk_write_file(new, b.p);
	ck_assert_int_eq(rename(new, r->tokens), 0);
	buf_free(&b);
}

static void
write_tokens(struct auth_test *r, const char *token)
{
	write_token(r, token, "\"role\":\"owner\",\"user\":\"ada\"");
}

static void
write_keys(struct auth_test *r, const char *kid)
{
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	const char *new = tk_path("new");

	buf_puts(&b, "{\"keys\":[");
	jwt_fixture_put_jwk(&b, &r->signer, kid, "");
	buf_puts(&b, "]}");
	tk_write_file(new, b.p);
	ck_assert_int_eq(rename(new, r->jwks), 0);
	buf_free(&b);
}

static void
start(struct auth_test *r)
{
	*r = (struct auth_test){ .tokens = tk_path("tokens.json"),
		.jwks = tk_path("jwks.json") };
	r->loop = loop_new(64);
	r->workers = worker_new(r->loop, 1, 8);
	r->metrics = metric_set_new();
	jwt_fixture_key(&r->signer, SIGNER_OKP, NULL, 0);
	write_tokens(r, "one");
	write_keys(r, "a");
	ck_assert_int_eq(auth_new(&(struct auth_opts){ .loop = r->loop,
				      .workers = r->workers,
				      .tokens_file = r->tokens,
				      .jwks_file = r->jwks,
				      .issuer = "",
				      .audience = "",
				      .metrics = r->metrics },
			     &r->auth),
	    RC_OK);
}

static void
end(struct auth_test *r)
{
	worker_free(r->workers);
	auth_free(r->auth);
	metric_set_free(r->metrics);
	loop_free(r->loop);
	EVP_PKEY_free(r->signer.pkey);
}

static void
sign_as(struct auth_test *r, struct buf *b, const char *user, const char *role)
{
	char claims[128];

	snprintf(claims, sizeof(claims),
	    "{\"exp\":%lld,\"sub\":\"%s\",\"role\":\"%s\"}",
	    (long long)(clock_wall().ms / 1000 + 1000), user, role);
	jwt_fixture_put_jwt(
	    b, &r->signer, "{\"alg\":\"EdDSA\",\"kid\":\"a\"}", claims);
}

static void
sign(struct auth_test *r, struct buf *b)
{
	sign_as(r, b, "bob", "owner");
}

TEST(tokens_of_the_file_and_jwts_are_accepted)
{
	struct buf jwt = BUF_INIT(JWT_FIXTURE_MAX);
	struct result a, b;
	struct auth_test r;
	char *big;

	start(&r);
	a = check_token(&r, "one");
	ck_assert_int_eq(a.rc, RC_OK);
	ck_assert_str_eq(a.user, "ada");
	sign(&r, &jwt);
	b = check_token(&r, jwt.p);
	ck_assert_int_eq(b.rc, RC_OK);
	ck_assert_str_eq(b.user, "bob");
	ck_assert(a.key != b.key);
	/* Cached: the result comes before auth_check() returns. */
	a = (struct result){ 0 };
	auth_check(r.auth, buf_str(&jwt), on_caller, &a);
	ck_assert(a.done);
	ck_assert_int_eq(a.rc, RC_OK);
	ck_assert_str_eq(a.user, "bob");
	ck_assert(a.key == b.key);
	a = check_token(&r, "two");
	ck_assert_int_eq(a.rc, RC_DENIED);
	ck_assert_str_eq(a.why, "the token is not known");
	ck_assert_int_eq(check_token(&r, "").rc, RC_DENIED);
	big = mem_zalloc(AUTH_TOKEN_MAX + 2);
	memset(big, '.', AUTH_TOKEN_MAX + 1);
	ck_assert_str_eq(check_token(&r, big).why, "the token is too long");
	free(big);
	buf_free(&jwt);
	end(&r);
}

/* Checked repeatedly until the result is rc. */
struct until {
	struct auth_test *r;
	const char *token;
	enum rc rc;
	bool open; /* a check is running */
	struct result a;
};

static bool
comes_to(void *arg)
{
	struct until *u = arg;

	if (!u->open) {
		u->a = (struct result){ 0 };
		u->open = true;
		auth_check(u->r->auth, str_of(u->token), on_caller, &u->a);
	}
	u->open = !u->a.done;
	return u->a.done && u->a.rc == u->rc;
}

static void
becomes(struct auth_test *r, const char *token, enum rc rc)
{
	struct until u = { r, token, rc, false, { 0 } };

	ck_assert_msg(tk_loop_until(r->loop, comes_to, &u, WAIT_MS),
	    "%s does not become %s", token, rc_name(rc));
}

/* How often text occurs in the log, which is redirected to a file. */
static int
log_count(const char *text)
{
	size_t n;
	char *log = tk_read_file(tk_path("log"), &n);
	const char *at = log;
	int count = 0;

	while ((at = strstr(at, text)) != NULL) {
		at++;
		count++;
	}
	free(log);
	return count;
}

static void
expect_provisioner(struct auth_test *r, const char *token)
{
	becomes(r, token, RC_OK);
	ck_assert_int_eq(check_token(r, token).role, WIRE_ROLE_PROVISIONER);
}

TEST(the_deprecated_role_is_accepted_with_one_warning_per_source)
{
	static const struct {
		const char *user, *role;
		int warnings; /* after it */
	} jwts[] = { { "ann", "provisioner", 1 }, { "ann", "maker", 2 },
		{ "bob", "maker", 2 } };
	struct buf jwt = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_test r;
	size_t i;

	ck_assert_ptr_nonnull(freopen(tk_path("log"), "a", stderr));
	start(&r);
	write_token(&r, "new", "\"role\":\"provisioner\"");
	expect_provisioner(&r, "new");
	ck_assert_int_eq(log_count("ev=auth.role_deprecated"), 0);
	write_token(&r, "old", "\"role\":\"maker\"");
	expect_provisioner(&r, "old");
	write_token(&r, "older", "\"role\":\"maker\"");
	expect_provisioner(&r, "older");
	ck_assert_int_eq(log_count("ev=auth.role_deprecated"), 1);
	ck_assert_int_eq(log_count("source=AUTH_TOKENS"), 1);
	ck_assert_int_eq(log_count("tokens.json role=maker"), 1);
	for (i = 0; i < NELEM(jwts); i++) {
		buf_reset(&jwt);
		sign_as(&r, &jwt, jwts[i].user, jwts[i].role);
		expect_provisioner(&r, jwt.p);
		ck_assert_int_eq(
		    log_count("ev=auth.role_deprecated"), jwts[i].warnings);
	}
	ck_assert_int_eq(log_count("source=JWT"), 1);
	buf_free(&jwt);
	end(&r);
}

TEST(changed_files_are_reloaded)
{
	struct auth_test r;

	start(&r);
	becomes(&r, "one", RC_OK);
	write_tokens(&r, "two");
	becomes(&r, "two", RC_OK);
	ck_assert_int_eq(check_token(&r, "one").rc, RC_DENIED);
	end(&r);
}

static bool
is_bad(void *arg)
{
	struct auth_test *r = arg;
	struct buf b = BUF_INIT(JWT_FIXTURE_MAX);
	bool is;

	metric_write(r->metrics, &b);
	is = strstr(b.p, "soul_auth_file_ok{file=\"tokens\"} 0\n") != NULL;
	buf_free(&b);
	return is;
}

TEST(an_invalid_file_leaves_the_previous_one_in_force)
{
	struct auth_test r;

	start(&r);
	tk_write_file(r.tokens, "{\"tokens\":[{}]}");
	ck_assert(tk_loop_until(r.loop, is_bad, &r, WAIT_MS));
	ck_assert_int_eq(check_token(&r, "one").rc, RC_OK);
	ck_assert_int_eq(unlink(r.tokens), 0);
	write_tokens(&r, "two");
	becomes(&r, "two", RC_OK);
	ck_assert_int_eq(check_token(&r, "one").rc, RC_DENIED);
	ck_assert(!is_bad(&r));
	end(&r);
}

TEST(removing_a_key_revokes_its_tokens)
{
	struct buf jwt = BUF_INIT(JWT_FIXTURE_MAX);
	struct auth_test r;

	start(&r);
	sign(&r, &jwt);
	ck_assert_int_eq(check_token(&r, jwt.p).rc, RC_OK);
	write_keys(&r, "b");
	becomes(&r, jwt.p, RC_DENIED);
	ck_assert_str_eq(check_token(&r, jwt.p).why,
	    "the token's header: /kid: no key is known by that name");
	buf_free(&jwt);
	end(&r);
}

/* ---- callers of open connections ---- */

struct recheck {
	struct auth_test *r;
	struct result *a;
	enum rc want;
	const char *why;
};

static struct str
text_or_absent(const char *text)
{
	return strcmp(text, "-") == 0 ? (struct str){ NULL, 0 } : str_of(text);
}

static bool
recheck_is(void *arg)
{
	struct recheck *k = arg;
	struct auth_caller c = k->a->caller;

	c.user = text_or_absent(k->a->user);
	c.tenant = text_or_absent(k->a->tenant);
	c.terminal_id = text_or_absent(k->a->terminal);
	return auth_recheck(k->r->auth, &c, &k->why) == k->want;
}

/* What becomes of the caller a; returns the reason. */
static const char *
recheck_becomes(struct auth_test *r, struct result *a, enum rc want)
{
	struct recheck k = { r, a, want, "" };

	ck_assert(tk_loop_until(r->loop, recheck_is, &k, WAIT_MS));
	return k.why;
}

TEST(a_caller_of_the_file_is_rechecked_without_its_token)
{
	struct result a;
	struct auth_test r;

	start(&r);
	a = check_token(&r, "one");
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_OK), "");
	write_tokens(&r, "two");
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_DENIED),
	    "the token is not valid any more");
	write_token(&r, "one", "\"role\":\"owner\",\"user\":\"eve\"");
	becomes(&r, "one", RC_OK);
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_DENIED),
	    "the token is for another caller now");
	write_tokens(&r, "one");
	recheck_becomes(&r, &a, RC_OK);
	/* The end that it had when it was checked. */
	a.caller.until = (struct wall){ clock_wall().ms - 1 };
	ck_assert_str_eq(
	    recheck_becomes(&r, &a, RC_DENIED), "the token has expired");
	end(&r);
}

TEST(a_caller_of_a_jwt_is_rechecked_by_its_key)
{
	struct buf jwt = BUF_INIT(JWT_FIXTURE_MAX);
	struct result a;
	struct auth_test r;

	start(&r);
	sign(&r, &jwt);
	a = check_token(&r, jwt.p);
	recheck_becomes(&r, &a, RC_OK);
	write_keys(&r, "b");
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_DENIED),
	    "the key that has signed the token is not valid any more");
	write_keys(&r, "a");
	recheck_becomes(&r, &a, RC_OK);
	/* Another key of that name. */
	EVP_PKEY_free(r.signer.pkey);
	jwt_fixture_key(&r.signer, SIGNER_OKP, NULL, 0);
	write_keys(&r, "a");
	recheck_becomes(&r, &a, RC_DENIED);
	buf_free(&jwt);
	end(&r);
}

TEST(invalid_files_fail_the_start)
{
	struct buf errors = BUF_INIT(4096);
	struct auth_opts o;
	struct auth_test r;
	struct auth *a;

	start(&r);
	o = (struct auth_opts){ .loop = r.loop,
		.workers = r.workers,
		.tokens_file = tk_path("none"),
		.jwks_file = r.tokens,
		.issuer = "",
		.audience = "" };
	ck_assert_int_eq(auth_new(&o, &a), RC_INVALID);
	ck_assert_int_eq(auth_check_files(&o, &errors), RC_INVALID);
	ck_assert_ptr_nonnull(strstr(errors.p, "AUTH_TOKENS: "));
	ck_assert_ptr_nonnull(strstr(errors.p, "No such file"));
	ck_assert_ptr_nonnull(strstr(errors.p, "/keys: is missing\n"));
	buf_free(&errors);
	end(&r);
}

/* ---- bodies ---- */

static char hash[AUTH_HASH_MAX];

static enum rc
lookup(void *arg, struct str id, struct str *out, struct str *tenant)
{
	*out = str_of(hash);
	*tenant = STR("acme");
	if (str_eq(id, STR("lamp/1")) || arg == NULL)
		return RC_INVALID;
	return str_eq(id, STR("lamp-1")) ? RC_OK : RC_NOENT;
}

TEST(tokens_of_terminals_are_looked_up)
{
	char secret[AUTH_SECRET_MAX], token[AUTH_TERMINAL_TOKEN_MAX];
	struct result a;
	struct auth_test r;

	start(&r);
	auth_secret_new(secret);
	auth_secret_hash(str_of(secret), hash);
	auth_terminal_token(STR("lamp-1"), str_of(secret), token);
	ck_assert_int_eq(check_token(&r, token).rc, RC_DENIED);
	auth_accept_terminals(r.auth, lookup, &r);
	a = check_token(&r, token);
	ck_assert_int_eq(a.rc, RC_OK);
	ck_assert_str_eq(a.terminal, "lamp-1");
	ck_assert_str_eq(a.user, "-");
	token[strlen(token) - 1] ^= 1;
	ck_assert_int_eq(check_token(&r, token).rc, RC_DENIED);
	/* A new secret is valid at once, and the old one is not. */
	auth_terminal_token(STR("lamp-1"), str_of(secret), token);
	ck_assert_int_eq(check_token(&r, token).rc, RC_OK);
	auth_secret_hash(STR("another"), hash);
	ck_assert_int_eq(check_token(&r, token).rc, RC_DENIED);
	auth_terminal_token(STR("lamp-1"), STR("another"), token);
	ck_assert_int_eq(check_token(&r, token).rc, RC_OK);
	auth_terminal_token(STR("lamp-2"), str_of(secret), token);
	ck_assert_int_eq(check_token(&r, token).rc, RC_DENIED);
	ck_assert_int_eq(check_token(&r, "soul_body..x").rc, RC_DENIED);
	ck_assert_int_eq(check_token(&r, "soul_body.bGFtcC0x.").rc, RC_DENIED);
	ck_assert_int_eq(check_token(&r, "soul_body.bGFtcC8x.x").rc, RC_DENIED);
	/* The lookup fails now. */
	auth_accept_terminals(r.auth, lookup, NULL);
	auth_terminal_token(STR("lamp-3"), str_of(secret), token);
	ck_assert_int_eq(check_token(&r, token).rc, RC_DOWN);
	end(&r);
}

TEST(a_terminal_is_rechecked_by_its_secret)
{
	char secret[AUTH_SECRET_MAX], token[AUTH_TERMINAL_TOKEN_MAX];
	struct result a;
	struct auth_test r;

	start(&r);
	auth_secret_new(secret);
	auth_secret_hash(str_of(secret), hash);
	auth_terminal_token(STR("lamp-1"), str_of(secret), token);
	auth_accept_terminals(r.auth, lookup, &r);
	a = check_token(&r, token);
	recheck_becomes(&r, &a, RC_OK);
	auth_accept_terminals(r.auth, lookup, NULL);
	recheck_becomes(&r, &a, RC_DOWN);
	auth_accept_terminals(r.auth, lookup, &r);
	/* The same secret has another hash when it is set again. */
	auth_secret_hash(str_of(secret), hash);
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_DENIED),
	    "the identity of the terminal has changed");
	str_copy(STR("lamp-2"), a.terminal, sizeof(a.terminal));
	ck_assert_str_eq(recheck_becomes(&r, &a, RC_DENIED),
	    "the identity of the terminal was revoked");
	end(&r);
}
