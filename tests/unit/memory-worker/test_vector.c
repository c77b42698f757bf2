/* Vector: likeness of spelling, and what is kept of a vector. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/testkit.h"
#include "vector.h"

static double
alike(const char *a, const char *b)
{
	float v[VECTOR_GRAMS_N];
	int8_t x[VECTOR_GRAMS_N], y[VECTOR_GRAMS_N];

	vector_grams(str_of(a), v);
	vector_shrink(v, VECTOR_GRAMS_N, x);
	vector_grams(str_of(b), v);
	vector_shrink(v, VECTOR_GRAMS_N, y);
	return vector_cosine(x, vector_norm(x, VECTOR_GRAMS_N), y,
	    vector_norm(y, VECTOR_GRAMS_N), VECTOR_GRAMS_N);
}

static const struct {
	const char *a, *b;
	double min, max;
} pairs[] = {
	{ "", "", 0, 0 },
	{ "", "茶", 0, 0 },
	{ "。，", "茶", 0, 0 },
	{ "用户喜欢乌龙茶", "用户喜欢乌龙茶", 0.999, 1.001 },
	/* Width, case and marks do not count. */
	{ "ＡＢＣ、喝茶", "abc 喝茶", 0.999, 1.001 },
	{ "用户喜欢乌龙茶", "喜欢乌龙", 0.6, 0.95 },
	{ "用户喜欢乌龙茶", "周三限行", -0.15, 0.15 },
	/* A slip of the pen, another ending. */
	{ "allergic to shellfish", "alergic to shelfish", 0.5, 0.95 },
	{ "training", "trained", 0.3, 0.9 },
	{ "training", "lisbon", -0.15, 0.15 },
	/* Another order of words is another text, but hardly. */
	{ "tea or coffee", "coffee or tea", 0.999, 1.001 },
};

TEST(spelling)
{
	size_t i;

	for (i = 0; i < NELEM(pairs); i++) {
		double d = alike(pairs[i].a, pairs[i].b);

		ck_assert_msg(d >= pairs[i].min && d <= pairs[i].max,
		    "%s and %s: %g", pairs[i].a, pairs[i].b, d);
	}
}

TEST(length_one)
{
	float v[VECTOR_GRAMS_N];
	double sum = 0;
	size_t i;

	vector_grams(STR("用户的猫叫小花 and a dog"), v);
	for (i = 0; i < VECTOR_GRAMS_N; i++)
		sum += (double)v[i] * (double)v[i];
	ck_assert_double_eq_tol(sum, 1, 1e-5);
}

TEST(small_integers_keep_the_direction)
{
	const float v[] = { 0.5F, -0.25F, 0.001F, 0 };
	int8_t x[4];
	double nv = 0, dot = 0;
	size_t i;

	vector_shrink(v, 4, x);
	ck_assert_int_eq(x[0], 127);
	ck_assert_int_eq(x[3], 0);
	for (i = 0; i < 4; i++) {
		nv += (double)v[i] * (double)v[i];
		dot += (double)v[i] * x[i];
	}
	ck_assert_double_gt(dot / (sqrt(nv) * vector_norm(x, 4)), 0.999);
	vector_shrink((const float[]){ 0, 0 }, 2, x);
	ck_assert_double_eq(vector_norm(x, 2), 0);
	ck_assert_double_eq(vector_cosine(x, 0, x, 0, 2), 0);
}

TEST(bytes)
{
	const int8_t x[] = { 1, -2, 0, 127 };
	struct buf b = BUF_INIT(VECTOR_MAX + 64);
	struct str read;

	vector_write(STR("model-1"), x, 4, &b);
	read = vector_read(buf_str(&b), STR("model-1"));
	ck_assert_uint_eq(read.n, 4);
	ck_assert_int_eq(memcmp(read.p, x, 4), 0);
	/* Of another model, whose name begins alike too, it is none. */
	ck_assert_ptr_null(vector_read(buf_str(&b), STR("model-2")).p);
	ck_assert_ptr_null(vector_read(buf_str(&b), STR("model-")).p);
	ck_assert_ptr_null(vector_read(buf_str(&b), STR("model-11")).p);
	ck_assert_ptr_null(vector_read(STR(""), STR("model-1")).p);
	ck_assert_ptr_null(vector_read(STR("model-1\0"), STR("model-1")).p);
	buf_free(&b);
}
