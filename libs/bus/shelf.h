/*
 * shelf: what lies on a stream, looked at and taken away message by message,
 * without a consumer: for operators, and what they have put aside.
 *
 * Everything runs on the loop thread, and nothing blocks.
 */
#ifndef BUS_SHELF_H
#define BUS_SHELF_H

#include <stdint.h>

#include "bus/bus.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"

/* A message as the stream has it; its texts live until the callback returns. */
struct bus_shelved {
	int64_t seq;        /* its place in the stream */
	struct wall stored; /* when it got there, by the server's clock */
	struct str subject;
	struct str headers; /* lines; see bus_shelved_header() */
	struct str data;    /* never absent */
};

/* bus_shelved_header(m, key): Its first value; absent if there is none. */
struct str bus_shelved_header(const struct bus_shelved *m, const char *key);

struct bus_shelf_answer {
	int64_t last_seq;     /* of bus_shelf_state(): 0: nothing ever was */
	struct bus_shelved m; /* of bus_shelf_get(), bus_shelf_next() */
};

/*
 * Called exactly once per question that returned RC_OK, on the loop, never from
 * inside it.  rc is RC_OK; RC_NOENT: there is no such message; RC_INVALID:
 * there is no such stream; RC_DENIED: there is no JetStream; RC_TIMEOUT or
 * RC_DOWN: not known; RC_BUG: the server refuses for another reason, which is
 * logged.  a is NULL unless RC_OK.
 */
typedef void (*bus_shelf_fn)(
    void *arg, enum rc rc, const struct bus_shelf_answer *a);

struct bus_shelf_ask {
	const char *stream; /* [A-Za-z0-9_-]{1,64} */
	struct wall deadline;
	bus_shelf_fn fn;
	void *arg;
};

/*
 * bus_shelf_state(b, q):       How far the stream has got.
 * bus_shelf_get(b, q, seq):    The message of that place.
 * bus_shelf_next(b, q, seq):   The first from there on, however far it is.
 * bus_shelf_delete(b, q, seq): Delete it for good.
 * They fail as bus_request(); RC_INVALID if the stream's name is none or seq is
 * not over 0.
 */
enum rc bus_shelf_state(struct bus *b, const struct bus_shelf_ask *q) RC_CHECK;
enum rc bus_shelf_get(
    struct bus *b, const struct bus_shelf_ask *q, int64_t seq) RC_CHECK;
enum rc bus_shelf_next(
    struct bus *b, const struct bus_shelf_ask *q, int64_t seq) RC_CHECK;
enum rc bus_shelf_delete(
    struct bus *b, const struct bus_shelf_ask *q, int64_t seq) RC_CHECK;

#endif /* !BUS_SHELF_H */
