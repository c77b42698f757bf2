/*
 * node: one server of Redis: its connection on the loop, the calls that wait
 * for it, and reconnecting with growing pauses.  With sentinels, each
 * connection is to the server that is the master by then.
 *
 * Calls of one iteration of the loop leave in one write, and Redis executes
 * them, and makes them durable, together.  Replies come in the order of calls.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "core/mem.h"
#include "state/state_internal.h"

#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 250
/* Wrong credentials do not become right within milliseconds. */
#define DENIED_MAX_MS 2000
#define LOG_EVERY_S   30
/* Between two queries whether it is still the master. */
#define VERIFY_MS     1000
#define WRITE_IOV_MAX 64

struct state_node {
	struct state *s;
	struct node_opts o;
	size_t sentinel; /* the one to query first */

	struct connection *connection; /* NULL: down */
	uint32_t epoch;                /* of the connection: the client's */
	bool proven;                   /* it has answered a call */
	bool denied;                   /* the last attempt was */
	bool tried;                    /* an attempt has ended */
	_Atomic bool up;
	struct replication *replication; /* NULL: nothing waits for replicas */
	struct loop_fd watch;
	struct connect_job *job;
	struct verify_job *verify;
	struct mono verified;
	struct loop_timer reconnect;
	struct backoff backoff;
	struct log_rate log_failing;

	/* In the order of submission; those before unsent wait for replies. */
	struct node_call *first, **end;
	struct node_call *unsent; /* the first with bytes left; NULL: none */
	size_t n, bytes;
	struct loop_timer deadline;
	struct loop_deferred flush;

	/* Ended, but their owners do not know yet. */
	struct node_call *ended, **ended_end;
	struct loop_deferred notify;
};

/* ---- calls ---- */

static void
node_notify(void *arg)
{
	struct state_node *n = arg;
	struct node_call *c;

	while ((c = n->ended) != NULL) {
		n->ended = c->next;
		if (n->ended == NULL)
			n->ended_end = &n->ended;
		c->done(c);
	}
}

/* c is out of the queue: its owner will be notified. */
static void
node_call_end(struct state_node *n, struct node_call *c, enum rc rc)
{
	c->rc = rc;
	c->ended = true;
	c->next = NULL;
	n->n--;
	n->bytes -= c->bytes.n;
	if (c->done == NULL) /* it is being waited for */
		return;
	*n->ended_end = c;
	n->ended_end = &c->next;
	loop_defer(n->s->loop, &n->notify, node_notify, n);
}

static struct node_call *
node_call_shift(struct state_node *n)
{
	struct node_call *c = n->first;

	n->first = c->next;
	if (n->first == NULL)
		n->end = &n->first;
	if (n->unsent == c)
		n->unsent = c->next;
	return c;
}

/*
 * End all calls.  What was sent in part may be executed, when the server's
 * buffer holds a whole command of a pipeline.
 */
static void
node_fail_calls(struct state_node *n, bool too_big)
{
	struct node_call *c;

	while (n->first != NULL) {
		c = node_call_shift(n);
		if (too_big)
			node_call_end(n, c, RC_TOOBIG);
		else
			node_call_end(n, c, c->sent > 0 ? RC_TIMEOUT : RC_DOWN);
		too_big = false;
	}
}

/* ---- reconnecting ---- */

/* The worker uses copies, so that the node may be freed meanwhile. */
struct connect_job {
	struct state_node *n; /* used by the loop only; NULL: freed */
	struct connection_opts opts;
	struct connection_target target;
	size_t sentinel;
	bool found; /* target is the address of a server */
	struct connection *connection;
	enum rc rc;
	char why[STATE_ERROR_MAX];
};

static void node_connect(void *arg);
static void node_on_event(void *arg, unsigned events);

static void
node_log_failed(struct state_node *n, const struct connect_job *job)
{
	const struct redis_address *at = job->found
	    ? &job->target.address
	    : &job->opts.url.addresses[job->sentinel];
	int64_t missed;

	if (!log_every(&n->log_failing, LOG_EVERY_S, &missed))
		return;
	if (job->rc == RC_CONFLICT)
		log_error("state.format", LOG_S("host", at->host),
		    LOG_I("port", at->port), LOG_S("found", job->why),
		    LOG_S("wanted", STATE_FORMAT),
		    LOG_S("do", state_format_remedy(str_of(job->why))));
	else if (job->rc == RC_DENIED)
		log_error("state.denied", LOG_S("host", at->host),
		    LOG_I("port", at->port), LOG_S("why", job->why),
		    LOG_I("missed", missed));
	else
		log_warn("state.unreachable", LOG_S("host", at->host),
		    LOG_I("port", at->port), LOG_S("why", job->why),
		    LOG_I("missed", missed));
}

