/*
 * ws_load: many WebSocket clients of one thread, that send the same frame each
 * and count what comes.
 */
#ifndef TESTKIT_WS_LOAD_H
#define TESTKIT_WS_LOAD_H

#include <stddef.h>

#include "core/buf.h"

struct ws_load_end {
	int fd;
	struct buf frame; /* what it sends */
	struct buf in;    /* what it has read, not whole */
};

struct ws_load {
	struct ws_load_end *end;
	size_t n, max;
	int epfd;
};

/*
 * ws_load_start(l, max): For at most max clients.
 * ws_load_free(l): Disconnect them.
 */
void ws_load_start(struct ws_load *l, size_t max);
void ws_load_free(struct ws_load *l);

/* ws_load_add(l, fd, text): An open connection that sends text, of 126 to 65535
 * bytes; NULL: nothing.  fd is owned. */
void ws_load_add(struct ws_load *l, int fd, const char *text);

/* ws_load_send(e, n): Send its frame n times. */
void ws_load_send(struct ws_load_end *e, size_t n);

/*
 * ws_load_read(l, on_frames, arg):
 * Wait for bytes and read them: on_frames(arg, l, i, n): client i got n > 0
 * messages.  Returns how many all got; fails the test after 10 s.
 */
size_t ws_load_read(struct ws_load *l,
    void (*on_frames)(void *arg, struct ws_load *l, size_t i, size_t n),
    void *arg);

#endif /* !TESTKIT_WS_LOAD_H */
