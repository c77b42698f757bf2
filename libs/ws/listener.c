/*
 * listener: accepting connections, and flushing them once an iteration.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/log.h"
#include "core/mem.h"
#include "ws/ws_internal.h"

#define BACKLOG     1024
#define ACCEPT_MAX  64 /* of one iteration */
#define PAUSE_MS    100
#define LOG_EVERY_S 30

static enum rc
listener_address(const char *text, struct sockaddr_in *sa)
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

static void listener_on_pause_end(void *arg);

/* A connection that cannot be accepted would wake the loop all the time. */
static void
listener_pause(struct ws *w)
{
	static struct log_rate rate;
	int64_t missed;

	if (log_every(&rate, LOG_EVERY_S, &missed))
		log_warn("ws.no_descriptors", LOG_S("why", strerror(errno)),
		    LOG_I("connections", (int64_t)w->n));
	loop_fd_watch(w->o.loop, &w->watch, 0);
	loop_timer_set(w->o.loop, &w->pause,
	    mono_add_ms(clock_mono(), PAUSE_MS), listener_on_pause_end, w);
}

static void
listener_on_pause_end(void *arg)
{
	struct ws *w = arg;

	if (!w->stopped)
		loop_fd_watch(w->o.loop, &w->watch, LOOP_READ);
}

static bool
listener_accept(struct ws *w)
{
	char host[INET_ADDRSTRLEN];
	struct client_addr address;
	struct sockaddr_in from;
	socklen_t n = sizeof(from);
	int one = 1, fd;

	fd = accept4(w->watch.fd, (struct sockaddr *)(void *)&from, &n,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd == -1) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			listener_pause(w);
		/* Others are errors of that connection. */
		return errno == ECONNABORTED || errno == EINTR;
	}
	/* Far over the limit there is no response, either. */
	if (w->n >= w->o.connections_max + WS_REJECTED_MAX) {
		close(fd);
		ws_count_rejected(w, 503);
		return true;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	inet_ntop(AF_INET, &from.sin_addr, host, sizeof(host));
	if (client_addr_parse(str_of(host), &address) != RC_OK)
		abort();
	(void)ws_peer_new(w, fd, &address);
	return true;
}

static void
listener_on_fd(void *arg, unsigned events)
{
	struct ws *w = arg;
	int i;

	(void)events;
	for (i = 0; i < ACCEPT_MAX && listener_accept(w); i++)
		;
}

static enum rc
listener_open(struct ws *w, const struct sockaddr_in *sa)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
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
		log_error("ws.cannot_listen", LOG_S("address", w->o.addr),
		    LOG_S("why", strerror(errno)));
		close(fd);
		return RC_DOWN;
	}
	w->port = ntohs(at.sin_port);
	w->watch = (struct loop_fd){ .fd = fd, .fn = listener_on_fd, .arg = w };
	loop_fd_watch(w->o.loop, &w->watch, LOOP_READ);
	return RC_OK;
}

enum rc
ws_new(const struct ws_opts *o, struct ws **out)
{
	struct sockaddr_in sa;
	struct ws *w;
	enum rc rc = listener_address(o->addr, &sa);

	*out = NULL;
	if (rc != RC_OK)
		return rc;
	w = mem_zalloc(sizeof(*w));
	w->o = *o;
	if (o->proxies != NULL)
		w->proxies = *o->proxies;
	w->by_address = tally_new();
	TAILQ_INIT(&w->peers);
	LIST_INIT(&w->dirty);
	rc = listener_open(w, &sa);
	if (rc != RC_OK) {
		tally_free(w->by_address);
		free(w);
		return rc;
	}
	w->pool = frame_reader_pool_new();
	*out = w;
	return RC_OK;
}

int
ws_port(const struct ws *w)
{
	return w->port;
}

size_t
ws_count(const struct ws *w)
{
	return w->n;
}

size_t
ws_pending_all(const struct ws *w)
{
	return w->pending;
}

size_t
ws_close_some(struct ws *w, size_t n, unsigned code, struct str reason)
{
	struct ws_peer *p;
	size_t left = 0;

	TAILQ_FOREACH (p, &w->peers, link) {
		if (p->dead || p->phase >= WS_CLOSING)
			continue;
		if (n > 0) {
			ws_close(p, code, reason);
			n--;
		} else {
			left++;
		}
	}
	return left;
}

void
ws_stop(struct ws *w)
{
	if (w->stopped)
		return;
	w->stopped = true;
	loop_timer_cancel(w->o.loop, &w->pause);
	loop_fd_watch(w->o.loop, &w->watch, 0);
	close(w->watch.fd);
}

void
ws_free(struct ws *w)
{
	struct ws_peer *p;

	if (w == NULL)
		return;
	ws_stop(w);
	while ((p = TAILQ_FIRST(&w->peers)) != NULL)
		ws_peer_free(p);
	loop_defer_cancel(w->o.loop, &w->flush);
	frame_reader_pool_free(w->pool);
	tally_free(w->by_address);
	free(w);
}

void
ws_count_rejected(struct ws *w, int status)
{
	if (w->o.handler.on_reject != NULL)
		w->o.handler.on_reject(w->o.handler.arg, status);
}

/* ---- flushing ---- */

static void
listener_flush(void *arg)
{
	struct ws *w = arg;
	struct ws_peer *p;

	while ((p = LIST_FIRST(&w->dirty)) != NULL) {
		LIST_REMOVE(p, dirty);
		p->is_dirty = false;
		if (p->dead)
			ws_peer_free(p);
		else
			ws_peer_flush(p);
	}
}

void
ws_flush_later(struct ws_peer *p)
{
	if (p->is_dirty)
		return;
	p->is_dirty = true;
	LIST_INSERT_HEAD(&p->w->dirty, p, dirty);
	loop_defer(p->w->o.loop, &p->w->flush, listener_flush, p->w);
}
