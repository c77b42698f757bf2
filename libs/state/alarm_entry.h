/*
 * alarm_entry: alarms of users, and what is to be spoken to them unasked
 * (pushes): storing, listing, timers.
 *
 * An entry is a JSON text (schema alarm_record) with a version, which a change
 * must name: of two that read the same version, one changes the entry.  The
 * sorted set of its bucket has when something is to be done about it, by Redis'
 * clock; a claim moves that by its lease, so that an entry whose claimer died
 * is claimed by another.
 *
 * Everything here is a call (state.h).  Texts that are set are in the caller's
 * arena.
 */
#ifndef STATE_ALARM_ENTRY_H
#define STATE_ALARM_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Bytes of an entry. */
#define ALARM_ENTRY_MAX 65536
/* For how long those that have ended are stored. */
#define ALARM_STORED_MS INT64_C(604800000)
#define PUSH_STORED_MS  INT64_C(86400000)

enum alarm_entry_type { ALARM_ENTRY_ALARM, ALARM_ENTRY_PUSH };

struct alarm_entry {
	enum alarm_entry_type type;
	struct str user_id, id;
	int64_t version; /* 0: there is none */
	struct str json;
	struct wall due; /* of a claim: since when it is due */
};

/* When something is to be done about an entry after a change. */
struct alarm_entry_change {
	struct str json;
	struct wall due;   /* {0}: never */
	struct wall ended; /* {0}: it has not; else due is {0} */
	int64_t most; /* of a new one: the user's that may not have ended */
};

/*
 * alarm_entry_swap(s, e, c, a, now):
 * Store c if the entry still has e->version (0: there is none), and set that to
 * the new one.  RC_CONFLICT: it was changed meanwhile, and *e is what is stored
 * (with version 0 in e: there is one of that id); RC_NOENT: it was deleted;
 * RC_RETRY: the user has c->most.  *now is Redis' time.
 */
enum rc alarm_entry_swap(struct state *s, struct alarm_entry *e,
    const struct alarm_entry_change *c, struct arena *a,
    struct wall *now) RC_CHECK;

/* alarm_entry_read(s, e, a, now): Set version and json; RC_NOENT. */
enum rc alarm_entry_read(struct state *s, struct alarm_entry *e,
    struct arena *a, struct wall *now) RC_CHECK;

struct alarm_entry_list {
	struct alarm_entry *entry;
	size_t n;
	struct wall now;  /* Redis' time */
	struct wall next; /* of a claim: when the next is due; 0: there is none
			   */
};

/*
 * alarm_entry_list(s, which, ended, a, out):
 * Those of which->user_id and which->type, the next that is due first; with
 * ended also those that have ended, before them.  At most ALARM_LIST_MAX.
 */
#define ALARM_LIST_MAX 1000
enum rc alarm_entry_list(struct state *s, const struct alarm_entry *which,
    bool ended, struct arena *a, struct alarm_entry_list *out) RC_CHECK;

/*
 * alarm_entry_wipe(s, which): Delete all of which->user_id and which->type.
 */
enum rc alarm_entry_wipe(
    struct state *s, const struct alarm_entry *which) RC_CHECK;

/*
 * alarm_due_claim(s, bucket, lease_ms, max, a, out):
 * Claim at most max, up to ALARM_DUE_MAX, of the bucket's entries that are due.
 *
 * alarm_due_extend(s, bucket, lease_ms, entries, n):
 * Extend the claims of up to ALARM_DUE_MAX entries of the bucket; those that
 * are not due any more stay so.
 */
#define ALARM_DUE_MAX 256
enum rc alarm_due_claim(struct state *s, unsigned bucket, int64_t lease_ms,
    size_t max, struct arena *a, struct alarm_entry_list *out) RC_CHECK;
enum rc alarm_due_extend(struct state *s, unsigned bucket, int64_t lease_ms,
    const struct alarm_entry *entries, size_t n) RC_CHECK;

#endif /* !STATE_ALARM_ENTRY_H */
