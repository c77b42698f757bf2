/*
 * Insignificant words are removed from the query; each character that is left
 * must occur in the memory's clause next to one of its neighbours, or as
 * isolated as in the query.
 */
#include "recall/forget_match.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/buf.h"
#include "core/mem.h"
#include "search/tokenizer.h"

/* Bytes of a query and a memory without insignificant words. */
#define TEXT_MAX ((size_t)64 * 1024)
/* Entries of the lists below. */
#define LEXICON_MAX 256

enum sense {
	/* Insignificant by themselves: */
	SENSE_PLAIN,
	SENSE_SELF,   /* mentions only the user */
	SENSE_STANCE, /* mentions only that it is liked */
	/* Significant: */
	SENSE_OTHER, /* it is about someone else */
	SENSE_NOT    /* it is negated */
};

/* Chinese entries are substrings, others words. */
static const struct {
	enum sense sense;
	const char *list; /* each entry ends with a blank */
} forget_match_words[] = {
	{ SENSE_SELF, "我 我们 用户 主人 i im my me mine we our user " },
	{ SENSE_STANCE, "喜欢 喜爱 爱 like liked love loved enjoy " },
	{ SENSE_OTHER,
	    "妈 爸 母亲 父亲 爷 奶奶 外公 外婆 姥 哥 姐 弟 妹 儿子 女儿 孩子 "
	    "老公 老婆 丈夫 妻子 朋友 同事 同学 邻居 老板 老师 室友 叔 舅 姑 "
	    "姨 mother mom mum father dad brother sister son daughter child "
	    "kid wife husband friend colleague neighbour neighbor boss teacher "
	    "grandma grandpa grandmother grandfather aunt uncle cousin " },
	{ SENSE_NOT,
	    "不喜欢 不太喜欢 不爱 不再 从不 讨厌 not never no dont doesnt "
	    "isnt hate dislike " },
	{ SENSE_PLAIN,
	    "忘掉 忘了 忘记 记得 记住 记忆 关于 有关 这件事 那件事 的事情 "
	    "的事 事情 这个 那个 这些 那些 一个 一只 一条 一位 一些 一下 "
	    "说过 提到 刚才 之前 以前 已经 现在 平时 经常 最近 非常 特别 "
	    "比较 最 很 的 了 是 在 有 和 跟 与 也 把 被 给 让 请 吧 吗 呢 "
	    "啊 对 这 那 你 您 他 她 它 们 叫 吃 喝 养 住 去 要 想 " },
	{ SENSE_PLAIN,
	    "a an the is are am was were be been of to in on at for with and "
	    "or about that this it its he she they his her their you your has "
	    "have had do does did please forget remember memory thing said "
	    "told " },
};

struct word {
	struct str text;
	enum sense sense;
	bool wide;    /* a substring, else a word */
	uint64_t key; /* of a word, its token's */
};

struct lexicon {
	struct word word[LEXICON_MAX];
	size_t n;
};

static uint64_t
match_word_key(struct str word)
{
	struct tokenizer tokens = tokenizer_start(word);
	struct token t = { 0 };

	(void)tokenizer_next(&tokens, &t);
	return t.key;
}

static bool
match_is_wide(struct str s)
{
	return ((unsigned char)s.p[0] & 0x80) != 0;
}

static void
match_lexicon_init(struct lexicon *l)
{
	l->n = 0;
	for (size_t i = 0; i < NELEM(forget_match_words); i++) {
		struct str rest = str_of(forget_match_words[i].list);
		while (rest.n > 0) {
			size_t n = (size_t)str_find(rest, STR(" "));
			struct str text = { rest.p, n };
			assert(l->n < LEXICON_MAX);
			l->word[l->n++] = (struct word){ .text = text,
				.sense = forget_match_words[i].sense,
				.wide = match_is_wide(text),
				.key = match_word_key(text) };
			rest = (struct str){ rest.p + n + 1, rest.n - n - 1 };
		}
	}
}

/* The entries of the lexicon that a text contains. */
struct mentions {
	bool word[LEXICON_MAX];
	bool sense[SENSE_NOT + 1]; /* any of that sense */
};

static void
match_mentions(const struct lexicon *l, struct str text, struct mentions *out)
{
	struct tokenizer tokens = tokenizer_start(text);
	struct token t;

	*out = (struct mentions){ .word = { false } };
	for (size_t i = 0; i < l->n; i++) {
		if (l->word[i].wide)
			out->word[i] = str_find(text, l->word[i].text) >= 0;
	}
	while (tokenizer_next(&tokens, &t)) {
		for (size_t i = 0; t.kind == TOKEN_WORD && i < l->n; i++)
			out->word[i] |=
			    !l->word[i].wide && l->word[i].key == t.key;
	}
	for (size_t i = 0; i < l->n; i++)
		out->sense[l->word[i].sense] |= out->word[i];
}

