/*
 * memory: what is known of a user, in Redis: the memories of a soul (the
 * built-in store), and the user's profile.
 *
 * User and soul are part of every memory's key; there is no way to read across.
 */
#ifndef STATE_MEMORY_H
#define STATE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Memories of one user and soul; the oldest are removed. */
#define MEMORY_MAX 10000
/* Largest memory and largest vector of one, in bytes. */
#define MEMORY_JSON_MAX   (128UL * 1024)
#define MEMORY_VECTOR_MAX (16UL * 1024)
/* Vectors that one memory_vectors() sets. */
#define MEMORY_VECTORS_MAX 16
/* For how long, at least, a forgotten memory cannot come back. */
#define MEMORY_TOMBSTONE_DAYS 8

struct memory_scope {
	struct str user_id, soul_id;
};

struct memory_item {
	struct str id;
	struct str json;   /* text, type, times: memory-worker's format */
	struct str vector; /* memory-worker's format; empty: none */
};

/*
 * memory_put(s, scope, item, made):
 * Store it; an id that is stored already does not change.  made is when it came
 * to be: RC_CONFLICT if it was forgotten since, so that a job that is done late
 * or twice does not bring it back.
 */
enum rc memory_put(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, struct wall made) RC_CHECK;

/*
 * memory_vectors(s, scope, item, n):
 * Set the vectors of n (at most MEMORY_VECTORS_MAX) items, of those that still
 * exist.
 */
enum rc memory_vectors(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, size_t n) RC_CHECK;

/*
 * memory_forget(s, scope, id): Delete one, current or superseded, and leave a
 *                              tombstone; RC_NOENT if there is none.
 * memory_clear(s, scope, n):   Forget all; *n (may be NULL) how many, not
 *                              counting superseded ones.
 * memory_del(s, scope, id):    As memory_forget(), without a tombstone.
 */
enum rc memory_forget(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;
enum rc memory_clear(
    struct state *s, const struct memory_scope *scope, size_t *n) RC_CHECK;
enum rc memory_del(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;

/*
 * For memories that are stored elsewhere:
 * memory_add_tombstone(s, scope, id):         The id is forgotten from now on.
 * memory_check_tombstone(s, scope, id, made): RC_CONFLICT if it was forgotten
 *                                             since it was made.
 */
enum rc memory_add_tombstone(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;
enum rc memory_check_tombstone(struct state *s,
    const struct memory_scope *scope, struct str id, struct wall made) RC_CHECK;

/* Superseded memories of one user and soul; the oldest are removed. */
#define MEMORY_SUPERSEDED_MAX 500

struct memory_superseded {
	struct str id;
	struct wall made, until; /* made; valid until */
	struct str json;         /* as memory_item's */
};

/*
 * memory_supersede(s, scope, old, here):
 * Another memory has replaced it: it becomes a superseded one and cannot be put
 * again.  A second time changes nothing.  here: it must be among the items;
 * otherwise these are stored elsewhere.  RC_CONFLICT if it was forgotten or
 * superseded before, RC_NOENT if it should be here and is not.
 */
enum rc memory_supersede(struct state *s, const struct memory_scope *scope,
    const struct memory_superseded *old, bool here) RC_CHECK;

/* memory_cleared(s, scope, when): When all were forgotten last; 0: never. */
enum rc memory_cleared(struct state *s, const struct memory_scope *scope,
    struct wall *when) RC_CHECK;

struct memory_list {
	int64_t version; /* changes with every change */
	bool changed;    /* false: the version was known, and the list empty */
	struct memory_item *item;
	size_t n;
};

/*
 * memory_all(s, scope, known, a, out):
 * All items, oldest first, unless the version is still known (0: of no memories
 * ever).  RC_RETRY if it kept changing while it was read.
 *
 * memory_ids(s, scope, known, a, out):
 * The same with ids only.
 */
enum rc memory_all(struct state *s, const struct memory_scope *scope,
    int64_t known, struct arena *a, struct memory_list *out) RC_CHECK;
enum rc memory_ids(struct state *s, const struct memory_scope *scope,
    int64_t known, struct arena *a, struct memory_list *out) RC_CHECK;

/* Items that one memory_get() reads. */
#define MEMORY_GET_MAX 64

/*
 * memory_get(s, scope, item, n, a):
 * Read JSON and vector of n (at most MEMORY_GET_MAX) items by their ids; json
 * is absent of one that does not exist.
 */
enum rc memory_get(struct state *s, const struct memory_scope *scope,
    struct memory_item *item, size_t n, struct arena *a) RC_CHECK;

/*
 * memory_superseded_all(s, scope, a, out):
 * The superseded memories, ids and JSON, by the end of their validity.
 */
enum rc memory_superseded_all(struct state *s, const struct memory_scope *scope,
    struct arena *a, struct memory_list *out) RC_CHECK;

/* ---- profiles ---- */

/*
 * A profile is a document per user, stored as its leaves, each with the time it
 * was set at, so that concurrent changes of different parts all succeed, and
 * changes may come in any order, or twice: for a path the newest counts, and of
 * two with the same time the one that came last.  A leaf stands for all below
 * it; setting a path below a leaf makes an object of the leaf.  A removed path
 * leaves a tombstone, so that an older change does not bring it back.
 *
 * A path is a JSON Pointer (RFC 6901), not the empty one.  A value is any
 * non-empty text; its meaning is the caller's.
 */

/* Leaves of a document, and of one change. */
#define PROFILE_LEAVES_MAX 256
/* A path, a value, and a whole document, in bytes. */
#define PROFILE_PATH_MAX  4096
#define PROFILE_VALUE_MAX 1024
#define PROFILE_BYTES_MAX (64UL * 1024)
/*
 * For how long, at least, tombstones are stored, and how many.  A change older
 * than one that had to be dropped is ignored.
 */
#define PROFILE_TOMBSTONE_DAYS 8
#define PROFILE_TOMBSTONES_MAX 256

struct profile_leaf {
	struct str path;
	struct str value; /* empty: remove it, with all below */
};

struct profile_leaves {
	struct profile_leaf *leaf; /* in byte order of the paths */
	size_t n;
	struct wall changed; /* the last change; 0: never */
};

/*
 * profile_leaves_put(s, user_id, change, at):
 * Carry out the leaves of change (change->changed is ignored; the paths differ,
 * and none lies below another), as of at, or of now if that is 0 or in the
 * future.  All of it or, if the document would have too many leaves or bytes,
 * none: RC_TOOBIG.  RC_OK also if all of it was too old.
 */
enum rc profile_leaves_put(struct state *s, struct str user_id,
    const struct profile_leaves *change, struct wall at) RC_CHECK;

/*
 * profile_leaves_wipe(s, user_id, path):
 * Remove the path and all below, whatever its time; no change made before now
 * can bring it back.
 */
enum rc profile_leaves_wipe(
    struct state *s, struct str user_id, struct str path) RC_CHECK;

/* profile_leaves_read(s, user_id, a, out): All leaves, into a. */
enum rc profile_leaves_read(struct state *s, struct str user_id,
    struct arena *a, struct profile_leaves *out) RC_CHECK;

/*
 * profile_zone_read(s, user_id, a, zone):
 * What the user has set as user_profile.timezone, as it is; absent: nothing.
 * profile_zone_text(json): Of the leaf.  Pure.
 */
enum rc profile_zone_read(struct state *s, struct str user_id, struct arena *a,
    struct str *zone) RC_CHECK;
struct str profile_zone_text(struct str json);

#endif /* !STATE_MEMORY_H */
