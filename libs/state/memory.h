/*
 * memory: the built-in store of what a soul remembers of a user.
 *
 * User and soul are part of every key; there is no way to read across.
 */
#ifndef STATE_MEMORY_H
#define STATE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/clock.h"
#include "state/state.h"

/* Memories of one user and soul; the oldest fall out. */
#define MEMORY_MAX 10000
/* Largest memory and largest vector of one, in bytes. */
#define MEMORY_JSON_MAX   (128UL * 1024)
#define MEMORY_VECTOR_MAX (16UL * 1024)
/* Vectors that one memory_vectors() sets. */
#define MEMORY_VECTORS_MAX 16
/* How long what was forgotten cannot come back, at least. */
#define MEMORY_GONE_DAYS 8

struct memory_scope {
	struct str user_id, soul_id;
};

struct memory_item {
	struct str id;
	struct str json;   /* text, type, times: memory-worker's form */
	struct str vector; /* memory-worker's form; empty: none */
};

/*
 * memory_put(s, scope, item, made):
 * Store it; the same id again changes nothing.  made is when it came to be:
 * RC_CONFLICT if it has been forgotten since, so that a job that is done late
 * or twice does not bring it back.
 */
enum rc memory_put(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, struct wall made) RC_CHECK;

/*
 * memory_vectors(s, scope, item, n):
 * Set the vectors of n (at most MEMORY_VECTORS_MAX) items, of those that are
 * still there.
 */
enum rc memory_vectors(struct state *s, const struct memory_scope *scope,
    const struct memory_item *item, size_t n) RC_CHECK;

/*
 * memory_forget(s, scope, id): RC_NOENT if there is none, one of the past
 *                              neither; it stays forgotten.
 * memory_clear(s, scope, n):   Forget all; *n (may be NULL) how many, the past
 *                              not counted.
 * memory_del(s, scope, id):    As memory_forget(), but the id may be put again.
 */
enum rc memory_forget(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;
enum rc memory_clear(
    struct state *s, const struct memory_scope *scope, size_t *n) RC_CHECK;
enum rc memory_del(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;

/*
 * For memories that are kept elsewhere:
 * memory_bury(s, scope, id):       What has this id stays forgotten from now
 * on. memory_gone(s, scope, id, made): RC_CONFLICT if it has been forgotten
 * since.
 */
enum rc memory_bury(
    struct state *s, const struct memory_scope *scope, struct str id) RC_CHECK;
enum rc memory_gone(struct state *s, const struct memory_scope *scope,
    struct str id, struct wall made) RC_CHECK;

/* Memories that do not hold any more, of one user and soul. */
#define MEMORY_PAST_MAX 500

struct memory_old {
	struct str id;
	struct wall made, until; /* when it came to be; until when it held */
	struct str json;         /* as memory_item's */
};

/*
 * memory_retire(s, scope, old, here):
 * Another has taken its place: it is a memory no more but one of the past, of
 * which the newest MEMORY_PAST_MAX stay, and cannot be put again.  A second
 * time changes nothing.  here: it must be among the items; else they are kept
 * elsewhere.  RC_CONFLICT if it was forgotten or retired before, RC_NOENT if it
 * should be here and is not.
 */
enum rc memory_retire(struct state *s, const struct memory_scope *scope,
    const struct memory_old *old, bool here) RC_CHECK;

/*
 * memory_cleared(s, scope, when): When all were forgotten last; 0: never.
 */
enum rc memory_cleared(struct state *s, const struct memory_scope *scope,
    struct wall *when) RC_CHECK;

struct memory_list {
	int64_t version; /* changes with every change */
	bool changed;    /* false: version was known, and the list is empty */
	struct memory_item *item;
	size_t n;
};

/*
 * memory_all(s, scope, known, a, out):
 * All items, oldest first, unless the version is still known (0: of no memories
 * ever).  RC_RETRY if it changed again and again while it was read.
 */
enum rc memory_all(struct state *s, const struct memory_scope *scope,
    int64_t known, struct arena *a, struct memory_list *out) RC_CHECK;

/* Items that one memory_get() reads. */
#define MEMORY_GET_MAX 64

/*
 * For who has most of it already:
 * memory_ids(s, scope, known, a, out): As memory_all(), but the items have ids
 * only.
 * memory_get(s, scope, item, n, a): What the first n (at most MEMORY_GET_MAX)
 * items have beside their ids; an absent json is of one that is gone.
 */
enum rc memory_ids(struct state *s, const struct memory_scope *scope,
    int64_t known, struct arena *a, struct memory_list *out) RC_CHECK;
enum rc memory_get(struct state *s, const struct memory_scope *scope,
    struct memory_item *item, size_t n, struct arena *a) RC_CHECK;

/* memory_past(s, scope, a, out): Those of the past, ids and JSON, oldest first.
 */
enum rc memory_past(struct state *s, const struct memory_scope *scope,
    struct arena *a, struct memory_list *out) RC_CHECK;

#endif /* !STATE_MEMORY_H */
