/*
 * speech_rule: whether a soul may speak unasked now.  Pure.
 */
#ifndef ALARM_CLOCK_SPEECH_RULE_H
#define ALARM_CLOCK_SPEECH_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "state/speech.h"
#include "wire/msgs.h"

struct zone;

/* Of what the soul thinks of itself: between two, and on a day. */
#define SPEECH_COOLDOWN_MS INT64_C(60000)
/* Not while a turn of the user runs, nor this long after one has begun. */
#define SPEECH_TURN_MS     INT64_C(20000)
#define SPEECH_TURN_RUN_MS INT64_C(2000)
/* Room for a day, NUL included. */
#define SPEECH_DAY_TEXT_MAX 16

enum speech_verdict {
	SPEECH_NOW,
	SPEECH_WAIT, /* until then */
	SPEECH_NEVER
};

struct speech_decision {
	enum speech_verdict verdict;
	int64_t until_ms;
	const char *reason; /* a constant */
};

/*
 * speech_decide(r, x, zone, per_day):
 * At the time and with the settings of x; per_day: how often a soul speaks of
 * itself on a day.
 */
struct speech_decision speech_decide(const struct wire_alarm_record *r,
    const struct speech_context *x, const struct zone *zone, int64_t per_day);

/* speech_day(now_ms, zone, dst): The day, "YYYY-MM-DD" by the zone's clocks. */
void speech_day(
    int64_t now_ms, const struct zone *zone, char dst[SPEECH_DAY_TEXT_MAX]);

#endif /* !ALARM_CLOCK_SPEECH_RULE_H */
