/*
 * command: a command to a body, checked before it is passed on.
 */
#ifndef MQTT_BRIDGE_COMMAND_H
#define MQTT_BRIDGE_COMMAND_H

#include <stddef.h>

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

/* Texts live in the arena or in the input. */
struct command {
	struct str payload;    /* what the body gets */
	struct str request_id; /* absent: it has none */
	struct str skill;      /* of an invoke; absent otherwise */
	struct wall deadline;  /* its own; {0}: none */
};

/*
 * command_read(row, terminal, in, now, a, out, err):
 * Read the command for that row of wire_topics and that terminal.  It is passed
 * on as it came, but an invoke without a time gets now.  RC_INVALID if it
 * breaks its schema or is meant for another terminal, RC_TOOBIG if it does not
 * fit a; err then says why.
 */
struct command_in {
	size_t row;
	struct str terminal;
	struct str text;
	struct wall now;
};
enum rc command_read(const struct command_in *in, struct arena *a,
    struct command *out, struct wire_err *err) RC_CHECK;

#endif /* !MQTT_BRIDGE_COMMAND_H */
