/*
 * state: a Redis client for the loop: commands, pipelines, scripts, keys.
 *
 * A call suspends the fiber that makes it until its reply has come, and the
 * loop goes on; calls that are made in one iteration of the loop leave in one
 * write.  Outside of fibers, as in commands and tests, a call blocks, which is
 * logged as an error while the loop runs.  It takes at most the deadline of the
 * client.
 *
 * One connection carries all calls, and replies come in their order.  When a
 * call has no reply at its deadline, the connection is closed, all calls on it
 * fail, and later ones return RC_DOWN without waiting until a worker thread has
 * reconnected: name resolved, authenticated, database selected, PING answered,
 * scripts loaded.  So a server that hangs costs one deadline, once.
 *
 * With sentinels, the server is the master that they name whenever a connection
 * is made; it is left when its role changes.  In a cluster, there is a
 * connection to each master, and a call goes to the one that serves the slot of
 * its keys; one whose keys are in several slots is rejected.
 *
 * Within its deadline a call is repeated in two cases.  It was certainly not
 * executed, because the server is read-only, loads its data, has lost its
 * master, or the slot is moving, has moved, or is not served; that is until a
 * quarter of the deadline is left, and outside of fibers only while the server
 * is connected.  Or its outcome is unknown, and its script is idempotent.
 *
 * What a result means, of a single command as of each command of a pipeline:
 *   RC_OK       executed; its reply is available.
 *   RC_DOWN     not executed, and it never will be: there is no connection, or
 *               the server cannot serve it now (it is loading, read-only, …).
 *   RC_TIMEOUT  sent, but no reply came before the deadline or before the
 *               connection broke.  It may have been executed, it may still be
 *               (a server that hung reads its socket later), or never.  Retry
 *               only what is idempotent.
 *   RC_DENIED   not executed: the credentials or permissions do not suffice.
 *   RC_RETRY    not executed: busy with a script, or too many calls or bytes
 *               are waiting, or some of the keys are moving to another server.
 *   RC_CONFLICT not executed: the consumer group exists.
 *   RC_INVALID  the server rejected it: unknown command, wrong type, ….  Not
 *               executed, but a script's writes before the error remain.
 *   RC_TOOBIG   over STATE_SEND_MAX: not sent; or the reply is over
 *               STATE_REPLY_MAX: executed.
 *
 * All functions run on the loop thread unless they say otherwise.
 *
 * The records (terminal.h, soul.h, session.h, turn.h, memory.h, and leases
 * below) are built on this.  Their functions return what a command returns,
 * RC_OK meaning what their headers say, and besides:
 *   RC_INVALID  an id is not id_valid(), or a number is out of its range; or
 *               Redis holds something that is not the record, or has a format
 *               that this program does not know (logged): nothing changed.
 *   RC_UNREPLICATED it was written, but not enough replicas have it
 *               (wait_replicas), so that a failover may lose it.  What the
 *               function returns besides is set as with RC_OK.
 *   RC_BUG      a script returned what it never does (logged).
 *   RC_TOOBIG   what was read does not fit the caller's arena, or a text to be
 *               written is over its limit.
 */
#ifndef STATE_STATE_H
#define STATE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/loop.h"
#include "core/mem.h"
#include "core/metric.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/worker.h"
#include "state/state_conf.h"

/* Bytes of one call on the wire, and of the replies it may return. */
#define STATE_SEND_MAX  (64UL * 1024 * 1024)
#define STATE_REPLY_MAX (64UL * 1024 * 1024)
/* Commands in one pipeline; calls that wait for one server at a time. */
#define STATE_PIPE_MAX  4096
#define STATE_CALLS_MAX 16384

struct state;

struct state_opts {
	struct loop *loop;
	struct worker_pool *workers; /* connecting blocks one of its threads */
	/*
	 * redis://[[user]:password@]host[:port][/database]
	 * redis+sentinel://[[user]:password@]host[:port],…/master[/database]
	 * redis+cluster://[[user]:password@]host[:port],…
	 */
	const char *url;
	/*
	 * NULL: sentinels without a login.  Otherwise it also sets
	 * wait_replicas and wait_ms, whose values here are ignored.
	 */
	const struct state_conf *conf;
	const char *name; /* as CLIENT LIST shows it; NULL: none */
	int deadline_ms;  /* of a call; 0: 100 */
	/*
	 * Whether keys have a format that this program knows is checked
	 * whenever a connection is made; one to keys of another is closed,
	 * which is logged with what to do, and reported.  Called on the loop,
	 * each time; NULL: the format is not checked.
	 */
	void (*on_format)(void *arg);
	void *arg;
	int wait_replicas;          /* for state_wait_replicated(); 0: none */
	int wait_ms;                /* likewise, at most; 0: 500 */
	struct metric_set *metrics; /* may be NULL */
};

