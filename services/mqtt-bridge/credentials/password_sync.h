/*
 * password_sync: the command that keeps the broker's password file in sync with
 * the identities of terminals in Redis.
 */
#ifndef MQTT_BRIDGE_PASSWORD_SYNC_H
#define MQTT_BRIDGE_PASSWORD_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "svc/svc.h"

/* The command line: mqtt-bridge passwords. */
extern const struct svc_command password_command;

/* How the broker is made to read its files again; at most one is set. */
struct broker_reload {
	int64_t pid;          /* of the broker, for SIGHUP; 0: none */
	const char *pid_file; /* with its pid; NULL: none */
	const char *command;  /* for sh, instead of a signal; NULL: none */
};

struct password_sync_options {
	const char *redis_url;
	const struct state_conf *redis;
	const char *file;
	const char *also; /* NULL: none */
	struct broker_reload reload;
	bool single; /* --once */
};

/*
 * password_sync_run(options):
 * Run until a signal arrives, or until done with single; returns the exit code.
 * A signal exits the process with 0, or with 1 if single is not done.
 */
int password_sync_run(const struct password_sync_options *options);

#endif /* !MQTT_BRIDGE_PASSWORD_SYNC_H */
