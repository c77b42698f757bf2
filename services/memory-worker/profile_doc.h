/*
 * profile_doc: a profile as JSON, and as the leaves it is kept as.
 *
 * A profile has two objects, user_profile and system_state.  Their members may
 * be objects again; everything else, lists included, is a leaf.  An object
 * without members is not kept.  Pure.
 */
#ifndef MEMORY_WORKER_PROFILE_DOC_H
#define MEMORY_WORKER_PROFILE_DOC_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/rc.h"
#include "core/str.h"
#include "state/memory.h"
#include "wire/wire.h"

/* The members of a profile. */
#define PROFILE_USER   "user_profile"
#define PROFILE_SYSTEM "system_state"
/* Names from the top to a leaf, and the bytes of one. */
#define PROFILE_DEPTH_MAX 6
#define PROFILE_KEY_MAX   256

/*
 * profile_doc_patch(json, a, out, err):
 * The leaves that a merge patch (RFC 7396) changes, into a: null removes, an
 * object without members changes nothing.  RC_INVALID with err set if it is no
 * patch of a profile or passes a ceiling (state/profile.h has the others);
 * RC_TOOBIG if a is full.
 */
enum rc profile_doc_patch(struct str json, struct arena *a,
    struct profile_leaves *out, struct wire_err *err) RC_CHECK;

/*
 * profile_doc_part(l, part, out):
 * Append the object called part (PROFILE_USER, PROFILE_SYSTEM) that the leaves,
 * in their order, make.  out's ceiling is the object's.
 */
void profile_doc_part(
    const struct profile_leaves *l, const char *part, struct buf *out);

#endif /* !MEMORY_WORKER_PROFILE_DOC_H */
