/*
 * instance: a server's process or connection, for one user, or for all.
 *
 * A process has a lease, so that it is single among all replicas: its files may
 * not stand two.  It is started when it is wanted, started anew when it has
 * ended by itself, and stopped when it has been idle.
 */
#ifndef INSTANCE_H
#define INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct host;
struct instance;
struct mcp_connection;
struct tool_server;

/* Hexadecimal digits of an instance's id, and a NUL. */
#define INSTANCE_ID_MAX 33

enum instance_state {
	INSTANCE_READY,
	INSTANCE_ELSEWHERE, /* another replica has it */
	INSTANCE_FAILED,    /* it does not start: instance_why() */
	INSTANCE_BUSY,      /* as many processes as there may be are in use */
	INSTANCE_STARTING   /* not ready in that time */
};

/*
 * instance_of(h, s, user):
 * The instance of s for user, which begins to start if it does not run.  Valid
 * until the fiber suspends, or as long as it is held.
 *
 * instance_hold(i), instance_release(i): It is in use.
 */
struct instance *instance_of(
    struct host *h, struct tool_server *s, struct str user);
void instance_hold(struct instance *i);
void instance_release(struct instance *i);

/*
 * instance_await(i, ms):
 * In a fiber: its state, as soon as it does not start any more, after ms at
 * most.  i is held.
 */
enum instance_state instance_await(struct instance *i, int64_t ms);

/* instance_connection(i): Of one that is ready; NULL: it is not, any more. */
struct mcp_connection *instance_connection(const struct instance *i);
/* instance_id(i): The same at all replicas. */
const char *instance_id(const struct instance *i);
/* instance_why(i): Why it has ended or did not start; "": it has not. */
const char *instance_why(const struct instance *i);
/* instance_server(i): What it is of. */
struct tool_server *instance_server(const struct instance *i);

/*
 * instance_probe(h, s):
 * Start s to list its tools, if they are not known.
 *
 * instances_retire(h, s): Stop all of s, each when its calls have ended.
 * instances_restart(h, s): Stop all of s at once; they are started anew when
 *     they are wanted.
 * instances_stop(h): Stop all; for a drain; repeated until none is open.
 * instances_are_open(h): Whether any runs, or has its lease.
 * instances_abort(h): End all connections, and their calls, at once.
 * instances_free(h): After that, for the end of the process.
 */
void instance_probe(struct host *h, struct tool_server *s);
void instances_retire(struct host *h, struct tool_server *s);
void instances_restart(struct host *h, struct tool_server *s);
void instances_stop(struct host *h);
bool instances_are_open(const struct host *h);
void instances_abort(struct host *h);
void instances_free(struct host *h);

#endif /* !INSTANCE_H */
