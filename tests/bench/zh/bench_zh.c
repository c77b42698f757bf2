/*
 * The accuracy of numbers and datetime expressions on a corpus, and the time of
 * a call.
 *
 * ZH_CORPUS is a folder with <dim>.jsonl for the dims below, one JSON object
 * per line: utterance, kind, and value, unit, grain, start, end_exclusive as
 * the kind requires.  Times are local; the reference time is
 * 2013-02-12T04:30:00-02:00.  Without it sample.jsonl is used.  ZH_VERBOSE=1
 * lists the failures.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "zh/datetime.h"
#include "zh/number.h"

#define REFERENCE "2013-02-12T04:30:00-02:00"
#define ZONE      "Etc/GMT+2"
#define SAMPLE    "tests/bench/zh/sample.jsonl"
#define LINE_MAX  4096
#define FOUND_MAX 8
#define CALLS     20000

struct score {
	int lines, right;
	int by_rule;   /* "…后" where a run of units is expected */
	int cantonese; /* left out */
	int holidays, holiday_right; /* of the lines, those that name one */
	/* Days of calendars that the library does not have; not in lines. */
	int left_out, left_out_right;
};

struct corpus_run {
	struct datetime_now now;
	struct score score;
	const char *dim;
	bool verbose;
	json_t *line;
};

static const char *
corpus_text(const struct corpus_run *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j->line, key));

	return s != NULL ? s : "";
}

/* Words of Cantonese only. */
static bool
corpus_is_cantonese(const char *s)
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
corpus_is_left_out(const struct corpus_run *j)
{
	static const char *const days[] = { "七七节", "九夜节", "住棚节",
		"侯丽节", "光明节", "克哈特普迦节", "十胜节", "卫塞节",
		"印度丰收节", "印度兄妹节", "圣会节", "圣殿被毁日",
		"以色列独立日", "排灯节", "欧南节", "犹太新年", "犹太植树节",
		"篝火节", "西赫托拉节", "赎罪日", "逾越节" };
	const char *name = corpus_text(j, "holiday");
	size_t i;

	for (i = 0; i < NELEM(days); i++) {
		if (strncmp(name, days[i], strlen(days[i])) == 0)
			return true;
	}
	return false;
}

/* A local time as the corpus writes it; a month or day 00 is the first. */
static struct wall
corpus_wall(const struct corpus_run *j, const char *s)
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
corpus_is_near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-9;
}

static bool
corpus_number_ok(const struct corpus_run *j, struct str s)
{
	struct number n;
	const char *rest;
	double want = json_number_value(json_object_get(j->line, "value"));
	bool ordinal = strcmp(corpus_text(j, "kind"), "ordinal") == 0;

	if (!number_at(s, 0, &n) || !corpus_is_near(n.value, want) ||
	    ordinal != (n.kind == NUMBER_ORDINAL))
		return false;
	rest = s.p + n.end;
	/* A measure word may follow. */
	return *rest == '\0' || strcmp(rest, "个") == 0 ||
	    strcmp(rest, "個") == 0;
}

static double
corpus_unit_seconds(const char *unit)
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

/* The only expression, which spans the whole line. */
static bool
corpus_find_whole(const struct corpus_run *j, struct str s, struct datetime *w)
{
	struct datetime found[FOUND_MAX];

	if (datetime_find(j->now, s, found, FOUND_MAX) != 1 ||
	    found[0].start != 0 || found[0].end != s.n)
		return false;
	*w = found[0];
	return true;
}

static bool
corpus_duration_ok(const struct corpus_run *j, struct str s)
{
	struct datetime w;
	const char *unit = corpus_text(j, "unit");
	double n = json_number_value(json_object_get(j->line, "value"));
	double want = n * corpus_unit_seconds(unit);

	if (!corpus_find_whole(j, s, &w) || w.kind != DATETIME_DURATION)
		return false;
	/* 27 months may be two years and three months. */
	if (strcmp(unit, "Month") == 0 && n > 12 &&
	    corpus_is_near(w.seconds,
		floor(n / 12) * corpus_unit_seconds("Year") +
		    fmod(n, 12) * corpus_unit_seconds(unit)))
		return true;
	return corpus_is_near(w.seconds, want);
}

