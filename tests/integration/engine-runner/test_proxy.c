/* The model proxy: what passes, and what must not. */
#include <signal.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "testkit/proxy_fixture.h"

#define JSON_HEAD                                               \
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" \
	"Connection: close\r\n\r\n"
#define SSE_HEAD                                                 \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" \
	"Connection: close\r\n\r\n"
#define USAGE                                                  \
	"{\"usage\":{\"input_tokens\":40,\"output_tokens\":9," \
	"\"input_tokens_details\":{\"cached_tokens\":30}}}"
#define OK_METRIC "soul_model_proxy_requests_total{status=\"200\"}"
#define TOKENS(kind) \
	"soul_model_tokens_total{engine=\"codex\",kind=\"" kind "\"}"

/* ---- providers ---- */

static void
provider_json(struct raw_server *p, int fd)
{
	(void)p;
	if (proxy_fixture_receive(fd))
		raw_server_write(fd, JSON_HEAD USAGE);
}

static void
provider_leaks(struct raw_server *p, int fd)
{
	(void)p;
	if (!proxy_fixture_receive(fd))
		return;
	raw_server_write(fd,
	    "HTTP/1.1 401 No\r\nContent-Type: application/json\r\n"
	    "x-request-id: id-" PROXY_FIXTURE_KEY "\r\n"
	    "Set-Cookie: s=" PROXY_FIXTURE_KEY "\r\n"
	    "Connection: close\r\n\r\n{\"error\":\"wrong key sk-real-");
	raw_server_write(fd, "0123456789abcdef and " PROXY_FIXTURE_KEY "\"}");
}

static void
provider_limits(struct raw_server *p, int fd)
{
	(void)p;
	if (proxy_fixture_receive(fd))
		raw_server_write(fd,
		    "HTTP/1.1 429 Slow\r\nContent-Type: application/json\r\n"
		    "Retry-After: 7\r\nSet-Cookie: a=b\r\nServer: x\r\n"
		    "Content-Length: 2\r\n\r\n{}");
}

static void
provider_holds(struct raw_server *p, int fd)
{
	if (proxy_fixture_receive(fd))
		raw_server_hold(p, fd);
}

static void
provider_stalls(struct raw_server *p, int fd)
{
	if (!proxy_fixture_receive(fd))
		return;
	raw_server_write(fd, SSE_HEAD "data: {\"n\":1}\n\n");
	raw_server_hold(p, fd);
}

static void
provider_breaks_off(struct raw_server *p, int fd)
{
	(void)p;
	if (proxy_fixture_receive(fd))
		raw_server_write(fd,
		    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		    "Transfer-Encoding: chunked\r\n\r\n"
		    "f\r\ndata: {\"n\":1}\n\n\r\n");
}

static void
provider_compresses(struct raw_server *p, int fd)
{
	(void)p;
	if (proxy_fixture_receive(fd))
		raw_server_write(fd,
		    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
		    "Content-Length: 3\r\n\r\nabc");
}

static void
provider_is_no_http(struct raw_server *p, int fd)
{
	(void)p;
	if (proxy_fixture_receive(fd))
		raw_server_write(fd, "SSH-2.0-x\r\n\r\n");
}

#define LONG_LINE 65536
#define LONG_N    64

static void
provider_long(struct raw_server *p, int fd)
{
	char line[LONG_LINE + 1];
	int i;

	(void)p;
	if (!proxy_fixture_receive(fd))
		return;
	memset(line, 'x', LONG_LINE);
	line[LONG_LINE] = '\0';
	raw_server_write(fd, JSON_HEAD);
	for (i = 0; i < LONG_N && raw_server_write(fd, line); i++)
		;
}

/* ---- helpers ---- */

/* A request as it is, to a path of the codex run with what follows it. */
static int
raw_request(struct proxy_fixture *fx, struct tk_response *a, const char *line,
    const char *rest)
{
	return tk_http_call(fx->port, a,
	    "POST %s/responses HTTP/1.1\r\nHost: x\r\n%s\r\n%s",
	    proxy_fixture_path(PROXY_CODEX, 1, 1000000), line, rest);
}

static void
expect_error(const struct tk_response *a, const char *text)
{
	ck_assert_msg(tk_response_has(a, text), "%.*s", (int)a->body.n,
	    a->body.p != NULL ? a->body.p : "");
	ck_assert(tk_response_has(a, "\"error\""));
}

struct metric_want {
	struct proxy_fixture *fx;
	const char *name;
	long long value;
};

static bool
metric_is(void *arg)
{
	const struct metric_want *w = arg;

	return tk_service_metric(&w->fx->service, w->name) == w->value;
}

