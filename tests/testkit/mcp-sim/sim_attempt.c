#include "testkit/mcp-sim/sim_attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static bool
attempt_read(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd != -1 && read(fd, &byte, 1) != -1;

	if (fd != -1)
		close(fd);
	return done;
}

static bool
attempt_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	bool done = fd != -1 && write(fd, "x", 1) == 1;

	if (fd != -1)
		close(fd);
	return done;
}

static bool
attempt_connect(const char *port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool done;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	done = fd != -1 &&
	    connect(fd, (const struct sockaddr *)(const void *)&at,
		sizeof(at)) == 0;
	if (fd != -1)
		close(fd);
	return done;
}

static bool
attempt_environment(const char *pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
	return attempt_read(path);
}

static bool
attempt_signal(const char *pid)
{
	return kill((pid_t)strtol(pid, NULL, 10), 0) == 0;
}

void
sim_attempt(const char *what, char *dst, size_t size)
{
	static const struct {
		const char *name;
		bool (*attempt)(const char *arg);
	} all[] = { { "read=", attempt_read }, { "write=", attempt_write },
		{ "connect=", attempt_connect },
		{ "environment=", attempt_environment },
		{ "signal=", attempt_signal } };
	struct rlimit limit = { 0 };

	(void)snprintf(dst, size, "unknown attempt");
	if (strcmp(what, "descriptors") == 0 &&
	    getrlimit(RLIMIT_NOFILE, &limit) == 0)
		(void)snprintf(
		    dst, size, "%llu", (unsigned long long)limit.rlim_max);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t n = strlen(all[i].name);

		if (strncmp(what, all[i].name, n) != 0)
			continue;
		errno = 0;
		(void)snprintf(dst, size, "%s",
		    all[i].attempt(what + n) ? "done" : strerror(errno));
	}
}
