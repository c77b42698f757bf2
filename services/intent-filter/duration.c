/*
 * Numbers with a unit of time.
 */
#include "duration.h"

#include "core/mem.h"

#define SECONDS_MAX 1e9

/* Longest first among those that begin alike. */
static const struct {
	struct str word;
	double seconds;
} units[] = {
	{ STR_INIT("分钟"), 60 },
	{ STR_INIT("分鐘"), 60 },
	{ STR_INIT("分"), 60 },
	{ STR_INIT("秒"), 1 },
	{ STR_INIT("个小时"), 3600 },
	{ STR_INIT("個小時"), 3600 },
	{ STR_INIT("小时"), 3600 },
	{ STR_INIT("小時"), 3600 },
	{ STR_INIT("个钟头"), 3600 },
	{ STR_INIT("钟头"), 3600 },
	{ STR_INIT("天"), 86400 },
	{ STR_INIT("minute"), 60 },
	{ STR_INIT("min"), 60 },
	{ STR_INIT("second"), 1 },
	{ STR_INIT("sec"), 1 },
	{ STR_INIT("hour"), 3600 },
	{ STR_INIT("day"), 86400 },
};

/* The end of the number at i: digits, and a point between digits. */
static size_t
number_end(struct str s, size_t i)
{
	bool point = false;

	while (i < s.n) {
		if (s.p[i] >= '0' && s.p[i] <= '9') {
			i++;
		} else if (s.p[i] == '.' && !point && i + 1 < s.n &&
		    s.p[i + 1] >= '0' && s.p[i + 1] <= '9') {
			point = true;
			i++;
		} else {
			break;
		}
	}
	return i;
}

static bool
unit_at(struct str s, size_t i, double *seconds, size_t *end)
{
	struct str rest;
	size_t u;

	while (i < s.n && s.p[i] == ' ')
		i++;
	rest = (struct str){ s.p + i, s.n - i };
	for (u = 0; u < NELEM(units); u++) {
		if (str_starts(rest, units[u].word)) {
			*seconds = units[u].seconds;
			*end = i + units[u].word.n;
			return true;
		}
	}
	return false;
}

bool
duration_find(struct str folded, size_t from, struct duration *out)
{
	size_t i, end, unit_end;
	double number, unit;

	for (i = from; i < folded.n; i = end + 1) {
		end = number_end(folded, i);
		if (end == i || !unit_at(folded, end, &unit, &unit_end))
			continue;
		if (str_to_f64((struct str){ folded.p + i, end - i }, 0,
			SECONDS_MAX / unit, &number) != RC_OK)
			continue;
		*out = (struct duration){ number * unit, i, unit_end };
		return true;
	}
	return false;
}

size_t
duration_count(struct str folded)
{
	struct duration d;
	size_t n = 0, at = 0;

	while (duration_find(folded, at, &d)) {
		n++;
		at = d.end;
	}
	return n;
}
