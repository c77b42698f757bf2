/*
 * agui_view: events of a conversation in the form of AG-UI.  Pure.
 */
#ifndef CHAT_GATEWAY_AGUI_AGUI_VIEW_H
#define CHAT_GATEWAY_AGUI_AGUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/* Where a stream is.  Zero at first, but for thread and run. */
struct agui {
	struct str thread;        /* absent: the session of the events */
	struct str run;           /* absent: the run of the events */
	bool open;                /* a run has started and not ended */
	char message[ID_MAX + 1]; /* the open one; empty: none */
	size_t sent;              /* bytes of it */
};

/* Events that one of ours becomes. */
#define AGUI_EVENTS_MAX 6

struct agui_events {
	struct str json[AGUI_EVENTS_MAX];
	size_t n;
};

/*
 * agui_convert(g, e, a, out):
 * What e becomes after the events before it, from a; nothing is possible.  A
 * stream that begins in the middle of a run begins with its start.  RC_TOOBIG
 * if a is full.
 * agui_convert_error(g, e, a, out): The same of an error that ends a run.
 */
enum rc agui_convert(struct agui *g, const struct wire_chat_event *e,
    struct arena *a, struct agui_events *out) RC_CHECK;
enum rc agui_convert_error(struct agui *g, const struct wire_error *e,
    struct arena *a, struct agui_events *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_AGUI_AGUI_VIEW_H */
