/*
 * vague: words for a moment that is not said: 马上, 待会儿, 最近.
 */
#ifndef ZH_VAGUE_H
#define ZH_VAGUE_H

enum vague {
	VAGUE_NOW,
	VAGUE_AT_ONCE,
	VAGUE_SOON,
	VAGUE_WHILE,
	VAGUE_LATER,
	VAGUE_JUST_NOW,
	VAGUE_RECENTLY,
	VAGUE_YEARS,
	VAGUE_SOME_DAY,
	VAGUE_FUTURE,
	VAGUE_PAST,
	VAGUE_COUNT
};

#endif /* !ZH_VAGUE_H */
