/*
 * The drives of a soul.
 */
#include <math.h>

#include "core/mem.h"
#include "dynamics/drive.h"
#include "dynamics/pad.h"
#include "soul_script.h"
#include "testkit/testkit.h"

#define MINUTE (INT64_C(60) * 1000000000)
#define DAY    (INT64_C(86400) * 1000000000)
#define TOL    1e-9

static const struct drives unmoved = { .value = { .1, .9, .5, .2, .1 } };

/* The numbers of the first implementation, with a minute for each call. */
TEST(drives_return_by_a_twentieth_in_a_minute)
{
	struct drive_delta delta = { .drive = { [DRIVE_FEAR] = .5 } };
	struct pad_state s = { .p = 0 };
	struct drives d;

	drives_new(&d, T0);
	for (size_t i = 0; i < DRIVE_N; i++)
		ck_assert_double_eq(d.value[i], unmoved.value[i]);
	drives_update(&d, T0 + MINUTE);
	ck_assert_double_eq_tol(d.value[DRIVE_INTIMACY], .095, TOL);
	ck_assert_double_eq_tol(d.value[DRIVE_FEAR], .1, TOL);
	drives_update(&d, T0 + 11 * MINUTE);
	ck_assert_double_eq_tol(d.value[DRIVE_INTIMACY], .0568800092, TOL);

	/* Fear by 0.5 is more than one delta may have. */
	drives_new(&d, T0);
	drives_apply(&d, &s, &delta);
	ck_assert_double_eq_tol(delta.drive[DRIVE_FEAR], .24, TOL);
	delta.drive[DRIVE_FEAR] = .2;
	drives_apply(&d, &s, &delta);
	ck_assert_double_eq_tol(d.value[DRIVE_FEAR], .5, TOL);
	drives_update(&d, T0 + MINUTE);
	ck_assert_double_eq_tol(d.value[DRIVE_FEAR], .48, TOL);
	drives_update(&d, T0 + 11 * MINUTE);
	ck_assert_double_eq_tol(d.value[DRIVE_FEAR], .3275200369, TOL);
	ck_assert_double_eq(s.p, 0);
}

TEST(any_number_of_steps_gives_the_same_drives)
{
	struct drives one = { .value = { .8, .1, .9, .7, .6 } }, many = one;

	drives_update(&one, 7 * MINUTE);
	for (int i = 1; i <= 420; i++)
		drives_update(&many, i * MINUTE / 60);
	for (size_t i = 0; i < DRIVE_N; i++)
		ck_assert_double_eq_tol(many.value[i], one.value[i], 1e-12);
	/* An earlier time changes nothing. */
	drives_update(&many, 3 * MINUTE);
	ck_assert_double_eq_tol(many.value[0], one.value[0], 1e-12);
	ck_assert_int_eq(many.last_updated, 7 * MINUTE);
}

TEST(a_delta_has_names_of_drives_and_emotions)
{
	static const struct {
		const char *name;
		double x;
		enum rc rc;
	} rows[] = {
		{ "fear", .1, RC_OK },
		{ "intimacy", -1, RC_OK },
		{ "p", 1, RC_OK },
		{ "dominance", .2, RC_OK },
		{ "mood", .1, RC_NOENT },
		{ "", .1, RC_NOENT },
		{ "Fear", .1, RC_NOENT },
		{ "fear", 1.01, RC_INVALID },
		{ "fear", -1.01, RC_INVALID },
		{ "fear", NAN, RC_INVALID },
		{ "fear", INFINITY, RC_INVALID },
	};
	struct drive_delta d = { .pad = { 0 } };

	for (size_t i = 0; i < NELEM(rows); i++)
		ck_assert_int_eq(
		    drive_delta_add(str_of(rows[i].name), rows[i].x, &d),
		    rows[i].rc);
	d = (struct drive_delta){ .pad = { 0 } };
	ck_assert_int_eq(drive_delta_add(STR("joy"), .3, &d), RC_OK);
	ck_assert_int_eq(drive_delta_add(STR("sadness"), .1, &d), RC_OK);
	ck_assert_int_eq(drive_delta_add(STR("anger"), .1, &d), RC_OK);
	ck_assert_double_eq_tol(d.pad[0], .1, TOL);
}

TEST(a_delta_is_what_has_changed)
{
	struct drive_delta delta = { .drive = { .3, .3, -.3, 0, -.3 },
		.pad = { -.9, .2, .1 } };
	struct drives d = { .value = { .1, .95, .5, .2, .01 } };
	struct pad_state s = { .p = -.95, .a = .1, .d = .95 };

	drives_apply(&d, &s, &delta);
	ck_assert_double_eq_tol(delta.drive[DRIVE_FEAR], .24, TOL);
	ck_assert_double_eq_tol(delta.drive[DRIVE_SURVIVAL], .05, TOL);
	ck_assert_double_eq_tol(delta.drive[DRIVE_CURIOSITY], -.18, TOL);
	ck_assert_double_eq(delta.drive[DRIVE_LAZINESS], 0);
	ck_assert_double_eq_tol(delta.drive[DRIVE_INTIMACY], -.01, TOL);
	ck_assert_double_eq_tol(delta.pad[0], -.05, TOL);
	ck_assert_double_eq_tol(delta.pad[1], .2, TOL);
	ck_assert_double_eq_tol(delta.pad[2], .05, TOL);
	ck_assert_double_eq(d.value[DRIVE_SURVIVAL], 1);
	ck_assert_double_eq(d.value[DRIVE_INTIMACY], 0);
	ck_assert_double_eq(s.p, -1);
}

/* 20 turns of a day count. */
TEST(turns_of_a_day_add_to_intimacy_up_to_a_limit)
{
	struct drives d;
	int64_t now = 100 * DAY;

	drives_new(&d, now);
	for (int i = 0; i < 30; i++)
		drives_turn(&d, now);
	ck_assert_double_eq_tol(
	    d.value[DRIVE_INTIMACY], .1 + 20 * .01 * .3, TOL);
	drives_turn(&d, now + DAY - 1);
	double before = d.value[DRIVE_INTIMACY];
	ck_assert_double_lt(before, 1e-3);
	drives_turn(&d, now + DAY);
	ck_assert_double_eq_tol(d.value[DRIVE_INTIMACY] - before, .003, 1e-6);
}
