/*
 * Numbers and datetime expressions of arbitrary bytes: inside the text, left to
 * right, not overlapping, finite, from before to, no trigger before now, and
 * found within a second.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "zh/datetime.h"
#include "zh/number.h"

/* Sanitized code is slower. */
#define LIMIT_S   1
#define FOUND_MAX 4096

static void
datetime_check_numbers(struct str text)
{
	static struct number found[FOUND_MAX];
	double start = cpu_s();
	size_t n = number_find(text, found, FOUND_MAX), i, last = 0;
	must(cpu_s() - start < LIMIT_S);
	for (i = 0; i < n; i++) {
		struct number second;
		must(found[i].start >= last && found[i].end > found[i].start);
		must(found[i].end <= text.n && isfinite(found[i].value));
		must(number_at(text, found[i].start, &second));
		must(second.end == found[i].end);
		last = found[i].end;
	}
}

static void
datetime_check_repeat(const struct datetime_repeat *r)
{
	must(isfinite(r->every) && r->every > 0 && r->weekdays < 0x80);
	must(r->month >= 0 && r->month <= 12);
	must(r->month_day >= -1 && r->month_day <= 31);
	must(r->time_s >= -1 && r->time_s < 3 * 86400);
	must(r->until_s == -1 || r->until_s > r->time_s);
}

static void
datetime_check_expressions(struct datetime_now now, struct str text)
{
	static struct datetime found[FOUND_MAX];
	double start = cpu_s();
	size_t n = datetime_find(now, text, found, FOUND_MAX), i, last = 0;
	must(cpu_s() - start < LIMIT_S);
	for (i = 0; i < n; i++) {
		const struct datetime *w = &found[i];
		must(w->start >= last && w->end > w->start);
		must(w->end <= text.n && isfinite(w->seconds));
		must(w->confidence > 0 && w->confidence <= 1);
		if (w->from.ms != 0 && w->to.ms != 0)
			must(w->from.ms <= w->to.ms);
		must(w->at.ms == 0 || w->at.ms >= now.now.ms);
		if (w->kind == DATETIME_DURATION)
			must(w->seconds >= 0 && w->from.ms == 0);
		if (w->kind == DATETIME_REPEAT)
			datetime_check_repeat(&w->repeat);
		last = w->end;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct zone *zone;
	struct datetime_now now = { .now = { INT64_C(1771753200000) } };
	/* A copy, so that the sanitizer sees an overread. */
	char *copy = mem_alloc(n + 1);
	struct str text = { copy, n };
	int64_t ms;
	if (zone == NULL)
		must(zone_load("America/New_York", &zone) == RC_OK);
	now.zone = zone;
	memcpy(copy, data, n);
	if (n > 8) {
		/* Another reference time. */
		memcpy(&ms, data + n - 8, 8);
		now.now.ms += ms % INT64_C(3000000000000);
	}
	copy = mem_realloc(copy, n > 0 ? n : 1);
	text.p = copy;
	datetime_check_numbers(text);
	datetime_check_expressions(now, text);
	free(copy);
	return 0;
}
