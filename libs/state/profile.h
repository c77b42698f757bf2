/*
 * profile: a document per user, in Redis: what is known of him.
 *
 * It is kept as its leaves, each with the time it was set at, so that two who
 * change different parts at once both succeed, and changes may come in any
 * order, or twice: of a place the newest counts, and of two of one time the one
 * that came last.  A leaf stands for all that lies below it, and what is set
 * below a leaf makes an object of it.  What was removed is remembered, so that
 * an older change does not bring it back.
 *
 * A path is a JSON Pointer (RFC 6901), not the empty one.  A value is any
 * text that is not empty; whoever reads it knows what it is.
 */
#ifndef STATE_PROFILE_H
#define STATE_PROFILE_H

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Leaves of a document, and of one change; removed ones that are known. */
#define PROFILE_LEAVES_MAX 256
/* A path and a value, and all of a document, in bytes. */
#define PROFILE_PATH_MAX  4096
#define PROFILE_VALUE_MAX 1024
#define PROFILE_BYTES_MAX (64UL * 1024)
/*
 * For how long, at least, and how many of the removed are remembered one by
 * one.  Beyond that no change is taken that is older than what was given up.
 */
#define PROFILE_GONE_DAYS 8
#define PROFILE_GONE_MAX  256

struct profile_leaf {
	struct str path;
	struct str value; /* empty: to be removed, with all below */
};

struct profile_leaves {
	struct profile_leaf *leaf; /* in the order of their paths' bytes */
	size_t n;
	struct wall changed; /* the last change; 0: never */
};

/*
 * profile_leaves_put(s, user_id, change, at):
 * Carry out the leaves of change (changed does not count; the paths differ, and
 * none lies below another), as of at, or of now if that is 0 or in the future.
 * All or, if the document would have too many leaves or bytes, nothing:
 * RC_TOOBIG. RC_OK also if all of it was too old.
 */
enum rc profile_leaves_put(struct state *s, struct str user_id,
    const struct profile_leaves *change, struct wall at) RC_CHECK;

/*
 * profile_leaves_wipe(s, user_id, path):
 * Remove path and all below, whatever time it is of; nothing that was said
 * before now can bring it back.
 */
enum rc profile_leaves_wipe(
    struct state *s, struct str user_id, struct str path) RC_CHECK;

/*
 * profile_leaves_read(s, user_id, a, out):
 * All leaves, into a; none of a user nothing is known of.
 */
enum rc profile_leaves_read(struct state *s, struct str user_id,
    struct arena *a, struct profile_leaves *out) RC_CHECK;

#endif /* !STATE_PROFILE_H */
