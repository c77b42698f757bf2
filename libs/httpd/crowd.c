#include "httpd/crowd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "httpd/sock.h"

/* Between two looks: after one that cut something, and after any other. */
#define BUSY_MS 20
#define CALM_MS 100
/* A look takes at most one part in so many of the time. */
#define SHARE 20

/* A connection, by its other end. */
struct one {
	uint32_t addr; /* host order */
	uint16_t port;
	bool served; /* has a request in hand */
	int fd;
};

struct crowd {
	struct httpd *h;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool wake, stop;
	/* Of the thread. */
	struct one *all;
	struct pollfd *polls;
	size_t n, cap;
};

static void
put(struct crowd *c, int fd, const struct sockaddr_in *peer)
{
	if (c->n == c->cap) {
		c->cap = c->cap > 0 ? c->cap * 2 : 512;
		c->all = mem_realloc(c->all, c->cap * sizeof(*c->all));
		c->polls = mem_realloc(c->polls, c->cap * sizeof(*c->polls));
	}
	c->polls[c->n] = (struct pollfd){ .fd = fd, .events = POLLRDHUP };
	c->all[c->n++] = (struct one){ .addr = ntohl(peer->sin_addr.s_addr),
		.port = ntohs(peer->sin_port),
		.fd = fd };
}

static int
by_peer(const void *va, const void *vb)
{
	const struct one *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return (int)a->port - (int)b->port;
}

/* All connections that are open at both ends, in order. */
static void
collect(struct crowd *c)
{
	DIR *dir = sock_dir();
	struct sockaddr_in peer;
	size_t i, kept = 0;
	int fd;

	c->n = 0;
	if (dir == NULL)
		return;
	while ((fd = sock_next(dir)) >= 0)
		if (sock_peer(fd, c->h->port, &peer) &&
		    !peer_nets_have(
			&c->h->trusted, ntohl(peer.sin_addr.s_addr)))
			put(c, fd, &peer);
	closedir(dir);
	if (c->n == 0)
		return;
	/* Of one that was cut, or has hung up, the worker is on its way. */
	(void)poll(c->polls, c->n, 0);
	for (i = 0; i < c->n; i++)
		if (c->polls[i].revents == 0)
			c->all[kept++] = c->all[i];
	c->n = kept;
	qsort(c->all, c->n, sizeof(*c->all), by_peer);
}

static void
mark_served(struct crowd *c)
{
	struct httpd *h = c->h;
	struct httpd_req *r;
	struct one *found;
	struct peer p;

	pthread_mutex_lock(&h->lock);
	TAILQ_FOREACH (r, &h->active, link) {
		if (peer_read(str_of(r->remote_addr), &p) != RC_OK)
			continue;
		struct one key = { .addr = p.addr,
			.port = (uint16_t)r->remote_port };
		found = bsearch(&key, c->all, c->n, sizeof(*c->all), by_peer);
		if (found != NULL)
			found->served = true;
	}
	pthread_mutex_unlock(&h->lock);
}

/*
 * The duplicate is looked at, not the descriptor itself, which may be closed,
 * and be something else, at any moment.
 */
static bool
cut(const struct httpd *h, const struct one *o)
{
	int copy = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
	struct sockaddr_in peer;

	if (copy < 0)
		return false;
	bool same = sock_peer(copy, h->port, &peer) &&
	    ntohl(peer.sin_addr.s_addr) == o->addr &&
	    ntohs(peer.sin_port) == o->port;
	if (same)
		shutdown(copy, SHUT_RDWR);
	close(copy);
	return same;
}

/* Cut what of the n connections of one address at o is too much. */
static size_t
cut_over(struct httpd *h, const struct one *o, size_t n)
{
	size_t i, done = 0;

	for (i = 0; i < n && n - done > h->per_address; i++)
		if (!o[i].served && cut(h, &o[i]))
			done++;
	return done;
}

/* One look; how many were cut. */
static size_t
look(struct crowd *c)
{
	static struct log_rate rate;
	size_t i, end, done, all = 0;
	int64_t missed;

	collect(c);
	mark_served(c);
	for (i = 0; i < c->n; i = end) {
		for (end = i; end < c->n && c->all[end].addr == c->all[i].addr;)
			end++;
		done = cut_over(c->h, &c->all[i], end - i);
		all += done;
		if (done > 0 && log_every(&rate, 1, &missed)) {
			struct in_addr in = { htonl(c->all[i].addr) };
			char text[INET_ADDRSTRLEN] = "";
			inet_ntop(AF_INET, &in, text, sizeof(text));
			log_warn("httpd.too_many_connections",
			    LOG_S("address", text), LOG_I("open", end - i),
			    LOG_I("cut", done), LOG_I("missed", missed));
		}
	}
	metric_add(c->h->refused[SERVER_CROWD], (int64_t)all);
	return all;
}

/* Wait until woken, or for ms unless that is negative; false: stop. */
static bool
rest(struct crowd *c, int64_t ms)
{
	struct mono until = mono_add_ms(clock_mono(), ms);
	struct timespec ts = { .tv_sec = (time_t)(until.ns / 1000000000),
		.tv_nsec = (long)(until.ns % 1000000000) };
	int e = 0;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && e == 0) {
		if (ms >= 0)
			e = pthread_cond_timedwait(&c->changed, &c->lock, &ts);
		else if (c->wake)
			break;
		else
			pthread_cond_wait(&c->changed, &c->lock);
	}
	c->wake = false;
	bool go_on = !c->stop;
	pthread_mutex_unlock(&c->lock);
	return go_on;
}

static void *
run(void *arg)
{
	struct crowd *c = arg;
	struct httpd *h = c->h;

	while (rest(c, -1)) {
		while (atomic_load(&h->connections) > h->per_address) {
			struct mono start = clock_mono();
			int64_t ms = look(c) > 0 ? BUSY_MS : CALM_MS;
			int64_t took = mono_diff_ms(clock_mono(), start);
			if (!rest(c, ms > took * SHARE ? ms : took * SHARE))
				return NULL;
		}
	}
	return NULL;
}

struct crowd *
crowd_new(struct httpd *h)
{
	struct crowd *c = mem_zalloc(sizeof(*c));
	pthread_condattr_t attr;

	c->h = h;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
	if (pthread_create(&c->thread, NULL, run, c) != 0)
		abort();
	return c;
}

void
crowd_free(struct crowd *c)
{
	if (c == NULL)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c->all);
	free(c->polls);
	free(c);
}

void
crowd_wake(struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->wake) {
		c->wake = true;
		pthread_cond_signal(&c->changed);
	}
	pthread_mutex_unlock(&c->lock);
}
