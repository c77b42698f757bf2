/*
 * A GET of /readyz, for who wants to know from outside: a plain socket, so that
 * asking takes no thread, no NATS and no client in the image.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "svc/internal.h"

#define ANSWER_MAX 4096
#define READY      200

/* As httpd_new() reads it; a server on all addresses is on loopback too. */
static bool
addr_read(struct str addr, struct sockaddr_in *to)
{
	struct str rest = addr, name = str_split(&rest, ':');
	char host[INET_ADDRSTRLEN];
	int64_t port;

	if (name.n >= sizeof(host) ||
	    str_to_i64(rest, 1, 65535, &port) != RC_OK)
		return false;
	str_copy(name, host, sizeof(host));
	*to = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port) };
	if (name.n > 0 && inet_pton(AF_INET, host, &to->sin_addr) != 1)
		return false;
	if (to->sin_addr.s_addr == htonl(INADDR_ANY))
		to->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return true;
}

/* Wait until fd has events; errno says why it has not. */
static bool
wait_for(int fd, short events, struct mono until)
{
	struct pollfd p = { .fd = fd, .events = events };
	int64_t ms;
	int n;

	do {
		ms = mono_diff_ms(until, clock_mono());
		n = poll(&p, 1, ms > 0 ? (int)ms : 0);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	return n > 0;
}

static bool
dial(int fd, const struct sockaddr_in *to, struct mono until)
{
	int e = 0;
	socklen_t n = sizeof(e);

	if (connect(fd, (const struct sockaddr *)(const void *)to,
		sizeof(*to)) == 0)
		return true;
	if (errno != EINPROGRESS || !wait_for(fd, POLLOUT, until))
		return false;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &n) != 0)
		return false;
	errno = e;
	return e == 0;
}

/* Read to the end, or to the ceiling of in. */
static bool
hear(int fd, struct buf *in, struct mono until)
{
	char chunk[1024];
	ssize_t n;

	while (buf_rc(in) == RC_OK) {
		if (!wait_for(fd, POLLIN, until))
			return false;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return true;
		if (n < 0)
			return false;
		buf_put(in, chunk, (size_t)n);
	}
	return true;
}

static bool
ask(int fd, struct buf *in, struct mono until)
{
	static const char request[] = "GET /readyz HTTP/1.1\r\n"
				      "Host: localhost\r\n"
				      "Connection: close\r\n\r\n";

	return send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) ==
	    (ssize_t)sizeof(request) - 1 &&
	    hear(fd, in, until);
}

/* The lines of a body as one. */
static void
lines_join(struct str body, struct buf *why)
{
	struct str line;
	size_t i;

	while (body.p != NULL) {
		line = str_trim(str_split(&body, '\n'));
		if (line.n > 0 && why->n > 0)
			buf_puts(why, "; ");
		for (i = 0; i < line.n; i++)
			buf_putc(why,
			    (unsigned char)line.p[i] < ' ' ? '?' : line.p[i]);
	}
}

/* What the answer says: RC_OK, or RC_DOWN and why. */
static enum rc
judge(struct str answer, struct buf *why)
{
	static const struct str blank = STR_INIT("\r\n\r\n");
	struct str rest = answer, line = str_split(&rest, '\r');
	ptrdiff_t at = str_find(answer, blank);
	int64_t code;

	if (!str_starts(line, STR("HTTP/1.")) || at < 0 ||
	    str_split(&line, ' ').n == 0 ||
	    str_to_i64(str_split(&line, ' '), 100, 599, &code) != RC_OK) {
		buf_puts(why, "what answers there is no service");
		return RC_DOWN;
	}
	if (code == READY)
		return RC_OK;
	lines_join((struct str){ answer.p + (size_t)at + blank.n,
		       answer.n - (size_t)at - blank.n },
	    why);
	if (why->n == 0)
		buf_printf(why, "it answers %lld", (long long)code);
	return RC_DOWN;
}

enum rc
svc_health(const char *admin_addr, struct buf *why)
{
	struct mono until = mono_add_ms(clock_mono(), SVC_HEALTH_MS);
	struct buf in = BUF_INIT(ANSWER_MAX);
	struct sockaddr_in to;
	enum rc rc = RC_DOWN;
	int fd;

	if (!addr_read(str_of(admin_addr), &to)) {
		buf_printf(why,
		    "ADMIN_ADDR: %s is not a.b.c.d:port with a port to ask",
		    admin_addr);
		return RC_INVALID;
	}
	fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && dial(fd, &to, until) && ask(fd, &in, until))
		rc = judge(buf_str(&in), why);
	else
		buf_printf(why, "%s: %s", admin_addr, strerror(errno));
	if (fd >= 0)
		close(fd);
	buf_free(&in);
	return rc;
}
