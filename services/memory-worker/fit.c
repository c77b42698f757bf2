/*
 * What means nothing by itself is left out of the query; each character that is
 * left must stand in the memory's clause beside one of its neighbours, or as
 * alone as in the query.
 */
#include "fit.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "tokens.h"

/* Of a query and a memory without what means nothing, in bytes. */
#define TEXT_MAX ((size_t)64 * 1024)
/* Words of the lists below. */
#define WORDS_MAX 256

enum sense {
	/* Means nothing by itself. */
	PLAIN,
	SELF,   /* nothing but that it is about the user */
	STANCE, /* nothing but that it is liked */
	/* These do. */
	OTHER, /* it is about somebody else */
	NOT    /* it is not so */
};

/* Of Chinese pieces of text, of others words. */
static const struct {
	enum sense sense;
	const char *list; /* with a blank behind each */
} words[] = {
	{ SELF, "我 我们 用户 主人 i im my me mine we our user " },
	{ STANCE, "喜欢 喜爱 爱 like liked love loved enjoy " },
	{ OTHER,
	    "妈 爸 母亲 父亲 爷 奶奶 外公 外婆 姥 哥 姐 弟 妹 儿子 女儿 孩子 "
	    "老公 老婆 丈夫 妻子 朋友 同事 同学 邻居 老板 老师 室友 叔 舅 姑 "
	    "姨 mother mom mum father dad brother sister son daughter child "
	    "kid wife husband friend colleague neighbour neighbor boss teacher "
	    "grandma grandpa grandmother grandfather aunt uncle cousin " },
	{ NOT,
	    "不喜欢 不太喜欢 不爱 不再 从不 讨厌 not never no dont doesnt "
	    "isnt hate dislike " },
	{ PLAIN,
	    "忘掉 忘了 忘记 记得 记住 记忆 关于 有关 这件事 那件事 的事情 "
	    "的事 事情 这个 那个 这些 那些 一个 一只 一条 一位 一些 一下 "
	    "说过 提到 刚才 之前 以前 已经 现在 平时 经常 最近 非常 特别 "
	    "比较 最 很 的 了 是 在 有 和 跟 与 也 把 被 给 让 请 吧 吗 呢 "
	    "啊 对 这 那 你 您 他 她 它 们 叫 吃 喝 养 住 去 要 想 " },
	{ PLAIN,
	    "a an the is are am was were be been of to in on at for with and "
	    "or about that this it its he she they his her their you your has "
	    "have had do does did please forget remember memory thing said "
	    "told " },
};

struct word {
	struct str text;
	enum sense sense;
	bool wide;    /* a piece of text, else a word */
	uint64_t key; /* of a word, as tokens have it */
};

struct lexicon {
	struct word word[WORDS_MAX];
	size_t n;
};

static uint64_t
word_key(struct str word)
{
	struct tokens walk = tokens_of(word);
	struct token t = { 0 };

	(void)tokens_next(&walk, &t);
	return t.key;
}

static bool
is_wide(struct str s)
{
	return ((unsigned char)s.p[0] & 0x80) != 0;
}

static void
lexicon_init(struct lexicon *l)
{
	l->n = 0;
	for (size_t i = 0; i < NELEM(words); i++) {
		struct str rest = str_of(words[i].list);
		while (rest.n > 0) {
			size_t n = (size_t)str_find(rest, STR(" "));
			struct str text = { rest.p, n };
			assert(l->n < WORDS_MAX);
			l->word[l->n++] = (struct word){ .text = text,
				.sense = words[i].sense,
				.wide = is_wide(text),
				.key = word_key(text) };
			rest = (struct str){ rest.p + n + 1, rest.n - n - 1 };
		}
	}
}

/* Which words of the lexicon a text says. */
struct said {
	bool word[WORDS_MAX];
	bool sense[NOT + 1]; /* any of them */
};

static void
said_of(const struct lexicon *l, struct str text, struct said *out)
{
	struct tokens walk = tokens_of(text);
	struct token t;

	*out = (struct said){ .word = { false } };
	for (size_t i = 0; i < l->n; i++) {
		if (l->word[i].wide)
			out->word[i] = str_find(text, l->word[i].text) >= 0;
	}
	while (tokens_next(&walk, &t)) {
		for (size_t i = 0; t.kind == TOKEN_WORD && i < l->n; i++)
			out->word[i] |=
			    !l->word[i].wide && l->word[i].key == t.key;
	}
	for (size_t i = 0; i < l->n; i++)
		out->sense[l->word[i].sense] |= out->word[i];
}

