/*
 * WebSocket connections of a service: who may connect, limits, the drain.
 */
#include "auth/auth.h"
#include "core/mem.h"
#include "svc/svc_ws.h"
#include "testkit/svc_fixture.h"
#include "testkit/tokens.h"
#include "testkit/ws_client.h"

/* ---- the toy: it says who connects, and echoes ---- */

static void *
toy_start(struct svc *s, const void *conf)
{
	(void)conf;
	return s;
}

static void
toy_limits(const void *conf, struct ws_opts *o)
{
	(void)conf;
	o->connections_max = 100;
	o->message_max = 1024;
	o->queue_bytes = 65536;
	o->queue_frames = 64;
	o->handshake_ms = 5000;
	o->ping_ms = o->timeout_ms = o->stall_ms = 60000;
}

static void
toy_send(struct ws_peer *p, struct str text)
{
	struct frame *f = frame_new(FRAME_TEXT, text);

	ck_assert_int_eq(ws_send(p, f), RC_OK);
	frame_unref(f);
}

static void
toy_on_request(void *app, struct ws_peer *p, const struct http_head *h,
    const struct auth_caller *who)
{
	struct buf b = BUF_INIT(1024);

	ws_peer_set(p, app);
	buf_printf(&b, "%.*s %.*s", STR_ARG(h->target),
	    STR_ARG(who != NULL ? who->user : STR("nobody")));
	ws_accept(p, STR("toy.v1"));
	toy_send(p, buf_str(&b));
	buf_free(&b);
}

static void
toy_on_checked(void *app, struct ws_peer *p, enum rc rc,
    const struct auth_caller *who, const char *why)
{
	ck_assert_ptr_eq(ws_peer_arg(p), app);
	toy_send(p, rc == RC_OK ? who->user : str_of(why));
}

/* "token …" is checked, all else echoed. */
static void
toy_on_message(void *app, struct ws_peer *p, struct str data, bool binary)
{
	struct str token = { data.p + 6, data.n - 6 };

	(void)binary;
	if (str_starts(data, STR("token ")))
		svc_ws_check(app, p, token, toy_on_checked);
	else
		toy_send(p, data);
}

static void
toy_on_room(void *app, struct ws_peer *p)
{
	(void)app;
	(void)p;
}

static void
toy_on_end(void *app, struct ws_peer *p, const struct ws_end *end)
{
	(void)end;
	ck_assert_ptr_eq(ws_peer_arg(p), app);
}

static const struct svc_ws toy_ws = {
	.name = "toy",
	.roles = 1U << WIRE_ROLE_OWNER,
	.limits = toy_limits,
	.on_request = toy_on_request,
	.on_message = toy_on_message,
	.on_room = toy_on_room,
	.on_end = toy_on_end,
	.drain_reason = "restart, resume at once",
};
static const struct svc_ws later_ws = {
	.name = "toy",
	.roles = 1U << WIRE_ROLE_OWNER,
	.token_later = true,
	.limits = toy_limits,
	.on_request = toy_on_request,
	.on_message = toy_on_message,
	.on_room = toy_on_room,
	.on_end = toy_on_end,
	.drain_reason = "restart, resume at once",
};
static const struct svc_def later_def = {
	.name = "toy",
	.summary = "echoes, and checks tokens",
	.http_addr = "127.0.0.1:0",
	.admin_addr = "127.0.0.1:0",
	.no_bus = true,
	.ws = &later_ws,
	.start = toy_start,
};
static const struct svc_def toy_def = {
	.name = "toy",
	.summary = "echoes",
	.http_addr = "127.0.0.1:0",
	.admin_addr = "127.0.0.1:0",
	.no_bus = true,
	.ws = &toy_ws,
	.start = toy_start,
};

/* ---- tests ---- */

static void
toy_fork_as(
    struct svc_fixture *r, const struct svc_def *def, const char *const more[])
{
	svc_fixture_fork(r, def, "nats://127.0.0.1:1", more);
	tk_service_wait(&r->toy);
}

static void
toy_fork(struct svc_fixture *r, const char *const more[])
{
	toy_fork_as(r, &toy_def, more);
}

static void
expect_status(const struct svc_fixture *r, const char *headers, int status)
{
	struct tk_ws c;

	ck_assert_int_eq(tk_ws_open(&c, r->toy.http, "/x", headers), status);
	tk_ws_close(&c);
}

static void
toy_open(const struct svc_fixture *r, struct tk_ws *c, const char *headers,
    const char *hello)
{
	ck_assert_int_eq(tk_ws_open(c, r->toy.http, "/x?y", headers), 101);
	ck_assert_str_eq(tk_ws_next(c, TK_WS_MS), hello);
}

TEST(without_tokens_only_this_machine_connects)
{
	struct svc_fixture r = { 0 };
	struct tk_ws c;

	toy_fork(&r, NULL);
	toy_open(&r, &c, NULL, "/x?y nobody");
	tk_ws_send(&c, "echo");
	ck_assert_str_eq(tk_ws_next(&c, TK_WS_MS), "echo");
	tk_ws_close(&c);
	/* A page, which any program of this machine may show. */
	expect_status(&r, "Origin: http://example.com\r\n", 403);
	expect_status(&r, "Origin: null\r\n", 403);
	svc_fixture_stop(&r);
}

TEST(pages_of_cors_origins_connect)
{
	struct svc_fixture r = { 0 };

	toy_fork(&r, TK_ENV("CORS_ORIGINS=https://a.example"));
	expect_status(&r, "Origin: https://a.example\r\n", 101);
	expect_status(&r, "Origin: https://b.example\r\n", 403);
	svc_fixture_stop(&r);
}

