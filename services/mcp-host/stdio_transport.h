/*
 * stdio_transport: an MCP server that is a process: a message is a line of its
 * stdin or stdout.
 */
#ifndef STDIO_TRANSPORT_H
#define STDIO_TRANSPORT_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"
#include "transport.h"

struct loop;
struct mcp_server;
struct metric;
struct procsup_opts;
struct sandbox_report;

/* Of a stop: from the end of stdin to TERM, from that to KILL, in ms. */
#define STDIO_STDIN_GRACE_MS 2000
#define STDIO_TERM_GRACE_MS  2000

/* What all of them share; it outlives them. */
struct stdio_host {
	struct loop *loop;
	const struct procsup_opts *procsup;
	const struct sandbox_report *sandbox; /* NULL: none works here */
	const char *home; /* a folder: cwd without another */
};

/*
 * stdio_transport_new(h, s, user, mark, handler):
 * Start the server's process, for user, with mark (procsup_spec).  A process
 * that cannot be started is TRANSPORT_UNREACHABLE.  s is only used here.
 */
struct transport *stdio_transport_new(const struct stdio_host *h,
    const struct mcp_server *s, struct str user, const char *mark,
    const struct transport_handler *handler);

#endif /* !STDIO_TRANSPORT_H */
