/*
 * The tables of times and numbers in tests/language, with the accuracy that
 * must not fall.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/language_table.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"
#include "zh/number.h"

/* A Wednesday. */
#define TABLE_NOW   "2026-05-13T10:20:00+08:00"
#define TABLE_TIMES "tests/language/times"
#define TABLE_NUMS  "tests/language/numbers"
#define LINE_MAX    512

struct table_run {
	struct datetime_now now;
	bool is_number;
};

static void
table_show_rule(const struct datetime_repeat *r, char *dst, size_t n)
{
	static const char *const units[] = { "second", "minute", "hour", "day",
		"week", "month", "quarter", "year" };
	size_t at = (size_t)snprintf(
	    dst, n, "repeat every %g %s", r->every, units[r->unit]);
	int day;

	if (r->weekdays != 0)
		at += (size_t)snprintf(dst + at, n - at, " wd%x", r->weekdays);
	if (r->nth != 0)
		at += (size_t)snprintf(dst + at, n - at, " n%d", r->nth);
	if (r->month != 0)
		at += (size_t)snprintf(dst + at, n - at, " m%d", r->month);
	for (day = 1; day <= 31; day++) {
		if (r->month_days == 0 ? r->month_day == day
				       : (r->month_days >> (day - 1) & 1u) != 0)
			at += (size_t)snprintf(dst + at, n - at, " d%d", day);
	}
	if (r->month_day < 0)
		at += (size_t)snprintf(dst + at, n - at, " d-1");
	if (r->time_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, " t%d", r->time_s);
	if (r->until_s >= 0)
		at += (size_t)snprintf(dst + at, n - at, "-%d", r->until_s);
}

/* One expression in the table's notation. */
static void
table_show_one(
    const struct table_run *r, const struct datetime *w, char *dst, size_t n)
{
	static const char *const grains[] = { "s", "min", "h", "day", "week",
		"month", "quarter", "year" };
	char from[WALL_FORMAT_MAX], to[WALL_FORMAT_MAX];

	zh_fixture_time(r->now, w->from, from);
	zh_fixture_time(r->now, w->to, to);
	if (w->is_unknown)
		(void)snprintf(dst, n, "unknown");
	else if (w->kind == DATETIME_DURATION)
		(void)snprintf(dst, n, "span %.10g", w->seconds);
	else if (w->kind == DATETIME_INSTANT)
		(void)snprintf(dst, n, "at %s %s", grains[w->grain], from);
	else if (w->kind == DATETIME_INTERVAL)
		(void)snprintf(
		    dst, n, "in %s %s..%s", grains[w->grain], from, to);
	else
		table_show_rule(&w->repeat, dst, n);
	ck_assert_int_eq(w->open == DATETIME_OPEN_START,
	    w->kind == DATETIME_INTERVAL && from[0] == '\0');
	ck_assert_int_eq(w->open == DATETIME_OPEN_END,
	    w->kind == DATETIME_INTERVAL && to[0] == '\0');
	/* No alarm before now. */
	ck_assert(w->at.ms == 0 || w->at.ms >= r->now.now.ms);
}

/* What a text means, in the table's notation. */
static void
table_show_time(
    const struct table_run *r, const char *text, char dst[ZH_FIXTURE_TEXT_MAX])
{
	struct datetime w[ZH_FIXTURE_FOUND];
	size_t n = datetime_find(r->now, str_of(text), w, ZH_FIXTURE_FOUND), i,
	       at = 0;
	char one[LINE_MAX];

	dst[0] = '\0';
	for (i = 0; i < n; i++) {
		table_show_one(r, &w[i], one, sizeof(one));
		at += (size_t)snprintf(dst + at, ZH_FIXTURE_TEXT_MAX - at,
		    "%s[%.*s] %s%s", i > 0 ? " | " : "",
		    (int)(w[i].end - w[i].start), text + w[i].start, one,
		    w[i].is_approximate ? " approx" : "");
	}
}

static void
table_show_number(const char *text, char dst[ZH_FIXTURE_TEXT_MAX])
{
	struct number found[ZH_FIXTURE_FOUND];
	size_t n = number_find(str_of(text), found, ZH_FIXTURE_FOUND), i,
	       at = 0;

	dst[0] = '\0';
	for (i = 0; i < n; i++)
		at += (size_t)snprintf(dst + at, ZH_FIXTURE_TEXT_MAX - at,
		    "%s[%.*s] %s%.*f%s%s", i > 0 ? " | " : "",
		    (int)(found[i].end - found[i].start), text + found[i].start,
		    found[i].kind == NUMBER_ORDINAL ? "#" : "",
		    floor(found[i].value) < found[i].value ? 4 : 0,
		    found[i].value, found[i].kind == NUMBER_PERCENT ? "%" : "",
		    found[i].is_approximate ? " approx" : "");
}

static bool
table_is_meant(const char *got, const char *want)
{
	size_t n = strlen(got);

	/* Approximate only if the table says so. */
	if (strstr(want, "approx") == NULL &&
	    str_ends(str_of(got), STR(" approx")))
		n -= strlen(" approx");
	return strlen(want) == n && strncmp(got, want, n) == 0;
}

static void
table_show_line(void *ctx, const struct language_line *l, char *dst, size_t n)
{
	const struct table_run *r = ctx;
	char plain[LINE_MAX], got[ZH_FIXTURE_TEXT_MAX];
	const char *p;
	size_t k = 0;

	for (p = l->text; *p != '\0'; p++) {
		if (*p != '[' && *p != ']')
			plain[k++] = *p >= 'A' && *p <= 'Z'
			    ? (char)(*p - 'A' + 'a')
			    : *p;
	}
	plain[k] = '\0';
	if (r->is_number)
		table_show_number(plain, got);
	else
		table_show_time(r, plain, got);
	(void)snprintf(dst, n, "%s", got);
}

/* The expression in brackets, or the whole text, means want. */
static enum language_match
table_match(
    void *ctx, const struct language_line *l, const char *want, const char *got)
{
	const char *open = strchr(l->text, '[');
	struct str text = open == NULL
	    ? str_of(l->text)
	    : (struct str){ open + 1, strcspn(open + 1, "]") };
	size_t i;

	(void)ctx;
	if (strcmp(want, "none") == 0)
		return got[0] == '\0' || strstr(got, "] unknown") != NULL
		    ? LANGUAGE_RIGHT
		    : LANGUAGE_WRONG;
	if (got[0] != '[' || strlen(got) < text.n + 3 || got[text.n + 1] != ']')
		return LANGUAGE_WRONG;
	for (i = 0; i < text.n; i++) {
		char c = text.p[i] >= 'A' && text.p[i] <= 'Z'
		    ? (char)(text.p[i] - 'A' + 'a')
		    : text.p[i];

		if (got[i + 1] != c)
			return LANGUAGE_WRONG;
	}
	return table_is_meant(got + text.n + 3, want) ? LANGUAGE_RIGHT
						      : LANGUAGE_WRONG;
}

static void
table_run_folder(const char *folder, bool is_number)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct table_run r = { .now = zh_fixture_now(z, TABLE_NOW),
		.is_number = is_number };
	const struct language_scorer scorer = {
		.ctx = &r, .show = table_show_line, .match = table_match
	};

	language_table_run(folder, &scorer);
	zone_free(z);
}

TEST(times_of_the_tables)
{
	table_run_folder(TABLE_TIMES, false);
}

TEST(numbers_of_the_tables)
{
	table_run_folder(TABLE_NUMS, true);
}
