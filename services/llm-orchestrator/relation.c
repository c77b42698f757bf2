/*
 * Words that hint at a person, and what three degrees of likeness call for.
 */
#include "relation.h"

#include <math.h>

#include "core/mem.h"

/* Average in all. */
static const struct persona average = { 0.5, 0.5, 0.5, 0.5, 0.5 };

/* One of the words is enough; each row counts once. */
static const struct {
	const char *words;
	struct persona change;
} cues[] = {
	{ "老板 领导 上司 主管 经理 boss leader manager",
	    { .dominance = 0.28, .stability = 0.10 } },
	{ "孩子 小孩 宝宝 儿子 女儿 朋友 同学 闺蜜 kid kids child friend",
	    { .empathy = 0.12, .dominance = -0.18 } },
	{ "外向 开朗 活泼 outgoing extrovert", { .expressiveness = 0.30 } },
	{ "内向 害羞 introvert shy", { .expressiveness = -0.28 } },
	{ "理性 理智 冷静 rational logical",
	    { .stability = 0.20, .empathy = -0.10 } },
	{ "敏感 玻璃心 sensitive",
	    { .sensitivity = 0.22, .stability = -0.18 } },
	{ "体贴 温柔 善解人意 caring gentle",
	    { .empathy = 0.22, .dominance = -0.10 } },
};

/* From the least resonance on; the last is of any. */
static const struct {
	double least;
	const char *word, *strategy;
} bands[] = {
	{ 0.72, "同频", "可以自然亲近，顺着对方的节奏说。" },
	{ 0.56, "可协同", "先认同，再补充，语气平稳。" },
	{ 0, "高张力", "放慢一些，先听后说，少下结论。" },
};

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether s[at .. at + n) is a word: no letter stands beside it. */
static bool
stands_alone(struct str s, size_t at, size_t n)
{
	return (at == 0 || !is_letter(s.p[at - 1])) &&
	    (at + n == s.n || !is_letter(s.p[at + n]));
}

/* A word of letters stands alone; any other may stand anywhere. */
static bool
has_word(struct str s, struct str word)
{
	for (size_t at = 0; at + word.n <= s.n; at++) {
		struct str part = { s.p + at, word.n };
		if (str_eq_nocase(part, word) &&
		    (!is_letter(word.p[0]) || stands_alone(s, at, word.n)))
			return true;
	}
	return false;
}

static bool
has_one_of(struct str s, const char *words)
{
	struct str rest = str_of(words);

	while (rest.n > 0) {
		if (has_word(s, str_split(&rest, ' ')))
			return true;
	}
	return false;
}

static bool
named_type(struct str s, struct persona *out)
{
	for (size_t at = 0; at + 4 <= s.n; at++) {
		if (stands_alone(s, at, 4) &&
		    persona_of_mbti((struct str){ s.p + at, 4 }, out) == RC_OK)
			return true;
	}
	return false;
}

static bool
guess(struct str said, struct persona *out)
{
	bool known = named_type(said, out);

	if (known)
		return true;
	*out = average;
	for (size_t i = 0; i < NELEM(cues); i++) {
		if (!has_one_of(said, cues[i].words))
			continue;
		*out = persona_add(out, &cues[i].change);
		known = true;
	}
	return known;
}

void
relation_guess(
    struct str said, const struct persona *soul, struct relation *out)
{
	size_t i = 0;

	*out = (struct relation){ .word = "未知",
		.strategy = "还不清楚对方的性格：友善、谨慎，不作假设。" };
	/* Some thirty words are looked for at each byte. */
	if (said.n > RELATION_TEXT_MAX)
		said.n = RELATION_TEXT_MAX;
	out->known = guess(said, &out->target);
	if (!out->known)
		return;
	const struct persona *t = &out->target;
	out->resonance = 1 -
	    (fabs(t->empathy - soul->empathy) +
		fabs(t->sensitivity - soul->sensitivity) +
		fabs(t->stability - soul->stability) +
		fabs(t->expressiveness - soul->expressiveness) +
		fabs(t->dominance - soul->dominance)) /
		5;
	while (i + 1 < NELEM(bands) && out->resonance < bands[i].least)
		i++;
	out->word = bands[i].word;
	out->strategy = bands[i].strategy;
}
