/*
 * on_command: commands to bodies, from the bus to the broker.
 *
 * Those that ask for an answer (invoke, intent_action) get it once the broker
 * has acknowledged: whether it was delivered.  Nothing is sent late: what waits
 * for the broker waits here, and its deadline is looked at when it is its turn.
 */
#ifndef MQTT_BRIDGE_ON_COMMAND_H
#define MQTT_BRIDGE_ON_COMMAND_H

struct bridge;
struct commands;

/* commands_new(b): Subscribe. */
struct commands *commands_new(struct bridge *b);

/* commands_free(c): After mqtt_free(); NULL is allowed. */
void commands_free(struct commands *c);

/* commands_broker_down(c): Nothing that waits will be sent. */
void commands_broker_down(struct commands *c);

#endif /* !MQTT_BRIDGE_ON_COMMAND_H */
