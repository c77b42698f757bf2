/*
 * mcp-sim: an MCP server over stdio or HTTP for tests, with faults on demand.
 *
 *	mcp-sim [switch[=value]]...
 *
 * The tools: echo{text}, write_note{text}, fail{text}, image{text}, wait{ms},
 * variable{name}.  Its eras: with initialize; modern: both; modern-only.
 *
 *	version=V         what initialize replies
 *	mute=METHOD       no response to it
 *	noise, huge=N     before each message: text; a line of N bytes
 *	twice, wrong-id   each response twice; another one before it
 *	batch             responses as batches, with version=2025-03-26
 *	change=N          the list changes N times
 *	more=N, pages=N   more tools; so many a page
 *	cursor-loop       the list has no end
 *	die-at=N          exit at that call, once it is in the log
 *	die-on-discover   exit at server/discover
 *	dead              exit at the start
 *	demand=METHOD     a request to the client before the first result
 *	log=FILE          a line for each executed call
 *	describe=FILE     the description of echo
 *	stderr=N          bytes of stderr at the start
 *	deaf              neither the end of stdin nor TERM ends it
 *	child             it leaves a child behind
 *
 *	http=PORT         serve HTTP on loopback instead of stdio
 *	sse               HTTP with SSE of 2024-11-05, not streamable HTTP
 *	json              responses are JSON, not events
 *	session           with a session, whose id must be repeated
 *	lost=FILE         if it exists: remove it, the session is lost
 *	redirect=URL      redirect all requests there
 *	headers=FILE      append the heads of all requests
 */
#include "testkit/mcp-sim/sim.h"
#include "testkit/mcp-sim/sim_http.h"

int
main(int argc, char *argv[])
{
<<<<<<< HEAD
	struct sim s = { .send = main_send, .legacy = true };
	bool deaf = false;

	s.arg = &s;
	for (int i = 1; i < argc; i++)
		if (!main_option(argv[i], &deaf) && !sim_http_option(argv[i]) &&
		    !sim_option(&s, argv[i])) {
			fprintf(
			    stderr, "mcp-sim: unknown switch %s\n", argv[i]);
			return 64;
		}
	if (deaf)
		signal(SIGTERM, SIG_IGN);
	if (sim_http_wanted())
		sim_http_run(&s);
	main_loop(&s);
	while (deaf)
		pause();
	return 0;
=======
	return sim_stdio_run(argc, argv);
>>>>>>> host
}
