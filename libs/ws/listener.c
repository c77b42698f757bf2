/*
 * listener: what is accepted, and flushing it once an iteration.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"
#include "ws/ws_internal.h"

static void
listener_on_accept(void *arg, int fd, const struct sockaddr_in *from)
{
	char host[INET_ADDRSTRLEN];
	struct client_addr address;
	struct ws *w = arg;

	/* Far over the limit there is no response, either. */
	if (w->n >= w->o.connections_max + WS_REJECTED_MAX) {
		close(fd);
		ws_count_rejected(w, 503);
		return;
	}
	inet_ntop(AF_INET, &from->sin_addr, host, sizeof(host));
	if (client_addr_parse(str_of(host), &address) != RC_OK)
		abort();
	(void)ws_peer_new(w, fd, &address);
}

enum rc
ws_new(const struct ws_opts *o, struct ws **out)
{
	struct sockaddr_in sa;
	struct ws *w;
	enum rc rc = tcp_address_parse(o->addr, &sa);

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
	w->listener = (struct tcp_listener){
		.loop = o->loop, .on_accept = listener_on_accept, .arg = w
	};
	rc = tcp_listener_open(&w->listener, &sa);
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
	return w->listener.port;
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
	tcp_listener_close(&w->listener);
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
