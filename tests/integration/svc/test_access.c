/*
 * Rejected requests, rate limits, streams whose token becomes invalid, and
 * forged tokens in great numbers.
 */
#include "auth/auth.h"
#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/jwt_fixture.h"
#include "testkit/svc_fixture.h"
#include "testkit/tokens.h"
#include "wire/msgs.h"

#define LONG_MS 40000

/* ---- the toy ---- */

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static void
on_request(void *app, struct svc_call *c)
{
	static const struct wire_error rep = { .error = STR_INIT("fine") };

	(void)app;
	svc_reply(c, &rep);
}

/* Uses a tenth of a second of processor time. */
static void
on_work(void *app, struct svc_call *c)
{
	struct timespec t, from;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (
	    (t.tv_sec - from.tv_sec) * 1000000000L + t.tv_nsec - from.tv_nsec <
	    100000000L);
	on_request(app, c);
}

static void
on_abort(void *arg)
{
	svc_stream_end(arg, RC_OK);
}

static void
on_events(void *app, struct svc_call *c)
{
	(void)app;
	if (svc_sse_start(c) != RC_OK || svc_sse_comment(c, "begun") != RC_OK ||
	    svc_call_on_abort(c, on_abort, c) != RC_OK)
		svc_stream_end(c, RC_BUG);
}

#define ROUTE(n, p, f)                                                  \
	{                                                               \
		.name = n, .method = "GET", .path = p,                  \
		.reply = &wire_error_desc, .fn = f, .deadline_ms = 5000 \
	}
static const struct svc_route routes[] = {
	ROUTE("souls", "/v1/souls", on_request),
	ROUTE("terminals", "/v1/terminals", on_work),
	{
	    .name = "chat",
	    .method = "POST",
	    .path = "/v1/chat",
	    .request = &wire_chat_request_desc,
	    .reply = &wire_error_desc,
	    .fn = on_request,
	    .deadline_ms = 5000,
	},
	ROUTE("events", "/v1/sessions/{session_id}/events", on_events),
};
static const struct svc_def def = {
	.name = "toy",
	.summary = "lets some in",
	.http_addr = "127.0.0.1:1",
	.admin_addr = "127.0.0.1:1",
	.no_bus = true,
	.conf_size = 1,
	.routes = routes,
	.nroutes = NELEM(routes),
	.start = toy_start,
};

static void
start(struct svc_fixture *r, const char *const more[])
{
	*r = (struct svc_fixture){ 0 };
	svc_fixture_fork(r, &def, "nats://127.0.0.1:1", more);
	tk_service_wait(&r->toy);
}

static void
put_setting(char *dst, size_t n, const char *name, const char *value)
{
	ck_assert_int_lt(snprintf(dst, n, "%s=%s", name, value), (int)n);
}

/* Send a request for path with a token (NULL: none). */
static void
send_request(struct tk_http *c, int port, const char *path, const char *token)
{
	struct buf b = BUF_INIT(65536);

	buf_printf(&b, "GET %s HTTP/1.1\r\nHost: localhost\r\n", path);
	if (token != NULL)
		buf_printf(&b, "Authorization: Bearer %s\r\n", token);
	buf_puts(&b, "\r\n");
	tk_http_open(c, port);
	ck_assert(tk_http_send(c, b.p, b.n));
	buf_free(&b);
}

static int
request(const struct svc_fixture *r, struct tk_response *a, const char *token)
{
	struct tk_http c = { 0 };

	send_request(&c, r->toy.http, "/v1/souls", token);
	if (!tk_http_read(&c, a, SVC_FIXTURE_MS))
		a->status = 0;
	tk_http_close(&c);
	return a->status;
}

/* Send all of b, and read the response. */
static int
exchange(const struct svc_fixture *r, struct tk_response *a, struct buf *b)
{
	struct tk_http c = { 0 };

	tk_http_open(&c, r->toy.http);
	ck_assert(tk_http_send(&c, b->p, b->n));
	buf_free(b);
	if (!tk_http_read(&c, a, SVC_FIXTURE_MS))
		a->status = 0;
	tk_http_close(&c);
	return a->status;
}

/* The same as request() with a body of n bytes. */
static int
request_large(const struct svc_fixture *r, struct tk_response *a,
    const char *token, size_t n)
{
	struct buf b = BUF_INIT(256UL * 1024);

	buf_printf(&b,
	    "GET /v1/souls HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
	    token, n);
	for (size_t i = 0; i < n; i++)
		buf_putc(&b, ' ');
	return exchange(r, a, &b);
}

/* Request work that takes processor time. */
static int
request_work(
    const struct svc_fixture *r, struct tk_response *a, const char *token)
{
	struct buf b = BUF_INIT(4096);

	buf_printf(&b,
	    "GET /v1/terminals HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\n\r\n",
	    token);
	return exchange(r, a, &b);
}

