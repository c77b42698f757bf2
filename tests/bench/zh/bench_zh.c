/*
 * How much of a corpus of numerals and expressions of time is read as it should
 * be, and what a call takes.
 *
 * ZH_CORPUS is a folder with <dim>.jsonl for the dims below, one JSON object a
 * line: utterance, kind, and value, unit, grain, start, end_exclusive as the
 * kind wants.  Times are local, said at 2013-02-12T04:30:00-02:00.  Without it
 * sample.jsonl is judged.  ZH_VERBOSE=1 lists what fails.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/number.h"
#include "zh/when.h"

#define REFERENCE "2013-02-12T04:30:00-02:00"
#define ZONE      "Etc/GMT+2"
#define SAMPLE    "tests/bench/zh/sample.jsonl"
#define LINE_MAX  4096
#define FOUND_MAX 8
#define CALLS     20000

struct score {
	int lines, right;
	int by_rule;             /* "…后" where a run of units is wanted */
	int cantonese;           /* left out */
	int feasts, feast_right; /* of the lines, those named for a feast */
	/* Days of calendars that the library does not have; not in lines. */
	int left_out, left_out_right;
};

struct judge {
	struct when_now now;
	struct score score;
	const char *dim;
	bool verbose;
	json_t *line;
};

static const char *
text_of(const struct judge *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j->line, key));

	return s != NULL ? s : "";
}

/* Words that only Cantonese has. */
static bool
is_cantonese(const char *s)
{
	static const char *const words[] = { "聽日", "尋日", "而家", "依家",
		"宜家", "晏晝", "今個", "個鐘", "個半鐘", "個字", "份一",
		"十分一", "份十一" };
	size_t i;

	for (i = 0; i < NELEM(words); i++) {
		if (strstr(s, words[i]) != NULL)
			return true;
	}
	return false;
}

/*
 * Days of the Hebrew and Hindu calendars, by the names that the corpus gives
 * them in "holiday"; 印度丰收节 also with the number of its day.
 */
static bool
is_of_calendar_left_out(const struct judge *j)
{
	static const char *const days[] = { "七七节", "九夜节", "住棚节",
		"侯丽节", "光明节", "克哈特普迦节", "十胜节", "卫塞节",
		"印度丰收节", "印度兄妹节", "圣会节", "圣殿被毁日",
		"以色列独立日", "排灯节", "欧南节", "犹太新年", "犹太植树节",
		"篝火节", "西赫托拉节", "赎罪日", "逾越节" };
	const char *name = text_of(j, "holiday");
	size_t i;

	for (i = 0; i < NELEM(days); i++) {
		if (strncmp(name, days[i], strlen(days[i])) == 0)
			return true;
	}
	return false;
}

/* A local time as the corpus writes it; a month or day 00 is the first. */
static struct wall
wall_of(const struct judge *j, const char *s)
{
	char text[40];
	struct wall t = { 0 };
	int k;

	snprintf(text, sizeof(text), "%.19s-02:00", s);
	for (k = 5; k <= 8 && strlen(text) > 10; k += 3) {
		if (text[k] == '0' && text[k + 1] == '0')
			text[k + 1] = '1';
	}
	(void)j;
	if (wall_parse(str_of(text), &t) != RC_OK)
		t.ms = 1;
	return t;
}

static bool
near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-9;
}

static bool
number_ok(const struct judge *j, struct str s)
{
	struct number n;
	const char *rest;
	double want = json_number_value(json_object_get(j->line, "value"));
	bool ordinal = strcmp(text_of(j, "kind"), "ordinal") == 0;

	if (!number_at(s, 0, &n) || !near(n.value, want) ||
	    ordinal != (n.kind == NUMBER_ORDINAL))
		return false;
	rest = s.p + n.end;
	/* A measure word may be left. */
	return *rest == '\0' || strcmp(rest, "个") == 0 ||
	    strcmp(rest, "個") == 0;
}

