#include "ws/send_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define CAP_MIN 8

void
send_queue_init(struct send_queue *q, size_t bytes_max, size_t frames_max)
{
	*q = (struct send_queue){ .bytes_max = bytes_max,
		.frames_max = frames_max };
}

static struct frame *
queue_at(const struct send_queue *q, size_t i)
{
	return q->frame[(q->first + i) & (q->cap - 1)];
}

void
send_queue_clear(struct send_queue *q)
{
	size_t i;

	for (i = 0; i < q->n; i++)
		frame_unref(queue_at(q, i));
	free(q->frame);
	send_queue_init(q, q->bytes_max, q->frames_max);
}

static void
queue_grow(struct send_queue *q)
{
	size_t cap = q->cap > 0 ? 2 * q->cap : CAP_MIN, i;
	struct frame **frame = mem_calloc(cap, sizeof(struct frame *));

	for (i = 0; i < q->n; i++)
		frame[i] = queue_at(q, i);
	free(q->frame);
	q->frame = frame;
	q->first = 0;
	q->cap = cap;
}

static bool
queue_has_room(const struct send_queue *q, const struct frame *f)
{
	if (f->kind >= FRAME_CLOSE)
		return q->n < q->frames_max + SEND_QUEUE_CONTROL;
	return q->n < q->frames_max &&
	    (q->n == 0 || q->bytes + f->bytes.n <= q->bytes_max);
}

enum rc
send_queue_put(struct send_queue *q, struct frame *f)
{
	if (!queue_has_room(q, f))
		return RC_RETRY;
	if (q->n == q->cap)
		queue_grow(q);
	q->frame[(q->first + q->n++) & (q->cap - 1)] = frame_ref(f);
	q->bytes += f->bytes.n;
	return RC_OK;
}

size_t
send_queue_iov(
    const struct send_queue *q, struct iovec iov[SEND_QUEUE_IOV], size_t bytes)
{
	size_t i, total = 0, skip = q->sent;

	for (i = 0; i < q->n && i < SEND_QUEUE_IOV && total < bytes; i++) {
		struct str s = queue_at(q, i)->bytes;

		iov[i].iov_base = (char *)(uintptr_t)s.p + skip;
		iov[i].iov_len = s.n - skip;
		if (total + iov[i].iov_len > bytes)
			iov[i].iov_len = bytes - total;
		total += iov[i].iov_len;
		skip = 0;
	}
	return i;
}

void
send_queue_sent(struct send_queue *q, size_t n)
{
	struct frame *f;

	assert(n <= q->bytes);
	q->bytes -= n;
	n += q->sent;
	while (q->n > 0 && n >= (f = queue_at(q, 0))->bytes.n) {
		n -= f->bytes.n;
		frame_unref(f);
		q->first = (q->first + 1) & (q->cap - 1);
		q->n--;
	}
	q->sent = n;
	/* An idle connection has no queue. */
	if (q->n == 0)
		send_queue_clear(q);
}
