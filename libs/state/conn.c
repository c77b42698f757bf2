/*
 * conn: a connection to Redis.
 *
 * hiredis connects and parses; reading and writing is done here, because its
 * blocking calls have a deadline per read, not per call, and write() without
 * MSG_NOSIGNAL.
 */
#include "state/conn.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"

#define CONNECT_MS 2000
#define HELLO_MS   1000

struct conn {
	int fd;
	redisReader *reader;
	redisReplyObjectFunctions fn;
	struct reply_sink sink;
};

static void
put_num(struct buf *out, char type, size_t n)
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
conn_put_head(struct buf *out, size_t n)
{
	put_num(out, '*', n);
}

void
conn_put_args(struct buf *out, const struct str *args, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		put_num(out, '$', args[i].n);
		buf_put_str(out, args[i]);
		buf_put(out, "\r\n", 2);
	}
}

void
conn_put(struct buf *out, const struct str *args, size_t n)
{
	conn_put_head(out, n);
	conn_put_args(out, args, n);
}

static struct conn *
adopt(int fd)
{
	struct conn *c = mem_zalloc(sizeof(*c));

	c->fd = fd;
	reply_functions(&c->fn);
	c->reader = redisReaderCreateWithFunctions(&c->fn);
	if (c->reader == NULL)
		abort();
	c->reader->privdata = &c->sink;
	return c;
}

void
state_conn_close(struct conn *c)
{
	if (c == NULL)
		return;
	redisReaderFree(c->reader);
	close(c->fd);
	free(c);
}

int
conn_fd(const struct conn *c)
{
	return c->fd;
}

bool
conn_idle(const struct conn *c)
{
	ssize_t n;
	char byte;

	/* More than was asked for: it must not answer the next command. */
	if (c->reader->pos != c->reader->len)
		return false;
	n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == -1 && (errno == EAGAIN || errno == EINTR);
}

/* ---- exchanging ---------------------------------------------------------- */

static void
say(char why[CONN_WHY_MAX], const char *text)
{
	str_copy(str_of(text), why, CONN_WHY_MAX);
}

static void
say_errno(char why[CONN_WHY_MAX])
{
	char text[CONN_WHY_MAX];

	say(why, strerror_r(errno, text, sizeof(text)));
}

/* Send what the socket takes; *left becomes what remains. */
static bool
send_some(struct conn *c, struct str *left, char why[CONN_WHY_MAX])
{
	ssize_t n;

	while (left->n > 0) {
		n = send(c->fd, left->p, left->n, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1 && errno == EAGAIN)
			return true;
		if (n == -1) {
			say_errno(why);
			return false;
		}
		*left = (struct str){ left->p + n, left->n - (size_t)n };
	}
	return true;
}

/* Feed the parser what has come, if anything has. */
static bool
receive_some(struct conn *c, char why[CONN_WHY_MAX])
{
	char bytes[16 * 1024];
	ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n == -1) {
		say_errno(why);
		return false;
	}
	if (n == 0) {
		say(why, "the server closed the connection");
		return false;
	}
	if (redisReaderFeed(c->reader, bytes, (size_t)n) != REDIS_OK) {
		say(why, c->reader->errstr);
		return false;
	}
	/* Bytes of a string that is still incomplete. */
	if (c->reader->len - c->reader->pos > STATE_REPLY_MAX + sizeof(bytes)) {
		c->sink.over = true;
		say(why, "the reply is too big");
		return false;
	}
	return true;
}

/* Take the replies that are complete. */
static bool
parse_some(struct conn *c, struct conn_want *w, char why[CONN_WHY_MAX])
{
	void *reply = NULL;

	while (w->got < w->n) {
		if (redisReaderGetReply(c->reader, &reply) != REDIS_OK) {
			say(why,
			    c->sink.over ? "the reply is too big"
					 : c->reader->errstr);
			return false;
		}
		if (reply == NULL)
			return true;
		w->replies[w->got++] = reply;
	}
	return true;
}

/* False if until has passed or the socket cannot be waited for. */
static bool
wait_for(
    struct conn *c, bool writing, struct mono until, char why[CONN_WHY_MAX])
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
		say(why, "no answer within the deadline");
	else
		say_errno(why);
	return false;
}

