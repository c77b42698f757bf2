/*
 * on_passwords: from the identities in Redis to the broker's password file, for
 * as long as the process runs.
 */
#ifndef MQTT_BRIDGE_ON_PASSWORDS_H
#define MQTT_BRIDGE_ON_PASSWORDS_H

#include <stdbool.h>

#include "reload.h"

struct passwords_ask {
	const char *redis_url;
	const char *file;
	const char *also; /* NULL: none */
	struct reload reload;
	bool once;
};

/*
 * passwords_keep(ask):
 * The exit code; not before a signal unless ask->once.  A signal exits with 0,
 * or with 1 if ask->once is not done.
 */
int passwords_keep(const struct passwords_ask *ask);

#endif /* !MQTT_BRIDGE_ON_PASSWORDS_H */
