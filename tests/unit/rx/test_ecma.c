/* Patterns of ECMA 262: what they match, and what is rejected. */
#include <string.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "testkit/testkit.h"

static const struct {
	const char *pattern;
	const char *text;
	bool found;
} meanings[] = {
	{ "^a*$", "aaa", true },
	{ "^a*$", "aaa\n", false },
	{ "^\\d$", "7", true },
	{ "^\\d$", "٣", false },
	{ "^\\D$", "٣", true },
	{ "^\\w$", "é", false },
	{ "^\\W$", "é", true },
	{ "^[\\W]$", "灯", true },
	{ "^\\s$", "\xc2\xa0", true },
	{ "^\\s$", "\xef\xbb\xbf", true },
	{ "^\\s$", "\xe2\x80\xa8", true },
	{ "^\\s$", "\v", true },
	{ "^\\s$", "\xe1\xa0\x8e", false },
	{ "^\\S$", "\xe2\x80\xa8", false },
	{ "^\\S$", "灯", true },
	{ "^[\\s,]+$", ", ,\t", true },
	{ "^[^\\s]+$", "a b", false },
	{ "^[\\S]+$", "a b", false },
	{ "^[\\S ]+$", "a b", true },
	{ "^[^\\S]+$", " \xc2\xa0", true },
	{ "^.$", "灯", true },
	{ "^.$", "\n", false },
	{ "^.$", "\r", false },
	{ "^.$", "\xe2\x80\xa9", false },
	{ "^.$", "\xc2\x85", true },
	{ "^\\v$", "\v", true },
	{ "^\\v$", "\n", false },
	{ "^\\cJ$", "\n", true },
	{ "^\\cj$", "\n", true },
	{ "^\\x41$", "A", true },
	{ "^\\u706f$", "灯", true },
	{ "^\\u{1F600}$", "😀", true },
	{ "^\\uD83D\\uDE00$", "😀", true },
	{ "^[\\uD83D\\uDE00-\\u{1F64F}]$", "😂", true },
	{ "^😀*$", "😀😀", true },
	{ "^\\0$", "0", false },
	{ "\\/\\-\\.\\$", "/-.$", true },
	{ "^[\\]\\\\]+$", "]\\", true },
	{ "^[a\\-z]+$", "a-z", true },
	{ "^[a\\-z]+$", "b", false },
	{ "^[-a]+$", "-a", true },
	{ "^[a-]+$", "-a", true },
	{ "^[--0]+$", "-./0", true },
	{ "^[\\w-]+$", "a-b", true },
	{ "^[\\w-.]+$", "a-.", true },
	{ "^[\\w-.]+$", ",", false },
	{ "^[.-\\d]+$", ".-1", true },
	{ "^[.-\\d]+$", "/", false },
	{ "^[[:alpha:]]$", "a]", true },
	{ "^[[:alpha:]]$", "b]", false },
	{ "^[[a]$", "[", true },
	{ "^[:alpha:]+$", "alpha:", true },
	{ "^[=a=]$", "=", true },
	{ "^[\\b]$", "\b", true },
	{ "a\\b", "a b", true },
	{ "a\\b", "aé", true },
	{ "[]", "a", false },
	{ "^[^]$", "\n", true },
	{ "^a{2}$", "aa", true },
	{ "^a{2,}$", "aaa", true },
	{ "^a{,2}$", "a{,2}", true },
	{ "^a{x}$", "a{x}", true },
	{ "^}]$", "}]", true },
	{ "^a+?$", "aaa", true },
	{ "^(?:ab|c)+(?=d)(?!de)", "abcdf", true },
	{ "(?<=€)\\d", "€5", true },
	{ "(?<!€)\\d", "€5", false },
	{ "^(?<y>\\d{4})-\\k<y>$", "2026-2026", true },
	{ "^(a)?\\1b$", "b", true },
	{ "^(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)\\10$", "abcdefghijj", true },
	{ "^\\p{L}+$", "Aé灯", true },
	{ "^\\p{Letter}+$", "Aé灯", true },
	{ "^\\p{gc=Lu}$", "É", true },
	{ "^\\p{General_Category=Decimal_Number}$", "٣", true },
	{ "^\\p{Script=Han}+$", "开灯", true },
	{ "^\\P{Script=Han}+$", "开灯", false },
	{ "^[\\p{Lu}\\d]+$", "A1", true },
	{ "^#[0-9a-fA-F]{6} $", "#00ff7F ", true },
	{ "^\\^[^^]$", "^a", true },
	{ "a|b", "xb", true },
};