static void
node_changed(struct state_node *n, bool up)
{
	atomic_store(&n->up, up);
	if (n->o.changed != NULL)
		n->o.changed(n->o.arg, up);
}

static void
node_retry(struct state_node *n)
{
	n->backoff.max_ms = n->denied ? DENIED_MAX_MS : RETRY_MAX_MS;
	loop_timer_set(n->s->loop, &n->reconnect,
	    mono_add_ms(clock_mono(), backoff_next_ms(&n->backoff)),
	    node_connect, n);
}

static void
node_connected(struct state_node *n, struct connection *c)
{
	n->connection = c;
	n->epoch = ++n->s->version;
	n->proven = false;
	n->denied = false;
	n->log_failing = (struct log_rate){ 0 };
	n->watch = (struct loop_fd){
		.fd = state_connection_fd(c), .fn = node_on_event, .arg = n
	};
	loop_fd_watch(n->s->loop, &n->watch, LOOP_READ);
	if (n->o.kind != NODE_REPLICATION) {
		metric_add(n->s->m_connects, 1);
		log_info("state.up", LOG_S("host", n->o.address.host),
		    LOG_I("port", n->o.address.port),
		    LOG_I("database", n->s->connection_opts.url.db));
	}
	if (n->replication != NULL)
		replication_begin(n->replication, &n->o.address);
	node_changed(n, true);
}

static void
connect_job_run(void *arg)
{
	struct connect_job *job = arg;

	if (!job->found) {
		job->rc = sentinel_find_master(
		    &job->opts, &job->sentinel, &job->target.address, job->why);
		if (job->rc != RC_OK)
			return;
		job->found = true;
	}
	job->rc = state_connection_open(
	    &job->opts, &job->target, &job->connection, job->why);
}

static void
connect_job_done(void *arg)
{
	struct connect_job *job = arg;
	struct state_node *n = job->n;

	if (n == NULL) {
		state_connection_close(job->connection);
		free(job);
		return;
	}
	n->job = NULL;
	n->tried = true;
	n->sentinel = job->sentinel;
	if (job->connection != NULL) {
		n->o.address = job->target.address;
		node_connected(n, job->connection);
	} else {
		/* The next sentinel may know a master that works. */
		if (!job->found || n->o.kind == NODE_SENTINEL)
			n->sentinel++;
		n->denied = job->rc == RC_DENIED || job->rc == RC_CONFLICT;
		node_log_failed(n, job);
		node_retry(n);
		if (job->rc == RC_CONFLICT)
			n->s->on_format(n->s->on_format_arg);
	}
	free(job);
}

static void
node_connect(void *arg)
{
	struct state_node *n = arg;
	struct connect_job *job = mem_zalloc(sizeof(*job));

	job->n = n;
	job->opts = n->s->connection_opts;
	job->target.address = n->o.address;
	job->target.master = n->o.kind == NODE_SENTINEL;
	job->target.scripts = n->o.kind != NODE_REPLICATION;
	job->found = n->o.kind != NODE_SENTINEL;
	job->sentinel = n->sentinel % job->opts.url.n;
	job->rc = RC_DOWN;
	str_copy(STR("the worker did not run"), job->why, sizeof(job->why));
	n->job = job;
	if (worker_run(n->s->workers, connect_job_run, connect_job_done, job) ==
	    RC_OK)
		return;
	n->job = NULL;
	free(job);
	node_retry(n);
}

static void
node_close(struct state_node *n, bool too_big)
{
	loop_fd_watch(n->s->loop, &n->watch, 0);
	loop_timer_cancel(n->s->loop, &n->deadline);
	loop_defer_cancel(n->s->loop, &n->flush);
	state_connection_close(n->connection);
	n->connection = NULL;
	node_fail_calls(n, too_big);
	if (n->replication != NULL)
		replication_end(n->replication);
	node_changed(n, false);
}

