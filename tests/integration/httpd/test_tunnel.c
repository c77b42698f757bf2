/* A WebSocket to another server: bytes both ways, who may, and the end. */
#include "core/mem.h"
#include "httpd/httpd_tunnel.h"
#include "testkit/httpd_fixture.h"
#include "testkit/raw_server.h"
#include "testkit/ws_client.h"

#define BINARY 0x82
#define TEXT   0x81
#define OFFER  "Sec-WebSocket-Protocol: x, mqtt\r\n"
#define BIG    20000

static struct httpd_fixture s;
static struct raw_server echo;
static char to[64];
static bool local = true;

static bool
allows(void *arg, const struct httpd_req *r)
{
	(void)r;
	return *(bool *)arg;
}

/* Sends back what it gets; "q" is the end. */
static void
on_connection(struct raw_server *p, int fd)
{
	char b[4096];
	ssize_t n;

	(void)p;
	while ((n = recv(fd, b, sizeof(b), 0)) > 0 && b[0] != 'q')
		if (send(fd, b, (size_t)n, MSG_NOSIGNAL) != n)
			return;
}

static void
open_tunnel(size_t max)
{
	struct httpd_tunnel tunnel = { .path = "/mqtt",
		.to = to,
		.protocol = "mqtt",
		.max = max,
		.allows = allows,
		.arg = &local };

	raw_server_open(&echo, on_connection);
	snprintf(to, sizeof(to), "localhost:%d", echo.port);
	httpd_fixture_open(&s, (struct httpd_opts){ .tunnel = &tunnel });
}

static void
close_all(void)
{
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 10000));
	httpd_fixture_close(&s);
	raw_server_close(&echo);
}

static void
send_bytes(struct tk_ws *c, const char *bytes, size_t n)
{
	tk_ws_send_frame(c, BINARY, (struct str){ bytes, n });
}

/* The next n bytes, in as many messages as they come. */
static void
receive_bytes(struct tk_ws *c, const char *want, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ck_assert_ptr_nonnull(tk_ws_next(c, TK_WS_MS));
		/* Without its NUL. */
		ck_assert_uint_le(got + c->msg.n - 1, n);
		ck_assert_mem_eq(c->msg.p, want + got, c->msg.n - 1);
		got += c->msg.n - 1;
	}
}

TEST(bytes_pass_both_ways)
{
	static char big[BIG];
	struct tk_ws c;
	size_t i;

	for (i = 0; i < sizeof(big); i++)
		big[i] = (char)('a' + i % 7);
	open_tunnel(2);
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	send_bytes(&c, "one\0two", 7);
	receive_bytes(&c, "one\0two", 7);
	for (i = 0; i < 50; i++) {
		send_bytes(&c, big, BIG / 2);
		send_bytes(&c, big + BIG / 2, BIG / 2);
		receive_bytes(&c, big, BIG);
	}
	tk_ws_send_close(&c, 1000);
	ck_assert_uint_eq(tk_ws_end(&c), 1000);
	tk_ws_close(&c);
	close_all();
}

TEST(what_is_no_binary_message_of_16_kib_ends_it)
{
	static char big[BIG];
	struct tk_ws c;

	open_tunnel(2);
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	tk_ws_send(&c, "text");
	ck_assert_uint_eq(tk_ws_end(&c), 1008);
	tk_ws_close(&c);
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	send_bytes(&c, big, sizeof(big));
	ck_assert_uint_eq(tk_ws_end(&c), 1009);
	tk_ws_close(&c);
	close_all();
}

TEST(an_end_of_the_server_is_one_of_the_client)
{
	struct tk_ws c;

	open_tunnel(2);
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	send_bytes(&c, "quit", 4);
	ck_assert_uint_eq(tk_ws_end(&c), 1001);
	tk_ws_close(&c);
	/* A client that is gone frees its worker, too. */
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	tk_ws_close(&c);
	close_all();
}

static int
status(const char *headers)
{
	struct tk_ws c;
	int n = tk_ws_open(&c, s.port, "/mqtt", headers);

	tk_ws_close(&c);
	return n;
}

TEST(who_may_not_open_it_gets_an_error)
{
	struct tk_response a = { 0 };

	open_tunnel(2);
	ck_assert_int_eq(status(NULL), 400);
	ck_assert_int_eq(status("Sec-WebSocket-Protocol: mqttv3\r\n"), 400);
	ck_assert_int_eq(status(OFFER "Origin: http://other.example\r\n"), 403);
	local = false;
	ck_assert_int_eq(status(OFFER), 403);
	local = true;
	ck_assert_int_eq(
	    tk_http_call(
		s.port, &a, "GET /mqtt HTTP/1.1\r\n" HTTPD_FIXTURE_HOST "\r\n"),
	    426);
	tk_response_free(&a);
	close_all();
}

TEST(tunnels_are_limited_and_stop)
{
	struct tk_ws c, d;

	open_tunnel(1);
	ck_assert_int_eq(tk_ws_open(&c, s.port, "/mqtt", OFFER), 101);
	ck_assert_int_eq(tk_ws_open(&d, s.port, "/mqtt", OFFER), 503);
	tk_ws_close(&d);
	httpd_stop(s.h);
	ck_assert_uint_eq(tk_ws_end(&c), 1001);
	tk_ws_close(&c);
	close_all();
}

TEST(a_server_that_is_down_is_an_error)
{
	open_tunnel(1);
	raw_server_close(&echo);
	ck_assert_int_eq(status(OFFER), 502);
	ck_assert_int_eq(status(OFFER), 502);
	ck_assert(tk_until(httpd_fixture_is_idle, &s, 10000));
	httpd_fixture_close(&s);
}

TEST(an_address_is_a_host_and_a_port)
{
	ck_assert_ptr_null(httpd_tunnel_error(""));
	ck_assert_ptr_null(httpd_tunnel_error("127.0.0.1:1883"));
	ck_assert_ptr_null(httpd_tunnel_error("mosquitto:1883"));
	ck_assert_ptr_nonnull(httpd_tunnel_error("mosquitto"));
	ck_assert_ptr_nonnull(httpd_tunnel_error(":1883"));
	ck_assert_ptr_nonnull(httpd_tunnel_error("mqtt:0"));
	ck_assert_ptr_nonnull(httpd_tunnel_error("mqtt:65536"));
}
