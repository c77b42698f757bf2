/*
 * sim_http: the transports over HTTP of mcp-sim.
 */
#ifndef MCP_SIM_SIM_HTTP_H
#define MCP_SIM_SIM_HTTP_H

#include <stdbool.h>

struct sim;

/*
 * sim_http_option(text): A switch of HTTP; false: unknown.
 * sim_http_wanted(): Whether it serves HTTP, not stdio.
 * sim_http_run(s): Serve, for ever.
 */
bool sim_http_option(const char *text);
bool sim_http_wanted(void);
void sim_http_run(struct sim *s);

#endif /* !MCP_SIM_SIM_HTTP_H */
