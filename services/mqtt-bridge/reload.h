/*
 * reload: making the broker read its files again.
 */
#ifndef MQTT_BRIDGE_RELOAD_H
#define MQTT_BRIDGE_RELOAD_H

#include <stdint.h>

#include "core/rc.h"

/* How; at most one of them is set. */
struct reload {
	int64_t pid;          /* of the broker; 0: not known */
	const char *pid_file; /* where its number is; NULL: not known */
	const char *command;  /* for sh, instead of a signal; NULL: none */
};

/*
 * reload_broker(r, why):
 * Send SIGHUP, or begin the command, whose end is not waited for.  RC_OK also
 * if r says nothing.  RC_RETRY: not now, as the broker does not run, or would
 * die of the signal yet; *why says it.
 */
enum rc reload_broker(const struct reload *r, const char **why) RC_CHECK;

#endif /* !MQTT_BRIDGE_RELOAD_H */
