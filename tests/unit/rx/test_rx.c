/* Compiling, finding, groups, sharing between threads. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "rx/rx.h"
#include "testkit/testkit.h"

static struct rx *
compiled(const char *pattern, unsigned flags)
{
	struct rx *r = NULL;
	char why[200] = "";
	enum rc rc = rx_new(str_of(pattern), flags, &r, why, sizeof(why));
	ck_assert_msg(rc == RC_OK, "%s: %s", pattern, why);
	return r;
}

static enum rc
find(const char *pattern, unsigned flags, const char *text, struct rx_match *m)
{
	struct rx *r = compiled(pattern, flags);
	struct rx_scratch *s = rx_scratch_new();
	enum rc rc = rx_find(r, s, str_of(text), 0, m);
	rx_scratch_free(s);
	rx_free(r);
	return rc;
}

TEST(the_position_of_a_match_is_found)
{
	static const struct {
		const char *pattern;
		unsigned flags;
		const char *text;
		ptrdiff_t start, end; /* -1: no match */
	} rows[] = {
		{ "b+", 0, "aabbb", 2, 5 },
		{ "x", 0, "aabbb", -1, -1 },
		{ "", 0, "", 0, 0 },
		{ "^$", 0, "", 0, 0 },
		{ "灯", 0, "开灯", 3, 6 },
		{ ".", 0, "灯", 0, 3 },
		{ "^.{2}$", 0, "开灯", 0, 6 },
		{ "ON", RX_NOCASE, "turn on", 5, 7 },
		{ "ÄÖ", RX_NOCASE, "äö", 0, 4 },
		{ "ON", 0, "turn on", -1, -1 },
		{ "\\d+", 0, "٣٤", 0, 4 },
		{ "\\w+", 0, "红色", 0, 6 },
		{ "\\s", 0, "a\xc2\xa0", 1, 3 },
		{ "a$", 0, "a\n", 0, 1 },
		{ "(?P<n>\\d+)(?:分钟|秒)", 0, "等5分钟", 3, 10 },
	};
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct rx_match m = { 0 };
		enum rc rc =
		    find(rows[i].pattern, rows[i].flags, rows[i].text, &m);
		if (rows[i].start < 0) {
			ck_assert_msg(
			    rc == RC_NOENT, "%s: %d", rows[i].pattern, rc);
			continue;
		}
		ck_assert_msg(rc == RC_OK, "%s: %d", rows[i].pattern, rc);
		ck_assert_uint_ge(m.n, 1);
		ck_assert_msg(
		    m.g[0].start == rows[i].start && m.g[0].end == rows[i].end,
		    "%s: %td..%td", rows[i].pattern, m.g[0].start, m.g[0].end);
	}
}

TEST(groups_are_reported)
{
	struct rx_match m;
	ck_assert_int_eq(find("(a)|(b)(c)?", 0, "xb", &m), RC_OK);
	ck_assert_uint_eq(m.n, 4);
	ck_assert_int_eq(m.g[0].start, 1);
	ck_assert_int_eq(m.g[1].start, -1);
	ck_assert_int_eq(m.g[1].end, -1);
	ck_assert_int_eq(m.g[2].start, 1);
	ck_assert_int_eq(m.g[2].end, 2);
	ck_assert_int_eq(m.g[3].start, -1);
}

TEST(groups_over_the_limit_are_not_reported)
{
	char pattern[3 * (RX_GROUPS_MAX + 1) + 1], text[RX_GROUPS_MAX + 2];
	for (size_t i = 0; i <= RX_GROUPS_MAX; i++) {
		memcpy(pattern + 3 * i, "(.)", 4);
		memcpy(text + i, "a", 2);
	}
	struct rx *r = compiled(pattern, 0);
	struct rx_scratch *s = rx_scratch_new();
	struct rx_match m;
	ck_assert_uint_eq(rx_groups(r), RX_GROUPS_MAX + 1);
	ck_assert_int_eq(rx_find(r, s, str_of(text), 0, &m), RC_OK);
	ck_assert_uint_eq(m.n, RX_GROUPS_MAX);
	for (size_t i = 1; i < m.n; i++) {
		ck_assert_int_eq(m.g[i].start, (ptrdiff_t)i - 1);
		ck_assert_int_eq(m.g[i].end, (ptrdiff_t)i);
	}
	rx_scratch_free(s);
	rx_free(r);
}

TEST(a_search_starts_at_from)
{
	struct rx *r = compiled("灯|^开", 0);
	struct rx_scratch *s = rx_scratch_new();
	struct str text = str_of("开灯灯");
	struct rx_match m;
	ck_assert_int_eq(rx_find(r, s, text, 0, &m), RC_OK);
	ck_assert_int_eq(m.g[0].start, 0);
	ck_assert_int_eq(rx_find(r, s, text, 3, &m), RC_OK);
	ck_assert_int_eq(m.g[0].start, 3);
	ck_assert_int_eq(rx_find(r, s, text, 6, &m), RC_OK);
	ck_assert_int_eq(m.g[0].start, 6);
	ck_assert_int_eq(rx_find(r, s, text, 9, &m), RC_NOENT);
	ck_assert_int_eq(rx_find(r, s, text, 4, &m), RC_INVALID);
	ck_assert_int_eq(rx_find(r, s, text, 10, &m), RC_INVALID);
	rx_scratch_free(s);
	rx_free(r);
}

