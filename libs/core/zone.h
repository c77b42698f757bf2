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

#endif /* !CORE_ZONE_H */
