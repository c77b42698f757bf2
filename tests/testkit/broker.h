/*
 * tk_broker: the broker's shipped configuration, with only the file locations
 * and the ports replaced.
 */
#ifndef TESTKIT_BROKER_H
#define TESTKIT_BROKER_H

#include "core/buf.h"

/*
 * tk_broker_put(b, name): Append deploy/<name>, for mosquitto. Files in
 * /etc/soul are read from deploy/, files in /run/soul from tk_dir(), and the
 * plugin is that of this build.
 */
void tk_broker_put(struct buf *b, const char *name);

/*
 * tk_broker_move(b, shipped): Move the listener of that port to a free port,
 * which is returned.
 */
int tk_broker_move(struct buf *b, int shipped);

/* tk_broker_any_rate(b): Disable the plugin's rate limits for devices. */
void tk_broker_any_rate(struct buf *b);

/* tk_broker_gate(): The plugin's file. */
const char *tk_broker_gate(void);

#endif /* !TESTKIT_BROKER_H */
