/*
 * Drives in words.
 */
#include "core/buf.h"
#include "core/mem.h"
#include "persona/drive_words.h"
#include "testkit/testkit.h"

TEST(what_is_unusual_has_words)
{
	static const struct {
		struct drive_levels l;
		const char *words;
	} rows[] = {
		{ { .1, .9, .5, .2, .1 }, "" },
		{ { .5, .3, .8, .6, .5 }, "" },
		{ { .51, .9, .5, .2, .1 }, "有些害怕" },
		{ { .81, .9, .81, .2, .1 }, "很害怕，很好奇" },
		{ { .1, .29, .5, .61, .51 },
		    "没什么活下去的劲头，有些懒散，和主人亲近" },
		{ { 1, 0, 1, 1, 1 },
		    "很害怕，没什么活下去的劲头，很好奇，懒得动，和主人很亲密" },
	};
	struct buf b = BUF_INIT(512);

	for (size_t i = 0; i < NELEM(rows); i++) {
		buf_reset(&b);
		drive_words_put(&rows[i].l, &b);
		ck_assert_msg(str_eq(buf_str(&b), str_of(rows[i].words)),
		    "row %zu: %.*s", i, STR_ARG(buf_str(&b)));
	}
	buf_free(&b);
}
