/*
 * Both are walked word by word, and character by character where no blanks are
 * written.
 */
#include "alike.h"

#include "core/mem.h"
#include "tokens.h"

static const struct str subjects[] = { STR_INIT("该用户"), STR_INIT("用户"),
	STR_INIT("主人"), STR_INIT("The user"), STR_INIT("the user"),
	STR_INIT("User"), STR_INIT("user") };

static const struct str empty[] = { STR_INIT("的"), STR_INIT("了"),
	STR_INIT("是"), STR_INIT("也"), STR_INIT("很"), STR_INIT("啊"),
	STR_INIT("呢"), STR_INIT("吧"), STR_INIT("呀"), STR_INIT("a"),
	STR_INIT("an"), STR_INIT("the"), STR_INIT("is"), STR_INIT("are"),
	STR_INIT("very"), STR_INIT("really"), STR_INIT("also") };

static bool
is_empty(const struct token *t)
{
	size_t i;

	for (i = 0; i < NELEM(empty); i++) {
		struct tokens walk = tokens_of(empty[i]);
		struct token e;

		if (tokens_next(&walk, &e) && e.key == t->key)
			return true;
	}
	return false;
}

static struct tokens
begin(struct str s)
{
	size_t i;

	s = str_trim(s);
	for (i = 0; i < NELEM(subjects); i++) {
		if (str_starts(s, subjects[i])) {
			s.p += subjects[i].n;
			s.n -= subjects[i].n;
			break;
		}
	}
	return tokens_of(s);
}

static bool
next(struct tokens *walk, struct token *t)
{
	while (tokens_next(walk, t))
		if (t->kind != TOKEN_PAIR && !is_empty(t))
			return true;
	return false;
}

bool
alike(struct str a, struct str b)
{
	struct tokens x = begin(a), y = begin(b);
	struct token s, t;
	bool more = next(&x, &s);

	if (!more)
		return false;
	while (more && next(&y, &t)) {
		if (s.key != t.key)
			return false;
		more = next(&x, &s);
	}
	return !more && !next(&y, &t);
}
