/*
 * dead_letter: jobs that could not be done, on the stream SOUL_DEAD, with the
 * reason in their headers.
 */
#ifndef MEMORY_WORKER_DEAD_LETTER_H
#define MEMORY_WORKER_DEAD_LETTER_H

#include <stdint.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "store/memory_record.h"

/* Streams of jobs and of dead letters. */
#define JOBS_STREAM         "SOUL_JOBS"
#define DEAD_STREAM         "SOUL_DEAD"
#define DEAD_LETTER_SUBJECT "soul.dead." MEMORY_JOB_KIND

/* Headers of a dead letter. */
#define DEAD_LETTER_REASON     "Soul-Dead-Reason"
#define DEAD_LETTER_DELIVERIES "Soul-Dead-Deliveries"
/* Header of a replayed job: its sequence number on SOUL_DEAD. */
#define DEAD_LETTER_REPLAYED "Soul-Replayed"

#define DEAD_LETTER_REASON_MAX 256

/*
 * dead_letter_ensure_stream(b, ready):
 * Create or update the stream, as bus_stream_ensure(); ready gets NULL.
 */
enum rc dead_letter_ensure_stream(struct bus *b, bus_ready_fn ready) RC_CHECK;

/*
 * dead_letter_publish(b, msg, why, on_ack):
 * Publish a job as a dead letter and log it.  msg is not acknowledged;
 * repeating the call has one effect.  A job too large to publish stays on its
 * stream and the dead letter refers to it.  Fails as bus_stream_publish().
 */
enum rc dead_letter_publish(struct bus *b, const struct bus_msg *msg,
    const char *why, struct bus_pub_ack_handler on_ack) RC_CHECK;

/* ---- pure ---- */

/* The headers of a dead letter, and room for their values. */
struct dead_letter_headers {
	struct bus_header headers[2];
	char why[DEAD_LETTER_REASON_MAX + 1];
	char deliveries[24];
};

/*
 * dead_letter_headers(why, deliveries, out):
 * Fill *out, which must not be moved; a reason that is too long is truncated.
 */
void dead_letter_headers(
    const char *why, int64_t deliveries, struct dead_letter_headers *out);

struct dead_letter {
	int64_t seq;        /* on SOUL_DEAD */
	struct wall at;     /* when it was published there */
	int64_t deliveries; /* of the job; 0: not known */
	struct str why;     /* absent: not known */
	struct str kind;    /* of job, from its subject; may be empty */
	/* Members of the job; absent if it has none. */
	struct str job_id, user_id, soul_id, text;
	const struct bus_stream_msg *m;
};

/*
 * dead_letter_read(m, a, out):
 * Any message is accepted.  Texts live in a and in m.
 */
void dead_letter_read(
    const struct bus_stream_msg *m, struct arena *a, struct dead_letter *out);

/*
 * dead_letter_write_line(l, out): A few lines for a list, with a shortened
 * text. dead_letter_write_json(l, out): One line of JSON, with the whole text.
 * dead_letter_write_full(l, out): All fields, then its bytes.
 * The first and the last are safe for a terminal: control characters are
 * replaced by '?', except line ends and tabs within the bytes.
 */
void dead_letter_write_line(const struct dead_letter *l, struct buf *out);
void dead_letter_write_json(const struct dead_letter *l, struct buf *out);
void dead_letter_write_full(const struct dead_letter *l, struct buf *out);

#endif /* !MEMORY_WORKER_DEAD_LETTER_H */
