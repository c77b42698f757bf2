/*
 * cancel: stopping a turn, wherever it runs.
 */
#ifndef CHAT_GATEWAY_CANCEL_H
#define CHAT_GATEWAY_CANCEL_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct gateway;
struct trace;

struct cancel_opts {
	struct str turn_id, user_id;
	struct str reason; /* for the log; absent: none */
	const struct trace *trace;
	/*
	 * Called once, not from inside cancel_turn(): RC_OK and whether it was
	 * stopped by this; or why that is not known.  May be NULL.
	 */
	void (*fn)(void *arg, enum rc rc, bool canceled);
	void *arg;
};

/*
 * cancel_turn(g, o):
 * Ask the process that has the turn, for three seconds if it is not heard of:
 * the turn may be on its way there.  The texts and the trace of o are
 * copied.
 */
void cancel_turn(struct gateway *g, const struct cancel_opts *o);

#endif /* !CHAT_GATEWAY_CANCEL_H */
