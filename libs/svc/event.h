/*
 * event: events, stored for a week.
 *
 * An event is wrapped in the envelope (wire event_envelope), published to
 * soul.event.<type>.<token of key> and stored by the stream SOUL_EVENTS.
 */
#ifndef SVC_EVENT_H
#define SVC_EVENT_H

#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "svc/svc.h"

struct svc_event {
	const char *type;             /* a row of wire_events */
	const char *source;           /* NULL: the service */
	struct str key;               /* id of what it happened to */
	const struct wire_desc *desc; /* of payload, as in the row */
	const void *payload;
	const struct trace *trace; /* NULL: it begins a new one */
	struct str id; /* the same event has the same; absent: a new one */
	struct str psyche_state; /* JSON object; absent: none */
};

/*
 * svc_event_send(s, e):
 * Publish e, timestamped now, in the name of its source, within 10 ms; e is not
 * retained.  RC_OK: it is pending, and retried until the stream has it, or a
 * minute has passed or the program ends (then logged and counted); a drain
 * waits for it 2 s.  Events may arrive in another order.  RC_INVALID if it
 * breaks its schema or an id is not one, RC_BUG if type and desc are no row of
 * wire_events, RC_RETRY if 32,768 or 32 MiB are pending (logged and counted),
 * RC_TOOBIG over BUS_PAYLOAD_MAX.  Loop thread.
 */
enum rc svc_event_send(struct svc *s, const struct svc_event *e) RC_CHECK;

/*
 * svc_event_store(s, e):
 * As svc_event_send(), but publish it at once, and wait until the stream has
 * it.  RC_TIMEOUT: it has not within 5 s, and is still retried; else why it is
 * lost.  Only in a fiber.
 */
enum rc svc_event_store(struct svc *s, const struct svc_event *e) RC_CHECK;

/*
 * svc_event(s, type, key, desc, payload, trace):
 * As svc_event_send() with a new id; an error is logged.
 */
void svc_event(struct svc *s, const char *type, struct str key,
    const struct wire_desc *desc, const void *payload,
    const struct trace *trace);

#endif /* !SVC_EVENT_H */
