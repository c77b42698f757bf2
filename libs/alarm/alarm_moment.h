/*
 * alarm_moment: times in words, for people: 11月28日星期六早上8:00,
 * Saturday, November 28 at 8:00 am.  alarm_when_read() reads them back.
 * Pure, any thread.
 */
#ifndef ALARM_ALARM_MOMENT_H
#define ALARM_ALARM_MOMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "alarm/alarm_rule.h"
#include "core/buf.h"

/* Room for any moment, NUL included. */
#define ALARM_MOMENT_MAX 96

/*
 * alarm_moment_write(t, now, zone, chinese, dst):
 * t by the clocks of zone, in Chinese or English: the date with its weekday,
 * and the time of day.  With the year unless it is the one of now, with
 * seconds unless they are 0.
 */
void alarm_moment_write(struct wall t, struct wall now, const struct zone *zone,
    bool chinese, char dst[ALARM_MOMENT_MAX]);

/*
 * alarm_rule_describe(r, now, zone, chinese, out):
 * Append how r repeats: 每个工作日早上8:00; of one that does not, its moment.
 * It says what may surprise: months without the day, working days of a year
 * whose holidays are not published yet.
 */
void alarm_rule_describe(const struct alarm_rule *r, struct wall now,
    const struct zone *zone, bool chinese, struct buf *out);

#endif /* !ALARM_ALARM_MOMENT_H */
