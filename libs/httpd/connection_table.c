/*
 * Connection table: the server's connections, found among the open descriptors.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "core/str.h"
#include "httpd/httpd_internal.h"

/* ---- descriptors ---- */

DIR *
connection_fds_open(void)
{
	DIR *dir = opendir("/proc/self/fd");

	if (dir == NULL)
		log_warn("httpd.no_proc", LOG_S("need", "/proc/self/fd"));
	return dir;
}

int
connection_fds_next(DIR *dir)
{
	struct dirent *e;
	int64_t fd;

	while ((e = readdir(dir)) != NULL)
		if (str_to_i64(str_of(e->d_name), 0, INT32_MAX, &fd) == RC_OK)
			return (int)fd;
	return -1;
}

bool
connection_fd_peer(int fd, int port, struct sockaddr_in *peer)
{
	struct sockaddr_in own;
	socklen_t own_len = sizeof(own), peer_len = sizeof(*peer);

	return getsockname(fd, (struct sockaddr *)(void *)&own, &own_len) ==
	    0 &&
	    own.sin_family == AF_INET && ntohs(own.sin_port) == port &&
	    getpeername(fd, (struct sockaddr *)(void *)peer, &peer_len) == 0 &&
	    peer->sin_family == AF_INET;
}

/* ---- table ---- */

#define FIRST_CAP 512
#define ENDED     (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)

static int
entry_compare(const void *va, const void *vb)
{
	const struct connection_entry *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)a->port - (int)b->port;
}

static struct connection_entry *
entry_find(struct connection_entry *all, size_t n, uint32_t addr, int port)
{
	struct connection_entry key = { .addr = addr, .port = (uint16_t)port };

	return n > 0 ? bsearch(&key, all, n, sizeof(*all), entry_compare)
		     : NULL;
}

static void
table_add(struct connection_table *t, int fd, const struct sockaddr_in *peer)
{
	if (t->n == t->cap) {
		t->cap = t->cap > 0 ? t->cap * 2 : FIRST_CAP;
		t->all = mem_realloc(t->all, t->cap * sizeof(*t->all));
	}
	if (t->n == t->polls_cap) {
		t->polls_cap = t->cap;
		t->polls = mem_realloc(t->polls, t->cap * sizeof(*t->polls));
	}
	t->polls[t->n] =
	    (struct pollfd){ .fd = fd, .events = POLLRDHUP | POLLIN };
	t->all[t->n++] =
	    (struct connection_entry){ .addr = ntohl(peer->sin_addr.s_addr),
		    .port = ntohs(peer->sin_port),
		    .fd = fd };
}

static void
table_scan_fds(struct connection_table *t, const struct httpd *h)
{
	DIR *dir = connection_fds_open();
	struct sockaddr_in peer;
	int fd;

	if (dir == NULL)
		return;
	while ((fd = connection_fds_next(dir)) >= 0)
		if (connection_fd_peer(fd, h->port, &peer) &&
		    !proxy_nets_contain(
			&h->trusted, ntohl(peer.sin_addr.s_addr)))
			table_add(t, fd, &peer);
	closedir(dir);
}

/* Closed and disconnected ones release their worker by themselves. */
static void
table_drop_ended(struct connection_table *t)
{
	size_t i, n_open = 0;

	if (t->n == 0)
		return;
	(void)poll(t->polls, t->n, 0);
	for (i = 0; i < t->n; i++) {
		if ((t->polls[i].revents & ENDED) != 0)
			continue;
		t->all[i].unread = (t->polls[i].revents & POLLIN) != 0;
		t->all[n_open++] = t->all[i];
	}
	t->n = n_open;
	if (n_open > 0)
		qsort(t->all, n_open, sizeof(*t->all), entry_compare);
}

static void
table_set_ages(struct connection_table *t, struct mono now)
{
	const struct connection_entry *old;
	size_t i;

	for (i = 0; i < t->n; i++) {
		struct connection_entry *o = &t->all[i];

		old = entry_find(t->before, t->nbefore, o->addr, o->port);
		o->since = old != NULL ? old->since : now;
	}
}

static void
table_match_requests(struct connection_table *t, struct httpd *h)
{
	struct httpd_req *r;
	struct connection_entry *o;
	struct client_addr p;

	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link) {
		if (client_addr_parse(str_of(r->remote_addr), &p) != RC_OK)
			continue;
		o = entry_find(t->all, t->n, p.addr, r->remote_port);
		if (o == NULL)
			continue;
		o->served = true;
		o->body.ns =
		    atomic_load_explicit(&r->body_since, memory_order_relaxed);
	}
	pthread_mutex_unlock(&h->lock);
}

void
connection_table_scan(
    struct connection_table *t, struct httpd *h, struct mono now)
{
	struct connection_entry *all = t->all;
	size_t cap = t->cap;

	t->nbefore = t->n;
	t->all = t->before;
	t->cap = t->before_cap;
	t->before = all;
	t->before_cap = cap;
	t->n = 0;
	table_scan_fds(t, h);
	table_drop_ended(t);
	table_set_ages(t, now);
	table_match_requests(t, h);
}

void
connection_table_clear(struct connection_table *t)
{
	t->n = 0;
}

/*
 * A duplicate is checked and used, because the descriptor itself may be closed
 * and reused at any moment.
 */
bool
connection_table_shutdown(const struct httpd *h, struct connection_entry *o)
{
	int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	struct sockaddr_in peer;

	if (copy < 0)
		return false;
	o->closed = connection_fd_peer(copy, h->port, &peer) &&
	    ntohl(peer.sin_addr.s_addr) == o->addr &&
	    ntohs(peer.sin_port) == o->port;
	if (o->closed)
		shutdown(copy, o->body.ns != 0 ? SHUT_RD : SHUT_RDWR);
	close(copy);
	return o->closed;
}

void
connection_table_free(struct connection_table *t)
{
	free(t->all);
	free(t->before);
	free(t->polls);
	*t = (struct connection_table){ 0 };
}
