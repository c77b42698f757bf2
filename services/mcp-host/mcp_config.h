/*
 * mcp_config: the MCP servers that the operator has listed, as read from
 * MCP_CONFIG: JSON with comments, in any of the forms in use ("mcpServers" or
 * "servers").
 *
 * Pure: the file's text and the variables are arguments.
 */
#ifndef MCP_CONFIG_H
#define MCP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/rc.h"
#include "core/str.h"

struct buf;

/* Largest file, servers, and strings of one list in it. */
#define MCP_CONFIG_MAX  (1024UL * 1024)
#define MCP_SERVERS_MAX 256
#define MCP_LIST_MAX    128
/* Longest name of a server: [A-Za-z0-9_.-]. */
#define MCP_NAME_MAX 64
/* Bytes of the title and the description of an entry of a catalogue. */
#define MCP_ENTRY_TITLE_MAX       256
#define MCP_ENTRY_DESCRIPTION_MAX 1024
/* A digest in hexadecimal, and a NUL. */
#define MCP_KEY_MAX 65

enum mcp_kind {
	MCP_STDIO,
	MCP_HTTP,        /* streamable HTTP */
	MCP_HTTP_OR_SSE, /* the former; the latter, if the server has it alone
			  */
	MCP_SSE          /* HTTP with SSE, of 2024-11-05 */
};

enum mcp_protocol {
	MCP_PROTOCOL_AUTO,
	MCP_PROTOCOL_LEGACY, /* with initialize */
	MCP_PROTOCOL_MODERN  /* without a session: 2026-07-28 */
};

enum mcp_policy {
	MCP_POLICY_UNSET, /* ask, but for read-only tools with trust_hints */
	MCP_POLICY_AUTO,
	MCP_POLICY_CONFIRM,
	MCP_POLICY_NEVER /* the tool is not offered */
};

struct mcp_pair {
	const char *name, *value;
};

/* What a process may do. */
struct mcp_sandbox {
	bool on;
	const char *read[16], *write[16]; /* paths from the root; NULL: end */
	bool net;
};

/* A server; its strings end with NUL. */
struct mcp_server {
	const char *name;
	char key[MCP_KEY_MAX]; /* of all that makes it what it is */
	enum mcp_kind kind;
	enum mcp_protocol protocol;
	/* stdio */
	const char *command, *cwd; /* cwd may be NULL */
	const char **args;
	struct mcp_pair *env;
	size_t n_args, n_env;
	struct mcp_sandbox sandbox;
	bool stateless; /* one process for all users */
	/* HTTP */
	const char *url;
	struct mcp_pair *headers;
	size_t n_headers;
	/* of its tools */
	int64_t timeout_ms; /* of a call; 0: the default */
	enum mcp_policy policy;
	bool trust_hints;
	const char **auto_tools, **include, **exclude; /* by bare name */
	size_t n_auto_tools, n_include, n_exclude;
	const char **roots; /* paths that the server is given as roots */
	size_t n_roots;
	const char *roots_json; /* as a result of roots/list; NULL: none */
	const char **tenants;   /* who may use it */
	size_t n_tenants;
	bool all_tenants;
	/* Of a catalogue: what it is, and what it can do. */
	const char *title; /* NULL: none */
	const char *description;
};

struct mcp_config;

/* Values of variables; NULL: unset. */
struct mcp_variables {
	const char *(*get)(void *arg, const char *name);
	void *arg;
};

/*
 * mcp_config_read(text, vars, out, errors):
 * Read text.  RC_INVALID: errors has a line for each error, with its path:
 * "/mcpServers/clock/args/0: must be a string"; RC_TOOBIG: over
 * MCP_CONFIG_MAX, with a line too.  It has one reference.
 * mcp_config_read_catalogue(text, vars, out, errors):
 * The same for a catalogue, MCP_CATALOGUE: each server must have a description,
 * and its tools are always asked for.
 *
 * mcp_config_ref(c), mcp_config_unref(c): NULL is allowed.
 */
enum rc mcp_config_read(struct str text, const struct mcp_variables *vars,
    struct mcp_config **out, struct buf *errors) RC_CHECK;
enum rc mcp_config_read_catalogue(struct str text,
    const struct mcp_variables *vars, struct mcp_config **out,
    struct buf *errors) RC_CHECK;
struct mcp_config *mcp_config_ref(struct mcp_config *c);
void mcp_config_unref(struct mcp_config *c);

/*
 * mcp_config_n(c), mcp_config_at(c, i): The servers that are not disabled, in
 * order of their names.
 * mcp_config_find(c, name): One of them; NULL: none.
 * mcp_config_revision(c): A digest of all, the same on all replicas.
 */
size_t mcp_config_n(const struct mcp_config *c);
const struct mcp_server *mcp_config_at(const struct mcp_config *c, size_t i);
const struct mcp_server *mcp_config_find(
    const struct mcp_config *c, struct str name);
const char *mcp_config_revision(const struct mcp_config *c);

/* mcp_server_for(s, tenant): Whether users of that tenant may use it. */
bool mcp_server_for(const struct mcp_server *s, struct str tenant);

#endif /* !MCP_CONFIG_H */