void
state_node_break(struct state_node *n, const char *why)
{
	char text[STATE_ERROR_MAX];

	if (n->connection == NULL)
		return;
	/* why may lie in a reply that its owner frees. */
	str_copy(str_of(why), text, sizeof(text));
	node_close(n, state_connection_was_over(n->connection));
	log_warn("state.down", LOG_S("host", n->o.address.host),
	    LOG_I("port", n->o.address.port), LOG_S("why", text));
	/* Pause after a connection that never worked. */
	if (n->proven)
		node_connect(n);
	else
		node_retry(n);
}

/* ---- whether it is still the master ---- */

/* As struct connect_job. */
struct verify_job {
	struct state_node *n;
	struct connection_opts opts;
	struct redis_address master;
	size_t sentinel;
	uint32_t epoch; /* of the connection that is verified */
	enum rc rc;
	char why[STATE_ERROR_MAX];
};

static void
verify_job_run(void *arg)
{
	struct verify_job *job = arg;

	job->rc = sentinel_find_master(
	    &job->opts, &job->sentinel, &job->master, job->why);
}

static void
verify_job_done(void *arg)
{
	struct verify_job *job = arg;
	struct state_node *n = job->n;

	if (n != NULL)
		n->verify = NULL;
	if (n != NULL && job->rc == RC_OK && n->connection != NULL &&
	    n->epoch == job->epoch &&
	    (job->master.port != n->o.address.port ||
		strcmp(job->master.host, n->o.address.host) != 0)) {
		n->sentinel = job->sentinel;
		state_node_break(n, "the sentinels name another master");
	}
	free(job);
}

void
state_node_verify(struct state_node *n)
{
	struct mono now = clock_mono();
	struct verify_job *job;

	if (n->o.kind != NODE_SENTINEL || n->verify != NULL ||
	    n->connection == NULL ||
	    (n->verified.ns != 0 && mono_diff_ms(now, n->verified) < VERIFY_MS))
		return;
	n->verified = now;
	job = mem_zalloc(sizeof(*job));
	job->n = n;
	job->opts = n->s->connection_opts;
	job->sentinel = n->sentinel % job->opts.url.n;
	job->epoch = n->epoch;
	job->rc = RC_DOWN;
	if (worker_run(n->s->workers, verify_job_run, verify_job_done, job) ==
	    RC_OK)
		n->verify = job;
	else
		free(job);
}

/* ---- reading and writing ---- */

static void
node_write(struct state_node *n)
{
	struct iovec iov[WRITE_IOV_MAX];
	char why[STATE_ERROR_MAX];
	struct node_call *c;
	size_t k, wrote;

	while (n->unsent != NULL) {
		k = 0;
		for (c = n->unsent; c != NULL && k < NELEM(iov); c = c->next)
			iov[k++] = (struct iovec){
				.iov_base =
				    (char *)(uintptr_t)c->bytes.p + c->sent,
				.iov_len = c->bytes.n - c->sent,
			};
		if (!state_connection_write(
			n->connection, iov, k, &wrote, why)) {
			state_node_break(n, why);
			return;
		}
		if (wrote == 0)
			break;
		for (c = n->unsent; wrote > 0; c = c->next) {
			k = c->bytes.n - c->sent;
			k = wrote < k ? wrote : k;
			c->sent += k;
			wrote -= k;
			if (c->sent == c->bytes.n)
				n->unsent = c->next;
		}
	}
	loop_fd_watch(n->s->loop, &n->watch,
	    n->unsent != NULL ? LOOP_READ | LOOP_WRITE : LOOP_READ);
}

static void
node_flush(void *arg)
{
	struct state_node *n = arg;

	if (n->connection == NULL)
		return;
	/* Not sent is certain; a call on a closed connection is not. */
	if (n->unsent == n->first && n->first->sent == 0 &&
	    !state_connection_is_idle(n->connection))
		state_node_break(n, "closed, or an unexpected reply");
	else
		node_write(n);
}

static void
node_read(struct state_node *n)
{
	char why[STATE_ERROR_MAX];
	struct node_call *c;

	if (!state_connection_receive(n->connection, why)) {
		state_node_break(n, why);
		return;
	}
	while ((c = n->first) != NULL && c->sent > 0) {
		if (!state_connection_parse(n->connection, &c->w, why)) {
			state_node_break(n, why);
			return;
		}
		if (c->w.got < c->w.n)
			return;
		/* It cannot have replied to what it does not have. */
		if (c->sent < c->bytes.n)
			break;
		n->proven = true;
		backoff_reset(&n->backoff);
		node_call_end(n, node_call_shift(n), RC_OK);
	}
	if (state_connection_has_more(n->connection))
		state_node_break(n, "closed, or an unexpected reply");
}

