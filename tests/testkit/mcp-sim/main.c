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
 *	attempts          one more tool, attempt{text}: sim_attempt.h
 *	log=FILE          a line for each executed call
 *	describe=FILE     the description of echo, or of write_file
 *	files=DIR         instead of these tools read_text_file{path} and
 *	                  write_file{path, content}, for files of DIR
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

int
main(int argc, char *argv[])
{
	return sim_stdio_run(argc, argv);
}
