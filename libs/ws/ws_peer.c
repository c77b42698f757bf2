/*
 * ws_peer: one connection, from its request to its last byte.
 *
 * A socket that is closed with unread bytes resets the connection, and the peer
 * may never see why it was closed: so the sending side is shut down first, and
 * what still comes is read for a while.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "ws/ws_internal.h"

#define CODE_ABNORMAL 1006 /* is never sent */
/* Of pages and what they load. */
#define FILE_FIELDS                                                        \
	"Cache-Control: no-cache\r\n"                                      \
	"X-Content-Type-Options: nosniff\r\n"                              \
	"Referrer-Policy: no-referrer\r\n"                                 \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; " \
	"style-src 'self'; connect-src 'self'; img-src data:; "            \
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"

static void peer_on_timer(void *arg);

/* ---- the end ---- */

static void
peer_set_end(struct ws_peer *p, unsigned code, bool by_peer, struct str why)
{
	if (p->end != NULL)
		return;
	p->end = mem_zalloc(sizeof(*p->end));
	p->end->code = code;
	p->end->by_peer = by_peer;
	str_copy(why, p->end->why, sizeof(p->end->why));
}

/* It is freed at the end of the iteration, since callers may still use it. */
static void
peer_drop(struct ws_peer *p, bool by_peer, const char *why)
{
	peer_set_end(p, CODE_ABNORMAL, by_peer, str_of(why));
	p->dead = true;
	loop_fd_watch(p->w->o.loop, &p->watch, 0);
	ws_flush_later(p);
}

/* What its socket is watched for. */
static void
peer_watch(struct ws_peer *p, bool writes)
{
	loop_fd_watch(p->w->o.loop, &p->watch,
	    (p->paused.ns == 0 ? LOOP_READ : 0) | (writes ? LOOP_WRITE : 0));
}

static enum rc
peer_queue(struct ws_peer *p, struct frame *f)
{
	enum rc rc = send_queue_put(&p->queue, f);

	if (rc == RC_OK)
		p->w->pending += f->bytes.n;
	return rc;
}

static void
peer_set_timer(struct ws_peer *p, struct mono at)
{
	loop_timer_set(p->w->o.loop, &p->timer, at, peer_on_timer, p);
}

static void
peer_set_closing(struct ws_peer *p)
{
	p->phase = WS_CLOSING;
	p->paused.ns = 0;
	peer_set_timer(p, mono_add_ms(clock_mono(), WS_LINGER_MS));
	ws_flush_later(p);
}

void
ws_close(struct ws_peer *p, unsigned code, struct str reason)
{
	struct frame *f;

	if (p->dead || p->phase >= WS_CLOSING)
		return;
	if (p->phase != WS_OPEN) {
		ws_reject(p, 503, "the server closes");
		return;
	}
	peer_set_end(p, code, false, reason);
	f = frame_new_close(code, reason);
	if (peer_queue(p, f) != RC_OK)
		peer_drop(p, false, "its queue is full");
	else
		peer_set_closing(p);
	frame_unref(f);
}

/* ---- timers ---- */

static struct mono
mono_earlier(struct mono a, struct mono b)
{
	return a.ns < b.ns ? a : b;
}

/* An open connection: silent, or not reading. */
static void
peer_check(struct ws_peer *p, struct mono now)
{
	const struct ws_opts *o = &p->w->o;
	struct mono silent = mono_add_ms(p->received, o->timeout_ms);
	struct mono ping = mono_add_ms(p->received, o->ping_ms);
	struct mono stalled = mono_add_ms(p->taken, o->stall_ms);
	struct mono next = silent;
	struct frame *f;

	if (p->paused.ns != 0 && now.ns >= p->paused.ns) {
		p->paused.ns = 0;
		peer_watch(p, (p->watch.events & LOOP_WRITE) != 0);
	} else if (p->paused.ns != 0) {
		next = p->paused;
	}
	if (now.ns >= silent.ns) {
		ws_close(p, WS_CLOSE_GOING_AWAY, STR("nothing was received"));
		return;
	}
	if (p->queue.n > 0 && now.ns >= stalled.ns) {
		ws_close(p, WS_CLOSE_TRY_LATER, STR("the client is too slow"));
		return;
	}
	if (p->queue.n > 0)
		next = mono_earlier(next, stalled);
	if (now.ns >= ping.ns) {
		f = frame_new(FRAME_PING, STR(""));
		if (peer_queue(p, f) == RC_OK)
			ws_flush_later(p);
		frame_unref(f);
		ping = mono_add_ms(now, o->ping_ms);
	}
	peer_set_timer(p, mono_earlier(next, ping));
}

