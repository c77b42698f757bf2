/*
 * mood: whether a part of a command really wants an intent carried out, or
 * forbids it, asks about it, supposes it or tells of it.
 *
 * What an intent's own words cover is never held against it: a catalog with
 * the keyword "别放了" means just that.
 */
#ifndef INTENT_FILTER_MOOD_H
#define INTENT_FILTER_MOOD_H

#include <stdbool.h>
#include <stddef.h>

#include "clause.h"

enum mood {
	MOOD_WANTED,
	MOOD_FORBIDDEN, /* 别开灯 */
	MOOD_OTHER,     /* the opposite or the end of it: 取消闹钟 */
	MOOD_ASKED,     /* 灯是什么时候发明的 */
	MOOD_SUPPOSED,  /* 如果下雨就关窗 */
	MOOD_TOLD, /* 他说关灯, 昨天我把灯关了, 我喜欢绿色 */
	MOOD_DESCRIBED /* 灯太亮了 */
};

/* mood_of(p, c): How the segment means the claim. */
enum mood mood_of(const struct clause *p, const struct claim *c);

/*
 * mood_names_only(p, spans, n):
 * Whether the evidence is nothing but the names of things: 灯, 客厅.
 */
bool mood_names_only(
    const struct clause *p, const struct reading_span *spans, size_t n);

#endif /* !INTENT_FILTER_MOOD_H */
