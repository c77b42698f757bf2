#include "testkit/ws_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"

#define IN_MAX (64UL * 1024 * 1024)

/* ---- bytes ---- */

static void
client_write(struct tk_ws *c, struct str s)
{
	ssize_t n;

	/* A server that has closed is found by reading. */
	while (s.n > 0 && (n = send(c->fd, s.p, s.n, MSG_NOSIGNAL)) > 0) {
		s.p += n;
		s.n -= (size_t)n;
	}
}

/* Read what comes within ms; false: nothing. */
static bool
client_read(struct tk_ws *c, int ms)
{
	struct pollfd w = { .fd = c->fd, .events = POLLIN };
	char bytes[65536];
	ssize_t n;

	if (c->fd == -1 || poll(&w, 1, ms) != 1)
		return false;
	n = recv(c->fd, bytes, sizeof(bytes), 0);
	if (n > 0) {
		buf_put(&c->in, bytes, (size_t)n);
		return true;
	}
	close(c->fd);
	c->fd = -1;
	return false;
}

static int
client_connect(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval tv = { TK_WS_MS / 1000, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	ck_assert_int_ne(fd, -1);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)(void *)&to, sizeof(to)), 0);
	return fd;
}

/* ---- the handshake ---- */

static const char *
client_head_end(const struct tk_ws *c)
{
	return c->in.n > 0 ? memmem(c->in.p, c->in.n, "\r\n\r\n", 4) : NULL;
}

int
tk_ws_open(struct tk_ws *c, int port, const char *path, const char *headers)
{
	struct buf out = BUF_INIT(65536);
	const char *end;
	int64_t status;

	*c = (struct tk_ws){ .fd = client_connect(port) };
	buf_init(&c->in, IN_MAX);
	buf_init(&c->msg, IN_MAX);
	buf_printf(&out,
	    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\n"
	    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	    "Sec-WebSocket-Extensions: permessage-deflate\r\n%s\r\n",
	    path, port, headers != NULL ? headers : "");
	client_write(c, buf_str(&out));
	buf_free(&out);
	while ((end = client_head_end(c)) == NULL)
		ck_assert_msg(client_read(c, TK_WS_MS), "no response");
	ck_assert_int_eq(strncmp(c->in.p, "HTTP/1.1 ", 9), 0);
	ck_assert_int_eq(
	    str_to_i64((struct str){ c->in.p + 9, 3 }, 100, 599, &status),
	    RC_OK);
	if (status == 101)
		ck_assert_ptr_null(
		    memmem(c->in.p, (size_t)(end - c->in.p), "Extensions", 10));
	buf_drop(&c->in, (size_t)(end + 4 - c->in.p));
	if (status == 101)
		return 101;
	while (client_read(c, TK_WS_MS))
		;
	buf_put_str(&c->msg, buf_str(&c->in));
	buf_putc(&c->msg, '\0');
	return (int)status;
}

void
tk_ws_close(struct tk_ws *c)
{
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
	buf_free(&c->in);
	buf_free(&c->msg);
}

/* ---- frames ---- */

void
tk_ws_send_frame(struct tk_ws *c, unsigned char first, struct str data)
{
	static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
	struct buf out = BUF_INIT(IN_MAX);
	size_t i, length = data.n < 126 ? 0 : data.n < 65536 ? 2 : 8;

	buf_putc(&out, (char)first);
	buf_putc(&out,
	    (char)(0x80 |
		(length == 0          ? data.n
			: length == 2 ? 126
				      : 127)));
	for (i = length; i > 0; i--)
		buf_putc(&out, (char)((uint64_t)data.n >> 8 * (i - 1)));
	buf_put(&out, mask, sizeof(mask));
	for (i = 0; i < data.n; i++)
		buf_putc(&out, (char)(data.p[i] ^ mask[i % 4]));
	client_write(c, buf_str(&out));
	buf_free(&out);
}

void
tk_ws_send(struct tk_ws *c, const char *text)
{
	tk_ws_send_frame(c, 0x81, str_of(text));
}

void
tk_ws_send_close(struct tk_ws *c, unsigned code)
{
	const char payload[2] = { (char)(code >> 8), (char)code };

	tk_ws_send_frame(c, 0x88, (struct str){ payload, sizeof(payload) });
}

/* The length of the first frame's head, and of its payload; 0: not whole. */
static size_t
client_frame(const struct tk_ws *c, size_t *n)
{
	const unsigned char *p = (const unsigned char *)c->in.p;
	size_t i, head = 2;

	if (c->in.n < 2)
		return 0;
	*n = p[1];
	if (*n >= 126) {
		head = *n == 126 ? 4 : 10;
		if (c->in.n < head)
			return 0;
		for (i = 2, *n = 0; i < head; i++)
			*n = *n << 8 | p[i];
	}
	return c->in.n >= head + *n ? head : 0;
}

/* Take the first frame; whether it is a message. */
static bool
client_take(struct tk_ws *c, size_t head, size_t n)
{
	unsigned opcode = (unsigned char)c->in.p[0] & 0x0f;
	struct str data = { c->in.p + head, n };
	bool message = opcode == 1 || opcode == 2;

	if (message) {
		buf_reset(&c->msg);
		buf_put_str(&c->msg, data);
		buf_putc(&c->msg, '\0');
	} else if (opcode == 8 && n >= 2) {
		c->code = (unsigned)(unsigned char)data.p[0] << 8 |
		    (unsigned char)data.p[1];
		str_copy((struct str){ data.p + 2, n - 2 }, c->reason,
		    sizeof(c->reason));
	} else if (opcode == 9) {
		c->pings++;
		if (!c->deaf)
			tk_ws_send_frame(c, 0x8a, data);
	}
	buf_drop(&c->in, head + n);
	return message;
}

const char *
tk_ws_next(struct tk_ws *c, int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	size_t head, n = 0;
	int64_t left;

	for (;;) {
		while ((head = client_frame(c, &n)) > 0)
			if (client_take(c, head, n))
				return c->msg.p;
		left = mono_diff_ms(end, clock_mono());
		if (c->fd == -1 || left < 0)
			return NULL;
		(void)client_read(c, (int)left);
	}
}

unsigned
tk_ws_end(struct tk_ws *c)
{
	return tk_ws_end_within(c, TK_WS_MS);
}

unsigned
tk_ws_end_within(struct tk_ws *c, int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);

	while (c->fd != -1 && clock_mono().ns < end.ns)
		(void)tk_ws_next(c, 100);
	ck_assert_msg(c->fd == -1, "it was not disconnected");
	return c->code;
}
