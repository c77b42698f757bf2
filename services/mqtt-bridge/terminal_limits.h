/*
 * terminal_limits: rate limits for each terminal: messages read, events
 * published, notices about either.  Pure; not thread-safe.
 */
#ifndef MQTT_BRIDGE_TERMINAL_LIMITS_H
#define MQTT_BRIDGE_TERMINAL_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/clock.h"
#include "core/str.h"

/* ---- messages: a token bucket for each of reports, heartbeats, results ----
 */

/* A message costs one token, and one more for each FLOOD_BYTES. */
#define FLOOD_BYTES 65536
/* Terminals whose buckets are kept, for each kind; least recent ones go. */
#define FLOOD_TERMINALS 16384

struct flood_limiter;

enum flood_verdict { FLOOD_OK, FLOOD_OVER, FLOOD_OVER_FIRST };

/* flood_limiter_new(per_s, burst): As of rate_new(), per terminal and kind. */
struct flood_limiter *flood_limiter_new(int64_t per_s, int64_t burst);

/* flood_limiter_free(f): NULL is allowed. */
void flood_limiter_free(struct flood_limiter *f);

/*
 * flood_limiter_take(f, row, id, bytes, now):
 * Count a message of that many bytes on a topic of wire_topics.  Over the rate
 * nothing is taken; FLOOD_OVER_FIRST is the first such message of the terminal
 * in a notice window.
 */
enum flood_verdict flood_limiter_take(struct flood_limiter *f, size_t row,
    struct str id, size_t bytes, struct mono now);

/* flood_limiter_has_room(f, row, id, bytes, now): Whether it is FLOOD_OK. */
bool flood_limiter_has_room(struct flood_limiter *f, size_t row, struct str id,
    size_t bytes, struct mono now);

/* flood_limiter_refund(f, row, id, bytes): Return what a message has taken. */
void flood_limiter_refund(
    struct flood_limiter *f, size_t row, struct str id, size_t bytes);

/* ---- events ---- */

/* Events of one terminal in one window; all terminals share the window. */
#define EVENT_QUOTA           200
#define EVENT_QUOTA_WINDOW_MS 10000
/* Terminals counted in one window; any beyond are not limited. */
#define EVENT_QUOTA_TERMINALS 65536

struct event_quota;

/* event_quota_new(), event_quota_free(q): NULL is allowed. */
struct event_quota *event_quota_new(void);
void event_quota_free(struct event_quota *q);

/* event_quota_take(q, id, now): Whether the terminal may cause one more. */
bool event_quota_take(struct event_quota *q, struct str id, struct mono now);

/* ---- notices ---- */

#define NOTICE_WINDOW_MS 10000
/* Terminals in one window; any beyond count as seen. */
#define NOTICE_WINDOW_TERMINALS 16384

struct notice_window;

/* notice_window_new(), notice_window_free(w): NULL is allowed. */
struct notice_window *notice_window_new(void);
void notice_window_free(struct notice_window *w);

/* notice_window_first(w, id, now): Whether id is new in this window. */
bool notice_window_first(
    struct notice_window *w, struct str id, struct mono now);

#endif /* !MQTT_BRIDGE_TERMINAL_LIMITS_H */