enum rc
conn_exchange(struct conn *c, struct str out, struct conn_want *w,
    struct mono until, char why[CONN_WHY_MAX])
{
	struct str left = out;

	w->got = 0;
	c->sink = (struct reply_sink){ w->a, false };
	for (;;) {
		if (!send_some(c, &left, why) ||
		    !wait_for(c, left.n > 0, until, why) ||
		    !receive_some(c, why) || !parse_some(c, w, why))
			break;
		if (w->got == w->n && left.n == 0)
			return RC_OK;
	}
	if (c->sink.over)
		return RC_TOOBIG;
	return left.n == out.n ? RC_DOWN : RC_TIMEOUT;
}

/* ---- opening ------------------------------------------------------------- */

static int
dial(const struct url *u, char why[CONN_WHY_MAX])
{
	struct timeval tv = { CONNECT_MS / 1000, 0 };
	redisContext *rc;
	int fd, flags;

	rc = redisConnectWithTimeout(u->host, u->port > 0 ? u->port : 6379, tv);
	if (rc == NULL)
		abort();
	if (rc->err != 0 || redisEnableKeepAlive(rc) != REDIS_OK) {
		say(why, rc->errstr);
		redisFree(rc);
		return -1;
	}
	fd = redisFreeKeepFd(rc);
	flags = fcntl(fd, F_GETFD);
	(void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
	return fd;
}

/* One command for its answer: RC_OK, or why is the server's or our error. */
static enum rc
ask(struct conn *c, const struct str *args, size_t n, int64_t ms,
    char why[CONN_WHY_MAX])
{
	struct state_reply *reply = NULL;
	struct conn_want w = { &reply, 1, 0, arena_new(64 * 1024) };
	struct buf out = BUF_INIT(64 * 1024);
	enum rc rc;

	conn_put(&out, args, n);
	rc = conn_exchange(
	    c, buf_str(&out), &w, mono_add_ms(clock_mono(), ms), why);
	if (rc != RC_OK)
		rc = RC_DOWN;
	else if ((rc = reply_rc(reply)) != RC_OK)
		str_copy(reply->s, why, CONN_WHY_MAX);
	buf_free(&out);
	arena_free(w.a);
	return rc;
}

static enum rc
hello(struct conn *c, const struct conn_opts *o, char why[CONN_WHY_MAX])
{
	struct str user = str_of(o->url.user);
	struct str password = str_of(o->url.password);
	char num[STATE_NUM_MAX], ignored[CONN_WHY_MAX];
	enum rc rc = RC_OK;

	if (user.n > 0)
		rc = ask(
		    c, STATE_ARGS(STR("AUTH"), user, password), HELLO_MS, why);
	else if (password.n > 0)
		rc = ask(c, STATE_ARGS(STR("AUTH"), password), HELLO_MS, why);
	if (rc == RC_OK && o->db != 0)
		rc = ask(c, STATE_ARGS(STR("SELECT"), state_num(o->db, num)),
		    HELLO_MS, why);
	/* A server without that password, or database, is not ours. */
	if (rc == RC_INVALID)
		rc = RC_DENIED;
	if (rc != RC_OK)
		return rc;
	/* Only a convenience for operators: rights may not include it. */
	if (o->name[0] != '\0' &&
	    ask(c, STATE_ARGS(STR("CLIENT"), STR("SETNAME"), str_of(o->name)),
		HELLO_MS, ignored) == RC_DOWN) {
		say(why, ignored);
		return RC_DOWN;
	}
	return ask(c, STATE_ARGS(STR("PING")), o->deadline_ms, why);
}

enum rc
state_conn_open(
    const struct conn_opts *o, struct conn **out, char why[CONN_WHY_MAX])
{
	struct conn *c;
	enum rc rc;
	int fd;

	*out = NULL;
	fd = dial(&o->url, why);
	if (fd == -1)
		return RC_DOWN;
	c = adopt(fd);
	rc = hello(c, o, why);
	if (rc == RC_OK) {
		*out = c;
		return RC_OK;
	}
	state_conn_close(c);
	return rc == RC_DENIED ? RC_DENIED : RC_DOWN;
}