static void
expect_metric(struct proxy_fixture *fx, const char *name, long long value)
{
	struct metric_want w = { fx, name, value };

	ck_assert_msg(tk_until(metric_is, &w, 20000), "%s: %lld", name,
	    tk_service_metric(&fx->service, name));
}

/* ---- what passes ---- */

TEST(a_request_gets_the_key_and_loses_what_is_not_the_providers)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_json, NULL);
	ck_assert_int_eq(raw_request(&fx, &a,
			     "Authorization: Bearer sk-dummy\r\n"
			     "Cookie: c=1\r\nX-Evil: 1\r\n"
			     "x-api-key: sk-dummy\r\n"
			     "Content-Type: application/json\r\n"
			     "OpenAI-Beta: responses=v1\r\n"
			     "Content-Length: 8\r\n",
			     "{\"a\":42}"),
	    200);
	ck_assert(tk_response_has(&a, USAGE));
	const char *got = proxy_fixture_request();
	ck_assert(strncmp(got, "POST /v1/responses HTTP/1.1\r\n", 29) == 0);
	ck_assert_ptr_nonnull(
	    strstr(got, "Authorization: Bearer " PROXY_FIXTURE_KEY "\r\n"));
	ck_assert_ptr_nonnull(strstr(got, "OpenAI-Beta: responses=v1\r\n"));
	ck_assert_ptr_nonnull(strstr(got, "\r\n\r\n{\"a\":42}"));
	ck_assert_ptr_null(strcasestr(got, "dummy"));
	ck_assert_ptr_null(strcasestr(got, "cookie"));
	ck_assert_ptr_null(strcasestr(got, "evil"));
	ck_assert_ptr_null(strstr(got, "17e67f51"));
	expect_metric(&fx, TOKENS("input"), 40);
	expect_metric(&fx, TOKENS("output"), 9);
	expect_metric(&fx, TOKENS("cached"), 30);
	expect_metric(&fx, TOKENS("estimated"), 0);
	expect_metric(&fx, OK_METRIC, 1);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(gemini_has_its_own_header)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_json, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_GEMINI, "{}"), 200);
	ck_assert_ptr_nonnull(strstr(proxy_fixture_request(),
	    "x-goog-api-key: " PROXY_FIXTURE_KEY "\r\n"));
	ck_assert_ptr_nonnull(strstr(proxy_fixture_request(),
	    "/v1beta/models/m:streamGenerateContent?alt=sse HTTP/1.1"));
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_replaced_key_is_used_for_the_next_call)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_json, NULL);
	tk_write_file(tk_path("key"), "sk-new");
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 200);
	ck_assert_ptr_nonnull(
	    strstr(proxy_fixture_request(), "Bearer sk-new\r\n"));
	tk_write_file(tk_path("key"), "two\nlines");
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 401);
	expect_error(&a, "key is missing");
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_stream_passes_before_it_ends)
{
	struct proxy_fixture fx;
	struct tk_http c = { 0 };

	proxy_fixture_start(&fx, provider_stalls, NULL);
	proxy_fixture_begin(&fx, &c, PROXY_CODEX, "{}");
	ck_assert(tk_http_has(&c, "data: {\"n\":1}\n\n", 20000));
	/* The engine has gone: so has the call. */
	tk_http_close(&c);
	expect_metric(&fx, "soul_model_proxy_connections", 0);
	expect_metric(&fx, OK_METRIC, 1);
	expect_metric(&fx, TOKENS("estimated"), 2);
	proxy_fixture_stop(&fx);
}

TEST(errors_of_the_provider_pass_without_its_cookies)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	char value[64];

	proxy_fixture_start(&fx, provider_limits, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 429);
	ck_assert_str_eq(
	    tk_response_field(&a, "Retry-After", value, sizeof(value)), "7");
	ck_assert_str_eq(
	    tk_response_field(&a, "Set-Cookie", value, sizeof(value)), "");
	ck_assert_str_eq(
	    tk_response_field(&a, "Server", value, sizeof(value)), "");
	ck_assert(tk_response_has(&a, "{}"));
	/* It has cost nothing. */
	expect_metric(&fx, TOKENS("estimated"), 0);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(large_requests_and_responses_pass)
{
	size_t n = 2UL * 1024 * 1024;
	char *body = mem_alloc(n + 1);
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	memset(body, ' ', n);
	body[n] = '\0';
	proxy_fixture_start(&fx, provider_long, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, body), 200);
	ck_assert_uint_eq(a.body.n, (size_t)LONG_LINE * LONG_N);
	ck_assert_uint_gt(strlen(proxy_fixture_request()), n);
	free(body);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

/* ---- what must not ---- */