TEST(patterns_have_the_meaning_of_ecma_262)
{
	struct rx_scratch *s = rx_scratch_new();
	for (size_t i = 0; i < NELEM(meanings); i++) {
		struct rx *r = NULL;
		char why[200] = "";
		enum rc rc = rx_new(
		    str_of(meanings[i].pattern), RX_ECMA, &r, why, sizeof(why));
		ck_assert_msg(rc == RC_OK, "%s: %s", meanings[i].pattern, why);
		rc = rx_find(r, s, str_of(meanings[i].text), 0, NULL);
		ck_assert_msg(rc == (meanings[i].found ? RC_OK : RC_NOENT),
		    "%s on %s: %d", meanings[i].pattern, meanings[i].text, rc);
		rx_free(r);
	}
	rx_scratch_free(s);
}

TEST(nocase_works_with_ecma_patterns)
{
	struct rx *r = NULL;
	struct rx_scratch *s = rx_scratch_new();
	ck_assert_int_eq(
	    rx_new(STR("^ÄB$"), RX_ECMA | RX_NOCASE, &r, NULL, 0), RC_OK);
	ck_assert_int_eq(rx_find(r, s, STR("äb"), 0, NULL), RC_OK);
	rx_scratch_free(s);
	rx_free(r);
}

TEST(syntax_that_ecma_262_lacks_is_rejected)
{
	static const struct {
		const char *pattern;
		const char *why;
	} rows[] = {
		{ "^\\S(|(.|\\n)*\\S)\\Z", "escape of ECMA 262 (byte 15)" },
		{ "\\A", "escape" },
		{ "\\z", "escape" },
		{ "\\a", "escape" },
		{ "\\e", "escape" },
		{ "\\h", "escape" },
		{ "\\K", "escape" },
		{ "\\Qa\\E", "escape" },
		{ "\\R", "escape" },
		{ "\\X", "escape" },
		{ "\\C", "escape" },
		{ "\\N", "escape" },
		{ "\\G", "escape" },
		{ "\\g{1}(a)", "escape" },
		{ "\\c1", "escape" },
		{ "\\01", "escape" },
		{ "[\\1]", "escape" },
		{ "[\\B]", "escape" },
		{ "\\", "backslash" },
		{ "[\\", "backslash" },
		{ "[a", "without its ]" },
		{ "[a-", "without its ]" },
		{ "[", "without its ]" },
		{ "[^", "without its ]" },
		{ "\\x4", "hexadecimal" },
		{ "\\u12", "hexadecimal" },
		{ "\\u{}", "hexadecimal" },
		{ "\\u{41", "}" },
		{ "\\u{110000}", "too large" },
		{ "\\u{123456789}", "too large" },
		{ "\\ud800", "disallowed Unicode code point" },
		{ "\\udc00", "disallowed Unicode code point" },
		{ "\\ud800\\u0041", "disallowed Unicode code point" },
		{ "\\u{d800}", "disallowed Unicode code point" },
		{ "\\pL", "braces" },
		{ "\\p{^Lu}", "braces" },
		{ "\\p{Nonsense}", "unknown property" },
		{ "a++", "nothing to repeat (byte 1)" },
		{ "a*+", "nothing to repeat" },
		{ "a{2}{3}", "nothing to repeat" },
		{ "a?+", "nothing to repeat" },
		{ "a??+", "nothing to repeat" },
		{ "(*UTF)a", "nothing to repeat" },
		{ "(*NO_JIT)a", "nothing to repeat" },
		{ "(?i)a", "group" },
		{ "(?>a)", "group" },
		{ "(?R)", "group" },
		{ "(a)(?1)", "group" },
		{ "(?P<n>a)", "group" },
		{ "(?#c)", "group" },
		{ "(?C)", "group" },
		{ "(?", "group" },
		{ "a{3,2}", "out of order" },
		{ "[b-a]", "out of order" },
		{ ")", "parenthesis" },
		{ "(", "parenthesis" },
		{ "+", "quantifier" },
	};
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct rx *r = NULL;
		char why[200] = "";
		enum rc rc = rx_new(
		    str_of(rows[i].pattern), RX_ECMA, &r, why, sizeof(why));
		ck_assert_msg(rc == RC_INVALID, "%s: %d", rows[i].pattern, rc);
		ck_assert_msg(strstr(why, rows[i].why) != NULL, "%s: %s",
		    rows[i].pattern, why);
		ck_assert_ptr_null(r);
	}
}
