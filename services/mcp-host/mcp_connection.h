/*
 * mcp_connection: one connection to an MCP server: its transport, its session,
 * and the calls that it has open.
 *
 * All on the loop.  Handlers are never called from inside a function of this
 * header but mcp_connection_free().
 */
#ifndef MCP_CONNECTION_H
#define MCP_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"
#include "mcp_session.h"
#include "transport.h"

struct catalogue;
struct loop;
struct mcp_call;
struct mcp_connection;
struct metric;
struct rpc_message;
struct rpc_reader;

/* Calls of a connection at a time. */
#define MCP_CALLS_MAX 16

/* What is counted of all connections; members may be NULL. */
struct mcp_counts {
	struct metric *noise;    /* messages that are none */
	struct metric *unwanted; /* responses to no open request */
	struct metric *requests; /* of servers, that were rejected */
};

struct mcp_connection_handler {
	/* The server is ready, or its list of tools has changed. */
	void (*on_tools)(void *arg, struct catalogue *tools);
	/*
	 * The end; calls that were open have ended.  why is for operators.  The
	 * connection is freed on return.
	 */
	void (*on_closed)(
	    void *arg, const struct transport_end *e, const char *why);
	void *arg;
};

struct mcp_connection_opts {
	struct loop *loop;
	struct rpc_reader *reader;
	const struct mcp_counts *counts;
	struct mcp_session_opts session;
	/* The roots that it may list: a result of roots/list, or NULL. */
	const char *roots;
	/* Make the transport, with that handler. */
	struct transport *(*open)(void *arg, const struct transport_handler *h);
	void *arg;
	struct mcp_connection_handler handler;
};

/*
 * mcp_connection_new(o): Open it; o is copied, roots is not.
 * mcp_connection_close(c): End it; on_closed comes.
 * mcp_connection_free(c): At once, for the end of the process; its calls end
 *     as lost.  NULL is allowed.
 */
struct mcp_connection *mcp_connection_new(const struct mcp_connection_opts *o);
void mcp_connection_close(struct mcp_connection *c);
void mcp_connection_free(struct mcp_connection *c);

/* mcp_connection_session(c): Of it. */
const struct mcp_session *mcp_connection_session(
    const struct mcp_connection *c);

/* mcp_connection_is_ending(c): No call is accepted; on_closed comes. */
bool mcp_connection_is_ending(const struct mcp_connection *c);

/* mcp_connection_calls(c): How many are open. */
size_t mcp_connection_calls(const struct mcp_connection *c);

enum mcp_call_end {
	MCP_CALL_RESULT,   /* json is the result of tools/call */
	MCP_CALL_ERROR,    /* code and json: the error's text, as in a string */
	MCP_CALL_TIMEOUT,  /* it may have been executed */
	MCP_CALL_LOST,     /* so may it here: the connection broke */
	MCP_CALL_NOT_SENT, /* it was not executed */
	MCP_CALL_CANCELED  /* it may have been executed */
};

struct mcp_call_handler {
	/* Progress, a sign of life. */
	void (*on_progress)(void *arg, const struct rpc_message *m);
	/* The end; the call is freed on return. */
	void (*on_end)(
	    void *arg, enum mcp_call_end end, int64_t code, struct str json);
	void *arg;
};

struct mcp_call_opts {
	struct str name, arguments, schema; /* schema may be absent */
	int64_t timeout_ms;                 /* without progress */
	int64_t max_ms;                     /* with it */
	struct mcp_call_handler handler;
};

/*
 * mcp_connection_call(c, o, out):
 * Call a tool.  RC_RETRY: too many calls or bytes; RC_DOWN: not ready.  In
 * both cases nothing was sent.
 *
 * mcp_call_cancel(call):
 * Tell the server that no result is wanted; on_end comes, with
 * MCP_CALL_CANCELED.
 */
enum rc mcp_connection_call(struct mcp_connection *c,
    const struct mcp_call_opts *o, struct mcp_call **out) RC_CHECK;
void mcp_call_cancel(struct mcp_call *call);

#endif /* !MCP_CONNECTION_H */