TEST(the_key_is_in_no_response)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_leaks, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 401);
	ck_assert(tk_response_has(&a,
	    "wrong key ************************ and "
	    "************************\"}"));
	ck_assert_ptr_null(strstr(a.head.p, "sk-real"));
	ck_assert_ptr_null(strstr(a.body.p, "0123456789abcdef"));
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_path_that_the_runner_did_not_write_is_denied)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	const char *path;
	char target[512];

	proxy_fixture_start(&fx, provider_json, NULL);
	/* Another run, epoch, budget than that of the MAC. */
	path = proxy_fixture_path(PROXY_CODEX, 1, 10);
	snprintf(target, sizeof(target), "/r/" PROXY_GEMINI "%s/responses",
	    path + 3 + strlen(PROXY_CODEX));
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 403);
	expect_error(&a, "not the URL of a run");
	snprintf(target, sizeof(target), "/r/" PROXY_CODEX "/1/99%s/responses",
	    strrchr(path, '/'));
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 403);
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", "/v1/responses", "{}"), 403);
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "GET", "/metrics", NULL), 403);
	/* What is no call of a model, and a run without a provider. */
	snprintf(target, sizeof(target), "%s/files",
	    proxy_fixture_path(PROXY_CODEX, 1, 10));
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 403);
	expect_error(&a, "only call models");
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_OTHER, "{}"), 403);
	expect_error(&a, "no provider");
	ck_assert_uint_eq(fx.provider.accepted, 0);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_run_ends_at_its_budget)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	char target[512];

	proxy_fixture_start(&fx, provider_json, NULL);
	snprintf(target, sizeof(target), "%s/responses",
	    proxy_fixture_path(PROXY_CODEX, 1, 49));
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 200);
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 403);
	expect_error(&a, "BUDGET_EXCEEDED");
	ck_assert(tk_response_has(&a, "\"permission_error\""));
	ck_assert_uint_eq(fx.provider.accepted, 1);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_path_of_an_earlier_attempt_is_denied)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	char target[512];

	proxy_fixture_start(&fx, provider_json, NULL);
	snprintf(target, sizeof(target), "%s/responses",
	    proxy_fixture_path(PROXY_CODEX, 2, 1000000));
	ck_assert_int_eq(
	    tk_http_request(fx.port, &a, "POST", target, "{}"), 200);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 403);
	expect_error(&a, "earlier attempt");
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(malformed_requests_are_rejected)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	char huge[9000];

	proxy_fixture_start(&fx, provider_json, NULL);
	ck_assert_int_eq(raw_request(&fx, &a, "", ""), 411);
	ck_assert_int_eq(raw_request(&fx, &a, "Transfer-Encoding: chunked\r\n",
			     "2\r\n{}\r\n0\r\n\r\n"),
	    411);
	ck_assert_int_eq(
	    raw_request(
		&fx, &a, "Content-Length: 2\r\nContent-Length: 2\r\n", "{}"),
	    400);
	ck_assert_int_eq(
	    raw_request(&fx, &a, "Content-Length: -2\r\n", "{}"), 400);
	ck_assert_int_eq(
	    raw_request(&fx, &a, "Content-Length: 2\r\nbad line\r\n", "{}"),
	    400);
	ck_assert_int_eq(
	    raw_request(&fx, &a, "Content-Length: 99999999999\r\n", ""), 413);
	expect_error(&a, "too large");
	memset(huge, 'x', sizeof(huge));
	memcpy(huge, "X: ", 3);
	huge[sizeof(huge) - 1] = '\0';
	ck_assert_int_eq(raw_request(&fx, &a, huge, ""), 431);
	ck_assert_int_eq(
	    tk_http_call(fx.port, &a, "\x16\x03\x01 hello\r\n\r\n"), 400);
	ck_assert_uint_eq(fx.provider.accepted, 0);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(calls_of_a_run_at_a_time_are_limited)
{
	struct tk_http c[16] = { 0 };
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	size_t i;

	proxy_fixture_start(&fx, provider_holds, NULL);
	for (i = 0; i < 16; i++)
		proxy_fixture_begin(&fx, &c[i], PROXY_CODEX, "{}");
	expect_metric(&fx, "soul_httpc_active{peer=\"model\"}", 16);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 429);
	expect_error(&a, "too many concurrent");
	for (i = 0; i < 16; i++)
		tk_http_close(&c[i]);
	expect_metric(&fx, "soul_httpc_active{peer=\"model\"}", 0);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

/* ---- providers that fail ---- */

TEST(a_provider_that_is_down_is_an_error_of_its_api)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_json, NULL);
	raw_server_close(&fx.provider);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_GEMINI, "{}"), 502);
	expect_error(&a, "\"status\":\"UNAVAILABLE\"");
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 502);
	expect_error(&a, "\"api_error\"");
	tk_response_free(&a);
	tk_service_end(&fx.service);
}

