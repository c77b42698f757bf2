#include "testkit/ws_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/mem.h"
#include "testkit/testkit.h"

#define WAIT_MS   10000
#define EVENTS    256
#define BYTES_MAX 65536

void
ws_load_start(struct ws_load *l, size_t max)
{
	l->end = mem_calloc(max, sizeof(*l->end));
	l->n = 0;
	l->max = max;
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_ne(l->epfd, -1);
}

void
ws_load_free(struct ws_load *l)
{
	size_t i;

	for (i = 0; i < l->n; i++) {
		close(l->end[i].fd);
		buf_free(&l->end[i].frame);
		buf_free(&l->end[i].in);
	}
	free(l->end);
	close(l->epfd);
}

/* A masked frame of this message. */
static void
load_put_frame(struct buf *b, const char *text)
{
	static const char mask[] = "\1\2\3\4";
	size_t n = strlen(text), i;

	ck_assert(n >= 126 && n < 65536);
	buf_putc(b, (char)0x81);
	buf_putc(b, (char)(0x80 | 126));
	buf_putc(b, (char)(n >> 8));
	buf_putc(b, (char)n);
	buf_put(b, mask, 4);
	for (i = 0; i < n; i++)
		buf_putc(b, (char)(text[i] ^ mask[i % 4]));
}

void
ws_load_add(struct ws_load *l, int fd, const char *text)
{
	struct epoll_event ev = { .events = EPOLLIN,
		.data.u32 = (uint32_t)l->n };
	struct ws_load_end *e = &l->end[l->n++];

	ck_assert_uint_le(l->n, l->max);
	e->fd = fd;
	buf_init(&e->in, 1 << 20);
	buf_init(&e->frame, BYTES_MAX);
	if (text != NULL)
		load_put_frame(&e->frame, text);
	ck_assert_int_eq(epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &ev), 0);
}

void
ws_load_send(struct ws_load_end *e, size_t n)
{
	char bytes[BYTES_MAX];
	size_t all, done;
	ssize_t k;

	while (n > 0) {
		for (all = 0; n > 0 && all + e->frame.n <= sizeof(bytes); n--) {
			memcpy(bytes + all, e->frame.p, e->frame.n);
			all += e->frame.n;
		}
		for (done = 0; done < all; done += (size_t)k) {
			k = send(e->fd, bytes + done, all - done, MSG_NOSIGNAL);
			ck_assert_int_gt(k, 0);
		}
	}
}

/* Take the whole frames that were read. */
static size_t
load_take(struct ws_load_end *e)
{
	const unsigned char *p = (const unsigned char *)e->in.p;
	size_t n = 0, at = 0, head, length;

	for (; at + 2 <= e->in.n; at += head + length) {
		head = p[at + 1] < 126 ? 2 : 4;
		if (at + head > e->in.n)
			break;
		length = p[at + 1];
		if (head == 4)
			length = (size_t)p[at + 2] << 8 | p[at + 3];
		if (at + head + length > e->in.n)
			break;
		/* Pings get no reply: no run is that long. */
		ck_assert(p[at] == 0x81 || p[at] == 0x89);
		n += p[at] == 0x81;
	}
	buf_drop(&e->in, at);
	return n;
}

size_t
ws_load_read(struct ws_load *l,
    void (*on_frames)(void *arg, struct ws_load *l, size_t i, size_t n),
    void *arg)
{
	struct epoll_event ev[EVENTS];
	char bytes[BYTES_MAX];
	size_t n, all = 0;
	int i, k = epoll_wait(l->epfd, ev, EVENTS, WAIT_MS);

	ck_assert_int_gt(k, 0);
	for (i = 0; i < k; i++) {
		struct ws_load_end *e = &l->end[ev[i].data.u32];
		ssize_t got = recv(e->fd, bytes, sizeof(bytes), 0);

		ck_assert_int_gt(got, 0);
		buf_put(&e->in, bytes, (size_t)got);
		n = load_take(e);
		all += n;
		if (n > 0 && on_frames != NULL)
			on_frames(arg, l, ev[i].data.u32, n);
	}
	return all;
}
