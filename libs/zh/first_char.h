/*
 * first_char: whether anything may begin with a character, so that most
 * characters of a text are looked up nowhere.  Any thread.
 */
#ifndef ZH_FIRST_CHAR_H
#define ZH_FIRST_CHAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

#define FIRST_CHAR_MAPS 64 /* of 64 characters each */

/* Of the lexicon's two parts. */
extern const uint64_t first_char_of_words[FIRST_CHAR_MAPS];
extern const uint64_t first_char_of_holidays[FIRST_CHAR_MAPS];
extern const uint64_t first_char_of_idioms[FIRST_CHAR_MAPS];

/*
 * first_char_key(s, at):
 * The character as a number that sorts like its bytes; 0 if it is not complete,
 * or NUL.  Of two and four bytes the first three.
 */
static inline uint32_t
first_char_key(struct str s, size_t at)
{
	const unsigned char *p = (const unsigned char *)s.p + at;

	if (at >= s.n)
		return 0;
	if (p[0] < 0x80)
		return (uint32_t)p[0] << 16;
	if (s.n - at < 3)
		return 0;
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

/* first_char_hash(key): Its bit in the maps, 0 to 4095. */
static inline uint32_t
first_char_hash(uint32_t key)
{
	return key * UINT32_C(0x9e3779b1) >> 20;
}

/* first_char_may_begin(maps, key): False: nothing begins with it. */
static inline bool
first_char_may_begin(const uint64_t maps[FIRST_CHAR_MAPS], uint32_t key)
{
	uint32_t h = first_char_hash(key);

	return (maps[h >> 6] >> (h & 63U) & 1) != 0;
}

#endif /* !ZH_FIRST_CHAR_H */
