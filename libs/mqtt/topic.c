/*
 * topic: rules for topics and filters, as libmosquitto knows them.
 *
 * Its functions that take a length read behind it, so they get copies.
 */
#include "mqtt/mqtt_internal.h"

#include <mosquitto.h>

static bool
copy(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	if (t.n < 1 || t.n > MQTT_TOPIC_MAX || memchr(t.p, '\0', t.n) != NULL)
		return false;
	memcpy(dst, t.p, t.n);
	dst[t.n] = '\0';
	return mosquitto_validate_utf8(dst, (int)t.n) == MOSQ_ERR_SUCCESS;
}

bool
topic_copy(struct str t, char dst[MQTT_TOPIC_MAX + 1])
{
	return copy(t, dst) &&
	    mosquitto_pub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
topic_filter_copy(struct str f, char dst[MQTT_TOPIC_MAX + 1])
{
	return copy(f, dst) &&
	    mosquitto_sub_topic_check(dst) == MOSQ_ERR_SUCCESS;
}

bool
mqtt_topic_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return topic_copy(t, z);
}

bool
mqtt_filter_valid(struct str t)
{
	char z[MQTT_TOPIC_MAX + 1];

	return topic_filter_copy(t, z);
}

bool
mqtt_topic_matches(struct str filter, struct str t)
{
	char fz[MQTT_TOPIC_MAX + 1], tz[MQTT_TOPIC_MAX + 1];
	bool result = false;

	return topic_filter_copy(filter, fz) && topic_copy(t, tz) &&
	    mosquitto_topic_matches_sub(fz, tz, &result) == MOSQ_ERR_SUCCESS &&
	    result;
}
