/*
 * session_append: appending messages, fenced or not.
 */
#ifndef STATE_SESSION_APPEND_H
#define STATE_SESSION_APPEND_H

#include "state/session.h"
#include "state/turn.h"

/*
 * session_append_as(s, k, turn, new, first):
 * session_append(); with a turn RC_CONFLICT unless it is head of the session's
 * queue.
 */
enum rc session_append_as(struct state *s, const struct session_key *k,
    const struct turn_place *turn, struct session_new new,
    int64_t *first) RC_CHECK;

#endif /* !STATE_SESSION_APPEND_H */
