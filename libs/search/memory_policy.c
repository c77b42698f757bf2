/*
 * Tables of phrases, and the share of common words and character pairs.
 */
#include "search/memory_policy.h"

#include <string.h>

#include "core/mem.h"
#include "search/tokenizer.h"

/* Texts that a policy compares with. */
#define POLICY_BYTES (256UL * 1024)

#define FOLD_MAX 256

/* Ends of clauses; the first two make them questions. */
static const struct str policy_clause_ends[] = { STR_INIT("？"), STR_INIT("?"),
	STR_INIT("。"), STR_INIT("！"), STR_INIT("!"), STR_INIT("；"),
	STR_INIT(";"), STR_INIT("，"), STR_INIT(","), STR_INIT("\n"),
	STR_INIT("…") };
#define QUESTIONS 2

/* A clause that ends with one of these is a question. */
static const struct str policy_question_suffixes[] = { STR_INIT("吗"),
	STR_INIT("么"), STR_INIT("嘛呢"), STR_INIT("你呢"), STR_INIT("是不是"),
	STR_INIT("对不对"), STR_INIT("好不好"), STR_INIT("行不行") };

/* A clause that contains one of these is a question, unless 都 or 也 follows.
 */
static const struct str policy_question_words[] = { STR_INIT("什么"),
	STR_INIT("谁"), STR_INIT("哪"), STR_INIT("多少"), STR_INIT("几点"),
	STR_INIT("几岁"), STR_INIT("几号"), STR_INIT("怎么"), STR_INIT("怎样"),
	STR_INIT("为何"), STR_INIT("为啥"), STR_INIT("多大"),
	STR_INIT("记不记得"), STR_INIT("能不能"), STR_INIT("知不知道") };

/* An English clause that starts with one of these is a question. */
static const struct str policy_question_prefixes[] = { STR_INIT("what "),
	STR_INIT("what's "), STR_INIT("who "), STR_INIT("who's "),
	STR_INIT("where "), STR_INIT("when "), STR_INIT("why "),
	STR_INIT("how "), STR_INIT("which "), STR_INIT("whose "),
	STR_INIT("do you "), STR_INIT("do i "), STR_INIT("did "),
	STR_INIT("does "), STR_INIT("can you "), STR_INIT("can i "),
	STR_INIT("could you "), STR_INIT("is "), STR_INIT("are "),
	STR_INIT("am i "), STR_INIT("have you "), STR_INIT("have i "),
	STR_INIT("will "), STR_INIT("would you "), STR_INIT("should i ") };

/* Whole clauses that state nothing, without trailing particles. */
static const struct str policy_small_talk[] = { STR_INIT("你好"),
	STR_INIT("您好"), STR_INIT("大家好"), STR_INIT("嗨"), STR_INIT("喂"),
	STR_INIT("哈喽"), STR_INIT("早"), STR_INIT("早安"), STR_INIT("早上好"),
	STR_INIT("上午好"), STR_INIT("中午好"), STR_INIT("下午好"),
	STR_INIT("晚上好"), STR_INIT("晚安"), STR_INIT("谢谢"),
	STR_INIT("谢谢你"), STR_INIT("多谢"), STR_INIT("辛苦"),
	STR_INIT("再见"), STR_INIT("拜拜"), STR_INIT("回头见"), STR_INIT("好"),
	STR_INIT("好的"), STR_INIT("嗯"), STR_INIT("嗯嗯"), STR_INIT("哦"),
	STR_INIT("对"), STR_INIT("对的"), STR_INIT("是"), STR_INIT("是的"),
	STR_INIT("不是"), STR_INIT("不"), STR_INIT("行"), STR_INIT("可以"),
	STR_INIT("没事"), STR_INIT("没有"), STR_INIT("哈哈"),
	STR_INIT("哈哈哈"), STR_INIT("知道"), STR_INIT("没关系"),
	STR_INIT("不客气"), STR_INIT("hi"), STR_INIT("hello"), STR_INIT("hey"),
	STR_INIT("good morning"), STR_INIT("good evening"),
	STR_INIT("good night"), STR_INIT("thanks"), STR_INIT("thank you"),
	STR_INIT("bye"), STR_INIT("goodbye"), STR_INIT("see you"),
	STR_INIT("ok"), STR_INIT("okay"), STR_INIT("yes"), STR_INIT("no"),
	STR_INIT("yeah"), STR_INIT("sure"), STR_INIT("great"),
	STR_INIT("never mind") };
