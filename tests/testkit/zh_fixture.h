/*
 * zh_fixture: a text and the datetime expressions expected in it, written as
 *
 *   [text] kind grain from..to seconds flags | [next text] …
 *
 * from and to as local times (empty: open), to of intervals only; repetitions
 * with their rule.  The reference time is Sunday 2026-02-22, 17:40 in Shanghai.
 */
#ifndef TESTKIT_ZH_FIXTURE_H
#define TESTKIT_ZH_FIXTURE_H

#include <stddef.h>

#include "core/clock.h"
#include "zh/datetime.h"

#define ZH_FIXTURE_NOW      "2026-02-22T17:40:00+08:00"
#define ZH_FIXTURE_ZONE     "Asia/Shanghai"
#define ZH_FIXTURE_FOUND    16 /* expressions of one text */
#define ZH_FIXTURE_TEXT_MAX 2048

struct zh_fixture_case {
	const char *text, *want;
};

/* zh_fixture_zone(name): Load a zone; fails the test. */
struct zone *zh_fixture_zone(const char *name);

/* zh_fixture_now(z, time): The reference time, RFC 3339; fails the test. */
struct datetime_now zh_fixture_now(const struct zone *z, const char *time);

/*
 * zh_fixture_time(now, t, dst):
 * Format a local time; without seconds if they are 0, without time of day at
 * midnight; "" if t is 0.
 */
void zh_fixture_time(
    struct datetime_now now, struct wall t, char dst[WALL_FORMAT_MAX]);

/* zh_fixture_show(now, text, dst): Format all expressions of a text. */
void zh_fixture_show(
    struct datetime_now now, const char *text, char dst[ZH_FIXTURE_TEXT_MAX]);

/* zh_fixture_check(cases, n): Print what differs; fails the test then. */
void zh_fixture_check(const struct zh_fixture_case *cases, size_t n);

#endif /* !TESTKIT_ZH_FIXTURE_H */
