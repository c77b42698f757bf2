/*
 * evolution_item: evolutions as they are stored, and what is published of them.
 *
 * A change and the steps that it adds are stored together; then the steps are
 * published, each with an id of its own, and that is stored.  Who dies in
 * between leaves an evolution that is due (evolution_due.h), so that every step
 * is published, and counts once.
 *
 * Everything here is a call (state.h), in a fiber.
 */
#ifndef EVOLUTION_ITEM_H
#define EVOLUTION_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "core/trace.h"
#include "state/evolution_entry.h"
#include "wire/msgs.h"

struct host;

struct evolution_item {
	struct evolution_entry entry;
	struct wire_evolution_record rec; /* what entry has, or will have */
};

/*
 * evolution_items_read(h, user, a, list, n): All of a user; those that are not
 * readable are left out, and logged.
 * evolution_item_read(h, i, a): That of i's user and id; RC_NOENT.
 * evolution_item_decode(i, a): i->rec from i->entry; RC_INVALID, logged.
 */
enum rc evolution_items_read(struct host *h, struct str user, struct arena *a,
    struct evolution_item **list, size_t *n) RC_CHECK;
enum rc evolution_item_read(
    struct host *h, struct evolution_item *i, struct arena *a) RC_CHECK;
enum rc evolution_item_decode(
    struct evolution_item *i, struct arena *a) RC_CHECK;

/*
 * evolution_item_save(h, i, change, a):
 * Store i->rec, and what change says of a server, if i->entry is what is
 * stored.  change->json, soul_id and publish_ms are set here.  RC_CONFLICT: i
 * becomes what is stored; else as evolution_entry_swap().
 */
enum rc evolution_item_save(struct host *h, struct evolution_item *i,
    struct evolution_change *change, struct arena *a) RC_CHECK;

/*
 * evolution_item_publish(h, i, trace, a):
 * Publish the steps that are not published yet, and store that they are.  What
 * cannot be done now is due, and logged.
 */
void evolution_item_publish(struct host *h, struct evolution_item *i,
    const struct trace *trace, struct arena *a);

#endif /* !EVOLUTION_ITEM_H */
