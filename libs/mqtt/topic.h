/*
 * topic: topics as libmosquitto wants them, NUL-terminated.
 */
#ifndef MQTT_TOPIC_H
#define MQTT_TOPIC_H

#include "mqtt/mqtt.h"

/* topic_copy(t, dst), topic_filter_copy(f, dst): dst is t, if it is valid. */
bool topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1]);
bool topic_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1]);

#endif /* !MQTT_TOPIC_H */