static double
unit_seconds(const char *unit)
{
	static const struct {
		const char *name;
		double s;
	} units[] = { { "Second", 1 }, { "Minute", 60 }, { "Hour", 3600 },
		{ "Day", 86400 }, { "Week", 604800 }, { "Month", 30 * 86400 },
		{ "Quarter", 91 * 86400 }, { "Year", 365 * 86400 } };
	size_t i;

	for (i = 0; i < NELEM(units); i++) {
		if (strcmp(units[i].name, unit) == 0)
			return units[i].s;
	}
	return 0;
}

/* The one expression of the whole line. */
static bool
whole(const struct judge *j, struct str s, struct when *w)
{
	struct when found[FOUND_MAX];

	if (when_find(j->now, s, found, FOUND_MAX) != 1 ||
	    found[0].start != 0 || found[0].end != s.n)
		return false;
	*w = found[0];
	return true;
}

static bool
duration_ok(const struct judge *j, struct str s)
{
	struct when w;
	const char *unit = text_of(j, "unit");
	double n = json_number_value(json_object_get(j->line, "value"));
	double want = n * unit_seconds(unit);

	if (!whole(j, s, &w) || w.kind != WHEN_DURATION)
		return false;
	/* 27 months may be two years and three months. */
	if (strcmp(unit, "Month") == 0 && n > 12 &&
	    near(w.seconds,
		floor(n / 12) * unit_seconds("Year") +
		    fmod(n, 12) * unit_seconds(unit)))
		return true;
	return near(w.seconds, want);
}

/* 三天后 is judged as the last of the three days, 三天前 as the first. */
static bool
unit_ok(struct judge *j, const struct when *w, struct wall from, struct wall to)
{
	int64_t unit = (int64_t)unit_seconds(text_of(j, "grain")) * 1000;
	bool ok;

	if (w->seconds > 0)
		ok = w->from.ms >= to.ms - unit - unit / 15 &&
		    w->from.ms < to.ms;
	else
		ok = w->from.ms >= from.ms &&
		    w->from.ms < from.ms + unit + unit / 15;
	if (ok)
		j->score.by_rule++;
	return ok;
}

static bool
time_ok(struct judge *j, struct str s)
{
	struct when w;
	struct wall from, to;

	if (!whole(j, s, &w))
		return false;
	if (strcmp(text_of(j, "kind"), "instant") == 0) {
		from = wall_of(j, text_of(j, "value"));
		return w.kind == WHEN_INSTANT && w.from.ms == from.ms;
	}
	from = wall_of(j, text_of(j, "start"));
	to = wall_of(j, text_of(j, "end_exclusive"));
	if (w.kind == WHEN_INSTANT && w.is_relative)
		return unit_ok(j, &w, from, to);
	return w.kind == WHEN_INTERVAL && w.from.ms == from.ms &&
	    w.to.ms == to.ms;
}

static void
lower(char *s)
{
	for (; *s != '\0'; s++) {
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
	}
}

static void
print_failed(const struct judge *j, struct str s)
{
	struct when found[FOUND_MAX];
	char from[WALL_FORMAT_MAX], to[WALL_FORMAT_MAX];
	size_t n, i;

	printf("  %s: %.*s: %s %s %s", j->dim, STR_ARG(s), text_of(j, "value"),
	    text_of(j, "start"), text_of(j, "end_exclusive"));
	n = when_find(j->now, s, found, FOUND_MAX);
	for (i = 0; i < n; i++) {
		wall_format(found[i].from, -120, from);
		wall_format(found[i].to, -120, to);
		printf(" | %d [%zu,%zu) %.19s %.19s %g", found[i].kind,
		    found[i].start, found[i].end, from, to, found[i].seconds);
	}
	printf("\n");
}

