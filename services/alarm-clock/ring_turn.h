/*
 * ring_turn: an unasked turn: the request to an orchestrator to speak on a
 * body, and its outcome.
 */
#ifndef ALARM_CLOCK_RING_TURN_H
#define ALARM_CLOCK_RING_TURN_H

#include "core/arena.h"
#include "core/str.h"
#include "core/trace.h"
#include "ring.h"
#include "wire/msgs.h"

struct alarm_clock;

struct ring_turn_opts {
	const struct wire_alarm_record *r; /* its body is the one to speak */
	struct str session_id;
	int64_t lag_s; /* as of alarm_words_ring() */
	const struct trace *trace;
	struct arena *a;
};

/*
 * ring_turn(c, o): In a fiber: suspend until it has ended; its outcome.  When
 * the process stops it is RING_NOT_CONFIRMED.
 */
enum ring_outcome ring_turn(
    struct alarm_clock *c, const struct ring_turn_opts *o);

#endif /* !ALARM_CLOCK_RING_TURN_H */
