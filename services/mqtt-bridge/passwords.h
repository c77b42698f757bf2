/*
 * passwords: the command that keeps the broker's password file in step with
 * the identities of bodies.
 */
#ifndef MQTT_BRIDGE_PASSWORDS_H
#define MQTT_BRIDGE_PASSWORDS_H

#include "svc/svc.h"

extern const struct svc_command passwords_command;

#endif /* !MQTT_BRIDGE_PASSWORDS_H */
