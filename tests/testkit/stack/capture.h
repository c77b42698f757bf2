/*
 * tap: sees every message on NATS and MQTT and judges it.
 *
 * A process of its own.  It says "wrong: …" for each message that breaks its
 * schema or stands on a channel that nobody has described, at last "seen: ROW
 * COUNT" for each row of the tables, and exits 1 if anything was wrong.
 */
#ifndef TESTKIT_STACK_CAPTURE_H
#define TESTKIT_STACK_CAPTURE_H

#include "testkit/testkit.h"

/* Reports of terminals whose id begins so may be as they please. */
#define CAPTURE_HOSTILE "hostile"

#define CAPTURE_READY "capture: ready\n"
#define CAPTURE_WRONG "wrong: "

/* Where to listen. */
struct capture_source {
	const char *nats_url;
	int mqtt_port; /* 0: not there; it would count as a subscriber */
};

/* capture_main(where): The process; ends on SIGTERM. */
int capture_main(void *where);

#endif /* !TESTKIT_STACK_CAPTURE_H */
