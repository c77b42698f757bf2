/*
 * tk_broker: the broker's configuration as it is shipped, of which only the
 * places of files and the ports are replaced.
 */
#ifndef TESTKIT_BROKER_H
#define TESTKIT_BROKER_H

#include "core/buf.h"

/*
 * tk_broker_put(b, name):
 * Append deploy/<name>, for mosquitto.  What is in /etc/soul is in deploy/,
 * what is in /run/soul and below is in tk_dir(), the gate is this build's.
 */
void tk_broker_put(struct buf *b, const char *name);

/*
 * tk_broker_move(b, shipped):
 * Let the listener of that port listen on another, which is the result.
 */
int tk_broker_move(struct buf *b, int shipped);

/* tk_broker_any_rate(b): Let the gate take what bodies say at any rate. */
void tk_broker_any_rate(struct buf *b);

/* tk_broker_gate(): The gate's file. */
const char *tk_broker_gate(void);

#endif /* !TESTKIT_BROKER_H */
