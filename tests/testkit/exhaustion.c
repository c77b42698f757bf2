#include "testkit/exhaustion.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"

#define TICK_MS 5

enum state { CLOSED, OPENING, OPEN };

struct one {
	enum state state;
	struct mono drip;
};

struct tk_exhaustion {
	struct tk_exhaustion_opts o;
	char *send;
	pthread_t thread;
	atomic_bool stop;
	atomic_size_t open, ended, failed;
	struct one *all;
	struct pollfd *polls;
	double credit; /* new connections allowed now */
};

static void
exhaustion_close(struct tk_exhaustion *s, size_t i)
{
	if (s->all[i].state == OPEN)
		s->open--;
	close(s->polls[i].fd);
	s->polls[i].fd = -1;
	s->all[i].state = CLOSED;
}

static void
exhaustion_connect(struct tk_exhaustion *s, size_t i)
{
	size_t clients = s->o.clients > 0 ? s->o.clients : 1;
	struct sockaddr_in own = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(s->o.from + (uint32_t)(i % clients)) };
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)s->o.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	s->credit--;
	s->polls[i] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	s->all[i].state = OPENING;
	if (fd < 0 || bind(fd, (struct sockaddr *)&own, sizeof(own)) != 0 ||
	    (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 &&
		errno != EINPROGRESS)) {
		s->failed++;
		exhaustion_close(s, i);
	}
}

static void
exhaustion_connected(struct tk_exhaustion *s, size_t i)
{
	s->open++;
	s->all[i].state = OPEN;
	s->all[i].drip = mono_add_ms(clock_mono(), s->o.drip_ms);
	s->polls[i].events = POLLIN;
	if (s->send != NULL && i % 2 == 0)
		(void)send(
		    s->polls[i].fd, s->send, strlen(s->send), MSG_NOSIGNAL);
}

/* A connection that got a response or was closed is replaced. */
static void
exhaustion_poll(struct tk_exhaustion *s, size_t i, struct mono now)
{
	struct one *one = &s->all[i];
	short got = s->polls[i].revents;

	if (one->state == CLOSED) {
		if (s->credit >= 1)
			exhaustion_connect(s, i);
	} else if ((got & (POLLERR | POLLHUP | POLLIN)) != 0) {
		if (one->state == OPENING)
			s->failed++;
		else
			s->ended++;
		exhaustion_close(s, i);
	} else if (one->state == OPENING) {
		if ((got & POLLOUT) != 0)
			exhaustion_connected(s, i);
	} else if (s->o.drip_ms > 0 && i % 2 == 0 && one->drip.ns < now.ns) {
		(void)send(s->polls[i].fd, "x", 1, MSG_NOSIGNAL);
		one->drip = mono_add_ms(now, s->o.drip_ms);
	}
}

static void *
exhaustion_run(void *arg)
{
	struct tk_exhaustion *s = arg;
	struct mono last = clock_mono();
	size_t i;

	while (!atomic_load(&s->stop)) {
		struct mono now = clock_mono();
		double ms = (double)mono_diff_ns(now, last) / 1e6;

		last = now;
		s->credit += s->o.opens_per_s * ms / 1000;
		if (s->credit > s->o.opens_per_s / 10.0)
			s->credit = s->o.opens_per_s / 10.0;
		for (i = 0; i < s->o.n; i++)
			exhaustion_poll(s, i, now);
		/* Events may be handled with this delay. */
		(void)poll(NULL, 0, TICK_MS);
		(void)poll(s->polls, s->o.n, 0);
	}
	return NULL;
}

/* Raise the soft limit of descriptors to the hard limit. */
static void
exhaustion_raise_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		abort();
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) != 0)
		abort();
}

struct tk_exhaustion *
tk_exhaustion_begin(const struct tk_exhaustion_opts *o)
{
	struct tk_exhaustion *s = mem_zalloc(sizeof(*s));
	size_t i;

	exhaustion_raise_limit();

	s->o = *o;
	if (o->send != NULL)
		s->send = mem_strdup(o->send);
	s->all = mem_calloc(o->n, sizeof(*s->all));
	s->polls = mem_calloc(o->n, sizeof(*s->polls));
	for (i = 0; i < o->n; i++)
		s->polls[i].fd = -1;
	s->credit = (double)o->n;
	if (pthread_create(&s->thread, NULL, exhaustion_run, s) != 0)
		abort();
	return s;
}

size_t
tk_exhaustion_open(const struct tk_exhaustion *s)
{
	return s->open;
}

size_t
tk_exhaustion_closed(const struct tk_exhaustion *s)
{
	return s->ended;
}

size_t
tk_exhaustion_failed(const struct tk_exhaustion *s)
{
	return s->failed;
}

void
tk_exhaustion_end(struct tk_exhaustion *s)
{
	size_t i;

	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
	for (i = 0; i < s->o.n; i++)
		if (s->polls[i].fd >= 0)
			close(s->polls[i].fd);
	free(s->all);
	free(s->polls);
	free(s->send);
	free(s);
}
