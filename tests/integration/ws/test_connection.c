/*
 * WebSocket connections over real sockets: an echo server on a loop of its own
 * thread, and a plain client.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/loop.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/ws_frames.h"
#include "ws/ws.h"

#define REPLY_MS  5000
#define LONG_MS   60000
#define QUEUE_MAX (256UL * 1024)
/* Of a client that sends "pause". */
#define PAUSE_MS 1000

static const char upgrade[] = "GET /x HTTP/1.1\r\nHost: h\r\n"
			      "Upgrade: websocket\r\nConnection: Upgrade\r\n"
			      "Sec-WebSocket-Version: 13\r\n"
			      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
			      "\r\n";

/* ---- the server ---- */

struct echo {
	struct loop *loop;
	struct ws *ws;
	pthread_t thread;
	atomic_int ended, full;
	size_t messages;     /* of this read */
	bool reports;        /* their number, after each read */
	atomic_uint code;    /* of the last end */
	atomic_int rejected; /* the last status */
};

static void
echo_on_request(void *arg, struct ws_peer *p, const struct http_head *h)
{
	(void)arg;
	if (str_eq(h->target, STR("/denied")))
		ws_reject(p, 403, "it is \"denied\"");
	else
		ws_accept(p, (struct str){ NULL, 0 });
}

static void
echo_on_message(void *arg, struct ws_peer *p, struct str data, bool binary)
{
	struct frame *f = frame_new(binary ? FRAME_BINARY : FRAME_TEXT, data);
	struct echo *e = arg;
	int n = str_starts(data, STR("many")) ? 1000 : 1;

	e->messages++;
	if (str_eq(data, STR("reports")))
		e->reports = true;
	if (str_eq(data, STR("pause")))
		ws_pause(p, mono_add_ms(clock_mono(), PAUSE_MS));
	while (n-- > 0)
		if (ws_send(p, f) == RC_RETRY)
			atomic_fetch_add(&e->full, 1);
	frame_unref(f);
}

static void
echo_on_read(void *arg, struct ws_peer *p)
{
	struct echo *e = arg;
	char text[32];
	struct frame *f;

	(void)snprintf(text, sizeof(text), "read=%zu", e->messages);
	f = frame_new(FRAME_TEXT, str_of(text));
	if (e->reports && e->messages > 0)
		ck_assert_int_eq(ws_send(p, f), RC_OK);
	frame_unref(f);
	e->messages = 0;
}

static void
echo_on_room(void *arg, struct ws_peer *p)
{
	(void)arg;
	(void)p;
}

static void
echo_on_end(void *arg, struct ws_peer *p, const struct ws_end *end)
{
	struct echo *e = arg;

	(void)p;
	atomic_store(&e->code, end->code);
	atomic_fetch_add(&e->ended, 1);
}

static void
echo_on_reject(void *arg, int status)
{
	atomic_store(&((struct echo *)arg)->rejected, status);
}

static const char page[] = "<p>page";
/* More than a socket takes at once. */
static const char large[8UL * 1024 * 1024] = "large";
static const struct ws_file files[] = {
	{ "/page", "text/html; charset=utf-8", page, page + sizeof(page) - 1 },
	{ "/large", "text/plain", large, large + sizeof(large) },
};

static bool
echo_on_file(void *arg, struct ws_peer *p, const struct http_head *h)
{
	(void)arg;
	if (header_find(h->field, h->n, STR("Origin")).p == NULL)
		return true;
	ws_reject(p, 403, "it is foreign");
	return false;
}

static void *
echo_main(void *arg)
{
	loop_run(((struct echo *)arg)->loop);
	return NULL;
}

