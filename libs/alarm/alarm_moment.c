#include "alarm/alarm_moment.h"

#include <stdio.h>

#include "alarm/workdays.h"
#include "core/mem.h"

#define DAY INT64_C(86400)

static const char *const moment_weekdays[2][7] = {
	{ "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
	    "Sunday" },
	{ "一", "二", "三", "四", "五", "六", "日" },
};

static const char *const moment_months[12] = { "January", "February", "March",
	"April", "May", "June", "July", "August", "September", "October",
	"November", "December" };

/* The part of the day that makes an hour of the clock unambiguous. */
static const char *
moment_day_part(int hour)
{
	return hour < 5 ? "凌晨"
	    : hour < 9  ? "早上"
	    : hour < 12 ? "上午"
	    : hour < 13 ? "中午"
	    : hour < 18 ? "下午"
			: "晚上";
}

/* 早上8:00, 8:00 am. */
static void
moment_put_time(int s, bool chinese, struct buf *out)
{
	int hour = s / 3600, shown = hour;

	if (hour > 12)
		shown = hour - 12;
	if (!chinese && hour == 0)
		shown = 12;
	if (chinese)
		buf_puts(out, moment_day_part(hour));
	buf_printf(out, "%d:%02d", shown, s / 60 % 60);
	if (s % 60 != 0)
		buf_printf(out, ":%02d", s % 60);
	if (!chinese)
		buf_puts(out, hour < 12 ? " am" : " pm");
}

/* With the year unless it is this one. */
static void
moment_put_date(int64_t day, int64_t this_year, bool chinese, struct buf *out)
{
	struct civil c = civil_of_days(day);
	const char *weekday = moment_weekdays[chinese][civil_weekday(day) - 1];

	if (chinese) {
		if (c.year != this_year)
			buf_printf(out, "%d年", (int)c.year);
		buf_printf(out, "%d月%d日星期%s", c.month, c.day, weekday);
		return;
	}
	buf_printf(
	    out, "%s, %s %d", weekday, moment_months[c.month - 1], c.day);
	if (c.year != this_year)
		buf_printf(out, ", %d", (int)c.year);
}

static void
moment_put(struct wall t, struct wall now, const struct zone *zone,
    bool chinese, struct buf *out)
{
	int64_t local = zone_local_of(zone, t);
	int64_t day = (local - (local < 0 ? DAY - 1 : 0)) / DAY;
	int64_t today = zone_local_of(zone, now) / DAY;

	moment_put_date(day, civil_of_days(today).year, chinese, out);
	if (!chinese)
		buf_puts(out, " at ");
	moment_put_time((int)(local - day * DAY), chinese, out);
}

void
alarm_moment_write(struct wall t, struct wall now, const struct zone *zone,
    bool chinese, char dst[ALARM_MOMENT_MAX])
{
	struct buf b = BUF_INIT(ALARM_MOMENT_MAX);

	moment_put(t, now, zone, chinese, &b);
	str_copy(buf_str(&b), dst, ALARM_MOMENT_MAX);
	buf_free(&b);
}

/* ---- rules ---- */

static const char *
moment_plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* 每2小时, every 2 hours. */
static void
rule_put_interval(int64_t s, bool chinese, struct buf *out)
{
	int64_t n = s % 3600 == 0 ? s / 3600 : s % 60 == 0 ? s / 60 : s;
	const char *unit = chinese ? (s % 3600 == 0        ? "小时"
					     : s % 60 == 0 ? "分钟"
							   : "秒")
				   : (s % 3600 == 0        ? "hour"
					     : s % 60 == 0 ? "minute"
							   : "second");

	if (chinese)
		buf_printf(out, "每%lld%s", (long long)n, unit);
	else
		buf_printf(out, "every %lld %s%s", (long long)n, unit,
		    moment_plural(n));
}

/* 每天, 每3天, every 3 days. */
static void
rule_put_every(
    int every, const char *zh, const char *en, bool chinese, struct buf *out)
{
	if (chinese && every == 1)
		buf_printf(out, "每%s", zh);
	else if (chinese)
		buf_printf(out, "每%d%s", every, zh);
	else if (every == 1)
		buf_printf(out, "every %s", en);
	else
		buf_printf(out, "every %d %ss", every, en);
}

static void
rule_put_weekdays(unsigned weekdays, bool chinese, struct buf *out)
{
	bool more = false;
	int i;

	if (!chinese)
		buf_puts(out, " on ");
	for (i = 0; i < 7; i++) {
		if ((weekdays >> i & 1u) == 0)
			continue;
		if (more)
			buf_puts(out, chinese ? "、" : ", ");
		buf_puts(out, moment_weekdays[chinese][i]);
		more = true;
	}
}

