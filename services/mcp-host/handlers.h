/*
 * handlers: entry points of this service, for its tables.
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "svc/svc.h"

struct bus_msg;

/* ---- routes.c ---- */

#define HOST_ROUTES_N 11
extern const struct svc_route host_routes[HOST_ROUTES_N];

/* shim_command(r): What procsup starts; alone. */
int shim_command(const struct svc_run *r);

/* on_tool_list(h, c), on_tool_call(h, c): svc_route.fn. */
void on_tool_list(void *app, struct svc_call *c);
void on_tool_call(void *app, struct svc_call *c);

/*
 * on_mcp_servers(h, c), on_mcp_server_put(h, c), on_mcp_server_delete(h, c),
 * on_mcp_server_restart(h, c), on_mcp_tools(h, c), on_mcp_grant(h, c):
 * svc_route.fn.
 */
void on_mcp_servers(void *app, struct svc_call *c);
void on_mcp_server_put(void *app, struct svc_call *c);
void on_mcp_server_delete(void *app, struct svc_call *c);
void on_mcp_server_restart(void *app, struct svc_call *c);
void on_mcp_tools(void *app, struct svc_call *c);
void on_mcp_grant(void *app, struct svc_call *c);

/* ---- evolution/on_evolution.c ---- */

/*
 * on_evolution_request(h, c), on_evolution_list(h, c), on_evolution_act(h, c):
 * svc_route.fn.
 */
void on_evolution_request(void *app, struct svc_call *c);
void on_evolution_list(void *app, struct svc_call *c);
void on_evolution_act(void *app, struct svc_call *c);

/*
 * on_call_passed(h, m): A call that another replica passes on.
 * on_tool_cancel(h, m): Nobody waits for a call any more.
 */
void on_call_passed(void *h, struct bus_msg *m);
void on_tool_cancel(void *h, struct bus_msg *m);

#endif /* !HANDLERS_H */
