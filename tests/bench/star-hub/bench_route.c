/*
 * Processor time of a routed message: 100 pairs of an agent and its
 * environment, 16 messages in flight each; beside a bare relay on libs/ws that
 * sends each frame to the other one of its pair, with the same load generator
 * in the same run.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "core/loop.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/star_fixture.h"
#include "ws/ws.h"

#define PAIRS     100
#define ENDS      (2 * PAIRS)
#define IN_FLIGHT 16
#define MESSAGES  200000
#define ROUNDS    5
#define READ_MAX  65536

/* ---- the bare relay ---- */

struct relay {
	struct ws_peer *end[ENDS];
};

static void
relay_on_request(void *arg, struct ws_peer *p, const struct http_head *h)
{
	struct relay *r = arg;
	int64_t i;

	ck_assert_int_eq(
	    str_to_i64((struct str){ h->target.p + 1, h->target.n - 1 }, 0,
		ENDS - 1, &i),
	    RC_OK);
	r->end[i] = p;
	ws_peer_set(p, &r->end[i]);
	ws_accept(p, (struct str){ NULL, 0 });
}

static void
relay_on_message(void *arg, struct ws_peer *p, struct str data, bool binary)
{
	struct relay *r = arg;
	ptrdiff_t i = (struct ws_peer **)ws_peer_arg(p) - r->end;
	struct frame *f = frame_new(FRAME_TEXT, data);

	(void)binary;
	if (r->end[i ^ 1] != NULL)
		(void)!ws_send(r->end[i ^ 1], f);
	frame_unref(f);
}

static void
relay_on_room(void *arg, struct ws_peer *p)
{
	(void)arg;
	(void)p;
}

static void
relay_on_end(void *arg, struct ws_peer *p, const struct ws_end *end)
{
	(void)arg;
	(void)end;
	*(struct ws_peer **)ws_peer_arg(p) = NULL;
}

static int
relay_main(void *port)
{
	char addr[32];
	struct relay r = { { NULL } };
	struct loop *loop = loop_new(16);
	const struct ws_opts o = { .loop = loop,
		.addr = addr,
		.handler = { relay_on_request, relay_on_message, relay_on_room,
		    relay_on_end, &r },
		.connections_max = 1000,
		.message_max = 1 << 20,
		.queue_bytes = 262144,
		.queue_frames = 1024,
		.handshake_ms = 60000,
		.ping_ms = 600000,
		.timeout_ms = 1200000,
		.stall_ms = 600000 };
	struct ws *w;

	(void)snprintf(addr, sizeof(addr), "127.0.0.1:%d", *(int *)port);
	if (ws_new(&o, &w) != RC_OK)
		return 1;
	loop_run(loop);
	return 0;
}

/* ---- the load generator ---- */

struct end {
	int fd;
	struct buf frame; /* what it sends */
	struct buf in;    /* what it has read, not whole */
	size_t received;
};

struct load {
	struct end end[ENDS];
	int epfd;
	size_t received;
};

/* A masked frame of this message. */
static void
frame_put(struct buf *b, const char *text)
{
	size_t n = strlen(text), i;

	ck_assert_uint_ge(n, 126);
	buf_putc(b, (char)0x81);
	buf_putc(b, (char)(0x80 | 126));
	buf_putc(b, (char)(n >> 8));
	buf_putc(b, (char)n);
	buf_put(b, "\1\2\3\4", 4);
	for (i = 0; i < n; i++)
		buf_putc(b, (char)(text[i] ^ "\1\2\3\4"[i % 4]));
}

static void
end_send(struct end *e, size_t n)
{
	char bytes[READ_MAX];
	size_t done = 0, all = 0;
	ssize_t k;

	for (; n > 0; n--) {
		memcpy(bytes + all, e->frame.p, e->frame.n);
		all += e->frame.n;
	}
	while (done < all) {
		k = send(e->fd, bytes + done, all - done, MSG_NOSIGNAL);
		ck_assert(k > 0 || errno == EAGAIN);
		done += k > 0 ? (size_t)k : 0;
	}
}

/* Whole frames that were read. */
static size_t
end_take(struct end *e)
{
	size_t n = 0, at = 0, head, length;
	const unsigned char *p = (const unsigned char *)e->in.p;

	for (; at + 4 <= e->in.n; at += head + length, n++) {
		head = p[at + 1] < 126 ? 2 : 4;
		length =
		    head == 2 ? p[at + 1] : (size_t)p[at + 2] << 8 | p[at + 3];
		if (at + head + length > e->in.n)
			break;
		ck_assert_uint_eq(p[at], 0x81);
	}
	buf_drop(&e->in, at);
	return n;
}

static size_t
end_read(struct end *e)
{
	char bytes[READ_MAX];
	ssize_t n = recv(e->fd, bytes, sizeof(bytes), 0);

	ck_assert_int_gt(n, 0);
	buf_put(&e->in, bytes, (size_t)n);
	return end_take(e);
}

