/*
 * live: streams of events, all of which one fiber serves.
 *
 * A reader is a position in the stream of events.  A batch that is read for one
 * of them goes to all whose positions are within it: those that are up to date
 * share what is read, and one that is behind, or slow, costs the others
 * nothing.  Nothing is queued for a reader but what its connection buffers.
 */
#ifndef CHAT_GATEWAY_LIVE_LIVE_H
#define CHAT_GATEWAY_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>

struct event_filter;
struct event_log;
struct live;
struct svc;
struct svc_call;

/* Readers at one time. */
#define LIVE_READERS_MAX 128

/*
 * live_new(s, log, has_room), live_drain(l), live_free(l):
 * has_room(c) says whether another event fits into the output of c.
 * live_drain() ends all streams and admits no more.  NULL is allowed.
 */
struct live *live_new(
    struct svc *s, struct event_log *log, bool (*has_room)(struct svc_call *c));
void live_drain(struct live *l);
void live_free(struct live *l);

/*
 * live_is_full(l): Whether there are LIVE_READERS_MAX.
 *
 * live_start(l, c, f, after):
 * Stream the events after a position to c, after gateway_stream_begin(), until
 * its client disconnects or stalls, or the gateway drains.  The texts of f
 * live as long as c.
 */
bool live_is_full(const struct live *l);
void live_start(struct live *l, struct svc_call *c,
    const struct event_filter *f, int64_t after);

#endif /* !CHAT_GATEWAY_LIVE_LIVE_H */