/*
 * Whether the memory contains an entry of that sense that the query does not.
 */
static bool
match_adds(const struct lexicon *l, const struct mentions *query,
    const struct mentions *memory, enum sense sense)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->word[i].sense == sense && memory->word[i] &&
		    !query->word[i])
			return true;
	}
	return false;
}

/* ---- significant parts ---- */

static bool
match_is_plain(const struct word *w)
{
	return w->sense <= SENSE_STANCE;
}

static bool
match_is_plain_word(const struct lexicon *l, uint64_t key)
{
	for (size_t i = 0; i < l->n; i++) {
		if (match_is_plain(&l->word[i]) && !l->word[i].wide &&
		    l->word[i].key == key)
			return true;
	}
	return false;
}

/* Length of the longest insignificant substring at the start of s; 0: none. */
static size_t
match_plain_prefix(const struct lexicon *l, struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct word *w = &l->word[i];
		if (match_is_plain(w) && w->wide && w->text.n > n &&
		    str_starts(s, w->text))
			n = w->text.n;
	}
	return n;
}

/* The text with its insignificant substrings replaced by blanks. */
static void
match_strip(const struct lexicon *l, struct str text, struct buf *b)
{
	while (text.n > 0) {
		size_t n =
		    match_is_wide(text) ? match_plain_prefix(l, text) : 0;
		buf_putc(b, n > 0 ? ' ' : text.p[0]);
		n = n > 0 ? n : 1;
		text = (struct str){ text.p + n, text.n - n };
	}
}

/* A significant character or word. */
struct part {
	uint64_t key;
	bool word;
	uint64_t left, right; /* pairs that contain it; 0: none */
	bool found;
};

static bool
match_is_lone(const struct part *p)
{
	return !p->word && p->left == 0 && p->right == 0;
}

/* The parts of a stripped text; max + 1 if there are more. */
static size_t
match_parts(
    const struct lexicon *l, struct str stripped, struct part *p, size_t max)
{
	struct tokenizer tokens = tokenizer_start(stripped);
	struct token t;
	size_t n = 0;

	while (tokenizer_next(&tokens, &t)) {
		if (t.kind == TOKEN_PAIR) {
			/* A pair follows its two characters. */
			p[n - 2].right = p[n - 1].left = t.key;
			continue;
		}
		if (t.kind == TOKEN_WORD && match_is_plain_word(l, t.key))
			continue;
		if (n == max)
			return max + 1;
		p[n++] =
		    (struct part){ .key = t.key, .word = t.kind == TOKEN_WORD };
	}
	return n;
}

/* ---- comparing ---- */

struct match {
	struct lexicon lexicon;
	struct mentions mentions;                  /* of the whole query */
	struct part query[FORGET_MATCH_QUERY_MAX]; /* of one clause */
	size_t n;
	struct part *memory; /* of one clause */
	size_t n_memory;
};

/* Mark the query's words and pairs that the memory's clause contains. */
static void
match_find_words(struct match *m, struct str memory)
{
	struct tokenizer tokens = tokenizer_start(memory);
	struct token t;

	while (tokenizer_next(&tokens, &t)) {
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
match_find_lone(struct match *m)
{
	for (size_t k = 0; k < m->n_memory; k++) {
		if (!match_is_lone(&m->memory[k]))
			continue;
		for (size_t i = 0; i < m->n; i++)
			m->query[i].found |= match_is_lone(&m->query[i]) &&
			    m->query[i].key == m->memory[k].key;
	}
}

static bool
match_in_query(const struct match *m, uint64_t key)
{
	for (size_t i = 0; i < m->n; i++) {
		if (m->query[i].key == key)
			return true;
	}
	return false;
}

/*
 * Isolated characters may be remains of other words: then the memory's clause
 * must contain nothing else.
 */
static bool
match_is_enough(const struct match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!match_is_lone(&m->query[i]))
			return true;
	}
	for (size_t k = 0; k < m->n_memory; k++) {
		if (!match_in_query(m, m->memory[k].key))
			return false;
	}
	return true;
}

static bool
match_all_found(const struct match *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (!m->query[i].found)
			return false;
	}
	return true;
}

