/*
 * The server over stdin and stdout.
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
stdio_send(void *arg, json_t *m)
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
stdio_on_line(struct sim *s, const char *line)
{
	json_t *m = json_loads(line, 0, NULL);

	if (m != NULL)
		sim_on_message(s, m);
	json_decref(m);
}

static void
stdio_leave_child(void)
{
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
}

/* What only a process does; false: the switch is unknown. */
static bool
stdio_option(const char *text, bool *deaf)
{
	if (strcmp(text, "dead") == 0)
		exit(7);
	if (strcmp(text, "child") == 0)
		stdio_leave_child();
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
stdio_loop(struct sim *s)
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
			stdio_on_line(s, line);
			n -= (size_t)(end + 1 - line);
			memmove(line, end + 1, n + 1);
		}
		sim_on_time(s);
	}
}

int
sim_stdio_run(int argc, char *argv[])
{
	struct sim s = { .send = stdio_send, .legacy = true };
	bool deaf = false;

	s.arg = &s;
	for (int i = 1; i < argc; i++)
		if (!stdio_option(argv[i], &deaf) && !sim_option(&s, argv[i])) {
			fprintf(
			    stderr, "mcp-sim: unknown switch %s\n", argv[i]);
			return 64;
		}
	if (deaf)
		signal(SIGTERM, SIG_IGN);
	stdio_loop(&s);
	while (deaf)
		pause();
	return 0;
}
