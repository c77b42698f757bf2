/*
 * Datetime expressions printed and compared as text.
 */
#include "testkit/zh_fixture.h"

#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"

struct zone *
zh_fixture_zone(const char *name)
{
	struct zone *z = NULL;

	ck_assert_int_eq(zone_load(name, &z), RC_OK);
	return z;
}

struct datetime_now
zh_fixture_now(const struct zone *z, const char *instant)
{
	struct datetime_now now = { .zone = z };

	ck_assert_int_eq(wall_parse(str_of(instant), &now.now), RC_OK);
	return now;
}

/* Without the seconds if they are 0, without the time if it is midnight. */
void
zh_fixture_time(
    struct datetime_now now, struct wall t, char dst[WALL_FORMAT_MAX])
{
	dst[0] = '\0';
	if (t.ms == 0)
		return;
	wall_format(t, zone_offset_min(now.zone, t), dst);
	dst[19] = '\0';
	if (strcmp(dst + 16, ":00") == 0)
		dst[16] = '\0';
	if (strcmp(dst + 10, "T00:00") == 0)
		dst[10] = '\0';
}

static size_t
zh_fixture_rule(const struct datetime_repeat *r, char *dst, size_t n)
{
	static const char *const units[] = { "second", "minute", "hour", "day",
		"week", "month", "quarter", "year" };
	size_t at =
	    (size_t)snprintf(dst, n, " every %g %s", r->every, units[r->unit]);

	if (r->weekdays != 0)
		at += (size_t)snprintf(dst + at, n - at, " wd%x", r->weekdays);
	if (r->nth != 0)
		at += (size_t)snprintf(dst + at, n - at, " n%d", r->nth);
	if (r->month != 0)
		at += (size_t)snprintf(dst + at, n - at, " m%d", r->month);
	if (r->month_day != 0)
		at += (size_t)snprintf(dst + at, n - at, " d%d", r->month_day);
	if (r->month_days != 0)
		at +=
		    (size_t)snprintf(dst + at, n - at, " ds%x", r->month_days);
	if (r->time_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, " t%d", r->time_s);
	if (r->until_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, "-%d", r->until_s);
	return at;
}

void
zh_fixture_show(
    struct datetime_now now, const char *text, char dst[ZH_FIXTURE_TEXT_MAX])
{
	static const char *const kinds[] = { "span", "at", "in", "repeat" };
	static const char *const grains[] = { "s", "min", "h", "day", "week",
		"month", "quarter", "year" };
	struct datetime w[ZH_FIXTURE_FOUND];
	size_t n = datetime_find(now, str_of(text), w, ZH_FIXTURE_FOUND), i,
	       at = 0;
	char from[WALL_FORMAT_MAX], to[WALL_FORMAT_MAX];

	dst[0] = '\0';
	for (i = 0; i < n; i++) {
		zh_fixture_time(now, w[i].from, from);
		zh_fixture_time(now, w[i].to, to);
		at += (size_t)snprintf(dst + at, ZH_FIXTURE_TEXT_MAX - at,
		    "%s[%.*s] %s %s", i > 0 ? " | " : "",
		    (int)(w[i].end - w[i].start), text + w[i].start,
		    kinds[w[i].kind], grains[w[i].grain]);
		if (w[i].kind != DATETIME_DURATION)
			at += (size_t)snprintf(
			    dst + at, ZH_FIXTURE_TEXT_MAX - at, " %s", from);
		if (w[i].kind == DATETIME_INTERVAL)
			at += (size_t)snprintf(
			    dst + at, ZH_FIXTURE_TEXT_MAX - at, "..%s", to);
		if (w[i].kind == DATETIME_REPEAT)
			at += zh_fixture_rule(
			    &w[i].repeat, dst + at, ZH_FIXTURE_TEXT_MAX - at);
		if (w[i].kind == DATETIME_DURATION || w[i].is_relative)
			at += (size_t)snprintf(dst + at,
			    ZH_FIXTURE_TEXT_MAX - at, " %gs", w[i].seconds);
		if (w[i].is_relative)
			at += (size_t)snprintf(
			    dst + at, ZH_FIXTURE_TEXT_MAX - at, " rel");
		if (w[i].is_unknown)
			at += (size_t)snprintf(
			    dst + at, ZH_FIXTURE_TEXT_MAX - at, " unknown");
		if (w[i].is_approximate)
			at += (size_t)snprintf(
			    dst + at, ZH_FIXTURE_TEXT_MAX - at, " approx");
	}
}

void
zh_fixture_check(const struct zh_fixture_case *cases, size_t n)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct datetime_now now = zh_fixture_now(z, ZH_FIXTURE_NOW);
	char got[ZH_FIXTURE_TEXT_MAX];
	size_t i, bad = 0;

	for (i = 0; i < n; i++) {
		zh_fixture_show(now, cases[i].text, got);
		if (strcmp(got, cases[i].want) == 0)
			continue;
		bad++;
		printf("%s\n  want %s\n  got  %s\n", cases[i].text,
		    cases[i].want, got);
	}
	zone_free(z);
	ck_assert_msg(bad == 0, "%zu of %zu cases", bad, n);
}
