/*
 * Words by thresholds.
 */
#include "persona/drive_words.h"

#include <stddef.h>

#include "core/buf.h"
#include "core/mem.h"

void
drive_words_put(const struct drive_levels *l, struct buf *b)
{
	const struct {
		double value, above;
		const char *word;
		double strong;
		const char *strong_word;
	} rows[] = {
		{ l->fear, .5, "有些害怕", .8, "很害怕" },
		{ 1 - l->survival, .7, "没什么活下去的劲头", 1, "" },
		{ l->curiosity, .8, "很好奇", 1, "" },
		{ l->laziness, .6, "有些懒散", .8, "懒得动" },
		{ l->intimacy, .5, "和主人亲近", .8, "和主人很亲密" },
	};
	const char *comma = "";

	for (size_t i = 0; i < NELEM(rows); i++) {
		if (!(rows[i].value > rows[i].above))
			continue;
		buf_puts(b, comma);
		buf_puts(b,
		    rows[i].value > rows[i].strong ? rows[i].strong_word
						   : rows[i].word);
		comma = "，";
	}
}
