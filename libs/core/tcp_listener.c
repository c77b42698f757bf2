#include "core/tcp_listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/str.h"

#define BACKLOG     1024
#define ACCEPT_MAX  64 /* of one iteration */
#define PAUSE_MS    100
#define LOG_EVERY_S 30

enum rc
tcp_address_parse(const char *text, struct sockaddr_in *sa)
{
	const char *colon = strrchr(text, ':');
	char host[INET_ADDRSTRLEN];
	int64_t port;

	*sa = (struct sockaddr_in){ .sin_family = AF_INET };
	if (colon == NULL || (size_t)(colon - text) >= sizeof(host) ||
	    str_to_i64(str_of(colon + 1), 0, UINT16_MAX, &port) != RC_OK)
		return RC_INVALID;
	str_copy(
	    (struct str){ text, (size_t)(colon - text) }, host, sizeof(host));
	sa->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &sa->sin_addr) == 1 ? RC_OK
							    : RC_INVALID;
}

static void
listener_on_pause_end(void *arg)
{
	struct tcp_listener *l = arg;

	loop_fd_watch(l->loop, &l->watch, LOOP_READ);
}

/* A connection that cannot be accepted would wake the loop all the time. */
static void
listener_pause(struct tcp_listener *l)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("listener.no_descriptors", LOG_I("port", l->port),
		    LOG_S("why", strerror(errno)));
	loop_fd_watch(l->loop, &l->watch, 0);
	loop_timer_set(l->loop, &l->pause, mono_add_ms(clock_mono(), PAUSE_MS),
	    listener_on_pause_end, l);
}

static bool
listener_accept(struct tcp_listener *l)
{
	struct sockaddr_in from;
	socklen_t n = sizeof(from);
	int one = 1;
	int fd = accept4(l->watch.fd, (struct sockaddr *)(void *)&from, &n,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd == -1) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			listener_pause(l);
		/* Others are errors of that connection. */
		return errno == ECONNABORTED || errno == EINTR;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	l->on_accept(l->arg, fd, &from);
	return true;
}

static void
listener_on_fd(void *arg, unsigned events)
{
	struct tcp_listener *l = arg;
	int i;

	(void)events;
	for (i = 0; i < ACCEPT_MAX && l->open && listener_accept(l); i++)
		;
}

enum rc
tcp_listener_open(struct tcp_listener *l, const struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	char host[INET_ADDRSTRLEN];
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	int one = 1;

	if (fd == -1)
		return RC_DOWN;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)(const void *)sa, sizeof(*sa)) ==
		-1 ||
	    listen(fd, BACKLOG) == -1 ||
	    getsockname(fd, (struct sockaddr *)(void *)&at, &n) == -1) {
		log_error("listener.cannot_listen",
		    LOG_S("address",
			inet_ntop(AF_INET, &sa->sin_addr, host, sizeof(host))),
		    LOG_I("port", ntohs(sa->sin_port)),
		    LOG_S("why", strerror(errno)));
		close(fd);
		return RC_DOWN;
	}
	l->port = ntohs(at.sin_port);
	l->watch = (struct loop_fd){ .fd = fd, .fn = listener_on_fd, .arg = l };
	loop_fd_watch(l->loop, &l->watch, LOOP_READ);
	l->open = true;
	return RC_OK;
}

void
tcp_listener_close(struct tcp_listener *l)
{
	if (!l->open)
		return;
	l->open = false;
	loop_timer_cancel(l->loop, &l->pause);
	loop_fd_watch(l->loop, &l->watch, 0);
	close(l->watch.fd);
}
