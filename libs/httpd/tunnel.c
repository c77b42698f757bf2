/*
 * Tunnel: a WebSocket of a client, and the TCP connection that has its bytes.
 *
 * The worker of the client's connection takes over its socket until the end;
 * civetweb only closes it.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "httpd/httpd_internal.h"
#include "ws/frame.h"
#include "ws/frame_reader.h"
#include "ws/handshake.h"

#define CONNECT_MS  2000
#define IDLE_MS     90000
#define TICK_MS     500
#define CLOSE_MS    2000
#define READ_MAX    16384
#define MESSAGE_MAX 16384
/* What one read adds at most: the rest of a message, or pongs. */
#define PENDING_MAX (MESSAGE_MAX + 2 * READ_MAX)
#define HOST_MAX    256

struct tunnel {
	struct httpd *h;
	int client, server;
	struct frame_reader_pool *pool;
	struct frame_reader *reader;
	struct buf up, down; /* to be sent to the server, to the client */
	char accept[WS_ACCEPT_MAX];
	struct mono received; /* bytes of the client */
	struct mono closing;  /* since when the close frame is sent; 0: open */
	bool ended;
	char read[READ_MAX]; /* the stacks of workers are small */
};

/* ---- opening ---- */

/* The parts of "host:port"; false: it is none. */
static bool
tunnel_split(const char *to, char host[HOST_MAX], const char **port)
{
	const char *colon = strrchr(to, ':');
	int64_t n;

	if (colon == NULL || colon == to || colon - to >= HOST_MAX ||
	    str_to_i64(str_of(colon + 1), 1, 65535, &n) != RC_OK)
		return false;
	str_copy((struct str){ to, (size_t)(colon - to) }, host, HOST_MAX);
	*port = colon + 1;
	return true;
}

const char *
httpd_tunnel_error(const char *to)
{
	char host[HOST_MAX];
	const char *port;

	return to == NULL || to[0] == '\0' || tunnel_split(to, host, &port)
	    ? NULL
	    : "must be host:port";
}

/* A connection to one address, or -1. */
static int
tunnel_connect_to(const struct addrinfo *a)
{
	int fd = socket(a->ai_family,
	    a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int error = 0, on = 1;
	socklen_t n = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) != 0 &&
	    (errno != EINPROGRESS || poll(&p, 1, CONNECT_MS) != 1 ||
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0 ||
		error != 0)) {
		close(fd);
		return -1;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

static int
tunnel_connect(const char *to)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL, *a;
	char host[HOST_MAX];
	const char *port;
	int fd = -1;

	if (!tunnel_split(to, host, &port) ||
	    getaddrinfo(host, port, &hints, &list) != 0)
		return -1;
	for (a = list; a != NULL && fd < 0; a = a->ai_next)
		fd = tunnel_connect_to(a);
	freeaddrinfo(list);
	return fd;
}

bool
tunnel_is_at(const struct httpd *h, struct str path)
{
	const struct httpd_tunnel *o = &h->tunnel;

	return o->to != NULL && o->to[0] != '\0' &&
	    str_eq(path, str_of(o->path));
}

static void
tunnel_check_handshake(const struct httpd_req *r, struct handshake *out)
{
	struct http_head head = {
		.method = r->method, .target = r->path, .http11 = r->http11
	};

	/* request_read_head() has rejected more. */
	head.n = r->nfields < HTTP_FIELDS_MAX ? r->nfields : HTTP_FIELDS_MAX;
	memcpy(head.field, r->fields, head.n * sizeof(head.field[0]));
	handshake_check(&head, out);
}

static bool
tunnel_offers(const struct httpd_req *r, struct str protocol)
{
	struct str list = httpd_req_header(r, "Sec-WebSocket-Protocol");

	while (list.p != NULL)
		if (str_eq(str_trim(str_split(&list, ',')), protocol))
			return true;
	return false;
}

static void
tunnel_put_frame(struct tunnel *t, struct frame *f)
{
	buf_put_str(&t->down, f->bytes);
	frame_unref(f);
}

static void
tunnel_close(struct tunnel *t, unsigned code, struct str why)
{
	if (t->closing.ns != 0)
		return;
	tunnel_put_frame(t, frame_new_close(code, why));
	t->closing = clock_mono();
}

static bool
tunnel_on_message(void *arg, struct str data, bool binary)
{
	struct tunnel *t = arg;

	if (binary)
		buf_put_str(&t->up, data);
	else
		tunnel_close(t, WS_CLOSE_POLICY, STR("messages are binary"));
	return binary;
}

static bool
tunnel_on_ping(void *arg, struct str data)
{
	tunnel_put_frame(arg, frame_new(FRAME_PONG, data));
	return true;
}

static bool
tunnel_on_pong(void *arg, struct str data)
{
	(void)arg;
	(void)data;
	return true;
}

static void
tunnel_on_close(void *arg, unsigned code, struct str reason)
{
	(void)code;
	(void)reason;
	tunnel_close(arg, WS_CLOSE_NORMAL, STR(""));
}

static struct tunnel *
tunnel_new(struct httpd *h, int client, int server)
{
	struct tunnel *t = mem_zalloc(sizeof(*t));
	struct frame_reader_handler to = { .on_message = tunnel_on_message,
		.on_ping = tunnel_on_ping,
		.on_pong = tunnel_on_pong,
		.on_close = tunnel_on_close,
		.arg = t };

	t->h = h;
	t->client = client;
	t->server = server;
	t->pool = frame_reader_pool_new();
	t->reader = frame_reader_new(t->pool, &to, MESSAGE_MAX);
	buf_init(&t->up, PENDING_MAX);
	buf_init(&t->down, PENDING_MAX);
	return t;
}

