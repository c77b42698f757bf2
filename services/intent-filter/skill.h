/*
 * skill: whether a body's skill can be called with what the slots gave.
 */
#ifndef INTENT_FILTER_SKILL_H
#define INTENT_FILTER_SKILL_H

#include <stddef.h>

#include "core/arena.h"
#include "slots.h"
#include "wire/msgs.h"

/*
 * skill_check(skills, n, s, a):
 * Bring s->normalized to the types of the input_schema of the skill that its
 * member skill names.  RC_INVALID if there is no such skill or it refuses the
 * arguments; s->missing then has the required ones that are not there, if that
 * is why.  RC_TOOBIG if a is full.
 */
enum rc skill_check(const struct wire_skill *skills, size_t n, struct slots *s,
    struct arena *a) RC_CHECK;

#endif /* !INTENT_FILTER_SKILL_H */