static void
judge_line(struct judge *j)
{
	char *text = str_dup(str_of(text_of(j, "utterance")));
	struct str s = str_of(text);
	const char *kind = text_of(j, "kind");
	bool ok;

	if (is_cantonese(text)) {
		j->score.cantonese++;
		free(text);
		return;
	}
	if (strcmp(kind, "numeral") == 0 || strcmp(kind, "ordinal") == 0) {
		ok = number_ok(j, s);
	} else {
		lower(text);
		ok = strcmp(kind, "duration") == 0 ? duration_ok(j, s)
						   : time_ok(j, s);
	}
	if (is_of_calendar_left_out(j)) {
		j->score.left_out++;
		j->score.left_out_right += ok;
		free(text);
		return;
	}
	j->score.lines++;
	j->score.right += ok;
	if (json_object_get(j->line, "holiday") != NULL) {
		j->score.feasts++;
		j->score.feast_right += ok;
	}
	if (!ok && j->verbose)
		print_failed(j, s);
	free(text);
}

static void
judge_file(struct judge *j, const char *path)
{
	char line[LINE_MAX];
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		j->line = json_loads(line, 0, NULL);
		ck_assert_msg(j->line != NULL, "%s: %s", path, line);
		judge_line(j);
		json_decref(j->line);
	}
	fclose(f);
	printf("%-10s %4d of %4d right (%.1f %%)", j->dim, j->score.right,
	    j->score.lines, 100. * j->score.right / j->score.lines);
	if (j->score.cantonese > 0)
		printf(", %d Cantonese left out", j->score.cantonese);
	if (j->score.by_rule > 0)
		printf(", %d by their outermost unit", j->score.by_rule);
	if (j->score.feasts > 0)
		printf("; %d of %d feasts, %.1f %% of the others",
		    j->score.feast_right, j->score.feasts,
		    100. * (j->score.right - j->score.feast_right) /
			(j->score.lines - j->score.feasts));
	printf("\n");
	if (j->score.left_out > 0)
		printf("calendars left out: %d lines, %d right\n",
		    j->score.left_out, j->score.left_out_right);
}

static struct when_now
now_at(struct zone **z, const char *name, const char *moment)
{
	struct when_now now;

	ck_assert_int_eq(zone_load(name, z), RC_OK);
	now.zone = *z;
	ck_assert_int_eq(wall_parse(str_of(moment), &now.now), RC_OK);
	return now;
}

TEST_T(corpus, 60)
{
	static const char *const dims[] = { "numeral", "ordinal", "duration",
		"time" };
	const char *folder = getenv("ZH_CORPUS");
	struct zone *z = NULL;
	struct judge j = { .now = now_at(&z, ZONE, REFERENCE) };
	char path[1024];
	size_t i;

	j.verbose = getenv("ZH_VERBOSE") != NULL;
	if (folder == NULL) {
		printf("ZH_CORPUS=<folder with time.jsonl, …> judges those\n");
		j.dim = "sample";
		judge_file(&j, SAMPLE);
		zone_free(z);
		return;
	}
	for (i = 0; i < NELEM(dims); i++) {
		snprintf(path, sizeof(path), "%s/%s.jsonl", folder, dims[i]);
		j.dim = dims[i];
		j.score = (struct score){ 0 };
		judge_file(&j, path);
	}
	zone_free(z);
}

static double
cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

TEST_T(cost, 60)
{
	static const char *const texts[] = { "打开客厅的灯",
		"10分钟后提醒我喝水", "明天早上七点半叫我起床",
		"每周一三五晚上8点提醒我跑步",
		"remind me in 10 minutes to call mom",
		"中秋节那天晚上提醒我赏月" };
	struct zone *z = NULL;
	struct when_now now =
	    now_at(&z, "Asia/Shanghai", "2026-02-22T09:40:00Z");
	struct when w[FOUND_MAX];
	size_t i, k, found;
	double start;

	for (i = 0; i < NELEM(texts); i++) {
		struct str s = str_of(texts[i]);

		found = 0;
		start = cpu_us();
		for (k = 0; k < CALLS; k++)
			found += when_find(now, s, w, FOUND_MAX);
		printf("%8.2f us  %.*s (%zu found)\n",
		    (cpu_us() - start) / CALLS, STR_ARG(s), found / CALLS);
	}
	zone_free(z);
}
