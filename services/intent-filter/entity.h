/*
 * entity: the typed things in a part of a command that catalogs may ask for:
 * action, device, room, color, time_duration, time_time_point.
 */
#ifndef INTENT_FILTER_ENTITY_H
#define INTENT_FILTER_ENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "reading.h"

struct entity {
	const char *type;
	size_t start, end;           /* bytes of the command */
	const char *value;           /* normalised; NULL of a time */
	const struct datetime *time; /* NULL of others */
};

/*
 * entity_next(r, from, end, type, out):
 * The first entity of that type (absent: of any) that starts in [from, end).
 */
bool entity_next(const struct reading *r, size_t from, size_t end,
    struct str type, struct entity *out);

/* entity_is_duration(t): Whether a time is a span, or counted from now. */
bool entity_is_duration(const struct datetime *t);

/*
 * entity_list(r, b):
 * All of them as a JSON array for people: type, text, start, end (code points)
 * and value.
 */
void entity_list(const struct reading *r, struct buf *b);

#endif /* !INTENT_FILTER_ENTITY_H */
