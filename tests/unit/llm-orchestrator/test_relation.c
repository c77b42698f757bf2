/*
 * The person a text is about, and the resonance with the soul.
 */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "model/model.h"
#include "testkit/testkit.h"

static const struct persona average = { 0.5, 0.5, 0.5, 0.5, 0.5 };

#define near(x, y) ck_assert_double_lt(fabs((x) - (y)), 1e-9)

TEST(a_text_without_hints)
{
	static const char *const rows[] = { "", "你好", "今天天气怎么样",
		"my bosses", "INFJS", "XINFJ", "befriended", "ABCD" };
	struct relation r;

	for (size_t i = 0; i < NELEM(rows); i++) {
		relation_guess(str_of(rows[i]), &average, &r);
		ck_assert_msg(!r.known, "%s", rows[i]);
		ck_assert_str_eq(r.word, "未知");
		ck_assert_ptr_nonnull(r.strategy);
	}
}

/* The cost of a long text is limited. */
TEST(only_the_beginning_counts)
{
	static const char name[] = "INFJ ";
	char text[RELATION_TEXT_MAX + sizeof(name)];
	struct relation r;

	memset(text, ' ', sizeof(text));
	memcpy(text + RELATION_TEXT_MAX - 4, name, 4);
	relation_guess((struct str){ text, sizeof(text) }, &average, &r);
	ck_assert(r.known);
	memcpy(text + RELATION_TEXT_MAX - 4, " INF", 4);
	text[RELATION_TEXT_MAX] = 'J';
	relation_guess((struct str){ text, sizeof(text) }, &average, &r);
	ck_assert(!r.known);
}

/* An MBTI type takes precedence over other words. */
TEST(an_mbti_type_is_recognized)
{
	static const char *const rows[] = { "INFJ", "他是infj吗",
		"我老板是INFJ", "an INFJ, I think", "(InFj)" };
	struct persona infj;
	struct relation r;

	ck_assert_int_eq(persona_of_mbti(STR("INFJ"), &infj), RC_OK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		relation_guess(str_of(rows[i]), &infj, &r);
		ck_assert_msg(r.known, "%s", rows[i]);
		near(r.target.empathy, infj.empathy);
		near(r.target.dominance, infj.dominance);
		near(r.resonance, 1);
		ck_assert_str_eq(r.word, "同频");
	}
}

TEST(words_hint_at_traits)
{
	static const struct {
		const char *user_text;
		struct persona target;
	} rows[] = {
		{ "我老板又骂我了", { 0.5, 0.5, 0.6, 0.5, 0.78 } },
		{ "My BOSS is here", { 0.5, 0.5, 0.6, 0.5, 0.78 } },
		{ "朋友来玩", { 0.62, 0.5, 0.5, 0.5, 0.32 } },
		{ "她很外向", { 0.5, 0.5, 0.5, 0.8, 0.5 } },
		{ "他内向", { 0.5, 0.5, 0.5, 0.22, 0.5 } },
		{ "理性一点", { 0.4, 0.5, 0.7, 0.5, 0.5 } },
		{ "我很敏感", { 0.5, 0.72, 0.32, 0.5, 0.5 } },
		{ "体贴的人", { 0.72, 0.5, 0.5, 0.5, 0.4 } },
		/* Each row counts once, and rows add up. */
		{ "朋友的朋友很敏感", { 0.62, 0.72, 0.32, 0.5, 0.32 } },
	};
	struct relation r;

	for (size_t i = 0; i < NELEM(rows); i++) {
		relation_guess(str_of(rows[i].user_text), &average, &r);
		ck_assert_msg(r.known, "%s", rows[i].user_text);
		near(r.target.empathy, rows[i].target.empathy);
		near(r.target.sensitivity, rows[i].target.sensitivity);
		near(r.target.stability, rows[i].target.stability);
		near(r.target.expressiveness, rows[i].target.expressiveness);
		near(r.target.dominance, rows[i].target.dominance);
	}
}

/* 1 - the mean distance of the traits, in three bands. */
TEST(resonance_selects_a_strategy)
{
	static const struct {
		double distance;
		const char *word;
	} rows[] = {
		{ 0, "同频" },
		{ 0.27, "同频" },
		{ 0.29, "可协同" },
		{ 0.43, "可协同" },
		{ 0.45, "高张力" },
	};
	struct persona intj;
	struct relation r;

	ck_assert_int_eq(persona_of_mbti(STR("INTJ"), &intj), RC_OK);
	for (size_t i = 0; i < NELEM(rows); i++) {
		double d = rows[i].distance;
		struct persona soul = { intj.empathy + d, intj.sensitivity + d,
			intj.stability - d, intj.expressiveness + d,
			intj.dominance - d };
		relation_guess(STR("INTJ"), &soul, &r);
		near(r.resonance, 1 - d);
		ck_assert_str_eq(r.word, rows[i].word);
	}
}
