/*
 * The tables of tests/language: a phenomenon each, with the accuracy that must
 * not fall.  LANGUAGE_VERBOSE=1 lists the lines that differ.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/zh_fixture.h"
#include "zh/number.h"

/* A Wednesday. */
#define TABLE_NOW   "2026-05-13T10:20:00+08:00"
#define TABLE_TIMES "tests/language/times"
#define TABLE_NUMS  "tests/language/numbers"
#define LINE_MAX    512
#define ROUNDS      8
#define FILES_MAX   64

struct table_score {
	int lines, strict, any;
	double floor_strict, floor_any; /* shares that must not be missed */
};

struct table_run {
	struct datetime_now now;
	bool is_number, is_verbose;
	int round;
	struct table_score rounds[ROUNDS];
	/* Of all tables of the run. */
	struct table_score all[ROUNDS];
	int below; /* tables whose accuracy is below the floor */
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

/* 0: wrong; 1: an alternative reading; 2: as the table says. */
static int
table_score_line(struct table_run *r, const char *text, char *want)
{
	char plain[LINE_MAX], got[ZH_FIXTURE_TEXT_MAX],
	    whole[ZH_FIXTURE_TEXT_MAX];
	const char *open = strchr(text, '['), *p;
	char *next, *alternative = want;
	size_t n = 0;
	int score = 2;

	for (p = text; *p != '\0'; p++) {
		if (*p != '[' && *p != ']')
			plain[n++] = *p >= 'A' && *p <= 'Z'
			    ? (char)(*p - 'A' + 'a')
			    : *p;
	}
	plain[n] = '\0';
	if (r->is_number)
		table_show_number(plain, got);
	else
		table_show_time(r, plain, got);
	if (open == NULL)
		(void)snprintf(whole, sizeof(whole), "[%s] ", plain);
	else
		(void)snprintf(whole, sizeof(whole), "%.*s] ",
		    (int)strcspn(open, "]"), open);
	for (; alternative != NULL; alternative = next, score = 1) {
		next = strstr(alternative, " / ");
		if (next != NULL) {
			*next = '\0';
			next += 3;
		}
		if (strcmp(alternative, "none") == 0
			? got[0] == '\0' || strstr(got, "] unknown") != NULL
			: strncmp(got, whole, strlen(whole)) == 0 &&
			    table_is_meant(got + strlen(whole), alternative))
			return score;
	}
	if (r->is_verbose)
		printf("  round %d: %s | want %s | got %s\n", r->round, text,
		    want, got);
	return 0;
}

static char *
table_trim(char *s)
{
	char *end = s + strlen(s);

	while (*s == ' ')
		s++;
	while (end > s && (end[-1] == ' ' || end[-1] == '\n'))
		*--end = '\0';
	return s;
}

static void
table_read_line(struct table_run *r, const char *path, char *line)
{
	char *want, *source;
	int score;

	if (line[0] == '\n' || line[0] == '#' || line[0] == '\0')
		return;
	if (line[0] == '@') {
		(void)sscanf(line, "@round %d", &r->round);
		ck_assert(r->round > 0 && r->round < ROUNDS);
		(void)sscanf(line, "@floor %lf %lf",
		    &r->rounds[r->round].floor_strict,
		    &r->rounds[r->round].floor_any);
		return;
	}
	want = strchr(line, '|');
	source = want != NULL ? strchr(want + 1, '|') : NULL;
	ck_assert_msg(source != NULL, "%s: not three columns: %s", path, line);
	*want = *source = '\0';
	score = table_score_line(r, table_trim(line), table_trim(want + 1));
	r->rounds[r->round].lines++;
	r->rounds[r->round].strict += score == 2;
	r->rounds[r->round].any += score > 0;
}

static double
table_share(int part, int of)
{
	return of > 0 ? (double)part / of : 1;
}

static void
table_report(const char *name, const struct table_score *rounds)
{
	int i;

	printf("%-24s", name);
	for (i = 1; i < ROUNDS; i++) {
		if (rounds[i].lines > 0)
			printf("  round %d: %3d lines %.3f %.3f", i,
			    rounds[i].lines,
			    table_share(rounds[i].strict, rounds[i].lines),
			    table_share(rounds[i].any, rounds[i].lines));
	}
	printf("\n");
}

static void
table_run_file(struct table_run *r, const char *folder, const char *name)
{
	char path[512], line[LINE_MAX];
	FILE *f;
	int i;

	memset(r->rounds, 0, sizeof(r->rounds));
	r->round = 1;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL)
		table_read_line(r, path, line);
	fclose(f);
	table_report(name, r->rounds);
	for (i = 0; i < ROUNDS; i++) {
		const struct table_score *x = &r->rounds[i];

		r->all[i].lines += x->lines;
		r->all[i].strict += x->strict;
		r->all[i].any += x->any;
		if (table_share(x->strict, x->lines) + 5e-4 >=
			x->floor_strict &&
		    table_share(x->any, x->lines) + 5e-4 >= x->floor_any)
			continue;
		printf("%s: round %d is below its floor %.3f %.3f\n", path, i,
		    x->floor_strict, x->floor_any);
		r->below++;
	}
}

static int
table_is_file(const struct dirent *e)
{
	return str_ends(str_of(e->d_name), STR(".txt"));
}

static void
table_run_folder(const char *folder, bool is_number)
{
	struct zone *z = zh_fixture_zone(ZH_FIXTURE_ZONE);
	struct table_run r = { .now = zh_fixture_now(z, TABLE_NOW),
		.is_number = is_number,
		.is_verbose = getenv("LANGUAGE_VERBOSE") != NULL };
	struct dirent **names = NULL;
	int n = scandir(folder, &names, table_is_file, alphasort), i;

	ck_assert_int_gt(n, 0);
	for (i = 0; i < n; i++) {
		table_run_file(&r, folder, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	table_report("all", r.all);
	zone_free(z);
	(void)fflush(stdout);
	ck_assert_int_eq(r.below, 0);
}

TEST(times_of_the_tables)
{
	table_run_folder(TABLE_TIMES, false);
}

TEST(numbers_of_the_tables)
{
	table_run_folder(TABLE_NUMS, true);
}
