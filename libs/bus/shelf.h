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
struct bus_stream_msg {
	int64_t seq;        /* its place in the stream */
	struct wall stored; /* when it got there, by the server's clock */
	struct str subject;
	struct str headers; /* lines; see bus_stream_msg_header() */
	struct str data;    /* never absent */
};

/* bus_stream_msg_header(m, key): Its first value; absent if there is none. */
struct str bus_stream_msg_header(
    const struct bus_stream_msg *m, const char *key);

struct bus_stream_result {
	int64_t last_seq; /* of bus_stream_info(): 0: nothing ever was */
	struct bus_stream_msg
	    m; /* of bus_stream_msg_get(), bus_stream_msg_next() */
};

/*
 * Called exactly once per question that returned RC_OK, on the loop, never from
 * inside it.  rc is RC_OK; RC_NOENT: there is no such message; RC_INVALID:
 * there is no such stream; RC_DENIED: there is no JetStream; RC_TIMEOUT or
 * RC_DOWN: not known; RC_BUG: the server refuses for another reason, which is
 * logged.  a is NULL unless RC_OK.
 */
typedef void (*bus_stream_query_fn)(
    void *arg, enum rc rc, const struct bus_stream_result *a);

struct bus_stream_query {
	const char *stream; /* [A-Za-z0-9_-]{1,64} */
	struct wall deadline;
	bus_stream_query_fn fn;
	void *arg;
};

/*
 * bus_stream_info(b, q):       How far the stream has got.
 * bus_stream_msg_get(b, q, seq):    The message of that place.
 * bus_stream_msg_next(b, q, seq):   The first from there on, however far it is.
 * bus_stream_msg_delete(b, q, seq): Delete it for good.
 * They fail as bus_request(); RC_INVALID if the stream's name is none or seq is
 * not over 0.
 */
enum rc bus_stream_info(
    struct bus *b, const struct bus_stream_query *q) RC_CHECK;
enum rc bus_stream_msg_get(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;
enum rc bus_stream_msg_next(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;
enum rc bus_stream_msg_delete(
    struct bus *b, const struct bus_stream_query *q, int64_t seq) RC_CHECK;

#endif /* !BUS_SHELF_H */