static void
node_on_event(void *arg, unsigned events)
{
	struct state_node *n = arg;

	if ((events & LOOP_READ) != 0)
		node_read(n);
	if ((events & LOOP_WRITE) != 0 && n->connection != NULL &&
	    n->unsent != NULL)
		node_write(n);
	/* At once, so that what their owners send next leaves with this
	 * iteration's other calls. */
	node_notify(n);
}

/* ---- the interface ---- */

static void
node_on_deadline(void *arg)
{
	struct state_node *n = arg;
	const struct node_call *c;
	struct mono until;

	if (n->first == NULL)
		return;
	until = n->first->until;
	for (c = n->first; c != NULL; c = c->next)
		if (mono_diff_ns(c->until, until) < 0)
			until = c->until;
	if (mono_diff_ns(until, clock_mono()) <= 0)
		state_node_break(n, "no reply within the deadline");
	else
		loop_timer_set(
		    n->s->loop, &n->deadline, until, node_on_deadline, n);
}

enum rc
state_node_submit(struct state_node *n, struct node_call *c)
{
	c->next = NULL;
	c->sent = 0;
	c->w.got = 0;
	c->ended = false;
	if (n->connection == NULL)
		return n->denied ? RC_DENIED : RC_DOWN;
	if (n->n == STATE_CALLS_MAX || c->bytes.n > STATE_SEND_MAX ||
	    n->bytes + c->bytes.n > STATE_SEND_MAX)
		return RC_RETRY;
	if (n->first == NULL)
		n->end = &n->first;
	*n->end = c;
	n->end = &c->next;
	if (n->unsent == NULL)
		n->unsent = c;
	n->n++;
	n->bytes += c->bytes.n;
	loop_defer(n->s->loop, &n->flush, node_flush, n);
	if (n->deadline.pos == 0 || mono_diff_ns(c->until, n->deadline.at) < 0)
		loop_timer_set(
		    n->s->loop, &n->deadline, c->until, node_on_deadline, n);
	return RC_OK;
}

void
state_node_wait(struct state_node *n, const struct node_call *c)
{
	char why[STATE_ERROR_MAX];

	loop_defer_cancel(n->s->loop, &n->flush);
	node_flush(n);
	while (!c->ended) {
		if (!state_connection_wait(
			n->connection, n->unsent != NULL, c->until, why)) {
			state_node_break(n, why);
			return;
		}
		node_read(n);
		if (!c->ended && n->unsent != NULL)
			node_write(n);
	}
}

bool
state_node_up(const struct state_node *n)
{
	return atomic_load(&n->up);
}

bool
state_node_is_new(const struct state_node *n)
{
	return !n->tried;
}

bool
state_node_is_idle(const struct state_node *n)
{
	return n->first == NULL && n->ended == NULL;
}

uint32_t
state_node_epoch(const struct state_node *n)
{
	return n->epoch;
}

struct replication *
state_node_replication(const struct state_node *n)
{
	return n->replication;
}

const struct redis_address *
state_node_address(const struct state_node *n)
{
	return &n->o.address;
}

struct state_node *
state_node_new(struct state *s, const struct node_opts *o)
{
	struct state_node *n = mem_zalloc(sizeof(*n));

	n->s = s;
	n->o = *o;
	n->backoff = (struct backoff){ RETRY_MIN_MS, RETRY_MAX_MS, 0 };
	n->ended_end = &n->ended;
	if (s->wait_replicas > 0 && o->kind != NODE_REPLICATION)
		n->replication = replication_new(s, n);
	node_connect(n);
	return n;
}

void
state_node_stop(struct state_node *n)
{
	loop_timer_cancel(n->s->loop, &n->reconnect);
	if (n->job != NULL)
		n->job->n = NULL;
	n->job = NULL;
	if (n->verify != NULL)
		n->verify->n = NULL;
	n->verify = NULL;
	if (n->connection != NULL)
		node_close(n, false);
	if (n->replication != NULL)
		replication_stop(n->replication);
	node_notify(n);
}

void
state_node_free(struct state_node *n)
{
	if (n == NULL)
		return;
	state_node_stop(n);
	loop_defer_cancel(n->s->loop, &n->notify);
	replication_free(n->replication);
	free(n);
}
