/*
 * Only a late body, and a request whose handler asks for its client, pays for
 * looking for the descriptor.
 */
#include "httpd/watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "httpd/sock.h"

#define TICK_MS 500

/* Whether fd is the server's end of a connection, of r's if r is not NULL. */
static bool
is_ours(const struct httpd *h, const struct httpd_req *r, int fd)
{
	char addr[INET_ADDRSTRLEN];
	struct sockaddr_in peer;

	if (!sock_peer(fd, h->port, &peer))
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
	int fd, copy;

	while ((fd = sock_next(dir)) >= 0) {
		copy = copy_ours(h, r, fd, blind);
		if (copy >= 0)
			return copy;
	}
	return -1;
}

/* End the reading side of r's connection, of all if r is NULL. */
static void
cut(const struct httpd *h, const struct httpd_req *r)
{
	DIR *dir = sock_dir();
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
		dir = sock_dir();
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
watch_body(struct httpd *h, struct httpd_req *r, int64_t ms)
{
	if (ms > h->timeout_ms)
		ms = h->timeout_ms;
	atomic_fetch_add(&h->reading, 1);
	pthread_mutex_lock(&h->lock);
	r->body_since = clock_mono();
	r->body_due = mono_add_ms(r->body_since, ms);
	pthread_mutex_unlock(&h->lock);
}

void
watch_body_done(struct httpd *h, struct httpd_req *r)
{
	pthread_mutex_lock(&h->lock);
	r->body_due = r->body_since = (struct mono){ 0 };
	pthread_mutex_unlock(&h->lock);
	atomic_fetch_sub(&h->reading, 1);
}