/* Send n bytes to a terminal. */
static int
request_terminal(const struct svc_fixture *r, struct tk_response *a,
    const char *token, const char *terminal, size_t n)
{
	struct buf b = BUF_INIT(256UL * 1024), text = BUF_INIT(128UL * 1024);

	buf_printf(&text,
	    "{\"user_id\":\"u\",\"session_id\":\"s\","
	    "\"terminal_id\":\"%s\",\"inputs\":["
	    "{\"type\":\"keyboard_text\",\"text\":\"hello\"}]",
	    terminal);
	while (text.n < n)
		buf_putc(&text, ' ');
	buf_puts(&text, "}");
	buf_printf(&b,
	    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Bearer %s\r\n"
	    "Content-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n%.*s",
	    token, text.n, (int)text.n, text.p);
	buf_free(&text);
	return exchange(r, a, &b);
}

/* ---- rejections ---- */

static const struct tk_token two[] = {
	{ "t-one", "\"role\":\"operator\"" },
	{ "t-two", "\"role\":\"operator\"" },
	{ "t-make", "\"role\":\"provisioner\"" },
};

static void
header_is(const struct tk_response *a, const char *name, const char *want)
{
	char field[256];

	ck_assert_str_eq(
	    tk_response_field(a, name, field, sizeof(field)), want);
}

TEST(rejections_have_a_challenge)
{
	char file[300], one[] = "RATE_TOKEN_PER_S=1",
			n[] = "RATE_TOKEN_BURST=2";
	const char *path = tk_path("tokens.json");
	struct tk_response a = { 0 };
	struct svc_fixture r;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file, one, n));
	ck_assert_int_eq(request(&r, &a, NULL), 401);
	header_is(&a, "WWW-Authenticate", "Bearer realm=\"soul\"");
	ck_assert(tk_response_has(&a, "\"code\":\"unauthenticated\""));
	ck_assert_int_eq(request(&r, &a, "forged"), 401);
	header_is(&a, "WWW-Authenticate",
	    "Bearer realm=\"soul\", error=\"invalid_token\"");
	ck_assert(!tk_response_has(&a, "forged"));
	ck_assert_int_eq(request(&r, &a, "t-make"), 403);
	header_is(&a, "WWW-Authenticate",
	    "Bearer realm=\"soul\", error=\"insufficient_scope\"");
	ck_assert(tk_response_has(&a, "\"code\":\"denied\""));
	/* A caller that is over its rate waits; others do not. */
	ck_assert_int_eq(request(&r, &a, "t-one"), 200);
	while (request(&r, &a, "t-one") == 200)
		;
	ck_assert_int_eq(a.status, 429);
	header_is(&a, "Retry-After", "1");
	ck_assert(tk_response_has(&a, "\"code\":\"rate_limited\""));
	ck_assert_int_eq(request(&r, &a, "t-two"), 200);
	ck_assert_int_eq(tk_service_metric(&r.toy,
			     "soul_auth_refused_total{reason=\"rate\"}"),
	    1);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

/* One large request costs the token more than many small ones. */
TEST(a_large_request_counts_as_many)
{
	char file[300], one[] = "RATE_TOKEN_PER_S=1",
			n[] = "RATE_TOKEN_BURST=20",
			bytes[] = "RATE_COST_BYTES=1024";
	const char *path = tk_path("tokens.json");
	struct tk_response a = { 0 };
	struct svc_fixture r;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file, one, n, bytes));
	ck_assert_int_eq(request_large(&r, &a, "t-one", 64UL * 1024), 200);
	ck_assert_int_eq(request(&r, &a, "t-one"), 429);
	ck_assert(tk_response_has(&a, "costs much"));
	char field[64];
	ck_assert_int_ge(
	    strtol(tk_response_field(&a, "Retry-After", field, sizeof(field)),
		NULL, 10),
	    10);
	/* It is not charged to other tokens. */
	for (int i = 0; i < 10; i++)
		ck_assert_int_eq(request(&r, &a, "t-two"), 200);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

TEST(processor_time_counts_as_requests)
{
	char file[300], one[] = "RATE_TOKEN_PER_S=1",
			n[] = "RATE_TOKEN_BURST=20", us[] = "RATE_COST_US=1000";
	const char *path = tk_path("tokens.json");
	struct tk_response a = { 0 };
	struct svc_fixture r;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file, one, n, us));
	ck_assert_int_eq(request_work(&r, &a, "t-one"), 200);
	ck_assert_int_eq(request(&r, &a, "t-one"), 429);
	ck_assert(tk_response_has(&a, "costs much"));
	ck_assert_int_eq(request(&r, &a, "t-two"), 200);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

