/*
 * What means nothing by itself is left out of the query; each character that is
 * left must stand in the memory beside one of its neighbours, or as alone as in
 * the query.
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

/* Texts that are looked at, in bytes. */
#define TEXT_MAX ((size_t)64 * 1024)
/* Words of the lists below that mean nothing. */
#define PLAIN_MAX 128

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

/* A walk through the words of senses first to last. */
struct lexicon {
	enum sense first, last;
	size_t row;
	struct str rest;
	enum sense sense; /* of what came last */
};

static bool
lexicon_next(struct lexicon *l, struct str *word)
{
	while (l->rest.n == 0) {
		if (l->row == NELEM(words))
			return false;
		l->sense = words[l->row].sense;
		if (l->sense >= l->first && l->sense <= l->last)
			l->rest = str_of(words[l->row].list);
		l->row++;
	}
	ptrdiff_t n = str_find(l->rest, STR(" "));
	*word = (struct str){ l->rest.p, (size_t)n };
	l->rest.p += n + 1;
	l->rest.n -= (size_t)n + 1;
	return true;
}

static bool
is_wide(struct str word)
{
	return ((unsigned char)word.p[0] & 0x80) != 0;
}

static uint64_t
word_key(struct str word)
{
	struct tokens walk = tokens_of(word);
	struct token t = { 0 };

	(void)tokens_next(&walk, &t);
	return t.key;
}

static bool
says(struct str text, struct str word)
{
	struct tokens walk = tokens_of(text);
	uint64_t key = word_key(word);
	struct token t;

	if (is_wide(word))
		return str_find(text, word) >= 0;
	while (tokens_next(&walk, &t)) {
		if (t.kind == TOKEN_WORD && t.key == key)
			return true;
	}
	return false;
}

static bool
says_any(struct str text, enum sense sense)
{
	struct lexicon l = { .first = sense, .last = sense };
	struct str word;

	while (lexicon_next(&l, &word)) {
		if (says(text, word))
			return true;
	}
	return false;
}

/* Whether the memory says something of that sense that the query does not. */
static bool
adds(struct str query, struct str memory, enum sense sense)
{
	struct lexicon l = { .first = sense, .last = sense };
	struct str word;

	while (lexicon_next(&l, &word)) {
		if (says(memory, word) && !says(query, word))
			return true;
	}
	return false;
}

/* ---- what means something ------------------------------------------------ */

/* The keys of the words that mean nothing. */
struct plain {
	uint64_t key[PLAIN_MAX];
	size_t n;
};

static void
plain_init(struct plain *p)
{
	struct lexicon l = { .first = PLAIN, .last = STANCE };
	struct str word;

	p->n = 0;
	while (lexicon_next(&l, &word)) {
		if (is_wide(word))
			continue;
		assert(p->n < PLAIN_MAX);
		p->key[p->n++] = word_key(word);
	}
}

static bool
is_plain_word(const struct plain *p, uint64_t key)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->key[i] == key)
			return true;
	}
	return false;
}

/* The longest piece that means nothing at the beginning of s; 0: none. */
static size_t
plain_piece(struct str s)
{
	struct lexicon l = { .first = PLAIN, .last = STANCE };
	struct str word;
	size_t n = 0;

	while (lexicon_next(&l, &word)) {
		if (is_wide(word) && word.n > n && str_starts(s, word))
			n = word.n;
	}
	return n;
}

/* The text with blanks for its pieces that mean nothing. */
static void
strip(struct str text, struct buf *b)
{
	while (text.n > 0) {
		size_t n = is_wide(text) ? plain_piece(text) : 0;
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
parts_of(struct str stripped, struct part *p, size_t max)
{
	struct tokens walk = tokens_of(stripped);
	struct plain plain;
	struct token t;
	size_t n = 0;

	plain_init(&plain);
	while (tokens_next(&walk, &t)) {
		if (t.kind == TOKEN_PAIR) {
			/* Behind its two characters. */
			p[n - 2].right = p[n - 1].left = t.key;
			continue;
		}
		if (t.kind == TOKEN_WORD && is_plain_word(&plain, t.key))
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
	struct part query[FIT_QUERY_MAX];
	size_t n;
	struct part *memory; /* without its pieces that mean nothing */
	size_t n_memory;
};

/* What of the query stands in the memory as it is: words, pairs. */
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
 * memory must not say anything else.
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
	return m->n > 0;
}

static bool
covers(struct match *m, struct str query, struct str memory)
{
	struct buf q = BUF_INIT(TEXT_MAX), s = BUF_INIT(TEXT_MAX);
	bool is = false;

	strip(query, &q);
	strip(memory, &s);
	m->n = parts_of(buf_str(&q), m->query, FIT_QUERY_MAX);
	/* No text has more parts than bytes. */
	m->memory = mem_calloc(s.n + 1, sizeof(*m->memory));
	m->n_memory = parts_of(buf_str(&s), m->memory, s.n);
	if (buf_rc(&q) == RC_OK && buf_rc(&s) == RC_OK &&
	    m->n <= FIT_QUERY_MAX) {
		find_words(m, memory);
		find_lone(m);
		is = all_found(m) && is_enough(m);
	}
	free(m->memory);
	buf_free(&q);
	buf_free(&s);
	return is;
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
	struct match m = { .n = 0 };

	if (says_any(query, SELF) && adds(query, memory, OTHER))
		return 0;
	if (says_any(query, STANCE) && adds(query, memory, NOT))
		return 0;
	return covers(&m, query, memory) ? share(query, memory) : 0;
}
