/*
 * alarm_store: records of alarms and pushes, decoded and stored.
 *
 * Texts are in the caller's arena.
 */
#ifndef ALARM_CLOCK_ALARM_STORE_H
#define ALARM_CLOCK_ALARM_STORE_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "state/alarm_entry.h"
#include "wire/msgs.h"

struct alarm_clock;

struct alarm_stored {
	struct alarm_entry entry;
	struct wire_alarm_record r;
};

/* alarm_store_decode(x, a): x->r of x->entry.json; RC_INVALID (logged). */
enum rc alarm_store_decode(struct alarm_stored *x, struct arena *a) RC_CHECK;

/*
 * alarm_store_save(c, x, due_ms, a, now):
 * A call: store x->r, due at due_ms, 0: at x->r.next_ms.  Results as
 * alarm_entry_swap(); after RC_CONFLICT x is what is stored.
 */
enum rc alarm_store_save(struct alarm_clock *c, struct alarm_stored *x,
    int64_t due_ms, struct arena *a, struct wall *now) RC_CHECK;

/* alarm_store_read(c, x, a, now): A call: of the type, user and id in x. */
enum rc alarm_store_read(struct alarm_clock *c, struct alarm_stored *x,
    struct arena *a, struct wall *now) RC_CHECK;

struct alarm_stored_list {
	struct alarm_stored *x;
	size_t n;
	struct wall now;
};

/*
 * alarm_store_list(c, which, ended, a, out):
 * A call: as alarm_entry_list(); records that cannot be read are left out.
 */
enum rc alarm_store_list(struct alarm_clock *c, const struct alarm_entry *which,
    bool ended, struct arena *a, struct alarm_stored_list *out) RC_CHECK;

#endif /* !ALARM_CLOCK_ALARM_STORE_H */
