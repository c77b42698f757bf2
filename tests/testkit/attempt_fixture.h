/*
 * attempt_fixture: attempts of engine-runner in a test: captured streams or
 * spools in, events out, each of which is checked: its schema, the members of
 * its data, its number, its bytes.
 */
#ifndef TESTKIT_ATTEMPT_FIXTURE_H
#define TESTKIT_ATTEMPT_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/str.h"

struct replay;
struct spool_meta;

struct tk_events {
	struct buf fcmp, rasp; /* events, one a line */
	struct buf types;      /* types of FCMP, with codes, "\n" behind each */
	int64_t n_fcmp, n_rasp;
	size_t ends; /* events that end an attempt */
};

/*
 * tk_attempt(engine, meta, r, ev):
 * Replay *r; meta may be NULL: attempt 1 of an interactive run.  Fails the test
 * if an event is not what it should be, there is not exactly one end, or the
 * bytes of the events of RASP are not all bytes of both streams.
 */
void tk_attempt(const char *engine, const struct spool_meta *meta,
    const struct replay *r, struct tk_events *ev);
void tk_events_free(struct tk_events *ev);

/* tk_events_are(ev, types): The events of FCMP have these types, in order. */
void tk_events_are(const struct tk_events *ev, const char *types);

/* tk_event_has(ev, i, text): The i-th event of FCMP (from 0) contains text. */
void tk_event_has(const struct tk_events *ev, size_t i, const char *text);

#endif /* !TESTKIT_ATTEMPT_FIXTURE_H */
