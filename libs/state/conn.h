/*
 * conn: one connection to Redis: open it, exchange bytes for replies within a
 * deadline.  After anything but RC_OK it is of no more use; close it.
 *
 * One thread at a time: a worker opens it, then it belongs to the loop.
 */
#ifndef STATE_CONN_H
#define STATE_CONN_H

#include "core/buf.h"
#include "core/clock.h"
#include "core/url.h"
#include "state/reply.h"

#define CONN_WHY_MAX 128

struct conn;

/*
 * conn_put(out, args, n): Append a command as Redis wants it on the wire.
 * conn_put_head(out, n), conn_put_args(out, args, n): The same in pieces: how
 * many arguments there are, then some of them.
 */
void conn_put(struct buf *out, const struct str *args, size_t n);
void conn_put_head(struct buf *out, size_t n);
void conn_put_args(struct buf *out, const struct str *args, size_t n);

struct conn_opts {
	struct url url;
	int64_t db;
	char name[65];
	int deadline_ms; /* within which a PING must be answered */
};

/*
 * state_conn_open(o, out, why):
 * Resolve, connect, authenticate, select, PING.  Blocks for as long as names
 * take and some seconds more.  RC_DENIED if the server refuses the credentials
 * or the database, RC_DOWN if it cannot be reached; why then says it.
 */
enum rc state_conn_open(const struct conn_opts *o, struct conn **out,
    char why[CONN_WHY_MAX]) RC_CHECK;

/* state_conn_close(c): NULL is allowed. */
void state_conn_close(struct conn *c);

/* conn_fd(c): Its socket. */
int conn_fd(const struct conn *c);

/* conn_idle(c): Whether c is open with nothing to read; no system call waits.
 */
bool conn_idle(const struct conn *c);

/* Replies that are awaited, in order. */
struct conn_want {
	struct state_reply **replies; /* room for n; in memory of a */
	size_t n;
	size_t got;
	struct arena *a;
};

/*
 * conn_exchange(c, out, w, until, why):
 * Send out and wait for w->n replies; w->got is how many came, whatever the
 * result: RC_OK, RC_DOWN (nothing was sent), RC_TIMEOUT (something was), or
 * RC_TOOBIG (the replies exceed w->a).  why says what was wrong.
 */
enum rc conn_exchange(struct conn *c, struct str out, struct conn_want *w,
    struct mono until, char why[CONN_WHY_MAX]) RC_CHECK;

#endif /* !STATE_CONN_H */