/* Whether the memory says something of that sense that the query does not. */
static bool
adds(const struct lexicon *l, const struct said *query,
    const struct said *memory, enum sense sense)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->word[i].sense == sense && memory->word[i] &&
		    !query->word[i])
			return true;
	}
	return false;
}

/* ---- what means something ------------------------------------------------ */

static bool
is_plain(const struct word *w)
{
	return w->sense <= STANCE;
}

static bool
is_plain_word(const struct lexicon *l, uint64_t key)
{
	for (size_t i = 0; i < l->n; i++) {
		if (is_plain(&l->word[i]) && !l->word[i].wide &&
		    l->word[i].key == key)
			return true;
	}
	return false;
}

/* The longest piece that means nothing at the beginning of s; 0: none. */
static size_t
plain_piece(const struct lexicon *l, struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct word *w = &l->word[i];
		if (is_plain(w) && w->wide && w->text.n > n &&
		    str_starts(s, w->text))
			n = w->text.n;
	}
	return n;
}

/* The text with blanks for its pieces that mean nothing. */
static void
strip(const struct lexicon *l, struct str text, struct buf *b)
{
	while (text.n > 0) {
		size_t n = is_wide(text) ? plain_piece(l, text) : 0;
		buf_putc(b, n > 0 ? ' ' : text.p[0]);
		n = n > 0 ? n : 1;
		text = (struct str){ text.p + n, text.n - n };
	}
}

/* A character or word of the query. */
struct part {
	uint64_t key;
	bool word;
	uint64_t left, right; /* pairs that it is in; 0: none */
	bool found;
};

static bool
is_lone(const struct part *p)
{
	return !p->word && p->left == 0 && p->right == 0;
}

/* The parts of a stripped text; max + 1 if there are more. */
static size_t
parts_of(
    const struct lexicon *l, struct str stripped, struct part *p, size_t max)
{
	struct tokens walk = tokens_of(stripped);
	struct token t;
	size_t n = 0;

	while (tokens_next(&walk, &t)) {
		if (t.kind == TOKEN_PAIR) {
			/* Behind its two characters. */
			p[n - 2].right = p[n - 1].left = t.key;
			continue;
		}
		if (t.kind == TOKEN_WORD && is_plain_word(l, t.key))
			continue;
		if (n == max)
			return max + 1;
		p[n++] =
		    (struct part){ .key = t.key, .word = t.kind == TOKEN_WORD };
	}
	return n;
}

/* ---- comparing ----------------------------------------------------------- */

struct match {
	struct lexicon lexicon;
	struct said said;                 /* by all of the query */
	struct part query[FIT_QUERY_MAX]; /* of one clause */
	size_t n;
	struct part *memory; /* of one clause */
	size_t n_memory;
};

/* What of the query stands in the memory's clause as it is: words, pairs. */
static void
find_words(struct match *m, struct str memory)
{
	struct tokens walk = tokens_of(memory);
	struct token t;

	while (tokens_next(&walk, &t)) {
		for (size_t i = 0; i < m->n; i++) {
			struct part *p = &m->query[i];
			if (t.kind == TOKEN_WORD)
				p->found |= p->word && p->key == t.key;
			else if (t.kind == TOKEN_PAIR)
				p->found |=
				    p->left == t.key || p->right == t.key;
		}
	}
}

static void
find_lone(struct match *m)
{
	for (size_t k = 0; k < m->n_memory; k++) {
		if (!is_lone(&m->memory[k]))
			continue;
		for (size_t i = 0; i < m->n; i++)
			m->query[i].found |= is_lone(&m->query[i]) &&
			    m->query[i].key == m->memory[k].key;
	}
}

static bool
in_query(const struct match *m, uint64_t key)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->query[i].key == key)
			return true;
	}
	return false;
}

/*
 * Characters that stand alone may be what is left of other words: then the
 * memory's clause must not say anything else.
 */
static bool
is_enough(const struct match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!is_lone(&m->query[i]))
			return true;
	}
	for (size_t k = 0; k < m->n_memory; k++) {
		if (!in_query(m, m->memory[k].key))
			return false;
	}
	return true;
}

