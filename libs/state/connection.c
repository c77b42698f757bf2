/*
 * connection: one connection to Redis: opened and authenticated by a worker
 * thread, then used by the loop.
 *
 * hiredis connects and parses; reading and writing is done here, because its
 * blocking calls have a deadline per read, not per call, and it calls write()
 * without MSG_NOSIGNAL.
 */
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/mem.h"
#include "state/scripts.h"
#include "state/state_internal.h"

#define CONNECT_MS 2000
#define COMMAND_MS 1000 /* of AUTH, SELECT, … */
/* Bytes of the replies to SCRIPT LOAD. */
#define SCRIPT_REPLIES_MAX (256UL * 1024)

struct connection {
	int fd;
	redisReader *reader;
	redisReplyObjectFunctions fn;
	struct reply_sink sink;
};

static void
resp_put_num(struct buf *out, char type, size_t n)
{
	char digits[24];
	size_t i = sizeof(digits);

	digits[--i] = '\n';
	digits[--i] = '\r';
	do
		digits[--i] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	digits[--i] = type;
	buf_put(out, digits + i, sizeof(digits) - i);
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

static struct connection *
connection_wrap(int fd)
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

/*
 * Send out and wait for the replies.  After anything but RC_OK the connection
 * is unusable, and why is the error.  For the worker that opens it.
 */
static enum rc
connection_exchange(struct connection *c, struct str out,
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

/* ---- opening ---- */

static int
connection_dial(const struct url *u, char why[STATE_ERROR_MAX])
{
	struct timeval tv = { CONNECT_MS / 1000, 0 };
	redisContext *rc;
	int fd, flags;

	rc = redisConnectWithTimeout(u->host, u->port > 0 ? u->port : 6379, tv);
	if (rc == NULL)
		abort();
	if (rc->err != 0 || redisEnableKeepAlive(rc) != REDIS_OK) {
		connection_error(why, rc->errstr);
		redisFree(rc);
		return -1;
	}
	fd = redisFreeKeepFd(rc);
	flags = fcntl(fd, F_GETFD);
	(void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
	return fd;
}

/* One command: RC_OK, or why is the error, the server's or ours. */
static enum rc
connection_command(struct connection *c, const struct str *args, size_t n,
    int64_t ms, char why[STATE_ERROR_MAX])
{
	struct state_reply *reply = NULL;
	struct connection_replies w = { &reply, 1, 0, arena_new(64 * 1024) };
	struct buf out = BUF_INIT(64 * 1024);
	enum rc rc;

	resp_put(&out, args, n);
	rc = connection_exchange(
	    c, buf_str(&out), &w, mono_add_ms(clock_mono(), ms), why);
	if (rc != RC_OK)
		rc = RC_DOWN;
	else if ((rc = reply_rc(reply)) != RC_OK)
		str_copy(reply->s, why, STATE_ERROR_MAX);
	buf_free(&out);
	arena_free(w.a);
	return rc;
}

static enum rc
connection_authenticate(struct connection *c, const struct connection_opts *o,
    char why[STATE_ERROR_MAX])
{
	struct str user = str_of(o->url.user);
	struct str password = str_of(o->url.password);
	char num[STATE_NUM_MAX], ignored[STATE_ERROR_MAX];
	enum rc rc = RC_OK;

	if (user.n > 0)
		rc = connection_command(c,
		    STATE_ARGS(STR("AUTH"), user, password), COMMAND_MS, why);
	else if (password.n > 0)
		rc = connection_command(
		    c, STATE_ARGS(STR("AUTH"), password), COMMAND_MS, why);
	if (rc == RC_OK && o->db != 0)
		rc = connection_command(c,
		    STATE_ARGS(STR("SELECT"), state_num(o->db, num)),
		    COMMAND_MS, why);
	if (rc == RC_INVALID)
		rc = RC_DENIED;
	if (rc != RC_OK)
		return rc;
	/* Only a convenience for operators; permission may be missing. */
	if (o->name[0] != '\0' &&
	    connection_command(c,
		STATE_ARGS(STR("CLIENT"), STR("SETNAME"), str_of(o->name)),
		COMMAND_MS, ignored) == RC_DOWN) {
		connection_error(why, ignored);
		return RC_DOWN;
	}
	return connection_command(
	    c, STATE_ARGS(STR("PING")), o->deadline_ms, why);
}

/*
 * Load all scripts, so that calls need no more than their digests.  The server
 * may reject that: it will do so when one is called, whose caller learns it.
 */
static enum rc
connection_load_scripts(struct connection *c, char why[STATE_ERROR_MAX])
{
	struct state_reply *replies[STATE_SCRIPTS];
	struct connection_replies w = { replies, STATE_SCRIPTS, 0,
		arena_new(SCRIPT_REPLIES_MAX) };
	struct buf out = BUF_INIT(STATE_SEND_MAX);
	enum rc rc;
	size_t i;

	for (i = 0; i < STATE_SCRIPTS; i++)
		resp_put(&out,
		    STATE_ARGS(STR("SCRIPT"), STR("LOAD"),
			str_of(state_scripts[i]->text)));
	rc = connection_exchange(
	    c, buf_str(&out), &w, mono_add_ms(clock_mono(), COMMAND_MS), why);
	buf_free(&out);
	arena_free(w.a);
	return rc == RC_OK ? RC_OK : RC_DOWN;
}

enum rc
state_connection_open(const struct connection_opts *o, struct connection **out,
    char why[STATE_ERROR_MAX])
{
	struct connection *c;
	enum rc rc;
	int fd;

	*out = NULL;
	fd = connection_dial(&o->url, why);
	if (fd == -1)
		return RC_DOWN;
	c = connection_wrap(fd);
	rc = connection_authenticate(c, o, why);
	if (rc == RC_OK)
		rc = connection_load_scripts(c, why);
	if (rc == RC_OK) {
		*out = c;
		return RC_OK;
	}
	state_connection_close(c);
	return rc == RC_DENIED ? RC_DENIED : RC_DOWN;
}
