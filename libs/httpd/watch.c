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
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "httpd/sock.h"

#define TICK_MS 500

/* The client's end of a connection. */
struct peer_end {
	struct in_addr addr;
	int port;
};

/* Some of them, in order; NULL stands for all that there are. */
struct peer_ends {
	struct peer_end *all;
	size_t n;
};

static int
end_cmp(const void *a, const void *b)
{
	const struct peer_end *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->addr.s_addr > y->addr.s_addr) -
	    (x->addr.s_addr < y->addr.s_addr);
}

/* Whether fd is the server's end of a connection, of one of them. */
static bool
is_ours(const struct httpd *h, const struct peer_ends *of, int fd)
{
	struct sockaddr_in peer;
	struct peer_end end;

	if (!sock_peer(fd, h->port, &peer))
		return false;
	end = (struct peer_end){ peer.sin_addr, ntohs(peer.sin_port) };
	return of == NULL ||
	    bsearch(&end, of->all, of->n, sizeof(end), end_cmp) != NULL;
}

/*
 * A duplicate of fd if it is ours, or -1.  The duplicate is looked at, not fd
 * itself, which may be closed, and be something else, at any moment.  *blind:
 * none could be made.
 */
static int
copy_ours(
    const struct httpd *h, const struct peer_ends *of, int fd, bool *blind)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 && errno != EBADF)
		*blind = true;
	if (copy >= 0 && !is_ours(h, of, copy)) {
		close(copy);
		copy = -1;
	}
	return copy;
}

/* The next duplicate of ours among all descriptors, or -1. */
static int
next_ours(
    DIR *dir, const struct httpd *h, const struct peer_ends *of, bool *blind)
{
	int fd, copy;

	while ((fd = sock_next(dir)) >= 0) {
		copy = copy_ours(h, of, fd, blind);
		if (copy >= 0)
			return copy;
	}
	return -1;
}

/* End the reading side of connections. */
static void
cut(const struct httpd *h, const struct peer_ends *of)
{
	DIR *dir = sock_dir();
	bool blind;
	int copy;

	if (dir == NULL)
		return;
	while ((copy = next_ours(dir, h, of, &blind)) >= 0) {
		shutdown(copy, SHUT_RD);
		close(copy);
	}
	closedir(dir);
}

/* False: it is not known. */
static bool
end_of(const struct httpd_req *r, struct peer_end *out)
{
	out->port = r->remote_port;
	return inet_pton(AF_INET, r->remote_addr, &out->addr) == 1;
}

/* A connection that was reset has no addresses any more: it is not found. */
bool
watch_gone(const struct httpd *h, const struct httpd_req *r, int *fd)
{
	struct pollfd p = { .events = POLLRDHUP };
	struct peer_end end;
	struct peer_ends one = { &end, 0 };
	bool blind = false;
	DIR *dir;

	if (*fd < 0) {
		dir = sock_dir();
		if (dir == NULL)
			return false;
		one.n = end_of(r, &end) ? 1 : 0;
		*fd = next_ours(dir, h, &one, &blind);
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

/* Those of the connections whose bodies are late. */
static void
find_late(struct httpd *h, struct mono now, struct peer_ends *out)
{
	struct httpd_req *r;

	out->n = 0;
	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link) {
		if (out->n < h->workers && r->body_due.ns != 0 &&
		    r->body_due.ns <= now.ns && end_of(r, &out->all[out->n]))
			out->n++;
	}
	pthread_mutex_unlock(&h->lock);
	qsort(out->all, out->n, sizeof(out->all[0]), end_cmp);
}

static void
tick(void *arg)
{
	struct httpd *h = arg;
	struct mono now = clock_mono();
	struct peer_ends late;

	if (atomic_load(&h->reading) > 0) {
		late.all = mem_calloc(h->workers, sizeof(late.all[0]));
		find_late(h, now, &late);
		/* One look at all descriptors, however many are late. */
		if (late.n > 0)
			cut(h, &late);
		free(late.all);
	}
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
