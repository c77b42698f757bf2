/*
 * zone: time zones by IANA name, without the process-wide TZ variable, so that
 * each request may have its own.
 *
 * Read from the system's zone files (Debian package tzdata).  Past the last
 * change in a file its last offset goes on; those of Debian reach 2037.
 */
#ifndef CORE_ZONE_H
#define CORE_ZONE_H

#include "core/clock.h"
#include "core/rc.h"

struct zone;

/*
 * zone_load(name, out):
 * RC_INVALID unless name is like "Asia/Shanghai" (letters, digits, "+-_/", at
 * most 64), RC_NOENT if there is no such zone, RC_BUG if its file is broken.
 */
enum rc zone_load(const char *name, struct zone **out) RC_CHECK;

/* zone_free(z): NULL is allowed. */
void zone_free(struct zone *z);

/* zone_name(z): Its IANA name, as long as z lives. */
const char *zone_name(const struct zone *z);

/* zone_offset_min(z, t): Minutes east of UTC at t.  Any thread. */
int zone_offset_min(const struct zone *z, struct wall t);

/*
 * zone_local_of(z, t):
 * What the clocks of z show at t, as seconds since they showed 1970-01-01
 * 00:00:00.  Any thread.
 */
int64_t zone_local_of(const struct zone *z, struct wall t);

/*
 * zone_wall_of(z, local_s):
 * The inverse: when z's clocks show that.  Of a time that they show twice it is
 * the first, one that they leave out counts as if they had not been put on.
 */
struct wall zone_wall_of(const struct zone *z, int64_t local_s);

#endif /* !CORE_ZONE_H */
