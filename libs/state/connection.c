/*
 * connection: one connection to Redis: opened and authenticated by a worker
 * thread (connection_open.c), then used by the loop.
 *
 * hiredis connects and parses; reading and writing is done here, because its
 * blocking calls have a deadline per read, not per call, and it calls write()
 * without MSG_NOSIGNAL.
 */
#include <errno.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/mem.h"
#include "state/state_internal.h"

struct connection {
	int fd;
	redisReader *reader;
	redisReplyObjectFunctions fn;
	struct reply_sink sink;
};

static void
resp_put_num(struct buf *out, char type, size_t n)
{
	char line[1 + STR_NUM_MAX + 2];
	struct str num = str_num((int64_t)n, line + 1);

	line[0] = type;
	memcpy(line + 1 + num.n, "\r\n", 2);
	buf_put(out, line, 1 + num.n + 2);
}

void
resp_put_count(struct buf *out, size_t n)
{
	resp_put_num(out, '*', n);
}

void
resp_put_args(struct buf *out, const struct str *args, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		resp_put_num(out, '$', args[i].n);
		buf_put_str(out, args[i]);
		buf_put(out, "\r\n", 2);
	}
}

void
resp_put(struct buf *out, const struct str *args, size_t n)
{
	resp_put_count(out, n);
	resp_put_args(out, args, n);
}

struct connection *
state_connection_wrap(int fd)
{
	struct connection *c = mem_zalloc(sizeof(*c));

	c->fd = fd;
	reply_functions(&c->fn);
	c->reader = redisReaderCreateWithFunctions(&c->fn);
	if (c->reader == NULL)
		abort();
	c->reader->privdata = &c->sink;
	return c;
}

void
state_connection_close(struct connection *c)
{
	if (c == NULL)
		return;
	redisReaderFree(c->reader);
	close(c->fd);
	free(c);
}

int
state_connection_fd(const struct connection *c)
{
	return c->fd;
}

bool
state_connection_is_idle(const struct connection *c)
{
	ssize_t n;
	char byte;

	/* A surplus reply must not be taken for the next command's. */
	if (state_connection_has_more(c))
		return false;
	n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == -1 && (errno == EAGAIN || errno == EINTR);
}

/* ---- exchanging ---- */

static void
connection_error(char why[STATE_ERROR_MAX], const char *text)
{
	str_copy(str_of(text), why, STATE_ERROR_MAX);
}

static void
connection_errno(char why[STATE_ERROR_MAX])
{
	char text[STATE_ERROR_MAX];

	connection_error(why, strerror_r(errno, text, sizeof(text)));
}

/* Send what the socket takes; *left becomes what remains. */
static bool
connection_send(
    struct connection *c, struct str *left, char why[STATE_ERROR_MAX])
{
	ssize_t n;

	while (left->n > 0) {
		n = send(c->fd, left->p, left->n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return true;
		if (n == -1) {
			connection_errno(why);
			return false;
		}
		*left = (struct str){ left->p + n, left->n - (size_t)n };
	}
	return true;
}

bool
state_connection_write(struct connection *c, const struct iovec *iov, size_t n,
    size_t *wrote, char why[STATE_ERROR_MAX])
{
	struct msghdr m = { .msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = n };
	ssize_t done;

	*wrote = 0;
	do
		done = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (done == -1 && errno == EINTR);
	if (done == -1 && errno != EAGAIN) {
		connection_errno(why);
		return false;
	}
	if (done > 0)
		*wrote = (size_t)done;
	return true;
}

bool
state_connection_receive(struct connection *c, char why[STATE_ERROR_MAX])
{
	char bytes[16 * 1024];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n == -1) {
		connection_errno(why);
		return false;
	}
	if (n == 0) {
		connection_error(why, "the server closed the connection");
		return false;
	}
	if (redisReaderFeed(c->reader, bytes, (size_t)n) != REDIS_OK) {
		connection_error(why, c->reader->errstr);
		return false;
	}
	/* Bytes of a string that is still incomplete. */
	if (c->reader->len - c->reader->pos > STATE_REPLY_MAX + sizeof(bytes)) {
		c->sink.over = true;
		connection_error(why, "the reply is too big");
		return false;
	}
	return true;
}

bool
state_connection_parse(struct connection *c, struct connection_replies *w,
    char why[STATE_ERROR_MAX])
{
	void *reply = NULL;

	c->sink.a = w->a;
	while (w->got < w->n) {
		if (redisReaderGetReply(c->reader, &reply) != REDIS_OK) {
			connection_error(why,
			    c->sink.over ? "the reply is too big"
					 : c->reader->errstr);
			return false;
		}
		if (reply == NULL)
			return true;
		w->reply[w->got++] = reply;
	}
	return true;
}

bool
state_connection_wait(struct connection *c, bool writing, struct mono until,
    char why[STATE_ERROR_MAX])
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	int64_t ns;
	int n, ms;

	if (writing)
		p.events |= POLLOUT;
	do {
		ns = mono_diff_ns(until, clock_mono());
		ms = ns <= 0 ? 0 : (int)((ns + 999999) / 1000000);
		n = poll(&p, 1, ms);
	} while (n == -1 && errno == EINTR);
	if (n > 0)
		return true;
	if (n == 0)
		connection_error(why, "no reply within the deadline");
	else
		connection_errno(why);
	return false;
}

bool
state_connection_was_over(const struct connection *c)
{
	return c->sink.over;
}

bool
state_connection_has_more(const struct connection *c)
{
	return c->reader->pos != c->reader->len;
}

enum rc
state_connection_exchange(struct connection *c, struct str out,
    struct connection_replies *w, struct mono until, char why[STATE_ERROR_MAX])
{
	struct str left = out;

	w->got = 0;
	c->sink = (struct reply_sink){ w->a, false };
	for (;;) {
		if (!connection_send(c, &left, why) ||
		    !state_connection_wait(c, left.n > 0, until, why) ||
		    !state_connection_receive(c, why) ||
		    !state_connection_parse(c, w, why))
			break;
		if (w->got == w->n && left.n == 0)
			return RC_OK;
	}
	if (c->sink.over)
		return RC_TOOBIG;
	return left.n == out.n ? RC_DOWN : RC_TIMEOUT;
}
