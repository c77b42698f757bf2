/*
 * A few stems in five languages.
 */
#include "says.h"

#include "core/mem.h"
#include "speech.h"

static const struct {
	unsigned says;
	struct str word;
} sayings[] = {
	{ CATALOG_OPENS, STR_INIT("开") },
	{ CATALOG_OPENS, STR_INIT("open") },
	{ CATALOG_OPENS, STR_INIT("turn on") },
	{ CATALOG_OPENS, STR_INIT("on") },
	{ CATALOG_OPENS, STR_INIT("켜") },
	{ CATALOG_OPENS, STR_INIT("つけ") },
	{ CATALOG_CLOSES, STR_INIT("关") },
	{ CATALOG_CLOSES, STR_INIT("停") },
	{ CATALOG_CLOSES, STR_INIT("熄") },
	{ CATALOG_CLOSES, STR_INIT("拉上") },
	{ CATALOG_CLOSES, STR_INIT("close") },
	{ CATALOG_CLOSES, STR_INIT("stop") },
	{ CATALOG_CLOSES, STR_INIT("off") },
	{ CATALOG_CLOSES, STR_INIT("shut") },
	{ CATALOG_CLOSES, STR_INIT("꺼") },
	{ CATALOG_CLOSES, STR_INIT("消") },
	{ CATALOG_CANCELS, STR_INIT("取消") },
	{ CATALOG_CANCELS, STR_INIT("撤") },
	{ CATALOG_CANCELS, STR_INIT("删") },
	{ CATALOG_CANCELS, STR_INIT("清除") },
	{ CATALOG_CANCELS, STR_INIT("移除") },
	{ CATALOG_CANCELS, STR_INIT("cancel") },
	{ CATALOG_CANCELS, STR_INIT("delete") },
	{ CATALOG_CANCELS, STR_INIT("remove") },
};

unsigned
says_of(struct str folded)
{
	unsigned says = 0;
	ptrdiff_t at;
	size_t i;

	for (i = 0; i < NELEM(sayings); i++) {
		at = str_find(folded, sayings[i].word);
		if (at >= 0 &&
		    speech_is_word(
			folded, (size_t)at, (size_t)at + sayings[i].word.n))
			says |= sayings[i].says;
	}
	return says;
}
