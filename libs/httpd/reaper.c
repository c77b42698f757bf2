/*
 * Reaper: ends reading of overdue bodies, and detects disconnected clients.
 *
 * The descriptor is searched only for an overdue body and for a request whose
 * handler has set httpd_on_abort().
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "httpd/httpd_internal.h"

#define TICK_MS 500

/* The client's end of a connection. */
struct reaper_peer {
	struct in_addr addr;
	int port;
};

/* A sorted set of them; NULL stands for all. */
struct reaper_peers {
	struct reaper_peer *all;
	size_t n;
};

static int
reaper_peer_compare(const void *a, const void *b)
{
	const struct reaper_peer *x = a, *y = b;

	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return (x->addr.s_addr > y->addr.s_addr) -
	    (x->addr.s_addr < y->addr.s_addr);
}

/* Whether fd is our end of a connection in the set. */
static bool
reaper_fd_matches(const struct httpd *h, const struct reaper_peers *of, int fd)
{
	struct sockaddr_in peer;
	struct reaper_peer end;

	if (!connection_fd_peer(fd, h->port, &peer))
		return false;
	end = (struct reaper_peer){ peer.sin_addr, ntohs(peer.sin_port) };
	return of == NULL ||
	    bsearch(&end, of->all, of->n, sizeof(end), reaper_peer_compare) !=
	    NULL;
}

/*
 * A duplicate of fd if it is in the set, or -1.  The duplicate is checked,
 * because fd itself may be closed and reused at any moment.  *blind is set if
 * fd could not be duplicated.
 */
static int
reaper_dup_fd(
    const struct httpd *h, const struct reaper_peers *of, int fd, bool *blind)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0 && errno != EBADF)
		*blind = true;
	if (copy >= 0 && !reaper_fd_matches(h, of, copy)) {
		close(copy);
		copy = -1;
	}
	return copy;
}

/* A duplicate of the next descriptor in the set, or -1. */
static int
reaper_next_fd(
    DIR *dir, const struct httpd *h, const struct reaper_peers *of, bool *blind)
{
	int fd, copy;

	while ((fd = connection_fds_next(dir)) >= 0) {
		copy = reaper_dup_fd(h, of, fd, blind);
		if (copy >= 0)
			return copy;
	}
	return -1;
}

/* Shut down the reading side of connections. */
static void
reaper_shutdown(const struct httpd *h, const struct reaper_peers *of)
{
	DIR *dir = connection_fds_open();
	bool blind;
	int copy;

	if (dir == NULL)
		return;
	while ((copy = reaper_next_fd(dir, h, of, &blind)) >= 0) {
		shutdown(copy, SHUT_RD);
		close(copy);
	}
	closedir(dir);
}

/* False: the address is unknown. */
static bool
reaper_peer_of(const struct httpd_req *r, struct reaper_peer *out)
{
	out->port = r->remote_port;
	return inet_pton(AF_INET, r->remote_addr, &out->addr) == 1;
}

/* A connection that was reset has no addresses, so it is not found. */
bool
reaper_client_disconnected(
    const struct httpd *h, const struct httpd_req *r, int *fd)
{
	struct pollfd p = { .events = POLLRDHUP };
	struct reaper_peer end;
	struct reaper_peers one = { &end, 0 };
	bool blind = false;
	DIR *dir;

	if (*fd < 0) {
		dir = connection_fds_open();
		if (dir == NULL)
			return false;
		one.n = reaper_peer_of(r, &end) ? 1 : 0;
		*fd = reaper_next_fd(dir, h, &one, &blind);
		closedir(dir);
		if (*fd < 0)
			return !blind;
	}
	p.fd = *fd;
	return poll(&p, 1, 0) > 0 &&
	    (p.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void
reaper_shutdown_all(struct httpd *h)
{
	reaper_shutdown(h, NULL);
}

/* The connections whose bodies are overdue. */
static void
reaper_find_expired(struct httpd *h, struct mono now, struct reaper_peers *out)
{
	struct httpd_req *r;
	int64_t due;

	out->n = 0;
	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link) {
		due = atomic_load_explicit(&r->body_due, memory_order_relaxed);
		if (out->n < h->workers && due != 0 && due <= now.ns &&
		    reaper_peer_of(r, &out->all[out->n]))
			out->n++;
	}
	pthread_mutex_unlock(&h->lock);
	qsort(out->all, out->n, sizeof(out->all[0]), reaper_peer_compare);
}

static void
reaper_tick(void *arg)
{
	struct httpd *h = arg;
	struct mono now = clock_mono();
	struct reaper_peers expired;

	if (atomic_load(&h->receiving) > 0) {
		expired.all = mem_calloc(h->workers, sizeof(expired.all[0]));
		reaper_find_expired(h, now, &expired);
		/* One scan of all descriptors for all of them. */
		if (expired.n > 0)
			reaper_shutdown(h, &expired);
		free(expired.all);
	}
	loop_timer_set(
	    h->loop, &h->reaper, mono_add_ms(now, TICK_MS), reaper_tick, h);
}

void
reaper_start(struct httpd *h)
{
	loop_timer_set(h->loop, &h->reaper, mono_add_ms(clock_mono(), TICK_MS),
	    reaper_tick, h);
}

void
reaper_stop(struct httpd *h)
{
	loop_timer_cancel(h->loop, &h->reaper);
}

void
reaper_body_begin(
    struct httpd *h, struct httpd_req *r, struct mono now, int64_t ms)
{
	if (ms > h->timeout_ms)
		ms = h->timeout_ms;
	atomic_fetch_add(&h->receiving, 1);
	atomic_store_explicit(&r->body_since, now.ns, memory_order_relaxed);
	atomic_store_explicit(
	    &r->body_due, mono_add_ms(now, ms).ns, memory_order_relaxed);
}

void
reaper_body_end(struct httpd *h, struct httpd_req *r)
{
	atomic_store_explicit(&r->body_due, 0, memory_order_relaxed);
	atomic_store_explicit(&r->body_since, 0, memory_order_relaxed);
	atomic_fetch_sub(&h->receiving, 1);
}
