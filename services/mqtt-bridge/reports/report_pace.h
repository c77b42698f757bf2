/*
 * report_pace: how many reports are written together, from the time that the
 * last writes took.  Pure.
 *
 * A round trip is worth many reports; but what else waits for Redis, above all
 * the renewal of the lease, waits for all of them.
 */
#ifndef MQTT_BRIDGE_REPORT_PACE_H
#define MQTT_BRIDGE_REPORT_PACE_H

#include <stddef.h>
#include <stdint.h>

/* The time that a write should take. */
#define REPORT_PACE_MS 50
/* Limits of the weight of a write. */
#define REPORT_PACE_MIN 32
#define REPORT_PACE_MAX 1000
/* A report weighs one, and one more for each of these bytes of its texts. */
#define REPORT_WEIGHT_BYTES 1024

struct report_pace {
	size_t weight; /* of the next write */
};

#define REPORT_PACE_INIT                  \
	{                                 \
		.weight = REPORT_PACE_MIN \
	}

/* report_weight(bytes): The weight of a report with that many bytes of text. */
size_t report_weight(size_t bytes);

/*
 * report_pace_took(p, weight, ns):
 * A write of that weight took ns.  One that took too long reduces the next to
 * what would have been in time; a full one that did not lets it grow, at most
 * to the double.
 */
void report_pace_took(struct report_pace *p, size_t weight, int64_t ns);

#endif /* !MQTT_BRIDGE_REPORT_PACE_H */
