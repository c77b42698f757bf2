/*
 * config_file: MCP_CONFIG and MCP_CATALOGUE, read again when they change.
 */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "core/rc.h"

struct buf;
struct config_file;
struct host;
struct mcp_config;

enum config_file_kind {
	CONFIG_FILE_SERVERS,  /* the operator's, for their users */
	CONFIG_FILE_CATALOGUE /* for those users alone who approve one */
};

/*
 * config_file_load(kind, path, out, errors):
 * Read the file; path "" is a configuration without servers, NULL.  RC_INVALID:
 * errors has a line for each error, beginning with "MCP_CONFIG: <path>".
 */
enum rc config_file_load(enum config_file_kind kind, const char *path,
    struct mcp_config **out, struct buf *errors) RC_CHECK;

/*
 * config_file_new(h, kind):
 * Read it, and from then on whenever it has changed, which is polled every
 * 2 s.  A file with an error changes nothing, and is logged; NULL if that is so
 * at first.  h->config and h->servers, or h->catalogue and h->entries, are what
 * it has; servers that did not change stay the same struct tool_server.
 * config_file_free(f): NULL is allowed.
 */
struct config_file *config_file_new(struct host *h, enum config_file_kind kind);
void config_file_free(struct config_file *f);

#endif /* !CONFIG_FILE_H */
