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
#include "testkit/ws_wire.h"

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
	struct buf out = BUF_INIT(IN_MAX);

	ws_wire_put(&out, first, data);
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

/* Take the first frame; whether it is a message. */
static bool
client_take(struct tk_ws *c, const struct ws_wire_frame *f, size_t n)
{
	bool message = f->opcode == 1 || f->opcode == 2;

	if (message) {
		buf_reset(&c->msg);
		buf_put_str(&c->msg, f->data);
		buf_putc(&c->msg, '\0');
	} else if (f->opcode == 8 && f->data.n >= 2) {
		c->code = (unsigned)(unsigned char)f->data.p[0] << 8 |
		    (unsigned char)f->data.p[1];
		str_copy((struct str){ f->data.p + 2, f->data.n - 2 },
		    c->reason, sizeof(c->reason));
	} else if (f->opcode == 9) {
		c->pings++;
		if (!c->deaf)
			tk_ws_send_frame(c, 0x8a, f->data);
	}
	buf_drop(&c->in, n);
	return message;
}

const char *
tk_ws_next(struct tk_ws *c, int ms)
{
	struct mono end = mono_add_ms(clock_mono(), ms);
	struct ws_wire_frame f;
	size_t n;
	int64_t left;

	for (;;) {
		for (n = 0; ws_wire_take(buf_str(&c->in), &n, &f); n = 0)
			if (client_take(c, &f, n))
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
