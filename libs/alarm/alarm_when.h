/*
 * alarm_when: a time in words, or RFC 3339, becomes a rule, or an error in
 * words; it is never guessed.
 *
 * Pure, any thread, any bytes.  Understood is what zh/datetime.h finds, with
 * the hours of its table for parts of the day (早上 is 08:00) and for a day
 * alone (09:00).  Not understood is what could be meant in two ways: 九点,
 * 七八点, 待会儿, a deadline, several times, a time that is over.
 */
#ifndef ALARM_ALARM_WHEN_H
#define ALARM_ALARM_WHEN_H

#include <stdbool.h>
#include <stddef.h>

#include "alarm/alarm_rule.h"
#include "core/rc.h"
#include "core/str.h"

/* Bytes of words; longer ones are not understood. */
#define ALARM_WORDS_MAX 256

enum alarm_when_error {
	ALARM_WHEN_OK,
	ALARM_WHEN_NONE,        /* no time at all */
	ALARM_WHEN_AMBIGUOUS,   /* 九点, 七八点 */
	ALARM_WHEN_INEXACT,     /* 待会儿, 每周, 下个月 */
	ALARM_WHEN_EXPIRED,     /* 昨天 */
	ALARM_WHEN_OPEN,        /* 周五之前, 三点以后 */
	ALARM_WHEN_SEVERAL,     /* 早上八点和晚上九点 */
	ALARM_WHEN_UNREAD,      /* a part is no time */
	ALARM_WHEN_UNSUPPORTED, /* 每年母亲节, 每季度 */
	ALARM_WHEN_FAR,         /* after ALARM_YEAR_MAX */
	ALARM_WHEN_COUNT
};

struct alarm_when_input {
	struct str when;   /* words, RFC 3339, or that without an offset */
	struct str repeat; /* 每天, weekly, if when has none; may be absent */
	struct wall now;
	const struct zone *zone;
	/*
	 * The time of day of the alarm that is changed, in seconds: 八点 is of
	 * the same half of the day.  -1: none.
	 */
	int near_s;
};

/*
 * alarm_when_parse(in, out):
 * The rule of in, which has an occurrence after in->now; *out is unspecified
 * after an error.
 */
enum alarm_when_error alarm_when_parse(
    const struct alarm_when_input *in, struct alarm_rule *out);

/*
 * alarm_when_explain(e, when, why, size):
 * The error in words for the user and a model, in the language of when: what
 * is wrong, and what to say.  At most size bytes (> 0), NUL included.
 */
void alarm_when_explain(
    enum alarm_when_error e, struct str when, char *why, size_t size);

/*
 * alarm_when_read(in, out, why, size):
 * Both: RC_INVALID with the words in why.
 */
enum rc alarm_when_read(const struct alarm_when_input *in,
    struct alarm_rule *out, char *why, size_t size) RC_CHECK;

/* [from, to), and another: of 七点, 07:00 and 19:00.  Both 0: no other. */
struct alarm_range {
	struct wall from, to;
	struct wall other_from, other_to;
};

/*
 * alarm_when_range(when, now, zone, out):
 * The time that words select alarms by, of now or later: 明天早上的 is from
 * 04:00 to 12:00, 七点的 a minute.  RC_INVALID: there is no single time in
 * when.
 */
enum rc alarm_when_range(struct str when, struct wall now,
    const struct zone *zone, struct alarm_range *out) RC_CHECK;

/* alarm_is_chinese(text): Whether to reply in Chinese: text has a character
 * beyond ASCII, or is empty. */
bool alarm_is_chinese(struct str text);

#endif /* !ALARM_ALARM_WHEN_H */
