/*
 * command_forward: commands to terminals that have moved to another broker.
 *
 * A caller knows a terminal's broker from the record that it has read; when the
 * terminal moves, a command may still come to the bridges of the broker that it
 * left.  One that was not sent to the terminal is forwarded, a single time, to
 * the bridges of the other broker.
 */
#ifndef MQTT_BRIDGE_COMMAND_FORWARD_H
#define MQTT_BRIDGE_COMMAND_FORWARD_H

#include <stdbool.h>

#include "bus/bus.h"
#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

struct bridge;

/* forward_allowed(m): Whether m was not forwarded yet. */
bool forward_allowed(const struct bus_msg *m);

/*
 * forward_find(b, terminal, token):
 * The token of the broker at which the terminal is present.  RC_NOENT if that
 * is b's own, or there is none; otherwise the error of Redis.  In a fiber.
 */
enum rc forward_find(
    struct bridge *b, struct str terminal, char token[ID_TOKEN_MAX]) RC_CHECK;

/*
 * forward_request(b, m, token, fn, arg):
 * Send m to the bridges of that broker, with its deadline, trace and headers.
 * fn is as of bus_request(), and is called only if this returns RC_OK.
 */
enum rc forward_request(struct bridge *b, const struct bus_msg *m,
    const char *token, bus_reply_fn fn, void *arg) RC_CHECK;

/* forward_publish(b, m, token): The same without a reply. */
enum rc forward_publish(
    struct bridge *b, const struct bus_msg *m, const char *token) RC_CHECK;

#endif /* !MQTT_BRIDGE_COMMAND_FORWARD_H */
