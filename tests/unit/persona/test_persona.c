/* Traits of types, and drift. */
#include "core/mem.h"
#include "persona/persona.h"
#include "testkit/testkit.h"

static const struct {
	const char *mbti;
	int t[5]; /* hundredths */
} types[] = {
	{ "INTJ", { 37, 37, 67, 26, 57 } },
	{ "INTP", { 37, 43, 37, 30, 41 } },
	{ "ENTJ", { 37, 31, 67, 66, 77 } },
	{ "ENTP", { 37, 37, 37, 70, 61 } },
	{ "INFJ", { 67, 47, 51, 36, 33 } },
	{ "INFP", { 67, 53, 21, 40, 17 } },
	{ "ENFJ", { 67, 41, 51, 76, 53 } },
	{ "ENFP", { 67, 47, 21, 80, 37 } },
	{ "ISTJ", { 33, 53, 79, 20, 63 } },
	{ "ISFJ", { 63, 63, 63, 30, 39 } },
	{ "ESTJ", { 33, 47, 79, 60, 83 } },
	{ "ESFJ", { 63, 57, 63, 70, 59 } },
	{ "ISTP", { 33, 59, 49, 24, 47 } },
	{ "ISFP", { 63, 69, 33, 34, 23 } },
	{ "ESTP", { 33, 53, 49, 64, 67 } },
	{ "ESFP", { 63, 63, 33, 74, 43 } },
	{ "esfp", { 63, 63, 33, 74, 43 } },
};

TEST(each_type_has_its_traits)
{
	struct persona p;
	size_t i;

	for (i = 0; i < NELEM(types); i++) {
		const int *t = types[i].t;

		ck_assert_int_eq(
		    persona_of_mbti(str_of(types[i].mbti), &p), RC_OK);
		ck_assert_double_eq_tol(p.empathy, t[0] / 100.0, 1e-9);
		ck_assert_double_eq_tol(p.sensitivity, t[1] / 100.0, 1e-9);
		ck_assert_double_eq_tol(p.stability, t[2] / 100.0, 1e-9);
		ck_assert_double_eq_tol(p.expressiveness, t[3] / 100.0, 1e-9);
		ck_assert_double_eq_tol(p.dominance, t[4] / 100.0, 1e-9);
	}
}

TEST(unknown_types_are_rejected)
{
	static const char *const bad[] = { "", "INT", "INTJJ", "XNTJ", "IXTJ",
		"INXJ", "INTX", "JTNI", "I TJ", "ＩＮ" };
	struct persona p = { 1, 2, 3, 4, 5 };
	size_t i;

	for (i = 0; i < NELEM(bad); i++) {
		ck_assert_int_eq(
		    persona_of_mbti(str_of(bad[i]), &p), RC_INVALID);
		ck_assert_double_eq(p.dominance, 5);
	}
	ck_assert_int_eq(
	    persona_of_mbti((struct str){ NULL, 0 }, &p), RC_INVALID);
}

TEST(drift_is_clamped_to_the_range_of_traits)
{
	struct persona base = { .9, .1, .5, 1, 0 };
	struct persona drift = { .22, -.22, .1, .22, -.22 };
	struct persona t = persona_add(&base, &drift);

	ck_assert_double_eq(t.empathy, 1);
	ck_assert_double_eq(t.sensitivity, 0);
	ck_assert_double_eq_tol(t.stability, .6, 1e-12);
	ck_assert_double_eq(t.expressiveness, 1);
	ck_assert_double_eq(t.dominance, 0);
}

TEST(models_are_found_by_name)
{
	enum persona_model m;

	ck_assert_int_eq(persona_model_of(STR("persona-pad-v2"), &m), RC_OK);
	ck_assert_int_eq(m, PERSONA_PAD_V2);
	ck_assert_int_eq(persona_model_of(STR("persona-pad-v3"), &m), RC_OK);
	ck_assert_int_eq(m, PERSONA_PAD_V3);
	ck_assert_str_eq(persona_model_name(m), "persona-pad-v3");
	ck_assert_int_eq(
	    persona_model_of(STR("persona-pad-v1"), &m), RC_INVALID);
	ck_assert_int_eq(m, PERSONA_PAD_V3);
}
