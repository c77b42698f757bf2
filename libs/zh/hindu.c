/*
 * The moon's longitude after E. W. Brown in short: the largest waves, good to
 * some minutes of arc, a quarter of an hour of time.  Signs and stars are
 * counted from the Lahiri zero point.
 */
#include "zh/hindu.h"

#include <math.h>
#include <stddef.h>

#include "core/clock.h"
#include "core/mem.h"
#include "zh/lunar.h"

#define JD_1970  2440587.5
#define JD_2000  2451545.0
#define DEG      (3.14159265358979323846 / 180)
#define SYNODIC  29.530588861
#define SIDEREAL 27.321662
#define YEAR     365.256363
/* Terrestrial time to universal time, and to the clocks of India. */
#define DELTA_T (68. / 86400)
#define INDIA   (5.5 / 24)
#define STAR    (360. / 27)
#define SUNSET  (18. / 24)

struct wave {
	double size;            /* degrees */
	int d, sun, moon, node; /* multiples of D, M, M', F */
};

static const struct wave waves[] = {
	{ 6.288774, 0, 0, 1, 0 },
	{ 1.274027, 2, 0, -1, 0 },
	{ .658314, 2, 0, 0, 0 },
	{ .213618, 0, 0, 2, 0 },
	{ -.185116, 0, 1, 0, 0 },
	{ -.114332, 0, 0, 0, 2 },
	{ .058793, 2, 0, -2, 0 },
	{ .057066, 2, -1, -1, 0 },
	{ .053322, 2, 0, 1, 0 },
	{ .045758, 2, -1, 0, 0 },
	{ -.040923, 0, 1, -1, 0 },
	{ -.034720, 1, 0, 0, 0 },
	{ -.030383, 0, 1, 1, 0 },
	{ .015327, 2, 0, 0, -2 },
	{ -.012528, 0, 0, 1, 2 },
	{ .010980, 0, 0, 1, -2 },
	{ .010675, 4, 0, -1, 0 },
	{ .010034, 0, 0, 3, 0 },
};

static double
moon_longitude(double jde)
{
	double t = (jde - JD_2000) / 36525;
	double l = 218.3164477 + 481267.88123421 * t;
	double d = 297.8501921 + 445267.1114034 * t;
	double sun = 357.5291092 + 35999.0502909 * t;
	double moon = 134.9633964 + 477198.8675055 * t;
	double node = 93.2720950 + 483202.0175233 * t;
	size_t i;

	for (i = 0; i < NELEM(waves); i++) {
		const struct wave *w = &waves[i];

		l += w->size *
		    sin((w->d * d + w->sun * sun + w->moon * moon +
			    w->node * node) *
			DEG);
	}
	return l;
}

/* Where the stars stand against the equinox. */
static double
ayanamsa(double jde)
{
	return 23.857 + (jde - JD_2000) / 36525 * 1.39689;
}

static double
sun_among_stars(double jde)
{
	return lunar_sun(jde) - ayanamsa(jde);
}

static double
moon_among_stars(double jde)
{
	return moon_longitude(jde) - ayanamsa(jde);
}

static double
elongation(double jde)
{
	return moon_longitude(jde) - lunar_sun(jde);
}

/* The moment near jde at which an angle is reached that takes period days. */
static double
moment_of(double (*angle)(double), double degrees, double period, double jde)
{
	double off;
	int i;

	for (i = 0; i < 8; i++) {
		off = remainder(degrees - angle(jde), 360);
		jde += off * period / 360;
		if (fabs(off) < 1e-3)
			break;
	}
	return jde;
}

/* Days of India, with their fraction. */
static double
india(double jde)
{
	return jde - JD_1970 - DELTA_T + INDIA;
}

/* The moment the sun enters a sign in a year of ours. */
static double
sign_entered(int64_t year, int sign)
{
	/* The Goat is entered in January, the Ram in April. */
	double start = JD_2000 + YEAR * (double)(year - 2000) + 103;

	return moment_of(sun_among_stars, 30. * sign, YEAR,
	    start + YEAR / 12 * (sign < 9 ? sign : sign - 12));
}

static bool
is_known(int64_t year)
{
	return year >= 1900 && year <= 2100;
}

bool
hindu_tithi(int64_t year, int month, int tithi, int hour, int64_t *day)
{
	double entered, age, from, at;

	if (!is_known(year))
		return false;
	entered = sign_entered(year, month);
	/* How far the moon is past the new moon then. */
	age = fmod(elongation(entered), 360);
	age = age < 0 ? age + 360 : age;
	from = moment_of(elongation, 12. * (tithi - 1), SYNODIC,
	    entered + (12. * (tithi - 1) - age) / 360 * SYNODIC);
	*day = (int64_t)ceil(india(from) - hour / 24.);
	/* Whether it is over at that hour. */
	at = from + (double)*day + hour / 24. - india(from);
	if (remainder(elongation(at) - 12. * tithi, 360) >= 0)
		--*day;
	return true;
}

bool
hindu_star(int64_t year, int sign, int star, int hour, int64_t *day)
{
	double end, back, left;

	if (!is_known(year))
		return false;
	end = sign_entered(year, sign) + YEAR / 12;
	end = moment_of(sun_among_stars, 30. * (sign + 1), YEAR, end);
	/* How far the moon is past the star's end then. */
	back = fmod(moon_among_stars(end) - STAR * (star + 1), 360);
	back = back < 0 ? back + 360 : back;
	left = india(moment_of(moon_among_stars, STAR * (star + 1), SIDEREAL,
	    end - back / 360 * SIDEREAL));
	*day = (int64_t)floor(left - hour / 24.);
	return true;
}

bool
hindu_sign(int64_t year, int sign, int64_t *day)
{
	double at;

	if (!is_known(year))
		return false;
	at = india(sign_entered(year, sign));
	*day = (int64_t)floor(at + 1 - SUNSET);
	return true;
}
