/*
 * The schema has checked lengths and bounds of each member; here they are
 * checked together.
 */
#include "alarm/alarm_wire.h"

#include <stdio.h>

#include "core/mem.h"

#define DAY INT64_C(86400)

/* ---- members ---- */

/* Two digits at a position of a member whose pattern the schema has checked. */
static int
alarm_digits(struct str s, size_t at)
{
	return (s.p[at] - '0') * 10 + (s.p[at + 1] - '0');
}

static bool
alarm_is_digits(struct str s, const char *pattern)
{
	size_t i;

	if (s.n != strlen(pattern))
		return false;
	for (i = 0; i < s.n; i++) {
		if (pattern[i] == '0' ? s.p[i] < '0' || s.p[i] > '9'
				      : s.p[i] != pattern[i])
			return false;
	}
	return true;
}

/* YYYY-MM-DD of a day that exists. */
static bool
alarm_read_date(struct str s, int64_t *day)
{
	struct civil c;

	if (!alarm_is_digits(s, "0000-00-00"))
		return false;
	c.year = alarm_digits(s, 0) * 100 + alarm_digits(s, 2);
	c.month = alarm_digits(s, 5);
	c.day = alarm_digits(s, 8);
	if (c.month < 1 || c.month > 12 || c.day < 1 ||
	    c.day > civil_month_days(c.year, c.month))
		return false;
	*day = civil_days(c);
	return true;
}

static bool
alarm_read_time(struct str s, int *time_s)
{
	bool has_s = alarm_is_digits(s, "00:00:00");

	if (!has_s && !alarm_is_digits(s, "00:00"))
		return false;
	if (alarm_digits(s, 0) > 23 || alarm_digits(s, 3) > 59 ||
	    (has_s && alarm_digits(s, 6) > 59))
		return false;
	*time_s = alarm_digits(s, 0) * 3600 + alarm_digits(s, 3) * 60 +
	    (has_s ? alarm_digits(s, 6) : 0);
	return true;
}

/* ---- reading ---- */

/* The name of the first member that is wrong, or NULL. */

static const char *
alarm_read_days(const struct wire_alarm_rule *in, struct alarm_rule *r)
{
	size_t i;

	if (in->from.p != NULL && !alarm_read_date(in->from, &r->from_day))
		return "from: must be a day, YYYY-MM-DD";
	if (in->until.p != NULL && !alarm_read_date(in->until, &r->until_day))
		return "until: must be a day, YYYY-MM-DD";
	r->has_from = in->from.p != NULL;
	r->has_until = in->until.p != NULL;
	if (in->every > 1 && !r->has_from)
		return "from: is required with every";
	for (i = 0; i < in->n_weekdays; i++)
		r->weekdays |= 1u << (in->weekdays[i] - 1);
	for (i = 0; i < in->n_month_days; i++) {
		if (in->month_days[i] == 0)
			return "month_days: must be 1 to 31, or -1";
		r->month_days |= UINT32_C(1)
		    << (in->month_days[i] < 0 ? ALARM_LAST_DAY
					      : in->month_days[i]);
	}
	return NULL;
}

static const char *
alarm_read_dates(const struct wire_alarm_rule *in, struct alarm_rule *r)
{
	if (in->n_dates > ALARM_DATES_MAX)
		return "dates: are too many";
	for (; r->n_dates < in->n_dates; r->n_dates++) {
		int64_t *day = &r->dates[r->n_dates];

		if (!alarm_read_date(in->dates[r->n_dates], day) ||
		    (r->n_dates > 0 && day[0] <= day[-1]))
			return "dates: must be days, YYYY-MM-DD, in order";
	}
	return r->n_dates == 0 ? "dates: must be given" : NULL;
}

static const char *
alarm_read_single(const struct wire_alarm_rule *in, struct alarm_rule *r)
{
	if (r->instant.ms > 0)
		return NULL;
	if (!alarm_read_date(in->date, &r->dates[0]))
		return "date: must be a day, YYYY-MM-DD, or instant be given";
	r->n_dates = 1;
	return NULL;
}

static const char *
alarm_read_kind(const struct wire_alarm_rule *in, struct alarm_rule *r)
{
	switch (r->kind) {
	case ALARM_SINGLE:
		return alarm_read_single(in, r);
	case ALARM_EVERY:
		if (r->instant.ms <= 0)
			return "instant: must be given";
		return r->every_s == 0 ? "every_s: must be given" : NULL;
	case ALARM_WEEKLY:
		return r->weekdays == 0 ? "weekdays: must be given" : NULL;
	case ALARM_MONTHLY:
		return r->month_days == 0 ? "month_days: must be given" : NULL;
	case ALARM_DATES:
		return alarm_read_dates(in, r);
	case ALARM_YEARLY:
	case ALARM_LUNAR:
		return r->month == 0 ? "month: must be given" : NULL;
	case ALARM_DAILY:
	case ALARM_WORKDAYS:
	case ALARM_KIND_COUNT:
		break;
	}
	return NULL;
}