/* Connect both ends. */
static int
tunnel_connect_both(struct httpd *h, const struct httpd_req *r,
    const struct handshake *hs, struct tunnel **out)
{
	int client = -1, server;

	if (reaper_client_disconnected(h, r, &client) || client < 0) {
		if (client >= 0)
			close(client);
		return 503;
	}
	server = tunnel_connect(h->tunnel.to);
	if (server < 0) {
		close(client);
		return 502;
	}
	*out = tunnel_new(h, client, server);
	handshake_write(hs, str_of(h->tunnel.protocol), &(*out)->down);
	return 101;
}

int
tunnel_open(struct httpd *h, const struct httpd_req *r, struct tunnel **out,
    const char **why)
{
	const struct httpd_tunnel *o = &h->tunnel;
	struct handshake hs;
	int status;

	tunnel_check_handshake(r, &hs);
	*why = hs.why;
	if (hs.status != 101)
		return hs.status;
	*why = "pages of other origins, and of this name, may not open it";
	if (httpd_req_is_cross_origin(r) ||
	    (o->allows != NULL && !o->allows(o->arg, r)))
		return 403;
	*why = "Sec-WebSocket-Protocol: must offer the one of this path";
	if (!tunnel_offers(r, str_of(o->protocol)))
		return 400;
	*why = "too many are open";
	status = 503;
	if (atomic_fetch_add(&h->tunnels, 1) < o->max) {
		*why = "the server behind it does not accept the connection";
		status = tunnel_connect_both(h, r, &hs, out);
	}
	if (status != 101)
		atomic_fetch_sub(&h->tunnels, 1);
	return status;
}

/* ---- running ---- */

/* Send what there is; false: the other end is gone. */
static bool
tunnel_flush(int fd, struct buf *b)
{
	ssize_t n;

	if (b->n == 0)
		return true;
	n = send(fd, b->p, b->n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		buf_drop(b, (size_t)n);
	return n >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Bytes into t->read, 0: none now, -1: the end. */
static ssize_t
tunnel_receive(struct tunnel *t, int fd)
{
	ssize_t n = recv(fd, t->read, READ_MAX, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? n : -1;
}

static void
tunnel_read_client(struct tunnel *t)
{
	const char *why = "";
	ssize_t n = tunnel_receive(t, t->client);
	enum ws_close code;

	if (n < 0)
		t->ended = true;
	if (n <= 0)
		return;
	t->received = clock_mono();
	code = frame_reader_feed(t->reader, t->read, (size_t)n, &why);
	if (code != WS_CLOSE_NONE)
		tunnel_close(t, code, str_of(why));
}

static void
tunnel_read_server(struct tunnel *t)
{
	ssize_t n = tunnel_receive(t, t->server);

	if (n < 0)
		tunnel_close(t, WS_CLOSE_GOING_AWAY, STR("the server closed"));
	else if (n > 0)
		tunnel_put_frame(t,
		    frame_new(
			FRAME_BINARY, (struct str){ t->read, (size_t)n }));
}

/* Which events to wait for: one side is read when the other has all. */
static void
tunnel_prepare_poll(const struct tunnel *t, struct pollfd p[2])
{
	bool reads = t->closing.ns == 0 && t->up.n == 0 && t->down.n == 0;

	p[0] = (struct pollfd){ .fd = t->client,
		.events = (short)((reads ? POLLIN : 0) |
		    (t->down.n > 0 ? POLLOUT : 0)) };
	p[1] = (struct pollfd){ .fd = t->closing.ns == 0 ? t->server : -1,
		.events = (short)((reads ? POLLIN : 0) |
		    (t->up.n > 0 ? POLLOUT : 0)) };
}

static void
tunnel_step(struct tunnel *t)
{
	const short any = POLLIN | POLLHUP | POLLERR;
	struct pollfd p[2];

	tunnel_prepare_poll(t, p);
	if (poll(p, 2, TICK_MS) < 0)
		return;
	if ((p[0].events & POLLIN) != 0 && (p[0].revents & any) != 0)
		tunnel_read_client(t);
	else if ((p[0].revents & (POLLHUP | POLLERR)) != 0)
		t->ended = true;
	if ((p[1].events & POLLIN) != 0 && (p[1].revents & any) != 0)
		tunnel_read_server(t);
	else if ((p[1].revents & (POLLHUP | POLLERR)) != 0)
		tunnel_close(t, WS_CLOSE_GOING_AWAY, STR("the server closed"));
}

static void
tunnel_check_time(struct tunnel *t)
{
	struct mono now = clock_mono();

	if (atomic_load(&t->h->stopping))
		tunnel_close(t, WS_CLOSE_GOING_AWAY, STR("the service stops"));
	if (mono_diff_ms(now, t->received) >= IDLE_MS)
		tunnel_close(t, WS_CLOSE_GOING_AWAY, STR("no sign of life"));
	if (t->closing.ns != 0 &&
	    (t->down.n == 0 || mono_diff_ms(now, t->closing) >= CLOSE_MS))
		t->ended = true;
}

/* What the client sent before its close frame is the server's, too. */
void
tunnel_run(struct tunnel *t)
{
	t->received = clock_mono();
	while (!t->ended) {
		if (!tunnel_flush(t->client, &t->down))
			break;
		if (!tunnel_flush(t->server, &t->up))
			tunnel_close(
			    t, WS_CLOSE_GOING_AWAY, STR("the server closed"));
		tunnel_check_time(t);
		if (!t->ended)
			tunnel_step(t);
	}
	shutdown(t->client, SHUT_RDWR);
	close(t->client);
	close(t->server);
	frame_reader_free(t->reader);
	frame_reader_pool_free(t->pool);
	buf_free(&t->up);
	buf_free(&t->down);
	atomic_fetch_sub(&t->h->tunnels, 1);
	free(t);
}
