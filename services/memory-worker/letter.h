/*
 * letter: a job that was put aside, with what is known of how that came, as an
 * operator reads it.  Pure.
 */
#ifndef MEMORY_WORKER_LETTER_H
#define MEMORY_WORKER_LETTER_H

#include <stdint.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/str.h"

/* Headers of a job that was put aside. */
#define LETTER_WHY        "Soul-Dead-Reason"
#define LETTER_DELIVERIES "Soul-Dead-Deliveries"
/* Of a job that was put aside and is tried anew: its place on SOUL_DEAD. */
#define LETTER_REPLAYED "Soul-Replayed"

#define LETTER_WHY_MAX 256

/* The headers of one, and room for their texts. */
struct letter_note {
	struct bus_header headers[2];
	char why[LETTER_WHY_MAX + 1];
	char deliveries[24];
};

/*
 * letter_note(why, deliveries, out):
 * What is to be known of a job that is put aside; a reason that is too long is
 * cut.  *out must not be moved.
 */
void letter_note(const char *why, int64_t deliveries, struct letter_note *out);

struct letter {
	int64_t seq;        /* its place on SOUL_DEAD */
	struct wall at;     /* when it was put aside */
	int64_t deliveries; /* how often it was tried; 0: not known */
	struct str why;     /* absent: not known */
	struct str kind;    /* of job, by its subject; may be empty */
	/* What it says of itself; absent where it does not. */
	struct str job_id, user_id, soul_id, text;
	const struct bus_stream_msg *m;
};

/*
 * letter_read(m, a, out):
 * What m is.  It may be anything, so this does not fail.  Texts live in a and
 * in m.
 */
void letter_read(
    const struct bus_stream_msg *m, struct arena *a, struct letter *out);

/*
 * letter_line(l, out): A few lines for a list; its text is shortened.
 * letter_json(l, out): One line of JSON, with the whole of its text.
 * letter_page(l, out): All that there is, its bytes last.
 * The first and the last are for a terminal: instead of control characters they
 * have '?', but for line ends and tabs in a page's bytes.
 */
void letter_line(const struct letter *l, struct buf *out);
void letter_json(const struct letter *l, struct buf *out);
void letter_page(const struct letter *l, struct buf *out);

#endif /* !MEMORY_WORKER_LETTER_H */