static void
peer_on_timer(void *arg)
{
	struct ws_peer *p = arg;

	switch (p->phase) {
	case WS_HEAD:
		ws_reject(p, 408, "the request was not sent in time");
		break;
	case WS_OPEN:
		peer_check(p, clock_mono());
		break;
	case WS_PENDING:
		break;
	default:
		peer_drop(p, true, "it did not close");
	}
}

/* ---- the request ---- */

static const char *
status_text(int status)
{
	switch (status) {
	case 400:
		return "Bad Request";
	case 401:
		return "Unauthorized";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 408:
		return "Request Timeout";
	case 409:
		return "Conflict";
	case 426:
		return "Upgrade Required";
	case 429:
		return "Too Many Requests";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	default:
		return status < 500 ? "Bad Request" : "Internal Server Error";
	}
}

/* A text of ours, which has no control characters, inside of JSON. */
static void
peer_put_text(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(b, '\\');
		buf_putc(b, *s);
	}
}

/* Its response is the last that is sent. */
static void
peer_respond(struct ws_peer *p, const char *why)
{
	peer_set_end(p, CODE_ABNORMAL, false, str_of(why));
	loop_fd_watch(p->w->o.loop, &p->watch, LOOP_READ);
	peer_set_closing(p);
}

void
ws_reject(struct ws_peer *p, int status, const char *why)
{
	struct buf body = BUF_INIT(1024);
	const char *extra = status == 426
	    ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
	    : status == 429 || status == 503 ? "Retry-After: 1\r\n"
	    : status == 405                  ? "Allow: GET\r\n"
					     : "";

	if (p->dead || p->phase >= WS_OPEN)
		return;
	ws_count_rejected(p->w, status);
	buf_puts(&body, "{\"error\":\"");
	peer_put_text(&body, why);
	buf_puts(&body, "\"}");
	buf_printf(&p->http->response,
	    "HTTP/1.1 %d %s\r\n"
	    "Content-Type: application/json\r\n"
	    "Content-Length: %zu\r\n"
	    "%sConnection: close\r\n\r\n",
	    status, status_text(status), body.n, extra);
	buf_put_str(&p->http->response, buf_str(&body));
	buf_free(&body);
	peer_respond(p, why);
}

/* ---- the client's address ---- */

static struct str
peer_address_key(const struct ws_peer *p)
{
	return (struct str){ (const char *)p->address.key, p->address.nkey };
}

static void
peer_uncount(struct ws_peer *p)
{
	if (p->counted)
		tally_decrement(p->w->by_address, peer_address_key(p));
	p->counted = false;
}

/* Count p for its client; false: it was rejected. */
static bool
peer_count(struct ws_peer *p)
{
	struct ws *w = p->w;
	struct str key = peer_address_key(p);

	if (w->o.per_address == 0)
		return true;
	if (tally_count(w->by_address, key) >= w->o.per_address) {
		ws_reject(p, 429, "too many connections of this address");
		return false;
	}
	tally_increment(w->by_address, key);
	p->counted = true;
	return true;
}

static bool
peer_is_proxy(const struct ws_peer *p)
{
	return proxy_nets_contain(&p->w->proxies, p->address.addr);
}

/* Behind a proxy the client is known with the request only. */
static bool
peer_find_client(struct ws_peer *p, const struct http_head *h)
{
	struct client_addr direct = p->address;

	if (!peer_is_proxy(p))
		return true;
	if (client_addr_find(&p->address, str_of(direct.text), &p->w->proxies,
		h->field, h->n) != RC_OK)
		p->address = direct;
	return peer_count(p);
}

/* ---- files ---- */

static const struct ws_file *
peer_find_file(const struct ws_peer *p, const struct http_head *h)
{
	const struct ws_opts *o = &p->w->o;
	struct str target = h->target, path = str_split(&target, '?');
	size_t i;

	if (o->nfiles == 0 || !handshake_is_plain(h))
		return NULL;
	for (i = 0; i < o->nfiles; i++)
		if (str_eq(path, str_of(o->files[i].path)))
			return &o->files[i];
	return NULL;
}

static void
peer_send_file(
    struct ws_peer *p, const struct ws_file *file, const struct http_head *h)
{
	const struct ws_handler *handler = &p->w->o.handler;
	struct str *body = &p->http->body;