static const struct str policy_particles[] = { STR_INIT("啊"), STR_INIT("呀"),
	STR_INIT("吧"), STR_INIT("了"), STR_INIT("哦"), STR_INIT("啦"),
	STR_INIT("呢"), STR_INIT("~"), STR_INIT("～"), STR_INIT(".") };

/* Beginnings of memories that only report a question or a greeting. */
static const struct str policy_talk_prefixes[] = { STR_INIT("用户询问"),
	STR_INIT("用户问"), STR_INIT("用户想知道"), STR_INIT("用户打招呼"),
	STR_INIT("用户打了招呼"), STR_INIT("用户向灵魂问好"),
	STR_INIT("用户问好"), STR_INIT("用户道谢"), STR_INIT("用户表示感谢"),
	STR_INIT("用户感谢"), STR_INIT("用户道别"), STR_INIT("用户说再见"),
	STR_INIT("用户道晚安"), STR_INIT("the user asked"),
	STR_INIT("user asked"), STR_INIT("the user asks"),
	STR_INIT("user asks"), STR_INIT("the user greeted"),
	STR_INIT("user greeted"), STR_INIT("the user thanked"),
	STR_INIT("user thanked"), STR_INIT("the user text hello"),
	STR_INIT("the user text goodbye"), STR_INIT("the user wanted to know"),
	STR_INIT("the user wants to know") };

/* ---- clauses ---- */

