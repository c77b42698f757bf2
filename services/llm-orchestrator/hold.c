/*
 * Marks of what is done: Chinese, Japanese and Korean by pieces of text,
 * English by whole words; of other languages all is held.
 */
#include "hold.h"

#include <stdint.h>

#include "core/mem.h"
#include "reply.h"

/* Held from their first byte on. */
static const struct str marks[] = {
	STR_INIT("已"),
	STR_INIT("了"),
	STR_INIT("完成"),
	STR_INIT("完毕"),
	STR_INIT("好啦"),
	STR_INIT("好了"),
	STR_INIT("搞定"),
	STR_INIT("成功"),
	STR_INIT("完了"),
	STR_INIT("忘掉"),
	STR_INIT("忘了"),
	STR_INIT("忘记"),
	STR_INIT("删掉"),
	STR_INIT("删除"),
	STR_INIT("清除"),
	STR_INIT("抹掉"),
	STR_INIT("忘れ"),
	STR_INIT("잊"),
	STR_INIT("ました"),
	STR_INIT("できた"),
	STR_INIT("済"),
	STR_INIT("했"),
	STR_INIT("됐"),
	STR_INIT("었"),
	STR_INIT("았"),
	STR_INIT("완료"),
};

/* Whole words; and all that end in "ed". */
static const struct str words[] = {
	STR_INIT("done"),
	STR_INIT("set"),
	STR_INIT("have"),
	STR_INIT("has"),
	STR_INIT("had"),
	STR_INIT("ve"),
	STR_INIT("now"),
	STR_INIT("ok"),
	STR_INIT("okay"),
	STR_INIT("is"),
	STR_INIT("are"),
	STR_INIT("was"),
	STR_INIT("were"),
	STR_INIT("been"),
	STR_INIT("did"),
	STR_INIT("on"),
	STR_INIT("off"),
	STR_INIT("forgot"),
	STR_INIT("forgotten"),
	STR_INIT("gone"),
	STR_INIT("sent"),
	STR_INIT("made"),
	STR_INIT("put"),
	STR_INIT("all"),
	STR_INIT("success"),
	STR_INIT("successfully"),
};

static struct str
head(struct str s, size_t n)
{
	return (struct str){ s.p, n < s.n ? n : s.n };
}

static struct str
from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

static bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_letter(int32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether it is, or may become, a mark for saying nothing. */
static bool
may_be_silent(struct str s)
{
	while (s.n > 0 && (s.p[0] == '`' || is_blank(s.p[0])))
		s = from(s, 1);
	for (size_t i = 0; i < REPLY_SILENCES_N; i++) {
		size_t n =
		    s.n < reply_silences[i].n ? s.n : reply_silences[i].n;
		if (!str_eq_nocase(head(s, n), head(reply_silences[i], n)))
			continue;
		struct str rest = from(s, n);
		while (rest.n > 0 && (rest.p[0] == '`' || is_blank(rest.p[0])))
			rest = from(rest, 1);
		if (rest.n == 0)
			return true;
	}
	return false;
}

/* Scripts whose marks are known; signs, digits and pictures claim nothing. */
static bool
is_known(int32_t c)
{
	static const struct {
		int32_t first, last;
	} blocks[] = {
		{ 0x0, 0xA9 },        /* Latin without accents, signs */
		{ 0xAB, 0xB9 },       /* signs */
		{ 0xBB, 0xBF },       /* signs */
		{ 0x1100, 0x11FF },   /* hangul */
		{ 0x2000, 0x2BFF },   /* signs, pictures */
		{ 0x2E80, 0x9FFF },   /* CJK, kana, hangul */
		{ 0xAC00, 0xD7AF },   /* hangul */
		{ 0xF900, 0xFAFF },   /* CJK */
		{ 0xFE00, 0xFE6F },   /* CJK signs */
		{ 0xFF00, 0xFFEF },   /* full width */
		{ 0x1F000, 0x1FAFF }, /* pictures */
		{ 0x20000, 0x3FFFF }, /* CJK */
	};

	for (size_t i = 0; i < NELEM(blocks); i++) {
		if (c >= blocks[i].first && c <= blocks[i].last)
			return true;
	}
	return false;
}

static bool
is_claim(struct str word)
{
	for (size_t i = 0; i < NELEM(words); i++) {
		if (str_eq_nocase(word, words[i]))
			return true;
	}
	return (word.n >= 4 &&
		   str_eq_nocase(from(word, word.n - 2), STR("ed"))) ||
	    (word.n >= 4 && str_eq_nocase(head(word, 4), STR("turn")));
}

/*
 * What stands at the beginning of s, which is not empty: how many bytes may
 * pass; 0: not yet, and with *shut never.
 */
static size_t
step(struct str s, bool *shut)
{
	size_t n = 0;

	for (size_t i = 0; i < NELEM(marks); i++) {
		if (str_starts(s, marks[i])) {
			*shut = true;
			return 0;
		}
		if (str_starts(marks[i], s))
			return 0;
	}
	int32_t c = str_utf8_next(s, &n);
	if (c < 0)
		return 0;
	if (!is_letter(c)) {
		*shut = !is_known(c);
		return *shut ? 0 : n;
	}
	for (n = 0; n < s.n && is_letter((unsigned char)s.p[n]); n++)
		continue;
	size_t next = n;
	c = str_utf8_next(s, &next);
	if (c < 0)
		return 0;
	/* Another letter: a word of a language that is not known. */
	*shut = !is_known(c) || is_claim(head(s, n));
	return *shut ? 0 : n;
}

/* Without the white space at its end. */
static size_t
bare(struct str s)
{
	size_t n = s.n;

	while (n > 0 && is_blank(s.p[n - 1]))
		n--;
	return n;
}

size_t
hold_free(struct hold *h, struct str text)
{
	if (h->at == 0 && may_be_silent(text))
		return 0;
	if (!h->calls) {
		h->at = text.n;
		return bare(text);
	}
	while (!h->shut && h->at < text.n) {
		size_t n = step(from(text, h->at), &h->shut);
		if (n == 0)
			break;
		h->at += n;
	}
	return bare(head(text, h->at));
}