/* A second token for the same terminal does not help. */
TEST(costs_are_charged_to_the_terminal)
{
	char file[300], one[] = "RATE_TOKEN_PER_S=1",
			n[] = "RATE_TOKEN_BURST=20",
			bytes[] = "RATE_COST_BYTES=1024";
	const char *path = tk_path("tokens.json");
	struct tk_response a = { 0 };
	struct svc_fixture r;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file, one, n, bytes));
	ck_assert_int_eq(
	    request_terminal(&r, &a, "t-one", "b-1", 64UL * 1024), 200);
	ck_assert_int_eq(request_terminal(&r, &a, "t-two", "b-1", 0), 429);
	ck_assert(tk_response_has(&a, "the terminal is used too often"));
	ck_assert_int_eq(request_terminal(&r, &a, "t-two", "b-2", 0), 200);
	tk_response_free(&a);
	svc_fixture_stop(&r);
}

static size_t
count(const char *text, const char *what)
{
	size_t n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

TEST(many_rejections_are_few_lines)
{
	const char *path = tk_path("tokens.json");
	struct tk_response a = { 0 };
	struct svc_fixture r;
	char file[300], *log;
	size_t i, lines;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file));
	for (i = 0; i < 200; i++)
		ck_assert_int_eq(request(&r, &a, "forged"), 401);
	ck_assert_int_eq(tk_service_metric(&r.toy,
			     "soul_auth_refused_total{reason=\"bad_token\"}"),
	    200);
	ck_assert_int_eq(request(&r, &a, "t-make"), 403);
	svc_fixture_stop(&r);
	log = tk_read_file(r.toy.proc.log, NULL);
	lines = count(log,
	    "ev=auth.rejected reason=bad_token "
	    "address=127.0.0.1 route=souls");
	ck_assert_uint_ge(lines, 1);
	ck_assert_uint_le(lines, 100);
	/* The same number of audit events. */
	ck_assert_uint_eq(
	    count(log, "ev=audit"), count(log, "ev=auth.rejected"));
	ck_assert_uint_ge(count(log, "action=login_refused"), 1);
	ck_assert_uint_eq(count(log, "forged"), 0);
	free(log);
	tk_response_free(&a);
}

/* ---- streams ---- */

static void
open_stream(const struct svc_fixture *r, struct tk_http *c, const char *token)
{
	*c = (struct tk_http){ 0 };
	send_request(c, r->toy.http, "/v1/sessions/s/events", token);
	ck_assert(tk_http_has(c, "begun", SVC_FIXTURE_MS));
}

/* Three streams: the token of one expires, of one is removed, of one is valid.
 */
TEST_T(a_stream_ends_with_its_token, 90)
{
	char rest[100], end[WALL_FORMAT_MAX], file[300];
	const char *path = tk_path("tokens.json"), *new = tk_path("new");
	struct tk_http ending, dropped, good;
	struct svc_fixture r;

	wall_format((struct wall){ clock_wall().ms + 3000 }, 0, end);
	snprintf(rest, sizeof(rest),
	    "\"role\":\"operator\",\"expires_at\":\"%s\"", end);
	const struct tk_token list[] = {
		two[0],
		{ "t-short", rest },
		two[1],
	};
	tk_tokens_write(path, list, 3);
	put_setting(file, sizeof(file), "AUTH_TOKENS", path);
	start(&r, TK_ENV(file));
	open_stream(&r, &good, "t-one");
	open_stream(&r, &ending, "t-short");
	open_stream(&r, &dropped, "t-two");
	tk_tokens_write(new, list, 2);
	ck_assert_int_eq(rename(new, path), 0);
	ck_assert(tk_http_closed(&dropped, LONG_MS));
	ck_assert(tk_http_closed(&ending, LONG_MS));
	ck_assert(!tk_http_closed(&good, 1));
	ck_assert(tk_log_has(&r.toy.proc,
	    "ev=auth.stream_closed route=events address=127.0.0.1 "
	    "why=\"the token is not known\""));
	ck_assert(tk_log_has(&r.toy.proc, "why=\"the token has expired\""));
	ck_assert(tk_log_has(
	    &r.toy.proc, "ev=audit action=login_refused role=operator"));
	ck_assert(tk_log_has(&r.toy.proc, "reason=stream_cut"));
	tk_http_close(&good);
	tk_http_close(&ending);
	tk_http_close(&dropped);
	svc_fixture_stop(&r);
}

/* ---- forged tokens ---- */

#define FLOODS 2
#define EACH   12

struct flood {
	int port;
	const char *token;
};

/* EACH connections at a time, until killed. */
static int
flood_main(void *arg)
{
	const struct flood *f = arg;
	struct tk_http c[EACH];
	struct tk_response a = { 0 };
	size_t i;

	for (;;) {
		memset(c, 0, sizeof(c));
		for (i = 0; i < EACH; i++)
			send_request(&c[i], f->port, "/v1/souls", f->token);
		for (i = 0; i < EACH; i++) {
			if (tk_http_read(&c[i], &a, SVC_FIXTURE_MS) &&
			    a.status != 401)
				return 1;
			tk_http_close(&c[i]);
		}
	}
}

