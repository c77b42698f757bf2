/* The request that opens a WebSocket. */
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "ws/handshake.h"

#define KEY     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: Upgrade\r\n"
#define HOST    "Host: h\r\n"

static struct http_head head;

static void
head_of(const char *line, const char *fields)
{
	static char text[2048];
	const char *why;
	size_t used;

	snprintf(text, sizeof(text), "%s\r\n%s\r\n", line, fields);
	ck_assert_int_eq(
	    http_head_read(str_of(text), &head, &used, &why), RC_OK);
}

TEST(a_handshake_is_checked)
{
	static const struct {
		const char *line, *fields;
		int status;
	} rows[] = {
		{ "GET / HTTP/1.1", HOST UPGRADE VERSION KEY, 101 },
		{ "GET / HTTP/1.1",
		    HOST
		    "upgrade: h2c, WebSocket\r\n"
		    "connection: keep-alive\r\nConnection: upgrade\r\n" VERSION
			KEY,
		    101 },
		{ "POST / HTTP/1.1", HOST UPGRADE VERSION KEY, 405 },
		{ "GET / HTTP/1.0", HOST UPGRADE VERSION KEY, 400 },
		{ "GET / HTTP/1.1", UPGRADE VERSION KEY, 400 },
		{ "GET / HTTP/1.1", HOST HOST UPGRADE VERSION KEY, 400 },
		{ "GET / HTTP/1.1", HOST VERSION KEY, 426 },
		{ "GET / HTTP/1.1", HOST "Upgrade: websocket\r\n" VERSION KEY,
		    426 },
		{ "GET / HTTP/1.1",
		    HOST
		    "Upgrade: websockets\r\nConnection: Upgrade\r\n" VERSION
			KEY,
		    426 },
		{ "GET / HTTP/1.1",
		    HOST UPGRADE "Sec-WebSocket-Version: 8\r\n" KEY, 426 },
		{ "GET / HTTP/1.1", HOST UPGRADE KEY, 426 },
		{ "GET / HTTP/1.1", HOST UPGRADE VERSION, 400 },
		{ "GET / HTTP/1.1", HOST UPGRADE VERSION KEY KEY, 400 },
		{ "GET / HTTP/1.1",
		    HOST UPGRADE VERSION "Sec-WebSocket-Key: abc\r\n", 400 },
		{ "GET / HTTP/1.1",
		    HOST UPGRADE VERSION
		    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQA=\r\n",
		    400 },
		{ "GET / HTTP/1.1",
		    HOST UPGRADE VERSION KEY "Content-Length: 0\r\n", 400 },
	};
	struct handshake hs;
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		head_of(rows[i].line, rows[i].fields);
		handshake_check(&head, &hs);
		ck_assert_msg(hs.status == rows[i].status, "%s %s: %d, not %d",
		    rows[i].line, rows[i].fields, hs.status, rows[i].status);
		ck_assert_int_eq(hs.status != 101, hs.why != NULL);
	}
}

TEST(a_plain_request_has_no_upgrade)
{
	static const struct {
		const char *line, *fields;
		bool plain;
	} rows[] = {
		{ "GET / HTTP/1.1", HOST, true },
		{ "HEAD / HTTP/1.1", HOST, true },
		{ "POST / HTTP/1.1", HOST, false },
		{ "GET / HTTP/1.0", HOST, false },
		{ "GET / HTTP/1.1", "", false },
		{ "GET / HTTP/1.1", HOST HOST, false },
		{ "GET / HTTP/1.1", HOST "Transfer-Encoding: chunked\r\n",
		    false },
		{ "GET / HTTP/1.1", HOST "Upgrade: h2c\r\n", false },
		{ "GET / HTTP/1.1", HOST UPGRADE VERSION KEY, false },
	};
	size_t i;

	for (i = 0; i < NELEM(rows); i++) {
		head_of(rows[i].line, rows[i].fields);
		ck_assert_msg(handshake_is_plain(&head) == rows[i].plain,
		    "%s %s", rows[i].line, rows[i].fields);
	}
}

TEST(subprotocols_are_found_in_all_fields)
{
	struct buf out = BUF_INIT(1024);
	struct handshake hs;

	head_of("GET / HTTP/1.1",
	    HOST UPGRADE VERSION KEY "Sec-WebSocket-Protocol: star.v1, x\r\n"
				     "Sec-WebSocket-Protocol: bearer.abc\r\n");
	ck_assert(handshake_offers(&head, STR("star.v1")));
	ck_assert(handshake_offers(&head, STR("x")));
	ck_assert(!handshake_offers(&head, STR("STAR.V1")));
	ck_assert(
	    str_eq(handshake_offer_after(&head, STR("bearer.")), STR("abc")));
	ck_assert_ptr_null(handshake_offer_after(&head, STR("y")).p);
	handshake_check(&head, &hs);
	handshake_write(&hs, STR("star.v1"), &out);
	ck_assert_ptr_nonnull(
	    strstr(out.p, "\r\nSec-WebSocket-Protocol: star.v1\r\n\r\n"));
	buf_free(&out);
}
