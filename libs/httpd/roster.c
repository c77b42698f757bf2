#include "httpd/roster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "httpd/sock.h"

#define FIRST_CAP 512
#define ENDED     (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)

static int
by_peer(const void *va, const void *vb)
{
	const struct roster_one *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)a->port - (int)b->port;
}

static struct roster_one *
find(struct roster_one *all, size_t n, uint32_t addr, int port)
{
	struct roster_one key = { .addr = addr, .port = (uint16_t)port };

	return n > 0 ? bsearch(&key, all, n, sizeof(*all), by_peer) : NULL;
}

static void
put(struct roster *ro, int fd, const struct sockaddr_in *peer)
{
	if (ro->n == ro->cap) {
		ro->cap = ro->cap > 0 ? ro->cap * 2 : FIRST_CAP;
		ro->all = mem_realloc(ro->all, ro->cap * sizeof(*ro->all));
	}
	if (ro->n == ro->polls_cap) {
		ro->polls_cap = ro->cap;
		ro->polls =
		    mem_realloc(ro->polls, ro->cap * sizeof(*ro->polls));
	}
	ro->polls[ro->n] =
	    (struct pollfd){ .fd = fd, .events = POLLRDHUP | POLLIN };
	ro->all[ro->n++] =
	    (struct roster_one){ .addr = ntohl(peer->sin_addr.s_addr),
		    .port = ntohs(peer->sin_port),
		    .fd = fd };
}

static void
find_all(struct roster *ro, const struct httpd *h)
{
	DIR *dir = sock_dir();
	struct sockaddr_in peer;
	int fd;

	if (dir == NULL)
		return;
	while ((fd = sock_next(dir)) >= 0)
		if (sock_peer(fd, h->port, &peer) &&
		    !peer_nets_have(&h->trusted, ntohl(peer.sin_addr.s_addr)))
			put(ro, fd, &peer);
	closedir(dir);
}

/* Of one that was cut, or has hung up, the worker is on its way. */
static void
drop_ended(struct roster *ro)
{
	size_t i, kept = 0;

	if (ro->n == 0)
		return;
	(void)poll(ro->polls, ro->n, 0);
	for (i = 0; i < ro->n; i++) {
		if ((ro->polls[i].revents & ENDED) != 0)
			continue;
		ro->all[i].unread = (ro->polls[i].revents & POLLIN) != 0;
		ro->all[kept++] = ro->all[i];
	}
	ro->n = kept;
	if (kept > 0)
		qsort(ro->all, kept, sizeof(*ro->all), by_peer);
}

static void
note_ages(struct roster *ro, struct mono now)
{
	const struct roster_one *old;
	size_t i;

	for (i = 0; i < ro->n; i++) {
		struct roster_one *o = &ro->all[i];

		old = find(ro->before, ro->nbefore, o->addr, o->port);
		o->since = old != NULL ? old->since : now;
	}
}

static void
note_requests(struct roster *ro, struct httpd *h)
{
	struct httpd_req *r;
	struct roster_one *o;
	struct peer p;

	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link) {
		if (peer_read(str_of(r->remote_addr), &p) != RC_OK)
			continue;
		o = find(ro->all, ro->n, p.addr, r->remote_port);
		if (o == NULL)
			continue;
		o->served = true;
		o->body = r->body_since;
	}
	pthread_mutex_unlock(&h->lock);
}

void
roster_look(struct roster *ro, struct httpd *h, struct mono now)
{
	struct roster_one *all = ro->all;
	size_t cap = ro->cap;

	ro->nbefore = ro->n;
	ro->all = ro->before;
	ro->cap = ro->before_cap;
	ro->before = all;
	ro->before_cap = cap;
	ro->n = 0;
	find_all(ro, h);
	drop_ended(ro);
	note_ages(ro, now);
	note_requests(ro, h);
}

void
roster_forget(struct roster *ro)
{
	ro->n = 0;
}

/*
 * The duplicate is looked at, not the descriptor itself, which may be closed,
 * and be something else, at any moment.
 */
bool
roster_cut(const struct httpd *h, struct roster_one *o)
{
	int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	struct sockaddr_in peer;

	if (copy < 0)
		return false;
	o->cut = sock_peer(copy, h->port, &peer) &&
	    ntohl(peer.sin_addr.s_addr) == o->addr &&
	    ntohs(peer.sin_port) == o->port;
	if (o->cut)
		shutdown(copy, o->body.ns != 0 ? SHUT_RD : SHUT_RDWR);
	close(copy);
	return o->cut;
}

void
roster_free(struct roster *ro)
{
	free(ro->all);
	free(ro->before);
	free(ro->polls);
	*ro = (struct roster){ 0 };
}
