/*
 * Where a unit ends, and what it is.
 */
#include "unit.h"

#include "runes.h"

#define SAME_MAX 3 /* of a run of one character */
#define STEM     5 /* letters */
#define NUMBER   1

static bool
cjk(uint32_t r)
{
	return (r >= 0x3400 && r <= 0x9fff) || (r >= 0x20000 && r <= 0x3ffff);
}

/* Letters three or more in a row count once: "soooo" is "so", "good" "good". */
static bool
drawn_out(const uint32_t *text, size_t n, size_t from, size_t at)
{
	return at > from && text[at - 1] == text[at] &&
	    ((at > from + 1 && text[at - 2] == text[at]) ||
		(at + 1 < n && text[at + 1] == text[at]));
}

static struct unit
latin(const uint32_t *text, size_t n, size_t at)
{
	struct unit u = { .id = UINT64_C(0xcbf29ce484222325) };
	bool number = true;
	size_t i, letters = 0;

	for (i = at; i < n && rune_latin(text[i]); i++) {
		number = number && text[i] >= '0' && text[i] <= '9';
		if (drawn_out(text, n, at, i))
			continue;
		u.id = (u.id ^ text[i]) * UINT64_C(0x100000001b3);
		if (++letters == STEM)
			u.stem = u.id;
	}
	u.end = i;
	if (number)
		return (struct unit){ .id = NUMBER, .end = i };
	u.id |= 2;
	return u;
}

struct unit
unit_at(const uint32_t *text, size_t n, size_t at)
{
	struct unit u = { .end = at + 1 };
	uint32_t r = text[at];
	uint64_t run = 0;

	if (rune_latin(r))
		return latin(text, n, at);
	if (r == ' ')
		return u;
	if (cjk(r)) {
		u.chinese = true;
		while (run < SAME_MAX && run < at && text[at - 1 - run] == r)
			run++;
		u.id = run == SAME_MAX ? 0 : (uint64_t)r << 2;
		return u;
	}
	while (u.end < n && text[u.end] == r)
		u.end++;
	run = u.end - at < SAME_MAX ? u.end - at : SAME_MAX;
	u.id = (run << 32 | r) << 2;
	return u;
}