/* With these options; times that are 0 are too long to matter. */
static void
echo_start(struct echo *e, struct ws_opts o)
{
	memset(e, 0, sizeof(*e));
	o.addr = "127.0.0.1:0";
	o.handler = (struct ws_handler){ echo_on_request, echo_on_message,
		echo_on_read, echo_on_room, echo_on_end, echo_on_reject,
		echo_on_file, e };
	o.files = files;
	o.nfiles = NELEM(files);
	o.message_max = WS_FRAMES_MESSAGE_MAX;
	o.queue_bytes = QUEUE_MAX;
	o.queue_frames = 1024;
	o.connections_max = o.connections_max > 0 ? o.connections_max : 8;
	o.handshake_ms = o.handshake_ms > 0 ? o.handshake_ms : LONG_MS;
	o.ping_ms = o.ping_ms > 0 ? o.ping_ms : LONG_MS;
	o.timeout_ms = o.timeout_ms > 0 ? o.timeout_ms : LONG_MS;
	o.stall_ms = o.stall_ms > 0 ? o.stall_ms : LONG_MS;
	e->loop = o.loop = loop_new(16);
	ck_assert_int_eq(ws_new(&o, &e->ws), RC_OK);
	ck_assert_int_eq(pthread_create(&e->thread, NULL, echo_main, e), 0);
}

static void
echo_on_stop(void *arg)
{
	struct echo *e = arg;

	ws_free(e->ws);
	loop_stop(e->loop);
}

static void
echo_stop(struct echo *e)
{
	ck_assert_int_eq(loop_post(e->loop, echo_on_stop, e), RC_OK);
	pthread_join(e->thread, NULL);
	loop_free(e->loop);
}

static void
echo_on_close_all(void *arg)
{
	struct echo *e = arg;

	(void)ws_close_some(e->ws, SIZE_MAX, WS_CLOSE_TRY_LATER, STR("later"));
}

static bool
echo_has_ended(void *arg)
{
	return atomic_load(&((struct echo *)arg)->ended) > 0;
}

/* ---- the client ---- */

static int
client_connect(const struct echo *e)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)ws_port(e->ws)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval tv = { REPLY_MS / 1000, 0 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ne(fd, -1);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	ck_assert_int_eq(
	    connect(fd, (struct sockaddr *)(void *)&to, sizeof(to)), 0);
	return fd;
}

static void
client_send(int fd, struct str s)
{
	ck_assert_int_eq(send(fd, s.p, s.n, MSG_NOSIGNAL), (ssize_t)s.n);
}

/* Until its end; a reset fails the test. */
static void
client_read_all(int fd, struct buf *b)
{
	char bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		buf_put(b, bytes, (size_t)n);
	ck_assert_msg(n == 0, "%s", strerror(errno));
}

/* Until text has come. */
static void
client_read_until(int fd, struct buf *b, const char *text)
{
	char bytes[512];
	ssize_t n;

	while (b->n == 0 || memmem(b->p, b->n, text, strlen(text)) == NULL) {
		n = recv(fd, bytes, sizeof(bytes), 0);
		ck_assert_int_gt(n, 0);
		buf_put(b, bytes, (size_t)n);
	}
}