/*
 * state_url_error(url):
 * What is wrong with an address of Redis: a constant that contains no part of
 * it; NULL: nothing.  Pure.
 */
const char *state_url_error(const char *url);

/*
 * state_new(o, out):
 * Start connecting, and reconnect until state_free().  RC_INVALID if the URL is
 * not valid (logged).
 */
enum rc state_new(const struct state_opts *o, struct state **out) RC_CHECK;

/*
 * state_stop(s):
 * Close for good: the calls that wait, and all later ones, fail.  Fibers that
 * wait for one run before it returns.  Not in a fiber.  NULL is allowed.
 */
void state_stop(struct state *s);

/*
 * state_free(s):
 * As state_stop(), and free it.  Pipelines of s must be freed first; s before
 * its loop and workers.  NULL is allowed.
 */
void state_free(struct state *s);

/*
 * state_up(s):
 * Whether connected; in a cluster, to all masters at first, and from then on to
 * most of them.  Any thread.
 */
bool state_up(const struct state *s);

/* ---- replies ---- */

/* Status replies ("OK") are strings like any other. */
enum state_kind { STATE_NIL, STATE_INT, STATE_STR, STATE_ARRAY, STATE_ERROR };

struct state_reply;

/* state_reply_kind(r): What r is; STATE_NIL if r is NULL. */
enum state_kind state_reply_kind(const struct state_reply *r);

/* state_reply_int(r): The value of a STATE_INT, otherwise 0. */
int64_t state_reply_int(const struct state_reply *r);

/*
 * state_reply_str(r):
 * The bytes of a STATE_STR or the text of a STATE_ERROR, otherwise absent.
 * They are followed by a NUL that is not counted, and live as long as r.
 */
struct str state_reply_str(const struct state_reply *r);

/* state_reply_len(r): Elements of a STATE_ARRAY, otherwise 0. */
size_t state_reply_len(const struct state_reply *r);

/* state_reply_at(r, i): Element i of an array; NULL if there is none. */
const struct state_reply *state_reply_at(const struct state_reply *r, size_t i);

/*
 * state_reply_free(r):
 * Free a reply of state_cmd() or state_eval(), with its elements.  NULL is
 * allowed.
 */
void state_reply_free(struct state_reply *r);

/* ---- commands ---- */

/* Arguments in place: state_cmd(s, STATE_ARGS(STR("GET"), key), &r). */
#define STATE_ARGS(...)                      \
	(const struct str[]){ __VA_ARGS__ }, \
	    NELEM(((const struct str[]){ __VA_ARGS__ }))

/*
 * state_cmd(s, args, n, out):
 * Run the command args[0] with the arguments that follow (n ≥ 1; any bytes, an
 * absent one counts as empty).  *out (out may be NULL) is the reply, which the
 * caller frees; of a command that the server rejected, its error.  NULL if
 * there is no reply.
 */
enum rc state_cmd(struct state *s, const struct str *args, size_t n,
    struct state_reply **out) RC_CHECK;

/* ---- scripts ---- */

/*
 * A Lua script; a constant that lives as long as the program.  Each connection
 * loads those of libs/state/scripts at its start, any other when it is called.
 */
struct state_script {
	const char *text;
	const char *sha; /* its SHA-1, 40 hexadecimal digits */
	/* Executed twice it leaves and replies the same as when executed
	 * a single time. */
	bool idempotent;
};

struct state_call {
	const struct state_script *script;
	const struct str *keys; /* KEYS */
	size_t n_keys;
	const struct str *args; /* ARGV */
	size_t n_args;
};

/*
 * state_eval(s, c, out):
 * Run a script, as state_cmd() does a command.  Its digest is sent, and its
 * text only if the server has lost it (SCRIPT FLUSH).
 */
enum rc state_eval(struct state *s, const struct state_call *c,
    struct state_reply **out) RC_CHECK;

/* ---- pipelines ---- */

struct state_pipe;

/*
 * state_pipe_new(s, max):
 * A pipeline for at most max (1 to STATE_PIPE_MAX) commands, which are sent
 * together and share one round trip and one deadline.  Other clients' commands
 * may be executed between them.
 */
struct state_pipe *state_pipe_new(struct state *s, size_t max);

/* state_pipe_free(p): NULL is allowed. */
void state_pipe_free(struct state_pipe *p);

/*
 * state_pipe_cmd(p, args, n), state_pipe_eval(p, c):
 * Queue a command or a script (arguments are copied); the first since p was
 * made or run empties p first.  RC_RETRY if p is full, RC_TOOBIG over
 * STATE_SEND_MAX; what is queued stays.
 */
enum rc state_pipe_cmd(
    struct state_pipe *p, const struct str *args, size_t n) RC_CHECK;
enum rc state_pipe_eval(
    struct state_pipe *p, const struct state_call *c) RC_CHECK;

