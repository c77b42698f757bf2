/* A raw HTTP client that shares no code with the servers under test. */
#include "testkit/http.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "testkit/testkit.h"

#define IN_MAX  ((size_t)64 * 1024 * 1024)
#define CALL_MS 10000

void
tk_http_open(struct tk_http *c, int port)
{
	tk_http_open_from(c, INADDR_LOOPBACK, port);
}

void
tk_http_open_from(struct tk_http *c, uint32_t from, int port)
{
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(from) };
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1;

	buf_init(&c->in, IN_MAX);
	c->eof = false;
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 ||
	    (from != INADDR_LOOPBACK &&
		bind(c->fd, (struct sockaddr *)&own, sizeof(own)) != 0) ||
	    connect(c->fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		ck_abort_msg("connect to %d: %s", port, strerror(errno));
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void
tk_http_close(struct tk_http *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	buf_free(&c->in);
}

void
tk_response_free(struct tk_response *a)
{
	buf_free(&a->head);
	buf_free(&a->body);
}

bool
tk_http_send(struct tk_http *c, const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t done = send(c->fd, at, n, MSG_NOSIGNAL);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		at += done;
		n -= (size_t)done;
	}
	return true;
}

bool
tk_http_puts(struct tk_http *c, const char *text)
{
	return tk_http_send(c, text, strlen(text));
}

bool
tk_http_fill(struct tk_http *c, int ms)
{
	static _Thread_local char chunk[65536];
	struct pollfd p = { .fd = c->fd, .events = POLLIN };

	if (c->eof || poll(&p, 1, ms < 0 ? 0 : ms) <= 0)
		return false;
	ssize_t n = recv(c->fd, chunk, sizeof(chunk), 0);
	if (n <= 0) {
		c->eof = true;
		return false;
	}
	buf_put(&c->in, chunk, (size_t)n);
	return true;
}

static int
ms_left(struct mono until)
{
	int64_t ms = mono_diff_ms(until, clock_mono());

	return ms > 0 ? (int)ms : 0;
}

bool
tk_http_has(struct tk_http *c, const char *text, int ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);

	while (str_find(buf_str(&c->in), str_of(text)) < 0)
		if (!tk_http_fill(c, ms_left(until)) &&
		    (c->eof || ms_left(until) == 0))
			return false;
	return true;
}

bool
tk_http_closed(struct tk_http *c, int ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);

	while (!c->eof && ms_left(until) > 0)
		(void)tk_http_fill(c, ms_left(until));
	return c->eof;
}

/* Receive until c->in has at least n bytes. */
static bool
http_need(struct tk_http *c, size_t n, struct mono until)
{
	while (c->in.n < n)
		if (!tk_http_fill(c, ms_left(until)) &&
		    (c->eof || ms_left(until) == 0))
			return false;
	return true;
}

/* Move the first n bytes of c->in to dst. */
static void
http_move(struct tk_http *c, struct buf *dst, size_t n)
{
	if (dst != NULL)
		buf_put(dst, c->in.p, n);
	buf_drop(&c->in, n);
}

static bool
read_chunks(struct tk_http *c, struct tk_response *a, struct mono until)
{
	for (;;) {
		ptrdiff_t eol;
		while ((eol = str_find(buf_str(&c->in), STR("\r\n"))) < 0)
			if (!http_need(c, c->in.n + 1, until))
				return false;
		size_t n = strtoul(c->in.p, NULL, 16);
		if (!http_need(c, (size_t)eol + 2 + n + 2, until))
			return false;
		http_move(c, NULL, (size_t)eol + 2);
		http_move(c, &a->body, n);
		http_move(c, NULL, 2);
		if (n == 0)
			return true;
	}
}

static bool
read_body(struct tk_http *c, struct tk_response *a, struct mono until)
{
	char value[64];

	if (a->status == 204 || a->status == 304)
		return true;
	if (strcmp(
		tk_response_field(a, "Transfer-Encoding", value, sizeof(value)),
		"chunked") == 0)
		return read_chunks(c, a, until);
	tk_response_field(a, "Content-Length", value, sizeof(value));
	if (value[0] == '\0') {
		while (http_need(c, c->in.n + 1, until))
			continue;
		http_move(c, &a->body, c->in.n);
		return c->eof;
	}
	size_t n = strtoul(value, NULL, 10);
	if (!http_need(c, n, until))
		return false;
	http_move(c, &a->body, n);
	return true;
}

bool
tk_http_read(struct tk_http *c, struct tk_response *a, int ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);

	do {
		ptrdiff_t end;
		a->status = 0;
		a->head.max = a->body.max = IN_MAX;
		buf_reset(&a->head);
		buf_reset(&a->body);
		while ((end = str_find(buf_str(&c->in), STR("\r\n\r\n"))) < 0)
			if (!http_need(c, c->in.n + 1, until))
				return false;
		http_move(c, &a->head, (size_t)end + 4);
		if (!str_starts(buf_str(&a->head), STR("HTTP/1.1 ")))
			return false;
		a->status = (int)strtol(a->head.p + 9, NULL, 10);
	} while (a->status < 200);
	return read_body(c, a, until);
}

int
tk_http_call(int port, struct tk_response *a, const char *fmt, ...)
{
	struct buf b = BUF_INIT(IN_MAX);
	struct tk_http c;
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	tk_http_open(&c, port);
	(void)tk_http_send(&c, b.p, b.n);
	if (!tk_http_read(&c, a, CALL_MS))
		a->status = 0;
	tk_http_close(&c);
	buf_free(&b);
	return a->status;
}

void
tk_http_begin(struct tk_http *c, int port, const char *method, const char *path,
    const char *body)
{
	struct buf head = BUF_INIT(IN_MAX);

	buf_printf(
	    &head, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path);
	if (body != NULL)
		buf_printf(&head,
		    "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\n",
		    strlen(body));
	buf_puts(&head, "\r\n");
	tk_http_open(c, port);
	ck_assert(tk_http_send(c, head.p, head.n));
	if (body != NULL)
		(void)tk_http_puts(c, body);
	buf_free(&head);
}

int
tk_http_request(int port, struct tk_response *a, const char *method,
    const char *path, const char *body)
{
	struct tk_http c;

	tk_http_begin(&c, port, method, path, body);
	if (!tk_http_read(&c, a, CALL_MS))
		a->status = 0;
	tk_http_close(&c);
	return a->status;
}

const char *
tk_response_field(
    const struct tk_response *a, const char *name, char *dst, size_t size)
{
	struct str rest = buf_str(&a->head);

	dst[0] = '\0';
	while (rest.p != NULL) {
		struct str value = str_split(&rest, '\n');
		struct str key = str_split(&value, ':');
		if (value.p == NULL || !str_eq_nocase(key, str_of(name)))
			continue;
		str_copy(str_trim(value), dst, size);
		break;
	}
	return dst;
}

bool
tk_response_has(const struct tk_response *a, const char *text)
{
	return str_find(buf_str(&a->body), str_of(text)) >= 0;
}
