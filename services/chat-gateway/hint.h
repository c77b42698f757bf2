/*
 * hint: which soul an unbound body means.
 */
#ifndef CHAT_GATEWAY_HINT_H
#define CHAT_GATEWAY_HINT_H

#include <stddef.h>

#include "core/str.h"

struct soul;

/*
 * hint_find(list, n, hint, found):
 * How many of n souls have hint as their id or name; *found is one of them, or
 * NULL.  None has an empty one.
 */
size_t hint_find(const struct soul *list, size_t n, struct str hint,
    const struct soul **found);

#endif /* !CHAT_GATEWAY_HINT_H */
