/*
 * Cases of a text and what is found in it, written as
 *
 *   [the words] kind grain from..to seconds flags | [the next words] …
 *
 * from and to as local times ("" of an open end), to only where it is said;
 * repetitions with their rule.  Said on Sunday 2026-02-22 at 17:40 in Shanghai.
 */
#ifndef UNIT_ZH_WHEN_CASE_H
#define UNIT_ZH_WHEN_CASE_H

#include <stdio.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/when.h"

#define CASE_NOW   "2026-02-22T17:40:00+08:00"
#define CASE_ZONE  "Asia/Shanghai"
#define CASE_FOUND 16
#define CASE_MAX   2048

struct when_case {
	const char *text, *want;
};

static inline struct zone *
case_zone(const char *name)
{
	struct zone *z = NULL;

	ck_assert_int_eq(zone_load(name, &z), RC_OK);
	return z;
}

static inline struct when_now
case_now(const struct zone *z, const char *moment)
{
	struct when_now now = { .zone = z };

	ck_assert_int_eq(wall_parse(str_of(moment), &now.now), RC_OK);
	return now;
}

/* Without the seconds if they are 0, without the time if it is midnight. */
static inline void
case_time(struct when_now now, struct wall t, char dst[WALL_FORMAT_MAX])
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

static inline size_t
case_rule(const struct when_repeat *r, char *dst, size_t n)
{
	static const char *const units[] = { "second", "minute", "hour", "day",
		"week", "month", "quarter", "year" };
	size_t at =
	    (size_t)snprintf(dst, n, " every %g %s", r->every, units[r->unit]);

	if (r->weekdays != 0)
		at += (size_t)snprintf(dst + at, n - at, " wd%x", r->weekdays);
	if (r->month != 0)
		at += (size_t)snprintf(dst + at, n - at, " m%d", r->month);
	if (r->month_day != 0)
		at += (size_t)snprintf(dst + at, n - at, " d%d", r->month_day);
	if (r->time_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, " t%d", r->time_s);
	if (r->until_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, "-%d", r->until_s);
	return at;
}

static inline void
case_show(struct when_now now, const char *text, char dst[CASE_MAX])
{
	static const char *const kinds[] = { "span", "at", "in", "repeat" };
	static const char *const grains[] = { "s", "min", "h", "day", "week",
		"month", "quarter", "year" };
	struct when w[CASE_FOUND];
	size_t n = when_find(now, str_of(text), w, CASE_FOUND), i, at = 0;
	char from[WALL_FORMAT_MAX], to[WALL_FORMAT_MAX];

	dst[0] = '\0';
	for (i = 0; i < n; i++) {
		case_time(now, w[i].from, from);
		case_time(now, w[i].to, to);
		at += (size_t)snprintf(dst + at, CASE_MAX - at,
		    "%s[%.*s] %s %s", i > 0 ? " | " : "",
		    (int)(w[i].end - w[i].start), text + w[i].start,
		    kinds[w[i].kind], grains[w[i].grain]);
		if (w[i].kind != WHEN_DURATION)
			at += (size_t)snprintf(
			    dst + at, CASE_MAX - at, " %s", from);
		if (w[i].kind == WHEN_INTERVAL)
			at += (size_t)snprintf(
			    dst + at, CASE_MAX - at, "..%s", to);
		if (w[i].kind == WHEN_REPEAT)
			at += case_rule(&w[i].repeat, dst + at, CASE_MAX - at);
		if (w[i].kind == WHEN_DURATION || w[i].is_relative)
			at += (size_t)snprintf(
			    dst + at, CASE_MAX - at, " %gs", w[i].seconds);
		if (w[i].is_relative)
			at += (size_t)snprintf(dst + at, CASE_MAX - at, " rel");
		if (w[i].is_vague)
			at +=
			    (size_t)snprintf(dst + at, CASE_MAX - at, " vague");
	}
}

static inline void
case_check(const struct when_case *cases, size_t n)
{
	struct zone *z = case_zone(CASE_ZONE);
	struct when_now now = case_now(z, CASE_NOW);
	char got[CASE_MAX];
	size_t i, bad = 0;

	for (i = 0; i < n; i++) {
		case_show(now, cases[i].text, got);
		if (strcmp(got, cases[i].want) == 0)
			continue;
		bad++;
		printf("%s\n  want %s\n  got  %s\n", cases[i].text,
		    cases[i].want, got);
	}
	zone_free(z);
	ck_assert_msg(bad == 0, "%zu of %zu cases", bad, n);
}

#endif /* !UNIT_ZH_WHEN_CASE_H */