/* Remove and check the response to a valid handshake. */
static void
client_drop_response(struct buf *b)
{
	const char *end = memmem(b->p, b->n, "\r\n\r\n", 4);

	ck_assert_ptr_nonnull(end);
	ck_assert_int_eq(strncmp(b->p, "HTTP/1.1 101 ", 13), 0);
	ck_assert_ptr_nonnull(
	    strstr(b->p, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
	buf_drop(b, (size_t)(end + 4 - b->p));
}

/* The server's frames, as ws_frames_row has them; a close is an error's. */
static void
client_describe(struct buf *in, struct buf *out)
{
	while (in->n >= 2) {
		const unsigned char *p = (const unsigned char *)in->p;
		size_t head = 2, n = p[1];

		ck_assert_uint_lt(n, 127);
		if (n == 126) {
			n = (size_t)p[2] << 8 | p[3];
			head = 4;
		}
		ck_assert_uint_le(head + n, in->n);
		struct str data = { in->p + head, n };
		if (p[0] == 0x81)
			ws_frames_put_seen(out, "text=", data);
		else if (p[0] == 0x82)
			ws_frames_put_seen(out, "binary=", data);
		else if (p[0] == 0x8a)
			ws_frames_put_seen(out, "ping=", data);
		else if (p[0] == 0x88 && n >= 2)
			buf_printf(out, "error=%u ",
			    (unsigned)p[head] << 8 | p[head + 1]);
		else
			ck_assert_uint_eq(p[0], 0x88);
		buf_drop(in, head + n);
	}
	ck_assert_uint_eq(in->n, 0);
}

/* What a client sees of an expected row: pongs get no reply, and a close frame
 * that is replied to has the same code, if there was one. */
static void
expect_of(const char *row, struct buf *out)
{
	const char *end;

	for (; *row != '\0'; row = end) {
		/* A payload has no blank. */
		end = strchr(row, ' ') + 1;
		while (*end != '\0' && strncmp(end, "bytes ", 6) == 0)
			end += 6;
		if (strncmp(row, "pong=", 5) == 0 ||
		    strncmp(row, "close=1005", 10) == 0)
			continue;
		if (strncmp(row, "close=", 6) == 0)
			buf_printf(out, "error=%.4s ", row + 6);
		else
			buf_put(out, row, (size_t)(end - row));
	}
}

/* ---- tests ---- */

static void
row_check(const struct echo *e, const struct ws_frames_row *row)
{
	struct buf in = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20),
		   seen = BUF_INIT(1 << 20), expected = BUF_INIT(1 << 20);
	bool closes = strstr(row->expected, "close=") != NULL ||
	    strstr(row->expected, "error=") != NULL;
	int fd = client_connect(e);

	buf_puts(&out, upgrade);
	ws_frames_put(&out, row->frames);
	if (!closes && row->expected[0] != '\0')
		ws_frames_put(&out, "88 \\0f\\a0");
	client_send(fd, buf_str(&out));
	/* A frame that is not whole: the connection ends. */
	if (row->expected[0] == '\0')
		ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	client_read_all(fd, &in);
	client_drop_response(&in);
	client_describe(&in, &seen);
	expect_of(row->expected, &expected);
	if (!closes && row->expected[0] != '\0')
		buf_puts(&expected, "error=4000 ");
	ck_assert_msg(str_eq(buf_str(&seen), buf_str(&expected)),
	    "%s: %s, expected %s", row->frames, seen.n > 0 ? seen.p : "",
	    expected.n > 0 ? expected.p : "");
	close(fd);
	buf_free(&in);
	buf_free(&out);
	buf_free(&seen);
	buf_free(&expected);
}

TEST_T(frames_over_a_socket, 60)
{
	struct echo e;
	size_t i;

	echo_start(&e, (struct ws_opts){ .connections_max = 8 });
	for (i = 0; i < ws_frames_n; i++)
		row_check(&e, &ws_frames_rows[i]);
	echo_stop(&e);
}

static void
http_check(struct echo *e, const char *request, const char *expected)
{
	int status = (int)strtol(expected + strlen("HTTP/1.1 "), NULL, 10);
	struct buf in = BUF_INIT(1 << 20);
	int fd = client_connect(e);

	client_send(fd, str_of(request));
	client_read_all(fd, &in);
	ck_assert_msg(
	    in.n > 0 && strncmp(in.p, expected, strlen(expected)) == 0,
	    "%.20s: %s", request, in.n > 0 ? in.p : "nothing");
	ck_assert_int_eq(
	    atomic_exchange(&e->rejected, 0), status >= 400 ? status : 0);
	close(fd);
	buf_free(&in);
}

TEST_T(other_requests_get_an_http_error, 30)
{
	struct echo e;

	echo_start(&e, (struct ws_opts){ .connections_max = 8 });
	http_check(&e, "GET / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 426 ");
	http_check(&e, "POST / HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 405 ");
	http_check(&e, "GET /\r\n\r\n", "HTTP/1.1 400 ");
	http_check(&e,
	    "GET /denied HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n"
	    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
	    "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
	    "Content-Length: 28\r\nConnection: close\r\n\r\n"
	    "{\"error\":\"it is \\\"denied\\\"\"}");
	echo_stop(&e);
	echo_start(&e, (struct ws_opts){ .handshake_ms = 200 });
	http_check(&e, "GET / HTTP/1.1\r\n", "HTTP/1.1 408 ");
	echo_stop(&e);
}

#define PAGE_HEAD                                    \
	"HTTP/1.1 200 OK\r\n"                        \
	"Content-Type: text/html; charset=utf-8\r\n" \
	"Content-Length: 7\r\n"
#define HOST " HTTP/1.1\r\nHost: h\r\n"

static void
http_check_end(struct echo *e, const char *request, const char *end)
{
	struct buf in = BUF_INIT(1 << 20);
	int fd = client_connect(e);

	client_send(fd, str_of(request));
	client_read_all(fd, &in);
	ck_assert_msg(str_ends(buf_str(&in), str_of(end)), "%.20s: %s", request,
	    in.n > 0 ? in.p : "nothing");
	ck_assert_ptr_nonnull(strstr(in.p, "\r\nConnection: close\r\n"));
	ck_assert_ptr_nonnull(strstr(in.p, "default-src 'none'; "));
	close(fd);
	buf_free(&in);
}

TEST_T(a_plain_get_gets_a_file, 30)
{
	struct echo e;

	echo_start(&e, (struct ws_opts){ .connections_max = 8 });
	http_check(&e, "GET /page" HOST "\r\n", PAGE_HEAD);
	http_check(&e, "HEAD /page" HOST "\r\n", PAGE_HEAD);
	http_check_end(&e, "GET /page?x=1" HOST "\r\n", "\r\n\r\n<p>page");
	http_check_end(&e, "HEAD /page" HOST "\r\n", "\r\n\r\n");
	http_check(&e, "GET /page2" HOST "\r\n", "HTTP/1.1 426 ");
	http_check(&e, "HEAD /page2" HOST "\r\n", "HTTP/1.1 405 ");
	http_check(&e, "POST /page" HOST "\r\n", "HTTP/1.1 405 ");
	http_check(&e, "GET /page" HOST "Host: h\r\n\r\n", "HTTP/1.1 400 ");
	http_check(
	    &e, "GET /page" HOST "Content-Length: 1\r\n\r\n1", "HTTP/1.1 400 ");
	http_check(&e, "GET /page" HOST "Origin: x\r\n\r\n", "HTTP/1.1 403 ");
	http_check(
	    &e, "GET /page" HOST "Upgrade: websocket\r\n\r\n", "HTTP/1.1 426 ");
	echo_stop(&e);
}

TEST_T(a_large_file_is_sent_whole, 30)
{
	struct buf in = BUF_INIT(sizeof(large) + 4096);
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ .connections_max = 8 });
	fd = client_connect(&e);
	client_send(fd, STR("GET /large" HOST "\r\n"));
	client_read_all(fd, &in);
	ck_assert_uint_gt(in.n, sizeof(large));
	ck_assert_int_eq(
	    memcmp(in.p + in.n - sizeof(large), large, sizeof(large)), 0);
	close(fd);
	buf_free(&in);
	echo_stop(&e);
}

