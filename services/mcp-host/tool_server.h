/*
 * tool_server: an MCP server that this process knows: how it is configured, and
 * what it has been found to be.  Its processes and connections are instances
 * (instance.h).
 */
#ifndef TOOL_SERVER_H
#define TOOL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "core/id.h"
#include "core/str.h"
#include "mcp_config.h"
#include "mcp_session.h"

struct catalogue;
struct metric;
struct metric_set;

struct tool_server {
	LIST_ENTRY(tool_server) link;
	size_t refs;
	const struct mcp_server *conf; /* in config */
	struct mcp_config *config;
	char key[MCP_KEY_MAX];
	/* As the operator named it; "user": of a user, for metrics. */
	const char *label;
	char user[ID_MAX + 1];   /* whose it is; "": the operator's */
	struct catalogue *tools; /* NULL: not known yet */
	enum mcp_era era;
	bool entry;   /* of the catalogue */
	bool retired; /* it is not configured any more */
	struct metric *n_tools, *restarts, *failed_starts;
};
LIST_HEAD(tool_server_list, tool_server);

/*
 * tool_server_new(conf, config, label, metrics):
 * With one reference; conf is of config, to which it has a reference.  label is
 * a constant; NULL: the name in conf.
 */
struct tool_server *tool_server_new(const struct mcp_server *conf,
    struct mcp_config *config, const char *label, struct metric_set *metrics);
struct tool_server *tool_server_ref(struct tool_server *s);
void tool_server_unref(struct tool_server *s);

/* tool_server_update(s, conf, config): The same server, configured anew. */
void tool_server_update(struct tool_server *s, const struct mcp_server *conf,
    struct mcp_config *config);

/* tool_server_calls(s, metrics, end): The counter of its calls that end so. */
struct metric *tool_server_calls(
    const struct tool_server *s, struct metric_set *metrics, struct str end);

/* tool_server_set_tools(s, c): False: they are the same as before. */
bool tool_server_set_tools(struct tool_server *s, struct catalogue *c);

#endif /* !TOOL_SERVER_H */
