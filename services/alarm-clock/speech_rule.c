#include "speech_rule.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/zone.h"

static struct speech_decision
speech_wait(int64_t until_ms, const char *reason)
{
	return (struct speech_decision){ SPEECH_WAIT, until_ms, reason };
}

void
speech_day(
    int64_t now_ms, const struct zone *zone, char dst[SPEECH_DAY_TEXT_MAX])
{
	int64_t local = zone_local_of(zone, (struct wall){ now_ms });
	struct civil c =
	    civil_of_days((local - (local % 86400 + 86400) % 86400) / 86400);

	(void)snprintf(dst, SPEECH_DAY_TEXT_MAX, "%04d-%02d-%02d",
	    (int)(c.year % 10000), c.month % 100, c.day % 100);
}

/* Whether it is quiet, and until when. */
static bool
speech_is_quiet(
    const struct speech_context *x, const struct zone *zone, int64_t *until_ms)
{
	int64_t local = zone_local_of(zone, x->now);
	int64_t second = (local % 86400 + 86400) % 86400;
	int64_t from = (int64_t)x->soul.quiet_from * 60;
	int64_t to = (int64_t)x->soul.quiet_to * 60;
	bool in = from <= to ? second >= from && second < to
			     : second >= from || second < to;

	if (!x->soul.has_quiet || from == to || !in)
		return false;
	if (to <= second)
		to += 86400;
	*until_ms = zone_wall_of(zone, local - second + to).ms;
	if (*until_ms <= x->now.ms)
		*until_ms = x->now.ms + SPEECH_COOLDOWN_MS;
	return true;
}

/* What it thinks of itself is spoken seldom. */
static struct speech_decision
speech_decide_own(
    const struct speech_context *x, const struct zone *zone, int64_t per_day)
{
	char day[SPEECH_DAY_TEXT_MAX];

	speech_day(x->now.ms, zone, day);
	if (str_eq(x->day, str_of(day)) && x->spoken_n >= per_day)
		return speech_wait(x->now.ms + SPEECH_COOLDOWN_MS, "per_day");
	if (x->spoken.ms > 0 && x->now.ms >= x->spoken.ms &&
	    x->now.ms - x->spoken.ms < SPEECH_COOLDOWN_MS)
		return speech_wait(
		    x->spoken.ms + SPEECH_COOLDOWN_MS, "cooldown");
	return (struct speech_decision){ SPEECH_NOW, 0, "" };
}

struct speech_decision
speech_decide(const struct wire_alarm_record *r, const struct speech_context *x,
    const struct zone *zone, int64_t per_day)
{
	struct speech_decision d = { SPEECH_NOW, 0, "" };
	bool own = r->source == WIRE_ALARM_RECORD_SOURCE_NAVIGATOR;
	bool alarm = r->source == WIRE_ALARM_RECORD_SOURCE_ALARM;
	int64_t until_ms;

	if (x->soul.proactive == SPEECH_OFF ||
	    (own && x->soul.proactive != SPEECH_ALL))
		return (struct speech_decision){ SPEECH_NEVER, 0, "proactive" };
	if (alarm)
		return d;
	if (!(r->urgent && x->soul.quiet_urgent) &&
	    speech_is_quiet(x, zone, &until_ms))
		return speech_wait(until_ms, "quiet_hours");
	if (own)
		d = speech_decide_own(x, zone, per_day);
	if (d.verdict != SPEECH_NOW || r->urgent)
		return d;
	if (x->turn_runs)
		return speech_wait(
		    x->now.ms + SPEECH_TURN_RUN_MS, "turn_running");
	if (x->turn_begun.ms > 0 && x->now.ms >= x->turn_begun.ms &&
	    x->now.ms - x->turn_begun.ms < SPEECH_TURN_MS)
		return speech_wait(
		    x->turn_begun.ms + SPEECH_TURN_MS, "turn_running");
	return d;
}
