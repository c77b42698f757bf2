/*
 * user_zone: the time zones that users have set in their profiles, read at most
 * each USER_ZONE_MS.  Loop thread only.
 */
#ifndef LLM_ORCHESTRATOR_USER_ZONE_H
#define LLM_ORCHESTRATOR_USER_ZONE_H

#include "core/arena.h"
#include "core/str.h"

struct state;
struct user_zones;

/* How long a zone is used that the user may have changed since. */
#define USER_ZONE_MS 10000
/* Users whose zones are in memory; the oldest goes first. */
#define USER_ZONES_MAX 10000

/* user_zones_new(s), user_zones_free(z): NULL is allowed. */
struct user_zones *user_zones_new(struct state *s);
void user_zones_free(struct user_zones *z);

/*
 * user_zone(z, user, a):
 * The IANA name of the user's zone, from a; absent: none is set, it is not
 * valid, or it cannot be read now.  A call, unless it was read lately.
 */
struct str user_zone(struct user_zones *z, struct str user, struct arena *a);

#endif /* !LLM_ORCHESTRATOR_USER_ZONE_H */
