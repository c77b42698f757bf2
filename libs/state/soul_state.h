/*
 * soul_state: the form of a soul's emotional state in Redis.
 */
#ifndef STATE_SOUL_STATE_H
#define STATE_SOUL_STATE_H

#include "state/soul.h"

/* Format byte and version before the state's bytes. */
#define SOUL_BLOB_HEAD 9
#define SOUL_BLOB_MAX  (SOUL_BLOB_HEAD + SOUL_STATE_MAX)

/*
 * soul_blob(dst, version, bytes):
 * The string that is kept of a state (of ≤ SOUL_STATE_MAX bytes); it lives in
 * dst.  Its first SOUL_BLOB_HEAD bytes are different for each version.
 */
struct str soul_blob(
    char dst[SOUL_BLOB_MAX], int64_t version, struct str bytes);

/*
 * soul_state_of(r, st, a):
 * What such a string says of st->soul_id; copied into a.  RC_TOOBIG if it does
 * not fit.
 */
enum rc soul_state_of(const struct state_reply *r, struct soul_state *st,
    struct arena *a) RC_CHECK;

#endif /* !STATE_SOUL_STATE_H */
