/*
 * connection: one connection to Redis: opened by a worker, watched by the loop,
 * closed at the first error, reopened with growing pauses.
 *
 * hiredis connects and parses; reading and writing is done here, because its
 * blocking calls have a deadline per read, not per call, and it calls write()
 * without MSG_NOSIGNAL.
 */
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "state/state_internal.h"

#define CONNECT_MS   2000
#define COMMAND_MS   1000 /* of AUTH, SELECT, … */
#define DEADLINE_MS  100  /* of calls, by default */
#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 250
/* Wrong credentials do not become right within milliseconds. */
#define DENIED_MAX_MS 2000
#define LOG_EVERY_S   30

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

static void
connection_close(struct connection *c)
{
	if (c == NULL)
		return;
	redisReaderFree(c->reader);
	close(c->fd);
	free(c);
}

static int
connection_fd(const struct connection *c)
{
	return c->fd;
}

static bool
connection_is_idle(const struct connection *c)
{
	ssize_t n;
	char byte;

	/* A surplus reply must not be taken for the next command's. */
	if (c->reader->pos != c->reader->len)
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

/* Feed the parser what was received, if anything. */
static bool
connection_receive(struct connection *c, char why[STATE_ERROR_MAX])
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

/* Take the replies that are complete. */
static bool
connection_parse(struct connection *c, struct connection_replies *w,
    char why[STATE_ERROR_MAX])
{
	void *reply = NULL;

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

/* False if until has passed or poll failed. */
static bool
connection_wait(struct connection *c, bool writing, struct mono until,
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

enum rc
state_connection_exchange(struct connection *c, struct str out,
    struct connection_replies *w, struct mono until, char why[STATE_ERROR_MAX])
{
	struct str left = out;

	w->got = 0;
	c->sink = (struct reply_sink){ w->a, false };
	for (;;) {
		if (!connection_send(c, &left, why) ||
		    !connection_wait(c, left.n > 0, until, why) ||
		    !connection_receive(c, why) || !connection_parse(c, w, why))
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
	rc = state_connection_exchange(
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

static enum rc
connection_open(const struct connection_opts *o, struct connection **out,
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
	if (rc == RC_OK) {
		*out = c;
		return RC_OK;
	}
	connection_close(c);
	return rc == RC_DENIED ? RC_DENIED : RC_DOWN;
}

/* ---- reconnecting ---- */

/* The worker uses copies, so that s may be freed meanwhile. */
struct connect_job {
	struct state *s; /* used by the loop only; NULL: freed */
	struct connection_opts opts;
	struct connection *connection;
	enum rc rc;
	char why[STATE_ERROR_MAX];
};

static void connection_connect(void *arg);

static void
connection_log_failed(struct state *s, const struct connect_job *job)
{
	int64_t missed;

	if (!log_every(&s->log_failing, LOG_EVERY_S, &missed))
		return;
	if (job->rc == RC_DENIED)
		log_error("state.denied", LOG_S("host", job->opts.url.host),
		    LOG_I("port", job->opts.url.port), LOG_S("why", job->why),
		    LOG_I("missed", missed));
	else
		log_warn("state.unreachable", LOG_S("host", job->opts.url.host),
		    LOG_I("port", job->opts.url.port), LOG_S("why", job->why),
		    LOG_I("missed", missed));
}

static void
connection_retry(struct state *s)
{
	s->backoff.max_ms = s->denied ? DENIED_MAX_MS : RETRY_MAX_MS;
	loop_timer_set(s->loop, &s->reconnect,
	    mono_add_ms(clock_mono(), backoff_next_ms(&s->backoff)),
	    connection_connect, s);
}

/* Readable between calls: the server has closed the connection. */
static void
connection_on_readable(void *arg, unsigned events)
{
	struct state *s = arg;

	(void)events;
	if (!connection_is_idle(s->connection))
		state_connection_break(s, "closed, or an unexpected reply");
}

static void
connection_made(struct state *s, struct connection *c)
{
	s->connection = c;
	s->number++;
	s->proven = false;
	s->denied = false;
	s->log_failing = (struct log_rate){ 0 };
	s->watch = (struct loop_fd){
		.fd = connection_fd(c), .fn = connection_on_readable, .arg = s
	};
	loop_fd_watch(s->loop, &s->watch, LOOP_READ);
	atomic_store(&s->up, true);
	metric_set(s->m_up, 1);
	metric_add(s->m_connects, 1);
	log_info("state.up", LOG_S("host", s->connection_opts.url.host),
	    LOG_I("port", s->connection_opts.url.port),
	    LOG_I("database", s->connection_opts.db));
}

static void
connection_on_worker(void *arg)
{
	struct connect_job *job = arg;

	job->rc = connection_open(&job->opts, &job->connection, job->why);
}

static void
connection_on_connected(void *arg)
{
	struct connect_job *job = arg;
	struct state *s = job->s;

	if (s == NULL) {
		connection_close(job->connection);
		free(job);
		return;
	}
	s->job = NULL;
	if (job->connection != NULL) {
		connection_made(s, job->connection);
	} else {
		s->denied = job->rc == RC_DENIED;
		connection_log_failed(s, job);
		connection_retry(s);
	}
	free(job);
}

static void
connection_connect(void *arg)
{
	struct state *s = arg;
	struct connect_job *job = mem_zalloc(sizeof(*job));

	job->s = s;
	job->opts = s->connection_opts;
	job->rc = RC_DOWN;
	str_copy(STR("the worker did not run"), job->why, sizeof(job->why));
	s->job = job;
	if (worker_run(s->workers, connection_on_worker,
		connection_on_connected, job) == RC_OK)
		return;
	s->job = NULL;
	free(job);
	connection_retry(s);
}

enum rc
state_connection_check(struct state *s)
{
	if (s->connection == NULL)
		return s->denied ? RC_DENIED : RC_DOWN;
	/* Not sent is certain; a call on a closed connection is not. */
	if (!connection_is_idle(s->connection)) {
		state_connection_break(s, "closed, or an unexpected reply");
		return RC_DOWN;
	}
	return RC_OK;
}

void
state_connection_proven(struct state *s)
{
	s->proven = true;
	backoff_reset(&s->backoff);
}

void
state_connection_break(struct state *s, const char *why)
{
	loop_fd_watch(s->loop, &s->watch, 0);
	connection_close(s->connection);
	s->connection = NULL;
	atomic_store(&s->up, false);
	metric_set(s->m_up, 0);
	log_warn("state.down", LOG_S("host", s->connection_opts.url.host),
	    LOG_I("port", s->connection_opts.url.port), LOG_S("why", why));
	/* Pause after a connection that never worked. */
	if (s->proven)
		connection_connect(s);
	else
		connection_retry(s);
}

/* The database is the path: "", "/" or "/<number>". */
static bool
url_database(struct str path, int64_t *db)
{
	*db = 0;
	if (path.n <= 1)
		return true;
	path = (struct str){ path.p + 1, path.n - 1 };
	return str_to_i64(path, 0, INT32_MAX, db) == RC_OK;
}

/* What is wrong with the address, or NULL. */
static const char *
url_read(const char *text, struct url *u, int64_t *db)
{
	const char *why = NULL;

	if (url_parse(str_of(text), u, &why) != RC_OK)
		return why;
	if (!str_eq(str_of(u->scheme), STR("redis")))
		return "the scheme is not redis://";
	if (!url_database(str_of(u->path), db))
		return "the path is not a database number";
	if (u->user[0] != '\0' && u->password[0] == '\0')
		return "there is a user without a password";
	return NULL;
}

const char *
state_url_error(const char *url)
{
	struct url u;
	int64_t db;

	return url_read(url, &u, &db);
}

static enum rc
connection_read_opts(const struct state_opts *o, struct connection_opts *c)
{
	const char *why = url_read(o->url, &c->url, &c->db);

	if (why != NULL) {
		log_error("state.url", LOG_S("why", why));
		return RC_INVALID;
	}
	if (c->url.port == 0)
		c->url.port = 6379;
	str_copy(str_of(o->name), c->name, sizeof(c->name));
	c->deadline_ms = o->deadline_ms > 0 ? o->deadline_ms : DEADLINE_MS;
	return RC_OK;
}

enum rc
state_connection_start(const struct state_opts *o, struct state *s)
{
	enum rc rc = connection_read_opts(o, &s->connection_opts);

	if (rc != RC_OK)
		return rc;
	s->loop = o->loop;
	s->workers = o->workers;
	s->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	connection_connect(s);
	return RC_OK;
}

void
state_connection_stop(struct state *s)
{
	loop_timer_cancel(s->loop, &s->reconnect);
	if (s->job != NULL)
		s->job->s = NULL;
	if (s->connection != NULL) {
		loop_fd_watch(s->loop, &s->watch, 0);
		connection_close(s->connection);
	}
}
