/*
 * kit_broker: the broker's configuration as it is shipped, of which only the
 * places of files and the ports are replaced.
 */
#ifndef KIT_KIT_BROKER_H
#define KIT_KIT_BROKER_H

#include "core/buf.h"

/*
 * kit_broker_put(b, name):
 * Append deploy/<name>, for mosquitto.  What is in /etc/soul is in deploy/,
 * what is in /run/soul and below is in kit_dir(), the gate is this build's.
 */
void kit_broker_put(struct buf *b, const char *name);

/*
 * kit_broker_move(b, shipped):
 * Let the listener of that port listen on another, which is the result.
 */
int kit_broker_move(struct buf *b, int shipped);

/* kit_broker_any_rate(b): Let the gate take what bodies say at any rate. */
void kit_broker_any_rate(struct buf *b);

/* kit_broker_gate(): The gate's file. */
const char *kit_broker_gate(void);

#endif /* !KIT_KIT_BROKER_H */
