/*
 * migration: changes the format of all keys of a server.
 *
 * Each record is moved by one script, so that a migration may be killed at any
 * time and repeated, in either direction.  While it lasts, and when it was
 * killed, the key that names the format names none, and no program of 0.2 or
 * later starts.  Older ones do not read it: where they would find a record, or
 * nothing, they find a key of a wrong type, a guard, before they write.
 *
 * All functions block; on the loop's thread, outside of fibers.  They return
 * what state_cmd() does; RC_INVALID also if a record is not one (reported).
 */
#ifndef CHAT_GATEWAY_MIGRATION_H
#define CHAT_GATEWAY_MIGRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/buf.h"
#include "core/rc.h"
#include "migrate/key_map.h"
#include "state/state.h"

/* Keys that one script moves at most. */
#define MIGRATION_BATCH_MAX 256

/* Names of keys that conflict, of which the first are printed. */
#define MIGRATION_CONFLICTS_MAX 20

struct migration {
	struct state *s;
	enum key_format from;
	size_t batch; /* keys of a script, 1 to MIGRATION_BATCH_MAX */
	/* For tests: stop with RC_TIMEOUT after so many scripts; 0: do not. */
	size_t scripts_max;
	/* What a person is to know: called with a line, with its end. */
	void (*print)(void *arg, struct str line);
	void *arg;

	/* Results: records whose place is taken. */
	size_t conflicts;
};

struct migration_counts {
	int64_t n[RECORD_N][FORMAT_N];
	int64_t keys;  /* of the suite */
	int64_t other; /* of them, those of neither format */
};

/*
 * migration_format(s, found, size):
 * The format that the server's keys have: "1", "2", or what the key that names
 * it contains.  "1" also if there are no keys.
 */
enum rc migration_format(struct state *s, char *found, size_t size) RC_CHECK;

/*
 * migration_clients(s, out):
 * The names of services that are connected, separated by commas, appended to
 * out; nothing: none is.
 */
enum rc migration_clients(struct state *s, struct buf *out) RC_CHECK;

/*
 * migration_count(m, c):
 * Count what there is of each record in each format.  Of idle sessions and of
 * souls that tick it is the members.
 */
enum rc migration_count(
    struct migration *m, struct migration_counts *c) RC_CHECK;

/*
 * migration_is_used(c):
 * Whether a process lives that has turns or a lease.  They expire within
 * seconds.
 */
bool migration_is_used(const struct migration_counts *c);

/*
 * migration_run(m):
 * Move all records to the other format, and name it.  RC_CONFLICT: some could
 * not be moved, because there is another record (reported); RC_RETRY: a service
 * has connected meanwhile.  After anything but RC_OK the format stays that of a
 * migration that has not ended.
 */
enum rc migration_run(struct migration *m) RC_CHECK;

#endif /* !CHAT_GATEWAY_MIGRATION_H */