	if (!peer_find_client(p, h) ||
	    (handler->on_file != NULL && !handler->on_file(handler->arg, p, h)))
		return;
	*body = (struct str){ file->data, (size_t)(file->end - file->data) };
	buf_printf(&p->http->response,
	    "HTTP/1.1 200 OK\r\n"
	    "Content-Type: %s\r\n"
	    "Content-Length: %zu\r\n" FILE_FIELDS "Connection: close\r\n\r\n",
	    file->type, body->n);
	if (str_eq(h->method, STR("HEAD")))
		body->n = 0;
	peer_respond(p, "");
}

static void
peer_read_head(struct ws_peer *p)
{
	struct ws_http *http = p->http;
	struct http_head h;
	const struct ws_file *file;
	const char *why = "the request is invalid";
	size_t used = 0;
	enum rc rc = http_head_read(buf_str(&http->head), &h, &used, &why);

	if (rc == RC_RETRY)
		return;
	if (rc != RC_OK) {
		ws_reject(p, rc == RC_TOOBIG ? 431 : 400,
		    rc == RC_TOOBIG ? "the request is too long" : why);
		return;
	}
	file = peer_find_file(p, &h);
	if (file != NULL) {
		peer_send_file(p, file, &h);
		return;
	}
	handshake_check(&h, &http->handshake);
	if (http->handshake.status != 101) {
		ws_reject(p, http->handshake.status, http->handshake.why);
		return;
	}
	if (!peer_find_client(p, &h))
		return;
	/* Nothing is read until it is open. */
	loop_fd_watch(p->w->o.loop, &p->watch, 0);
	loop_timer_cancel(p->w->o.loop, &p->timer);
	p->phase = WS_PENDING;
	p->requested = true;
	http->head_used = used;
	p->w->o.handler.on_request(p->w->o.handler.arg, p, &h);
}

/* ---- messages ---- */

static bool
peer_on_message(void *arg, struct str data, bool binary)
{
	struct ws_peer *p = arg;

	if (p->phase == WS_OPEN)
		p->w->o.handler.on_message(
		    p->w->o.handler.arg, p, data, binary);
	return !p->dead;
}

static bool
peer_on_ping(void *arg, struct str data)
{
	struct ws_peer *p = arg;
	struct frame *f;

	if (p->phase != WS_OPEN)
		return true;
	f = frame_new(FRAME_PONG, data);
	/* Only the last ping of several needs a pong. */
	if (peer_queue(p, f) == RC_OK)
		ws_flush_later(p);
	frame_unref(f);
	return true;
}

static bool
peer_on_pong(void *arg, struct str data)
{
	(void)arg;
	(void)data;
	return true;
}

static void
peer_on_close(void *arg, unsigned code, struct str reason)
{
	struct ws_peer *p = arg;
	struct frame *f;

	p->close_received = true;
	if (p->phase != WS_OPEN)
		return;
	peer_set_end(p, code, true, reason);
	f = frame_new_close(code, STR(""));
	if (peer_queue(p, f) != RC_OK)
		peer_drop(p, true, "its queue is full");
	else
		peer_set_closing(p);
	frame_unref(f);
}

static void
peer_feed(struct ws_peer *p, const char *data, size_t n)
{
	const struct ws_handler *handler = &p->w->o.handler;
	const char *why = NULL;
	enum ws_close code = frame_reader_feed(p->reader, data, n, &why);

	if (handler->on_read != NULL)
		handler->on_read(handler->arg, p);
	if (code != WS_CLOSE_NONE)
		ws_close(p, code, str_of(why));
}

void
ws_accept(struct ws_peer *p, struct str protocol)
{
	const struct ws_opts *o = &p->w->o;
	const struct frame_reader_handler h = { peer_on_message, peer_on_ping,
		peer_on_pong, peer_on_close, p };
	struct ws_http *http = p->http;

	if (p->dead || p->phase != WS_PENDING)
		return;
	handshake_write(&http->handshake, protocol, &http->response);
	buf_drop(&http->head, http->head_used);
	http->head_used = 0;
	p->reader = frame_reader_new(p->w->pool, &h, o->message_max);
	p->phase = WS_OPEN;
	p->received = p->taken = clock_mono();
	peer_watch(p, false);
	peer_set_timer(p, mono_add_ms(p->received, o->ping_ms));
	ws_flush_later(p);
}

/* ---- reading and writing ---- */

