/*
 * config_file: MCP_CONFIG, read again when it changes.
 */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "core/rc.h"

struct buf;
struct config_file;
struct host;
struct mcp_config;

/*
 * config_file_load(path, out, errors):
 * Read the file; path "" is a configuration without servers, NULL.  RC_INVALID:
 * errors has a line for each error, beginning with "MCP_CONFIG: <path>".
 */
enum rc config_file_load(
    const char *path, struct mcp_config **out, struct buf *errors) RC_CHECK;

/*
 * config_file_new(h):
 * Read it, and from then on whenever it has changed, which is polled every
 * 2 s.  A file with an error changes nothing, and is logged; NULL if that is so
 * at first.  h->config and h->servers are what it has; servers that did not
 * change stay the same struct tool_server.
 * config_file_free(f): NULL is allowed.
 */
struct config_file *config_file_new(struct host *h);
void config_file_free(struct config_file *f);

#endif /* !CONFIG_FILE_H */
