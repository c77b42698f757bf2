/*
 * mcp-sim: an MCP server over stdio for tests, with faults on demand.
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
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testkit/mcp-sim/sim.h"

static void
main_send(void *arg, json_t *m)
{
	const struct sim *s = arg;
	char *text = json_dumps(m, JSON_COMPACT);

	if (s->noise)
		printf("Starting server on stdio ...\n\n{not json\n");
	for (long i = 0; i < s->huge; i++)
		putchar('x');
	if (s->huge > 0)
		putchar('\n');
	printf("%s\n", text);
	fflush(stdout);
	free(text);
}

static void
main_on_line(struct sim *s, const char *line)
{
	json_t *m = json_loads(line, 0, NULL);

	if (m != NULL)
		sim_on_message(s, m);
	json_decref(m);
}

static void
main_leave_child(void)
{
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
}

/* What only a process does; false: the switch is unknown. */
static bool
main_option(const char *text, bool *deaf)
{
	if (strcmp(text, "dead") == 0)
		exit(7);
	if (strcmp(text, "child") == 0)
		main_leave_child();
	else if (strcmp(text, "deaf") == 0)
		*deaf = true;
	else if (strncmp(text, "stderr=", 7) == 0)
		for (long i = strtol(text + 7, NULL, 10); i > 0; i--)
			fputc(i % 64 == 0 ? '\n' : 'e', stderr);
	else
		return false;
	return true;
}

/* Lines of stdin until it ends. */
static void
main_loop(struct sim *s)
{
	static char line[16 * 1024 * 1024];
	struct pollfd in = { .fd = 0, .events = POLLIN };
	size_t n = 0;
	ssize_t got;
	char *end;

	for (;;) {
		if (poll(&in, 1, sim_next_ms(s)) == 0) {
			sim_on_time(s);
			continue;
		}
		got = read(0, line + n, sizeof(line) - n - 1);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		n += (size_t)got;
		line[n] = '\0';
		while ((end = memchr(line, '\n', n)) != NULL) {
			*end = '\0';
			main_on_line(s, line);
			n -= (size_t)(end + 1 - line);
			memmove(line, end + 1, n + 1);
		}
		sim_on_time(s);
	}
}

int
main(int argc, char *argv[])
{
	struct sim s = { .send = main_send, .legacy = true };
	bool deaf = false;

	s.arg = &s;
	for (int i = 1; i < argc; i++)
		if (!main_option(argv[i], &deaf) && !sim_option(&s, argv[i])) {
			fprintf(
			    stderr, "mcp-sim: unknown switch %s\n", argv[i]);
			return 64;
		}
	if (deaf)
		signal(SIGTERM, SIG_IGN);
	main_loop(&s);
	while (deaf)
		pause();
	return 0;
}
