/*
 * event_stream: a log of events as server-sent events of a response.
 */
#ifndef CHAT_GATEWAY_STREAMS_EVENT_STREAM_H
#define CHAT_GATEWAY_STREAMS_EVENT_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rc.h"
#include "fcmp/fcmp_read.h"
#include "state/events.h"

struct gateway;
struct svc_call;

struct event_stream_opts {
	struct events_key key;
	int64_t after;      /* events above this seq */
	struct str turn_id; /* of this turn only; absent: of all */
	/* Sends an event, as gateway_stream_send(). */
	enum rc (*send)(struct svc_call *c, const struct fcmp_event *e);
	/* Whether the stream ends after e; NULL: with the connection only. */
	bool (*ends)(const struct fcmp_event *e);
};

/*
 * event_stream_cursor(c, after):
 * The position that the request names, -1 if it names none.  False: c has been
 * ended.
 *
 * event_stream_start(g, c, o):
 * Start the response, after gateway_stream_begin().  It ends after the last
 * event, when the client disconnects, or when the gateway drains.
 */
bool event_stream_cursor(struct svc_call *c, int64_t *after);
void event_stream_start(
    struct gateway *g, struct svc_call *c, const struct event_stream_opts *o);

/* event_streams_close(g): End all of them. */
void event_streams_close(struct gateway *g);

#endif /* !CHAT_GATEWAY_STREAMS_EVENT_STREAM_H */