static const char *
alarm_read_members(const struct wire_alarm_rule *in, struct alarm_rule *r)
{
	const char *why = alarm_read_days(in, r);

	if (why != NULL)
		return why;
	if (in->instant.p != NULL &&
	    wall_parse(in->instant, &r->instant) != RC_OK)
		return "instant: must be a time, RFC 3339";
	if (r->kind != ALARM_EVERY && r->instant.ms <= 0 &&
	    !alarm_read_time(in->at, &r->time_s))
		return "at: must be a time of day, HH:MM or HH:MM:SS";
	why = alarm_read_kind(in, r);
	if (why == NULL && !alarm_rule_is_valid(r))
		why = "day: the kind has no such day";
	return why;
}

enum rc
alarm_rule_of_wire(const struct wire_alarm_rule *in, struct alarm_rule *out,
    char *why, size_t size)
{
	const char *wrong;

	*out = (struct alarm_rule){ .kind = (enum alarm_kind)in->kind,
		.every_s = in->every_s,
		.every = (int)in->every,
		.month = (int)in->month,
		.day = (int)in->day,
		.leap = in->leap };
	wrong = alarm_read_members(in, out);
	if (wrong == NULL)
		return RC_OK;
	(void)snprintf(why, size, "/%s", wrong);
	return RC_INVALID;
}

/* ---- writing ---- */

static struct str
alarm_write_date(struct arena *a, int64_t day)
{
	struct civil c = civil_of_days(day);

	return arena_printf(a, "%04d-%02d-%02d", (int)c.year, c.month, c.day);
}

static struct str
alarm_write_time(struct arena *a, int s)
{
	if (s % 60 == 0)
		return arena_printf(a, "%02d:%02d", s / 3600, s / 60 % 60);
	return arena_printf(a, "%02d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
}

static bool
alarm_write_lists(
    const struct alarm_rule *r, struct arena *a, struct wire_alarm_rule *out)
{
	int i;

	out->weekdays = arena_alloc(a, 7 * sizeof(*out->weekdays));
	out->month_days = arena_alloc(a, 32 * sizeof(*out->month_days));
	out->dates = arena_alloc(a, ALARM_DATES_MAX * sizeof(*out->dates));
	if (out->weekdays == NULL || out->month_days == NULL ||
	    out->dates == NULL)
		return false;
	for (i = 0; i < 7; i++) {
		if ((r->weekdays >> i & 1u) != 0)
			out->weekdays[out->n_weekdays++] = i + 1;
	}
	for (i = 1; i < 32; i++) {
		if ((r->month_days >> i & 1u) != 0)
			out->month_days[out->n_month_days++] = i;
	}
	if ((r->month_days >> ALARM_LAST_DAY & 1u) != 0)
		out->month_days[out->n_month_days++] = -1;
	out->has_weekdays = out->n_weekdays > 0;
	out->has_month_days = out->n_month_days > 0;
	if (r->kind != ALARM_DATES)
		return true;
	out->has_dates = true;
	for (; out->n_dates < r->n_dates; out->n_dates++) {
		struct str *s = &out->dates[out->n_dates];

		*s = alarm_write_date(a, r->dates[out->n_dates]);
		if (s->p == NULL)
			return false;
	}
	return true;
}

static bool
alarm_write_texts(const struct alarm_rule *r, const struct zone *zone,
    struct arena *a, struct wire_alarm_rule *out)
{
	char instant[WALL_FORMAT_MAX];
	bool ok = true;

	if (r->instant.ms > 0) {
		wall_format(
		    r->instant, zone_offset_min(zone, r->instant), instant);
		out->instant = arena_str(a, str_of(instant));
		ok = out->instant.p != NULL;
	} else {
		out->at = alarm_write_time(a, r->time_s);
		ok = out->at.p != NULL;
	}
	if (ok && r->kind == ALARM_SINGLE && r->instant.ms <= 0) {
		out->date = alarm_write_date(a, r->dates[0]);
		ok = out->date.p != NULL;
	}
	if (ok && r->has_from) {
		out->from = alarm_write_date(a, r->from_day);
		ok = out->from.p != NULL;
	}
	if (ok && r->has_until) {
		out->until = alarm_write_date(a, r->until_day);
		ok = out->until.p != NULL;
	}
	return ok;
}

enum rc
alarm_rule_to_wire(const struct alarm_rule *r, const struct zone *zone,
    struct arena *a, struct wire_alarm_rule *out)
{
	*out = (struct wire_alarm_rule){
		.kind = (enum wire_alarm_rule_kind)r->kind,
		.every_s = r->every_s,
		.has_every_s = r->kind == ALARM_EVERY,
		.every = r->every,
		.month = r->month,
		.has_month = r->month > 0,
		.day = r->day,
		.has_day = r->day != 0,
		.leap = r->leap,
	};
	if (!alarm_write_lists(r, a, out) ||
	    !alarm_write_texts(r, zone, a, out))
		return RC_TOOBIG;
	return RC_OK;
}
