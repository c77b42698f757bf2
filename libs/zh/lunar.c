/*
 * Months begin on the day of the new moon in Beijing; the one with the winter
 * solstice is the eleventh.  Of thirteen months between two solstices, the
 * first in which the sun enters no new sign is a leap month: it repeats the
 * number of the previous one.
 *
 * Positions after J. Meeus: the moon's phases to seconds, the sun's longitude
 * to a few seconds of arc (two minutes of time).
 */
#include "zh/holiday.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/mem.h"

/* The Julian day of 1970-01-01T00:00:00Z. */
#define JD_1970   2440587.5
#define FIRST     1900
#define LAST      2100
#define DEG       (3.14159265358979323846 / 180)
#define SYNODIC   29.530588861
#define TROPICAL  365.2422
#define MOON_2000 2451550.09766

/* Days by which terrestrial time is ahead of universal time, approximately. */
static double
lunar_delta_t(double year)
{
	double t = year - 2000, s;

	if (year < 1920)
		s = 10 + (year - 1910);
	else if (year < 1986)
		s = 21 + .5 * (year - 1920);
	else if (year < 2020)
		s = 63 + .35 * t;
	else
		s = 70 + .4 * (year - 2020);
	return s / 86400;
}

/* The day in Beijing of an instant of terrestrial time. */
static int64_t
lunar_beijing_day(double jde)
{
	double year = 2000 + (jde - 2451545) / 365.25;
	/* Local mean time until 1928. */
	double east = year < 1929 ? (7 + 45. / 60 + 40. / 3600) / 24 : 8. / 24;

	return (int64_t)floor(jde - lunar_delta_t(year) - JD_1970 + east);
}

/* A sine of multiples of the sun's and the moon's arguments. */
struct lunar_wave {
	double size;
	int sun, moon, node; /* multiples of M, M', F */
};

static const struct lunar_wave lunar_waves[] = {
	{ -.40720, 0, 1, 0 },
	{ .17241, 1, 0, 0 },
	{ .01608, 0, 2, 0 },
	{ .01039, 0, 0, 2 },
	{ .00739, -1, 1, 0 },
	{ -.00514, 1, 1, 0 },
	{ .00208, 2, 0, 0 },
	{ -.00111, 0, 1, -2 },
	{ -.00057, 0, 1, 2 },
	{ .00056, 1, 2, 0 },
	{ -.00042, 0, 3, 0 },
	{ .00042, 1, 0, 2 },
	{ .00038, 1, 0, -2 },
	{ -.00024, -1, 2, 0 },
	{ -.00007, 2, 1, 0 },
	{ .00004, 0, 2, -2 },
	{ .00004, 3, 0, 0 },
	{ .00003, 1, 1, -2 },
	{ .00003, 0, 2, 2 },
	{ -.00003, 1, 1, 2 },
	{ .00003, -1, 1, 2 },
	{ -.00002, -1, 1, -2 },
	{ -.00002, 1, 3, 0 },
	{ .00002, 0, 4, 0 },
};

/* Planetary terms: size, phase, change of phase with each moon. */
static const double lunar_planets[][3] = {
	{ .000325, 299.77, .107408 },
	{ .000165, 251.88, .016321 },
	{ .000164, 251.83, 26.651886 },
	{ .000126, 349.42, 36.412478 },
	{ .000110, 84.66, 18.206239 },
	{ .000062, 141.74, 53.303771 },
	{ .000060, 207.14, 2.453732 },
	{ .000056, 154.84, 7.306860 },
	{ .000047, 34.52, 27.261239 },
	{ .000042, 207.19, .121824 },
	{ .000040, 291.34, 1.844379 },
	{ .000037, 161.72, 24.198154 },
	{ .000035, 239.56, 25.513099 },
	{ .000023, 331.55, 3.592518 },
};

/* The day of the k-th new moon after that of 2000-01-06. */
static int64_t
lunar_new_moon(double k)
{
	double t = k / 1236.85, t2 = t * t, t3 = t2 * t;
	double e = 1 - .002516 * t - .0000074 * t2;
	double sun = 2.5534 + 29.10535670 * k - .0000014 * t2;
	double moon =
	    201.5643 + 385.81693528 * k + .0107582 * t2 + .00001238 * t3;
	double node =
	    160.7108 + 390.67050284 * k - .0016118 * t2 - .00000227 * t3;
	double omega = 124.7746 - 1.56375588 * k + .0020672 * t2;
	double jde = MOON_2000 + SYNODIC * k + .00015437 * t2 -
	    .000000150 * t3 - .00017 * sin(omega * DEG);
	size_t i;

	for (i = 0; i < NELEM(lunar_waves); i++) {
		const struct lunar_wave *w = &lunar_waves[i];
		int power = w->sun < 0 ? -w->sun : w->sun;
		double arg = w->sun * sun + w->moon * moon + w->node * node;

		jde += w->size * sin(arg * DEG) *
		    (power == 0          ? 1
			    : power == 1 ? e
					 : e * e);
	}
	for (i = 0; i < NELEM(lunar_planets); i++)
		jde += lunar_planets[i][0] *
		    sin((lunar_planets[i][1] + lunar_planets[i][2] * k) * DEG);
	return lunar_beijing_day(jde);
}

