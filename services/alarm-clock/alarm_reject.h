/*
 * alarm_reject: what a request of a user carries, and why it was rejected.
 */
#ifndef ALARM_CLOCK_ALARM_REJECT_H
#define ALARM_CLOCK_ALARM_REJECT_H

#include <stdbool.h>

#include "core/rc.h"
#include "core/str.h"

struct trace;

struct alarm_rejection {
	const struct trace *trace; /* of the request; the others are set */
	enum rc rc;
	const char *code; /* a constant; NULL: that of rc */
	struct str text;  /* for people and models */
	bool may_be_done;
};

/*
 * alarm_reject(why, rc, text): Fill *why; returns rc.  Pure.
 * alarm_reject_state(why, rc): The same for an error of Redis.
 */
enum rc alarm_reject(struct alarm_rejection *why, enum rc rc, struct str text);
enum rc alarm_reject_state(struct alarm_rejection *why, enum rc rc);

#endif /* !ALARM_CLOCK_ALARM_REJECT_H */