TEST_T(too_many_connections_get_503, 30)
{
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ .connections_max = 1 });
	fd = client_connect(&e);
	client_send(fd, str_of(upgrade));
	http_check(&e, upgrade, "HTTP/1.1 503 ");
	close(fd);
	echo_stop(&e);
}

TEST_T(a_silent_client_is_pinged_and_closed, 30)
{
	struct buf in = BUF_INIT(1 << 20);
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ .ping_ms = 100, .timeout_ms = 900 });
	fd = client_connect(&e);
	client_send(fd, str_of(upgrade));
	client_read_all(fd, &in);
	client_drop_response(&in);
	/* Pings, then 1001. */
	ck_assert_uint_ge(in.n, 2 + 4);
	ck_assert_int_eq(memcmp(in.p, "\x89\x00", 2), 0);
	ck_assert_ptr_nonnull(memmem(in.p, in.n, "\x03\xe9", 2));
	close(fd);
	ck_assert(tk_until(echo_has_ended, &e, REPLY_MS));
	ck_assert_uint_eq(atomic_load(&e.code), WS_CLOSE_GOING_AWAY);
	buf_free(&in);
	echo_stop(&e);
}

/* Frames with a mask of zeroes. */
#define PAUSE_FRAME "\x81\x85\0\0\0\0pause"
#define CLOSE_FRAME "\x88\x82\0\0\0\0\x03\xe8"

