/*
 * send_queue: the frames that a connection still has to send, in order, bounded
 * by bytes and frames.  Control frames may exceed the bounds a little: a peer
 * that is too slow still gets its close frame.
 */
#ifndef WS_SEND_QUEUE_H
#define WS_SEND_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "core/rc.h"
#include "ws/frame.h"

/* Control frames beyond the bounds. */
#define SEND_QUEUE_CONTROL 8
/* Frames of one writev(). */
#define SEND_QUEUE_IOV 64

struct send_queue {
	struct frame **frame; /* a ring */
	size_t first, n, cap; /* cap is a power of two */
	size_t sent;          /* bytes of the first frame */
	size_t bytes;         /* of all frames, without those */
	size_t bytes_max, frames_max;
};

/*
 * send_queue_init(q, bytes_max, frames_max): Empty, without allocating.
 * send_queue_clear(q): Release all frames and the memory.
 */
void send_queue_init(struct send_queue *q, size_t bytes_max, size_t frames_max);
void send_queue_clear(struct send_queue *q);

/*
 * send_queue_put(q, f):
 * Take a reference to f.  RC_RETRY: there is no room.  A frame alone may be
 * larger than bytes_max.
 */
enum rc send_queue_put(struct send_queue *q, struct frame *f) RC_CHECK;

/* send_queue_iov(q, iov, bytes): The next at most SEND_QUEUE_IOV buffers, of at
 * most bytes in all, at least one if there are any.  Returns their number. */
size_t send_queue_iov(
    const struct send_queue *q, struct iovec iov[SEND_QUEUE_IOV], size_t bytes);

/* send_queue_sent(q, n): n bytes of them were written. */
void send_queue_sent(struct send_queue *q, size_t n);

#endif /* !WS_SEND_QUEUE_H */
