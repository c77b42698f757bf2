/*
 * zone: time zones by IANA name, independent of the TZ variable, so that each
 * request may have its own.
 *
 * Read from the system's zone files (Debian package tzdata).  After the last
 * transition in a file, 2037 in Debian's, the last offset is used.
 */
#ifndef CORE_ZONE_H
#define CORE_ZONE_H

#include "core/clock.h"
#include "core/rc.h"

struct zone;

/*
 * zone_load(name, out):
 * RC_INVALID unless name is of the form "Asia/Shanghai" (letters, digits,
 * "+-_/", at most 64), RC_NOENT if there is no such zone, RC_BUG if its file is
 * not valid.
 */
enum rc zone_load(const char *name, struct zone **out) RC_CHECK;

/* zone_free(z): NULL is allowed. */
void zone_free(struct zone *z);

/* zone_name(z): Its IANA name, valid as long as z. */
const char *zone_name(const struct zone *z);

/* zone_offset_min(z, t): Minutes east of UTC at t.  Any thread. */
int zone_offset_min(const struct zone *z, struct wall t);

/*
 * zone_local_of(z, t):
 * The local time of z at t, as seconds since 1970-01-01 00:00:00 local time.
 * Any thread.
 */
int64_t zone_local_of(const struct zone *z, struct wall t);

/*
 * zone_wall_of(z, local_s):
 * The inverse: the first of two for an ambiguous local time; a skipped local
 * time is taken with the offset before the transition.
 */
struct wall zone_wall_of(const struct zone *z, int64_t local_s);

#endif /* !CORE_ZONE_H */
