/*
 * translate: events of RASP/1.0 as events of the conversation, FCMP/1.0.  Pure.
 */
#ifndef EVENTS_TRANSLATE_H
#define EVENTS_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"
#include "events/rasp.h"

struct translate {
	struct str run_id, engine;
	int64_t seq; /* of the last event */
};

/*
 * translate_event(t, e, b): Append the event that *e is in the conversation, as
 * JSON, and count it; false: it is none.
 */
bool translate_event(
    struct translate *t, const struct rasp_event *e, struct buf *b);

#endif /* !EVENTS_TRANSLATE_H */