/* Parse a clause of the query; false if it is too long. */
static bool
match_take_query(struct match *m, struct str clause)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	match_strip(&m->lexicon, clause, &b);
	m->n = match_parts(
	    &m->lexicon, buf_str(&b), m->query, FORGET_MATCH_QUERY_MAX);
	bool is = buf_rc(&b) == RC_OK && m->n <= FORGET_MATCH_QUERY_MAX;
	buf_free(&b);
	return is;
}

static bool
match_covers(struct match *m, struct str clause)
{
	struct buf b = BUF_INIT(TEXT_MAX);

	for (size_t i = 0; i < m->n; i++)
		m->query[i].found = false;
	match_strip(&m->lexicon, clause, &b);
	/* A text has no more parts than bytes. */
	m->memory = mem_calloc(b.n + 1, sizeof(*m->memory));
	m->n_memory = match_parts(&m->lexicon, buf_str(&b), m->memory, b.n);
	match_find_words(m, clause);
	match_find_lone(m);
	bool is =
	    buf_rc(&b) == RC_OK && match_all_found(m) && match_is_enough(m);
	free(m->memory);
	buf_free(&b);
	return is;
}

/* ---- clauses ---- */

/* Length of the clause separator at the start of s; 0: none. */
static size_t
match_clause_end(struct str s)
{
	static const struct str marks[] = { STR_INIT("。"), STR_INIT("！"),
		STR_INIT("？"), STR_INIT("；"), STR_INIT("，"), STR_INIT("!"),
		STR_INIT("?"), STR_INIT(";"), STR_INIT("\n"), STR_INIT(". "),
		STR_INIT(", ") };

	return str_starts_any(s, marks, NELEM(marks));
}

/* The next clause of *rest; false at the end. */
static bool
match_next_clause(struct str *rest, struct str *clause)
{
	size_t n = 0, mark = 0;

	if (rest->n == 0)
		return false;
	while (n < rest->n) {
		mark =
		    match_clause_end((struct str){ rest->p + n, rest->n - n });
		if (mark > 0)
			break;
		n++;
	}
	*clause = (struct str){ rest->p, n };
	*rest = (struct str){ rest->p + n + mark, rest->n - n - mark };
	return true;
}

/*
 * Whether a clause of the memory can match at all.  subject: who an earlier
 * clause is about.
 */
static bool
match_clause_applies(const struct match *m, const struct mentions *clause,
    const struct mentions *subject)
{
	const struct lexicon *l = &m->lexicon;

	if (m->mentions.sense[SENSE_SELF] &&
	    (match_adds(l, &m->mentions, clause, SENSE_OTHER) ||
		match_adds(l, &m->mentions, subject, SENSE_OTHER)))
		return false;
	return !m->mentions.sense[SENSE_STANCE] ||
	    !match_adds(l, &m->mentions, clause, SENSE_NOT);
}

/* Whether the memory has a clause that covers m->query. */
static bool
match_has_clause(struct match *m, struct str memory)
{
	struct mentions mentions, subject = { .word = { false } };
	struct str clause;

	while (match_next_clause(&memory, &clause)) {
		match_mentions(&m->lexicon, clause, &mentions);
		if (mentions.sense[SENSE_SELF] || mentions.sense[SENSE_OTHER])
			subject = mentions;
		if (match_clause_applies(m, &mentions, &subject) &&
		    match_covers(m, clause))
			return true;
	}
	return false;
}

static bool
match_has_all(struct match *m, struct str query, struct str memory)
{
	struct str clause, rest = query;
	size_t n = 0;

	match_lexicon_init(&m->lexicon);
	match_mentions(&m->lexicon, query, &m->mentions);
	while (match_next_clause(&rest, &clause)) {
		if (!match_take_query(m, clause))
			return false;
		if (m->n == 0)
			continue;
		if (++n > FORGET_MATCH_CLAUSES_MAX ||
		    !match_has_clause(m, memory))
			return false;
	}
	return n > 0;
}

/* Share of the memory's words and pairs that the query has; never 0. */
static double
match_share(struct str query, struct str memory)
{
	struct tokenizer tokens = tokenizer_start(memory);
	double common = (double)tokenizer_common(query, memory), n = 0;
	struct token t;

	while (tokenizer_next(&tokens, &t))
		n += t.kind != TOKEN_CHAR;
	return (1 + common) / (1 + (n > common ? n : common));
}

double
forget_match_score(struct str query, struct str memory)
{
	struct match m;

	if (memory.n > FORGET_MATCH_MEMORY_MAX)
		memory.n = FORGET_MATCH_MEMORY_MAX;
	return match_has_all(&m, query, memory) ? match_share(query, memory)
						: 0;
}