/* s in lower case, at most FOLD_MAX bytes, in dst. */
static struct str
policy_lower(struct str s, char dst[FOLD_MAX])
{
	size_t i, n = s.n < FOLD_MAX ? s.n : FOLD_MAX;

	for (i = 0; i < n; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z'
		    ? (char)(s.p[i] - 'A' + 'a')
		    : s.p[i];
	return (struct str){ dst, n };
}

/* "什么都不吃" ("eats nothing") is no question. */
static bool
policy_is_universal(struct str behind)
{
	size_t near = behind.n < 24 ? behind.n : 24;
	struct str s = { behind.p, near };

	return str_find(s, STR("都")) >= 0 || str_find(s, STR("也")) >= 0;
}

static bool
policy_is_question(struct str clause)
{
	struct str rest;
	ptrdiff_t at;
	size_t i;

	if (str_ends_any(clause, policy_question_suffixes,
		NELEM(policy_question_suffixes)) > 0)
		return true;
	for (i = 0; i < NELEM(policy_question_words); i++) {
		at = str_find(clause, policy_question_words[i]);
		if (at < 0)
			continue;
		rest.p = clause.p + at + policy_question_words[i].n;
		rest.n = clause.n - (size_t)at - policy_question_words[i].n;
		if (!policy_is_universal(rest))
			return true;
	}
	return str_starts_any(clause, policy_question_prefixes,
		   NELEM(policy_question_prefixes)) > 0;
}

static bool
policy_is_small_talk(struct str clause)
{
	size_t i, n;

	while ((n = str_ends_any(
		    clause, policy_particles, NELEM(policy_particles))) > 0)
		clause.n -= n;
	clause = str_trim(clause);
	for (i = 0; i < NELEM(policy_small_talk); i++)
		if (str_eq(clause, policy_small_talk[i]))
			return true;
	return clause.n == 0;
}

static void
policy_put_clause(struct str clause, bool question, struct buf *out)
{
	char folded[FOLD_MAX];
	struct str low;

	clause = str_trim(clause);
	low = policy_lower(clause, folded);
	if (question || policy_is_small_talk(low) || policy_is_question(low))
		return;
	buf_put_str(out, clause);
	buf_putc(out, '\n');
}

/*
 * Length of the clause separator at the start of s; 0: none.  A dot within a
 * number is none.
 */
static size_t
policy_clause_end(struct str s)
{
	if (s.p[0] == '.' && (s.n == 1 || s.p[1] == ' ' || s.p[1] == '\n'))
		return 1;
	return str_starts_any(s, policy_clause_ends, NELEM(policy_clause_ends));
}

void
memory_policy_statements(struct str text, struct buf *out)
{
	struct str rest = text, clause = text;
	size_t n;

	while (rest.n > 0) {
		n = policy_clause_end(rest);
		if (n > 0) {
			clause.n = (size_t)(rest.p - clause.p);
			policy_put_clause(clause,
			    str_starts_any(
				rest, policy_clause_ends, QUESTIONS) > 0,
			    out);
			clause.p = rest.p + n;
		}
		n = n > 0 ? n : 1;
		rest.p += n;
		rest.n -= n;
	}
	clause.n = (size_t)(rest.p - clause.p);
	policy_put_clause(clause, false, out);
}

/* ---- memories ---- */

/* Different words and pairs of s. */
static size_t
policy_count_words(struct str s)
{
	return tokenizer_common(s, s);
}

static bool
policy_is_forgotten(const struct memory_policy *g, struct str text)
{
	size_t i, n;

	for (i = 0; i < g->n_forgotten; i++) {
		n = policy_count_words(g->forgotten[i]);
		if (n > 0 &&
		    tokenizer_common(g->forgotten[i], text) * 3 >= n * 2)
			return true;
	}
	return false;
}

void
memory_policy_begin(struct memory_policy_builder *m)
{
	m->n_forgotten = 0;
	buf_init(&m->stated, POLICY_BYTES);
	buf_init(&m->recalled, POLICY_BYTES);
}

void
memory_policy_add_user(struct memory_policy_builder *m, struct str text)
{
	memory_policy_statements(text, &m->stated);
}

void
memory_policy_add_recalled(struct memory_policy_builder *m, struct str text)
{
	buf_put_str(&m->recalled, text);
}

void
memory_policy_add_forgotten(struct memory_policy_builder *m, struct str query)
{
	m->forgotten[m->n_forgotten++ % MEMORY_POLICY_FORGOTTEN_MAX] = query;
}

enum rc
memory_policy_end(
    struct memory_policy_builder *m, struct arena *a, struct memory_policy *out)
{
	size_t n = m->n_forgotten < MEMORY_POLICY_FORGOTTEN_MAX
	    ? m->n_forgotten
	    : MEMORY_POLICY_FORGOTTEN_MAX;
	struct str *list = arena_alloc(a, (n + 1) * sizeof(*list));

	*out = (struct memory_policy){ arena_str(a, buf_str(&m->stated)),
		arena_str(a, buf_str(&m->recalled)), list, n };
	buf_free(&m->stated);
	buf_free(&m->recalled);
	if (list == NULL || out->stated.p == NULL || out->recalled.p == NULL)
		return RC_TOOBIG;
	memcpy(list, m->forgotten, n * sizeof(*list));
	return RC_OK;
}

bool
memory_policy_admits(const struct memory_policy *g, struct str text)
{
	size_t stated = tokenizer_common(text, g->stated);
	size_t recalled = tokenizer_common(text, g->recalled);
	char folded[FOLD_MAX];
	struct str low = policy_lower(str_trim(text), folded);

	if (stated == 0 ||
	    str_starts_any(
		low, policy_talk_prefixes, NELEM(policy_talk_prefixes)) > 0)
		return false;
	/* A memory that mostly repeats recalled ones is not new. */
	if (recalled > stated && recalled * 2 >= policy_count_words(text))
		return false;
	return !policy_is_forgotten(g, text);
}

bool
memory_policy_stated(const struct memory_policy *g, struct str value)
{
	value = str_trim(value);
	return value.n > 0 &&
	    (str_find(g->stated, value) >= 0 ||
		tokenizer_common(value, g->stated) > 0) &&
	    !policy_is_forgotten(g, value);
}