static bool
all_found(const struct match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!m->query[i].found)
			return false;
	}
	return true;
}

/* Read a clause of the query; false if it is too long. */
static bool
take_query(struct match *m, struct str clause)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	strip(&m->lexicon, clause, &b);
	m->n = parts_of(&m->lexicon, buf_str(&b), m->query, FIT_QUERY_MAX);
	bool is = buf_rc(&b) == RC_OK && m->n <= FIT_QUERY_MAX;
	buf_free(&b);
	return is;
}

static bool
covers(struct match *m, struct str clause)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < m->n; i++)
		m->query[i].found = false;
	strip(&m->lexicon, clause, &b);
	/* No text has more parts than bytes. */
	m->memory = mem_calloc(b.n + 1, sizeof(*m->memory));
	m->n_memory = parts_of(&m->lexicon, buf_str(&b), m->memory, b.n);
	find_words(m, clause);
	find_lone(m);
	bool is = buf_rc(&b) == RC_OK && all_found(m) && is_enough(m);
	free(m->memory);
	buf_free(&b);
	return is;
}

/* ---- clauses ------------------------------------------------------------- */

/* How long the mark between two clauses is that s begins with; 0: none. */
static size_t
border(struct str s)
{
	static const struct str marks[] = { STR_INIT("。"), STR_INIT("！"),
		STR_INIT("？"), STR_INIT("；"), STR_INIT("，"), STR_INIT("!"),
		STR_INIT("?"), STR_INIT(";"), STR_INIT("\n"), STR_INIT(". "),
		STR_INIT(", ") };

	return str_starts_any(s, marks, NELEM(marks));
}

/* The next clause of *rest; false at the end. */
static bool
next_clause(struct str *rest, struct str *clause)
{
	size_t n = 0, mark = 0;

	if (rest->n == 0)
		return false;
	while (n < rest->n) {
		mark = border((struct str){ rest->p + n, rest->n - n });
		if (mark > 0)
			break;
		n++;
	}
	*clause = (struct str){ rest->p, n };
	*rest = (struct str){ rest->p + n + mark, rest->n - n - mark };
	return true;
}

/*
 * Whether a clause of the memory may be meant.  Who it is about may have been
 * named before it, in subject.
 */
static bool
may_be_meant(const struct match *m, const struct said *clause,
    const struct said *subject)
{
	const struct lexicon *l = &m->lexicon;

	if (m->said.sense[SELF] &&
	    (adds(l, &m->said, clause, OTHER) ||
		adds(l, &m->said, subject, OTHER)))
		return false;
	return !m->said.sense[STANCE] || !adds(l, &m->said, clause, NOT);
}

/* Whether the memory has a clause that says what m->query does. */
static bool
has_clause(struct match *m, struct str memory)
{
	struct said said, subject = { .word = { false } };
	struct str clause;

	while (next_clause(&memory, &clause)) {
		said_of(&m->lexicon, clause, &said);
		if (said.sense[SELF] || said.sense[OTHER])
			subject = said;
		if (may_be_meant(m, &said, &subject) && covers(m, clause))
			return true;
	}
	return false;
}

static bool
has_all(struct match *m, struct str query, struct str memory)
{
	struct str clause, rest = query;
	size_t n = 0;

	lexicon_init(&m->lexicon);
	said_of(&m->lexicon, query, &m->said);
	while (next_clause(&rest, &clause)) {
		if (!take_query(m, clause))
			return false;
		if (m->n == 0)
			continue;
		if (++n > FIT_CLAUSES_MAX || !has_clause(m, memory))
			return false;
	}
	return n > 0;
}

/* Words and pairs of the memory that the query has too; never 0. */
static double
share(struct str query, struct str memory)
{
	struct tokens walk = tokens_of(memory);
	double common = (double)tokens_common(query, memory), n = 0;
	struct token t;

	while (tokens_next(&walk, &t))
		n += t.kind != TOKEN_CHAR;
	return (1 + common) / (1 + (n > common ? n : common));
}

double
fit_of(struct str query, struct str memory)
{
	struct match m;

	if (memory.n > FIT_MEMORY_MAX)
		memory.n = FIT_MEMORY_MAX;
	return has_all(&m, query, memory) ? share(query, memory) : 0;
}
