/*
 * skill_cache: the compiled input_schema of skills, by their text, so that a
 * terminal's skills are compiled with its first command only.  Any thread.
 */
#ifndef INTENT_FILTER_SLOTS_SKILL_CACHE_H
#define INTENT_FILTER_SLOTS_SKILL_CACHE_H

#include <stddef.h>

#include "core/rc.h"
#include "core/str.h"

struct wire_schema;
struct wire_tree;
struct skill_cache;

/* One schema. */
struct skill_shape {
	struct wire_tree *tree;
	struct wire_schema *compiled;
	struct skill_cache_entry *entry; /* the cache's */
};

/*
 * skill_cache_new(max_bytes):
 * About max_bytes of compiled schemas, the least recently used of which are
 * dropped; always the newest.
 */
struct skill_cache *skill_cache_new(size_t max_bytes);

/* skill_cache_free(c): No other thread uses it.  NULL is allowed. */
void skill_cache_free(struct skill_cache *c);

/*
 * skill_cache_get(c, schema, out):
 * Compile a schema, unless it is there; valid until it is returned or c is
 * freed.  RC_INVALID if it is none or too complex, which is remembered as well.
 *
 * skill_cache_return(c, shape): Once for each that was got.
 */
enum rc skill_cache_get(struct skill_cache *c, struct str schema,
    const struct skill_shape **out) RC_CHECK;
void skill_cache_return(struct skill_cache *c, const struct skill_shape *shape);

/* skill_cache_len(c): Schemas in it. */
size_t skill_cache_len(const struct skill_cache *c);

#endif /* !INTENT_FILTER_SLOTS_SKILL_CACHE_H */
