/* The steps that try what an engine may not do. */
#include "testkit/engine-play/play.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
play_report(const char *verb, const char *value, int err)
{
	if (err == 0)
		printf("%s=%s: done\n", verb, value);
	else
		printf(
		    "%s=%s: refused (%s)\n", verb, value, strerrorname_np(err));
}

static int
hostile_read(const char *path)
{
	char bytes[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;

	if (fd == -1)
		return errno;
	if (read(fd, bytes, sizeof(bytes)) == -1)
		err = errno;
	close(fd);
	return err;
}

static int
hostile_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), err = 0;

	if (fd == -1)
		return errno;
	if (write(fd, "x", 1) == -1)
		err = errno;
	close(fd);
	return err;
}

static int
hostile_list(const char *path)
{
	DIR *d = opendir(path);

	if (d == NULL)
		return errno;
	closedir(d);
	return 0;
}

static int
hostile_truncate(const char *path)
{
	return truncate(path, 0) == 0 ? 0 : errno;
}

static int
hostile_fill(const char *value)
{
	static char zeros[65536];
	long left = play_number(value);
	int fd, err = 0;

	(void)signal(SIGXFSZ, SIG_IGN);
	fd = open("fill", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd == -1)
		return errno;
	while (left > 0 && err == 0) {
		ssize_t n = write(fd, zeros, sizeof(zeros));

		if (n == -1)
			err = errno;
		else
			left -= n;
	}
	close(fd);
	return err;
}

static int
hostile_connect(int type, const struct sockaddr *to, socklen_t n)
{
	int fd = socket(to->sa_family, type | SOCK_CLOEXEC, 0), err = 0;

	if (fd == -1)
		return errno;
	if (connect(fd, to, n) != 0 || send(fd, "x", 1, MSG_NOSIGNAL) != 1)
		err = errno;
	close(fd);
	return err;
}

static int
hostile_inet(int type, const char *value)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)play_number(value)) };

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return hostile_connect(
	    type, (const struct sockaddr *)(const void *)&to, sizeof(to));
}

static int
hostile_tcp(const char *value)
{
	return hostile_inet(SOCK_STREAM, value);
}

static int
hostile_udp(const char *value)
{
	return hostile_inet(SOCK_DGRAM, value);
}

static int
hostile_unix(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	return hostile_connect(SOCK_STREAM,
	    (const struct sockaddr *)(const void *)&to, sizeof(to));
}

static int
hostile_abstract(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "%s", name);
	return hostile_connect(SOCK_STREAM,
	    (const struct sockaddr *)(const void *)&to,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
		strlen(name)));
}

/* An own one. */
static int
hostile_listen(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd == -1)
		return errno;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (bind(fd, (const struct sockaddr *)(const void *)&at, sizeof(at)) !=
		0 ||
	    listen(fd, 1) != 0)
		err = errno;
	else
		err = hostile_unix(path);
	close(fd);
	return err;
}

static int
hostile_netlink(const char *value)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)value;
	if (fd == -1)
		return errno;
	close(fd);
	return 0;
}

static int
hostile_signal(const char *value)
{
	return kill((pid_t)play_number(value), SIGCONT) == 0 ? 0 : errno;
}

static int
hostile_memory(const char *value)
{
	pid_t pid = (pid_t)play_number(value);

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) != 0)
		return errno;
	(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

/* Without no_new_privs a set-user-ID program would run with its owner's. */
static int
hostile_gain(const char *value)
{
	(void)value;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

static int
hostile_descriptors(const char *value)
{
	int n = 0;

	(void)value;
	for (int fd = 3; fd < 4096; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			n++;
	return n == 0 ? EBADF : 0;
}

static int
hostile_forks(const char *value)
{
	long n = play_number(value);

	while (n-- > 0) {
		pid_t pid = fork();

		if (pid == -1)
			return errno;
		if (pid == 0)
			play_wait(-1);
	}
	return 0;
}

/* All of them fork as long as they can. */
static int
hostile_bomb(const char *value)
{
	(void)value;
	(void)!write(1, "bomb\n", 5);
	for (;;)
		(void)fork();
	return 0;
}

static int
hostile_child(const char *value)
{
	void (*old)(int) = signal(SIGTERM, SIG_IGN);
	pid_t pid = fork();
	int err = errno;

	(void)value;
	if (pid == 0) {
		close(1);
		close(2);
		play_wait(-1);
	}
	(void)signal(SIGTERM, old);
	return pid == -1 ? err : 0;
}

static int
hostile_daemon(const char *value)
{
	int ready[2];
	char byte;
	pid_t pid;

	(void)value;
	if (pipe2(ready, O_CLOEXEC) != 0)
		return errno;
	pid = fork();
	if (pid == -1)
		return errno;
	if (pid == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		close(ready[0]);
		close(ready[1]);
		play_wait(-1);
	}
	close(ready[1]);
	/* The end of the pipe: it has left group and session. */
	(void)!read(ready[0], &byte, 1);
	close(ready[0]);
	return 0;
}

/* A daemon that nothing in its environment gives away. */
static int
hostile_hide(const char *value)
{
	static char name[] = "engine-play", step[] = "silent";
	char *const argv[] = { name, step, NULL };
	char *const none[] = { NULL };
	pid_t pid = fork();

	(void)value;
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0) {
			printf("hidden=%d\n", (int)getpid());
			execve("/proc/self/exe", argv, none);
		}
		_exit(0);
	}
	return pid == -1 ? errno : 0;
}

int
play_hostile(const char *verb, const char *value)
{
	static const struct {
		const char *verb;
		int (*fn)(const char *value);
	} rows[] = {
		{ "read", hostile_read },
		{ "write", hostile_write },
		{ "list", hostile_list },
		{ "truncate", hostile_truncate },
		{ "fill", hostile_fill },
		{ "tcp", hostile_tcp },
		{ "udp", hostile_udp },
		{ "unix", hostile_unix },
		{ "abstract", hostile_abstract },
		{ "listen", hostile_listen },
		{ "netlink", hostile_netlink },
		{ "signal", hostile_signal },
		{ "memory", hostile_memory },
		{ "gain", hostile_gain },
		{ "descriptors", hostile_descriptors },
		{ "forks", hostile_forks },
		{ "bomb", hostile_bomb },
		{ "child", hostile_child },
		{ "daemon", hostile_daemon },
		{ "hide", hostile_hide },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].verb, verb) != 0)
			continue;
		play_report(verb, value, rows[i].fn(value));
		fflush(stdout);
		return 0;
	}
	return -1;
}
