/*
 * sim_attempt: what a server tries of its machine, for tests of sandboxes.
 */
#ifndef MCP_SIM_SIM_ATTEMPT_H
#define MCP_SIM_SIM_ATTEMPT_H

#include <stddef.h>

/*
 * sim_attempt(what, dst, size): Try "read=PATH", "write=PATH", "connect=PORT"
 * of loopback, "environment=PID", "signal=PID" or "descriptors"; dst is "done",
 * a number, or why not.
 */
void sim_attempt(const char *what, char *dst, size_t size);

#endif /* !MCP_SIM_SIM_ATTEMPT_H */