struct forgers {
	struct svc_fixture r;
	struct signer signer;
	struct buf good, forged;
	struct tk_proc floods[FLOODS];
};

static void
make_tokens(struct forgers *f, const char *jwks)
{
	struct buf file = BUF_INIT(JWT_FIXTURE_MAX);
	struct signer stranger;
	char claims[128];

	jwt_fixture_key(&f->signer, SIGNER_EC, "P-256", 0);
	jwt_fixture_key(&stranger, SIGNER_EC, "P-256", 0);
	buf_puts(&file, "{\"keys\":[");
	jwt_fixture_put_jwk(&file, &f->signer, "k", "");
	buf_puts(&file, "]}");
	tk_write_file(jwks, file.p);
	snprintf(claims, sizeof(claims), "{\"exp\":%lld,\"role\":\"operator\"}",
	    (long long)(clock_wall().ms / 1000 + 1000));
	buf_init(&f->good, JWT_FIXTURE_MAX);
	buf_init(&f->forged, JWT_FIXTURE_MAX);
	jwt_fixture_put_jwt(
	    &f->good, &f->signer, "{\"alg\":\"ES256\",\"kid\":\"k\"}", claims);
	jwt_fixture_put_jwt(
	    &f->forged, &stranger, "{\"alg\":\"ES256\",\"kid\":\"k\"}", claims);
	EVP_PKEY_free(stranger.pkey);
	buf_free(&file);
}

static long long
refused(struct forgers *f)
{
	return tk_service_metric(
	    &f->r.toy, "soul_auth_refused_total{reason=\"bad_token\"}");
}

static bool
is_flooded(void *arg)
{
	return refused(arg) > 200;
}

/* The slowest of some requests with a token, in ms. */
static int64_t
slowest(struct forgers *f, const char *token)
{
	struct tk_response a = { 0 };
	int64_t worst = 0;
	size_t i;

	for (i = 0; i < 100; i++) {
		struct mono t = clock_mono();
		int64_t ms;
		ck_assert_int_eq(request(&f->r, &a, token), 200);
		ms = mono_diff_ms(clock_mono(), t);
		worst = ms > worst ? ms : worst;
	}
	tk_response_free(&a);
	return worst;
}

/*
 * Signatures are checked on another thread: while forged ones arrive as fast as
 * they are rejected, callers with a valid token are served, also when it is
 * checked for the first time.
 */
TEST_T(forged_tokens_do_not_delay_others, 90)
{
	char tokens[300], jwks[300], any[] = "RATE_ADDRESS_PER_S=0";
	char burst[] = "RATE_TOKEN_BURST=1000", per[] = "HTTP_PER_ADDRESS=64";
	char workers[] = "HTTP_WORKERS=80";
	const char *path = tk_path("tokens.json");
	int64_t quiet, by_file, by_jwt;
	struct forgers f = { 0 };
	long long before;
	size_t i;

	tk_tokens_write(path, two, NELEM(two));
	put_setting(tokens, sizeof(tokens), "AUTH_TOKENS", path);
	put_setting(jwks, sizeof(jwks), "AUTH_JWKS", tk_path("jwks.json"));
	make_tokens(&f, tk_path("jwks.json"));
	start(&f.r, TK_ENV(tokens, jwks, any, burst, per, workers));
	quiet = slowest(&f, "t-one");
	struct flood flood = { f.r.toy.http, f.forged.p };
	for (i = 0; i < FLOODS; i++)
		tk_fork(&f.floods[i], i == 0 ? "flood-0" : "flood-1",
		    flood_main, &flood);
	ck_assert(tk_until(is_flooded, &f, SVC_FIXTURE_MS));
	before = refused(&f);
	by_file = slowest(&f, "t-one");
	by_jwt = slowest(&f, f.good.p);
	/* They arrived throughout. */
	ck_assert_int_gt(refused(&f), before);
	fprintf(stderr,
	    "slowest of 100: %lld ms; beside %lld forged: %lld ms, a JWT %lld "
	    "ms\n",
	    (long long)quiet, refused(&f), (long long)by_file,
	    (long long)by_jwt);
	ck_assert_int_lt(by_file, 2000);
	ck_assert_int_lt(by_jwt, 2000);
	for (i = 0; i < FLOODS; i++) {
		ck_assert(tk_alive(&f.floods[i]));
		tk_signal(&f.floods[i], SIGKILL);
		tk_wait(&f.floods[i], SVC_FIXTURE_MS);
	}
	EVP_PKEY_free(f.signer.pkey);
	buf_free(&f.good);
	buf_free(&f.forged);
	svc_fixture_stop(&f.r);
}