TEST(a_provider_that_speaks_no_http)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_is_no_http, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 502);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_compressed_response_does_not_pass)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(&fx, provider_compresses, NULL);
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 502);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_response_that_does_not_begin_is_a_timeout)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };

	proxy_fixture_start(
	    &fx, provider_holds, TK_ENV("ENGINE_PROXY_FIRST_BYTE_MS=200"));
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 504);
	/* The provider may have worked on it. */
	expect_metric(&fx, TOKENS("estimated"), 1);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

/* The response begins, and its end never comes. */
static void
expect_truncated(struct proxy_fixture *fx)
{
	struct tk_response a = { 0 };
	struct tk_http c = { 0 };

	proxy_fixture_begin(fx, &c, PROXY_CODEX, "{}");
	ck_assert(tk_http_has(&c, "HTTP/1.1 200", 20000));
	ck_assert(!tk_http_read(&c, &a, 20000));
	ck_assert(c.eof);
	tk_http_close(&c);
	tk_response_free(&a);
}

TEST(a_stalled_response_is_truncated)
{
	struct proxy_fixture fx;

	proxy_fixture_start(
	    &fx, provider_stalls, TK_ENV("ENGINE_PROXY_IDLE_MS=200"));
	expect_truncated(&fx);
	proxy_fixture_stop(&fx);
}

TEST(a_response_that_breaks_off_is_truncated)
{
	struct proxy_fixture fx;

	proxy_fixture_start(&fx, provider_breaks_off, NULL);
	expect_truncated(&fx);
	proxy_fixture_stop(&fx);
}

TEST(a_response_over_the_limit_is_truncated)
{
	struct proxy_fixture fx;

	proxy_fixture_start(
	    &fx, provider_long, TK_ENV("ENGINE_PROXY_RESPONSE_MAX=100000"));
	expect_truncated(&fx);
	proxy_fixture_stop(&fx);
}

/* ---- the process ---- */

TEST(a_drain_waits_for_calls_and_accepts_no_more)
{
	struct proxy_fixture fx;
	struct tk_http c = { 0 };

	proxy_fixture_start(&fx, provider_stalls, NULL);
	proxy_fixture_begin(&fx, &c, PROXY_CODEX, "{}");
	ck_assert(tk_http_has(&c, "data: {\"n\":1}\n\n", 20000));
	tk_signal(&fx.service.proc, SIGTERM);
	ck_assert_int_eq(tk_wait(&fx.service.proc, 300), -1);
	ck_assert(!tk_port_open(fx.port));
	raw_server_close(&fx.provider);
	ck_assert_int_eq(tk_wait(&fx.service.proc, 20000), 0);
	tk_http_close(&c);
}

TEST(the_secret_is_made_if_it_is_missing)
{
	struct proxy_fixture fx;
	struct tk_response a = { 0 };
	struct stat st;

	proxy_fixture_start(&fx, provider_json, NULL);
	tk_service_end(&fx.service);
	ck_assert_int_eq(unlink(tk_path("runs/proxy.secret")), 0);
	proxy_fixture_spawn(&fx, NULL);
	ck_assert_int_eq(stat(tk_path("runs/proxy.secret"), &st), 0);
	ck_assert_int_eq(st.st_size, 32);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	/* It is another one. */
	ck_assert_int_eq(proxy_fixture_post(&fx, &a, PROXY_CODEX, "{}"), 403);
	tk_response_free(&a);
	proxy_fixture_stop(&fx);
}

TEST(a_wrong_configuration_is_reported)
{
	const char *argv[] = { tk_bin("engine-runner"), "proxy",
		"--check-config", NULL };
	struct tk_proc p;

	tk_write_file(tk_path("bad.json"),
	    "{\"engines\":[{\"engine\":\"codex\",\"command\":[],"
	    "\"base_url\":\"ftp://x\"}]}");
	tk_spawn(&p, "check", argv,
	    (const char *const[]){
		"ENGINE_PROXY_ADDR=0.0.0.0:9081", "ENGINES=/nowhere", NULL });
	ck_assert_int_eq(tk_wait(&p, 20000), 78);
	ck_assert(tk_log_has(&p, "ENGINE_PROXY_ADDR: must be an address of"));
	ck_assert(tk_log_has(&p, "ENGINES: /nowhere: No such file"));
	char text[512];
	snprintf(text, sizeof(text), "ENGINES=%s", tk_path("bad.json"));
	tk_spawn(&p, "check2", argv, (const char *const[]){ text, NULL });
	ck_assert_int_eq(tk_wait(&p, 20000), 78);
	ck_assert(tk_log_has(&p, "codex: base_url must be http(s)://"));
}