TEST_T(a_paused_client_is_read_later_and_not_timed_out, 30)
{
	struct buf in = BUF_INIT(65536);
	struct mono start;
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ .timeout_ms = PAUSE_MS / 2 });
	fd = client_connect(&e);
	client_send(fd, str_of(upgrade));
	start = clock_mono();
	client_send(fd, (struct str){ PAUSE_FRAME, sizeof(PAUSE_FRAME) - 1 });
	/* Not with it, since what was read already is handled at once. */
	client_read_until(fd, &in, "pause");
	client_send(fd, (struct str){ CLOSE_FRAME, sizeof(CLOSE_FRAME) - 1 });
	client_read_all(fd, &in);
	ck_assert_int_ge(mono_diff_ms(clock_mono(), start), PAUSE_MS);
	close(fd);
	ck_assert(tk_until(echo_has_ended, &e, REPLY_MS));
	ck_assert_uint_eq(atomic_load(&e.code), WS_CLOSE_NORMAL);
	buf_free(&in);
	echo_stop(&e);
}

TEST_T(a_paused_client_may_be_closed, 30)
{
	struct buf in = BUF_INIT(65536);
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ 0 });
	fd = client_connect(&e);
	client_send(fd, str_of(upgrade));
	client_send(fd, (struct str){ PAUSE_FRAME, sizeof(PAUSE_FRAME) - 1 });
	client_read_until(fd, &in, "pause");
	ck_assert_int_eq(loop_post(e.loop, echo_on_close_all, &e), RC_OK);
	/* Its close frame is the reply that ends the connection. */
	client_send(fd, (struct str){ CLOSE_FRAME, sizeof(CLOSE_FRAME) - 1 });
	client_read_all(fd, &in);
	ck_assert_ptr_nonnull(memmem(in.p, in.n, "\x03\xf5", 2));
	close(fd);
	ck_assert(tk_until(echo_has_ended, &e, REPLY_MS));
	ck_assert_uint_eq(atomic_load(&e.code), WS_CLOSE_TRY_LATER);
	buf_free(&in);
	echo_stop(&e);
}

/* Text that is returned a thousand times, of 127 bytes. */
#define MANY                                                                  \
	"81 many------------------------------------------------------------" \
	"---------------------------------------------------------------"