static void
peer_on_bytes(struct ws_peer *p, const char *data, size_t n)
{
	p->received = clock_mono();
	if (p->phase == WS_HEAD) {
		buf_put(&p->http->head, data, n);
		peer_read_head(p);
	} else if (p->reader != NULL) {
		peer_feed(p, data, n);
	}
}

static void
peer_read(struct ws_peer *p)
{
	ssize_t n = recv(p->watch.fd, p->w->bytes, sizeof(p->w->bytes), 0);

	if (n > 0)
		peer_on_bytes(p, p->w->bytes, (size_t)n);
	else if (n == 0)
		peer_drop(p, true, "it was disconnected");
	else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
		peer_drop(p, true, strerror(errno));
	/* Both sides have closed, and all is sent. */
	if (!p->dead && p->phase == WS_LINGER && p->close_received)
		peer_drop(p, p->end->by_peer, "");
}

static void
peer_on_fd(void *arg, unsigned events)
{
	struct ws_peer *p = arg;

	if ((events & LOOP_READ) != 0)
		peer_read(p);
	if ((events & LOOP_WRITE) != 0 && !p->dead)
		ws_flush_later(p);
}

/* The buffers to be written, HTTP first. */
static size_t
peer_iov(const struct ws_peer *p, struct iovec iov[2 + SEND_QUEUE_IOV])
{
	const struct ws_http *http = p->http;
	size_t n = 0;

	if (http != NULL && http->response.n > 0)
		iov[n++] = (struct iovec){ http->response.p, http->response.n };
	if (http != NULL && http->body.n > 0)
		iov[n++] = (struct iovec){ (char *)(uintptr_t)http->body.p,
			http->body.n };
	return n + send_queue_iov(&p->queue, iov + n, WS_WRITE_MAX);
}

static void
peer_free_http(struct ws_peer *p)
{
	if (p->http == NULL)
		return;
	buf_free(&p->http->head);
	buf_free(&p->http->response);
	free(p->http);
	p->http = NULL;
}

/* Returns how many of n bytes that were sent are of HTTP. */
static size_t
peer_http_sent(struct ws_peer *p, size_t n)
{
	struct ws_http *http = p->http;
	size_t head = n < http->response.n ? n : http->response.n;
	size_t body = n - head < http->body.n ? n - head : http->body.n;

	buf_drop(&http->response, head);
	http->body = (struct str){ http->body.p + body, http->body.n - body };
	if (p->phase == WS_OPEN && http->response.n == 0 && http->head.n == 0)
		peer_free_http(p);
	return head + body;
}

static void
peer_sent(struct ws_peer *p, size_t n)
{
	p->taken = clock_mono();
	if (p->http != NULL)
		n -= peer_http_sent(p, n);
	if (n > 0) {
		send_queue_sent(&p->queue, n);
		p->w->pending -= n;
	}
}

static void
peer_all_sent(struct ws_peer *p)
{
	peer_watch(p, false);
	if (p->phase == WS_OPEN && p->wants_room) {
		p->wants_room = false;
		p->w->o.handler.on_room(p->w->o.handler.arg, p);
	}
	if (p->phase != WS_CLOSING)
		return;
	p->phase = WS_LINGER;
	if (p->close_received) {
		peer_drop(p, p->end->by_peer, "");
		return;
	}
	(void)shutdown(p->watch.fd, SHUT_WR);
}

/* Bytes that came with the request. */
static void
peer_feed_early(struct ws_peer *p)
{
	struct buf early = p->http->head;

	buf_init(&p->http->head, 0);
	peer_feed(p, early.p, early.n);
	buf_free(&early);
}

/* Write as much as the socket takes, within the limit of an iteration.  Returns
 * whether all was written. */
static bool
peer_write(struct ws_peer *p)
{
	struct iovec iov[2 + SEND_QUEUE_IOV];
	struct msghdr m = { .msg_iov = iov };
	size_t written = 0;
	ssize_t n;

	while (written < WS_WRITE_MAX) {
		m.msg_iovlen = peer_iov(p, iov);
		if (m.msg_iovlen == 0)
			return true;
		n = sendmsg(p->watch.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n == -1 && errno != EAGAIN && errno != EWOULDBLOCK &&
		    errno != EINTR)
			peer_drop(p, true, strerror(errno));
		if (n == -1)
			return false;
		peer_sent(p, (size_t)n);
		written += (size_t)n;
	}
	return false;
}

/* The socket takes no more for now, and the timer may be set for much later. */
static void
peer_set_stall_timer(struct ws_peer *p)
{
	struct mono stalled = mono_add_ms(p->taken, p->w->o.stall_ms);

	if (p->phase == WS_OPEN && stalled.ns < p->timer.at.ns)
		peer_set_timer(p, stalled);
}

