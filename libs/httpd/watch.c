/*
 * civetweb does not tell which descriptor a connection has.  It is found by its
 * addresses among all that are open: only a late body, and a request whose
 * handler asks for its client, pays for that.
 */
#include "httpd/watch.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"

#define TICK_MS 500

/* Whether fd is the server's end of a connection, of r's if r is not NULL. */
static bool
is_ours(const struct httpd *h, const struct httpd_req *r, int fd)
{
	struct sockaddr_in own, peer;
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	char addr[INET_ADDRSTRLEN];

	if (getsockname(fd, (struct sockaddr *)(void *)&own, &own_len) != 0 ||
	    own.sin_family != AF_INET || ntohs(own.sin_port) != h->port)
		return false;
	if (getpeername(fd, (struct sockaddr *)(void *)&peer, &peer_len) != 0 ||
	    peer.sin_family != AF_INET)
		return false;
	if (r == NULL)
		return true;
	return ntohs(peer.sin_port) == r->remote_port &&
	    inet_ntop(AF_INET, &peer.sin_addr, addr, sizeof(addr)) != NULL &&
	    str_eq(str_of(addr), str_of(r->remote_addr));
}

/*
 * A duplicate of fd if it is ours, or -1.  The duplicate is looked at, not fd
 * itself, which may be closed, and be something else, at any moment.  *blind:
 * none could be made.
 */
static int
copy_ours(const struct httpd *h, const struct httpd_req *r, int fd, bool *blind)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 && errno != EBADF)
		*blind = true;
	if (copy >= 0 && !is_ours(h, r, copy)) {
		close(copy);
		copy = -1;
	}
	return copy;
}

/* The next duplicate of ours among all descriptors, or -1. */
static int
next_ours(
    DIR *dir, const struct httpd *h, const struct httpd_req *r, bool *blind)
{
	struct dirent *e;
	int64_t fd;
	int copy;

	while ((e = readdir(dir)) != NULL) {
		if (str_to_i64(str_of(e->d_name), 0, INT32_MAX, &fd) != RC_OK)
			continue;
		copy = copy_ours(h, r, (int)fd, blind);
		if (copy >= 0)
			return copy;
	}
	return -1;
}

static DIR *
open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");

	if (dir == NULL)
		log_warn("httpd.no_proc", LOG_S("need", "/proc/self/fd"));
	return dir;
}

/* End the reading side of r's connection, of all if r is NULL. */
static void
cut(const struct httpd *h, const struct httpd_req *r)
{
	DIR *dir = open_fds();
	bool blind;
	int copy;

	if (dir == NULL)
		return;
	while ((copy = next_ours(dir, h, r, &blind)) >= 0) {
		shutdown(copy, SHUT_RD);
		close(copy);
	}
	closedir(dir);
}

/* A connection that was reset has no addresses any more: it is not found. */
bool
watch_gone(const struct httpd *h, const struct httpd_req *r, int *fd)
{
	struct pollfd p = { .events = POLLRDHUP };
	bool blind = false;
	DIR *dir;

	if (*fd < 0) {
		dir = open_fds();
		if (dir == NULL)
			return false;
		*fd = next_ours(dir, h, r, &blind);
		closedir(dir);
		if (*fd < 0)
			return !blind;
	}
	p.fd = *fd;
	return poll(&p, 1, 0) > 0 &&
	    (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void
watch_cut_all(struct httpd *h)
{
	cut(h, NULL);
}

static void
tick(void *arg)
{
	struct httpd *h = arg;
	struct mono now = clock_mono();
	struct httpd_req *r;

	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link)
		if (r->body_due.ns != 0 && r->body_due.ns <= now.ns)
			cut(h, r);
	pthread_mutex_unlock(&h->lock);
	loop_timer_set(h->loop, &h->watch, mono_add_ms(now, TICK_MS), tick, h);
}

void
watch_start(struct httpd *h)
{
	loop_timer_set(
	    h->loop, &h->watch, mono_add_ms(clock_mono(), TICK_MS), tick, h);
}

void
watch_stop(struct httpd *h)
{
	loop_timer_cancel(h->loop, &h->watch);
}

void
watch_body(struct httpd *h, struct httpd_req *r)
{
	int64_t ms = h->timeout_ms;

	if (ms > SERVER_BODY_MS)
		ms = SERVER_BODY_MS;
	pthread_mutex_lock(&h->lock);
	r->body_due = mono_add_ms(clock_mono(), ms);
	pthread_mutex_unlock(&h->lock);
}

void
watch_body_done(struct httpd *h, struct httpd_req *r)
{
	pthread_mutex_lock(&h->lock);
	r->body_due = (struct mono){ 0 };
	pthread_mutex_unlock(&h->lock);
}
