/*
 * Resolving a soul_hint.
 */
#include "hint.h"

#include "state/soul.h"

size_t
hint_find(const struct soul *list, size_t n, struct str hint,
    const struct soul **found)
{
	size_t i, matches = 0;

	*found = NULL;
	if (hint.n == 0)
		return 0;
	for (i = 0; i < n; i++) {
		if (!str_eq(list[i].id, hint) && !str_eq(list[i].name, hint))
			continue;
		*found = &list[i];
		matches++;
	}
	return matches;
}
