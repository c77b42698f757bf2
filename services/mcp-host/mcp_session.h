/*
 * mcp_session: the states of a connection to an MCP server, from the first
 * message to its list of tools, in both forms of the protocol: with
 * initialize (2024-11-05 to 2025-11-25), and stateless (2026-07-28).
 *
 *	probing ──▶ initializing ──▶ listing ──▶ ready ⇄ listing
 *	   └──────────────────────────▲
 *
 * Pure: each function is a step, which returns what is to be done.
 */
#ifndef MCP_SESSION_H
#define MCP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

struct buf;
struct catalogue;
struct mcp_session;
struct rpc_message;

/* Times of a step, in ms, beyond which it has failed. */
#define MCP_PROBE_MS      2000
#define MCP_INITIALIZE_MS 60000
#define MCP_LIST_MS       30000
/* Between two lists of a server that says that they change. */
#define MCP_RELIST_MS 1000
/* Pages of a list. */
#define MCP_PAGES_MAX 256
/* Longest cursor of a page, in bytes; with a longer one the list ends. */
#define MCP_CURSOR_MAX (64UL * 1024)

enum mcp_era {
	MCP_ERA_UNKNOWN, /* to be detected */
	MCP_ERA_LEGACY,  /* with initialize */
	MCP_ERA_MODERN   /* stateless */
};

enum mcp_state {
	MCP_PROBING,      /* which era it is of */
	MCP_INITIALIZING, /* initialize was sent */
	MCP_LISTING,      /* its tools, for the first time */
	MCP_READY,        /* tools may be called */
	MCP_FAILED        /* it must be closed */
};

struct mcp_session_opts {
	enum mcp_era era;   /* UNKNOWN: probe for it */
	bool only;          /* no other era than that one */
	bool roots;         /* they are configured */
	const char *client; /* version of this program; a constant */
};

enum mcp_effect_kind {
	MCP_SEND,    /* a message */
	MCP_VERSION, /* text is the negotiated version */
	MCP_TOOLS,   /* there is a new list: mcp_session_tools() */
	MCP_FAIL     /* close the connection; text says why */
};

struct mcp_effect {
	enum mcp_effect_kind kind;
	struct str json;    /* of MCP_SEND; valid until the next step */
	int64_t id;         /* of a request; 0: a notification */
	const char *method; /* of MCP_SEND */
	const char *text;
};

#define MCP_EFFECTS_MAX 4

/* What a step wants to be done, in this order. */
struct mcp_step {
	struct mcp_effect effects[MCP_EFFECTS_MAX];
	size_t n;
	/* Until mcp_session_on_timer(), from now; 0: none; or unchanged. */
	int64_t timer_ms;
};
#define MCP_TIMER_UNCHANGED (-1)

/* mcp_session_new(o), mcp_session_free(s): NULL is allowed. */
struct mcp_session *mcp_session_new(const struct mcp_session_opts *o);
void mcp_session_free(struct mcp_session *s);

/*
 * mcp_session_on_open(s, step): Messages may be sent.
 * mcp_session_on_response(s, m, step):
 * A response; false: it is not to one of the session's own requests.
 * mcp_session_on_failed(s, id, why, step):
 * The request id has no response, why is for operators; false as above.
 * mcp_session_on_changed(s, step): notifications/tools/list_changed.
 * mcp_session_on_timer(s, step): timer_ms have passed since the last step.
 */
void mcp_session_on_open(struct mcp_session *s, struct mcp_step *step);
bool mcp_session_on_response(
    struct mcp_session *s, const struct rpc_message *m, struct mcp_step *step);
bool mcp_session_on_failed(
    struct mcp_session *s, int64_t id, struct str why, struct mcp_step *step);
void mcp_session_on_changed(struct mcp_session *s, struct mcp_step *step);
void mcp_session_on_timer(struct mcp_session *s, struct mcp_step *step);

enum mcp_state mcp_session_state(const struct mcp_session *s);
/* mcp_session_era(s): As detected. */
enum mcp_era mcp_session_era(const struct mcp_session *s);
/* mcp_session_version(s): As negotiated, a constant; "" before. */
const char *mcp_session_version(const struct mcp_session *s);
/* mcp_session_batches(s): Whether the server may send batches. */
bool mcp_session_batches(const struct mcp_session *s);
/* mcp_session_tools(s): The last complete list; NULL: none yet. */
struct catalogue *mcp_session_tools(const struct mcp_session *s);
/* mcp_session_left_out(s): Tools of it that are not in it. */
size_t mcp_session_left_out(const struct mcp_session *s);
/* mcp_session_server(s): Its name and version, as it says; "": none. */
const char *mcp_session_server(const struct mcp_session *s);

/* mcp_session_next_id(s): An id of a request; never the same twice. */
int64_t mcp_session_next_id(struct mcp_session *s);

/*
 * mcp_session_write_call(s, id, name, arguments, out):
 * Append a request tools/call, which reports progress under its id; arguments
 * is a JSON object, or absent.
 * mcp_session_write_cancel(id, out): Append notifications/cancelled.
 */
void mcp_session_write_call(const struct mcp_session *s, int64_t id,
    struct str name, struct str arguments, struct buf *out);
void mcp_session_write_cancel(int64_t id, struct buf *out);

#endif /* !MCP_SESSION_H */
