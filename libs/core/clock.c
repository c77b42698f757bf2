#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "core/arena.h"
#include "core/clock.h"

#define MS_PER_DAY INT64_C(86400000)
/* 0000-01-01T00:00:00Z and the last millisecond of the year 9999. */
#define WALL_MIN_MS    INT64_C(-62167219200000)
#define WALL_MAX_MS    INT64_C(253402300799999)
#define OFFSET_MAX_MIN (23 * 60 + 59)

struct mono
clock_mono(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (struct mono){ ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec };
}

struct wall
clock_wall(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (
	    struct wall){ ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000 };
}

static int64_t
clock_add_saturated(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

struct mono
mono_add_ms(struct mono t, int64_t ms)
{
	int64_t ns;

	if (__builtin_mul_overflow(ms, INT64_C(1000000), &ns))
		ns = ms > 0 ? INT64_MAX : INT64_MIN;
	return (struct mono){ clock_add_saturated(t.ns, ns) };
}

int64_t
mono_diff_ns(struct mono a, struct mono b)
{
	int64_t d;

	if (__builtin_sub_overflow(a.ns, b.ns, &d))
		return a.ns > b.ns ? INT64_MAX : INT64_MIN;
	return d;
}

int64_t
mono_diff_ms(struct mono a, struct mono b)
{
	return mono_diff_ns(a, b) / 1000000;
}

struct mono
clock_mono_of(struct wall deadline)
{
	struct mono t;
	int64_t left;

	if (deadline.ms == 0)
		return (struct mono){ 0 };
	if (__builtin_sub_overflow(deadline.ms, clock_wall().ms, &left))
		left = INT64_MIN;
	t = mono_add_ms(clock_mono(), left);
	/* A deadline before the start of the machine is not "never". */
	if (t.ns < 1)
		t.ns = 1;
	return t;
}

static int64_t
clock_clamp(int64_t v, int64_t lo, int64_t hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

/* Write v (≥ 0) with that many digits and a separator; returns the end. */
static char *
wall_put_digits(char *dst, int64_t v, int digits, char after)
{
	int i;

	for (i = digits - 1; i >= 0; i--, v /= 10)
		dst[i] = (char)('0' + v % 10);
	dst[digits] = after;
	return dst + digits + 1;
}

void
wall_format(struct wall t, int offset_min, char dst[WALL_FORMAT_MAX])
{
	int off = (int)clock_clamp(offset_min, -OFFSET_MAX_MIN, OFFSET_MAX_MIN);
	int64_t ms = clock_clamp(t.ms, WALL_MIN_MS, WALL_MAX_MS) + off * 60000;
	int64_t days, rest;
	struct civil c;

	ms = clock_clamp(ms, WALL_MIN_MS, WALL_MAX_MS);
	days = ms / MS_PER_DAY;
	rest = ms % MS_PER_DAY;
	if (rest < 0) {
		days--;
		rest += MS_PER_DAY;
	}
	c = civil_of_days(days);
	dst = wall_put_digits(dst, c.year, 4, '-');
	dst = wall_put_digits(dst, c.month, 2, '-');
	dst = wall_put_digits(dst, c.day, 2, 'T');
	dst = wall_put_digits(dst, rest / 3600000, 2, ':');
	dst = wall_put_digits(dst, rest / 60000 % 60, 2, ':');
	dst = wall_put_digits(dst, rest / 1000 % 60, 2, '.');
	if (rest % 1000 != 0)
		dst = wall_put_digits(dst, rest % 1000, 3, '.');
	dst--; /* the last separator */
	if (off != 0) {
		*dst++ = off < 0 ? '-' : '+';
		dst = wall_put_digits(dst, (off < 0 ? -off : off) / 60, 2, ':');
		dst = wall_put_digits(dst, (off < 0 ? -off : off) % 60, 2, '.');
		dst--;
	} else {
		*dst++ = 'Z';
	}
	*dst = '\0';
}

struct str
wall_text(struct wall t, int offset_min, struct arena *a)
{
	char text[WALL_FORMAT_MAX];

	wall_format(t, offset_min, text);
	return arena_str(a, str_of(text));
}

/* Read exactly width digits. */
static bool
wall_take_digits(struct str *s, size_t width, int *out)
{
	int v = 0;

	if (s->n < width)
		return false;
	for (size_t i = 0; i < width; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		v = v * 10 + (s->p[i] - '0');
	}
	s->p += width;
	s->n -= width;
	*out = v;
	return true;
}

/* Read one byte, a or b. */
static bool
wall_take_byte(struct str *s, char a, char b)
{
	if (s->n == 0 || (s->p[0] != a && s->p[0] != b))
		return false;
	s->p++;
	s->n--;
	return true;
}

static bool
wall_take_date(struct str *s, int64_t *days)
{
	int year;
	struct civil c;

	if (!wall_take_digits(s, 4, &year) || !wall_take_byte(s, '-', '-') ||
	    !wall_take_digits(s, 2, &c.month) || !wall_take_byte(s, '-', '-') ||
	    !wall_take_digits(s, 2, &c.day))
		return false;
	c.year = year;
	if (c.month < 1 || c.month > 12 || c.day < 1 ||
	    c.day > civil_month_days(c.year, c.month))
		return false;
	*days = civil_days(c);
	return true;
}

/* The time of day in ms; *leap if its second is 60. */
static bool
wall_take_time(struct str *s, int64_t *ms, bool *leap)
{
	int h, m, sec, frac = 0, scale = 100;

	if (!wall_take_digits(s, 2, &h) || !wall_take_byte(s, ':', ':') ||
	    !wall_take_digits(s, 2, &m) || !wall_take_byte(s, ':', ':') ||
	    !wall_take_digits(s, 2, &sec))
		return false;
	if (h > 23 || m > 59 || sec > 60)
		return false;
	if (wall_take_byte(s, '.', '.')) {
		int d;

		if (!wall_take_digits(s, 1, &d))
			return false;
		do {
			frac += d * scale;
			scale /= 10;
		} while (wall_take_digits(s, 1, &d));
	}
	*leap = sec == 60;
	if (*leap) {
		sec = 59;
		frac = 999;
	}
	*ms = ((h * 60 + m) * 60 + sec) * INT64_C(1000) + frac;
	return true;
}

/* "Z" or ±hh:mm, in minutes. */
static bool
wall_take_offset(struct str *s, int *min)
{
	int h, m, sign = 1;

	*min = 0;
	if (wall_take_byte(s, 'Z', 'z'))
		return true;
	if (s->n > 0 && s->p[0] == '-')
		sign = -1;
	if (!wall_take_byte(s, '+', '-') || !wall_take_digits(s, 2, &h) ||
	    !wall_take_byte(s, ':', ':') || !wall_take_digits(s, 2, &m))
		return false;
	if (h > 23 || m > 59)
		return false;
	*min = sign * (h * 60 + m);
	return true;
}

enum rc
wall_parse(struct str s, struct wall *out)
{
	int64_t days, ms;
	int offset;
	bool leap;

	if (!wall_take_date(&s, &days) || !wall_take_byte(&s, 'T', 't') ||
	    !wall_take_time(&s, &ms, &leap) || !wall_take_offset(&s, &offset) ||
	    s.n != 0)
		return RC_INVALID;
	ms += days * MS_PER_DAY - offset * INT64_C(60000);
	/* A leap second is at the end of a day of UTC. */
	if (leap && (ms + 1) % MS_PER_DAY != 0)
		return RC_INVALID;
	out->ms = ms;
	return RC_OK;
}

/* ---- calendar dates ---- */

static int64_t
civil_floor_div(int64_t a, int64_t b)
{
	return (a >= 0 ? a : a - (b - 1)) / b;
}

int64_t
civil_days(struct civil c)
{
	/* Years begin in March, so that a leap day is the last of its year. */
	int64_t years = civil_floor_div(c.month - 1, 12);
	int64_t month = c.month - years * 12;
	int64_t y = c.year + years - (month > 2 ? 0 : 1);
	int64_t m = (month + 9) % 12;
	int64_t era = civil_floor_div(y, 400);
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * m + 2) / 5 + c.day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

struct civil
civil_of_days(int64_t days)
{
	int64_t z = days + 719468;
	int64_t era = civil_floor_div(z, 146097);
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t m = (5 * doy + 2) / 153;
	struct civil c;

	c.day = (int)(doy - (153 * m + 2) / 5 + 1);
	c.month = (int)(m < 10 ? m + 3 : m - 9);
	c.year = yoe + era * 400 + (c.month <= 2 ? 1 : 0);
	return c;
}

int
civil_weekday(int64_t days)
{
	/* Day 0 was a Thursday. */
	int64_t n = days + 3;

	return (int)(n - civil_floor_div(n, 7) * 7) + 1;
}

int
civil_month_days(int64_t year, int month)
{
	return (int)(civil_days((struct civil){ year, month + 1, 1 }) -
	    civil_days((struct civil){ year, month, 1 }));
}

int64_t
clock_thread_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/* ---- CPU budgets ---- */

void
budget_start(struct budget *b, int64_t ns)
{
	b->cpu_end_ns = clock_thread_ns() + ns;
	b->check_at.ns = clock_mono().ns + ns;
}

bool
budget_over(struct budget *b)
{
	struct mono now = clock_mono();
	int64_t left;

	if (now.ns < b->check_at.ns)
		return false;
	left = b->cpu_end_ns - clock_thread_ns();
	b->check_at.ns = now.ns + left;
	return left <= 0;
}
