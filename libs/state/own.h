/*
 * own: what the files of state share.
 */
#ifndef STATE_OWN_H
#define STATE_OWN_H

#include "core/log.h"
#include "core/rate.h"
#include "state/conn.h"

/* A script that s has run before. */
struct script_slot {
	const struct state_script *script;
	uint64_t loaded; /* number of the connection that has it */
	char sha[40];    /* as the server computed it */
};

struct connecting; /* a job of the worker pool */

struct state {
	struct loop *loop;
	struct worker_pool *workers;
	struct conn_opts conn_opts;

	struct conn *conn; /* NULL: down */
	uint64_t number;   /* of the connection, counted from 1 */
	bool proven;       /* it has answered a call */
	bool denied;       /* the last attempt was */
	_Atomic bool up;
	struct loop_fd watch;
	struct connecting *job;
	struct loop_timer retry;
	struct backoff backoff;
	struct log_rate log_failing;
	struct log_rate log_refused;
	struct log_rate log_denied;
	struct log_rate log_script;

	struct script_slot scripts[STATE_SCRIPTS_MAX];
	size_t n_scripts;
	struct state_pipe *single; /* for state_cmd() and state_eval() */

	struct metric *m_up;
	struct metric *m_connects;
	struct metric *m_calls;
	struct metric *m_failures;
	struct metric *m_refusals;
	struct metric *m_seconds;
};

/* state_link_start(o, s): Fill s's connection part and start connecting. */
enum rc state_link_start(const struct state_opts *o, struct state *s) RC_CHECK;

/* state_link_stop(s): Close; a worker's result will be thrown away. */
void state_link_stop(struct state *s);

/* state_link_usable(s): RC_OK, or what a call ends with that must not be sent.
 */
enum rc state_link_usable(struct state *s) RC_CHECK;

/* state_link_break(s, why): Close the connection and begin again. */
void state_link_break(struct state *s, const char *why);

/* state_link_proven(s): The connection has answered a call. */
void state_link_proven(struct state *s);

#endif /* !STATE_OWN_H */
