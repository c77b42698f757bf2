/*
 * capture: receives every message on NATS and MQTT and checks it.
 *
 * A process of its own.  It prints "wrong: …" for each message that violates
 * its schema or is on an undescribed channel, at the end "seen: ROW COUNT" for
 * each row of the tables, and exits 1 if anything was wrong.
 */
#ifndef TESTKIT_STACK_CAPTURE_H
#define TESTKIT_STACK_CAPTURE_H

#include "testkit/testkit.h"

/* Reports of terminals with this prefix are not checked. */
#define CAPTURE_HOSTILE "hostile"

#define CAPTURE_READY "capture: ready\n"
#define CAPTURE_WRONG "wrong: "

/* What to subscribe to. */
struct capture_source {
	const char *nats_url;
	int mqtt_port; /* 0: none; it would count as a subscriber */
};

/* capture_main(where): The process; ends on SIGTERM. */
int capture_main(void *where);

#endif /* !TESTKIT_STACK_CAPTURE_H */
