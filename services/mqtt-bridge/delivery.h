/*
 * delivery: what becomes of a command, and what its sender is told.
 */
#ifndef MQTT_BRIDGE_DELIVERY_H
#define MQTT_BRIDGE_DELIVERY_H

#include <stdbool.h>

#include "core/clock.h"
#include "core/rc.h"
#include "wire/msgs.h"

/* The answer to a command: a state, or the error that rc is. */
struct delivery {
	enum rc rc;
	enum wire_delivery_state state; /* if rc is RC_OK */
};

/* What is known of a command that is about to be sent. */
struct delivery_facts {
	struct wall now;
	struct wall
	    deadlines[2]; /* of the request, of the command; {0}: none */
	bool up;          /* the broker is connected */
	enum rc known;    /* whether presence could be found out */
	bool present;     /* the body is there */
};

/*
 * delivery_before(f, d):
 * Whether to send it; if not, d is the answer.
 */
bool delivery_before(const struct delivery_facts *f, struct delivery *d);

/* delivery_late(now, deadlines): Whether one of them has passed. */
bool delivery_late(struct wall now, const struct wall deadlines[2]);

/*
 * delivery_after(rc):
 * The answer once the publish has ended with rc, as mqtt_publish() or its
 * completion tells.
 */
struct delivery delivery_after(enum rc rc);

#endif /* !MQTT_BRIDGE_DELIVERY_H */