static void
load_connect(struct load *l, int port, bool hub)
{
	char path[128], text[512], from[64], to[64];
	struct epoll_event ev = { .events = EPOLLIN };
	struct tk_ws c;
	int i;

	l->epfd = epoll_create1(0);
	for (i = 0; i < ENDS; i++) {
		struct end *e = &l->end[i];
		char agent[32], env[32];

		(void)snprintf(env, sizeof(env), "world_%03d", i / 2);
		(void)snprintf(agent, sizeof(agent), "agent_%03d", i / 2);
		if (!hub)
			(void)snprintf(path, sizeof(path), "/%d", i);
		else if (i % 2 == 0)
			(void)snprintf(path, sizeof(path), "/env/%s", env);
		else
			(void)snprintf(
			    path, sizeof(path), "/env/%s/agent/%s", env, agent);
		ck_assert_int_eq(tk_ws_open(&c, port, path, NULL), 101);
		if (hub)
			star_next(&c);
		e->fd = c.fd;
		buf_init(&e->in, 1 << 20);
		buf_init(&e->frame, 4096);
		(void)snprintf(from, sizeof(from),
		    i % 2 ? "agent:%s" : "environment:%s", i % 2 ? agent : env);
		(void)snprintf(to, sizeof(to),
		    i % 2 ? "environment:%s" : "agent:%s", i % 2 ? env : agent);
		star_envelope(text, sizeof(text), from, to,
		    "{\"type\":\"action\",\"action\":\"move\",\"id\":"
		    "\"action_12345\",\"parameters\":{\"direction\":\"north\","
		    "\"distance\":2.5}}");
		frame_put(&e->frame, text);
		ev.data.u32 = (uint32_t)i;
		ck_assert_int_eq(
		    epoll_ctl(l->epfd, EPOLL_CTL_ADD, e->fd, &ev), 0);
	}
}

/* Each message that comes is followed by one back, until so many have come. */
static void
load_run(struct load *l)
{
	struct epoll_event ev[ENDS];
	size_t n, back, received = 0, sent = PAIRS * IN_FLIGHT;
	int i, k;

	for (i = 1; i < ENDS; i += 2)
		end_send(&l->end[i], IN_FLIGHT);
	while (received < MESSAGES) {
		k = epoll_wait(l->epfd, ev, ENDS, TK_WS_MS);
		ck_assert_int_gt(k, 0);
		for (i = 0; i < k; i++) {
			struct end *e = &l->end[ev[i].data.u32];

			n = end_read(e);
			received += n;
			back = sent + n <= MESSAGES ? n : MESSAGES - sent;
			end_send(e, back);
			sent += back;
		}
	}
	ck_assert_uint_eq(received, MESSAGES);
}

static bool
relay_is_open(void *port)
{
	return tk_port_open(*(int *)port);
}

TEST_T(bench_cpu_of_a_routed_message, 300)
{
	static struct load hub, bare;
	double us[2][ROUNDS], wall[2][ROUNDS];
	struct star_fixture f = { 0 };
	struct tk_proc relay;
	int port = tk_port(), i, k;

	tk_fork(&relay, "relay", relay_main, &port);
	star_start(&f,
	    TK_ENV("STAR_PRESENCE=off", "STAR_RATE=1000000",
		"STAR_RATE_BURST=1000000", "STAR_HEARTBEAT_MS=600000",
		"STAR_TIMEOUT_MS=1200000"));
	ck_assert(tk_until(relay_is_open, &port, TK_WS_MS));
	load_connect(&hub, f.hub.http, true);
	load_connect(&bare, port, false);
	for (i = 0; i < ROUNDS; i++)
		for (k = 0; k < 2; k++) {
			pid_t pid = k == 0 ? f.hub.proc.pid : relay.pid;
			double cpu = tk_cpu_us(pid), ns = tk_now_ns();

			load_run(k == 0 ? &hub : &bare);
			us[k][i] = (tk_cpu_us(pid) - cpu) / MESSAGES;
			wall[k][i] = (tk_now_ns() - ns) / 1e9;
		}
	printf("routed messages, %d pairs, %d in flight, %zu bytes\n"
	       "           CPU/message   messages/s\n"
	       "star-hub   %8.2f us %12.0f\n"
	       "bare relay %8.2f us %12.0f\n"
	       "ratio      %8.2f\n",
	    PAIRS, IN_FLIGHT, hub.end[1].frame.n - 8, tk_median(us[0], ROUNDS),
	    MESSAGES / tk_median(wall[0], ROUNDS), tk_median(us[1], ROUNDS),
	    MESSAGES / tk_median(wall[1], ROUNDS),
	    tk_median(us[0], ROUNDS) / tk_median(us[1], ROUNDS));
	tk_print_load();
	star_stop(&f);
}
