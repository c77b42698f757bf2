/*
 * The trainer: rows are read and split, training is reproducible, and the
 * committed weights recognise rows they were not trained on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "recognition/model.h"
#include "recognition/recognizer.h"
#include "testkit/testkit.h"
#include "trainer/trainer.h"

#define LINES "services/emotion-engine/trainer/lines"

static struct rows
own_rows(void)
{
	struct rows r = { 0 };
	char why[256];

	ck_assert_msg(
	    rows_add_own(&r, LINES, why, sizeof(why)) == RC_OK, "%s", why);
	(void)rows_separate(&r);
	return r;
}

/* Below the scores of the committed weights. */
#define F1_MIN_ZH .70
#define F1_MIN_EN .64

static double
macro_f1(const struct rows *r, bool chinese)
{
	struct score_pair *v = mem_calloc(r->n + 1, sizeof(v[0]));
	struct wire_user_emotion u;
	struct recognizer *f;
	char why[128];
	size_t i, n = 0;
	double f1;

	ck_assert_int_eq(recognizer_new("", &f, why, sizeof(why)), RC_OK);
	for (i = 0; i < r->n; i++) {
		if (!r->v[i].dev || r->v[i].chinese != chinese)
			continue;
		recognizer_read(f, r->v[i].text, &u);
		v[n++] = (struct score_pair){ (uint8_t)r->v[i].label,
			(uint8_t)u.emotion };
	}
	ck_assert_uint_gt(n, 200);
	f1 = score_of(v, n).macro_f1;
	recognizer_free(f);
	free(v);
	return f1;
}

TEST(dev_lines_are_recognised)
{
	struct rows r = own_rows();

	ck_assert_double_gt(macro_f1(&r, true), F1_MIN_ZH);
	ck_assert_double_gt(macro_f1(&r, false), F1_MIN_EN);
	rows_free(&r);
}

TEST(the_lines_cover_every_label_and_are_split)
{
	struct rows r = own_rows();
	size_t n[2][EMOTION_N] = { { 0 } }, dev = 0, all[2] = { 0 }, i;
	size_t n_whole = 0; /* not made of frames, of which none is dev */

	for (i = 0; i < r.n; i++) {
		n_whole += !r.v[i].framed;
		n[r.v[i].chinese][r.v[i].label]++;
		all[r.v[i].chinese]++;
		dev += r.v[i].dev;
	}
	ck_assert_uint_ge(all[1], 3000);
	ck_assert_uint_ge(all[0], 1500);
	for (i = 0; i < EMOTION_N; i++)
		ck_assert(n[0][i] >= 60 && n[1][i] >= 120);
	ck_assert(dev > n_whole / 10 && dev < n_whole / 6);
	rows_free(&r);
}

static void
train_on(const struct rows *all, size_t n, uint64_t seed, struct buf *out)
{
	struct learn_opts o = learn_defaults;
	struct rows some = *all;

	some.n = n;
	o.epochs = 3;
	o.seed = seed;
	buf_init(out, MODEL_FILE_MAX);
	learn(&some, &o, NULL, out);
}

/*
 * No checksum of the result is written down: the rows change.  Two runs must
 * agree, another seed must not.
 */
TEST(training_is_reproducible)
{
	struct rows r = own_rows();
	struct buf a, b, c;
	struct model m;
	char why[128];

	train_on(&r, 400, 1, &a);
	train_on(&r, 400, 1, &b);
	train_on(&r, 400, 2, &c);
	ck_assert(str_eq(buf_str(&a), buf_str(&b)));
	ck_assert(!str_eq(buf_str(&a), buf_str(&c)));
	ck_assert_msg(
	    model_of(buf_str(&a), &m, why, sizeof(why)) == RC_OK, "%s", why);
	buf_free(&a);
	buf_free(&b);
	buf_free(&c);
	rows_free(&r);
}

static const struct {
	const char *text, *why;
} bad_lines[] = {
	{ "joy\t好\nhunger\t饿\n", "zh-x.tsv:2: must be" },
	{ "joy\n", "zh-x.tsv:1: must be" },
	{ "joy\t\n", "zh-x.tsv:1: must be" },
};

TEST(invalid_lines_are_reported_with_file_and_line)
{
	struct rows r = { 0 };
	char why[512];
	size_t i;

	for (i = 0; i < NELEM(bad_lines); i++) {
		tk_write_file(tk_path("zh-x.tsv"), bad_lines[i].text);
		ck_assert_int_eq(
		    rows_add_own(&r, tk_dir(), why, sizeof(why)), RC_INVALID);
		ck_assert_msg(strstr(why, bad_lines[i].why) != NULL, "%s", why);
		rows_free(&r);
	}
	ck_assert_int_eq(
	    rows_add_own(&r, tk_path("none"), why, sizeof(why)), RC_NOENT);
}

/* Only tier A is trained on; a text that is in dev is not. */
TEST(only_tier_a_rows_are_trained_on)
{
	struct rows r = { 0 };
	char why[512];

	tk_write_file(tk_path("train.tsv"),
	    "joy\tzh\t一\njoy\tzh\t二\nfear\ten\tthree\nfear\ten\tFour!\n");
	tk_write_file(tk_path("train.src.tsv"),
	    "public\ta\tA\npublic\tb\tB\npublic\tc\tC\npublic\ta\tA\n");
	tk_write_file(tk_path("dev.tsv"), "fear\ten\tfour\n");
	tk_write_file(tk_path("dev.src.tsv"), "gold\tb\tB\n");
	ck_assert_msg(
	    rows_add_external(&r, tk_dir(), why, sizeof(why)) == RC_OK, "%s",
	    why);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(rows_separate(&r), 1);
	ck_assert(!r.v[0].dev && r.v[0].chinese && !r.v[0].own);
	ck_assert(str_eq(r.v[0].text, STR("一")));
	ck_assert(r.v[1].dev && str_eq(r.v[1].subset, STR("gold")));
	rows_free(&r);
}

TEST(scores_and_intervals_are_computed)
{
	static const struct score_pair v[] = { { 1, 1 }, { 1, 2 }, { 2, 2 },
		{ 3, 5 } };
	struct score s = score_of(v, NELEM(v));
	struct score_interval f1, pol;

	ck_assert_double_eq_tol(s.f1[1], 2. / 3, 1e-12);
	ck_assert_double_eq_tol(s.f1[2], 2. / 3, 1e-12);
	ck_assert_double_eq(s.f1[3], 0);
	ck_assert_double_eq_tol(s.macro_f1, 4. / 9, 1e-12);
	score_intervals(v, NELEM(v), &f1, &pol);
	ck_assert(f1.low <= f1.mid && f1.mid <= f1.high && f1.low < f1.high);
	ck_assert_double_eq(f1.mid, s.macro_f1);
	ck_assert_double_eq(pol.mid, s.polarity);
}
