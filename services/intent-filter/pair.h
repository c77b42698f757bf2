/*
 * pair: keywords that are a verb and its object, which people say apart:
 * "打开风扇" is also meant by 把风扇开一下 and by 开客厅的风扇.
 */
#ifndef INTENT_FILTER_PAIR_H
#define INTENT_FILTER_PAIR_H

#include <stdbool.h>

#include "core/str.h"
#include "reading.h"
#include "segment.h"
#include "speech.h"

/*
 * pair_split(folded, verb, object):
 * Split a keyword; false if it is no verb with an object.  *verb is what the
 * verb means ("open"), or its own text.
 */
bool pair_split(struct str folded, struct str *verb, struct str *object);

/*
 * pair_verb(r, g, object, verb):
 * The nearest word of segment g that means verb, beside an object; NULL if
 * there is none near it, or if the bytes are only a part of another word.
 */
const struct speech_hit *pair_verb(const struct reading *r,
    const struct segment *g, const struct reading_span *object,
    struct str verb);

#endif /* !INTENT_FILTER_PAIR_H */
