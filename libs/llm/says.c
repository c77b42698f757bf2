/*
 * A provider may repeat what it was sent: the pieces of its line are looked up
 * in one pass over all that was sent, however much that is.
 */
#include "llm/says.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* As few bytes in a row show that a text, or a key, was repeated. */
#define SHARED     6
#define KEY_SHARED 4
/* So long a word is no word. */
#define WORD_MAX 40
#define BITS     4096

struct line {
	char p[SAYS_MAX + 1]; /* as it is shown */
	char low[SAYS_MAX + 1];
	size_t n;
	bool hide[SAYS_MAX + 1], key[SAYS_MAX + 1];
	unsigned char bits[BITS / 8]; /* hashes of its pieces */
};

static char
lower(char c)
{
	return (char)tolower((unsigned char)c);
}

static unsigned
hash(const char *p)
{
	unsigned h = 2166136261U;

	for (size_t i = 0; i < SHARED; i++)
		h = (h ^ (unsigned char)lower(p[i])) * 16777619U;
	return (h ^ h >> 15) % BITS;
}

static bool
same(const char *low, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (low[i] != lower(text[i]))
			return false;
	return true;
}

static void
take_first_line(struct line *l, struct str said)
{
	struct str rest = str_trim(said), first = str_split(&rest, '\n');
	char *escape;

	/* Cut at a whole code point. */
	str_copy(first, l->p, sizeof(l->p));
	escape = strchr(l->p, '\\');
	if (escape != NULL)
		*escape = '\0';
	l->n = strlen(l->p);
	for (size_t i = 0; i < l->n; i++)
		l->low[i] = lower(l->p[i]);
	for (size_t i = 0; i + SHARED <= l->n; i++) {
		unsigned h = hash(l->p + i);
		l->bits[h / 8] |= (unsigned char)(1U << h % 8);
	}
}

/* Hide where the line has the whole of a text too short for a piece. */
static void
hide_short(struct line *l, struct str text)
{
	text = str_trim(text);
	for (size_t i = 0; text.n > 1 && i + text.n <= l->n; i++)
		if (same(l->low + i, text.p, text.n))
			memset(l->hide + i, true, text.n);
}

static void
hide_text(struct line *l, struct str text)
{
	if (text.n < SHARED) {
		hide_short(l, text);
		return;
	}
	for (size_t k = 0; k + SHARED <= text.n; k++) {
		unsigned h = hash(text.p + k);
		if ((l->bits[h / 8] & 1U << h % 8) == 0)
			continue;
		for (size_t i = 0; i + SHARED <= l->n; i++)
			if (same(l->low + i, text.p + k, SHARED))
				memset(l->hide + i, true, SHARED);
	}
}

static void
hide_chat(struct line *l, const struct llm_chat *chat)
{
	for (size_t i = 0; i < chat->nmessages; i++) {
		const struct llm_message *m = &chat->messages[i];
		hide_text(l, m->text);
		for (size_t k = 0; k < m->ncalls; k++)
			hide_text(l, m->calls[k].arguments);
	}
	for (size_t i = 0; i < chat->ntools; i++) {
		hide_text(l, chat->tools[i].description);
		hide_text(l, chat->tools[i].parameters);
	}
}

static bool
has_of_key(const struct line *l, size_t from, size_t to, struct str key)
{
	for (size_t i = from; i + KEY_SHARED <= to; i++)
		for (size_t k = 0; k + KEY_SHARED <= key.n; k++)
			if (memcmp(l->p + i, key.p + k, KEY_SHARED) == 0)
				return true;
	return key.n > 0 && key.n < KEY_SHARED && to - from >= key.n &&
	    memmem(l->p + from, to - from, key.p, key.n) != NULL;
}

static void
hide_keys(struct line *l, struct str key)
{
	size_t to;

	for (size_t i = 0; i < l->n; i = to + 1) {
		for (to = i; to < l->n && l->p[to] != ' ';)
			to++;
		if (to - i > WORD_MAX || has_of_key(l, i, to, key) ||
		    (to - i > 3 && same("sk-", l->p + i, 3)))
			memset(l->key + i, true, to - i);
	}
}

static void
show(const struct line *l, struct buf *out)
{
	for (size_t i = 0; i < l->n; i++) {
		bool first = i == 0 || l->key[i] != l->key[i - 1] ||
		    l->hide[i] != l->hide[i - 1];
		if (l->key[i])
			buf_puts(out, first ? "***" : "");
		else if (l->hide[i])
			buf_puts(out, first ? "…" : "");
		else
			buf_putc(out, l->p[i]);
	}
}

void
says_line(struct str said, struct str key, const struct llm_chat *chat,
    struct buf *out)
{
	struct line l = { .n = 0 };
	struct buf shown = BUF_INIT(3 * SAYS_MAX + 1);
	struct str s;
	size_t pos = 0;

	take_first_line(&l, said);
	hide_chat(&l, chat);
	hide_keys(&l, key);
	show(&l, &shown);
	/* What was cut through is no character any more. */
	for (s = buf_str(&shown); pos < s.n && pos < SAYS_MAX;) {
		size_t start = pos;
		int32_t cp = str_utf8_next(s, &pos);

		if (cp < 0)
			pos++;
		else if (cp < 0x20 || (cp >= 0x7f && cp <= 0x9f))
			buf_putc(out, '?');
		else if (pos <= SAYS_MAX)
			buf_put(out, s.p + start, pos - start);
	}
	buf_free(&shown);
}
