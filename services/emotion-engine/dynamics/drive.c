/*
 * The drives of a soul.
 */
#include "dynamics/drive.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/mem.h"
#include "dynamics/pad.h"

#define MINUTE_NS INT64_C(60000000000)
#define DAY_NS    (INT64_C(86400) * 1000000000)
/* What remains of the distance to the baseline after a minute. */
#define MINUTE_REMAINS 0.95
/* What a turn adds, and all turns of a day. */
#define TURN_DELTA 0.01
#define DAY_DELTA  0.2

static const struct {
	double start, baseline, sensitivity;
} drive_traits[DRIVE_N] = {
	[DRIVE_FEAR] = { .1, .1, .8 },
	[DRIVE_SURVIVAL] = { .9, .9, .5 },
	[DRIVE_CURIOSITY] = { .5, .5, .6 },
	[DRIVE_LAZINESS] = { .2, .2, .4 },
	[DRIVE_INTIMACY] = { .1, .0, .3 },
};

void
drives_new(struct drives *d, int64_t now)
{
	*d = (struct drives){ .day = now / DAY_NS, .last_updated = now };
	for (size_t i = 0; i < DRIVE_N; i++)
		d->value[i] = drive_traits[i].start;
}

void
drives_update(struct drives *d, int64_t now)
{
	if (now <= d->last_updated)
		return;
	double minutes = (double)(now - d->last_updated) / MINUTE_NS;
	double remains = pow(MINUTE_REMAINS, minutes);
	for (size_t i = 0; i < DRIVE_N; i++) {
		double to = drive_traits[i].baseline;
		d->value[i] = clamp(to + (d->value[i] - to) * remains, 0, 1);
	}
	d->last_updated = now;
}

/* ---- deltas ---- */

static const struct {
	struct str name;
	bool is_drive;
	int at; /* of drive or pad */
	double sign;
} drive_names[] = {
	{ STR_INIT("fear"), true, DRIVE_FEAR, 1 },
	{ STR_INIT("survival"), true, DRIVE_SURVIVAL, 1 },
	{ STR_INIT("curiosity"), true, DRIVE_CURIOSITY, 1 },
	{ STR_INIT("laziness"), true, DRIVE_LAZINESS, 1 },
	{ STR_INIT("intimacy"), true, DRIVE_INTIMACY, 1 },
	{ STR_INIT("p"), false, 0, 1 },
	{ STR_INIT("pleasure"), false, 0, 1 },
	{ STR_INIT("a"), false, 1, 1 },
	{ STR_INIT("arousal"), false, 1, 1 },
	{ STR_INIT("d"), false, 2, 1 },
	{ STR_INIT("dominance"), false, 2, 1 },
	{ STR_INIT("joy"), false, 0, 1 },
	{ STR_INIT("sadness"), false, 0, -1 },
	{ STR_INIT("anger"), false, 0, -1 },
};

enum rc
drive_delta_add(struct str name, double x, struct drive_delta *out)
{
	if (!(x >= -1 && x <= 1))
		return RC_INVALID;
	for (size_t i = 0; i < NELEM(drive_names); i++) {
		if (!str_eq(name, drive_names[i].name))
			continue;
		int at = drive_names[i].at;
		x *= drive_names[i].sign;
		if (drive_names[i].is_drive)
			out->drive[at] += x;
		else
			out->pad[at] += x;
		return RC_OK;
	}
	return RC_NOENT;
}

/* Add by to *x, which stays at least at min; returns what it has changed. */
static double
drive_move(double *x, double by, double min)
{
	double before = *x;

	*x = clamp(before + by, min, 1);
	return *x - before;
}

static double
drive_limit(double x)
{
	return clamp(x, -DRIVE_DELTA_MAX, DRIVE_DELTA_MAX);
}

void
drives_apply(struct drives *d, struct pad_state *s, struct drive_delta *delta)
{
	for (size_t i = 0; i < DRIVE_N; i++)
		delta->drive[i] = drive_move(&d->value[i],
		    drive_limit(delta->drive[i]) * drive_traits[i].sensitivity,
		    0);
	double *pad[] = { &s->p, &s->a, &s->d };
	for (size_t i = 0; i < NELEM(pad); i++)
		delta->pad[i] =
		    drive_move(pad[i], drive_limit(delta->pad[i]), -1);
}

void
drives_turn(struct drives *d, int64_t now)
{
	drives_update(d, now);
	int64_t day = d->last_updated / DAY_NS;
	if (day > d->day) {
		d->day = day;
		d->turns = 0;
	}
	double by = fmin(TURN_DELTA, DAY_DELTA - d->turns);
	if (!(by > 0))
		return;
	d->turns += by;
	(void)drive_move(&d->value[DRIVE_INTIMACY],
	    by * drive_traits[DRIVE_INTIMACY].sensitivity, 0);
}
