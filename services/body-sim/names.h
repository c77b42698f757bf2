/*
 * names: what the bodies of one process are called.  Pure.
 */
#ifndef BODY_SIM_NAMES_H
#define BODY_SIM_NAMES_H

#include <stddef.h>

#include "core/id.h"
#include "core/rc.h"
#include "core/str.h"

/*
 * names_of(first, i, dst):
 * The id of body i (from 0): first with the number at its end counted up, as
 * wide as it is: terminal-001, terminal-002, … terminal-1000.  To a first
 * without a number "-<i + 1>" is added, but for body 0.  RC_TOOBIG if it gets
 * longer than ID_MAX.
 */
enum rc names_of(struct str first, size_t i, char dst[ID_MAX + 1]) RC_CHECK;

#endif /* !BODY_SIM_NAMES_H */
