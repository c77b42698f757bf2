#include "replay.h"

#include <stdlib.h>

#include "core/mem.h"

#define REPLAY_FIRST 8

static struct frame **
replay_slot(const struct replay *r, uint64_t n)
{
	return &r->frame[n & (r->cap - 1)];
}

static void
replay_drop_first(struct replay *r)
{
	struct frame *f = *replay_slot(r, r->first++);

	r->bytes -= f->bytes.n;
	frame_unref(f);
}

static void
replay_grow(struct replay *r)
{
	struct frame **old = r->frame;
	size_t cap = r->cap;
	uint64_t n;

	r->cap = cap > 0 ? 2 * cap : REPLAY_FIRST;
	r->frame = mem_calloc(r->cap, sizeof(struct frame *));
	for (n = r->first; n < r->next; n++)
		*replay_slot(r, n) = old[n & (cap - 1)];
	free(old);
}

void
replay_begin(struct replay *r, uint64_t n)
{
	r->first = r->next = n;
}

void
replay_put(struct replay *r, struct frame *f)
{
	if (r->next == 0)
		r->first = r->next = 1;
	while (r->first < r->next &&
	    (r->next - r->first == REPLAY_FRAMES ||
		r->bytes + f->bytes.n > REPLAY_BYTES))
		replay_drop_first(r);
	if (f->bytes.n > REPLAY_BYTES) {
		r->first = ++r->next;
		return;
	}
	if (r->next - r->first == r->cap)
		replay_grow(r);
	*replay_slot(r, r->next++) = frame_ref(f);
	r->bytes += f->bytes.n;
}

void
replay_clear(struct replay *r)
{
	while (r->first < r->next)
		replay_drop_first(r);
	free(r->frame);
	r->frame = NULL;
	r->cap = 0;
}

uint64_t
replay_sent(const struct replay *r)
{
	return r->next > 0 ? r->next - 1 : 0;
}

bool
replay_has_after(const struct replay *r, uint64_t n)
{
	return n <= replay_sent(r) && (n + 1 >= r->first || r->next == 0);
}

struct frame *
replay_at(const struct replay *r, uint64_t n)
{
	return *replay_slot(r, n);
}

void
replay_fetch(const struct replay *r)
{
	if (r->cap > 0)
		__builtin_prefetch(replay_slot(r, r->next), 1);
}

size_t
replay_bytes_after(const struct replay *r, uint64_t n)
{
	size_t bytes = 0;

	while (++n <= replay_sent(r))
		bytes += replay_at(r, n)->bytes.n;
	return bytes;
}

void
replay_move(struct replay *from, struct replay *to)
{
	struct replay own = *to;
	uint64_t n;

	*to = *from;
	*from = (struct replay){ 0 };
	for (n = own.first; n < own.next; n++)
		replay_put(to, replay_at(&own, n));
	replay_clear(&own);
}
