/*
 * dead_letter: items that could not be done, on the stream SOUL_DEAD, with the
 * reason in their headers.
 */
#ifndef WORK_DEAD_LETTER_H
#define WORK_DEAD_LETTER_H

#include <stdint.h>

#include "bus/bus.h"
#include "bus/jetstream.h"
#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/subjects.h"

#define DEAD_LETTER_STREAM      "SOUL_DEAD"
#define DEAD_LETTER_SUBJECT_FMT WIRE_SUBJECT_FMT_JOB_DEAD

/* Headers of a dead letter. */
#define DEAD_LETTER_REASON     "Soul-Dead-Reason"
#define DEAD_LETTER_DELIVERIES "Soul-Dead-Deliveries"
/* Header of a replayed job: its sequence number on SOUL_DEAD. */
#define DEAD_LETTER_REPLAYED "Soul-Replayed"
/* Header of both: the message id that the item had first. */
#define DEAD_LETTER_ID "Soul-Item-Id"

#define DEAD_LETTER_REASON_MAX 256
#define DEAD_LETTER_ID_MAX     256

/*
 * dead_letter_ensure_stream(b, manager, ready, arg):
 * Create the stream, as bus_stream_ensure(); only its manager updates it.
 */
enum rc dead_letter_ensure_stream(
    struct bus *b, bool manager, bus_ready_fn ready, void *arg) RC_CHECK;

/* A delivered item. */
struct dead_letter_source {
	const struct bus_msg *msg;
	const char *stream; /* that delivered it */
	const char *kind;   /* of the consumer's work */
	struct str id;      /* its first message id; absent: none */
};

/*
 * dead_letter_publish(b, from, why, on_ack):
 * Publish an item as a dead letter of its kind and log it.  The item is not
 * acknowledged; repeating the call has one effect.  An item too large to
 * publish stays on its stream and the dead letter refers to it.  Fails as
 * bus_stream_publish().
 */
enum rc dead_letter_publish(struct bus *b,
    const struct dead_letter_source *from, const char *why,
    struct bus_pub_ack_handler on_ack) RC_CHECK;

/* ---- pure ---- */

/* The headers of a dead letter, and room for their values. */
struct dead_letter_headers {
	struct bus_header headers[3];
	size_t n;
	char why[DEAD_LETTER_REASON_MAX + 1];
	char deliveries[24];
	char id[DEAD_LETTER_ID_MAX + 1];
};

/*
 * dead_letter_headers(why, deliveries, id, out):
 * Fill *out, which must not be moved; a reason that is too long is truncated,
 * an id that is absent, or too long, is left out.
 */
void dead_letter_headers(const char *why, int64_t deliveries, struct str id,
    struct dead_letter_headers *out);

struct dead_letter {
	int64_t seq;        /* on SOUL_DEAD */
	struct wall at;     /* when it was published there */
	int64_t deliveries; /* of the job; 0: not known */
	struct str why;     /* absent: not known */
	struct str kind;    /* of work, from its subject; may be empty */
	struct str item_id; /* its first message id; absent: not known */
	/* Members of the job, or of an event's payload; absent if it has none.
	 */
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

#endif /* !WORK_DEAD_LETTER_H */
