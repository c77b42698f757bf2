/*
 * replay: the newest frames of a session, for a client that reconnects; and
 * those of a client that cannot be sent to yet.  Pure.
 *
 * Frames are numbered from 1 as they are sent on the session.  Their seq is
 * that of a broadcast with a cursor, else 0; by: they are not to be sent later
 * than that, {0}: any time.
 */
#ifndef STAR_HUB_REPLAY_H
#define STAR_HUB_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ws/frame.h"

/* Frames, and their bytes, that are held. */
#define REPLAY_FRAMES 256
#define REPLAY_BYTES  (256UL * 1024)

/* Zero it at first. */
struct replay {
	struct frame **frame; /* a ring */
	size_t cap;           /* a power of two */
	uint64_t first, next; /* numbers: 0 and 0 at first */
	size_t bytes;
};

/*
 * replay_begin(r, n): An empty one goes on with frame n.
 * replay_put(r, f): f is the next frame; the oldest that do not fit are
 * forgotten, which are all, and f, if it is larger than REPLAY_BYTES.
 * replay_clear(r): Forget all; numbers go on.
 */
void replay_begin(struct replay *r, uint64_t n);
void replay_put(struct replay *r, struct frame *f);
void replay_clear(struct replay *r);

/*
 * replay_sent(r): Number of the newest frame; 0: none.
 * replay_has_after(r, n): Whether all after n are held.
 * replay_at(r, n): Frame n, which is held.
 */
uint64_t replay_sent(const struct replay *r);
bool replay_has_after(const struct replay *r, uint64_t n);
struct frame *replay_at(const struct replay *r, uint64_t n);

/* replay_fetch(r): Let the processor fetch where the next frame is put. */
void replay_fetch(const struct replay *r);

/* replay_bytes_after(r, n): Of the frames after n, which are held. */
size_t replay_bytes_after(const struct replay *r, uint64_t n);

/* replay_move(from, to): to becomes from, followed by its own frames. */
void replay_move(struct replay *from, struct replay *to);

#endif /* !STAR_HUB_REPLAY_H */