void
ws_peer_flush(struct ws_peer *p)
{
	if (p->phase == WS_OPEN && p->http != NULL && p->http->head.n > 0)
		peer_feed_early(p);
	if (p->dead || p->phase == WS_LINGER || p->phase == WS_PENDING)
		return;
	if (peer_write(p)) {
		peer_all_sent(p);
	} else if (!p->dead) {
		peer_watch(p, true);
		peer_set_stall_timer(p);
	}
}

/* ---- the interface ---- */

struct ws_peer *
ws_peer_new(struct ws *w, int fd, const struct client_addr *address)
{
	struct ws_peer *p = mem_zalloc(sizeof(*p));

	p->w = w;
	p->phase = WS_HEAD;
	p->address = *address;
	/* The head's limit is http_head_read()'s; frames may follow it. */
	p->http = mem_zalloc(sizeof(*p->http));
	buf_init(&p->http->head, HTTP_HEAD_MAX + WS_READ_MAX);
	buf_init(&p->http->response, HTTP_HEAD_MAX);
	send_queue_init(&p->queue, w->o.queue_bytes, w->o.queue_frames);
	p->watch = (struct loop_fd){ .fd = fd, .fn = peer_on_fd, .arg = p };
	TAILQ_INSERT_TAIL(&w->peers, p, link);
	p->received = p->taken = clock_mono();
	if (w->n++ >= w->o.connections_max) {
		ws_reject(p, 503, "too many connections");
		return p;
	}
	if (!peer_is_proxy(p) && !peer_count(p))
		return p;
	loop_fd_watch(w->o.loop, &p->watch, LOOP_READ);
	peer_set_timer(p, mono_add_ms(p->received, w->o.handshake_ms));
	return p;
}

void
ws_peer_free(struct ws_peer *p)
{
	struct ws *w = p->w;

	if (p->requested) {
		peer_set_end(p, CODE_ABNORMAL, false, STR("the server stops"));
		w->o.handler.on_end(w->o.handler.arg, p, p->end);
	}
	if (p->is_dirty)
		LIST_REMOVE(p, dirty);
	TAILQ_REMOVE(&w->peers, p, link);
	w->n--;
	w->pending -= p->queue.bytes;
	peer_uncount(p);
	loop_timer_cancel(w->o.loop, &p->timer);
	loop_fd_watch(w->o.loop, &p->watch, 0);
	close(p->watch.fd);
	frame_reader_free(p->reader);
	send_queue_clear(&p->queue);
	peer_free_http(p);
	free(p->end);
	free(p);
}

void
ws_peer_set(struct ws_peer *p, void *arg)
{
	p->arg = arg;
}

void *
ws_peer_arg(const struct ws_peer *p)
{
	return p->arg;
}

const char *
ws_peer_address(const struct ws_peer *p)
{
	return p->address.text;
}

bool
ws_peer_head(const struct ws_peer *p, struct http_head *h)
{
	const char *why;
	size_t used;

	return !p->dead && p->phase == WS_PENDING &&
	    http_head_read(buf_str(&p->http->head), h, &used, &why) == RC_OK;
}

enum rc
ws_send(struct ws_peer *p, struct frame *f)
{
	enum rc rc;

	if (p->dead || p->phase != WS_OPEN)
		return RC_DOWN;
	if (p->queue.n == 0)
		p->taken = clock_mono();
	rc = peer_queue(p, f);
	if (rc == RC_RETRY)
		p->wants_room = true;
	else
		ws_flush_later(p);
	return rc;
}

const struct ws_end *
ws_peer_end(const struct ws_peer *p)
{
	return p->end;
}

void
ws_set_message_max(struct ws_peer *p, size_t n)
{
	if (p->reader != NULL)
		frame_reader_set_max(p->reader,
		    n < p->w->o.message_max ? n : p->w->o.message_max);
}

void
ws_pause(struct ws_peer *p, struct mono until)
{
	if (p->dead || p->phase != WS_OPEN || until.ns <= p->paused.ns)
		return;
	p->paused = until;
	/* Its silence counts from then. */
	p->received = until;
	peer_watch(p, (p->watch.events & LOOP_WRITE) != 0);
	peer_set_timer(p, mono_earlier(p->timer.at, until));
}

size_t
ws_pending(const struct ws_peer *p)
{
	return p->queue.bytes;
}