TEST(text_that_is_not_utf8_is_rejected)
{
	static const char *const bad[] = { "\xff", "a\xe7\x81", "\xc0\x80",
		"\xed\xa0\x80", "\xf4\x90\x80\x80" };
	struct rx *r = compiled("a", 0);
	struct rx_scratch *s = rx_scratch_new();
	for (size_t i = 0; i < NELEM(bad); i++)
		ck_assert_int_eq(
		    rx_find(r, s, str_of(bad[i]), 0, NULL), RC_INVALID);
	struct str absent = { NULL, 0 };
	ck_assert_int_eq(rx_find(r, s, absent, 0, NULL), RC_NOENT);
	rx_scratch_free(s);
	rx_free(r);
}

TEST(invalid_patterns_are_rejected_with_reason_and_offset)
{
	static const struct {
		const char *pattern;
		unsigned flags;
		enum rc rc;
		const char *why;
	} rows[] = {
		{ "(a", 0, RC_INVALID, "missing closing parenthesis (byte 2)" },
		{ "ab[c", 0, RC_INVALID, "(byte 4)" },
		{ "*", 0, RC_INVALID, "(byte 0)" },
		{ "\\C", 0, RC_INVALID, "\\C" },
		{ "a(?C)b", 0, RC_INVALID, "callouts" },
		{ "a(?C3)b", 0, RC_INVALID, "callouts" },
		{ "a(?C'x')b", 0, RC_INVALID, "callouts" },
		{ "\xff", 0, RC_INVALID, "UTF-8" },
		{ "(a)\\2", 0, RC_INVALID, "non-existent" },
		{ "(?:(?:(?:(?:x{9}){99}){99}){99}){9}", 0, RC_TOOBIG,
		    "large" },
		{ "a{70000}", 0, RC_TOOBIG, "too big" },
		{ ".......\\w(a", RX_ECMA, RC_INVALID, "(byte 11)" },
	};
	for (size_t i = 0; i < NELEM(rows); i++) {
		struct rx *r = NULL;
		char why[200] = "";
		enum rc rc = rx_new(str_of(rows[i].pattern), rows[i].flags, &r,
		    why, sizeof(why));
		ck_assert_msg(
		    rc == rows[i].rc, "%s: %d %s", rows[i].pattern, rc, why);
		ck_assert_msg(strstr(why, rows[i].why) != NULL, "%s: %s",
		    rows[i].pattern, why);
		ck_assert_ptr_null(r);
		ck_assert_int_eq(
		    rx_new(str_of(rows[i].pattern), rows[i].flags, &r, NULL, 0),
		    rows[i].rc);
	}
	/* A failed rx_new() leaves nothing to free; NULL is allowed. */
	rx_free(NULL);
	rx_scratch_free(NULL);
}

TEST(pattern_sizes_are_limited)
{
	char text[RX_PATTERN_MAX + 1];
	char why[200];
	struct rx *r = NULL;
	memset(text, 'a', sizeof(text));
	struct str s = { text, RX_PATTERN_MAX };
	ck_assert_int_eq(rx_new(s, 0, &r, why, sizeof(why)), RC_OK);
	rx_free(r);
	s.n++;
	ck_assert_int_eq(rx_new(s, 0, &r, why, sizeof(why)), RC_TOOBIG);
	memset(text, '(', 200);
	memset(text + 200, ')', 200);
	s.n = 400;
	ck_assert_int_eq(rx_new(s, 0, &r, why, sizeof(why)), RC_TOOBIG);
	memset(text, '.', sizeof(text));
	s.n = RX_PATTERN_MAX;
	ck_assert_int_eq(rx_new(s, RX_ECMA, &r, why, sizeof(why)), RC_TOOBIG);
	ck_assert_ptr_nonnull(strstr(why, "too complex"));
}

struct sharer {
	const struct rx *easy;
	const struct rx *hard;
	int wrong;
};

/* Easy finds, and hard ones that need the slow code. */
static void *
share(void *arg)
{
	struct sharer *p = arg;
	struct rx_scratch *s = rx_scratch_new();
	char hard[64];
	memset(hard, 'a', sizeof(hard));
	for (int i = 0; i < 40; i++) {
		char text[32];
		struct rx_match m;
		(void)snprintf(text, sizeof(text), "wait %d minutes", i);
		if (rx_find(p->easy, s, str_of(text), 0, &m) != RC_OK ||
		    m.g[1].start != 5)
			p->wrong++;
		struct str t = { hard, sizeof(hard) };
		if (rx_find(p->hard, s, t, 0, NULL) != RC_TOOBIG)
			p->wrong++;
	}
	rx_scratch_free(s);
	return NULL;
}

TEST(threads_share_a_pattern)
{
	struct rx *easy = compiled("(\\d+) minutes", 0);
	struct rx *hard = compiled("^(a+)+b?$(?<=b)", 0);
	struct sharer p[2] = { { easy, hard, 0 }, { easy, hard, 0 } };
	pthread_t t[2];
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, share, &p[i]), 0);
	for (size_t i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(t[i], NULL), 0);
	ck_assert_int_eq(p[0].wrong + p[1].wrong, 0);
	rx_free(easy);
	rx_free(hard);
}
