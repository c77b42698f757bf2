/*
 * on_message: a message from the broker: whether it is let in, and which part
 * it is for.
 *
 * The topic alone says whose it is.  What one body says too much is dropped
 * unread (flood.h).  What is kept by the broker where nothing should be, as a
 * result, is cleared, by the replica that leads.
 */
#ifndef MQTT_BRIDGE_ON_MESSAGE_H
#define MQTT_BRIDGE_ON_MESSAGE_H

struct bridge;
struct mqtt_msg;

/* on_message_init(b): b->flood and b's metrics of it. */
void on_message_init(struct bridge *b);

/* on_message(b, m): As mqtt_opts.on_message; b is a struct bridge. */
void on_message(void *b, const struct mqtt_msg *m);

#endif /* !MQTT_BRIDGE_ON_MESSAGE_H */
