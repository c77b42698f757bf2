/*
 * Words that may claim something as done: Chinese, Japanese and Korean as
 * substrings, English as whole words.  Text in other scripts is held back.
 */
#include "reply/claim_filter.h"

#include <stdint.h>

#include "core/mem.h"
#include "reply/reply_compose.h"

/* Held back from their first byte on. */
static const struct str claim_marks[] = {
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
static const struct str claim_words[] = {
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
claim_head(struct str s, size_t n)
{
	return (struct str){ s.p, n < s.n ? n : s.n };
}

static struct str
claim_from(struct str s, size_t at)
{
	return (struct str){ s.p + at, s.n - at };
}

static bool
claim_is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
claim_is_letter(int32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether it is, or may become, a no-reply mark. */
static bool
claim_may_be_no_reply(struct str s)
{
	while (s.n > 0 && (s.p[0] == '`' || claim_is_blank(s.p[0])))
		s = claim_from(s, 1);
	for (size_t i = 0; i < REPLY_NO_REPLY_N; i++) {
		size_t n =
		    s.n < reply_no_reply[i].n ? s.n : reply_no_reply[i].n;
		if (!str_eq_nocase(
			claim_head(s, n), claim_head(reply_no_reply[i], n)))
			continue;
		struct str rest = claim_from(s, n);
		while (rest.n > 0 &&
		    (rest.p[0] == '`' || claim_is_blank(rest.p[0])))
			rest = claim_from(rest, 1);
		if (rest.n == 0)
			return true;
	}
	return false;
}

/* Scripts covered by the lists; signs, digits and pictures claim nothing. */
static bool
claim_script_known(int32_t c)
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
claim_is_claim(struct str word)
{
	for (size_t i = 0; i < NELEM(claim_words); i++) {
		if (str_eq_nocase(word, claim_words[i]))
			return true;
	}
	return (word.n >= 4 &&
		   str_eq_nocase(claim_from(word, word.n - 2), STR("ed"))) ||
	    (word.n >= 4 && str_eq_nocase(claim_head(word, 4), STR("turn")));
}

/*
 * The length of the next unit of s (not empty) that may pass; 0: not yet, and
 * with *blocked never.
 */
static size_t
claim_step(struct str s, bool *blocked)
{
	size_t n = 0;

	for (size_t i = 0; i < NELEM(claim_marks); i++) {
		if (str_starts(s, claim_marks[i])) {
			*blocked = true;
			return 0;
		}
		if (str_starts(claim_marks[i], s))
			return 0;
	}
	int32_t c = str_utf8_next(s, &n);
	if (c < 0)
		return 0;
	if (!claim_is_letter(c)) {
		*blocked = !claim_script_known(c);
		return *blocked ? 0 : n;
	}
	for (n = 0; n < s.n && claim_is_letter((unsigned char)s.p[n]); n++)
		continue;
	size_t next = n;
	c = str_utf8_next(s, &next);
	if (c < 0)
		return 0;
	/* A letter of another script: a word of an unknown language. */
	*blocked = !claim_script_known(c) || claim_is_claim(claim_head(s, n));
	return *blocked ? 0 : n;
}

/* The length without trailing white space. */
static size_t
claim_trimmed(struct str s)
{
	size_t n = s.n;

	while (n > 0 && claim_is_blank(s.p[n - 1]))
		n--;
	return n;
}

size_t
claim_filter_released(struct claim_filter *f, struct str text)
{
	if (f->passed == 0 && claim_may_be_no_reply(text))
		return 0;
	if (!f->calls_possible) {
		f->passed = text.n;
		return claim_trimmed(text);
	}
	while (!f->blocked && f->passed < text.n) {
		size_t n = claim_step(claim_from(text, f->passed), &f->blocked);
		if (n == 0)
			break;
		f->passed += n;
	}
	return claim_trimmed(claim_head(text, f->passed));
}