#define OWNER "owner-0123456789abcdef0123456789"

/* Tokens of an owner and of an operator, who may not connect here. */
static void
toy_fork_with_tokens_as(struct svc_fixture *r, const struct svc_def *def,
    const char *one, const char *two)
{
	static const struct tk_token tokens[] = {
		{ OWNER, "\"role\":\"owner\",\"user\":\"alice\"" },
		{ "operator-0123456789abcdef01234567",
		    "\"role\":\"operator\"" },
	};
	const char *path = tk_path("tokens.json");
	char setting[600];

	tk_tokens_write(path, tokens, NELEM(tokens));
	(void)snprintf(setting, sizeof(setting), "AUTH_TOKENS=%s", path);
	toy_fork_as(r, def, TK_ENV(setting, one, two));
}

static void
toy_fork_with_tokens(struct svc_fixture *r, const char *one, const char *two)
{
	toy_fork_with_tokens_as(r, &toy_def, one, two);
}

TEST(a_token_is_needed_in_a_header_or_subprotocol)
{
	struct svc_fixture r = { 0 };
	struct tk_ws c;

	toy_fork_with_tokens(&r, NULL, NULL);
	expect_status(&r, NULL, 401);
	expect_status(&r, "Authorization: Bearer wrong-0123456789\r\n", 401);
	expect_status(&r, "Authorization: Basic " OWNER "\r\n", 401);
	expect_status(&r,
	    "Authorization: Bearer operator-0123456789abcdef01234567\r\n", 403);
	toy_open(&r, &c, "Authorization: Bearer " OWNER "\r\n", "/x?y alice");
	tk_ws_close(&c);
	toy_open(&r, &c,
	    "Sec-WebSocket-Protocol: toy.v1, soul.bearer." OWNER "\r\n",
	    "/x?y alice");
	tk_ws_close(&c);
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_auth_refused_total{reason=\"no_token\"} 2"));
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_auth_refused_total{reason=\"role\"} 1"));
	svc_fixture_stop(&r);
}

static void
expect_reply(struct tk_ws *c, const char *text, const char *reply)
{
	tk_ws_send(c, text);
	ck_assert_str_eq(tk_ws_next(c, TK_WS_MS), reply);
}

TEST(a_service_may_check_a_token_later)
{
	struct svc_fixture r = { 0 };
	struct tk_ws c;

	toy_fork_with_tokens_as(
	    &r, &later_def, "RATE_TOKEN_PER_S=1", "RATE_TOKEN_BURST=2");
	toy_open(&r, &c, NULL, "/x?y nobody");
	expect_reply(&c, "token wrong", "the token is not known");
	expect_reply(&c, "token operator-0123456789abcdef01234567",
	    "the role of the access token may not do this");
	expect_reply(&c, "token " OWNER, "alice");
	expect_reply(&c, "token " OWNER, "alice");
	expect_reply(&c, "token " OWNER, "too many connections are opened");
	expect_reply(&c, "echo", "echo");
	tk_ws_close(&c);
	/* What says it has a token needs a good one. */
	expect_status(&r, "Authorization: Bearer wrong-0123456789\r\n", 401);
	expect_status(&r, "Authorization: Basic " OWNER "\r\n", 401);
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_auth_refused_total{reason=\"bad_token\"} 2"));
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_auth_refused_total{reason=\"role\"} 1"));
	ck_assert(svc_fixture_has_metric(
	    &r, "soul_auth_refused_total{reason=\"rate\"} 1"));
	svc_fixture_stop(&r);
}

TEST(checks_count_for_the_rate_of_the_address)
{
	struct svc_fixture r = { 0 };
	struct tk_ws c;

	toy_fork_with_tokens_as(
	    &r, &later_def, "RATE_ADDRESS_PER_S=1", "RATE_ADDRESS_BURST=2");
	toy_open(&r, &c, NULL, "/x?y nobody");
	expect_reply(&c, "token " OWNER, "alice");
	expect_reply(&c, "token " OWNER, "too many connections are opened");
	tk_ws_close(&c);
	svc_fixture_stop(&r);
}

TEST(with_tokens_an_address_has_a_limit)
{
	struct svc_fixture r = { 0 };
	struct tk_ws a, b;

	toy_fork_with_tokens(&r, "HTTP_PER_ADDRESS=2", NULL);
	toy_open(&r, &a, "Authorization: Bearer " OWNER "\r\n", "/x?y alice");
	toy_open(&r, &b, "Authorization: Bearer " OWNER "\r\n", "/x?y alice");
	expect_status(&r, "Authorization: Bearer " OWNER "\r\n", 429);
	tk_ws_close(&a);
	tk_ws_close(&b);
	svc_fixture_stop(&r);
}

TEST(handshakes_of_an_address_have_a_rate)
{
	struct svc_fixture r = { 0 };

	toy_fork_with_tokens(
	    &r, "RATE_ADDRESS_PER_S=1", "RATE_ADDRESS_BURST=2");
	expect_status(&r, NULL, 401);
	expect_status(&r, NULL, 401);
	expect_status(&r, NULL, 429);
	svc_fixture_stop(&r);
}

TEST(a_drain_closes_with_1001_and_ends)
{
	struct svc_fixture r = { 0 };
	struct tk_ws c;

	toy_fork(&r, NULL);
	toy_open(&r, &c, NULL, "/x?y nobody");
	ck_assert_int_eq(kill(r.toy.proc.pid, SIGTERM), 0);
	ck_assert_uint_eq(tk_ws_end(&c), 1001);
	ck_assert_str_eq(c.reason, "restart, resume at once");
	tk_ws_close(&c);
	svc_fixture_expect_exit(&r, 0);
	svc_fixture_stop(&r);
}
