/*
 * zones: time zones by name, each read from disk once.
 */
#ifndef INTENT_FILTER_ZONES_H
#define INTENT_FILTER_ZONES_H

#include "core/rc.h"
#include "core/str.h"

struct zone;
struct zones;

/* zones_new(), zones_free(z): None; free them (NULL allowed) with all zones. */
struct zones *zones_new(void);
void zones_free(struct zones *z);

/*
 * zones_get(z, name, out):
 * The zone of that IANA name, valid until the next call; fails as zone_load().
 */
enum rc zones_get(
    struct zones *z, struct str name, const struct zone **out) RC_CHECK;

#endif /* !INTENT_FILTER_ZONES_H */