/* 三天后 is judged as the last of the three days, 三天前 as the first. */
static bool
corpus_unit_ok(struct corpus_run *j, const struct datetime *w, struct wall from,
    struct wall to)
{
	int64_t unit =
	    (int64_t)corpus_unit_seconds(corpus_text(j, "grain")) * 1000;
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
corpus_time_ok(struct corpus_run *j, struct str s)
{
	struct datetime w;
	struct wall from, to;

	if (!corpus_find_whole(j, s, &w))
		return false;
	if (strcmp(corpus_text(j, "kind"), "instant") == 0) {
		from = corpus_wall(j, corpus_text(j, "value"));
		return w.kind == DATETIME_INSTANT && w.from.ms == from.ms;
	}
	from = corpus_wall(j, corpus_text(j, "start"));
	to = corpus_wall(j, corpus_text(j, "end_exclusive"));
	if (w.kind == DATETIME_INSTANT && w.is_relative)
		return corpus_unit_ok(j, &w, from, to);
	return w.kind == DATETIME_INTERVAL && w.from.ms == from.ms &&
	    w.to.ms == to.ms;
}

static void
corpus_lower(char *s)
{
	for (; *s != '\0'; s++) {
		if (*s >= 'A' && *s <= 'Z')
			*s = (char)(*s - 'A' + 'a');
	}
}

static void
corpus_print_failed(const struct corpus_run *j, struct str s)
{
	struct datetime found[FOUND_MAX];
	char from[WALL_FORMAT_MAX], to[WALL_FORMAT_MAX];
	size_t n, i;

	printf("  %s: %.*s: %s %s %s", j->dim, STR_ARG(s),
	    corpus_text(j, "value"), corpus_text(j, "start"),
	    corpus_text(j, "end_exclusive"));
	n = datetime_find(j->now, s, found, FOUND_MAX);
	for (i = 0; i < n; i++) {
		wall_format(found[i].from, -120, from);
		wall_format(found[i].to, -120, to);
		printf(" | %d [%zu,%zu) %.19s %.19s %g", found[i].kind,
		    found[i].start, found[i].end, from, to, found[i].seconds);
	}
	printf("\n");
}

static void
corpus_score_line(struct corpus_run *j)
{
	char *text = str_dup(str_of(corpus_text(j, "utterance")));
	struct str s = str_of(text);
	const char *kind = corpus_text(j, "kind");
	bool ok;

	if (corpus_is_cantonese(text)) {
		j->score.cantonese++;
		free(text);
		return;
	}
	if (strcmp(kind, "numeral") == 0 || strcmp(kind, "ordinal") == 0) {
		ok = corpus_number_ok(j, s);
	} else {
		corpus_lower(text);
		ok = strcmp(kind, "duration") == 0 ? corpus_duration_ok(j, s)
						   : corpus_time_ok(j, s);
	}
	if (corpus_is_left_out(j)) {
		j->score.left_out++;
		j->score.left_out_right += ok;
		free(text);
		return;
	}
	j->score.lines++;
	j->score.right += ok;
	if (json_object_get(j->line, "holiday") != NULL) {
		j->score.holidays++;
		j->score.holiday_right += ok;
	}
	if (!ok && j->verbose)
		corpus_print_failed(j, s);
	free(text);
}

static void
corpus_score_file(struct corpus_run *j, const char *path)
{
	char line[LINE_MAX];
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		j->line = json_loads(line, 0, NULL);
		ck_assert_msg(j->line != NULL, "%s: %s", path, line);
		corpus_score_line(j);
		json_decref(j->line);
	}
	fclose(f);
	printf("%-10s %4d of %4d right (%.1f %%)", j->dim, j->score.right,
	    j->score.lines, 100. * j->score.right / j->score.lines);
	if (j->score.cantonese > 0)
		printf(", %d Cantonese left out", j->score.cantonese);
	if (j->score.by_rule > 0)
		printf(", %d by their outermost unit", j->score.by_rule);
	if (j->score.holidays > 0)
		printf("; %d of %d holidays, %.1f %% of the others",
		    j->score.holiday_right, j->score.holidays,
		    100. * (j->score.right - j->score.holiday_right) /
			(j->score.lines - j->score.holidays));
	printf("\n");
	if (j->score.left_out > 0)
		printf("calendars left out: %d lines, %d right\n",
		    j->score.left_out, j->score.left_out_right);
}

static struct datetime_now
bench_now(struct zone **z, const char *name, const char *instant)
{
	struct datetime_now now = { .zone = NULL };

	ck_assert_int_eq(zone_load(name, z), RC_OK);
	now.zone = *z;
	ck_assert_int_eq(wall_parse(str_of(instant), &now.now), RC_OK);
	return now;
}

TEST_T(corpus_accuracy, 60)
{
	static const char *const dims[] = { "numeral", "ordinal", "duration",
		"time" };
	const char *folder = getenv("ZH_CORPUS");
	struct zone *z = NULL;
	struct corpus_run j = { .now = bench_now(&z, ZONE, REFERENCE) };
	char path[1024];
	size_t i;

	j.verbose = getenv("ZH_VERBOSE") != NULL;
	if (folder == NULL) {
		printf(
		    "ZH_CORPUS=<folder with time.jsonl, …>: use that corpus\n");
		j.dim = "sample";
		corpus_score_file(&j, SAMPLE);
		zone_free(z);
		return;
	}
	for (i = 0; i < NELEM(dims); i++) {
		snprintf(path, sizeof(path), "%s/%s.jsonl", folder, dims[i]);
		j.dim = dims[i];
		j.score = (struct score){ 0 };
		corpus_score_file(&j, path);
	}
	zone_free(z);
}

static double
bench_cpu_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

TEST_T(cost_per_call, 60)
{
	static const char *const texts[] = { "打开客厅的灯",
		"10分钟后提醒我喝水", "明天早上七点半叫我起床",
		"每周一三五晚上8点提醒我跑步",
		"remind me in 10 minutes to call mom",
		"中秋节那天晚上提醒我赏月" };
	struct zone *z = NULL;
	struct datetime_now now =
	    bench_now(&z, "Asia/Shanghai", "2026-02-22T09:40:00Z");
	struct datetime w[FOUND_MAX];
	size_t i, k, found;
	double start;

	for (i = 0; i < NELEM(texts); i++) {
		struct str s = str_of(texts[i]);

		found = 0;
		start = bench_cpu_us();
		for (k = 0; k < CALLS; k++)
			found += datetime_find(now, s, w, FOUND_MAX);
		printf("%8.2f us  %.*s (%zu found)\n",
		    (bench_cpu_us() - start) / CALLS, STR_ARG(s),
		    found / CALLS);
	}
	zone_free(z);
}
