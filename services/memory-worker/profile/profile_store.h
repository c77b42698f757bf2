/*
 * profile_store: a user's profile, a document that all workers may patch:
 *
 *	{"user_profile": {…}, "system_state": {…}}
 *
 * It is stored in Redis as its leaves (state/profile.h), so that concurrent
 * patches of different parts both succeed, and an old patch that arrives late
 * does no harm.  Loop thread.
 */
#ifndef MEMORY_WORKER_PROFILE_STORE_H
#define MEMORY_WORKER_PROFILE_STORE_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/memory.h"
#include "wire/wire.h"

struct state;

/*
 * profile_merge(s, user_id, patch_json, at, err):
 * Apply a merge patch (RFC 7396) as of at, or of now if that is {0} or in the
 * future: leaves changed later are left alone.  Idempotent.  RC_INVALID with
 * err (may be NULL) and no change if it is no valid patch or the profile would
 * exceed a limit; RC_BUG if the stored profile is corrupt; else Redis' error.
 */
enum rc profile_merge(struct state *s, struct str user_id,
    struct str patch_json, struct wall at, struct wire_err *err) RC_CHECK;

/* The two objects as JSON. */
struct profile {
	struct str user_profile, system_state;
	struct wall updated; /* the last change; 0: never */
};

/*
 * profile_read(s, user_id, a, out):
 * Both objects, "{}" if empty.  system_state also has the boot_count and
 * version of the deployment (state/system.h), unless the profile has its own.
 * RC_BUG if the stored profile is corrupt,
 * RC_TOOBIG if a is full, RC_INVALID if user_id is no id; else Redis' error.
 * Texts live in a.
 */
enum rc profile_read(struct state *s, struct str user_id, struct arena *a,
    struct profile *out) RC_CHECK;

/*
 * profile_clear(s, user_id):
 * Remove user_profile, and ignore patches of before now that arrive later;
 * system_state stays.
 */
enum rc profile_clear(struct state *s, struct str user_id) RC_CHECK;

/* ---- patches and documents as leaves (profile_doc.c, pure) ----
 *
 * Members of the two objects may be objects themselves; everything else, lists
 * included, is a leaf.  Empty objects are not stored.
 */

/* The members of a profile. */
#define PROFILE_USER   "user_profile"
#define PROFILE_SYSTEM "system_state"
/* Names on the path to a leaf, and the bytes of one. */
#define PROFILE_DEPTH_MAX 6
#define PROFILE_KEY_MAX   256

/*
 * profile_doc_patch(json, a, out, err):
 * The leaves that a merge patch changes, in a: null removes, an empty object
 * changes nothing.  RC_INVALID with err if it is no patch of a profile or
 * exceeds a limit (others are in state/profile.h); RC_TOOBIG if a is full.
 */
enum rc profile_doc_patch(struct str json, struct arena *a,
    struct profile_leaves *out, struct wire_err *err) RC_CHECK;

/*
 * profile_doc_add(l, path, value, a):
 * Add a leaf, in a, unless l has one of that path or below it.  RC_TOOBIG: a is
 * full.
 */
enum rc profile_doc_add(struct profile_leaves *l, struct str path,
    struct str value, struct arena *a) RC_CHECK;

/*
 * profile_doc_part(l, part, out):
 * Append the object called part (PROFILE_USER, PROFILE_SYSTEM) that the leaves
 * form, in their order.  out limits its size.
 */
void profile_doc_part(
    const struct profile_leaves *l, const char *part, struct buf *out);

#endif /* !MEMORY_WORKER_PROFILE_STORE_H */
