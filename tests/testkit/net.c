/*
 * TCP ports on the loopback interface.
 *
 * Ports are taken from below the kernel's ephemeral range: a client that
 * retries a closed port of that range can connect to itself, and a server could
 * not be restarted on a port that another connection took. A port is reserved
 * among all users of the testkit by the name of an abstract socket, which
 * disappears with its process.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "testkit/testkit.h"
#include "testkit/testkit_internal.h"

#define PORT_MIN  20000
#define PORT_N    12000
#define PORTS_MAX 256

static int reserved[PORTS_MAX];
static size_t n_reserved;
/* The first ones, which belong to the program until it ends. */
static size_t n_shared;

static struct sockaddr_in
loopback(int port)
{
	struct sockaddr_in a;

	memset(&a, 0, sizeof(a));
	a.sin_family = AF_INET;
	a.sin_port = htons((uint16_t)port);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

/* A socket that reserves the port among users of the testkit, or -1. */
static int
port_reserve(int port)
{
	struct sockaddr_un a;
	socklen_t len;
	int n;
	int fd;

	memset(&a, 0, sizeof(a));
	a.sun_family = AF_UNIX;
	n = snprintf(
	    a.sun_path + 1, sizeof(a.sun_path) - 1, "testkit-port-%d", port);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) +
	    (socklen_t)n;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		ck_abort_msg("socket: %s", strerror(errno));
	if (bind(fd, (struct sockaddr *)&a, len) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool
port_free(int port)
{
	struct sockaddr_in a = loopback(port);
	int one = 1;
	bool ok;
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		ck_abort_msg("socket: %s", strerror(errno));
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ok = bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0;
	close(fd);
	return ok;
}

/* Reserve the port, if it is in the range and nobody has it. */
static bool
port_take(int port)
{
	int fd;

	if (port < PORT_MIN || port >= PORT_MIN + PORT_N)
		return false;
	if (n_reserved == PORTS_MAX)
		ck_abort_msg("tk_port: more than %d ports", PORTS_MAX);
	fd = port_reserve(port);
	if (fd == -1)
		return false;
	if (!port_free(port)) {
		close(fd);
		return false;
	}
	reserved[n_reserved++] = fd;
	return true;
}

static int
port_random(void)
{
	uint32_t r;

	if (getrandom(&r, sizeof(r), 0) != (ssize_t)sizeof(r))
		ck_abort_msg("getrandom: %s", strerror(errno));
	return PORT_MIN + (int)(r % PORT_N);
}

int
tk_port(void)
{
	int port;

	for (int i = 0; i < PORT_N; i++) {
		port = port_random();
		if (port_take(port))
			return port;
	}
	ck_abort_msg("tk_port: no free port");
	return -1;
}

int
tk_port_shift(const int *ports, size_t n)
{
	size_t before = n_reserved, k;
	int shift;

	for (int i = 0; i < PORT_N; i++) {
		shift = port_random() - ports[0];
		for (k = 0; k < n && port_take(ports[k] + shift); k++)
			;
		if (k == n)
			return shift;
		while (n_reserved > before)
			close(reserved[--n_reserved]);
	}
	ck_abort_msg("tk_port_shift: no free ports");
	return 0;
}

void
tk_port_release(void)
{
	while (n_reserved > n_shared)
		close(reserved[--n_reserved]);
}

void
tk_port_share(void)
{
	n_shared = n_reserved;
}

int
tk_connect(int port)
{
	struct sockaddr_in a = loopback(port);
	struct timeval second = { 1, 0 };
	int fd;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		ck_abort_msg("socket: %s", strerror(errno));
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second)) ==
		0 &&
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof(second)) ==
		0 &&
	    connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

bool
tk_port_open(int port)
{
	int fd = tk_connect(port);

	if (fd == -1)
		return false;
	close(fd);
	return true;
}