TEST_T(a_client_that_does_not_read_is_closed, 30)
{
	struct buf out = BUF_INIT(1 << 20);
	struct mono end = mono_add_ms(clock_mono(), 4 * REPLY_MS);
	int fd, size = 4096;
	struct pollfd w = { .events = POLLOUT };
	struct echo e;

	echo_start(&e, (struct ws_opts){ .stall_ms = 300 });
	w.fd = fd = client_connect(&e);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	client_send(fd, str_of(upgrade));
	ws_frames_put(&out, MANY);
	/* All the time, so that it is never silent. */
	while (!echo_has_ended(&e) && clock_mono().ns < end.ns)
		if (poll(&w, 1, 10) == 1 && (w.revents & POLLOUT) != 0)
			(void)send(
			    fd, out.p, out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	ck_assert(echo_has_ended(&e));
	ck_assert_uint_eq(atomic_load(&e.code), WS_CLOSE_TRY_LATER);
	ck_assert_int_gt(atomic_load(&e.full), 0);
	close(fd);
	buf_free(&out);
	echo_stop(&e);
}

/* A client behind a proxy that says it is this one; NULL: no proxy. */
static int
client_open_for(const struct echo *e, const char *address)
{
	struct buf out = BUF_INIT(4096);
	int fd = client_connect(e);
	char c;

	buf_put(&out, upgrade, sizeof(upgrade) - 1 - 2);
	if (address != NULL)
		buf_printf(&out, "X-Forwarded-For: %s\r\n", address);
	buf_puts(&out, "\r\n");
	client_send(fd, buf_str(&out));
	/* "HTTP/1.1 1" or another status. */
	while (out.n > 0) {
		ck_assert_int_eq(recv(fd, &c, 1, 0), 1);
		buf_reset(&out);
		if (c == ' ') {
			ck_assert_int_eq(recv(fd, &c, 1, 0), 1);
			break;
		}
		buf_putc(&out, c);
	}
	buf_free(&out);
	if (c == '1')
		return fd;
	close(fd);
	return -1;
}

static bool
echo_has_room(void *arg)
{
	int fd = client_open_for(arg, NULL);

	if (fd != -1)
		close(fd);
	return fd != -1;
}

TEST_T(connections_of_an_address_are_limited, 30)
{
	struct echo e;
	int a, b;

	echo_start(&e, (struct ws_opts){ .per_address = 2 });
	a = client_open_for(&e, NULL);
	b = client_open_for(&e, NULL);
	ck_assert(a != -1 && b != -1);
	http_check(&e, upgrade, "HTTP/1.1 429 ");
	close(a);
	ck_assert(tk_until(echo_has_room, &e, REPLY_MS));
	close(b);
	echo_stop(&e);
}

TEST_T(a_proxy_tells_whose_connections_are_limited, 30)
{
	struct proxy_nets nets;
	struct echo e;
	int a, b;

	ck_assert_int_eq(proxy_nets_parse(STR("127.0.0.1"), &nets), RC_OK);
	echo_start(&e, (struct ws_opts){ .per_address = 1, .proxies = &nets });
	a = client_open_for(&e, "192.0.2.1");
	b = client_open_for(&e, "192.0.2.2");
	ck_assert(a != -1 && b != -1);
	ck_assert_int_eq(client_open_for(&e, "192.0.2.1"), -1);
	close(a);
	close(b);
	echo_stop(&e);
}

/* Also of those that come with the request. */
TEST_T(the_end_of_a_read_is_reported_after_its_messages, 30)
{
	struct buf out = BUF_INIT(4096), in = BUF_INIT(4096),
		   seen = BUF_INIT(4096);
	struct echo e;
	int fd;

	echo_start(&e, (struct ws_opts){ 0 });
	fd = client_connect(&e);
	buf_puts(&out, upgrade);
	ws_frames_put(&out, "81 a | 81 reports | 81 b");
	client_send(fd, buf_str(&out));
	client_read_until(fd, &in, "read=3");
	client_drop_response(&in);
	buf_reset(&out);
	ws_frames_put(&out, "81 c | 89 ping | 81 d");
	client_send(fd, buf_str(&out));
	client_read_until(fd, &in, "read=2");
	client_describe(&in, &seen);
	ck_assert_str_eq(seen.p,
	    "text=a text=reports text=b text=read=3 "
	    "text=c ping=ping text=d text=read=2 ");
	close(fd);
	echo_stop(&e);
	buf_free(&out);
	buf_free(&in);
	buf_free(&seen);
}
