/*
 * mcp: what is stored of a user's MCP servers: the user's own ones, grants of
 * tools, and which tools a session has used.
 *
 * Everything here is a call (state.h), and is deleted with the user
 * (user_data.h).
 */
#ifndef STATE_MCP_H
#define STATE_MCP_H

#include <stddef.h>

#include "core/arena.h"
#include "state/state.h"

/* Servers and grants of a user. */
#define MCP_USER_SERVERS_MAX 32
#define MCP_GRANTS_MAX       1000
/* Uses of tools by all sessions of a user; the oldest are removed. */
#define MCP_USED_MAX    512
#define MCP_USED_TTL_MS 2592000000
/* Names of a server and a tool, the JSON of a server, in bytes. */
#define MCP_SERVER_NAME_MAX 64
#define MCP_TOOL_NAME_MAX   128
#define MCP_SERVER_JSON_MAX 65536

/* ---- a user's own servers ---- */

struct mcp_user_server {
	struct str name; /* [A-Za-z0-9_.-]{1,MCP_SERVER_NAME_MAX} */
	struct str json; /* mcp-host's format */
};

/*
 * mcp_server_put(s, user, server): Add or replace it; RC_RETRY: the user has
 * MCP_USER_SERVERS_MAX others.
 * mcp_server_delete(s, user, name): RC_NOENT: there is none.
 * mcp_servers_read(s, user, a, list, n): All of them, in the order of names.
 */
enum rc mcp_server_put(struct state *s, struct str user,
    const struct mcp_user_server *server) RC_CHECK;
enum rc mcp_server_delete(
    struct state *s, struct str user, struct str name) RC_CHECK;
enum rc mcp_servers_read(struct state *s, struct str user, struct arena *a,
    struct mcp_user_server **list, size_t *n) RC_CHECK;

/* ---- grants ---- */

struct mcp_grant {
	struct str soul_id; /* absent: of all souls that have none of their own
			     */
	struct str server, tool;
	struct str policy; /* a word */
	struct str pin;    /* the definition it is for; empty: any */
};

/*
 * mcp_grant_put(s, user, g): Add or replace it; RC_RETRY: the user has
 * MCP_GRANTS_MAX others.
 * mcp_grant_delete(s, user, g): That of g's soul, server and tool; RC_NOENT:
 * there is none.
 * mcp_grants_read(s, user, a, list, n): All of them.
 */
enum rc mcp_grant_put(
    struct state *s, struct str user, const struct mcp_grant *g) RC_CHECK;
enum rc mcp_grant_delete(
    struct state *s, struct str user, const struct mcp_grant *g) RC_CHECK;
enum rc mcp_grants_read(struct state *s, struct str user, struct arena *a,
    struct mcp_grant **list, size_t *n) RC_CHECK;

/*
 * mcp_grant_find(list, n, soul, server, tool):
 * That of the soul, or else that of all souls; NULL: there is none.
 */
const struct mcp_grant *mcp_grant_find(const struct mcp_grant *list, size_t n,
    struct str soul, struct str server, struct str tool);

/* ---- used tools ---- */

struct mcp_used {
	struct str server, tool;
};

/*
 * mcp_used_add(s, user, session, used): It has used the tool, now.
 * mcp_used_read(s, user, session, a, list, n): Those of the session, the newest
 * first.
 */
enum rc mcp_used_add(struct state *s, struct str user, struct str session,
    const struct mcp_used *used) RC_CHECK;
enum rc mcp_used_read(struct state *s, struct str user, struct str session,
    struct arena *a, struct mcp_used **list, size_t *n) RC_CHECK;

/* ---- content of results ---- */

/* How long it is stored; its base64, in bytes. */
#define MCP_CONTENT_TTL_MS 600000
#define MCP_CONTENT_MAX    2000000

struct mcp_content {
	struct str id, mime_type;
	struct str data; /* base64 */
};

/*
 * mcp_content_put(s, user, c): RC_TOOBIG over MCP_CONTENT_MAX.
 * mcp_content_read(s, user, c, a): That of c->id, in a; RC_NOENT: there is
 * none, or no more.
 */
enum rc mcp_content_put(
    struct state *s, struct str user, const struct mcp_content *c) RC_CHECK;
enum rc mcp_content_read(struct state *s, struct str user,
    struct mcp_content *c, struct arena *a) RC_CHECK;

#endif /* !STATE_MCP_H */
