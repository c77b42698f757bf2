/*
 * Static analysis of patterns.
 */
#include "catalog/catalog_internal.h"
#include "core/mem.h"
#include "testkit/testkit.h"

/* A pattern, and the literals of which every match has one; "": unknown. */
static const struct {
	const char *pattern, *texts; /* joined by | */
} literal_cases[] = {
	{ "开灯", "开灯" },
	{ "开.{0,4}客厅", "客厅" },
	{ "(开|打开)", "开|打开" },
	{ "(?:打开|关闭)灯?", "打开|关闭" },
	{ "ABC", "abc" },
	{ "开?灯", "灯" },
	{ "开灯?", "开" },
	{ "灯*关", "关" },
	{ "灯+关闭", "关闭" },
	{ "灯{0,2}关", "关" },
	{ "灯{2}", "灯" },
	{ "^开灯$", "开灯" },
	{ "[开关]灯泡", "灯泡" },
	{ "[]开]灯", "灯" },
	{ "\\.com", ".com" },
	{ "a\\db", "a" },
	{ "(开|)灯泡", "灯泡" },
	{ "(开|.)灯", "灯" },
	{ "(开|.)", "" },
	{ "(?i:on)", "" },
	{ "(?!关)灯", "" },
	{ "(?<=把)灯", "" },
	{ "é", "" },
	{ "\\Qa\\E", "" },
	{ "(*UTF)a", "" },
	{ "[[:alpha:]]a", "" },
	{ "", "" },
	{ "(", "" },
	{ "a)", "" },
	{ "\\", "" },
};

TEST(literals_of_patterns_are_found)
{
	struct pattern_literals l;
	size_t i, j;

	for (i = 0; i < NELEM(literal_cases); i++) {
		struct str want = str_of(literal_cases[i].texts);

		pattern_literals_find(str_of(literal_cases[i].pattern), &l);
		for (j = 0; j < l.n; j++) {
			struct str text = { l.text[j], l.len[j] };

			ck_assert_msg(str_eq(str_split(&want, '|'), text),
			    "%s: text %zu is %.*s", literal_cases[i].pattern, j,
			    STR_ARG(text));
		}
		ck_assert_msg(want.n == 0, "%s: misses %.*s",
		    literal_cases[i].pattern, STR_ARG(want));
	}
}

static const struct {
	const char *pattern, *marked;
	unsigned unmatched;
} unmatched_cases[] = {
	{ "开.{0,4}灯", "开(.{0,4})灯", 1U << 1 },
	{ "(开).*?灯.+", "(开)(.*?)灯(.+)", 1U << 2 | 1U << 3 },
	{ "(?:开).*", "(?:开)(.*)", 1U << 1 },
	{ "(?<a>b).*", "(?<a>b)(.*)", 1U << 2 },
	{ "(?<=b).*", "(?<=b)(.*)", 1U << 1 },
	{ "开.灯", "开.灯", 0 },
	{ "开\\.*灯", "开\\.*灯", 0 },
	{ "[.*]灯", "[.*]灯", 0 },
	{ "(a)\\1.*", "(a)\\1.*", 0 },
	{ "", "", 0 },
	{ ".{", "(.{)", 1U << 1 },
};

TEST(unmatched_spans_are_marked)
{
	struct buf b = BUF_INIT(4096);
	size_t i;

	for (i = 0; i < NELEM(unmatched_cases); i++) {
		unsigned unmatched;

		buf_reset(&b);
		unmatched =
		    unmatched_span_mark(str_of(unmatched_cases[i].pattern), &b);
		ck_assert_msg(unmatched == unmatched_cases[i].unmatched,
		    "%s: %x", unmatched_cases[i].pattern, unmatched);
		ck_assert_msg(
		    str_eq(buf_str(&b), str_of(unmatched_cases[i].marked)),
		    "%s: %.*s", unmatched_cases[i].pattern,
		    STR_ARG(buf_str(&b)));
	}
	buf_free(&b);
}

TEST(too_many_groups_mark_nothing)
{
	struct buf b = BUF_INIT(4096);
	struct buf pattern = BUF_INIT(4096);
	size_t i;

	for (i = 0; i < 40; i++)
		buf_puts(&pattern, "(a)");
	buf_puts(&pattern, ".*");
	ck_assert_uint_eq(unmatched_span_mark(buf_str(&pattern), &b), 0);
	ck_assert(str_eq(buf_str(&b), buf_str(&pattern)));
	buf_free(&pattern);
	buf_free(&b);
}