/* The sun's apparent longitude in degrees, not reduced to 360. */
static double
lunar_sun_longitude(double jde)
{
	double t = (jde - 2415020) / 36525, t2 = t * t;
	double l = 279.69668 + 36000.76892 * t + .0003025 * t2;
	double m = 358.47583 + 35999.04975 * t - .000150 * t2;
	double omega = (259.18 - 1934.142 * t) * DEG;

	m *= DEG;
	l += (1.919460 - .004789 * t - .000014 * t2) * sin(m) +
	    (.020094 - .000100 * t) * sin(2 * m) + .000293 * sin(3 * m);
	/* Venus, Jupiter, the moon. */
	l += .00134 * cos((153.23 + 22518.7541 * t) * DEG) +
	    .00154 * cos((216.57 + 45037.5082 * t) * DEG) +
	    .00200 * cos((312.69 + 32964.3577 * t) * DEG) +
	    .00179 * sin((350.74 + 445267.1142 * t) * DEG) +
	    .00178 * sin((231.19 + 20.20 * t) * DEG);
	return l - .00569 - .00479 * sin(omega);
}

bool
lunar_term(int64_t year, int degrees, int64_t *out)
{
	/* Around the equinox of March the longitude is 0. */
	double jde = 2451623.8 + TROPICAL * (double)(year - 2000) +
	    (degrees <= 280 ? degrees : degrees - 360) * TROPICAL / 360;
	double off;
	int i;

	if (year < FIRST - 1 || year > LAST + 1)
		return false;
	for (i = 0; i < 6; i++) {
		off = fmod(degrees - lunar_sun_longitude(jde), 360);
		if (off > 180)
			off -= 360;
		if (off < -180)
			off += 360;
		jde += off * TROPICAL / 360;
		if (fabs(off) < 1e-5)
			break;
	}
	*out = lunar_beijing_day(jde);
	return true;
}

/* The months from the winter solstice of year - 1 on. */
struct lunar_sui {
	double moon; /* the number of the first one's new moon */
	int n;       /* 12 or 13 */
	int leap;    /* which of them is the leap month; -1 */
};

/* The number of the new moon of the month in which day lies. */
static double
lunar_moon_before(int64_t day)
{
	double jd = (double)day + JD_1970;
	/* The true one is less than a day from the mean one. */
	double k = floor((jd + 2 - MOON_2000) / SYNODIC);

	while (lunar_new_moon(k) > day)
		k--;
	return k;
}

static bool
lunar_sui_load(int64_t year, struct lunar_sui *s)
{
	int64_t solstice, next, sign;
	int i;

	if (!lunar_term(year - 1, 270, &solstice) ||
	    !lunar_term(year, 270, &next))
		return false;
	s->moon = lunar_moon_before(solstice);
	s->n = (int)(lunar_moon_before(next) - s->moon);
	s->leap = -1;
	if (s->n < 13)
		return true;
	/* Every month before the leap month has a sign. */
	for (i = 1; i < 13 && s->leap < 0; i++) {
		if (!lunar_term(year, (270 + 30 * i) % 360, &sign))
			return false;
		if (sign >= lunar_new_moon(s->moon + i + 1))
			s->leap = i;
	}
	return true;
}

static bool
lunar_month_day(int64_t year, int month, bool is_leap, int day, int64_t *out)
{
	struct lunar_sui s;
	int64_t start;
	int i;

	if (year < FIRST || year > LAST || month < 1 || month > 12 || day < 0 ||
	    day > 30)
		return false;
	if (!lunar_sui_load(month > 10 ? year + 1 : year, &s))
		return false;
	i = month > 10 ? month - 11 : month + 1;
	/* A leap month follows the month of its number. */
	if (is_leap && s.leap != i + 1)
		return false;
	if (is_leap || (s.leap >= 0 && i >= s.leap))
		i++;
	start = lunar_new_moon(s.moon + i);
	if (day > 29 && day > lunar_new_moon(s.moon + i + 1) - start)
		return false;
	*out = start + day - 1;
	return true;
}

bool
lunar_day(int64_t year, int month, int day, int64_t *out)
{
	return lunar_month_day(year, month, false, day, out);
}

bool
lunar_leap_day(int64_t year, int month, int day, int64_t *out)
{
	return lunar_month_day(year, month, true, day, out);
}

bool
lunar_of_day(int64_t day, int64_t *year, int *month, int *dom)
{
	int64_t y = civil_of_days(day).year;
	struct lunar_sui s;
	double moon;
	int i, n;

	if (y < FIRST || y > LAST || !lunar_sui_load(y, &s))
		return false;
	moon = lunar_moon_before(day);
	if (moon >= s.moon + s.n && !lunar_sui_load(++y, &s))
		return false;
	i = (int)(moon - s.moon);
	if (i < 0)
		return false;
	n = i - (s.leap >= 0 && i >= s.leap);
	*month = (n + 10) % 12 + 1;
	*year = n < 2 ? y - 1 : y;
	*dom = (int)(day - lunar_new_moon(moon)) + 1;
	return true;
}
