/*
 * profile: what is known of a user: a document that everyone adds to.
 *
 *	{"user_profile": {…}, "system_state": {…}}
 *
 * It lies in Redis as its leaves (state/profile.h), so that two who change
 * different parts at once both succeed, and an old change that comes late does
 * no harm.  Loop thread.
 */
#ifndef MEMORY_WORKER_PROFILE_H
#define MEMORY_WORKER_PROFILE_H

#include "core/arena.h"
#include "core/clock.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/wire.h"

struct state;

/*
 * profile_merge(s, user_id, patch_json, at, err):
 * Carry out a merge patch (profile_doc.h) as of at, or of now if that is {0} or
 * in the future: what somebody has said of a place later stays.  Twice is as
 * once.  RC_INVALID if it is no patch or the profile would pass a ceiling, with
 * err (may be NULL) set and nothing changed; RC_BUG if what is stored is no
 * profile; else why Redis did not.
 */
enum rc profile_merge(struct state *s, struct str user_id,
    struct str patch_json, struct wall at, struct wire_err *err) RC_CHECK;

/*
 * profile_read(s, user_id, a, json):
 * The document, into a; its two objects are there even if they are empty.
 * RC_BUG if what is stored is no profile, RC_TOOBIG if a is full, RC_INVALID if
 * user_id is no id; else why Redis did not.
 */
enum rc profile_read(struct state *s, struct str user_id, struct arena *a,
    struct str *json) RC_CHECK;

/* The two objects as JSON. */
struct profile {
	struct str user_profile, system_state;
	struct wall updated; /* the last change; 0: never */
};

/* profile_parts(s, user_id, a, out): As profile_read(). */
enum rc profile_parts(struct state *s, struct str user_id, struct arena *a,
    struct profile *out) RC_CHECK;

/*
 * profile_clear(s, user_id):
 * Forget user_profile, and whatever patch of before now is yet to come for it;
 * system_state stays.
 */
enum rc profile_clear(struct state *s, struct str user_id) RC_CHECK;

#endif /* !MEMORY_WORKER_PROFILE_H */
