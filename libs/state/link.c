/*
 * link: keeping one connection to Redis: made in a worker, watched by the loop,
 * given up at the first fault, made again with growing pauses.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/mem.h"
#include "state/own.h"

#define DEADLINE_MS  100
#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 250
/* Credentials do not get right within milliseconds. */
#define DENIED_MAX_MS 2000
#define LOG_EVERY_S   30

/* The worker's part works on copies, so that s may be freed meanwhile. */
struct connecting {
	struct state *s; /* NULL: freed; the loop's */
	struct conn_opts opts;
	struct conn *conn;
	enum rc rc;
	char why[CONN_WHY_MAX];
};

static void link_connect(void *arg);

static void
log_failed(struct state *s, const struct connecting *job)
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
retry_later(struct state *s)
{
	s->backoff.max_ms = s->denied ? DENIED_MAX_MS : RETRY_MAX_MS;
	loop_timer_set(s->loop, &s->retry,
	    mono_add_ms(clock_mono(), backoff_next_ms(&s->backoff)),
	    link_connect, s);
}

/* Something to read between calls: the server has closed the connection. */
static void
on_readable(void *arg, unsigned events)
{
	struct state *s = arg;

	(void)events;
	if (!conn_idle(s->conn))
		state_link_break(s, "closed, or out of step");
}

static void
link_made(struct state *s, struct conn *c)
{
	s->conn = c;
	s->number++;
	s->proven = false;
	s->denied = false;
	s->log_failing = (struct log_rate){ 0 };
	s->watch =
	    (struct loop_fd){ .fd = conn_fd(c), .fn = on_readable, .arg = s };
	loop_fd_watch(s->loop, &s->watch, LOOP_READ);
	atomic_store(&s->up, true);
	metric_set(s->m_up, 1);
	metric_add(s->m_connects, 1);
	log_info("state.up", LOG_S("host", s->conn_opts.url.host),
	    LOG_I("port", s->conn_opts.url.port),
	    LOG_I("database", s->conn_opts.db));
}

static void
on_worker(void *arg)
{
	struct connecting *job = arg;

	job->rc = state_conn_open(&job->opts, &job->conn, job->why);
}

static void
on_connected(void *arg)
{
	struct connecting *job = arg;
	struct state *s = job->s;

	if (s == NULL) {
		state_conn_close(job->conn);
		free(job);
		return;
	}
	s->job = NULL;
	if (job->conn != NULL) {
		link_made(s, job->conn);
	} else {
		s->denied = job->rc == RC_DENIED;
		log_failed(s, job);
		retry_later(s);
	}
	free(job);
}

static void
link_connect(void *arg)
{
	struct state *s = arg;
	struct connecting *job = mem_zalloc(sizeof(*job));

	job->s = s;
	job->opts = s->conn_opts;
	job->rc = RC_DOWN;
	str_copy(STR("the worker did not run"), job->why, sizeof(job->why));
	s->job = job;
	if (worker_run(s->workers, on_worker, on_connected, job) == RC_OK)
		return;
	s->job = NULL;
	free(job);
	retry_later(s);
}

enum rc
state_link_usable(struct state *s)
{
	if (s->conn == NULL)
		return s->denied ? RC_DENIED : RC_DOWN;
	/* What was closed meanwhile must not cost the call its certainty. */
	if (!conn_idle(s->conn)) {
		state_link_break(s, "closed, or out of step");
		return RC_DOWN;
	}
	return RC_OK;
}

void
state_link_proven(struct state *s)
{
	s->proven = true;
	backoff_reset(&s->backoff);
}

void
state_link_break(struct state *s, const char *why)
{
	loop_fd_watch(s->loop, &s->watch, 0);
	state_conn_close(s->conn);
	s->conn = NULL;
	atomic_store(&s->up, false);
	metric_set(s->m_up, 0);
	log_warn("state.down", LOG_S("host", s->conn_opts.url.host),
	    LOG_I("port", s->conn_opts.url.port), LOG_S("why", why));
	/* One that never worked must not be replaced in a tight circle. */
	if (s->proven)
		link_connect(s);
	else
		retry_later(s);
}

/* The database is the path: "", "/" or "/<number>". */
static bool
database(struct str path, int64_t *db)
{
	*db = 0;
	if (path.n <= 1)
		return true;
	path = (struct str){ path.p + 1, path.n - 1 };
	return str_to_i64(path, 0, INT32_MAX, db) == RC_OK;
}

/* What is wrong with the address, or NULL. */
static const char *
read_url(const char *text, struct url *u, int64_t *db)
{
	const char *why = NULL;

	if (url_parse(str_of(text), u, &why) != RC_OK)
		return why;
	if (!str_eq(str_of(u->scheme), STR("redis")))
		return "the scheme is not redis://";
	if (!database(str_of(u->path), db))
		return "the path is not a database number";
	if (u->user[0] != '\0' && u->password[0] == '\0')
		return "there is a user without a password";
	return NULL;
}

const char *
state_url_fault(const char *url)
{
	struct url u;
	int64_t db;

	return read_url(url, &u, &db);
}

static enum rc
link_opts(const struct state_opts *o, struct conn_opts *c)
{
	const char *why = read_url(o->url, &c->url, &c->db);

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
state_link_start(const struct state_opts *o, struct state *s)
{
	enum rc rc = link_opts(o, &s->conn_opts);

	if (rc != RC_OK)
		return rc;
	s->loop = o->loop;
	s->workers = o->workers;
	s->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	link_connect(s);
	return RC_OK;
}

void
state_link_stop(struct state *s)
{
	loop_timer_cancel(s->loop, &s->retry);
	if (s->job != NULL)
		s->job->s = NULL;
	if (s->conn != NULL) {
		loop_fd_watch(s->loop, &s->watch, 0);
		state_conn_close(s->conn);
	}
}
