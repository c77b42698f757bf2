#include "testkit/stack/bare.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/figures.h"

#define BARE_MS    10000
#define BARE_SET   "*3\r\n$3\r\nSET\r\n$4\r\nbare\r\n$1\r\nx\r\n"
#define BARE_BYTES 300

enum { BARE_SERVER, BARE_CLIENT, BARE_REDIS, BARE_PEERS };

struct bare_peer {
	int fd;
	/* What it receives again and again, without its payload. */
	const char *frame;
	size_t frame_n;
	/* What is sent to it, each time. */
	struct buf sends;
	struct buf in;
};

/* Who sends when a frame has come: a reply, the SET, the next request. */
static const int bare_next[BARE_PEERS] = { BARE_SERVER, BARE_REDIS,
	BARE_CLIENT };

struct bare {
	struct bare_peer peer[BARE_PEERS];
	double *began_ns, *ms;
	int n, sent, ended;
};

static void
bare_send(struct bare_peer *p, const char *text, size_t n)
{
	ssize_t got;

	while (n > 0) {
		got = send(p->fd, text, n, MSG_NOSIGNAL);
		ck_assert_int_gt(got, 0);
		text += got;
		n -= (size_t)got;
	}
}

static void
bare_send_times(struct bare_peer *p, size_t times)
{
	struct buf b = BUF_INIT(1024 * 1024);

	while (times-- > 0)
		buf_put(&b, p->sends.p, p->sends.n);
	bare_send(p, b.p, b.n);
	buf_free(&b);
}

/* frame and sends with a payload if they are messages. */
static void
bare_open(struct bare_peer *p, int port, const char *frame, const char *sends,
    bool messages)
{
	char payload[BARE_BYTES + 3];

	p->fd = tk_connect(port);
	ck_assert_int_ne(p->fd, -1);
	p->frame = frame;
	p->frame_n = strlen(frame) + (messages ? BARE_BYTES + 2 : 0);
	buf_init(&p->in, 1024 * 1024);
	buf_init(&p->sends, 4096);
	buf_puts(&p->sends, sends);
	snprintf(payload, sizeof(payload), "%0*d\r\n", BARE_BYTES, 0);
	if (messages)
		buf_puts(&p->sends, payload);
}

/* A subscription that the server has. */
static void
bare_subscribe(struct bare_peer *p, const char *subject)
{
	static const char end[] = "PONG\r\n";
	struct buf b = BUF_INIT(65536);
	char text[128], c;

	snprintf(text, sizeof(text),
	    "CONNECT {\"verbose\":false}\r\nSUB %s 1\r\nPING\r\n", subject);
	bare_send(p, text, strlen(text));
	while (b.n < strlen(end) ||
	    memcmp(b.p + b.n - strlen(end), end, strlen(end)) != 0) {
		ck_assert_int_eq(recv(p->fd, &c, 1, 0), 1);
		buf_putc(&b, c);
	}
	buf_free(&b);
}

/* Receive what there is; returns the number of whole frames. */
static size_t
bare_receive(struct bare_peer *p)
{
	char bytes[65536];
	ssize_t got = recv(p->fd, bytes, sizeof(bytes), 0);
	size_t n = 0;

	ck_assert_int_gt(got, 0);
	buf_put(&p->in, bytes, (size_t)got);
	while (p->in.n >= strlen(p->frame)) {
		if (p->in.n >= 6 && memcmp(p->in.p, "PING\r\n", 6) == 0) {
			bare_send(p, "PONG\r\n", 6);
			buf_drop(&p->in, 6);
			continue;
		}
		ck_assert_msg(memcmp(p->in.p, p->frame, strlen(p->frame)) == 0,
		    "%.60s", p->in.p);
		if (p->in.n < p->frame_n)
			break;
		buf_drop(&p->in, p->frame_n);
		n++;
	}
	return n;
}

static void
bare_step(struct bare *b, int i)
{
	size_t n = bare_receive(&b->peer[i]), k, more = 0;

	if (i == BARE_REDIS) {
		for (k = 0; k < n; k++, b->ended++)
			b->ms[b->ended] =
			    (tk_now_ns() - b->began_ns[b->ended]) / 1e6;
		for (k = 0; k < n && b->sent < b->n; k++, more++)
			b->began_ns[b->sent++] = tk_now_ns();
		n = more;
	}
	bare_send_times(&b->peer[bare_next[i]], n);
}

static void
bare_begin(struct bare *b, struct stack *st, int in_flight)
{
	int nats = st->server[STACK_NATS].port;

	bare_open(&b->peer[BARE_SERVER], nats,
	    "MSG bare.request 1 bare.reply 300\r\n", "PUB bare.reply 300\r\n",
	    true);
	bare_open(&b->peer[BARE_CLIENT], nats, "MSG bare.reply 1 300\r\n",
	    "PUB bare.request bare.reply 300\r\n", true);
	bare_open(&b->peer[BARE_REDIS], st->server[STACK_REDIS].port, "+OK\r\n",
	    BARE_SET, false);
	bare_subscribe(&b->peer[BARE_SERVER], "bare.request");
	bare_subscribe(&b->peer[BARE_CLIENT], "bare.reply");
	while (b->sent < in_flight && b->sent < b->n)
		b->began_ns[b->sent++] = tk_now_ns();
	bare_send_times(&b->peer[BARE_CLIENT], (size_t)b->sent);
}

void
bare_run(struct stack *st, int n, int in_flight, struct turns_times *t)
{
	struct bare b = { .n = n };
	struct pollfd p[BARE_PEERS];
	double began = tk_now_ns();
	int i;

	b.began_ns = mem_calloc((size_t)n, sizeof(*b.began_ns));
	b.ms = mem_calloc((size_t)n, sizeof(*b.ms));
	bare_begin(&b, st, in_flight);
	for (i = 0; i < BARE_PEERS; i++)
		p[i] = (struct pollfd){ b.peer[i].fd, POLLIN, 0 };
	while (b.ended < n) {
		ck_assert_int_gt(poll(p, BARE_PEERS, BARE_MS), 0);
		for (i = 0; i < BARE_PEERS; i++)
			if (p[i].revents != 0)
				bare_step(&b, i);
	}
	turns_times(b.ms, n, (tk_now_ns() - began) / 1e6, t);
	for (i = 0; i < BARE_PEERS; i++) {
		close(b.peer[i].fd);
		buf_free(&b.peer[i].in);
		buf_free(&b.peer[i].sends);
	}
	free(b.began_ns);
	free(b.ms);
}