/*
 * state_pipe_run(p):
 * Execute what is queued, in order, with two exceptions: a script that the
 * server lost (SCRIPT FLUSH) while connected, and whatever is repeated, is
 * executed after the others; and servers of a cluster do not wait for each
 * other.
 * p must not be used while it runs.
 * RC_OK if each command has a reply, also an error; otherwise why some have
 * none.  Nothing queued: RC_OK.
 */
enum rc state_pipe_run(struct state_pipe *p) RC_CHECK;

/*
 * state_pipe_reply(p, i, out):
 * The result of command i of the last run, and its reply as of state_cmd(),
 * owned by p: valid until p is added to, run, or freed.  out may be NULL.
 */
enum rc state_pipe_reply(const struct state_pipe *p, size_t i,
    const struct state_reply **out) RC_CHECK;

/* ---- replicas ---- */

/*
 * What a master has answered is lost if it dies before a replica has it.  Who
 * acknowledges something takes a mark, makes the calls, and waits:
 *
 *	m = state_mark_now(s, key);
 *	rc = turn_commit(s, …);
 *	if (rc == RC_OK)
 *		rc = state_wait_replicated(s, m, 0);
 */
struct state_mark {
	uint32_t version; /* private */
	int slot;         /* private */
};

/*
 * state_mark_now(s, key):
 * Now, for the server that has key; taken before the first of the calls.
 */
struct state_mark state_mark_now(const struct state *s, struct str key);

/*
 * state_wait_replicated(s, mark, ms):
 * Wait until wait_replicas replicas have, in memory, what the server of the
 * mark has answered until now.  At most ms, 0: wait_ms; when the caller blocks,
 * a deadline of s longer.  RC_OK also without waiting, if wait_replicas is 0.
 * RC_UNREPLICATED: not that many have it; or the server was connected anew, or
 * replaced, since the mark: then what it had answered may be lost, and
 * repeating the wait is no use.
 */
enum rc state_wait_replicated(
    struct state *s, struct state_mark mark, int64_t ms) RC_CHECK;

/*
 * state_may_be_done(rc):
 * Whether a write that returned rc is not certain, but may have been executed.
 */
static inline bool
state_may_be_done(enum rc rc)
{
	return rc == RC_TIMEOUT || rc == RC_UNREPLICATED;
}

/* ---- keys ---- */

/* Room for any key, NUL included. */
#define STATE_KEY_MAX 640

/*
 * All keys of a user are in one bucket, a slot of a cluster that many users
 * share: one script may use them together.  The bucket follows from the id.
 */
#define STATE_BUCKETS 1024

/* state_bucket(user, out): The bucket, below STATE_BUCKETS.  Any thread. */
enum rc state_bucket(struct str user, unsigned *out) RC_CHECK;

/*
 * state_key(dst, pattern, ids, n, out):
 * pattern with each '%' replaced by the next id's id_token(), and each '#', all
 * before the first '%', by the tag of the bucket of the first id, put into dst:
 * "soul:messages:{#}:%:%" becomes "soul:messages:{b0478}:u1:~5L2g".  Tokens
 * have none of ":{}%#", so different ids make different keys.  *out is the key,
 * in dst.  RC_INVALID if an id is not id_valid() or n is not the number of '%',
 * RC_TOOBIG over STATE_KEY_MAX.  Any thread.
 *
 * state_bucket_key(dst, pattern, bucket, out):
 * The same for a bucket, and without ids: each '%' stays.  RC_INVALID from
 * STATE_BUCKETS on.
 */
enum rc state_key(char dst[STATE_KEY_MAX], const char *pattern,
    const struct str *ids, size_t n, struct str *out) RC_CHECK;
enum rc state_bucket_key(char dst[STATE_KEY_MAX], const char *pattern,
    unsigned bucket, struct str *out) RC_CHECK;

/* The format of keys that this program reads and writes (keys.h). */
#define STATE_FORMAT "2"

/* ---- leases ---- */

/*
 * A lease has one owner at a time, by Redis' clock, and an epoch that rises
 * with each owner.  Writes that carry an older epoch than a record has seen are
 * rejected, so an owner that was stopped for a while and does not know that it
 * lost the lease changes nothing.
 *
 * lease_acquire(s, name, owner, ttl_ms, epoch):
 * Acquire or extend the lease name for ttl_ms; call it every third of that.
 * *epoch is the owner's (> 0), or 0 while another owner holds the lease.  owner
 * (1 to 256 bytes) must be new at every start of a process.
 */
enum rc lease_acquire(struct state *s, struct str name, struct str owner,
    int64_t ttl_ms, int64_t *epoch) RC_CHECK;

/* lease_release(s, name, owner): Release it at once, if owner holds it. */
enum rc lease_release(
    struct state *s, struct str name, struct str owner) RC_CHECK;

#endif /* !STATE_STATE_H */