static void
rule_put_month_days(uint32_t days, bool chinese, struct buf *out)
{
	bool more = false;
	int i;

	if (!chinese)
		buf_puts(out,
		    days == UINT32_C(1) << ALARM_LAST_DAY ? " on the "
							  : " on day ");
	for (i = 1; i < 32; i++) {
		if ((days >> i & 1u) == 0)
			continue;
		buf_printf(out, "%s%d", more ? (chinese ? "、" : ", ") : "", i);
		more = true;
	}
	if (chinese && more)
		buf_puts(out, "日");
	if ((days >> ALARM_LAST_DAY & 1u) != 0) {
		if (more)
			buf_puts(out, chinese ? "和" : " and ");
		buf_puts(out,
		    chinese    ? "最后一天"
			: more ? "the last day"
			       : "last day");
	}
}

static void
rule_put_date(const struct alarm_rule *r, bool chinese, struct buf *out)
{
	if (r->kind == ALARM_LUNAR)
		buf_puts(out,
		    chinese ? "农历" : "every year of the Chinese calendar, ");
	if (chinese)
		buf_printf(out, "%s%s%d月",
		    r->kind == ALARM_LUNAR ? "" : "每年", r->leap ? "闰" : "",
		    r->month);
	else if (r->kind == ALARM_LUNAR)
		buf_printf(out, "%smonth %d", r->leap ? "leap " : "", r->month);
	else
		buf_printf(out, "every %s", moment_months[r->month - 1]);
	if (r->day < 0)
		buf_puts(out, chinese ? "最后一天" : " on its last day");
	else if (chinese)
		buf_printf(out, "%d日", r->day);
	else
		buf_printf(
		    out, r->kind == ALARM_LUNAR ? ", day %d" : " %d", r->day);
}

static void
rule_put_dates(const struct alarm_rule *r, bool chinese, struct buf *out)
{
	size_t i;

	for (i = 0; i < r->n_dates; i++) {
		if (i > 0)
			buf_puts(out, chinese ? "、" : "; ");
		moment_put_date(r->dates[i], 0, chinese, out);
	}
}

/* The days of a rule, without the time of day. */
static void
rule_put_days(const struct alarm_rule *r, bool chinese, struct buf *out)
{
	switch (r->kind) {
	case ALARM_DAILY:
		rule_put_every(r->every, "天", "day", chinese, out);
		break;
	case ALARM_WORKDAYS:
		buf_puts(out, chinese ? "每个工作日" : "every working day");
		break;
	case ALARM_WEEKLY:
		rule_put_every(r->every, r->every == 1 ? "周" : "周的周",
		    "week", chinese, out);
		rule_put_weekdays(r->weekdays, chinese, out);
		break;
	case ALARM_MONTHLY:
		rule_put_every(r->every, r->every == 1 ? "月" : "个月的",
		    "month", chinese, out);
		rule_put_month_days(r->month_days, chinese, out);
		break;
	case ALARM_YEARLY:
	case ALARM_LUNAR:
		rule_put_date(r, chinese, out);
		break;
	case ALARM_SINGLE:
	case ALARM_DATES:
		rule_put_dates(r, chinese, out);
		break;
	case ALARM_EVERY:
	case ALARM_KIND_COUNT:
		break;
	}
}

/* What may surprise of a rule. */
static void
rule_put_note(const struct alarm_rule *r, struct wall now,
    const struct zone *zone, bool chinese, struct buf *out)
{
	int64_t year = civil_of_days(zone_local_of(zone, now) / DAY).year;

	if (r->kind == ALARM_MONTHLY && (r->month_days & 0xe0000000u) != 0)
		buf_puts(out,
		    chinese ? "（没有这一天的月份跳过）"
			    : " (months without that day are left out)");
	else if (r->kind == ALARM_YEARLY && r->month == 2 && r->day == 29)
		buf_puts(out, chinese ? "（只在闰年）" : " (leap years only)");
	else if (r->kind == ALARM_WORKDAYS && workdays_apply(zone) &&
	    !workdays_is_known(year + 1))
		buf_printf(out,
		    chinese ? "（%d年起的放假安排尚未收录，按周一到周五）"
			    : " (holidays from %d on are not known yet: Monday "
			      "to Friday)",
		    (int)(workdays_is_known(year) ? year + 1 : year));
}

void
alarm_rule_describe(const struct alarm_rule *r, struct wall now,
    const struct zone *zone, bool chinese, struct buf *out)
{
	if (r->kind == ALARM_EVERY) {
		rule_put_interval(r->every_s, chinese, out);
		return;
	}
	if (r->kind == ALARM_SINGLE) {
		moment_put(r->instant.ms > 0
			? r->instant
			: alarm_instant_of(zone, r->dates[0] * DAY + r->time_s),
		    now, zone, chinese, out);
		return;
	}
	rule_put_days(r, chinese, out);
	if (!chinese)
		buf_puts(out, " at ");
	moment_put_time(r->time_s, chinese, out);
	rule_put_note(r, now, zone, chinese, out);
}
